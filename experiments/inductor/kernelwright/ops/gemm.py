# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`kernelwright::gemm` and `kernelwright::gemm_packed`: matrix products, one or a batch of them.

    gemm(a, b, ...) = epilogue(alpha * a @ b + beta * c)          [m, n] or [batch, m, n], contiguous

a is [m, k] or [batch, m, k], b [k, n] or [batch, k, n]; a matrix for all of a batch may be given once.
The order of an operand in memory is read from its strides: `x @ W.t()` is the order b=nk.
`epilogue` lists steps in their order, joined with commas: bias ([n]), silu, gelu (exact), relu, mul and
add (the first of the two takes `aux`, the second `aux2`, dense like the result). Everything after the
products is computed in float32 and rounded once. `out_dtype` is a's type if left out (int8: bfloat16).
`gemm_packed` takes b as `kernelwright.pack_weights` packed it, for `n` columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from ..packing import unpack_weights
from ..registry import registry
from .dtypes import NAMES

_STEPS = {
    "silu": torch.nn.functional.silu,
    "gelu": torch.nn.functional.gelu,
    "relu": torch.nn.functional.relu,
}
_INPUTS = {"bias", "mul", "add"}


def _steps(epilogue: str) -> list[str]:
    steps = [step for step in epilogue.split(",") if step]
    for step in steps:
        torch._check(
            step in _INPUTS or step in _STEPS,
            lambda step=step: f"gemm: epilogue has '{step}', expected bias silu gelu relu mul add",
        )
        torch._check(steps.count(step) == 1, lambda step=step: f"gemm: epilogue has '{step}' twice")
    return steps


def _inputs_of(
    steps: list[str], bias: Tensor | None, aux: Tensor | None, aux2: Tensor | None
) -> dict[str, Tensor]:
    """Tensors that the epilogue reads, by their names in kernels; one too many or missing is an error."""
    names = ["bias"] if "bias" in steps else []
    names += ["aux", "aux2"][: len([step for step in steps if step in ("mul", "add")])]
    given = {"bias": bias, "aux": aux, "aux2": aux2}
    for name, tensor in given.items():
        torch._check(
            (tensor is not None) == (name in names),
            lambda name=name: f"gemm: epilogue '{','.join(steps)}' "
            + (f"needs {name}" if name in names else f"has no step for {name}"),
        )
    return {name: given[name] for name in names}


def _result_shape(a: Tensor, b: Tensor) -> tuple[int, ...]:
    torch._check(a.dim() in (2, 3) and b.dim() in (2, 3), lambda: "gemm takes 2-D or 3-D tensors")
    torch._check(
        a.shape[-1] == b.shape[-2],
        lambda: f"gemm: a is {tuple(a.shape)}, b is {tuple(b.shape)}: inner sizes differ",
    )
    if a.dim() == b.dim() == 3:
        torch._check(
            a.shape[0] == b.shape[0],
            lambda: f"gemm: a is {tuple(a.shape)}, b is {tuple(b.shape)}: batches differ",
        )
    batch = a.shape[:1] if a.dim() == 3 else b.shape[:-2]
    return (*batch, a.shape[-2], b.shape[-1])


def _result(a: Tensor, shape: tuple[int, ...], out_dtype: torch.dtype | None) -> Tensor:
    narrow = torch.bfloat16 if a.element_size() == 1 else a.dtype
    return a.new_empty(shape, dtype=out_dtype or narrow)


def _check_inputs(result: Tensor, inputs: dict[str, Tensor], c: Tensor | None, beta: float) -> None:
    torch._check(
        (c is not None) == (beta != 0), lambda: f"gemm: beta={beta} with{'out' * (c is None)} c"
    )
    wanted = {name: result.shape[-1:] if name == "bias" else result.shape for name in inputs}
    for name, tensor in {**inputs, **({} if c is None else {"c": c})}.items():
        shape = wanted.get(name, result.shape)
        torch._check(
            tensor.shape == shape and tensor.dtype == result.dtype,
            lambda name=name, tensor=tensor, shape=shape: f"gemm: {name} is {tuple(tensor.shape)} of "
            f"{tensor.dtype}, expected {tuple(shape)} of {result.dtype}",
        )


def _orders(tensor: Tensor, rows: str, columns: str) -> Iterator[tuple[str, int]]:
    """Orders as in a problem's text that the strides fit, with the leading dimension. A matrix of one
    row or one column fits both."""
    (row_count, column_count), (row_stride, column_stride) = tensor.shape[-2:], tensor.stride()[-2:]
    if column_stride == 1 or column_count == 1:
        yield rows + columns, row_stride if row_count > 1 else max(row_stride, column_count)
    if row_stride == 1 or row_count == 1:
        yield columns + rows, column_stride if column_count > 1 else max(column_stride, row_count)


def _batch_stride(tensor: Tensor, batch: int) -> int:
    """0: the same matrix for all, or no batch."""
    return tensor.stride(0) if tensor.dim() == 3 and batch > 1 else 0


def _calls(
    a: Tensor, b: Tensor, c: Tensor, facts: dict[str, Any], b_orders: list[tuple[str, int]]
) -> list[tuple[dict[str, Any], dict[str, int]]]:
    """(facts, sizes) for each order that the operands can be taken for."""
    m, n = c.shape[-2:]
    batch = c.shape[0] if c.dim() == 3 else 1
    sizes = {
        "m": m, "ldc": n, "batch": batch, "sa": _batch_stride(a, batch),
        "sb": _batch_stride(b, batch), "sc": m * n if batch > 1 else 0,
    }  # fmt: skip
    return [
        (facts | {"a": a_order, "b": b_order}, sizes | {"lda": lda, "ldb": ldb})
        for a_order, lda in _orders(a, "m", "k")
        for b_order, ldb in b_orders
    ]


def _run(
    a: Tensor, b: Tensor, result: Tensor, inputs: dict[str, Tensor], facts: dict[str, Any],
    b_orders: list[tuple[str, int]],
) -> bool:  # fmt: skip
    """Runs a kernel; False: there is none. With beta, `result` holds c."""
    facts = {
        "adtype": NAMES.get(a.dtype), "bdtype": NAMES.get(b.dtype), "out": NAMES.get(result.dtype),
        "n": result.shape[-1], "k": a.shape[-1],
    } | facts  # fmt: skip
    tensors = {"a": a, "b": b, "c": result}
    tensors |= {name: tensor.contiguous() for name, tensor in inputs.items()}
    chosen = registry.choose("gemm", _calls(a, b, result, facts, b_orders), tensors)
    if chosen is None:
        return False
    kernel, sizes = chosen
    registry.run(kernel, sizes, tensors, {"alpha": facts["alpha"], "beta": facts["beta"]})
    return True


def _product(a: Tensor, b: Tensor) -> Tensor:
    """a @ b, summed in float32, or exactly for int8 (in float64, whose integers go to 2^53)."""
    wide = torch.float64 if a.dtype == torch.int8 else torch.float32
    return torch.matmul(a.to(wide), b.to(wide))


def _reference(
    a: Tensor, b: Tensor, result: Tensor, steps: list[str], inputs: dict[str, Tensor], c: Tensor | None,
    alpha: float, beta: float,
) -> Tensor:  # fmt: skip
    plain = not steps and c is None and alpha == 1
    if plain and result.dtype == torch.int32:
        return _product(a, b).to(torch.int32)
    if plain and result.dtype == a.dtype == b.dtype and a.dtype != torch.int8:
        return torch.matmul(a, b)
    y = alpha * _product(a, b).float()
    y = y if c is None else y + beta * c.float()
    auxiliary = [inputs[name] for name in ("aux", "aux2") if name in inputs]
    for step in steps:
        if step == "bias":
            y = y + inputs["bias"].float()
        elif step in _STEPS:
            y = _STEPS[step](y)
        else:
            other = auxiliary.pop(0).float()
            y = y * other if step == "mul" else y + other
    return y.to(result.dtype)


def _gemm(
    a: Tensor, b: Tensor, dense: Tensor | None, n: int | None, bias: Tensor | None, aux: Tensor | None,
    aux2: Tensor | None, c: Tensor | None, epilogue: str, alpha: float, beta: float,
    out_dtype: torch.dtype | None,
) -> Tensor:  # fmt: skip
    """`dense`: b as a matrix, or None where b is packed for n columns."""
    shape = _result_shape(a, b if dense is None else dense) if n is None else _packed_shape(a, b, n)
    steps, result = _steps(epilogue), _result(a, shape, out_dtype)
    inputs = _inputs_of(steps, bias, aux, aux2)
    _check_inputs(result, inputs, c, beta)
    if result.numel() == 0:
        return result
    if c is not None:
        result.copy_(c)
    facts = {"preshuffle": int(n is not None), "alpha": alpha, "beta": beta, "epilogue": ",".join(steps)}
    b_orders = [("nk", a.shape[-1])] if n is not None else list(_orders(b, "k", "n"))
    if a.shape[-1] and _run(a, b, result, inputs, facts, b_orders):
        return result
    matrix = b if n is None else unpack_weights(b, n).transpose(-1, -2)
    return _reference(a, matrix, result, steps, inputs, c, alpha, beta)


def _packed_shape(a: Tensor, packed: Tensor, n: int) -> tuple[int, ...]:
    torch._check(
        a.dim() in (2, 3) and packed.dim() in (5, 6),
        lambda: "gemm_packed takes a 2-D or 3-D tensor and what pack_weights returned",
    )
    k = packed.shape[-4] * packed.shape[-3] * packed.shape[-1]
    torch._check(
        a.shape[-1] == k and packed.shape[-5] == -(-n // 16),
        lambda: f"gemm_packed: a is {tuple(a.shape)}, the weights are packed for k={k} and "
        f"{packed.shape[-5] * 16} columns, n={n}",
    )
    batch = a.shape[:1] if a.dim() == 3 else packed.shape[:-5]
    return (*batch, a.shape[-2], n)


@torch.library.custom_op("kernelwright::gemm", mutates_args=())
def gemm(
    a: Tensor, b: Tensor, bias: Tensor | None = None, aux: Tensor | None = None,
    aux2: Tensor | None = None, c: Tensor | None = None, epilogue: str = "", alpha: float = 1.0,
    beta: float = 0.0, out_dtype: torch.dtype | None = None,
) -> Tensor:  # fmt: skip
    return _gemm(a, b, b, None, bias, aux, aux2, c, epilogue, alpha, beta, out_dtype)


@gemm.register_fake
def _(
    a, b, bias=None, aux=None, aux2=None, c=None, epilogue="", alpha=1.0, beta=0.0, out_dtype=None
):  # fmt: skip
    result = _result(a, _result_shape(a, b), out_dtype)
    _check_inputs(result, _inputs_of(_steps(epilogue), bias, aux, aux2), c, beta)
    return result


@torch.library.custom_op("kernelwright::gemm_packed", mutates_args=())
def gemm_packed(
    a: Tensor, packed: Tensor, n: int, bias: Tensor | None = None, aux: Tensor | None = None,
    aux2: Tensor | None = None, c: Tensor | None = None, epilogue: str = "", alpha: float = 1.0,
    beta: float = 0.0, out_dtype: torch.dtype | None = None,
) -> Tensor:  # fmt: skip
    return _gemm(a, packed, None, n, bias, aux, aux2, c, epilogue, alpha, beta, out_dtype)


@gemm_packed.register_fake
def _(
    a, packed, n, bias=None, aux=None, aux2=None, c=None, epilogue="", alpha=1.0, beta=0.0,
    out_dtype=None,
):  # fmt: skip
    result = _result(a, _packed_shape(a, packed, n), out_dtype)
    _check_inputs(result, _inputs_of(_steps(epilogue), bias, aux, aux2), c, beta)
    return result
