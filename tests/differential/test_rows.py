# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Triton kernels that work on rows: softmax, norms, reductions, quantisation."""

import numpy as np
import pytest

pytest.importorskip("triton", reason="Triton (PyPI) is not installed: its kernels are not run")

import kernels  # noqa: E402
import ml_dtypes  # noqa: E402
from comparing import assert_near  # noqa: E402
from launching import given, output  # noqa: E402

BF16 = ml_dtypes.bfloat16


def normal(shape, dtype, seed=1, scale=1.0):
    return (scale * np.random.default_rng(seed).standard_normal(shape)).astype(dtype)


def softmax_of(x):
    e = np.exp(x.astype(np.float64) - x.astype(np.float64).max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("dtype", [np.float16, BF16, np.float32])
@pytest.mark.parametrize("rows, cols, warps", [(3, 64, 1), (5, 777, 4), (2, 4096, 8), (4, 1, 1)])
def test_softmax(run_triton, rows, cols, warps, dtype):
    x = normal((rows, cols), dtype, scale=3)
    y = output(x.shape, dtype)
    block = max(64, 1 << (cols - 1).bit_length())
    run_triton(kernels.softmax, (rows,), [given(x), y, np.int32(cols)], {"BLOCK": block},
               num_warps=warps)
    assert_near(y.result, softmax_of(x), 2.0**-24, 2.0**-19)


@pytest.mark.parametrize("cols", [100, 1024, 2500])
def test_online_softmax(run_triton, cols):
    x = normal((3, cols), np.float32, scale=3)
    y = output(x.shape, np.float32)
    run_triton(kernels.online_softmax, (3,), [given(x), y, np.int32(cols)], {"BLOCK": 512})
    assert_near(y.result, softmax_of(x), 2.0**-30, 2.0**-18)


@pytest.mark.parametrize("dtype", [np.float16, BF16, np.float32])
@pytest.mark.parametrize("rows, cols", [(4, 128), (3, 1000), (2, 8192)])
def test_rms_norm(run_triton, rows, cols, dtype):
    x, weight = normal((rows, cols), dtype), normal(cols, dtype, 2)
    y = output(x.shape, dtype)
    eps = np.float32(1e-5)
    block = 1 << (cols - 1).bit_length()
    run_triton(kernels.rms_norm, (rows,), [given(x), given(weight), y, np.int32(cols), eps],
               {"BLOCK": block}, num_warps=min(8, max(1, block // 512)))
    v = x.astype(np.float64)
    want = v / np.sqrt((v * v).mean(axis=1, keepdims=True) + eps) * weight.astype(np.float64)
    assert_near(y.result, want, 2.0**-24, 2.0**-20)


@pytest.mark.parametrize("dtype", [np.float16, BF16, np.float32])
@pytest.mark.parametrize("rows, cols", [(4, 256), (3, 1000), (2, 5120)])
def test_layer_norm(run_triton, rows, cols, dtype):
    x, weight, bias = normal((rows, cols), dtype), normal(cols, dtype, 2), normal(cols, dtype, 3)
    y, mean, rstd = output(x.shape, dtype), output(rows, np.float32), output(rows, np.float32)
    eps = np.float32(1e-5)
    run_triton(kernels.layer_norm, (rows,),
               [given(x), given(weight), given(bias), y, mean, rstd, np.int32(cols), eps],
               {"BLOCK": 1 << (cols - 1).bit_length()})
    v = x.astype(np.float64)
    m = v.mean(axis=1)
    s = 1 / np.sqrt(v.var(axis=1) + eps)
    want = (v - m[:, None]) * s[:, None] * weight.astype(np.float64) + bias.astype(np.float64)
    assert_near(mean.result, m, 2.0**-20)
    assert_near(rstd.result, s, 0, 2.0**-20)
    assert_near(y.result, want, 2.0**-17)


def test_layer_norm_weight_grad(run_triton):
    rows, cols = 77, 100
    x, dy = normal((rows, cols), BF16), normal((rows, cols), BF16, 2)
    mean, rstd = normal(rows, np.float32, 3), np.abs(normal(rows, np.float32, 4)) + np.float32(1)
    dw, db = output(cols, np.float32), output(cols, np.float32)
    run_triton(kernels.layer_norm_weight_grad, (-(-cols // 64),),
               [given(x), given(dy), given(mean), given(rstd), dw, db, np.int32(rows),
                np.int32(cols)], {"BLOCK_R": 16, "BLOCK_C": 64})
    g = dy.astype(np.float64)
    normed = (x.astype(np.float64) - mean[:, None]) * rstd[:, None].astype(np.float64)
    assert_near(dw.result, (g * normed).sum(axis=0), 1e-3)
    assert_near(db.result, g.sum(axis=0), 1e-4)


@pytest.mark.parametrize("dtype, top", [(np.int8, 127), (ml_dtypes.float8_e4m3fn, 448),
                                        (ml_dtypes.float8_e5m2, 57344)])
def test_quantize_rows(run_triton, dtype, top):
    rows, cols = 3, 600
    x = normal((rows, cols), np.float32)
    y, scale = output(x.shape, dtype), output(rows, np.float32)
    run_triton(kernels.quantize_rows, (rows,), [given(x), y, scale, np.int32(cols)],
               {"TOP": top, "BLOCK": 1024})
    want = np.abs(x.astype(np.float64)).max(axis=1) / top
    assert_near(scale.result, want, 0, 2.0**-22)
    exact = x / want[:, None]
    if dtype == np.int8:
        assert (np.abs(y.result.astype(np.float64) - np.trunc(exact)) <= 1).all()
        assert (y.result == np.trunc(exact)).mean() > 0.99
    else:
        assert_near(y.result, exact, float(ml_dtypes.finfo(dtype).smallest_subnormal), 2.0**-20)


@pytest.mark.parametrize("cols", [64, 1000])
def test_reduce_rows(run_triton, cols):
    rows = 4
    x = np.random.default_rng(cols).permutation(rows * cols).reshape(rows, cols).astype(np.int32)
    results = [output(rows, np.int32) for _ in range(5)]
    run_triton(kernels.reduce_rows, (rows,), [given(x), *results, np.int32(cols)],
               {"BLOCK": 1 << (cols - 1).bit_length()})
    for got, want in zip(results, [x.sum(1), x.max(1), x.min(1), x.argmax(1), x.argmin(1)]):
        np.testing.assert_array_equal(got.result, want)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_reduce_float_rows(run_triton, dtype):
    x = np.random.default_rng(2).permutation(900).reshape(3, 300).astype(dtype)
    sums = output(3, dtype)
    rest = [output(3, dtype), output(3, dtype), output(3, np.int32), output(3, np.int32)]
    x = x % 64 if dtype == np.float16 else x  # keeps the sums exact
    run_triton(kernels.reduce_rows, (3,), [given(x), sums, *rest, np.int32(300)], {"BLOCK": 512},
               num_warps=2)
    error = 300 * 20000 * 2.0**-11 if dtype == np.float16 else 0
    assert_near(sums.result, x.astype(np.float64).sum(axis=1), error)
    np.testing.assert_array_equal(rest[0].result, x.max(axis=1))
    np.testing.assert_array_equal(rest[1].result, x.min(axis=1))
    np.testing.assert_array_equal(rest[2].result, x.argmax(axis=1))
    np.testing.assert_array_equal(rest[3].result, x.argmin(axis=1))


@pytest.mark.parametrize("rows, cols", [(64, 64), (50, 200)])
def test_reduce_columns(run_triton, rows, cols):
    x = np.random.default_rng(rows).integers(-(2**20), 2**20, (rows, cols)).astype(np.int32)
    total, parity = output(cols, np.int32), output(cols, np.int32)
    run_triton(kernels.reduce_columns, (-(-cols // 64),),
               [given(x), total, parity, np.int32(rows), np.int32(cols)],
               {"BLOCK_R": 64, "BLOCK_C": 64})
    np.testing.assert_array_equal(total.result, x.sum(axis=0))
    np.testing.assert_array_equal(parity.result, np.bitwise_xor.reduce(x, axis=0))
