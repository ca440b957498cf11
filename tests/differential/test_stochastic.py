# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stochastic rounding: the top bits of a random word are added below the last place, then what is
below is cut."""

import ml_dtypes
import numpy as np
import pytest
from formats import BF16, LIST, SMALL, WIDE, assert_same, unpack6, values
from snippets import OVERFLOW_SATURATES, USUAL_MODE, Snippet, run_snippets


@pytest.fixture
def run(kw_program, tmp_path):
    return lambda snippets: run_snippets(kw_program, tmp_path, snippets)


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
    snippets = [
        Snippet(
            f"v_mov_b32 v128, -1\n v_cvt_sr_{name}_f32 v128, v16, v17 "
            f"op_sel:[0,0,{place & 1},{place >> 1}]",
            [x, random],
            mode=mode,
        )
        for place in range(4)
    ]
    snippets += [
        Snippet(
            f"v_mov_b32 v128, -1\n v_mov_b32 v20, {130 << 23:#x}\n"
            f"v_cvt_scalef32_sr_{name}_f32 v128, v16, v17, v20 "
            f"op_sel:[0,0,{place & 1},{place >> 1}]",
            [x * 8, random],
            mode=mode,
        )
        for place in range(4)
    ]
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
    snippet = Snippet(
        f"v_mov_b32 v128, 0\n v_mov_b32 v20, {127 << 23:#x}\n"
        f"v_cvt_scalef32_sr_{name}_{wide} v128, v16, v17, v20",
        [x, random],
        mode=USUAL_MODE | OVERFLOW_SATURATES,
    )
    run([snippet])
    want = cut(raised(x.astype(np.float32), random, name), name)
    assert_same(snippet.result(dtype=SMALL[name]).astype(np.float32), want, snippet.body)


def test_stochastic_fp4(run):
    x, random = stochastic_inputs("fp4")
    y = x[::-1].copy()
    snippet = Snippet(
        f"v_mov_b32 v128, -1\n v_mov_b32 v20, {126 << 23:#x}\n"
        "v_cvt_scalef32_sr_pk_fp4_f32 v128, v[16:17], v18, v20 op_sel:[0,0,1,0]",
        [x / 2, y / 2, random],
    )
    halves = [v.astype(np.float16) for v in (x, y)]
    pair = halves[0].view(np.uint16) | halves[1].view(np.uint16).astype(np.uint32) << 16
    brains = [v.astype(BF16) for v in (x, y)]
    brain_pair = brains[0].view(np.uint16) | brains[1].view(np.uint16).astype(np.uint32) << 16
    others = [
        Snippet(
            f"v_mov_b32 v128, -1\n v_mov_b32 v20, {127 << 23:#x}\n"
            f"v_cvt_scalef32_sr_pk_fp4_{wide} v128, v16, v17, v20 op_sel:[0,0,1,0]",
            [p, random],
        )
        for wide, p in (("f16", pair), ("bf16", brain_pair))
    ]
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
    random = random[: len(x)]
    if wide == "f32":
        inputs, last = [*x.T], 47
    else:
        half = x.view(np.uint16).astype(np.uint32)
        inputs, last = [*(half[:, ::2] | half[:, 1::2] << 16).T], 31
    snippet = Snippet(
        f"v_mov_b32 v60, {127 << 23:#x}\n v_cvt_scalef32_sr_pk32_{name}_{wide} "
        f"v[128:133], v[16:{last}], v{last + 1}, v60",
        [*inputs, random],
        6,
    )
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
    snippets = run(
        [
            Snippet(
                f"v_mov_b32 v128, -1\n v_cvt_sr_{target}_f32 v128, v16, v17 op_sel:[0,0,{h}]",
                [x, random],
            )
            for h in range(2)
        ]
    )
    lifted = raised(x, random, target).view(np.uint32)
    want = (
        (lifted & ~np.uint32((1 << 23 - MANTISSA[target]) - 1))
        .view(np.float32)
        .astype(WIDE[target])
    )
    for high, snippet in enumerate(snippets):
        got = (snippet.result() >> (16 * high)).astype(np.uint16).view(WIDE[target])
        assert_same(got, want, snippet.body)


def test_stochastic_rounding_is_right_on_average(run):
    """Of many roundings of one value the mean is that value."""
    count = 1 << 14
    random = (np.arange(count, dtype=np.uint64) * (2**32 // count)).astype(np.uint32)
    for name, value in (("fp8", 1.03), ("bf8", -2.3)):
        x = np.full(count, value, np.float32)
        (snippet,) = run(
            [Snippet(f"v_mov_b32 v128, 0\n v_cvt_sr_{name}_f32 v128, v16, v17", [x, random])]
        )
        mean = snippet.result(dtype=SMALL[name]).astype(np.float64).mean()
        assert abs(mean - value) < 1e-3, name
