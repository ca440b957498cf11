# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The layouts of hand-written kernels against their formulas, and the comparison's own teeth."""

import codeobjects
import numpy as np
import pytest
from comparing import assert_near


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_shuffle_weights(dtype):
    rows, cols = 32, 128
    items = 16 // np.dtype(dtype).itemsize
    matrix = np.random.default_rng(1).integers(0, 256, (rows, cols)).astype(dtype)
    got = codeobjects.shuffle_weights(matrix).reshape(-1)
    for r in range(rows):
        for c in range(cols):
            at = (r // 16 * 16 * cols + c // (2 * items) * 32 * items
                  + c % (2 * items) // items * 16 * items + r % 16 * items + c % items)
            assert got[at] == matrix[r, c]


def test_shuffle_scales():
    rows, cols = 70, 12
    codes = np.random.default_rng(2).integers(0, 255, (rows, cols)).astype(np.uint8)
    got = codeobjects.shuffle_scales(codes)
    assert got.shape == (256, 16)
    for r in range(rows):
        for c in range(cols):
            at = (r // 32 * 32 * 16 + c // 8 * 256 + c % 4 * 64 + r % 16 * 4 + c % 8 // 4 * 2
                  + r % 32 // 16)
            assert got.reshape(-1)[at] == codes[r, c]


def test_comparison_finds_one_wrong_element():
    want = np.linspace(-3, 3, 101)
    got = want.astype(np.float32)
    assert_near(got, want)
    got[57] += 1e-5
    with pytest.raises(AssertionError, match="1 of 101 elements differ, the worst at .*57"):
        assert_near(got, want, 1e-6)
    got[57] = np.nan
    with pytest.raises(AssertionError):
        assert_near(got, want, 1e9)
