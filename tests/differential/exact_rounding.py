# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rounding of exact rational numbers to a binary format under every mode of the hardware: the
second implementation for tests of MODE, slow and plain."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

NEAREST, UP, DOWN, TO_ZERO = range(4)


@dataclass(frozen=True)
class Format:
    dtype: type
    precision: int  # bits of the significand, the leading one included
    lowest: int  # exponent of the smallest normal number
    largest: float


F16 = Format(np.float16, 11, -14, 65504.0)
F32 = Format(np.float32, 24, -126, float(np.finfo(np.float32).max))
F64 = Format(np.float64, 53, -1022, float(np.finfo(np.float64).max))


def exponent_of(x):
    """floor(log2 |x|) of a rational number that is not zero."""
    e = abs(x.numerator).bit_length() - x.denominator.bit_length()
    return e if abs(x) >= Fraction(2) ** e else e - 1


def round_exact(x, form, rounding, zero_sign=1.0):
    """The number of `form` that the rational x becomes; `zero_sign`: of an exact zero."""
    if x == 0:
        return form.dtype(np.copysign(0.0, zero_sign))
    step = Fraction(2) ** (max(exponent_of(x), form.lowest) - form.precision + 1)
    down = x // step
    rest = x / step - down
    if rounding == NEAREST:
        up = rest > Fraction(1, 2) or (rest == Fraction(1, 2) and down % 2 == 1)
    elif rounding == UP:
        up = rest > 0
    elif rounding == DOWN:
        up = False
    else:
        up = rest > 0 and x < 0
    result = (down + up) * step
    if abs(result) > form.largest:
        to_infinity = rounding == NEAREST or rounding == (UP if x > 0 else DOWN)
        return form.dtype((np.inf if to_infinity else form.largest) * (1 if x > 0 else -1))
    return form.dtype(np.copysign(float(result), 1.0 if x > 0 else -1.0))


def flush(x, form):
    """Denormals become zeros of their sign."""
    tiny = np.abs(x) < form.dtype(2.0**form.lowest)
    return np.where(tiny, np.copysign(form.dtype(0), x), x).astype(form.dtype)


def evaluate(operation, sources, source_form, form, rounding, keeps_sources, keeps_results):
    """`operation` of columns of finite numbers: exact, rounded once, flushed as told. `operation`
    gives a rational and, for exact zeros, the sign that IEEE wants under this rounding."""
    columns = [s if keeps_sources else flush(s, source_form) for s in sources]
    results = []
    for values in zip(*columns, strict=True):
        exact, sign = operation([float(v) for v in values], rounding)
        results.append(round_exact(exact, form, rounding, sign))
    results = np.array(results, form.dtype)
    return results if keeps_results else flush(results, form)


def _zero_of_sum(terms, rounding):
    """Sign of a sum that is exactly zero: the common sign, else + (- when rounding down)."""
    signs = {np.signbit(t) for t in terms}
    if len(signs) == 1 and all(t == 0 for t in terms):
        return -1.0 if signs.pop() else 1.0
    return -1.0 if rounding == DOWN else 1.0


def add(v, rounding):
    return Fraction(v[0]) + Fraction(v[1]), _zero_of_sum(v, rounding)


def multiply(v, rounding):
    del rounding
    return Fraction(v[0]) * Fraction(v[1]), np.copysign(1.0, v[0]) * np.copysign(1.0, v[1])


def fma(v, rounding):
    product = Fraction(v[0]) * Fraction(v[1])
    sign = np.copysign(1.0, v[0]) * np.copysign(1.0, v[1])
    terms = [float(np.copysign(0.0, sign)) if product == 0 else sign, v[2]]
    return product + Fraction(v[2]), _zero_of_sum(terms, rounding)


def convert(v, rounding):
    del rounding
    return Fraction(v[0]), np.copysign(1.0, v[0])
