# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Triton kernels for order and prefixes: sort, top-k, scans, histogram."""

import numpy as np
import pytest

pytest.importorskip("triton", reason="Triton (PyPI) is not installed: its kernels are not run")

import kernels  # noqa: E402
import ml_dtypes  # noqa: E402
from comparing import assert_near  # noqa: E402
from launching import given, output, zeroed  # noqa: E402


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("cols, warps", [(64, 1), (500, 4), (1024, 4)])
def test_sort_rows(run_triton, cols, warps, dtype, descending):
    x = np.random.default_rng(cols).standard_normal((2, cols)).astype(dtype)
    y = output(x.shape, dtype)
    run_triton(kernels.sort_rows, (2,), [given(x), y, np.int32(cols)],
               {"DESCENDING": descending, "BLOCK": 1 << (cols - 1).bit_length()}, num_warps=warps)
    want = np.sort(x, axis=1)
    np.testing.assert_array_equal(y.result, want[:, ::-1] if descending else want)


@pytest.mark.parametrize("cols, k", [(128, 8), (1000, 16), (512, 64)])
def test_top_k(run_triton, cols, k):
    x = np.random.default_rng(k).standard_normal((3, cols)).astype(np.float32)
    values, indices = output((3, k), np.float32), output((3, k), np.int32)
    run_triton(kernels.top_k, (3,), [given(x), values, indices, np.int32(cols)],
               {"K": k, "BLOCK": 1 << (cols - 1).bit_length()})
    want = np.argsort(-x, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(indices.result, want)
    np.testing.assert_array_equal(values.result, np.take_along_axis(x, want, axis=1))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.int64])
@pytest.mark.parametrize("cols", [64, 700])
def test_running_sums(run_triton, cols, dtype, reverse):
    x = np.random.default_rng(cols).integers(-50, 50, (2, cols)).astype(dtype)
    y = output(x.shape, dtype)
    run_triton(kernels.running_sums, (2,), [given(x), y, np.int32(cols)],
               {"REVERSE": reverse, "BLOCK": 1 << (cols - 1).bit_length()})
    want = np.cumsum(x[:, ::-1], axis=1)[:, ::-1] if reverse else np.cumsum(x, axis=1)
    np.testing.assert_array_equal(y.result, want)


def test_linear_recurrence(run_triton):
    rng = np.random.default_rng(1)
    decay = rng.uniform(0.5, 0.99, (2, 300)).astype(np.float32)
    x = rng.standard_normal((2, 300)).astype(np.float32)
    y = output(x.shape, np.float32)
    run_triton(kernels.linear_recurrence, (2,), [given(decay), given(x), y, np.int32(300)],
               {"BLOCK": 512})
    want = np.zeros((2, 300))
    for i in range(300):
        want[:, i] = (want[:, i - 1] if i else 0) * decay[:, i].astype(np.float64) + x[:, i]
    assert_near(y.result, want, 1e-4)


@pytest.mark.parametrize("n", [512, 1300])
def test_histogram(run_triton, n):
    x = np.random.default_rng(n).integers(0, 128, n).astype(np.int32)
    counts = zeroed(128, np.int32)
    run_triton(kernels.histogram, (-(-n // 512),), [given(x), counts, np.int32(n)],
               {"BINS": 128, "BLOCK": 512})
    np.testing.assert_array_equal(counts.result, np.bincount(x, minlength=128))


def test_sort_is_for_all_bit_patterns(run_triton):
    """fp16 from every exponent, infinities included."""
    x = np.arange(-(2**15), 2**15, 61).astype(np.int16).view(np.float16)
    x = x[~np.isnan(x)][:1024].reshape(1, -1)
    y = output(x.shape, np.float16)
    run_triton(kernels.sort_rows, (1,), [given(x), y, np.int32(x.size)],
               {"DESCENDING": False, "BLOCK": 1024})
    np.testing.assert_array_equal(y.result, np.sort(x, axis=1))
