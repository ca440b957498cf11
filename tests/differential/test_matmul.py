# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Triton matrix products: every element type, tile, layout and tail."""

import itertools

import numpy as np
import pytest

pytest.importorskip("triton", reason="Triton (PyPI) is not installed: its kernels are not run")

import kernels  # noqa: E402
import microscaling  # noqa: E402
import ml_dtypes  # noqa: E402
import triton.language as tl  # noqa: E402
from comparing import assert_near, dot_error  # noqa: E402
from launching import given, output, zeroed  # noqa: E402

F16, BF16, F32, F64 = np.float16, ml_dtypes.bfloat16, np.float32, np.float64
E4M3, E5M2 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2


def random_operand(rng, rows, cols, dtype):
    if np.dtype(dtype).kind == "i":
        return rng.integers(-128, 128, (rows, cols)).astype(dtype)
    return rng.standard_normal((rows, cols)).astype(dtype)


def run_matmul(run_triton, shape, tile, dtype, result=None, layout="mk,nk", group=4, **options):
    """Runs and compares. `layout`: storage order of both operands."""
    (m, n, k), (bm, bn, bk) = shape, tile
    rng = np.random.default_rng(m * 31 + n * 7 + k)
    dtype_b = dtype if not isinstance(dtype, tuple) else dtype[1]
    dtype_a = dtype if not isinstance(dtype, tuple) else dtype[0]
    a, b = random_operand(rng, m, k, dtype_a), random_operand(rng, k, n, dtype_b)
    order_a, order_b = layout.split(",")
    stored_a = a if order_a == "mk" else a.T
    stored_b = b if order_b == "kn" else b.T
    strides_a = (k, 1) if order_a == "mk" else (1, m)
    strides_b = (n, 1) if order_b == "kn" else (1, k)
    integer = np.dtype(dtype_a).kind == "i"
    accumulator = tl.int32 if integer else tl.float64 if dtype_a == F64 else tl.float32
    c = output((m, n), result or (np.int32 if integer else dtype_a))
    grid = (-(-m // bm) * -(-n // bn),)
    arguments = [given(stored_a), given(stored_b), c, *map(np.int32, (m, n, k)),
                 *map(np.int32, strides_a), *map(np.int32, strides_b)]
    constants = {"BLOCK_M": bm, "BLOCK_N": bn, "BLOCK_K": bk, "GROUP": group,
                 "ACCUMULATOR": accumulator}
    outcome = run_triton(kernels.matmul, grid, arguments, constants, **options)
    want = a.astype(np.float64) @ b.astype(np.float64)
    if integer:
        np.testing.assert_array_equal(c.result, want.astype(np.int64))
    else:
        assert_near(c.result, want, dot_error(a, b) * (2.0**-29 if dtype_a == F64 else 1))
    return outcome


@pytest.mark.parametrize("dtype", [F16, BF16])
@pytest.mark.parametrize("shape", [(128, 128, 128), (100, 72, 200), (33, 130, 64)])
def test_half(run_triton, shape, dtype):
    run_matmul(run_triton, shape, (64, 64, 64), dtype)


@pytest.mark.parametrize("layout", ["mk,kn", "km,nk", "km,kn"])
def test_layouts(run_triton, layout):
    run_matmul(run_triton, (128, 64, 192), (64, 64, 64), F16, layout=layout)
    run_matmul(run_triton, (72, 96, 80), (64, 64, 32), BF16, layout=layout)


TILES = [(16, 16, 32, 1), (32, 32, 128, 2), (128, 128, 32, 4), (256, 128, 64, 8), (16, 256, 64, 4)]


@pytest.mark.parametrize("nonkdim", [16, 32])
@pytest.mark.parametrize("bm, bn, bk, warps", TILES)
def test_tiles(run_triton, bm, bn, bk, warps, nonkdim):
    if min(bm, bn) < nonkdim:
        pytest.skip("the tile is smaller than the matrix instruction")
    dtype = F16 if bk == 32 else BF16
    run_matmul(run_triton, (bm + 10, bn, 3 * bk), (bm, bn, bk), dtype, result=F32, num_warps=warps,
               matrix_instr_nonkdim=nonkdim)


def test_spills(run_triton):
    """An accumulator too large for the registers that an occupancy of 4 leaves: scratch memory."""
    run_matmul(run_triton, (64, 128, 64), (64, 128, 32), F16, num_warps=1, waves_per_eu=4)


@pytest.mark.parametrize("stages", [1, 2, 3])
@pytest.mark.parametrize("buffer_operations", [True, False])
def test_stages(run_triton, stages, buffer_operations):
    run_matmul(run_triton, (128, 128, 320), (128, 128, 64), F16, num_stages=stages,
               buffer_operations=buffer_operations)


@pytest.mark.parametrize("dtype", [E4M3, E5M2, (E4M3, E5M2)])
@pytest.mark.parametrize("nonkdim", [16, 32])
def test_fp8(run_triton, dtype, nonkdim):
    run_matmul(run_triton, (128, 64, 256), (64, 64, 128), dtype, result=F32,
               matrix_instr_nonkdim=nonkdim)
    run_matmul(run_triton, (70, 100, 144), (64, 64, 64), dtype, result=BF16,
               matrix_instr_nonkdim=nonkdim)


@pytest.mark.parametrize("nonkdim", [16, 32])
def test_int8(run_triton, nonkdim):
    run_matmul(run_triton, (128, 64, 256), (64, 64, 128), np.int8, matrix_instr_nonkdim=nonkdim)
    run_matmul(run_triton, (70, 100, 80), (64, 64, 32), np.int8, matrix_instr_nonkdim=nonkdim)


@pytest.mark.parametrize("nonkdim", [16, 32])
def test_single(run_triton, nonkdim):
    run_matmul(run_triton, (64, 70, 100), (32, 64, 32), F32, matrix_instr_nonkdim=nonkdim)


def test_double(run_triton):
    run_matmul(run_triton, (48, 40, 50), (32, 32, 16), F64)


@pytest.mark.parametrize("result", [F32, F16])
def test_split_k(run_triton, result):
    """Small integers: the order of the atomic additions does not matter."""
    m, n, k, split = 60, 64, 400, 3
    rng = np.random.default_rng(5)
    a, b = rng.integers(-2, 3, (m, k)).astype(F16), rng.integers(-2, 3, (n, k)).astype(F16)
    c = zeroed((m, n), result)
    run_triton(kernels.matmul_split_k, (2, 2, split),
               [given(a), given(b), c, *map(np.int32, (m, n, k))],
               {"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 64, "SPLIT": split})
    np.testing.assert_array_equal(c.result.astype(F64), a.astype(F64) @ b.astype(F64).T)


FORMATS = ["e4m3", "e5m2", "e2m1"]


@pytest.mark.parametrize("nonkdim", [16, 32])
@pytest.mark.parametrize("form_a, form_b", list(itertools.product(FORMATS, FORMATS)))
def test_scaled(run_triton, form_a, form_b, nonkdim):
    """Non-uniform scales tell the chunks of the 8-bit operands apart."""
    m, n, k = 70, 96, 512
    rng = np.random.default_rng(6)
    codes_a, value_a = microscaling.random_elements(rng, m, k, form_a)
    codes_b, value_b = microscaling.random_elements(rng, n, k, form_b)
    scale_a, scale_b = (microscaling.random_scales(rng, rows, k // 32) for rows in (m, n))
    c = output((m, n), F32)
    run_triton(kernels.matmul_scaled, (2, 2),
               [given(codes_a), given(codes_b), c, given(scale_a), given(scale_b),
                *map(np.int32, (m, n, k))],
               {"FORMAT_A": form_a, "FORMAT_B": form_b, "BLOCK_M": 64, "BLOCK_N": 64,
                "BLOCK_K": 256}, matrix_instr_nonkdim=nonkdim)
    a = value_a * microscaling.scale_values(scale_a)
    b = value_b * microscaling.scale_values(scale_b)
    assert_near(c.result, a @ b.T, dot_error(a, b.T))
