# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversions between float formats against ml_dtypes: all codes to wider types; to narrower ones
every 16-bit input, and of f32 every code, every midpoint and what lies beside them."""

import ml_dtypes
import numpy as np
import pytest
from snippets import OVERFLOW_SATURATES, USUAL_MODE, Snippet, run_snippets

BF16 = ml_dtypes.bfloat16
SMALL = {"fp8": ml_dtypes.float8_e4m3fn, "bf8": ml_dtypes.float8_e5m2,
         "fp6": ml_dtypes.float6_e2m3fn, "bf6": ml_dtypes.float6_e3m2fn,
         "fp4": ml_dtypes.float4_e2m1fn}
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
    """Codes of f32 values, by ml_dtypes; `saturates`: beyond the largest value comes the largest."""
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
        raise AssertionError(f"{about}: {np.count_nonzero(~same)} of {same.size} differ, first "
                             f"{at}: got {g.ravel()[at]!r}, want {w.ravel()[at]!r}")


def boundaries(name):
    """All codes' values, the points between two of them, both neighbours of each, beyond both ends,
    infinities, NaN and random values, both signs."""
    v = np.unique(np.abs(values(name)[np.isfinite(values(name))])).astype(np.float64)
    step = v[-1] - v[-2]
    v = np.concatenate([v, [v[-1] + step, v[-1] + 2 * step, 1e30, 2.0**-60]])
    points = np.concatenate([v, (v[1:] + v[:-1]) / 2]).astype(np.float32)
    beside = [np.nextafter(points, np.float32(side)) for side in (np.inf, 0)]
    random = np.random.default_rng(1).standard_normal(500).astype(np.float32) * v[-5].astype(np.float32)
    all_points = np.concatenate([points, *beside, np.abs(random), np.float32([np.inf, np.nan])])
    return np.concatenate([all_points, -all_points])


@pytest.fixture
def run(kw_program, tmp_path):
    return lambda snippets: run_snippets(kw_program, tmp_path, snippets)


def test_halves_to_f32(run):
    every = np.arange(65536, dtype=np.uint16)
    half, brain = run([Snippet("v_cvt_f32_f16 v128, v16", [every]),
                       Snippet("v_cvt_f32_bf16 v128, v16", [every])])
    assert_same(half.result(dtype=np.float32), every.view(np.float16).astype(np.float32), "f16")
    assert_same(brain.result(dtype=np.float32), every.view(BF16).astype(np.float32), "bf16")


def test_f32_to_halves(run):
    upper = np.arange(65536, dtype=np.uint32) << 16
    low = [0, 1, 0xFFF, 0x1000, 0x1001, 0x2000, 0x3000, 0x7FFF, 0x8000, 0x8001, 0xFFFF]
    x = np.concatenate([upper | np.uint32(bits) for bits in low]).view(np.float32)
    one, pair, brain, cut = run([
        Snippet("v_cvt_f16_f32 v128, v16", [x]),
        Snippet("v_cvt_pk_f16_f32 v128, v16, -v16", [x]),
        Snippet("v_cvt_pk_bf16_f32 v128, v16, -v16", [x]),
        Snippet("v_cvt_pkrtz_f16_f32 v128, v16, -v16", [x])])
    with np.errstate(over="ignore"):
        half, brains = x.astype(np.float16), x.astype(BF16)
    assert_same(one.result(dtype=np.float16), half, "v_cvt_f16_f32")
    for snippet, want, dtype in ((pair, half, np.float16), (brain, brains, BF16)):
        assert_same(snippet.result(dtype=dtype), want, snippet.body)
        assert_same((snippet.result() >> 16).astype(np.uint16).view(dtype), -want, snippet.body)
    toward_zero = np.where(np.abs(half.astype(np.float64)) > np.abs(x.astype(np.float64)),
                           np.nextafter(half, np.float16(0)), half)
    assert_same(cut.result(dtype=np.float16), toward_zero.astype(np.float16), "v_cvt_pkrtz")


def test_f64_and_f32(run):
    rng = np.random.default_rng(2)
    x = rng.integers(0, 2**64, 40000, dtype=np.uint64)
    near = np.concatenate([rng.standard_normal(20000), np.ldexp(rng.random(20000), -rng.integers(
        120, 160, 20000)), [0.0, -0.0, np.inf, -np.inf, np.nan, 3.4028235677973366e38, 2.0**-150]])
    x = np.concatenate([x.view(np.float64), near])
    y = rng.integers(0, 2**32, 60000, dtype=np.uint32).view(np.float32)
    down, up = run([Snippet("v_cvt_f32_f64 v128, v[16:17]", [x]),
                    Snippet("v_cvt_f64_f32 v[128:129], v16", [y], 2)])
    with np.errstate(over="ignore", invalid="ignore"):
        assert_same(down.result(dtype=np.float32), x.astype(np.float32), "f64 to f32")
    same = up.result(dtype=np.float64) == y.astype(np.float64)
    assert (same | np.isnan(y)).all()


@pytest.mark.parametrize("name", ["fp8", "bf8"])
def test_bytes_to_f32(run, name):
    pairs = np.arange(65536, dtype=np.uint32)
    word = pairs | (pairs ^ 0xFFFF) << 16
    singles = [Snippet(f"v_cvt_f32_{name}_sdwa v128, v16 src0_sel:BYTE_{i}", [word])
               for i in range(4)]
    both = [Snippet(f"v_cvt_pk_f32_{name}_sdwa v[128:129], v16 src0_sel:WORD_{i}", [word], 2)
            for i in range(2)]
    plain = [Snippet(f"v_cvt_f32_{name} v128, v16", [word]),
             Snippet(f"v_cvt_pk_f32_{name} v[128:129], v16", [word], 2)]
    run(singles + both + plain)
    part = [values(name)[word >> (8 * i) & 255] for i in range(4)]
    for i in range(4):
        assert_same(singles[i].result(dtype=np.float32), part[i], f"byte {i}")
        assert_same(both[i // 2].result(i % 2, np.float32), part[i], f"word {i // 2}")
    assert_same(plain[0].result(dtype=np.float32), part[0])
    assert_same(plain[1].result(1, np.float32), part[1])


@pytest.mark.parametrize("saturates", [False, True])
@pytest.mark.parametrize("name", ["fp8", "bf8"])
def test_f32_to_bytes(run, name, saturates):
    x = boundaries(name)
    mode = USUAL_MODE | (OVERFLOW_SATURATES if saturates else 0)
    old = "v_mov_b32 v128, 0x12345678\n"
    low, high = run([
        Snippet(f"{old} v_cvt_pk_{name}_f32 v128, v16, -v16", [x], mode=mode),
        Snippet(f"{old} v_cvt_pk_{name}_f32 v128, v16, -v16 op_sel:[0,0,1]", [x], mode=mode)])
    want = encode(x, name, saturates)
    for snippet, shift, rest in ((low, 0, 0x12340000), (high, 16, 0x5678)):
        got = snippet.result()
        assert ((got & ~np.uint32(0xFFFF << shift)) == rest).all(), "the other half must stay"
        assert_same((got >> shift).astype(np.uint8).view(SMALL[name]), want)
        assert_same((got >> (shift + 8)).astype(np.uint8).view(SMALL[name]), encode(-x, name, saturates))


@pytest.mark.parametrize("wide", WIDE)
@pytest.mark.parametrize("name", ["fp8", "bf8", "fp4"])
def test_scaled_to_wider(run, name, wide):
    """Every code with every scale, in every place."""
    code, scale = (g.ravel() for g in np.meshgrid(codes(name), scales()))
    bits = bits_of(name)
    other = np.roll(codes(name), -3)[code]
    two = code.astype(np.uint32) | other.astype(np.uint32) << bits
    snippets = []
    for place in range(32 // (2 * bits)):
        op_sel = f"op_sel:[{place},0,0]" if bits == 8 else f"op_sel:[{place & 1},{place >> 1},0]"
        word = two << (2 * bits * place) | ~np.uint32((1 << 2 * bits) - 1 << 2 * bits * place) & 0x5A5A5A5A
        destination = "v[128:129]" if wide == "f32" else "v128"
        snippets.append(Snippet(f"v_cvt_scalef32_pk_{wide}_{name} {destination}, v16, v17 {op_sel}",
                                [word, scale], 2 if wide == "f32" else 1))
    run(snippets)
    with np.errstate(invalid="ignore"):
        want = [narrow(values(name)[c].astype(np.float64) * power_of(scale), WIDE[wide])
                for c in (code, other)]
    for snippet in snippets:
        for i in range(2):
            got = (snippet.result(i, np.float32) if wide == "f32" else
                   (snippet.result() >> (16 * i)).astype(np.uint16).view(WIDE[wide]))
            assert_same(got, want[i], snippet.body)


@pytest.mark.parametrize("wide", ["f32", "f16"])
@pytest.mark.parametrize("name", ["fp8", "bf8"])
def test_scaled_byte_to_wider(run, name, wide):
    code, scale = (g.ravel() for g in np.meshgrid(codes(name), scales()))
    with np.errstate(invalid="ignore"):
        want = narrow(values(name)[code].astype(np.float64) * power_of(scale), WIDE[wide])
    snippets = []
    for place in range(4):
        word = code.astype(np.uint32) << (8 * place)
        op_sel = f"{place & 1},{place >> 1}"
        for high in range(2 if wide == "f16" else 1):
            snippets.append(Snippet(f"v_mov_b32 v128, 0x00070007\n v_cvt_scalef32_{wide}_{name} v128, "
                                    f"v16, v17 op_sel:[{op_sel},{high}]", [word, scale]))
    run(snippets)
    for snippet in snippets:
        if wide == "f32":
            assert_same(snippet.result(dtype=np.float32), want, snippet.body)
        else:
            shift = 16 if snippet.body.endswith("1]") else 0
            assert_same((snippet.result() >> shift).astype(np.uint16).view(np.float16), want)
            assert (snippet.result() >> (16 - shift) & 0xFFFF == 7).all(), "the other half must stay"


def scaled_inputs(name, exponent):
    """f32 that give the boundaries of the format over this scale, where f32 has them."""
    with np.errstate(over="ignore", under="ignore"):
        return (boundaries(name) * np.float32(2.0) ** np.float32(exponent - 127)).astype(np.float32)


def over_scale(x, scale):
    """x over the power of two, in f32; exact inside f32's range."""
    with np.errstate(all="ignore"):
        return (x.astype(np.float64) / power_of(scale)).astype(np.float32)


@pytest.mark.parametrize("saturates", [False, True])
@pytest.mark.parametrize("name", ["fp8", "bf8", "fp4"])
def test_scaled_f32_to_narrower(run, name, saturates):
    exponents = [1, 60, 120, 126, 127, 128, 135, 200, 254]
    x = np.concatenate([scaled_inputs(name, e) for e in exponents])
    scale = np.repeat(np.uint32(exponents) << 23 | 0x7FFFF, len(x) // len(exponents)).astype(np.uint32)
    bits = bits_of(name)
    snippets = []
    for place in range(32 // (2 * bits)):
        op_sel = f"op_sel:[0,0,0,{place}]" if bits == 8 else f"op_sel:[0,0,{place & 1},{place >> 1}]"
        snippets.append(Snippet(f"v_mov_b32 v128, -1\n v_cvt_scalef32_pk_{name}_f32 v128, v16, -v16, "
                                f"v17 {op_sel}", [x, scale],
                                mode=USUAL_MODE | (OVERFLOW_SATURATES if saturates else 0)))
    run(snippets)
    numbers = ~np.isnan(x) if bits == 4 else np.ones(len(x), bool)  # no NaN to turn into
    exact = over_scale(x, scale)
    for place, snippet in enumerate(snippets):
        for i, want in enumerate((encode(exact, name, saturates or bits == 4),
                                  encode(-exact, name, saturates or bits == 4))):
            got = snippet.result() >> (2 * bits * place + bits * i) & (1 << bits) - 1
            assert_same(got.astype(np.uint8).view(SMALL[name])[numbers], want[numbers], snippet.body)
        mask = np.uint32((1 << 2 * bits) - 1 << 2 * bits * place)
        assert ((snippet.result() | mask) == 0xFFFFFFFF).all(), "the rest must stay"


@pytest.mark.parametrize("wide", ["f16", "bf16"])
@pytest.mark.parametrize("name", ["fp8", "bf8", "fp4"])
def test_scaled_halves_to_narrower(run, name, wide):
    """Every 16-bit input with several scales."""
    every = np.arange(65536, dtype=np.uint32)
    exponents = [100, 127, 133] if wide == "f16" else [40, 127, 180]
    snippets = [Snippet(f"v_mov_b32 v17, {e << 23:#x}\n v_mov_b32 v128, 0\n"
                        f"v_cvt_scalef32_pk_{name}_{wide} v128, v16, v17",
                        [every | (every ^ 0x8001) << 16]) for e in exponents]
    run(snippets)
    x = every.astype(np.uint16).view(WIDE[wide]).astype(np.float32)
    other = (every ^ 0x8001).astype(np.uint16).view(WIDE[wide]).astype(np.float32)
    bits = bits_of(name)
    for e, snippet in zip(exponents, snippets, strict=True):
        for i, source in enumerate((x, other)):
            exact = over_scale(source, np.full(1, e << 23, np.uint32))
            numbers = ~np.isnan(source) if bits == 4 else np.ones(len(x), bool)
            got = (snippet.result() >> (bits * i) & (1 << bits) - 1).astype(np.uint8)
            assert_same(got.view(SMALL[name])[numbers], encode(exact, name, bits == 4)[numbers],
                        snippet.body)


def pack6(code):
    """[items, 32] of 6-bit codes to [items, 6] words, little end first."""
    bits = (code[..., None] >> np.arange(6) & 1).astype(np.uint8).reshape(len(code), 192)
    return np.packbits(bits, axis=1, bitorder="little").view(np.uint32)


def unpack6(words):
    bits = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=1, bitorder="little")
    return (bits.reshape(len(words), LIST, 6) << np.arange(6)).sum(axis=2).astype(np.uint8)


@pytest.mark.parametrize("wide", WIDE)
@pytest.mark.parametrize("name", ["fp6", "bf6"])
def test_six_bits_to_wider(run, name, wide):
    """Every code in every of the 32 places, with every scale."""
    rng = np.random.default_rng(3)
    scale = np.repeat(scales(), 2).astype(np.uint32)
    code = np.concatenate([rng.permuted(np.arange(64, dtype=np.uint8)).reshape(2, LIST)
                           for _ in range(256)])
    words = pack6(code)
    count = LIST if wide == "f32" else LIST // 2
    snippet = Snippet(f"v_cvt_scalef32_pk32_{wide}_{name} v[128:{127 + count}], v[16:21], v22",
                      [*words.T, scale], count)
    run([snippet])
    with np.errstate(invalid="ignore"):
        want = narrow(values(name)[code].astype(np.float64) * power_of(scale)[:, None], WIDE[wide])
    got = snippet.got.T
    got = (np.ascontiguousarray(got).view(np.float32) if wide == "f32" else
           np.ascontiguousarray(got).view(np.uint16).view(WIDE[wide]))
    assert_same(got, want, snippet.body)


@pytest.mark.parametrize("name", ["fp6", "bf6"])
def test_f32_to_six_bits(run, name):
    """Two lists of 16 that take turns in the result."""
    exponents = [1, 90, 127, 131, 250]
    x = np.concatenate([scaled_inputs(name, e)[:len(boundaries(name)) // LIST * LIST]
                        for e in exponents]).reshape(-1, LIST)
    rows = len(x) // len(exponents)
    scale = np.repeat(np.uint32(exponents) << 23, rows).astype(np.uint32)
    snippet = Snippet(f"v_cvt_scalef32_2xpk16_{name}_f32 v[128:133], v[16:31], v[32:47], v48",
                      [*x[:, ::2].T, *x[:, 1::2].T, scale], 6)
    run([snippet])
    want = encode(over_scale(x, scale[:, None]), name, True)
    numbers = ~np.isnan(x)
    assert_same(unpack6(snippet.got.T).view(SMALL[name])[numbers], want[numbers], snippet.body)


@pytest.mark.parametrize("wide", ["f16", "bf16"])
@pytest.mark.parametrize("name", ["fp6", "bf6"])
def test_halves_to_six_bits(run, name, wide):
    every = np.arange(65536, dtype=np.uint16).reshape(-1, LIST)
    pairs = every[:, ::2].astype(np.uint32) | every[:, 1::2].astype(np.uint32) << 16
    exponents = [120, 127, 130]
    snippets = [Snippet(f"v_mov_b32 v32, {e << 23:#x}\n"
                        f"v_cvt_scalef32_pk32_{name}_{wide} v[128:133], v[16:31], v32", list(pairs.T), 6)
                for e in exponents]
    run(snippets)
    x = every.view(WIDE[wide]).astype(np.float32)
    for e, snippet in zip(exponents, snippets, strict=True):
        want = encode(over_scale(x, np.full(1, e << 23, np.uint32)), name, True)
        numbers = ~np.isnan(x)
        assert_same(unpack6(snippet.got.T).view(SMALL[name])[numbers], want[numbers], snippet.body)


# ---- Stochastic rounding: the top bits of a random word are added below the last place.

MANTISSA = {"fp8": 3, "bf8": 2, "fp6": 3, "bf6": 2, "fp4": 1, "f16": 10, "bf16": 7}


def raised(x, random, target):
    """f32 with the random bits added to what will be cut off."""
    bits = x.view(np.uint32) + (random >> np.uint32(9 + MANTISSA[target]))
    return np.where(np.isfinite(x), bits, x.view(np.uint32)).astype(np.uint32).view(np.float32)


def cut(x, name):
    """The code of the value next to x towards zero, saturating."""
    v = values(name)
    finite = np.unique(np.abs(v[np.isfinite(v)]))
    index = np.searchsorted(finite, np.abs(x), side="right") - 1
    return np.copysign(finite[np.clip(index, 0, None)], x)


def next_random(x):
    return (x << np.uint32(1) ^ np.where(x >> 31, 197, 0).astype(np.uint32)).astype(np.uint32)


def stochastic_inputs(name):
    rng = np.random.default_rng(5)
    largest = np.float32(ml_dtypes.finfo(SMALL[name]).max)
    x = (rng.standard_normal(4096) * largest / 4).astype(np.float32)
    x[:1024] = np.ldexp(x[:1024], -rng.integers(0, 20, 1024))
    x = np.clip(x, -largest, largest)
    random = rng.integers(0, 2**32, x.size, dtype=np.uint32)
    random[::7], random[1::7] = 0, 0xFFFFFFFF
    return x, random


@pytest.mark.parametrize("name", ["fp8", "bf8"])
def test_stochastic_bytes(run, name):
    x, random = stochastic_inputs(name)
    mode = USUAL_MODE | OVERFLOW_SATURATES
    snippets = [Snippet(f"v_mov_b32 v128, -1\n v_cvt_sr_{name}_f32 v128, v16, v17 "
                        f"op_sel:[0,0,{place & 1},{place >> 1}]", [x, random], mode=mode)
                for place in range(4)]
    snippets += [Snippet(f"v_mov_b32 v128, -1\n v_mov_b32 v20, {130 << 23:#x}\n"
                         f"v_cvt_scalef32_sr_{name}_f32 v128, v16, v17, v20 "
                         f"op_sel:[0,0,{place & 1},{place >> 1}]", [x * 8, random], mode=mode)
                 for place in range(4)]
    run(snippets)
    want = cut(raised(x, random, name), name)
    for index, snippet in enumerate(snippets):
        shift = index % 4 * 8
        got = (snippet.result() >> shift & 255).astype(np.uint8).view(SMALL[name])
        assert_same(got.astype(np.float32), want, snippet.body)
        assert ((snippet.result() | np.uint32(255 << shift)) == 0xFFFFFFFF).all()


@pytest.mark.parametrize("wide", ["f16", "bf16"])
@pytest.mark.parametrize("name", ["fp8", "bf8"])
def test_stochastic_bytes_of_halves(run, name, wide):
    x, random = stochastic_inputs(name)
    x = x.astype(WIDE[wide])
    snippet = Snippet(f"v_mov_b32 v128, 0\n v_mov_b32 v20, {127 << 23:#x}\n"
                      f"v_cvt_scalef32_sr_{name}_{wide} v128, v16, v17, v20", [x, random],
                      mode=USUAL_MODE | OVERFLOW_SATURATES)
    run([snippet])
    want = cut(raised(x.astype(np.float32), random, name), name)
    assert_same(snippet.result(dtype=SMALL[name]).astype(np.float32), want, snippet.body)


def test_stochastic_fp4(run):
    x, random = stochastic_inputs("fp4")
    y = x[::-1].copy()
    snippet = Snippet(f"v_mov_b32 v128, -1\n v_mov_b32 v20, {126 << 23:#x}\n"
                      "v_cvt_scalef32_sr_pk_fp4_f32 v128, v[16:17], v18, v20 op_sel:[0,0,1,0]",
                      [x / 2, y / 2, random])
    halves = [v.astype(np.float16) for v in (x, y)]
    pair = halves[0].view(np.uint16) | halves[1].view(np.uint16).astype(np.uint32) << 16
    brains = [v.astype(BF16) for v in (x, y)]
    brain_pair = brains[0].view(np.uint16) | brains[1].view(np.uint16).astype(np.uint32) << 16
    others = [Snippet(f"v_mov_b32 v128, -1\n v_mov_b32 v20, {127 << 23:#x}\n"
                      f"v_cvt_scalef32_sr_pk_fp4_{wide} v128, v16, v17, v20 op_sel:[0,0,1,0]",
                      [p, random]) for wide, p in (("f16", pair), ("bf16", brain_pair))]
    run([snippet, *others])
    for done, sources in ((snippet, (x, y)), (others[0], halves), (others[1], brains)):
        for i, (source, r) in enumerate(zip(sources, (random, next_random(random)), strict=True)):
            want = cut(raised(source.astype(np.float32), r, "fp4"), "fp4")
            got = (done.result() >> (8 + 4 * i) & 15).astype(np.uint8).view(SMALL["fp4"])
            assert_same(got.astype(np.float32), want, done.body)
        assert ((done.result() | 0xFF00) == 0xFFFFFFFF).all()


@pytest.mark.parametrize("wide", WIDE)
@pytest.mark.parametrize("name", ["fp6", "bf6"])
def test_stochastic_six_bits(run, name, wide):
    x, random = stochastic_inputs(name)
    x = x.astype(WIDE[wide]).reshape(-1, LIST)
    random = random[:len(x)]
    if wide == "f32":
        inputs, last = [*x.T], 47
    else:
        half = x.view(np.uint16).astype(np.uint32)
        inputs, last = [*(half[:, ::2] | half[:, 1::2] << 16).T], 31
    snippet = Snippet(f"v_mov_b32 v60, {127 << 23:#x}\n v_cvt_scalef32_sr_pk32_{name}_{wide} "
                      f"v[128:133], v[16:{last}], v{last + 1}, v60", [*inputs, random], 6)
    run([snippet])
    want, state = np.zeros(x.shape, np.float32), random
    for i in range(LIST):
        want[:, i] = cut(raised(x[:, i].astype(np.float32), state, name), name)
        state = next_random(state)
    assert_same(unpack6(snippet.got.T).view(SMALL[name]).astype(np.float32), want, snippet.body)


@pytest.mark.parametrize("target", ["f16", "bf16"])
def test_stochastic_halves(run, target):
    rng = np.random.default_rng(6)
    x = (rng.standard_normal(4096) * 100).astype(np.float32)
    random = rng.integers(0, 2**32, x.size, dtype=np.uint32)
    snippets = run([Snippet(f"v_mov_b32 v128, -1\n v_cvt_sr_{target}_f32 v128, v16, v17 op_sel:[0,0,{h}]",
                            [x, random]) for h in range(2)])
    lifted = raised(x, random, target).view(np.uint32)
    want = (lifted & ~np.uint32((1 << 23 - MANTISSA[target]) - 1)).view(np.float32).astype(WIDE[target])
    for high, snippet in enumerate(snippets):
        got = (snippet.result() >> (16 * high)).astype(np.uint16).view(WIDE[target])
        assert_same(got, want, snippet.body)


def test_stochastic_rounding_is_right_on_average(run):
    """Of many roundings of one value the mean is that value."""
    count = 1 << 14
    random = (np.arange(count, dtype=np.uint64) * (2**32 // count)).astype(np.uint32)
    for name, value in (("fp8", 1.03), ("bf8", -2.3)):
        x = np.full(count, value, np.float32)
        (snippet,) = run([Snippet(f"v_mov_b32 v128, 0\n v_cvt_sr_{name}_f32 v128, v16, v17", [x, random])])
        mean = snippet.result(dtype=SMALL[name]).astype(np.float64).mean()
        assert abs(mean - value) < 1e-3, name
