# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packs weights once for kernels of problems with preshuffle=1.

The order (ir/PreshuffledLayout.h): [n / 16][k / block][4][16][16 bytes of k], where a block is 64
bytes of k; columns are padded to a multiple of 16 with zeros.
"""

from __future__ import annotations

import torch
from torch import Tensor

_COLUMNS, _GROUPS, _PACK_BYTES = 16, 4, 16


def pack_weights(weight: Tensor) -> Tensor:
    """`weight` [n, k] (as of `x @ weight.t()`), or [batch, n, k], packed: a contiguous tensor
    [(batch,) n / 16, k / block, 4, 16, pack]."""
    n, k = weight.shape[-2:]
    pack = _PACK_BYTES // weight.element_size()
    block = _GROUPS * pack
    if weight.dim() not in (2, 3) or k % block:
        raise ValueError(
            f"pack_weights takes [n, k] or [batch, n, k] with k a multiple of {block}, "
            f"not {tuple(weight.shape)}"
        )
    padded = torch.nn.functional.pad(weight, (0, 0, 0, -n % _COLUMNS))
    split = padded.unflatten(-2, (-1, _COLUMNS)).unflatten(-1, (-1, _GROUPS, pack))
    order = [*range(weight.dim() - 2), -5, -3, -2, -4, -1]
    return split.permute([axis % split.dim() for axis in order]).contiguous()


def unpack_weights(packed: Tensor, n: int) -> Tensor:
    """What `pack_weights` packed: [n, k] or [batch, n, k]."""
    lead = range(packed.dim() - 5)
    order = [*lead, *(len(lead) + axis for axis in (0, 3, 1, 2, 4))]
    return packed.permute(order).flatten(-3).flatten(-3, -2).narrow(-2, 0, n)
