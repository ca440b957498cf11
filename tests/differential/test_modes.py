# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MODE: the four roundings and the four denormal modes of f32, and of f64 and f16 apart, in every
kind of arithmetic; what MODE must not touch; IEEE, DX10_CLAMP, FP16_OVFL and output modifiers."""

import exact_rounding as exact
import ml_dtypes
import numpy as np
import pytest
from exact_rounding import F16, F32, F64
from snippets import OVERFLOW_SATURATES, USUAL_MODE, Snippet, run_snippets

IEEE, CLAMPS_NAN = 1 << 9, 1 << 8
ROUNDINGS = range(4)
DENORMALS = range(4)  # bit 0: kept in sources, bit 1: in results


def mode_of(rounding, denormals, wide):
    """MODE with these for f32 or (`wide`) for f64 and f16; the other field gets something else."""
    other_rounding, other_denormals = (rounding + 1) % 4, denormals ^ 3
    low, high = (other_rounding, rounding) if wide else (rounding, other_rounding)
    keep_low, keep_high = (other_denormals, denormals) if wide else (denormals, other_denormals)
    return low | high << 2 | keep_low << 4 | keep_high << 6


def numbers(dtype, count, seed):
    """Finite numbers of every size, with denormals, ties and zeros among them."""
    rng = np.random.default_rng(seed)
    info = ml_dtypes.finfo(dtype)
    spread = rng.integers(info.minexp - info.nmant, info.maxexp - 1, count)
    x = np.ldexp(1 + rng.random(count), spread)
    near = np.ldexp(np.round((1 + rng.random(count)) * 2**6) / 2**6, rng.integers(-3, 3, count))
    tiny = np.ldexp(rng.random(count), info.minexp)
    kind = rng.integers(0, 3, count)
    x = np.choose(kind, [x, near, tiny]) * rng.choice([-1.0, 1.0], count)
    x[:4] = [0.0, -0.0, float(info.max), float(info.smallest_normal)]
    return x.astype(dtype)


@pytest.fixture
def run(kw_program, tmp_path):
    return lambda snippets: run_snippets(kw_program, tmp_path, snippets)


# name, text of the instruction, format, operation, number of sources
ARITHMETIC = [
    ("f32", "v_add_f32 v128, v16, v17", F32, exact.add, 2),
    ("f32", "v_mul_f32 v128, v16, v17", F32, exact.multiply, 2),
    ("f32", "v_fma_f32 v128, v16, v17, v18", F32, exact.fma, 3),
    ("f32", "v_mov_b32 v128, v18\n v_fmac_f32 v128, v16, v17", F32, exact.fma, 3),
    ("f64", "v_add_f64 v[128:129], v[16:17], v[18:19]", F64, exact.add, 2),
    ("f64", "v_mul_f64 v[128:129], v[16:17], v[18:19]", F64, exact.multiply, 2),
    ("f64", "v_fma_f64 v[128:129], v[16:17], v[18:19], v[20:21]", F64, exact.fma, 3),
    ("f16", "v_add_f16 v128, v16, v17", F16, exact.add, 2),
    ("f16", "v_mul_f16 v128, v16, v17", F16, exact.multiply, 2),
    ("f16", "v_mov_b32 v128, 0\n v_fma_f16 v128, v16, v17, v18", F16, exact.fma, 3),
    ("f16", "v_pk_add_f16 v128, v16, v17", F16, exact.add, 2),
    ("f16", "v_pk_mul_f16 v128, v16, v17", F16, exact.multiply, 2),
    ("f16", "v_pk_fma_f16 v128, v16, v17, v18", F16, exact.fma, 3),
]


def same(got, want):
    """Values and signs of zeros."""
    return (got == want) & (np.signbit(got) == np.signbit(want))


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_arithmetic(run, rounding):
    """Each instruction under this rounding with all four denormal modes of its type."""
    cases = [(*case, denormals) for case in ARITHMETIC for denormals in DENORMALS]
    snippets, inputs = [], []
    for name, text, form, _, count, denormals in cases:
        sources = [numbers(form.dtype, 192, 10 * i + 1) for i in range(count)]
        inputs.append(sources)
        snippets.append(
            Snippet(
                text,
                sources,
                2 if form is F64 else 1,
                mode=mode_of(rounding, denormals, name != "f32"),
            )
        )
    run(snippets)
    for (_, text, form, operation, _, denormals), sources, snippet in zip(
        cases, inputs, snippets, strict=True
    ):
        want = exact.evaluate(
            operation, sources, form, form, rounding, denormals & 1, denormals & 2
        )
        got = snippet.result(dtype=form.dtype)
        wrong = np.flatnonzero(~same(got, want))
        assert not len(wrong), (
            f"{text}, rounding {rounding}, denormals {denormals}: of "
            f"{[s[wrong[0]] for s in sources]} {got[wrong[0]]!r}, want "
            f"{want[wrong[0]]!r} ({len(wrong)} wrong)"
        )


def test_packed_f32(run):
    snippets = []
    sources = [numbers(np.float32, 192, i) for i in range(6)]
    for rounding in ROUNDINGS:
        snippets.append(
            Snippet(
                "v_pk_fma_f32 v[128:129], v[16:17], v[18:19], v[20:21]",
                sources,
                2,
                mode=mode_of(rounding, 3, False),
            )
        )
    run(snippets)
    for rounding, snippet in enumerate(snippets):
        for word in range(2):
            want = exact.evaluate(
                exact.fma,
                [sources[word], sources[2 + word], sources[4 + word]],
                F32,
                F32,
                rounding,
                True,
                True,
            )
            assert same(snippet.result(word, np.float32), want).all()


@pytest.mark.parametrize("denormals", DENORMALS)
def test_conversions_round_as_f64_and_f16_do(run, denormals):
    """f32 to f16 and f64 to f32 round by the field of f64 and f16."""
    halves = np.concatenate(
        [
            numbers(np.float16, 128, 5).astype(np.float32) * np.float32(1.0003),
            numbers(np.float32, 128, 6),
        ]
    ).astype(np.float32)
    doubles = np.concatenate([numbers(np.float32, 256, 7).astype(np.float64) * 1.00000001])
    snippets = []
    for rounding in ROUNDINGS:
        mode = rounding << 2 | (rounding + 1) % 4 | 0x30 | denormals << 6
        snippets += [
            Snippet("v_cvt_f16_f32 v128, v16", [halves], mode=mode),
            Snippet("v_cvt_f32_f64 v128, v[16:17]", [doubles], mode=rounding << 2 | 0xF0),
        ]
    run(snippets)
    for rounding in ROUNDINGS:
        half, single = snippets[2 * rounding : 2 * rounding + 2]
        want = exact.evaluate(exact.convert, [halves], F32, F16, rounding, True, denormals & 2)
        assert same(half.result(dtype=np.float16), want).all(), rounding
        want = exact.evaluate(exact.convert, [doubles], F64, F32, rounding, True, True)
        assert same(single.result(dtype=np.float32), want).all(), rounding


def test_f16_denormal_sources(run):
    every = np.arange(65536, dtype=np.uint16).view(np.float16)
    up, through = run(
        [
            Snippet("v_cvt_f32_f16 v128, v16", [every], mode=0x30),
            Snippet("v_add_f16 v128, 0, v16", [every], mode=0xB0),
        ]
    )
    want = exact.flush(every, F16).astype(np.float32)
    got = up.result(dtype=np.float32)
    assert (same(got, want) | np.isnan(want)).all()
    got = through.result(dtype=np.float16)
    assert ((got == exact.flush(every, F16)) | np.isnan(every)).all()


def test_fixed_roundings(run):
    """These round to nearest even, or towards zero, whatever MODE says."""
    x = np.concatenate([numbers(np.float32, 1000, 8), np.arange(-50, 50, dtype=np.float32) / 4])
    fixed = [
        "v_cvt_pk_bf16_f32 v128, v16, v16",
        "v_cvt_pk_f16_f32 v128, v16, v16",
        "v_cvt_pkrtz_f16_f32 v128, v16, v16",
        "v_mov_b32 v128, 0\n v_cvt_pk_fp8_f32 v128, v16, v16",
        "v_mov_b32 v128, 0\n v_cvt_pk_bf8_f32 v128, v16, v16",
        "v_rndne_f32 v128, v16",
        "v_floor_f32 v128, v16",
        "v_ceil_f32 v128, v16",
        "v_trunc_f32 v128, v16",
        "v_cvt_i32_f32 v128, v16",
        "v_cvt_u32_f32 v128, v16",
        "v_mov_b32 v128, 0\n"
        f"v_mov_b32 v20, {130 << 23:#x}\n v_cvt_scalef32_pk_fp4_f32 v128, v16, v16, v20",
    ]
    snippets = run(
        [Snippet(text, [x], mode=0xF0 | rounding * 5) for text in fixed for rounding in ROUNDINGS]
    )
    for first in range(0, len(snippets), 4):
        for snippet in snippets[first + 1 : first + 4]:
            np.testing.assert_array_equal(snippet.got, snippets[first].got, snippet.body)
    halves = x[np.abs(x) < 60000].astype(np.float16)
    rounded = run(
        [Snippet("v_rndne_f16 v128, v16", [halves], mode=0xF0 | r * 5) for r in ROUNDINGS]
    )
    for snippet in rounded:
        assert same(snippet.result(dtype=np.float16), np.rint(halves)).all()


def test_integers_to_floats_round_by_mode(run):
    x = np.random.default_rng(9).integers(-(2**31), 2**31, 256, dtype=np.int32)
    snippets = [Snippet("v_cvt_f32_i32 v128, v16", [x], mode=0xF0 | r) for r in ROUNDINGS]
    shorts = np.arange(-32768, 32767, 97, dtype=np.int16)
    snippets += [
        Snippet("v_cvt_f16_i16 v128, v16", [shorts], mode=0xF0 | r << 2) for r in ROUNDINGS
    ]
    run(snippets)
    for r in ROUNDINGS:
        want = exact.evaluate(exact.convert, [x], F32, F32, r, True, True)
        assert same(snippets[r].result(dtype=np.float32), want).all()
        want = exact.evaluate(exact.convert, [shorts], F16, F16, r, True, True)
        assert same(snippets[4 + r].result(dtype=np.float16), want).all()


def test_fp16_overflow_saturates(run):
    x = np.float16([60000, -60000, np.inf, -np.inf, 1])
    y = np.float16([60000, -60000, 1, -5, 1])
    wide = np.float32([1e6, -1e6, np.inf, -np.inf, 3])
    want = np.float16([65504, -65504, np.inf, -np.inf, 2])
    mode = USUAL_MODE | OVERFLOW_SATURATES
    sums = run(
        [
            Snippet("v_add_f16 v128, v16, v17", [x, y], mode=mode),
            Snippet("v_pk_add_f16 v128, v16, v17", [x, y], mode=mode),
            Snippet("v_cvt_f16_f32 v128, v16", [wide], mode=mode),
        ]
    )
    np.testing.assert_array_equal(sums[0].result(dtype=np.float16)[:2], want[:2])
    np.testing.assert_array_equal(sums[0].result(dtype=np.float16)[2:4], want[2:4])
    np.testing.assert_array_equal(sums[1].result(dtype=np.float16)[:4], want[:4])
    np.testing.assert_array_equal(sums[2].result(dtype=np.float16)[:4], want[:4])


FLOATS = {
    "f32": (np.float32, np.uint32, 0x7F800001, 0x7FC00001),
    "f16": (np.float16, np.uint16, 0x7C01, 0x7E01),
    "f64": (np.float64, np.uint64, 0x7FF0000000000001, 0x7FF8000000000001),
}


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("ieee", [False, True])
def test_minimum_and_maximum(run, name, ieee):
    """Of a NaN and a number the number; in IEEE mode a signalling NaN wins and becomes quiet; -0 is
    below +0; denormals go where MODE drops them."""
    dtype, raw, signalling, quiet = FLOATS[name]
    denormal = np.array([3], raw).view(dtype)[0]
    special = np.array([signalling, quiet], raw).view(dtype)
    values = np.concatenate(
        [np.array([0.0, -0.0, 1.5, -2.5, np.inf, -np.inf, denormal, -denormal], dtype), special]
    )
    a, b = (g.ravel() for g in np.meshgrid(values, values))
    kept = 0xF0 | (IEEE if ieee else 0)
    r = {"f64": ("v[128:129]", "v[16:17]", "v[18:19]")}.get(name, ("v128", "v16", "v17"))
    texts = [f"v_{op}_{name} {r[0]}, {r[1]}, {r[2]}" for op in ("min", "max")]
    modes = [kept, kept & ~(0x30 if name == "f32" else 0xC0)]
    if name == "f16":
        texts += [f"v_pk_{op}_f16 v128, v16, v17" for op in ("min", "max")]
    snippets = run(
        [
            Snippet(text, [a, b], 2 if name == "f64" else 1, mode=mode)
            for text in texts
            for mode in modes
        ]
    )
    form = {"f32": F32, "f16": F16, "f64": F64}[name]
    quiet_bit = quiet - signalling
    for snippet in snippets:
        keeps = snippet.mode == kept
        x, y = (v if keeps else np.where(np.isnan(v), v, exact.flush(v, form)) for v in (a, b))
        # A total order in which -0 comes before +0.
        below = (x < y) | ((x == y) & np.signbit(x) & ~np.signbit(y))
        want = np.where(below == ("min" in snippet.body), x, y)
        want = np.where(np.isnan(x), y, np.where(np.isnan(y), x, want))
        bits = want.astype(dtype).view(raw)
        for source in (b, a):
            is_signalling = source.view(raw) == signalling
            bits = np.where(is_signalling & ieee, source.view(raw) | raw(quiet_bit), bits)
        np.testing.assert_array_equal(snippet.result(dtype=dtype).view(raw), bits, snippet.body)


def test_output_modifiers(run):
    """omod counts only without IEEE and without kept denormals of results; then -0 and denormals
    become +0. Clamp: NaN gives 0 if DX10_CLAMP, else stays."""
    x = np.float32([3.0, -0.0, 1.3e-38, np.nan, 0.25, -2.0, np.inf])
    one = np.ones_like(x)
    text = "v_mul_f32_e64 v128, v16, v17 "
    cases = [
        ("mul:2", 0xC0, np.float32([6, 0, 2.6e-38, np.nan, 0.5, -4, np.inf])),
        ("mul:4", 0xC0, np.float32([12, 0, 5.2e-38, np.nan, 1, -8, np.inf])),
        ("div:2", 0xC0, np.float32([1.5, 0, 0, np.nan, 0.125, -1, np.inf])),
        ("mul:2", 0xF0, x),
        ("mul:2", 0xC0 | IEEE, x),
        ("clamp", 0xF0 | CLAMPS_NAN, np.float32([1, 0, 1.3e-38, 0, 0.25, 0, 1])),
        ("clamp", 0xF0, np.float32([1, 0, 1.3e-38, np.nan, 0.25, 0, 1])),
    ]
    for snippet, (_, _, want) in zip(
        run([Snippet(text + m, [x, one], mode=mode) for m, mode, _ in cases]), cases, strict=True
    ):
        got = snippet.result(dtype=np.float32)
        np.testing.assert_array_equal(got, want, snippet.body)
        assert np.signbit(got[1]) == np.signbit(want[1]), "-0 becomes +0 where the modifier counts"


def test_comparisons_flush(run):
    """A denormal equals zero where f32 sources are flushed."""
    x = np.array([1, 0x80000001, 0x00800000], np.uint32)
    text = "v_cmp_eq_f32 vcc, 0, v16\n s_nop 1\n v_cndmask_b32 v128, 0, 1, vcc"
    flushed, kept = run([Snippet(text, [x], mode=0xC0), Snippet(text, [x], mode=0xF0)])
    assert flushed.result().tolist() == [1, 1, 0] and kept.result().tolist() == [0, 0, 0]


def test_dot_products_know_no_mode(run):
    """v_dot2: nearest even and flushed denormals, whatever MODE says."""
    rng = np.random.default_rng(11)
    a, b = (rng.integers(0, 2**32, 512, dtype=np.uint32) & np.uint32(0xBBFFBBFF) for _ in range(2))
    a[:64] &= np.uint32(0x83FF83FF)  # denormal halves
    c = rng.standard_normal(512).astype(np.float32)
    text = "v_dot2_f32_f16 v128, v16, v17, v18"
    snippets = run([Snippet(text, [a, b, c], mode=mode) for mode in (0xF0, 0x00, 0xFF, 0x35)])
    for snippet in snippets[1:]:
        np.testing.assert_array_equal(snippet.got, snippets[0].got)
    low, high = (
        [
            exact.flush((v >> s).astype(np.uint16).view(np.float16), F16).astype(np.float32)
            for v in (a, b)
        ]
        for s in (0, 16)
    )
    want = (c + low[0] * low[1]) + high[0] * high[1]
    np.testing.assert_array_equal(snippets[0].result(dtype=np.float32), want)
