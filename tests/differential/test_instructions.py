# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Vector instructions that LLVM neither folds nor chooses by itself, one at a time on random inputs,
against numpy."""

import numpy as np
import pytest
from folding import random_float_bits, random_integer_bits
from snippets import Snippet, run_snippets

ITEMS = 512
LEAST_MNEMONICS = 110
U32, I32, U64, I64 = np.uint32, np.int32, np.uint64, np.int64
MASK = U64(0xFFFFFFFF)


def wide(x):
    """Exact integers."""
    return np.asarray(x).astype(object)


def wrap(x, bits=32):
    return np.array([int(v) & (1 << bits) - 1 for v in x], np.uint64)


def clamp(x, bits, signed):
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return np.array([min(max(int(v), low), high) & (1 << bits) - 1 for v in x], np.uint64)


def signed(x, bits=32):
    """Integers of the low bits of x."""
    low = np.asarray(x).astype(np.uint64) & U64((1 << bits) - 1)
    return np.array([int(v) - (1 << bits if v >> U64(bits - 1) else 0) for v in low], object)


def low(x, bits):
    return wide(np.asarray(x).astype(np.uint64) & U64((1 << bits) - 1))


def byte(x, i):
    return wide(np.asarray(x).astype(np.uint64) >> U64(8 * i) & U64(255))


def differences(a, b, skip_zero=False):
    total = 0
    for i in range(4):
        x, y = byte(a, i), byte(b, i)
        total = total + np.array([0 if skip_zero and v == 0 else abs(u - v) for u, v in zip(x, y, strict=True)],
                                 object)
    return total


def windows(a, b, c, width, skip_zero):
    """v_qsad and its kin: c and the result are four numbers of `width` bits."""
    result = []
    for i in range(4):
        part = wide(a.astype(np.uint64) >> U64(8 * i) & MASK)
        addend = np.array([int(v) >> (width * i) & (1 << width) - 1 for v in c], object)
        result.append(wrap(differences(part.astype(np.uint64), b, skip_zero) + addend, width))
    return result


def elements(x, bits, is_signed):
    parts = [low(np.asarray(x).astype(np.uint64) >> U64(i * bits), bits) for i in range(32 // bits)]
    return [signed(p.astype(np.uint64), bits) if is_signed else p for p in parts]


def dot(a, b, c, bits, is_signed):
    total = signed(c) if is_signed else wide(c)
    for x, y in zip(elements(a, bits, is_signed), elements(b, bits, is_signed), strict=True):
        total = total + x * y
    return total


def perm(a, b, s):
    both = wide(b) | wide(a) << 32
    out = []
    for value, selectors in zip(both, s, strict=True):
        result = 0
        for i in range(4):
            k = int(selectors) >> (8 * i) & 255
            if k >= 13:
                v = 255
            elif k == 12:
                v = 0
            elif k >= 8:
                v = 255 * (int(value) >> (16 * (k - 8) + 15) & 1)
            else:
                v = int(value) >> (8 * k) & 255
            result |= v << (8 * i)
        out.append(result)
    return np.array(out, np.uint64)


def bitop3(a, b, c, table):
    result = np.zeros(len(a), np.uint64)
    for row in range(8):
        if table >> row & 1:
            x, y, z = ((v if row >> k & 1 else ~v).astype(np.uint64) & MASK
                       for v, k in ((a, 2), (b, 1), (c, 0)))
            result |= x & y & z
    return result


def lerp(a, b, c):
    return sum(((byte(a, i) + byte(b, i) + byte(c, i) % 2) // 2) << (8 * i) for i in range(4))


def leading_same(x):
    """Leading bits equal to the sign, all ones if all are."""
    out = []
    for v in x:
        folded = int(v) ^ 0xFFFFFFFF if int(v) >> 31 else int(v)
        out.append(0xFFFFFFFF if folded == 0 else 32 - folded.bit_length())
    return np.array(out, np.uint64)


def halves(x):
    return [np.asarray(x).astype(np.uint64) >> U64(s) & U64(0xFFFF) for s in (0, 16)]


def packed(function, bits16=True):
    """Of both halves."""
    del bits16

    def of(*sources):
        results = [function(*part) for part in zip(*(halves(s) for s in sources), strict=True)]
        return wrap(results[0], 16) | wrap(results[1], 16) << U64(16)
    return of


def saturated_bytes(x, is_signed):
    return clamp(x, 8, is_signed)


def median(*sources):
    return np.sort(np.stack(sources), axis=0)[1]


# Instruction, its integer meaning (32 bits of result, or a list of words).
INTEGER2 = {
    "v_add_u32": lambda a, b: wrap(wide(a) + b), "v_sub_u32": lambda a, b: wrap(wide(a) - b),
    "v_subrev_u32": lambda a, b: wrap(wide(b) - a), "v_mul_lo_u32": lambda a, b: wrap(wide(a) * b),
    "v_mul_hi_u32": lambda a, b: wrap(wide(a) * b >> 32),
    "v_mul_hi_i32": lambda a, b: wrap(signed(a) * signed(b) >> 32),
    "v_mul_u32_u24": lambda a, b: wrap(low(a, 24) * low(b, 24)),
    "v_mul_i32_i24": lambda a, b: wrap(signed(a, 24) * signed(b, 24)),
    "v_mul_hi_u32_u24": lambda a, b: wrap(low(a, 24) * low(b, 24) >> 32),
    "v_mul_hi_i32_i24": lambda a, b: wrap(signed(a, 24) * signed(b, 24) >> 32),
    "v_and_b32": lambda a, b: wrap(wide(a) & wide(b)), "v_or_b32": lambda a, b: wrap(wide(a) | wide(b)),
    "v_xor_b32": lambda a, b: wrap(wide(a) ^ wide(b)), "v_xnor_b32": lambda a, b: wrap(~(wide(a) ^ wide(b))),
    "v_lshlrev_b32": lambda a, b: wrap(wide(b) << low(a, 5)),
    "v_lshrrev_b32": lambda a, b: wrap(wide(b) >> low(a, 5)),
    "v_ashrrev_i32": lambda a, b: wrap(signed(b) >> low(a, 5)),
    "v_min_u32": lambda a, b: wrap(np.minimum(a, b)), "v_max_u32": lambda a, b: wrap(np.maximum(a, b)),
    "v_min_i32": lambda a, b: wrap(np.minimum(signed(a), signed(b))),
    "v_max_i32": lambda a, b: wrap(np.maximum(signed(a), signed(b))),
    "v_bfm_b32": lambda a, b: wrap(((1 << low(a, 5)) - 1) << low(b, 5)),
    "v_bcnt_u32_b32": lambda a, b: wrap(np.array([int(v).bit_count() for v in a], object) + wide(b)),
    "v_add_u16": lambda a, b: wrap(wide(a) + b, 16), "v_sub_u16": lambda a, b: wrap(wide(a) - b, 16),
    "v_subrev_u16": lambda a, b: wrap(wide(b) - a, 16), "v_mul_lo_u16": lambda a, b: wrap(wide(a) * b, 16),
    "v_lshlrev_b16": lambda a, b: wrap(wide(b) << low(a, 4), 16),
    "v_lshrrev_b16": lambda a, b: wrap(low(b, 16) >> low(a, 4), 16),
    "v_ashrrev_i16": lambda a, b: wrap(signed(b, 16) >> low(a, 4), 16),
    "v_min_u16": lambda a, b: wrap(np.minimum(low(a, 16), low(b, 16)), 16),
    "v_max_u16": lambda a, b: wrap(np.maximum(low(a, 16), low(b, 16)), 16),
    "v_min_i16": lambda a, b: wrap(np.minimum(signed(a, 16), signed(b, 16)), 16),
    "v_max_i16": lambda a, b: wrap(np.maximum(signed(a, 16), signed(b, 16)), 16),
    "v_cvt_pk_u16_u32": lambda a, b: clamp(wide(a), 16, False) | clamp(wide(b), 16, False) << U64(16),
    "v_cvt_pk_i16_i32": lambda a, b: clamp(signed(a), 16, True) | clamp(signed(b), 16, True) << U64(16),
    "v_pack_b32_f16": lambda a, b: wrap(low(a, 16) | low(b, 16) << 16),
    "v_pk_add_u16": packed(lambda a, b: wide(a) + b), "v_pk_sub_u16": packed(lambda a, b: wide(a) - b),
    "v_pk_add_i16": packed(lambda a, b: wide(a) + b), "v_pk_sub_i16": packed(lambda a, b: wide(a) - b),
    "v_pk_mul_lo_u16": packed(lambda a, b: wide(a) * b),
    "v_pk_lshlrev_b16": packed(lambda a, b: wide(b) << low(a, 4)),
    "v_pk_lshrrev_b16": packed(lambda a, b: wide(b) >> low(a, 4)),
    "v_pk_ashrrev_i16": packed(lambda a, b: signed(b, 16) >> low(a, 4)),
    "v_pk_min_u16": packed(lambda a, b: np.minimum(a, b)), "v_pk_max_u16": packed(lambda a, b: np.maximum(a, b)),
    "v_pk_min_i16": packed(lambda a, b: np.minimum(signed(a, 16), signed(b, 16))),
    "v_pk_max_i16": packed(lambda a, b: np.maximum(signed(a, 16), signed(b, 16))),
}
INTEGER3 = {
    "v_add3_u32": lambda a, b, c: wrap(wide(a) + b + c),
    "v_lshl_add_u32": lambda a, b, c: wrap((wide(a) << low(b, 5)) + c),
    "v_add_lshl_u32": lambda a, b, c: wrap((wide(a) + b) << low(c, 5)),
    "v_lshl_or_b32": lambda a, b, c: wrap((wide(a) << low(b, 5)) | wide(c)),
    "v_and_or_b32": lambda a, b, c: wrap((wide(a) & wide(b)) | wide(c)),
    "v_or3_b32": lambda a, b, c: wrap(wide(a) | wide(b) | wide(c)),
    "v_xad_u32": lambda a, b, c: wrap((wide(a) ^ wide(b)) + c),
    "v_bfi_b32": lambda a, b, c: wrap((wide(a) & wide(b)) | (~wide(a) & wide(c))),
    "v_bfe_u32": lambda a, b, c: wrap((wide(a) >> low(b, 5)) & ((1 << low(c, 5)) - 1)),
    "v_perm_b32": perm,
    "v_alignbit_b32": lambda a, b, c: wrap((wide(a) << 32 | wide(b)) >> low(c, 5)),
    "v_alignbyte_b32": lambda a, b, c: wrap((wide(a) << 32 | wide(b)) >> 8 * low(c, 2)),
    "v_mad_u32_u24": lambda a, b, c: wrap(low(a, 24) * low(b, 24) + c),
    "v_mad_i32_i24": lambda a, b, c: wrap(signed(a, 24) * signed(b, 24) + c),
    "v_mad_u32_u16": lambda a, b, c: wrap(low(a, 16) * low(b, 16) + c),
    "v_mad_i32_i16": lambda a, b, c: wrap(signed(a, 16) * signed(b, 16) + c),
    "v_sad_u8": lambda a, b, c: wrap(differences(a, b) + c),
    "v_msad_u8": lambda a, b, c: wrap(differences(a, b, True) + c),
    "v_sad_hi_u8": lambda a, b, c: wrap((differences(a, b) << 16) + c),
    "v_sad_u16": lambda a, b, c: wrap(sum(np.abs(wide(x) - wide(y)) for x, y in
                                          zip(halves(a), halves(b), strict=True)) + c),
    "v_sad_u32": lambda a, b, c: wrap(np.abs(wide(a) - wide(b)) + c),
    "v_lerp_u8": lambda a, b, c: wrap(lerp(a, b, c)),
    "v_min3_u32": lambda a, b, c: wrap(np.minimum(np.minimum(a, b), c)),
    "v_max3_u32": lambda a, b, c: wrap(np.maximum(np.maximum(a, b), c)),
    "v_med3_u32": lambda a, b, c: wrap(median(a, b, c)),
    "v_min3_i32": lambda a, b, c: wrap(np.minimum(np.minimum(signed(a), signed(b)), signed(c))),
    "v_max3_i32": lambda a, b, c: wrap(np.maximum(np.maximum(signed(a), signed(b)), signed(c))),
    "v_med3_i32": lambda a, b, c: wrap(median(signed(a), signed(b), signed(c))),
    "v_dot2_i32_i16": lambda a, b, c: wrap(dot(a, b, c, 16, True)),
    "v_dot2_u32_u16": lambda a, b, c: wrap(dot(a, b, c, 16, False)),
    "v_dot4_i32_i8": lambda a, b, c: wrap(dot(a, b, c, 8, True)),
    "v_dot4_u32_u8": lambda a, b, c: wrap(dot(a, b, c, 8, False)),
    "v_dot8_i32_i4": lambda a, b, c: wrap(dot(a, b, c, 4, True)),
    "v_dot8_u32_u4": lambda a, b, c: wrap(dot(a, b, c, 4, False)),
    "v_pk_mad_u16": packed(lambda a, b, c: wide(a) * b + c),
    "v_pk_mad_i16": packed(lambda a, b, c: wide(a) * b + c),
    "v_mad_legacy_u16": lambda a, b, c: wrap(wide(a) * b + c, 16),
    "v_mad_legacy_i16": lambda a, b, c: wrap(wide(a) * b + c, 16),
}
# With clamp: saturation of the exact result. Instruction, exact result, bits, signed.
SATURATING = {
    "v_add_u32_e64 {}, v16, v17": (lambda a, b, c: wide(a) + b, 32, False),
    "v_sub_u32_e64 {}, v16, v17": (lambda a, b, c: wide(a) - b, 32, False),
    "v_subrev_u32_e64 {}, v16, v17": (lambda a, b, c: wide(b) - a, 32, False),
    "v_add_i32 {}, v16, v17": (lambda a, b, c: signed(a) + signed(b), 32, True),
    "v_sub_i32 {}, v16, v17": (lambda a, b, c: signed(a) - signed(b), 32, True),
    "v_mul_u32_u24_e64 {}, v16, v17": (lambda a, b, c: low(a, 24) * low(b, 24), 32, False),
    "v_mul_i32_i24_e64 {}, v16, v17": (lambda a, b, c: signed(a, 24) * signed(b, 24), 32, True),
    "v_mad_u32_u24 {}, v16, v17, v18": (lambda a, b, c: low(a, 24) * low(b, 24) + c, 32, False),
    "v_mad_i32_i24 {}, v16, v17, v18": (lambda a, b, c: signed(a, 24) * signed(b, 24) + signed(c), 32,
                                        True),
    "v_mad_u32_u16 {}, v16, v17, v18": (lambda a, b, c: low(a, 16) * low(b, 16) + c, 32, False),
    "v_mad_i32_i16 {}, v16, v17, v18": (lambda a, b, c: signed(a, 16) * signed(b, 16) + signed(c), 32,
                                        True),
    "v_sad_u8 {}, v16, v17, v18": (lambda a, b, c: differences(a, b) + c, 32, False),
    "v_sad_u16 {}, v16, v17, v18": (lambda a, b, c: sum(np.abs(wide(x) - wide(y)) for x, y in zip(
        halves(a), halves(b), strict=True)) + c, 32, False),
    "v_sad_u32 {}, v16, v17, v18": (lambda a, b, c: np.abs(wide(a) - wide(b)) + c, 32, False),
    "v_dot2_i32_i16 {}, v16, v17, v18": (lambda a, b, c: dot(a, b, c, 16, True), 32, True),
    "v_dot2_u32_u16 {}, v16, v17, v18": (lambda a, b, c: dot(a, b, c, 16, False), 32, False),
    "v_dot4_i32_i8 {}, v16, v17, v18": (lambda a, b, c: dot(a, b, c, 8, True), 32, True),
    "v_dot4_u32_u8 {}, v16, v17, v18": (lambda a, b, c: dot(a, b, c, 8, False), 32, False),
    "v_dot8_i32_i4 {}, v16, v17, v18": (lambda a, b, c: dot(a, b, c, 4, True), 32, True),
    "v_add_u16_e64 {}, v16, v17": (lambda a, b, c: low(a, 16) + low(b, 16), 16, False),
    "v_sub_u16_e64 {}, v16, v17": (lambda a, b, c: low(a, 16) - low(b, 16), 16, False),
}
# These keep the upper half of the register.
HALF_RESULTS = {
    "v_mad_u16 {}, v16, v17, v18": lambda a, b, c: wrap(wide(a) * b + c, 16),
    "v_mad_i16 {}, v16, v17, v18": lambda a, b, c: wrap(wide(a) * b + c, 16),
    "v_add_i16 {}, v16, v17": lambda a, b, c: wrap(wide(a) + b, 16),
    "v_sub_i16 {}, v16, v17": lambda a, b, c: wrap(wide(a) - b, 16),
    "v_add_i16 {}, v16, v17 clamp": lambda a, b, c: clamp(signed(a, 16) + signed(b, 16), 16, True),
    "v_sub_i16 {}, v16, v17 clamp": lambda a, b, c: clamp(signed(a, 16) - signed(b, 16), 16, True),
    "v_mad_u16 {}, v16, v17, v18 clamp": lambda a, b, c: clamp(low(a, 16) * low(b, 16) + low(c, 16), 16,
                                                               False),
    "v_mad_i16 {}, v16, v17, v18 clamp": lambda a, b, c: clamp(
        signed(a, 16) * signed(b, 16) + signed(c, 16), 16, True),
    "v_min3_u16 {}, v16, v17, v18": lambda a, b, c: wrap(np.minimum(np.minimum(low(a, 16), low(b, 16)),
                                                                    low(c, 16)), 16),
    "v_max3_u16 {}, v16, v17, v18": lambda a, b, c: wrap(np.maximum(np.maximum(low(a, 16), low(b, 16)),
                                                                    low(c, 16)), 16),
    "v_med3_u16 {}, v16, v17, v18": lambda a, b, c: wrap(median(low(a, 16), low(b, 16), low(c, 16)), 16),
    "v_min3_i16 {}, v16, v17, v18": lambda a, b, c: wrap(np.minimum(np.minimum(
        signed(a, 16), signed(b, 16)), signed(c, 16)), 16),
    "v_max3_i16 {}, v16, v17, v18": lambda a, b, c: wrap(np.maximum(np.maximum(
        signed(a, 16), signed(b, 16)), signed(c, 16)), 16),
    "v_med3_i16 {}, v16, v17, v18": lambda a, b, c: wrap(median(signed(a, 16), signed(b, 16),
                                                                signed(c, 16)), 16),
    "v_ashr_pk_i8_i32 {}, v16, v17, v18": lambda a, b, c: clamp(signed(a) >> low(c, 5), 8, True) |
    clamp(signed(b) >> low(c, 5), 8, True) << U64(8),
    "v_ashr_pk_u8_i32 {}, v16, v17, v18": lambda a, b, c: clamp(signed(a) >> low(c, 5), 8, False) |
    clamp(signed(b) >> low(c, 5), 8, False) << U64(8),
}
UNARY = {
    "v_not_b32": lambda a: wrap(~wide(a)), "v_bfrev_b32": lambda a: np.array(
        [int(f"{int(v):032b}"[::-1], 2) for v in a], np.uint64),
    "v_ffbh_u32": lambda a: np.array([32 - int(v).bit_length() if v else 0xFFFFFFFF for v in a], np.uint64),
    "v_ffbl_b32": lambda a: np.array([(int(v) & -int(v)).bit_length() - 1 if v else 0xFFFFFFFF for v in a],
                                     np.uint64),
    "v_ffbh_i32": leading_same,
    "v_prng_b32": lambda a: wrap(wide(a) << 1 ^ (wide(a) >> 31) * 197),
    "v_sat_pk_u8_i16": lambda a: clamp(signed(a, 16), 8, False) |
    clamp(signed(a >> U32(16), 16), 8, False) << U64(8),
}
# Also with an addend in the destination.
ACCUMULATING = {
    "v_dot2c_i32_i16": lambda a, b, c: wrap(dot(a, b, c, 16, True)),
    "v_dot4c_i32_i8": lambda a, b, c: wrap(dot(a, b, c, 8, True)),
    "v_dot8c_i32_i4": lambda a, b, c: wrap(dot(a, b, c, 4, True)),
}


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
        covered.update(word.removesuffix("_e64") for line in text.split("\n")[-1:]
                       for word in line.split()[:1])
        for word, expected in enumerate(want):
            bad = np.flatnonzero(snippet.got[word] != expected.astype(np.uint32))
            if len(bad):
                wrong.append(f"{text} of {[hex(int(i[bad[0]])) for i in snippet.inputs]}: word {word} "
                             f"{snippet.got[word][bad[0]]:#x}, want {int(expected[bad[0]]):#x} "
                             f"({len(bad)} of {items})")
    assert not wrong, "\n".join(wrong)


def test_integers(run, integers):
    a, b, c = integers
    cases = [(f"{op} v128, v16", [a], [f(a)]) for op, f in UNARY.items()]
    cases += [(f"{op} v128, v16, v17", [a, b], [f(a, b)]) for op, f in INTEGER2.items()]
    cases += [(f"{op} v128, v16, v17, v18", [a, b, c], [f(a, b, c)]) for op, f in INTEGER3.items()]
    cases += [(f"v_mov_b32 v128, v18\n{op} v128, v16, v17", [a, b, c], [f(a, b, c)])
              for op, f in ACCUMULATING.items()]
    check(run, cases)


def test_saturation(run, integers):
    a, b, c = integers
    check(run, [(text.format("v128") + " clamp", [a, b, c], [clamp(exact(a, b, c), bits, is_signed)])
                for text, (exact, bits, is_signed) in SATURATING.items()])


def test_packed_saturation(run, integers):
    a, b, c = integers
    cases = []
    for op, function, is_signed in (
            ("v_pk_add_u16", lambda x, y: x + y, False), ("v_pk_sub_u16", lambda x, y: x - y, False),
            ("v_pk_add_i16", lambda x, y: x + y, True), ("v_pk_sub_i16", lambda x, y: x - y, True)):
        parts = [clamp(function(signed(x, 16) if is_signed else wide(x),
                                signed(y, 16) if is_signed else wide(y)), 16, is_signed)
                 for x, y in zip(halves(a), halves(b), strict=True)]
        cases.append((f"{op} v128, v16, v17 clamp", [a, b], [parts[0] | parts[1] << U64(16)]))
    for op, is_signed in (("v_pk_mad_u16", False), ("v_pk_mad_i16", True)):
        parts = [clamp(np.prod([signed(v, 16) if is_signed else wide(v) for v in xyz[:2]], axis=0) +
                       (signed(xyz[2], 16) if is_signed else wide(xyz[2])), 16, is_signed)
                 for xyz in zip(halves(a), halves(b), halves(c), strict=True)]
        cases.append((f"{op} v128, v16, v17, v18 clamp", [a, b, c], [parts[0] | parts[1] << U64(16)]))
    check(run, cases)


def test_results_of_16_bits_that_keep_the_other_half(run, integers):
    a, b, c = integers
    old = "v_mov_b32 v128, 0xabcd1234\n"
    cases = [(old + text.format("v128"), [a, b, c], [f(a, b, c) | U64(0xABCD0000)])
             for text, f in HALF_RESULTS.items()]
    check(run, cases)
    h = [v.astype(np.uint16).view(np.float16) for v in ((a & U32(0x3FF)) | U32(0x3C00),
                                                        (b & U32(0x3FF)) | U32(0x3C00))]
    snippets = run([Snippet(old + "v_fma_f16 v128, v16, v17, 0", h),
                    Snippet(old + "v_add_f16 v128, v16, v17", h)])
    assert (snippets[0].got >> 16 == 0xABCD).all() and (snippets[1].got >> 16 == 0).all()


def test_64_bits(run, integers):
    rng = np.random.default_rng(2)
    x, y = (random_integer_bits(rng, 64, ITEMS) for _ in range(2))
    a, b, _ = integers

    def words(v, count=2):
        return [np.array([int(e) >> (32 * i) & 0xFFFFFFFF for e in v], np.uint64) for i in range(count)]

    mads = [("v_mad_u64_u32", wide(a) * wide(b) + wide(x), False),
            ("v_mad_i64_i32", signed(a) * signed(b) + signed(x, 64), True)]
    cases = [(f"{op} v[128:129], vcc, v16, v17, v[18:19]\ns_nop 1\nv_cndmask_b32 v130, 0, 1, vcc", [a, b, x],
              [*words(exact), np.array([int(e) >> 64 & 1 for e in exact], np.uint64)])
             for op, exact, _ in mads]
    for op, exact, is_signed in mads:
        limit = (-(1 << 63), (1 << 63) - 1) if is_signed else (0, (1 << 64) - 1)
        cases.append((f"{op} v[128:129], vcc, v16, v17, v[18:19] clamp", [a, b, x],
                      words([min(max(int(e), limit[0]), limit[1]) for e in exact])))
    cases += [
        ("v_lshlrev_b64 v[128:129], v16, v[18:19]", [a, b, x], words(wide(x) << low(a, 6))),
        ("v_lshrrev_b64 v[128:129], v16, v[18:19]", [a, b, x], words(wide(x) >> low(a, 6))),
        ("v_ashrrev_i64 v[128:129], v16, v[18:19]", [a, b, x], words(signed(x, 64) >> low(a, 6))),
        ("v_lshl_add_u64 v[128:129], v[16:17], v20, v[18:19]", [x, y, a], words(
            (wide(x) << low(a, 3)) + wide(y))),
        ("v_qsad_pk_u16_u8 v[128:129], v[16:17], v20, v[18:19]", [x, y, a],
         _joined(windows(x, a, y, 16, False))),
        ("v_mqsad_pk_u16_u8 v[128:129], v[16:17], v20, v[18:19]", [x, y, a],
         _joined(windows(x, a, y, 16, True))),
    ]
    cases[7] = (cases[7][0], [x, y, a & U32(3)], words((wide(x) << low(a, 2)) + wide(y)))
    four = [random_integer_bits(rng, 32, ITEMS).astype(U32) for _ in range(4)]
    together = sum(wide(v) << (32 * i) for i, v in enumerate(four))
    cases.append(("v_mqsad_u32_u8 v[128:131], v[16:17], v22, v[18:21]", [x, *four, a],
                  windows(x, a, together, 32, True)))
    check(run, cases)


def _joined(parts):
    return [parts[0] | parts[1] << U64(16), parts[2] | parts[3] << U64(16)]


def test_carries(run, integers):
    a, b, c = integers
    carry = c & U32(1)
    set_carry = "v_cmp_ne_u32 vcc, 0, v18\ns_nop 1\n"
    cases = []
    for op, exact in (("v_add_co_u32", wide(a) + b), ("v_sub_co_u32", wide(a) - b),
                      ("v_subrev_co_u32", wide(b) - a)):
        cases.append((f"{op} v128, vcc, v16, v17\ns_nop 1\nv_cndmask_b32 v129, 0, 1, vcc", [a, b],
                      [wrap(exact), wrap(exact >> 32, 1)]))
    for op, exact in (("v_addc_co_u32", wide(a) + b + carry), ("v_subb_co_u32", wide(a) - b - carry),
                      ("v_subbrev_co_u32", wide(b) - a - carry)):
        cases.append((f"{set_carry}{op} v128, vcc, v16, v17, vcc\ns_nop 1\nv_cndmask_b32 v129, 0, 1, vcc",
                      [a, b, carry], [wrap(exact), wrap(exact >> 32, 1)]))
    check(run, cases)
    covered.update(text.split("\n")[-3].split()[0] for text, _, _ in cases)


def test_bitop3(run, integers):
    a, b, c = integers
    tables = [0, 1, 0x80, 0xF0, 0xCC, 0xAA, 0x96, 0xE8, 0xCA, 0x35, 0xFF]
    cases = [(f"v_bitop3_b32 v128, v16, v17, v18 bitop3:{t:#x}", [a, b, c], [bitop3(a, b, c, t)])
             for t in tables]
    cases += [(f"v_bitop3_b16 v128, v16, v17, v18 bitop3:{t:#x}", [a, b, c],
               [bitop3(a, b, c, t) & U64(0xFFFF)]) for t in tables]
    check(run, cases)


def test_floats_to_packed_integers(run):
    rng = np.random.default_rng(3)
    x, y = (random_float_bits(rng, "float", ITEMS).astype(U32).view(np.float32) for _ in range(2))
    h = [v.astype(np.float16) for v in (x / 100, y / 100)]

    def norm(v, scale, lowest):
        with np.errstate(invalid="ignore"):
            number = np.nan_to_num(v.astype(np.float64), nan=0.0, posinf=1.0, neginf=-1.0)
            # One product that rounds to f32, then to the nearest integer.
            exact = (np.clip(number, lowest, 1).astype(np.float32) * np.float32(scale)).astype(np.float64)
        return wrap(np.rint(exact).astype(np.int64), 16)

    def pair(low_half, high_half):
        return [low_half | high_half << U64(16)]

    with np.errstate(invalid="ignore", over="ignore"):
        to_byte = np.nan_to_num(np.clip(x.astype(np.float64), 0, 255), nan=0.0).astype(np.uint64)
    old = np.full(ITEMS, 0x11223344, U32)
    cases = [
        ("v_cvt_pknorm_i16_f32 v128, v16, v17", [x, y], pair(norm(x, 32767, -1), norm(y, 32767, -1))),
        ("v_cvt_pknorm_u16_f32 v128, v16, v17", [x, y], pair(norm(x, 65535, 0), norm(y, 65535, 0))),
        ("v_cvt_pknorm_i16_f16 v128, v16, v17", h, pair(norm(h[0], 32767, -1), norm(h[1], 32767, -1))),
        ("v_cvt_pknorm_u16_f16 v128, v16, v17", h, pair(norm(h[0], 65535, 0), norm(h[1], 65535, 0))),
        ("v_cvt_norm_i16_f16 v128, v16", h, [norm(h[0], 32767, -1)]),
        ("v_cvt_norm_u16_f16 v128, v16", h, [norm(h[0], 65535, 0)]),
    ]
    cases += [(f"v_cvt_pk_u8_f32 v128, v16, {i}, v17", [x, old],
               [old.astype(np.uint64) & ~(U64(255) << U64(8 * i)) | to_byte << U64(8 * i)])
              for i in range(4)]
    check(run, [(text, [np.ascontiguousarray(i).view(f"u{i.itemsize}") for i in inputs], want)
                for text, inputs, want in cases])


def test_sdwa_selects_and_extends(run, integers):
    """Each part of a register as a source, with and without sign, and as a destination."""
    a, b, _ = integers
    parts = {f"BYTE_{i}": (8 * i, 8) for i in range(4)} | {"WORD_0": (0, 16), "WORD_1": (16, 16),
                                                          "DWORD": (0, 32)}
    cases = []
    for name, (shift, bits) in parts.items():
        x = a.astype(np.uint64) >> U64(shift)
        for text, value in ((f"v16 {{}} src0_sel:{name}", low(x, bits)),
                            (f"sext(v16) {{}} src0_sel:{name}", signed(x, bits))):
            source = text.replace(" {}", ", v17 dst_sel:DWORD dst_unused:UNUSED_PAD", 1)
            cases.append((f"v_and_b32_sdwa v128, {source} src1_sel:DWORD", [a, b],
                          [wrap(value & wide(b))]))
            cases.append((f"v_add_u32_sdwa v128, {source} src1_sel:DWORD", [a, b],
                          [wrap(value + wide(b))]))
        if bits < 32:
            old = U64(0xA5A5A5A5)
            mask = U64((1 << bits) - 1 << shift)
            total = wrap(wide(a) + b) & U64((1 << bits) - 1)
            negative = total >> U64(bits - 1) != 0
            above = np.where(negative, U64(0xFFFFFFFF & ~((1 << shift + bits) - 1)), U64(0))
            for unused, want in (("UNUSED_PRESERVE", old & ~mask | total << U64(shift)),
                                 ("UNUSED_PAD", total << U64(shift)),
                                 ("UNUSED_SEXT", total << U64(shift) | above)):
                cases.append((f"v_mov_b32 v128, 0xa5a5a5a5\nv_add_u32_sdwa v128, v16, v17 dst_sel:{name} "
                              f"dst_unused:{unused} src0_sel:DWORD src1_sel:DWORD", [a, b], [want]))
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
