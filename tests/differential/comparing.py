# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Comparison of results with float64 references."""

import ml_dtypes
import numpy as np

# Half a unit in the last place of each type, relative.
HALF_ULP = {
    np.dtype(np.float64): 2.0**-53,
    np.dtype(np.float32): 2.0**-24,
    np.dtype(np.float16): 2.0**-11,
    np.dtype(ml_dtypes.bfloat16): 2.0**-8,
    np.dtype(ml_dtypes.float8_e4m3fn): 2.0**-4,
    np.dtype(ml_dtypes.float8_e5m2): 2.0**-3,
}


def assert_near(got, want, error=0.0, relative=0.0):
    """|got - want| <= `error` (a number or an array) + one rounding of `got`'s type + `relative`
    |want|; NaN and infinities must agree."""
    assert got.shape == want.shape
    rounding = HALF_ULP[got.dtype] * 1.001
    value = got.astype(np.float64)
    finite = np.isfinite(want)
    np.testing.assert_array_equal(np.isnan(value), np.isnan(want))
    np.testing.assert_array_equal(value[np.isinf(want)], want[np.isinf(want)])
    with np.errstate(invalid="ignore"):
        excess = np.abs(value - want) - (error + (rounding + relative) * np.abs(want))
    excess = np.where(finite, excess, -1.0)
    excess = np.where(np.isnan(excess), np.inf, excess)
    if excess.max(initial=-1.0) > 0:
        at = np.unravel_index(np.argmax(excess), excess.shape)
        wrong = int((excess > 0).sum())
        raise AssertionError(f"{wrong} of {got.size} elements differ, the worst at {at}: got "
                             f"{value[at]!r}, want {want[at]!r}")


def dot_error(a, b):
    """How far a float32 sum of products may be from the exact one: every partial sum is at most
    sum |a||b|, every addition and product rounds once. a is [m, k], b is [k, n]."""
    magnitude = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))
    return magnitude * (a.shape[1] + 1) * 2.0**-23
