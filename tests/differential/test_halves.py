# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""f16 instructions that LLVM seldom chooses, and those that mix f16 and f32, against numpy and exact
rational arithmetic."""

import exact_rounding as exact
import numpy as np
import pytest
from exact_rounding import F16, F32, NEAREST
from folding import random_float_bits
from snippets import Snippet, run_snippets

COUNT = 512


@pytest.fixture
def run(kw_program, tmp_path):
    return lambda snippets: run_snippets(kw_program, tmp_path, snippets)


def halves(seed, finite=False):
    bits = random_float_bits(np.random.default_rng(seed), "half", COUNT).astype(np.uint16)
    x = bits.view(np.float16)
    return np.where(np.isfinite(x), x, np.float16(1.5)) if finite else x


def assert_same(got, want, about):
    good = (got.view(np.uint16) == want.view(np.uint16)) | (np.isnan(got) & np.isnan(want))
    assert good.all(), (
        f"{about}: {np.count_nonzero(~good)} differ, first {np.flatnonzero(~good)[0]}"
    )


def test_products_that_round_before_the_sum(run):
    a, b, c = (halves(i) for i in range(3))
    three = np.float16(3)
    with np.errstate(all="ignore"):
        cases = [
            ("v_mov_b32 v128, 0\n v_mad_f16 v128, v16, v17, v18", a * b + c),
            ("v_mad_legacy_f16 v128, v16, v17, v18", a * b + c),
            ("v_mov_b32 v128, v18\n v_mac_f16 v128, v16, v17", a * b + c),
            ("v_madmk_f16 v128, v16, 0x4200, v17", a * three + b),
            ("v_madak_f16 v128, v16, v17, 0x4200", a * b + three),
        ]
    for snippet, (text, want) in zip(
        run([Snippet(text, [a, b, c]) for text, _ in cases]), cases, strict=True
    ):
        assert_same(snippet.result(dtype=np.float16), want, text)


def test_fused_products(run):
    a, b, c = (halves(i, finite=True) for i in range(3))
    want = exact.evaluate(exact.fma, [a, b, c], F16, F16, NEAREST, True, True)
    pairs = [v.view(np.uint16).astype(np.uint32) * 0x10001 for v in (a, b, c)]
    legacy, both = run(
        [
            Snippet("v_fma_legacy_f16 v128, v16, v17, v18", [a, b, c]),
            Snippet("v_mov_b32 v128, v18\n v_pk_fmac_f16 v128, v16, v17", pairs),
        ]
    )
    for snippet in (legacy, both):
        assert_same(snippet.result(dtype=np.float16), want, snippet.body)
    assert (both.result() >> 16 == both.result() & 0xFFFF).all()


def test_mixed_precision(run):
    """v_fma_mix: op_sel_hi says which sources are f16, op_sel which half."""
    rng = np.random.default_rng(4)
    a, b = halves(5, finite=True), halves(6, finite=True)
    c = (rng.standard_normal(COUNT) * 100).astype(np.float32)
    high = a.view(np.uint16).astype(np.uint32) << 16 | 0x1234
    want = exact.evaluate(exact.fma, [a, b, c], F32, F32, NEAREST, True, True)
    negated = exact.evaluate(exact.fma, [-a, b, np.abs(c)], F32, F32, NEAREST, True, True)
    modifiers = "op_sel:[1,0,0] op_sel_hi:[1,1,0]"
    old = "v_mov_b32 v128, 0xabcd1234\n"
    plain, signs, low, up = run(
        [
            Snippet(f"v_fma_mix_f32 v128, v16, v17, v18 {modifiers}", [high, b, c]),
            Snippet(f"v_fma_mix_f32 v128, -v16, v17, |v18| {modifiers}", [high, b, c]),
            Snippet(f"{old} v_fma_mixlo_f16 v128, v16, v17, v18 {modifiers}", [high, b, c]),
            Snippet(f"{old} v_fma_mixhi_f16 v128, v16, v17, v18 {modifiers}", [high, b, c]),
        ]
    )
    np.testing.assert_array_equal(plain.result(dtype=np.float32), want)
    np.testing.assert_array_equal(signs.result(dtype=np.float32), negated)
    with np.errstate(over="ignore"):
        rounded = want.astype(np.float16)
    assert_same(low.result(dtype=np.float16), rounded, "mixlo")
    assert_same((up.result() >> 16).astype(np.uint16).view(np.float16), rounded, "mixhi")
    assert (low.result() >> 16 == 0xABCD).all() and (up.result() & 0xFFFF == 0x1234).all()


def test_parts_of_a_number(run):
    x = np.arange(65536, dtype=np.uint16).view(np.float16)
    fraction, mantissa, exponent = run(
        [Snippet(f"v_{op}_f16 v128, v16", [x]) for op in ("fract", "frexp_mant", "frexp_exp_i16")]
    )
    with np.errstate(invalid="ignore"):
        wide = x.astype(np.float64)
        want = np.minimum(wide - np.floor(wide), 1 - 2.0**-11).astype(np.float16)
    assert_same(fraction.result(dtype=np.float16), want, "fract")
    m, e = np.frexp(wide)
    finite = np.isfinite(wide)
    assert_same(
        mantissa.result(dtype=np.float16), np.where(finite, m, wide).astype(np.float16), "mantissa"
    )
    got = exponent.result(dtype=np.int16)
    np.testing.assert_array_equal(got, np.where(finite, e, 0).astype(np.int16))


def test_double_parts(run):
    x = random_float_bits(np.random.default_rng(7), "double", COUNT).view(np.float64)
    mantissa, exponent = run(
        [
            Snippet("v_frexp_mant_f64 v[128:129], v[16:17]", [x], 2),
            Snippet("v_frexp_exp_i32_f64 v128, v[16:17]", [x]),
        ]
    )
    m, e = np.frexp(x)
    finite = np.isfinite(x)
    np.testing.assert_array_equal(mantissa.result(dtype=np.float64), np.where(finite, m, x))
    np.testing.assert_array_equal(exponent.result(dtype=np.int32), np.where(finite, e, 0))


def test_nan_wins_in_minimum3(run):
    a, b, c = (halves(10 + i) for i in range(3))
    pairs = [v.view(np.uint16).astype(np.uint32) * 0x10001 for v in (a, b, c)]
    low, high = run(
        [Snippet(f"v_pk_{op}3_f16 v128, v16, v17, v18", pairs) for op in ("minimum", "maximum")]
    )
    order = [np.where(np.signbit(v), -1.0, 1.0) * 1e-30 + v.astype(np.float64) for v in (a, b, c)]
    stacked = np.stack([a, b, c])
    nan = np.isnan(stacked).any(axis=0)
    for snippet, pick in ((low, np.argmin), (high, np.argmax)):
        index = pick(np.nan_to_num(np.stack(order), nan=0.0), axis=0)
        want = np.where(nan, np.float16(np.nan), stacked[index, np.arange(COUNT)])
        assert_same(snippet.result(dtype=np.float16), want, snippet.body)
        assert (snippet.result() >> 16 == snippet.result() & 0xFFFF).all()


def test_division_fixup(run):
    """v_div_fixup_f16: the quotient with the sign that it should have, or what replaces it."""
    values = np.float16([0.0, -0.0, 1.0, -2.0, np.inf, -np.inf, np.nan])
    d, n = (g.ravel() for g in np.meshgrid(values, values))
    q = np.full(d.shape, 7, np.float16)
    (snippet,) = run(
        [Snippet("v_mov_b32 v128, 0\n v_div_fixup_f16 v128, v16, v17, v18", [q, d, n])]
    )
    with np.errstate(all="ignore"):
        want = n / d
    sign = np.where(np.signbit(n) != np.signbit(d), -1, 1)
    ordinary = np.isfinite(n) & np.isfinite(d) & (n != 0) & (d != 0)
    want = np.where(ordinary, sign * q, want).astype(np.float16)
    assert_same(snippet.result(dtype=np.float16), want, "fixup")
