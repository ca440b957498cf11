# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Triton kernels that map elements: copies, conversions, functions, integers, gathers."""

import math

import numpy as np
import pytest

pytest.importorskip("triton", reason="Triton (PyPI) is not installed: its kernels are not run")

import kernels  # noqa: E402
import ml_dtypes  # noqa: E402
from comparing import assert_near  # noqa: E402
from launching import given, output  # noqa: E402

BF16 = ml_dtypes.bfloat16
E4M3 = ml_dtypes.float8_e4m3fn
E5M2 = ml_dtypes.float8_e5m2


@pytest.mark.parametrize("buffer_operations", [True, False])
@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 1000, 4096])
def test_copy(run_triton, n, dtype, buffer_operations):
    x = np.random.default_rng(n).integers(0, 200, n).astype(dtype)
    y = output(n, dtype)
    run_triton(kernels.copy, (-(-n // 1024),), [given(x), y, np.int32(n)], {"BLOCK": 1024},
               buffer_operations=buffer_operations)
    np.testing.assert_array_equal(y.result, x)


@pytest.mark.parametrize("dtype", [np.float16, BF16, np.float32, np.float64, np.int32, np.int64])
@pytest.mark.parametrize("n", [1023, 2048])
def test_add(run_triton, n, dtype):
    rng = np.random.default_rng(n)
    a, b = (rng.integers(-1000, 1000, n).astype(dtype) for _ in range(2))
    c = output(n, dtype)
    run_triton(kernels.add, (-(-n // 512),), [given(a), given(b), c, np.int32(n)], {"BLOCK": 512},
               num_warps=2)
    np.testing.assert_array_equal(c.result, a + b)


FLOATS = [np.float32, np.float16, BF16, E4M3, E5M2]
# Triton has no conversion between the two 8-bit formats.
CONVERSIONS = [(source, target) for source in FLOATS for target in FLOATS
               if source != target and not {source, target} == {E4M3, E5M2}]


def special_values(dtype):
    """Both signs of everything from below the smallest denormal to the largest number; ties."""
    values = np.float32([0.0, 1.0, 1.0625, 1.1875, 2.5, 3.5, 239.0, 447.9, 448.0])
    tiny = np.float32(2.0) ** np.arange(-30, 8, dtype=np.float32) * np.float32(1.375)
    random = np.random.default_rng(7).standard_normal(1000).astype(np.float32)
    values = np.concatenate([values, tiny, random])
    return np.concatenate([values, -values]).astype(dtype)


@pytest.mark.parametrize("source, target", CONVERSIONS)
def test_convert_floats(run_triton, source, target):
    x = special_values(source)
    y = output(x.shape, target)
    run_triton(kernels.convert, (-(-x.size // 512),), [given(x), y, np.int32(x.size)],
               {"BLOCK": 512})
    want = x.astype(np.float32).astype(target)
    np.testing.assert_array_equal(y.result.astype(np.float32), want.astype(np.float32))


@pytest.mark.parametrize("source, target", [
    (np.int8, np.float32), (np.int32, np.float16), (np.int64, np.float64), (np.float32, np.int32),
    (np.float64, np.int64), (np.uint8, BF16), (np.float16, np.int16), (np.int64, np.float32),
    (np.float64, np.float32), (np.uint32, np.float32), (np.float32, np.uint8),
])  # fmt: skip
def test_convert_integers(run_triton, source, target):
    x = np.arange(-100, 100) if np.dtype(source).kind != "u" else np.arange(200)
    if np.dtype(target).kind == "u":
        x = np.arange(200)
    x = x.astype(source)
    y = output(x.shape, target)
    run_triton(kernels.convert, (1,), [given(x), y, np.int32(x.size)], {"BLOCK": 256})
    np.testing.assert_array_equal(y.result.astype(np.float64), x.astype(np.float64))


def test_functions(run_triton):
    n = 777
    x = np.random.default_rng(3).uniform(0.01, 20.0, n).astype(np.float32)
    x[:4] = [1e-30, 1e4, 1.0, 87.0]
    y = output((10, n), np.float32)
    run_triton(kernels.functions, (-(-n // 256),), [given(x), y, np.int32(n)], {"BLOCK": 256})
    v = x.astype(np.float64)
    with np.errstate(over="ignore"):
        want = np.stack([np.exp(v), np.exp2(v), np.log(v), np.log2(v), np.sqrt(v), 1 / np.sqrt(v),
                         np.sin(v), np.cos(v), [math.erf(t) for t in v], 1 / v])
    want[np.abs(want) > np.finfo(np.float32).max] = np.inf
    # exp goes through exp2 of a product that rounds once: up to |x| log2(e) half units.
    for f in range(10):
        relative = 2.0**-22 * (np.maximum(v, 1) * 1.5 if f == 0 else 1)
        finite = np.isfinite(want[f])
        np.testing.assert_array_equal(np.isinf(y.result[f]), ~finite)
        error = 2.0**-22 * np.ones(n)
        if f in (0, 1, 4, 5, 9):
            error *= 0
        got, expected = y.result[f], want[f]
        excess = np.abs(got[finite] - expected[finite]) - (
            error[finite] + (relative * np.abs(expected))[finite] + 2.0**-149)
        assert excess.max() <= 0, f"function {f} at x = {x[finite][np.argmax(excess)]!r}"


def test_integer_functions(run_triton):
    n = 500
    rng = np.random.default_rng(4)
    a = rng.integers(0, 2**32, n, dtype=np.uint32)
    b = rng.integers(1, 2**32, n, dtype=np.uint32) >> rng.integers(0, 31, n, dtype=np.uint32)
    b = np.maximum(b, 1).astype(np.uint32)
    y = output((8, n), np.uint32)
    run_triton(kernels.integer_functions, (2,), [given(a), given(b), y, np.int32(n)],
               {"BLOCK": 256})
    high = ((a.astype(np.uint64) * b.astype(np.uint64)) >> np.uint64(32)).astype(np.uint32)
    want = [a // b, a % b, high, a >> (b & 7), a << (b & 7), np.minimum(a, b), np.maximum(a, b),
            (a & b) | (a ^ ~b)]
    for f, expected in enumerate(want):
        np.testing.assert_array_equal(y.result[f], expected, err_msg=f"function {f}")


def philox(seed, counter):
    """Philox 4x32-10 (Salmon et al., 2011), first word, of counters (c, 0, 0, 0)."""
    mask = np.uint64(0xFFFFFFFF)
    c = [counter.astype(np.uint64), *(np.zeros(counter.shape, np.uint64) for _ in range(3))]
    key = [np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32)]
    for _ in range(10):
        p0, p1 = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(p1 >> np.uint64(32)) ^ c[1] ^ key[0], p1 & mask,
             (p0 >> np.uint64(32)) ^ c[3] ^ key[1], p0 & mask]
        key = [(key[0] + np.uint64(0x9E3779B9)) & mask, (key[1] + np.uint64(0xBB67AE85)) & mask]
    return c[0].astype(np.uint32)


def test_random(run_triton):
    n = 300
    y = output(n, np.int32)
    run_triton(kernels.random_uniform, (3,), [y, np.int32(n), np.int64(20261129)], {"BLOCK": 128})
    np.testing.assert_array_equal(y.result.view(np.uint32), philox(20261129, np.arange(n)))


@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.float32])
@pytest.mark.parametrize("rows, cols", [(64, 64), (100, 33)])
def test_transpose(run_triton, rows, cols, dtype):
    x = np.random.default_rng(5).integers(0, 255, (rows, cols)).astype(dtype)
    y = output((cols, rows), dtype)
    run_triton(kernels.transpose, (-(-rows // 64), -(-cols // 32)),
               [given(x), y, np.int32(rows), np.int32(cols)], {"BLOCK_R": 64, "BLOCK_C": 32})
    np.testing.assert_array_equal(y.result, x.T)


def test_gather_rows(run_triton):
    rng = np.random.default_rng(6)
    table = rng.standard_normal((50, 70)).astype(BF16)
    index = rng.integers(0, 50, 9).astype(np.int64)
    y = output((9, 70), BF16)
    run_triton(kernels.gather_rows, (9,),
               [given(table), given(index), y, np.int32(9), np.int32(70)], {"BLOCK_C": 128})
    np.testing.assert_array_equal(y.result.view(np.uint16), table[index].view(np.uint16))


@pytest.mark.parametrize("dtype", [np.float16, BF16])
def test_gated(run_triton, dtype):
    rng = np.random.default_rng(8)
    gate, up = ((4 * rng.standard_normal(3000)).astype(dtype) for _ in range(2))
    y = output(3000, dtype)
    run_triton(kernels.gated, (3,), [given(gate), given(up), y, np.int32(3000)], {"BLOCK": 1024})
    g, u = gate.astype(np.float64), up.astype(np.float64)
    assert_near(y.result, g / (1 + np.exp(-g)) * u, 2.0**-24, 2.0**-20)


def test_rotate(run_triton):
    rng = np.random.default_rng(9)
    rows, half = 37, 32
    x = rng.standard_normal((rows, 2 * half)).astype(BF16)
    angle = (np.arange(rows)[:, None] * 10.0 ** (-np.arange(half) / 8)).astype(np.float32)
    y = output(x.shape, BF16)
    run_triton(kernels.rotate, (-(-rows // 16),), [given(x), given(angle), y, np.int32(rows)],
               {"HALF": half, "BLOCK_R": 16})
    v, t = x.astype(np.float64), angle.astype(np.float64)
    low, high = v[:, :half], v[:, half:]
    want = np.concatenate([low * np.cos(t) - high * np.sin(t), high * np.cos(t) + low * np.sin(t)],
                          axis=1)
    assert_near(y.result, want, 1e-5)
