# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`kernelwright::gemm(a, b)`: the matrix product a @ b of 2-D tensors, result contiguous.

The order of an operand is read from its strides: `x @ W.t()` is the order b=nk.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..registry import registry
from .dtypes import NAMES


def _order(tensor: Tensor, rows: str, columns: str) -> tuple[str | None, int]:
    """Order as in a problem's text and leading dimension; None for strides that have neither."""
    (row_count, column_count), (row_stride, column_stride) = tensor.shape, tensor.stride()
    if column_stride == 1 or column_count == 1:
        return rows + columns, row_stride if row_count > 1 else max(row_stride, column_count)
    if row_stride == 1 or row_count == 1:
        return columns + rows, column_stride
    return None, 0


def _reference(a: Tensor, b: Tensor) -> Tensor:
    return torch.mm(a, b)


@torch.library.custom_op("kernelwright::gemm", mutates_args=())
def gemm(a: Tensor, b: Tensor) -> Tensor:
    (m, k), n = a.shape, b.shape[1]
    c = a.new_empty(m, n)
    if c.numel() == 0:
        return c
    a_order, lda = _order(a, "m", "k")
    b_order, ldb = _order(b, "k", "n")
    facts = {
        "adtype": NAMES.get(a.dtype), "bdtype": NAMES.get(b.dtype), "out": NAMES.get(c.dtype),
        "n": n, "k": k, "a": a_order, "b": b_order,
    }  # fmt: skip
    sizes = {"m": m, "lda": lda, "ldb": ldb, "ldc": n}
    tensors = {"a": a, "b": b, "c": c}
    kernel = registry.select("gemm", facts, sizes, tensors)
    if kernel is None:
        return _reference(a, b)
    registry.run(kernel, sizes, tensors)
    return c


@gemm.register_fake
def _(a: Tensor, b: Tensor) -> Tensor:
    torch._check(a.dim() == 2 and b.dim() == 2, lambda: "gemm takes 2-D tensors")
    torch._check(
        a.shape[1] == b.shape[0],
        lambda: f"gemm: a is {tuple(a.shape)}, b is {tuple(b.shape)}: inner sizes differ",
    )
    return a.new_empty(a.shape[0], b.shape[1])
