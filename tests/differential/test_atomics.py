# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Triton kernels whose workgroups meet in memory: atomics, locks, the last one out."""

import numpy as np
import pytest

pytest.importorskip("triton", reason="Triton (PyPI) is not installed: its kernels are not run")

import kernels  # noqa: E402
import ml_dtypes  # noqa: E402
from launching import given, output, zeroed  # noqa: E402


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64])
def test_atomic_counters(run_triton, dtype):
    n, bins = 700, 16
    x = np.random.default_rng(1).integers(0, 2**31 - 1, n).astype(dtype)
    start = np.zeros((6, bins), dtype)
    start[2], start[3] = 2**31 - 1, -1 if np.dtype(dtype).kind == "i" else 2**32 - 1
    counts = output(start.shape, dtype, start)
    run_triton(kernels.atomic_counters, (-(-n // 256),), [given(x), counts, np.int32(n)],
               {"BINS": bins, "BLOCK": 256})
    want = start.copy()
    functions = [np.add, np.maximum, np.minimum, np.bitwise_and, np.bitwise_or, np.bitwise_xor]
    for row, function in enumerate(functions):
        function.at(want[row], (x % bins).astype(np.int64), 1 if row == 0 else x)
    np.testing.assert_array_equal(counts.result, want)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("buffer_operations", [True, False])
def test_atomic_sums(run_triton, dtype, buffer_operations):
    """Small integers: every partial sum is exact, so the order does not matter."""
    n, bins = 500, 64
    x = np.random.default_rng(2).integers(-4, 5, n).astype(dtype)
    y = zeroed(bins, dtype)
    run_triton(kernels.atomic_sums, (-(-n // 256),), [given(x), y, np.int32(n)],
               {"BINS": bins, "BLOCK": 256}, buffer_operations=buffer_operations)
    want = np.zeros(bins)
    np.add.at(want, np.arange(n) % bins, x.astype(np.float64))
    np.testing.assert_array_equal(y.result.astype(np.float64), want)


@pytest.mark.parametrize("seed", [0, 1])
def test_tickets(run_triton, seed):
    counter, order = zeroed(1, np.int32), output(24, np.int32)
    run_triton(kernels.tickets, (24,), [counter, order], {"BLOCK": 64}, num_warps=1,
               extra=("--seed", str(seed)))
    assert counter.result[0] == 24
    np.testing.assert_array_equal(np.sort(order.result), np.arange(24))


@pytest.mark.parametrize("seed", [0, 1])
def test_locked_sums(run_triton, seed):
    x = np.random.default_rng(3).integers(-100, 100, (12, 128)).astype(np.int32)
    lock, y = zeroed(1, np.int32), zeroed(128, np.int32)
    run_triton(kernels.locked_sums, (12,), [lock, given(x), y], {"BLOCK": 128}, num_warps=2,
               extra=("--seed", str(seed)))
    assert lock.result[0] == 0
    np.testing.assert_array_equal(y.result, x.sum(axis=0))


@pytest.mark.parametrize("seed", [0, 1])
def test_last_one_sums(run_triton, seed):
    parts = 20
    x = np.random.default_rng(4).integers(-100, 100, (parts, 256)).astype(np.float32)
    partial, arrived, y = output(parts, np.float32), zeroed(1, np.int32), output(1, np.float32)
    run_triton(kernels.last_one_sums, (parts,), [given(x), partial, arrived, y, np.int32(parts)],
               {"BLOCK": 256, "PARTS": 32}, extra=("--seed", str(seed)))
    assert y.result[0] == x.sum()
