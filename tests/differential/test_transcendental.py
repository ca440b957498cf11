# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""v_exp, v_log, v_rcp, v_rsq, v_sqrt, v_sin, v_cos: within the accuracy that the ISA states (f32
and f16: 1 unit in the last place; f64: 2^29), special values, denormals."""

import numpy as np
import pytest
from snippets import Snippet, run_snippets

UNITS = {np.float32: 1.0, np.float16: 1.0, np.float64: 2.0**29}
# Sine and cosine: an absolute error beside the relative one, as results come close to zero.
NEAR_ZERO = {np.float32: 2.0**-24, np.float16: 0.0}


def turns(function):
    """Sine or cosine of 2 pi x, with x reduced exactly first."""

    def of(x):
        part = x - np.rint(x)
        return function(2 * np.pi * part)

    return of


FUNCTIONS = {
    "exp": np.exp2,
    "log": np.log2,
    "rcp": lambda x: 1 / x,
    "rsq": lambda x: 1 / np.sqrt(x),
    "sqrt": np.sqrt,
    "sin": turns(np.sin),
    "cos": turns(np.cos),
}


@pytest.fixture
def run(kw_program, tmp_path):
    return lambda snippets: run_snippets(kw_program, tmp_path, snippets)


def unit(want, dtype):
    """One unit in the last place of each value."""
    info = np.finfo(dtype)
    with np.errstate(divide="ignore", invalid="ignore"):
        exponent = np.floor(np.log2(np.abs(np.where(want == 0, info.smallest_subnormal, want))))
    exponent = np.clip(np.nan_to_num(exponent), info.minexp, info.maxexp)
    return np.ldexp(1.0, (exponent - info.nmant).astype(int))


def flushed(x):
    x = x.astype(np.float64)
    return np.where(np.abs(x) < 2.0**-126, np.copysign(0.0, x), x)


def check(got, x, name, dtype):
    want_of = FUNCTIONS[name]
    flushes = dtype == np.float32 and name not in ("sin", "cos")
    with np.errstate(all="ignore"):
        want = want_of(flushed(x) if flushes else x.astype(np.float64))
        limit = float(np.finfo(dtype).max)
        # Results that round to infinity or to zero may be on either side of that border.
        allowed = UNITS[dtype] * unit(want, dtype) * (1 + 1e-9) + (
            NEAR_ZERO.get(dtype, 0) if name in ("sin", "cos") else 0
        )
        value = got.astype(np.float64)
        good = np.abs(value - want) <= allowed
        good |= np.isinf(value) & (np.abs(want) >= limit) & (np.sign(value) == np.sign(want))
        good |= (np.isnan(value) & np.isnan(want)) | (value == want)
        if flushes:
            good |= (value == 0) & (np.abs(want) < 2.0**-126 * (1 + 2.0**-23))
            denormal = (np.abs(value) < 2.0**-126) & (value != 0)
            good &= ~denormal
    bad = np.flatnonzero(~good)
    assert not len(bad), (
        f"v_{name} of {x[bad[0]]!r}: {got[bad[0]]!r}, want {want[bad[0]]!r} "
        f"({len(bad)} of {len(x)} wrong)"
    )


def f32_inputs():
    rng = np.random.default_rng(1)
    every_size = rng.integers(0, 2**32, 60000, dtype=np.uint32).view(np.float32)
    usual = (rng.standard_normal(20000) * 30).astype(np.float32)
    near_one = (1 + rng.standard_normal(5000) * 1e-4).astype(np.float32)
    borders = np.float32(
        [
            127.99999,
            128,
            -126,
            -126.0001,
            -149,
            -150,
            0,
            -0.0,
            1,
            -1,
            np.inf,
            -np.inf,
            np.nan,
            2.0**-126,
            2.0**126,
            2.0**127,
            1e-45,
            -1e-45,
        ]
    )
    return np.concatenate([every_size, usual, near_one, borders])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_f32(run, name):
    x = f32_inputs()
    (snippet,) = run([Snippet(f"v_{name}_f32 v128, v16", [x])])
    check(snippet.result(dtype=np.float32), x, name, np.float32)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_f16_of_every_input(run, name):
    x = np.arange(65536, dtype=np.uint16).view(np.float16)
    (snippet,) = run([Snippet(f"v_{name}_f16 v128, v16", [x])])
    check(snippet.result(dtype=np.float16), x, name, np.float16)


@pytest.mark.parametrize("name", ["rcp", "rsq", "sqrt"])
def test_f64(run, name):
    rng = np.random.default_rng(2)
    x = np.concatenate(
        [
            rng.integers(0, 2**64, 20000, dtype=np.uint64).view(np.float64),
            np.ldexp(1 + rng.random(5000), rng.integers(-1074, -1000, 5000)),
            [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, 4.0],
        ]
    )
    (snippet,) = run([Snippet(f"v_{name}_f64 v[128:129], v[16:17]", [x], 2)])
    check(snippet.result(dtype=np.float64), x, name, np.float64)


# Functional examples of the ISA manual: input, result.
EXAMPLES = {
    "exp_f32": [(0xFF800000, 0), (0x80000000, 0x3F800000), (0x7F800000, 0x7F800000)],
    "log_f32": [
        (0xFF800000, 0xFFC00000),
        (0xBF800000, 0xFFC00000),
        (0x80000000, 0xFF800000),
        (0, 0xFF800000),
        (0x3F800000, 0),
        (0x7F800000, 0x7F800000),
    ],
    "rcp_f32": [
        (0xFF800000, 0x80000000),
        (0xC0000000, 0xBF000000),
        (0x80000000, 0xFF800000),
        (0, 0x7F800000),
        (0x7F800000, 0),
    ],
    "rsq_f32": [
        (0xFF800000, 0xFFC00000),
        (0x80000000, 0xFF800000),
        (0, 0x7F800000),
        (0x40800000, 0x3F000000),
        (0x7F800000, 0),
    ],
    "sqrt_f32": [
        (0xFF800000, 0xFFC00000),
        (0x80000000, 0x80000000),
        (0, 0),
        (0x40800000, 0x40000000),
        (0x7F800000, 0x7F800000),
    ],
    "sin_f32": [
        (0xFF800000, 0xFFC00000),
        (0xFF7FFFFF, 0),
        (0x80000000, 0x80000000),
        (0x3E800000, 0x3F800000),
        (0x7F800000, 0xFFC00000),
        (0x3F000000, 0),
        (0xBE800000, 0xBF800000),
    ],
    "cos_f32": [
        (0xFF800000, 0xFFC00000),
        (0xFF7FFFFF, 0x3F800000),
        (0x80000000, 0x3F800000),
        (0x3E800000, 0),
        (0x7F800000, 0xFFC00000),
        (0x3F000000, 0xBF800000),
    ],
    "rcp_f16": [(0xFC00, 0x8000), (0xC000, 0xB800), (0x8000, 0xFC00), (0, 0x7C00), (0x7C00, 0)],
    "sqrt_f16": [(0xFC00, 0xFE00), (0x8000, 0x8000), (0, 0), (0x4400, 0x4000), (0x7C00, 0x7C00)],
    "rsq_f16": [(0xFC00, 0xFE00), (0x8000, 0xFC00), (0, 0x7C00), (0x4400, 0x3800), (0x7C00, 0)],
    "log_f16": [
        (0xFC00, 0xFE00),
        (0xBC00, 0xFE00),
        (0x8000, 0xFC00),
        (0, 0xFC00),
        (0x3C00, 0),
        (0x7C00, 0x7C00),
    ],
    "exp_f16": [(0xFC00, 0), (0x8000, 0x3C00), (0x7C00, 0x7C00)],
}


def test_examples_of_the_manual(run):
    snippets = run(
        [
            Snippet(f"v_{name} v128, v16", [np.uint32([x for x, _ in rows])])
            for name, rows in EXAMPLES.items()
        ]
    )
    for (name, rows), snippet in zip(EXAMPLES.items(), snippets, strict=True):
        assert [hex(x) for x in snippet.result()] == [hex(y) for _, y in rows], name


def test_denormals_are_flushed_whatever_mode_says(run):
    """f32: denormal sources count as zeros of their sign, denormal results become zeros."""
    x = np.array([1, 0x007FFFFF, 0x80000001], np.uint32)
    large = np.float32([2.0**127, -(2.0**127)])
    for mode in (0xF0, 0xC0):
        rcp, rsq, sqrt, log, tiny, exp = run(
            [
                *(
                    Snippet(f"v_{name}_f32 v128, v16", [x], mode=mode)
                    for name in ("rcp", "rsq", "sqrt", "log")
                ),
                Snippet("v_rcp_f32 v128, v16", [large], mode=mode),
                Snippet("v_exp_f32 v128, v16", [np.float32([-126.5, -149])], mode=mode),
            ]
        )
        infinities = np.float32([np.inf, np.inf, -np.inf])
        np.testing.assert_array_equal(rcp.result(dtype=np.float32), infinities)
        np.testing.assert_array_equal(rsq.result(dtype=np.float32), infinities)
        assert sqrt.result().tolist() == [0, 0, 0x80000000]
        np.testing.assert_array_equal(log.result(dtype=np.float32), np.float32([-np.inf] * 3))
        assert tiny.result().tolist() == [0, 0x80000000]
        assert exp.result().tolist() == [0, 0]
