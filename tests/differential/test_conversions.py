# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversions between float formats against ml_dtypes: all codes to wider types; to narrower ones
every 16-bit input, and of f32 every code, every midpoint and what lies beside them."""

import numpy as np
import pytest
from formats import (
    BF16,
    LIST,
    SMALL,
    WIDE,
    assert_same,
    bits_of,
    boundaries,
    codes,
    encode,
    narrow,
    over_scale,
    pack6,
    power_of,
    scaled_inputs,
    scales,
    unpack6,
    values,
)
from snippets import OVERFLOW_SATURATES, USUAL_MODE, Snippet, run_snippets


@pytest.fixture
def run(kw_program, tmp_path):
    return lambda snippets: run_snippets(kw_program, tmp_path, snippets)


def test_halves_to_f32(run):
    every = np.arange(65536, dtype=np.uint16)
    half, brain = run(
        [Snippet("v_cvt_f32_f16 v128, v16", [every]), Snippet("v_cvt_f32_bf16 v128, v16", [every])]
    )
    assert_same(half.result(dtype=np.float32), every.view(np.float16).astype(np.float32), "f16")
    assert_same(brain.result(dtype=np.float32), every.view(BF16).astype(np.float32), "bf16")


def test_f32_to_halves(run):
    upper = np.arange(65536, dtype=np.uint32) << 16
    low = [0, 1, 0xFFF, 0x1000, 0x1001, 0x2000, 0x3000, 0x7FFF, 0x8000, 0x8001, 0xFFFF]
    x = np.concatenate([upper | np.uint32(bits) for bits in low]).view(np.float32)
    one, pair, brain, cut = run(
        [
            Snippet("v_cvt_f16_f32 v128, v16", [x]),
            Snippet("v_cvt_pk_f16_f32 v128, v16, -v16", [x]),
            Snippet("v_cvt_pk_bf16_f32 v128, v16, -v16", [x]),
            Snippet("v_cvt_pkrtz_f16_f32 v128, v16, -v16", [x]),
        ]
    )
    with np.errstate(over="ignore", invalid="ignore"):
        half, brains = x.astype(np.float16), x.astype(BF16)
        exact = x.astype(np.float64)
    assert_same(one.result(dtype=np.float16), half, "v_cvt_f16_f32")
    for snippet, want, dtype in ((pair, half, np.float16), (brain, brains, BF16)):
        assert_same(snippet.result(dtype=dtype), want, snippet.body)
        assert_same((snippet.result() >> 16).astype(np.uint16).view(dtype), -want, snippet.body)
    toward_zero = np.where(
        np.abs(half.astype(np.float64)) > np.abs(exact),
        np.nextafter(half, np.float16(0)),
        half,
    )
    assert_same(cut.result(dtype=np.float16), toward_zero.astype(np.float16), "v_cvt_pkrtz")


def test_f64_and_f32(run):
    rng = np.random.default_rng(2)
    x = rng.integers(0, 2**64, 40000, dtype=np.uint64)
    near = np.concatenate(
        [
            rng.standard_normal(20000),
            np.ldexp(rng.random(20000), -rng.integers(120, 160, 20000)),
            [0.0, -0.0, np.inf, -np.inf, np.nan, 3.4028235677973366e38, 2.0**-150],
        ]
    )
    x = np.concatenate([x.view(np.float64), near])
    y = rng.integers(0, 2**32, 60000, dtype=np.uint32).view(np.float32)
    down, up = run(
        [
            Snippet("v_cvt_f32_f64 v128, v[16:17]", [x]),
            Snippet("v_cvt_f64_f32 v[128:129], v16", [y], 2),
        ]
    )
    with np.errstate(over="ignore", invalid="ignore"):
        assert_same(down.result(dtype=np.float32), x.astype(np.float32), "f64 to f32")
        same = up.result(dtype=np.float64) == y.astype(np.float64)
    assert (same | np.isnan(y)).all()


@pytest.mark.parametrize("name", ["fp8", "bf8"])
def test_bytes_to_f32(run, name):
    pairs = np.arange(65536, dtype=np.uint32)
    word = pairs | (pairs ^ 0xFFFF) << 16
    singles = [
        Snippet(f"v_cvt_f32_{name}_sdwa v128, v16 src0_sel:BYTE_{i}", [word]) for i in range(4)
    ]
    both = [
        Snippet(f"v_cvt_pk_f32_{name}_sdwa v[128:129], v16 src0_sel:WORD_{i}", [word], 2)
        for i in range(2)
    ]
    plain = [
        Snippet(f"v_cvt_f32_{name} v128, v16", [word]),
        Snippet(f"v_cvt_pk_f32_{name} v[128:129], v16", [word], 2),
    ]
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
    low, high = run(
        [
            Snippet(f"{old} v_cvt_pk_{name}_f32 v128, v16, -v16", [x], mode=mode),
            Snippet(f"{old} v_cvt_pk_{name}_f32 v128, v16, -v16 op_sel:[0,0,1]", [x], mode=mode),
        ]
    )
    want = encode(x, name, saturates)
    for snippet, shift, rest in ((low, 0, 0x12340000), (high, 16, 0x5678)):
        got = snippet.result()
        assert ((got & ~np.uint32(0xFFFF << shift)) == rest).all(), "the other half must stay"
        assert_same((got >> shift).astype(np.uint8).view(SMALL[name]), want)
        assert_same(
            (got >> (shift + 8)).astype(np.uint8).view(SMALL[name]), encode(-x, name, saturates)
        )


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
        word = (
            two << (2 * bits * place)
            | ~np.uint32((1 << 2 * bits) - 1 << 2 * bits * place) & 0x5A5A5A5A
        )
        destination = "v[128:129]" if wide == "f32" else "v128"
        snippets.append(
            Snippet(
                f"v_cvt_scalef32_pk_{wide}_{name} {destination}, v16, v17 {op_sel}",
                [word, scale],
                2 if wide == "f32" else 1,
            )
        )
    run(snippets)
    with np.errstate(invalid="ignore"):
        want = [
            narrow(values(name)[c].astype(np.float64) * power_of(scale), WIDE[wide])
            for c in (code, other)
        ]
    for snippet in snippets:
        for i in range(2):
            got = (
                snippet.result(i, np.float32)
                if wide == "f32"
                else (snippet.result() >> (16 * i)).astype(np.uint16).view(WIDE[wide])
            )
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
            snippets.append(
                Snippet(
                    f"v_mov_b32 v128, 0x00070007\n v_cvt_scalef32_{wide}_{name} v128, "
                    f"v16, v17 op_sel:[{op_sel},{high}]",
                    [word, scale],
                )
            )
    run(snippets)
    for snippet in snippets:
        if wide == "f32":
            assert_same(snippet.result(dtype=np.float32), want, snippet.body)
        else:
            shift = 16 if snippet.body.endswith("1]") else 0
            assert_same((snippet.result() >> shift).astype(np.uint16).view(np.float16), want)
            assert (snippet.result() >> (16 - shift) & 0xFFFF == 7).all(), (
                "the other half must stay"
            )


@pytest.mark.parametrize("saturates", [False, True])
@pytest.mark.parametrize("name", ["fp8", "bf8", "fp4"])
def test_scaled_f32_to_narrower(run, name, saturates):
    exponents = [1, 60, 120, 126, 127, 128, 135, 200, 254]
    x = np.concatenate([scaled_inputs(name, e) for e in exponents])
    scale = np.repeat(np.uint32(exponents) << 23 | 0x7FFFF, len(x) // len(exponents)).astype(
        np.uint32
    )
    bits = bits_of(name)
    snippets = []
    for place in range(32 // (2 * bits)):
        op_sel = (
            f"op_sel:[0,0,0,{place}]" if bits == 8 else f"op_sel:[0,0,{place & 1},{place >> 1}]"
        )
        snippets.append(
            Snippet(
                f"v_mov_b32 v128, -1\n v_cvt_scalef32_pk_{name}_f32 v128, v16, -v16, v17 {op_sel}",
                [x, scale],
                mode=USUAL_MODE | (OVERFLOW_SATURATES if saturates else 0),
            )
        )
    run(snippets)
    numbers = ~np.isnan(x) if bits == 4 else np.ones(len(x), bool)  # no NaN to turn into
    exact = over_scale(x, scale)
    for place, snippet in enumerate(snippets):
        for i, want in enumerate(
            (
                encode(exact, name, saturates or bits == 4),
                encode(-exact, name, saturates or bits == 4),
            )
        ):
            got = snippet.result() >> (2 * bits * place + bits * i) & (1 << bits) - 1
            assert_same(
                got.astype(np.uint8).view(SMALL[name])[numbers], want[numbers], snippet.body
            )
        mask = np.uint32((1 << 2 * bits) - 1 << 2 * bits * place)
        assert ((snippet.result() | mask) == 0xFFFFFFFF).all(), "the rest must stay"


@pytest.mark.parametrize("wide", ["f16", "bf16"])
@pytest.mark.parametrize("name", ["fp8", "bf8", "fp4"])
def test_scaled_halves_to_narrower(run, name, wide):
    """Every 16-bit input with several scales."""
    every = np.arange(65536, dtype=np.uint32)
    exponents = [100, 127, 133] if wide == "f16" else [40, 127, 180]
    snippets = [
        Snippet(
            f"v_mov_b32 v17, {e << 23:#x}\n v_mov_b32 v128, 0\n"
            f"v_cvt_scalef32_pk_{name}_{wide} v128, v16, v17",
            [every | (every ^ 0x8001) << 16],
        )
        for e in exponents
    ]
    run(snippets)
    x = every.astype(np.uint16).view(WIDE[wide]).astype(np.float32)
    other = (every ^ 0x8001).astype(np.uint16).view(WIDE[wide]).astype(np.float32)
    bits = bits_of(name)
    for e, snippet in zip(exponents, snippets, strict=True):
        for i, source in enumerate((x, other)):
            exact = over_scale(source, np.full(1, e << 23, np.uint32))
            numbers = ~np.isnan(source) if bits == 4 else np.ones(len(x), bool)
            got = (snippet.result() >> (bits * i) & (1 << bits) - 1).astype(np.uint8)
            assert_same(
                got.view(SMALL[name])[numbers],
                encode(exact, name, bits == 4)[numbers],
                snippet.body,
            )


@pytest.mark.parametrize("wide", WIDE)
@pytest.mark.parametrize("name", ["fp6", "bf6"])
def test_six_bits_to_wider(run, name, wide):
    """Every code in every of the 32 places, with every scale."""
    rng = np.random.default_rng(3)
    scale = np.repeat(scales(), 2).astype(np.uint32)
    code = np.concatenate(
        [rng.permuted(np.arange(64, dtype=np.uint8)).reshape(2, LIST) for _ in range(256)]
    )
    words = pack6(code)
    count = LIST if wide == "f32" else LIST // 2
    snippet = Snippet(
        f"v_cvt_scalef32_pk32_{wide}_{name} v[128:{127 + count}], v[16:21], v22",
        [*words.T, scale],
        count,
    )
    run([snippet])
    with np.errstate(invalid="ignore"):
        want = narrow(values(name)[code].astype(np.float64) * power_of(scale)[:, None], WIDE[wide])
    got = snippet.got.T
    got = (
        np.ascontiguousarray(got).view(np.float32)
        if wide == "f32"
        else np.ascontiguousarray(got).view(np.uint16).view(WIDE[wide])
    )
    assert_same(got, want, snippet.body)


@pytest.mark.parametrize("name", ["fp6", "bf6"])
def test_f32_to_six_bits(run, name):
    """Two lists of 16 that take turns in the result."""
    exponents = [1, 90, 127, 131, 250]
    x = np.concatenate(
        [scaled_inputs(name, e)[: len(boundaries(name)) // LIST * LIST] for e in exponents]
    ).reshape(-1, LIST)
    rows = len(x) // len(exponents)
    scale = np.repeat(np.uint32(exponents) << 23, rows).astype(np.uint32)
    snippet = Snippet(
        f"v_cvt_scalef32_2xpk16_{name}_f32 v[128:133], v[16:31], v[32:47], v48",
        [*x[:, ::2].T, *x[:, 1::2].T, scale],
        6,
    )
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
    snippets = [
        Snippet(
            f"v_mov_b32 v32, {e << 23:#x}\n"
            f"v_cvt_scalef32_pk32_{name}_{wide} v[128:133], v[16:31], v32",
            list(pairs.T),
            6,
        )
        for e in exponents
    ]
    run(snippets)
    x = every.view(WIDE[wide]).astype(np.float32)
    for e, snippet in zip(exponents, snippets, strict=True):
        want = encode(over_scale(x, np.full(1, e << 23, np.uint32)), name, True)
        numbers = ~np.isnan(x)
        assert_same(unpack6(snippet.got.T).view(SMALL[name])[numbers], want[numbers], snippet.body)
