# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Block formats with a shared e8m0 scale per 32 elements: random data and its float64 value."""

import ml_dtypes
import numpy as np

E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
EIGHT_BITS = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}


def random_elements(rng, rows, cols, form):
    """The codes as they lie in memory (fp4: two a byte, even column in the low nibble), and what
    they mean."""
    if form == "e2m1":
        codes = rng.integers(0, 16, (rows, cols))
        return (codes[:, 0::2] | codes[:, 1::2] << 4).astype(np.uint8), E2M1[codes]
    values = (2 * rng.standard_normal((rows, cols))).astype(EIGHT_BITS[form])
    return values.view(np.uint8), values.astype(np.float64)


def random_scales(rng, rows, cols, spread=4):
    """Codes of e8m0 (2^(code - 127)), all different along rows and columns."""
    return rng.integers(127 - spread, 127 + spread + 1, (rows, cols)).astype(np.uint8)


def scale_values(codes, block=32):
    """One float64 scale per element from codes [rows, cols / block]."""
    return np.repeat(2.0 ** (codes.astype(np.float64) - 127), block, axis=1)
