# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What integer instructions mean, in exact integers: the second implementation for
test_instructions.py."""

import numpy as np

U32, U64 = np.uint32, np.uint64
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
        total = total + np.array(
            [0 if skip_zero and v == 0 else abs(u - v) for u, v in zip(x, y, strict=True)], object
        )
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
            x, y, z = (
                (v if row >> k & 1 else ~v).astype(np.uint64) & MASK
                for v, k in ((a, 2), (b, 1), (c, 0))
            )
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
    "v_add_u32": lambda a, b: wrap(wide(a) + b),
    "v_sub_u32": lambda a, b: wrap(wide(a) - b),
    "v_subrev_u32": lambda a, b: wrap(wide(b) - a),
    "v_mul_lo_u32": lambda a, b: wrap(wide(a) * b),
    "v_mul_hi_u32": lambda a, b: wrap(wide(a) * b >> 32),
    "v_mul_hi_i32": lambda a, b: wrap(signed(a) * signed(b) >> 32),
    "v_mul_u32_u24": lambda a, b: wrap(low(a, 24) * low(b, 24)),
    "v_mul_i32_i24": lambda a, b: wrap(signed(a, 24) * signed(b, 24)),
    "v_mul_hi_u32_u24": lambda a, b: wrap(low(a, 24) * low(b, 24) >> 32),
    "v_mul_hi_i32_i24": lambda a, b: wrap(signed(a, 24) * signed(b, 24) >> 32),
    "v_and_b32": lambda a, b: wrap(wide(a) & wide(b)),
    "v_or_b32": lambda a, b: wrap(wide(a) | wide(b)),
    "v_xor_b32": lambda a, b: wrap(wide(a) ^ wide(b)),
    "v_xnor_b32": lambda a, b: wrap(~(wide(a) ^ wide(b))),
    "v_lshlrev_b32": lambda a, b: wrap(wide(b) << low(a, 5)),
    "v_lshrrev_b32": lambda a, b: wrap(wide(b) >> low(a, 5)),
    "v_ashrrev_i32": lambda a, b: wrap(signed(b) >> low(a, 5)),
    "v_min_u32": lambda a, b: wrap(np.minimum(a, b)),
    "v_max_u32": lambda a, b: wrap(np.maximum(a, b)),
    "v_min_i32": lambda a, b: wrap(np.minimum(signed(a), signed(b))),
    "v_max_i32": lambda a, b: wrap(np.maximum(signed(a), signed(b))),
    "v_bfm_b32": lambda a, b: wrap(((1 << low(a, 5)) - 1) << low(b, 5)),
    "v_bcnt_u32_b32": lambda a, b: wrap(
        np.array([int(v).bit_count() for v in a], object) + wide(b)
    ),
    "v_add_u16": lambda a, b: wrap(wide(a) + b, 16),
    "v_sub_u16": lambda a, b: wrap(wide(a) - b, 16),
    "v_subrev_u16": lambda a, b: wrap(wide(b) - a, 16),
    "v_mul_lo_u16": lambda a, b: wrap(wide(a) * b, 16),
    "v_lshlrev_b16": lambda a, b: wrap(wide(b) << low(a, 4), 16),
    "v_lshrrev_b16": lambda a, b: wrap(low(b, 16) >> low(a, 4), 16),
    "v_ashrrev_i16": lambda a, b: wrap(signed(b, 16) >> low(a, 4), 16),
    "v_min_u16": lambda a, b: wrap(np.minimum(low(a, 16), low(b, 16)), 16),
    "v_max_u16": lambda a, b: wrap(np.maximum(low(a, 16), low(b, 16)), 16),
    "v_min_i16": lambda a, b: wrap(np.minimum(signed(a, 16), signed(b, 16)), 16),
    "v_max_i16": lambda a, b: wrap(np.maximum(signed(a, 16), signed(b, 16)), 16),
    "v_cvt_pk_u16_u32": lambda a, b: (
        clamp(wide(a), 16, False) | clamp(wide(b), 16, False) << U64(16)
    ),
    "v_cvt_pk_i16_i32": lambda a, b: (
        clamp(signed(a), 16, True) | clamp(signed(b), 16, True) << U64(16)
    ),
    "v_pack_b32_f16": lambda a, b: wrap(low(a, 16) | low(b, 16) << 16),
    "v_pk_add_u16": packed(lambda a, b: wide(a) + b),
    "v_pk_sub_u16": packed(lambda a, b: wide(a) - b),
    "v_pk_add_i16": packed(lambda a, b: wide(a) + b),
    "v_pk_sub_i16": packed(lambda a, b: wide(a) - b),
    "v_pk_mul_lo_u16": packed(lambda a, b: wide(a) * b),
    "v_pk_lshlrev_b16": packed(lambda a, b: wide(b) << low(a, 4)),
    "v_pk_lshrrev_b16": packed(lambda a, b: wide(b) >> low(a, 4)),
    "v_pk_ashrrev_i16": packed(lambda a, b: signed(b, 16) >> low(a, 4)),
    "v_pk_min_u16": packed(lambda a, b: np.minimum(a, b)),
    "v_pk_max_u16": packed(lambda a, b: np.maximum(a, b)),
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
    "v_sad_u16": lambda a, b, c: wrap(
        sum(np.abs(wide(x) - wide(y)) for x, y in zip(halves(a), halves(b), strict=True)) + c
    ),
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
    "v_mad_i32_i24 {}, v16, v17, v18": (
        lambda a, b, c: signed(a, 24) * signed(b, 24) + signed(c),
        32,
        True,
    ),
    "v_mad_u32_u16 {}, v16, v17, v18": (lambda a, b, c: low(a, 16) * low(b, 16) + c, 32, False),
    "v_mad_i32_i16 {}, v16, v17, v18": (
        lambda a, b, c: signed(a, 16) * signed(b, 16) + signed(c),
        32,
        True,
    ),
    "v_sad_u8 {}, v16, v17, v18": (lambda a, b, c: differences(a, b) + c, 32, False),
    "v_sad_u16 {}, v16, v17, v18": (
        lambda a, b, c: (
            sum(np.abs(wide(x) - wide(y)) for x, y in zip(halves(a), halves(b), strict=True)) + c
        ),
        32,
        False,
    ),
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
    "v_mad_u16 {}, v16, v17, v18 clamp": lambda a, b, c: clamp(
        low(a, 16) * low(b, 16) + low(c, 16), 16, False
    ),
    "v_mad_i16 {}, v16, v17, v18 clamp": lambda a, b, c: clamp(
        signed(a, 16) * signed(b, 16) + signed(c, 16), 16, True
    ),
    "v_min3_u16 {}, v16, v17, v18": lambda a, b, c: wrap(
        np.minimum(np.minimum(low(a, 16), low(b, 16)), low(c, 16)), 16
    ),
    "v_max3_u16 {}, v16, v17, v18": lambda a, b, c: wrap(
        np.maximum(np.maximum(low(a, 16), low(b, 16)), low(c, 16)), 16
    ),
    "v_med3_u16 {}, v16, v17, v18": lambda a, b, c: wrap(
        median(low(a, 16), low(b, 16), low(c, 16)), 16
    ),
    "v_min3_i16 {}, v16, v17, v18": lambda a, b, c: wrap(
        np.minimum(np.minimum(signed(a, 16), signed(b, 16)), signed(c, 16)), 16
    ),
    "v_max3_i16 {}, v16, v17, v18": lambda a, b, c: wrap(
        np.maximum(np.maximum(signed(a, 16), signed(b, 16)), signed(c, 16)), 16
    ),
    "v_med3_i16 {}, v16, v17, v18": lambda a, b, c: wrap(
        median(signed(a, 16), signed(b, 16), signed(c, 16)), 16
    ),
    "v_ashr_pk_i8_i32 {}, v16, v17, v18": lambda a, b, c: (
        clamp(signed(a) >> low(c, 5), 8, True) | clamp(signed(b) >> low(c, 5), 8, True) << U64(8)
    ),
    "v_ashr_pk_u8_i32 {}, v16, v17, v18": lambda a, b, c: (
        clamp(signed(a) >> low(c, 5), 8, False) | clamp(signed(b) >> low(c, 5), 8, False) << U64(8)
    ),
}
UNARY = {
    "v_not_b32": lambda a: wrap(~wide(a)),
    "v_bfrev_b32": lambda a: np.array([int(f"{int(v):032b}"[::-1], 2) for v in a], np.uint64),
    "v_ffbh_u32": lambda a: np.array(
        [32 - int(v).bit_length() if v else 0xFFFFFFFF for v in a], np.uint64
    ),
    "v_ffbl_b32": lambda a: np.array(
        [(int(v) & -int(v)).bit_length() - 1 if v else 0xFFFFFFFF for v in a], np.uint64
    ),
    "v_ffbh_i32": leading_same,
    "v_prng_b32": lambda a: wrap(wide(a) << 1 ^ (wide(a) >> 31) * 197),
    "v_sat_pk_u8_i16": lambda a: (
        clamp(signed(a, 16), 8, False) | clamp(signed(a >> U32(16), 16), 8, False) << U64(8)
    ),
}
# Also with an addend in the destination.
ACCUMULATING = {
    "v_dot2c_i32_i16": lambda a, b, c: wrap(dot(a, b, c, 16, True)),
    "v_dot4c_i32_i8": lambda a, b, c: wrap(dot(a, b, c, 8, True)),
    "v_dot8c_i32_i4": lambda a, b, c: wrap(dot(a, b, c, 4, True)),
}
