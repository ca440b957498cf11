# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Vector instructions that LLVM neither folds nor chooses by itself, one at a time on random
inputs, against numpy."""

import numpy as np
import pytest
from folding import random_float_bits, random_integer_bits
from integer_meanings import (
    ACCUMULATING,
    HALF_RESULTS,
    INTEGER2,
    INTEGER3,
    SATURATING,
    U32,
    U64,
    UNARY,
    bitop3,
    clamp,
    halves,
    low,
    signed,
    wide,
    windows,
    wrap,
)
from snippets import Snippet, run_snippets

ITEMS = 512
LEAST_MNEMONICS = 110


@pytest.fixture(scope="module")
def integers():
    rng = np.random.default_rng(1)
    return [random_integer_bits(rng, 32, ITEMS).astype(U32) for _ in range(3)]


@pytest.fixture
def run(kw_program, tmp_path):
    return lambda snippets: run_snippets(kw_program, tmp_path, snippets)


covered = set()


def check(run, cases, items=ITEMS):
    """`cases`: text with {} for the destination, inputs, words of the result."""
    snippets = [Snippet(text, inputs, len(want)) for text, inputs, want in cases]
    run(snippets)
    wrong = []
    for snippet, (text, _, want) in zip(snippets, cases, strict=True):
        covered.update(
            word.removesuffix("_e64") for line in text.split("\n")[-1:] for word in line.split()[:1]
        )
        for word, expected in enumerate(want):
            bad = np.flatnonzero(snippet.got[word] != expected.astype(np.uint32))
            if len(bad):
                wrong.append(
                    f"{text} of {[hex(int(i[bad[0]])) for i in snippet.inputs]}: word {word} "
                    f"{snippet.got[word][bad[0]]:#x}, want {int(expected[bad[0]]):#x} "
                    f"({len(bad)} of {items})"
                )
    assert not wrong, "\n".join(wrong)


def test_integers(run, integers):
    a, b, c = integers
    cases = [(f"{op} v128, v16", [a], [f(a)]) for op, f in UNARY.items()]
    cases += [(f"{op} v128, v16, v17", [a, b], [f(a, b)]) for op, f in INTEGER2.items()]
    cases += [(f"{op} v128, v16, v17, v18", [a, b, c], [f(a, b, c)]) for op, f in INTEGER3.items()]
    cases += [
        (f"v_mov_b32 v128, v18\n{op} v128, v16, v17", [a, b, c], [f(a, b, c)])
        for op, f in ACCUMULATING.items()
    ]
    check(run, cases)


def test_saturation(run, integers):
    a, b, c = integers
    check(
        run,
        [
            (text.format("v128") + " clamp", [a, b, c], [clamp(exact(a, b, c), bits, is_signed)])
            for text, (exact, bits, is_signed) in SATURATING.items()
        ],
    )


def test_packed_saturation(run, integers):
    a, b, c = integers
    cases = []
    for op, function, is_signed in (
        ("v_pk_add_u16", lambda x, y: x + y, False),
        ("v_pk_sub_u16", lambda x, y: x - y, False),
        ("v_pk_add_i16", lambda x, y: x + y, True),
        ("v_pk_sub_i16", lambda x, y: x - y, True),
    ):
        parts = [
            clamp(
                function(
                    signed(x, 16) if is_signed else wide(x), signed(y, 16) if is_signed else wide(y)
                ),
                16,
                is_signed,
            )
            for x, y in zip(halves(a), halves(b), strict=True)
        ]
        cases.append((f"{op} v128, v16, v17 clamp", [a, b], [parts[0] | parts[1] << U64(16)]))
    for op, is_signed in (("v_pk_mad_u16", False), ("v_pk_mad_i16", True)):
        parts = [
            clamp(
                np.prod([signed(v, 16) if is_signed else wide(v) for v in xyz[:2]], axis=0)
                + (signed(xyz[2], 16) if is_signed else wide(xyz[2])),
                16,
                is_signed,
            )
            for xyz in zip(halves(a), halves(b), halves(c), strict=True)
        ]
        cases.append(
            (f"{op} v128, v16, v17, v18 clamp", [a, b, c], [parts[0] | parts[1] << U64(16)])
        )
    check(run, cases)


def test_results_of_16_bits_that_keep_the_other_half(run, integers):
    a, b, c = integers
    old = "v_mov_b32 v128, 0xabcd1234\n"
    cases = [
        (old + text.format("v128"), [a, b, c], [f(a, b, c) | U64(0xABCD0000)])
        for text, f in HALF_RESULTS.items()
    ]
    check(run, cases)
    h = [
        v.astype(np.uint16).view(np.float16)
        for v in ((a & U32(0x3FF)) | U32(0x3C00), (b & U32(0x3FF)) | U32(0x3C00))
    ]
    snippets = run(
        [
            Snippet(old + "v_fma_f16 v128, v16, v17, 0", h),
            Snippet(old + "v_add_f16 v128, v16, v17", h),
        ]
    )
    assert (snippets[0].got >> 16 == 0xABCD).all() and (snippets[1].got >> 16 == 0).all()


def test_64_bits(run, integers):
    rng = np.random.default_rng(2)
    x, y = (random_integer_bits(rng, 64, ITEMS) for _ in range(2))
    a, b, _ = integers

    def words(v, count=2):
        return [
            np.array([int(e) >> (32 * i) & 0xFFFFFFFF for e in v], np.uint64) for i in range(count)
        ]

    mads = [
        ("v_mad_u64_u32", wide(a) * wide(b) + wide(x), False),
        ("v_mad_i64_i32", signed(a) * signed(b) + signed(x, 64), True),
    ]
    cases = [
        (
            f"{op} v[128:129], vcc, v16, v17, v[18:19]\ns_nop 1\nv_cndmask_b32 v130, 0, 1, vcc",
            [a, b, x],
            [*words(exact), np.array([int(e) >> 64 & 1 for e in exact], np.uint64)],
        )
        for op, exact, _ in mads
    ]
    for op, exact, is_signed in mads:
        limit = (-(1 << 63), (1 << 63) - 1) if is_signed else (0, (1 << 64) - 1)
        cases.append(
            (
                f"{op} v[128:129], vcc, v16, v17, v[18:19] clamp",
                [a, b, x],
                words([min(max(int(e), limit[0]), limit[1]) for e in exact]),
            )
        )
    cases += [
        ("v_lshlrev_b64 v[128:129], v16, v[18:19]", [a, b, x], words(wide(x) << low(a, 6))),
        ("v_lshrrev_b64 v[128:129], v16, v[18:19]", [a, b, x], words(wide(x) >> low(a, 6))),
        ("v_ashrrev_i64 v[128:129], v16, v[18:19]", [a, b, x], words(signed(x, 64) >> low(a, 6))),
        (
            "v_lshl_add_u64 v[128:129], v[16:17], v20, v[18:19]",
            [x, y, a],
            words((wide(x) << low(a, 3)) + wide(y)),
        ),
        (
            "v_qsad_pk_u16_u8 v[128:129], v[16:17], v20, v[18:19]",
            [x, y, a],
            _joined(windows(x, a, y, 16, False)),
        ),
        (
            "v_mqsad_pk_u16_u8 v[128:129], v[16:17], v20, v[18:19]",
            [x, y, a],
            _joined(windows(x, a, y, 16, True)),
        ),
    ]
    cases[7] = (cases[7][0], [x, y, a & U32(3)], words((wide(x) << low(a, 2)) + wide(y)))
    four = [random_integer_bits(rng, 32, ITEMS).astype(U32) for _ in range(4)]
    together = sum(wide(v) << (32 * i) for i, v in enumerate(four))
    cases.append(
        (
            "v_mqsad_u32_u8 v[128:131], v[16:17], v22, v[18:21]",
            [x, *four, a],
            windows(x, a, together, 32, True),
        )
    )
    check(run, cases)


def _joined(parts):
    return [parts[0] | parts[1] << U64(16), parts[2] | parts[3] << U64(16)]


def test_carries(run, integers):
    a, b, c = integers
    carry = c & U32(1)
    set_carry = "v_cmp_ne_u32 vcc, 0, v18\ns_nop 1\n"
    cases = []
    for op, exact in (
        ("v_add_co_u32", wide(a) + b),
        ("v_sub_co_u32", wide(a) - b),
        ("v_subrev_co_u32", wide(b) - a),
    ):
        cases.append(
            (
                f"{op} v128, vcc, v16, v17\ns_nop 1\nv_cndmask_b32 v129, 0, 1, vcc",
                [a, b],
                [wrap(exact), wrap(exact >> 32, 1)],
            )
        )
    for op, exact in (
        ("v_addc_co_u32", wide(a) + b + carry),
        ("v_subb_co_u32", wide(a) - b - carry),
        ("v_subbrev_co_u32", wide(b) - a - carry),
    ):
        cases.append(
            (
                f"{set_carry}{op} v128, vcc, v16, v17, vcc\ns_nop 1\nv_cndmask_b32 v129, 0, 1, vcc",
                [a, b, carry],
                [wrap(exact), wrap(exact >> 32, 1)],
            )
        )
    check(run, cases)
    covered.update(text.split("\n")[-3].split()[0] for text, _, _ in cases)


def test_bitop3(run, integers):
    a, b, c = integers
    tables = [0, 1, 0x80, 0xF0, 0xCC, 0xAA, 0x96, 0xE8, 0xCA, 0x35, 0xFF]
    cases = [
        (f"v_bitop3_b32 v128, v16, v17, v18 bitop3:{t:#x}", [a, b, c], [bitop3(a, b, c, t)])
        for t in tables
    ]
    cases += [
        (
            f"v_bitop3_b16 v128, v16, v17, v18 bitop3:{t:#x}",
            [a, b, c],
            [bitop3(a, b, c, t) & U64(0xFFFF)],
        )
        for t in tables
    ]
    check(run, cases)


def test_floats_to_packed_integers(run):
    rng = np.random.default_rng(3)
    x, y = (random_float_bits(rng, "float", ITEMS).astype(U32).view(np.float32) for _ in range(2))
    with np.errstate(over="ignore", invalid="ignore"):
        h = [v.astype(np.float16) for v in (x / 100, y / 100)]

    def norm(v, scale, lowest):
        with np.errstate(invalid="ignore"):
            number = np.nan_to_num(v.astype(np.float64), nan=0.0, posinf=1.0, neginf=-1.0)
            # One product that rounds to f32, then to the nearest integer.
            exact = (np.clip(number, lowest, 1).astype(np.float32) * np.float32(scale)).astype(
                np.float64
            )
        return wrap(np.rint(exact).astype(np.int64), 16)

    def pair(low_half, high_half):
        return [low_half | high_half << U64(16)]

    with np.errstate(invalid="ignore", over="ignore"):
        to_byte = np.nan_to_num(np.clip(x.astype(np.float64), 0, 255), nan=0.0).astype(np.uint64)
    old = np.full(ITEMS, 0x11223344, U32)
    cases = [
        (
            "v_cvt_pknorm_i16_f32 v128, v16, v17",
            [x, y],
            pair(norm(x, 32767, -1), norm(y, 32767, -1)),
        ),
        ("v_cvt_pknorm_u16_f32 v128, v16, v17", [x, y], pair(norm(x, 65535, 0), norm(y, 65535, 0))),
        (
            "v_cvt_pknorm_i16_f16 v128, v16, v17",
            h,
            pair(norm(h[0], 32767, -1), norm(h[1], 32767, -1)),
        ),
        (
            "v_cvt_pknorm_u16_f16 v128, v16, v17",
            h,
            pair(norm(h[0], 65535, 0), norm(h[1], 65535, 0)),
        ),
        ("v_cvt_norm_i16_f16 v128, v16", h, [norm(h[0], 32767, -1)]),
        ("v_cvt_norm_u16_f16 v128, v16", h, [norm(h[0], 65535, 0)]),
    ]
    cases += [
        (
            f"v_cvt_pk_u8_f32 v128, v16, {i}, v17",
            [x, old],
            [old.astype(np.uint64) & ~(U64(255) << U64(8 * i)) | to_byte << U64(8 * i)],
        )
        for i in range(4)
    ]
    check(
        run,
        [
            (text, [np.ascontiguousarray(i).view(f"u{i.itemsize}") for i in inputs], want)
            for text, inputs, want in cases
        ],
    )


def test_sdwa_selects_and_extends(run, integers):
    """Each part of a register as a source, with and without sign, and as a destination."""
    a, b, _ = integers
    parts = {f"BYTE_{i}": (8 * i, 8) for i in range(4)} | {
        "WORD_0": (0, 16),
        "WORD_1": (16, 16),
        "DWORD": (0, 32),
    }
    cases = []
    for name, (shift, bits) in parts.items():
        x = a.astype(np.uint64) >> U64(shift)
        for text, value in (
            (f"v16 {{}} src0_sel:{name}", low(x, bits)),
            (f"sext(v16) {{}} src0_sel:{name}", signed(x, bits)),
        ):
            source = text.replace(" {}", ", v17 dst_sel:DWORD dst_unused:UNUSED_PAD", 1)
            cases.append(
                (f"v_and_b32_sdwa v128, {source} src1_sel:DWORD", [a, b], [wrap(value & wide(b))])
            )
            cases.append(
                (f"v_add_u32_sdwa v128, {source} src1_sel:DWORD", [a, b], [wrap(value + wide(b))])
            )
        if bits < 32:
            old = U64(0xA5A5A5A5)
            mask = U64((1 << bits) - 1 << shift)
            total = wrap(wide(a) + b) & U64((1 << bits) - 1)
            negative = total >> U64(bits - 1) != 0
            above = np.where(negative, U64(0xFFFFFFFF & ~((1 << shift + bits) - 1)), U64(0))
            for unused, want in (
                ("UNUSED_PRESERVE", old & ~mask | total << U64(shift)),
                ("UNUSED_PAD", total << U64(shift)),
                ("UNUSED_SEXT", total << U64(shift) | above),
            ):
                cases.append(
                    (
                        f"v_mov_b32 v128, 0xa5a5a5a5\nv_add_u32_sdwa v128, v16, v17 dst_sel:{name} "
                        f"dst_unused:{unused} src0_sel:DWORD src1_sel:DWORD",
                        [a, b],
                        [want],
                    )
                )
    check(run, cases)


def pi_bits(bits):
    """floor(pi 2^bits), by Machin's formula."""

    def inverse_tangent(k):
        total = term = (1 << 1400) // k
        n, sign = 3, -1
        while term:
            term //= k * k
            total += sign * (term // n)
            n, sign = n + 2, -sign
        return total

    return (4 * (4 * inverse_tangent(5) - inverse_tangent(239))) >> 1400 - bits


def test_trigonometric_preparation(run):
    """v_trig_preop_f64: 53 bits of 2/pi from a place on."""
    two_over_pi = (2 << 1201 + 1390) // pi_bits(1390)
    x = np.array([1.0, 2.0**60, 2.0**100, 2.0**900, 2.0**1000], np.float64)
    segments = np.array([0, 1, 5, 17, 3], np.uint32)
    (snippet,) = run([Snippet("v_trig_preop_f64 v[128:129], v[16:17], v18", [x, segments], 2)])
    for value, segment, got in zip(x, segments, snippet.result(dtype=np.float64), strict=True):
        exponent = int(value.view(np.uint64)) >> 52
        shift = int(segment) * 53 + max(exponent - 1077, 0)
        part = (two_over_pi << shift) >> (1201 - 53) & (1 << 53) - 1
        want = np.ldexp(float(part), -53 - shift + (128 if exponent >= 1968 else 0))
        assert got == want, (value, segment)


def test_enough_instructions_were_covered():
    """Runs behind the others."""
    if not covered:
        pytest.skip("the instructions were not run")
    print(f"{len(covered)} mnemonics: {' '.join(sorted(covered))}")
    assert len(covered) >= LEAST_MNEMONICS
