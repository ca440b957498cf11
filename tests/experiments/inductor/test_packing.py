# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""pack_weights against the order of ir/PreshuffledLayout.h, element by element."""

import pytest
import torch


def position(n, k, column, row, element_bytes):
    """PreshuffledLayout::index."""
    pack = 16 // element_bytes
    block = column // 16 * (k // (4 * pack)) + row // (4 * pack)
    group = row % (4 * pack) // pack
    return ((block * 4 + group) * 16 + column % 16) * pack + row % pack


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.int8])
@pytest.mark.parametrize("n", [16, 33])
def test_every_element_has_its_place(kernelwright, dtype, n):
    k = 128
    weight = (torch.arange(n * k) % 251 - 125).reshape(n, k).to(dtype)
    packed = kernelwright.pack_weights(weight)
    pack = 16 // weight.element_size()
    assert packed.shape == (-(-n // 16), k // (4 * pack), 4, 16, pack)
    flat = packed.flatten()
    seen = torch.zeros(flat.numel(), dtype=torch.bool)
    for column in range(n):
        places = [position(n, k, column, row, weight.element_size()) for row in range(k)]
        assert torch.equal(flat[places], weight[column])
        seen[places] = True
    assert not flat[~seen].any()


def test_batches_are_packed_one_by_one(kernelwright):
    weight = torch.randn(3, 20, 64).to(torch.bfloat16)
    packed = kernelwright.pack_weights(weight.transpose(1, 2).contiguous().transpose(1, 2))
    for batch in range(3):
        assert torch.equal(packed[batch], kernelwright.pack_weights(weight[batch]))


def test_partial_blocks_are_refused(kernelwright):
    with pytest.raises(ValueError, match="multiple of 32"):
        kernelwright.pack_weights(torch.zeros(16, 48, dtype=torch.bfloat16))
