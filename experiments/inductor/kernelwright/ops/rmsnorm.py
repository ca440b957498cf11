# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`kernelwright::rms_norm` and `kernelwright::add_rms_norm` over the last dimension.

    rms_norm(x, weight, eps) = x / sqrt(mean(x^2) + eps) * weight
    add_rms_norm(x, residual, weight, eps) = rms_norm(x + residual, ...), x + residual
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..registry import registry
from .dtypes import NAMES


def _normalise(x: Tensor, weight: Tensor | None, eps: float) -> Tensor:
    wide = x.float()
    y = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps)
    return (y if weight is None else y * weight.float()).to(x.dtype)


def _run(tensors: dict[str, Tensor], eps: float) -> bool:
    """Runs a kernel over rows of contiguous tensors; False: there is none."""
    x = tensors["x"]
    cols = x.shape[-1]
    facts = {
        "dtype": NAMES.get(x.dtype), "out": NAMES.get(tensors["y"].dtype), "cols": cols,
        "weight": int("weight" in tensors), "residual": int("residual" in tensors),
    }  # fmt: skip
    sizes = {"rows": x.numel() // cols}
    kernel = registry.select("rmsnorm", facts, sizes, tensors)
    if kernel is None:
        return False
    registry.run(kernel, sizes, tensors, {"eps": eps})
    return True


def _given(**tensors: Tensor | None) -> dict[str, Tensor]:
    return {name: tensor for name, tensor in tensors.items() if tensor is not None}


@torch.library.custom_op("kernelwright::rms_norm", mutates_args=())
def rms_norm(x: Tensor, weight: Tensor | None, eps: float) -> Tensor:
    x = x.contiguous()
    y = torch.empty_like(x)
    if x.numel() == 0 or _run(_given(x=x, weight=weight, y=y), eps):
        return y
    return _normalise(x, weight, eps)


@rms_norm.register_fake
def _(x: Tensor, weight: Tensor | None, eps: float) -> Tensor:
    return torch.empty_like(x, memory_format=torch.contiguous_format)


@torch.library.custom_op("kernelwright::add_rms_norm", mutates_args=())
def add_rms_norm(
    x: Tensor, residual: Tensor, weight: Tensor | None, eps: float
) -> tuple[Tensor, Tensor]:
    x, residual = x.contiguous(), residual.contiguous()
    y, total = torch.empty_like(x), torch.empty_like(x)
    tensors = _given(x=x, residual=residual, weight=weight, y=y, sum=total)
    if x.numel() == 0 or _run(tensors, eps):
        return y, total
    total = x + residual
    return _normalise(total, weight, eps), total


@add_rms_norm.register_fake
def _(x: Tensor, residual: Tensor, weight: Tensor | None, eps: float) -> tuple[Tensor, Tensor]:
    empty = torch.empty_like(x, memory_format=torch.contiguous_format)
    return empty, torch.empty_like(empty)
