# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The float formats that conversion instructions know, by ml_dtypes, and values that tell."""

import ml_dtypes
import numpy as np

BF16 = ml_dtypes.bfloat16
SMALL = {
    "fp8": ml_dtypes.float8_e4m3fn,
    "bf8": ml_dtypes.float8_e5m2,
    "fp6": ml_dtypes.float6_e2m3fn,
    "bf6": ml_dtypes.float6_e3m2fn,
    "fp4": ml_dtypes.float4_e2m1fn,
}
WIDE = {"f32": np.float32, "f16": np.float16, "bf16": BF16}
LIST = 32  # elements of the instructions on 6-bit formats


def bits_of(name):
    return ml_dtypes.finfo(SMALL[name]).bits


def codes(name):
    return np.arange(1 << bits_of(name), dtype=np.uint8)


def values(name):
    """Of all codes, as f32."""
    return codes(name).view(SMALL[name]).astype(np.float32)


def scales():
    """All exponents; the fraction does not count."""
    return np.arange(256, dtype=np.uint32) << 23 | 0x2A5F00


def power_of(scale):
    """What the scale is worth, f64: exponent 255 is NaN."""
    exponent = (scale >> 23 & 255).astype(np.int32)
    return np.where(exponent == 255, np.nan, np.ldexp(1.0, exponent - 127))


def narrow(exact, dtype):
    """One rounding of f64 values that need at most 24 bits."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        if dtype == np.float16:
            return exact.astype(np.float16)
        return exact.astype(np.float32).astype(dtype)


def encode(x, name, saturates):
    """Codes of f32 values, by ml_dtypes; `saturates`: the largest stands for all beyond it."""
    dtype = SMALL[name]
    largest = np.float32(ml_dtypes.finfo(dtype).max)
    with np.errstate(over="ignore", invalid="ignore"):
        return (np.clip(x, -largest, largest) if saturates else x).astype(dtype)


def assert_same(got, want, about=""):
    """Bit for bit, signs of zeros included; any NaN is as good as another."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape and got.dtype == want.dtype
    g, w = (x.astype(np.float32) for x in (got, want))
    same = (np.isnan(g) & np.isnan(w)) | ((g == w) & (np.signbit(g) == np.signbit(w)))
    if not same.all():
        at = np.flatnonzero(~same.ravel())[0]
        raise AssertionError(
            f"{about}: {np.count_nonzero(~same)} of {same.size} differ, first "
            f"{at}: got {g.ravel()[at]!r}, want {w.ravel()[at]!r}"
        )


def boundaries(name):
    """All codes' values, the points between two of them, both neighbours of each, beyond both ends,
    infinities, NaN and random values, both signs."""
    v = np.unique(np.abs(values(name)[np.isfinite(values(name))])).astype(np.float64)
    step = v[-1] - v[-2]
    v = np.concatenate([v, [v[-1] + step, v[-1] + 2 * step, 1e30, 2.0**-60]])
    points = np.concatenate([v, (v[1:] + v[:-1]) / 2]).astype(np.float32)
    beside = [np.nextafter(points, np.float32(side)) for side in (np.inf, 0)]
    random = np.random.default_rng(1).standard_normal(500).astype(np.float32) * v[-5].astype(
        np.float32
    )
    all_points = np.concatenate([points, *beside, np.abs(random), np.float32([np.inf, np.nan])])
    return np.concatenate([all_points, -all_points])


def pack6(code):
    """[items, 32] of 6-bit codes to [items, 6] words, little end first."""
    bits = (code[..., None] >> np.arange(6) & 1).astype(np.uint8).reshape(len(code), 192)
    return np.packbits(bits, axis=1, bitorder="little").view(np.uint32)


def unpack6(words):
    bits = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=1, bitorder="little")
    return (bits.reshape(len(words), LIST, 6) << np.arange(6)).sum(axis=2).astype(np.uint8)


def scaled_inputs(name, exponent):
    """f32 that give the boundaries of the format over this scale, where f32 has them."""
    with np.errstate(over="ignore", under="ignore"):
        return (boundaries(name) * np.float32(2.0) ** np.float32(exponent - 127)).astype(np.float32)


def over_scale(x, scale):
    """x over the power of two, in f32; exact inside f32's range."""
    with np.errstate(all="ignore"):
        return (x.astype(np.float64) / power_of(scale)).astype(np.float32)
