# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Argument blocks and data layouts of ten hand-written gfx950 kernels (ROCm/aiter, MIT; see
../shared/data/codeobjects/README.md). The code objects themselves are not part of this project."""

import numpy as np
from launching import Launch

KERNELS = {  # file: (symbol, tile m, tile n)
    "bf16gemm_bf16_tn_256x256": ("_ZN5aiter24bf16gemm_bf16_tn_256x256E", 256, 256),
    "bf16gemm_fp32bf16_tn_64x64_pf3_splitk":
        ("_ZN5aiter37bf16gemm_fp32bf16_tn_64x64_pf3_splitkE", 64, 64),
    "bf16gemm_fp32bf16_tn_32x64_splitk_clean":
        ("_ZN5aiter39bf16gemm_fp32bf16_tn_32x64_splitk_cleanE", 32, 64),
    "bf16gemm_fp32bf16_tn_80x64_splitk_clean":
        ("_ZN5aiter39bf16gemm_fp32bf16_tn_80x64_splitk_cleanE", 80, 64),
    "f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128":
        ("_ZN5aiter41f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128E", 32, 128),
    "f4gemm_bf16_per1x32Fp4_BpreShuffle_192x256":
        ("_ZN5aiter42f4gemm_bf16_per1x32Fp4_BpreShuffle_192x256E", 192, 256),
    "f4gemm_bf16_per1x32Fp4_BpreShuffle_128x512":
        ("_ZN5aiter42f4gemm_bf16_per1x32Fp4_BpreShuffle_128x512E", 128, 512),
    "fp8gemm_bf16_blockscale_BpreShuffle_64x128":
        ("_ZN5aiter42fp8gemm_bf16_blockscale_BpreShuffle_64x128E", 64, 128),
    "fp8gemm_bf16_blockscale_BpreShuffle_128x128":
        ("_ZN5aiter43fp8gemm_bf16_blockscale_BpreShuffle_128x128E", 128, 128),
    "fwd_hd128_bf16": ("_ZN5aiter19fmha_fwd_hd128_bf16E", 256, 0),
}  # fmt: skip


def ceil_div(a, b):
    return -(-a // b)


def slots(values):
    """An argument every 16 bytes: Buffer, None (null), int (i32), float (f32)."""
    kinds = {int: np.int32, float: np.float32}
    return [(16 * i, kinds.get(type(value), lambda v: v)(value)) for i, value in enumerate(values)]


# Layouts


def shuffle_weights(matrix):
    """Rows of 16 and columns of 32 bytes become one contiguous piece each: [row block][column
    pair][16-byte chunk][row][item]."""
    rows, cols = matrix.shape
    chunk = 16 // matrix.itemsize
    tiles = matrix.reshape(rows // 16, 16, cols // (2 * chunk), 2, chunk)
    return np.ascontiguousarray(tiles.transpose(0, 2, 3, 1, 4)).reshape(rows, cols)


def shuffle_scales(codes):
    """Padded to multiples of 256 rows and 8 columns; a dword then holds rows r, r + 16 and columns
    c, c + 4: [r / 32][c / 8][c % 4][r % 16][(c % 8) / 4][(r % 32) / 16]."""
    rows, cols = codes.shape
    padded = np.full((256 * ceil_div(rows, 256), 8 * ceil_div(cols, 8)), 127, np.uint8)
    padded[:rows, :cols] = codes
    split = padded.reshape(padded.shape[0] // 32, 2, 16, padded.shape[1] // 8, 2, 4)
    return np.ascontiguousarray(split.transpose(0, 3, 5, 2, 4, 1)).reshape(padded.shape)


# Launches


def bf16_gemm(name, m, n, k, d, a, b, split_k=1, bias=None, semaphores=None):
    """d[m, n] = a[m, k] b[n, k]^T in bf16 or f32. `semaphores`: only of the `_clean` kernels."""
    symbol, tile_m, tile_n = KERNELS[name]
    row = n * d.dtype.itemsize
    values = [d, None, a, b, 1.0, 0.0, 0, 0, row, 0, 2 * k, 0, 2 * k, 0, m, n, k, split_k,
              int(d.dtype.itemsize == 2), bias, int(bias is not None)]
    if not name.endswith("pf3_splitk"):
        values.append(semaphores)
    grid = (ceil_div(n, tile_n), ceil_div(m, tile_m), split_k)
    return Launch(symbol, grid, 256, slots(values))


def fp4_gemm(name, m, n, k, d, a, b, scale_a, scale_b, split_k=1):
    """d[pad(m, 32), n] in bf16; rows from m on are not written."""
    symbol, tile_m, tile_n = KERNELS[name]
    scale_row = 8 * ceil_div(k // 32, 8)
    slices = ceil_div(k, 256 * ceil_div(k // split_k, 256))
    values = [d, None, a, b, 1.0, 0.0, 0, 0, n, 0, k, 0, k, 0, m, n, k, scale_a, scale_b,
              scale_row, 0, scale_row, 0, split_k.bit_length() - 1]
    return Launch(symbol, (ceil_div(n, tile_n), ceil_div(m, tile_m), slices), 256, slots(values))


def fp8_gemm(name, m, n, k, d, a, b, scale_a, scale_b, bias, split_k=1):
    """scale_a[k / 128, m], scale_b[n / 128, k / 128] and bias in f32; d in bf16, cut."""
    symbol, tile_m, tile_n = KERNELS[name]
    values = [d, a, b, scale_a, scale_b, bias, m, n, k, k, k, 2 * n, split_k, m, n // 128, k // 128]
    return Launch(symbol, (n // tile_n * split_k, ceil_div(m, tile_m), 1), 256, slots(values))


def attention(o, q, k, v, lse, b, hq, hkv, sq, skv):
    """q, o[b, sq, hq, 128]; k, v[b, skv (+ rows behind), hkv, 128]; lse[b, hq, sq] or None."""
    symbol, tile_q, _ = KERNELS["fwd_hd128_bf16"]
    row, kv_row = 256 * hq, 256 * hkv
    values = [o, q, k, v, lse, 128**-0.5, sq, row, tile_q * row, 256, sq * row, hq // hkv, kv_row,
              256, skv * kv_row, 5, int(lse is not None), skv, 128, 128, hq, kv_row, 256,
              skv * kv_row, row, 256, sq * row, None, None, 4 * sq, None, None]
    return Launch(symbol, (ceil_div(sq, tile_q), hq, b), 512, slots(values))
