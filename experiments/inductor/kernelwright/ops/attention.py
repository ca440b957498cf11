# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`kernelwright::attention_decode` and `kernelwright::attention_decode_lse`: forward attention.

    o = softmax(scale * q @ k^T + mask) @ v          per batch entry and query head

q is [b, hq, sq, d], k [b, hkv, skv, d], v [b, hkv, skv, dv]; hq / hkv query heads share a head of k
and v. Any strides with contiguous elements of a head; results are contiguous. A causal mask is
aligned bottom right: query s sees the columns up to skv - sq + s. A row without a visible column
gives o = 0 and lse = -infinity; lse is the natural logarithm of the sum of exponentials, f32.
"""

from __future__ import annotations

import math
import struct

import torch
from torch import Tensor

from ..registry import registry
from .dtypes import NAMES


def _scale_of(q: Tensor, scale: float | None) -> float:
    return 1 / math.sqrt(q.shape[-1]) if scale is None else scale


def _as_f32(value: float) -> float:
    """As kernels have it: scales that differ less are the same kernel."""
    return struct.unpack("<f", struct.pack("<f", value))[0]


def _strides(tensor: Tensor) -> tuple[int, int, int]:
    """Of batch, head and sequence; where there is only one, as if the tensor were contiguous."""
    natural, strides = tensor.shape[3], []
    for axis in (2, 1, 0):
        strides.insert(0, tensor.stride(axis) if tensor.shape[axis] > 1 else natural)
        natural *= tensor.shape[axis]
    return tuple(strides)


def _reference(
    q: Tensor, k: Tensor, v: Tensor, causal: bool, scale: float
) -> tuple[Tensor, Tensor]:
    group = q.shape[1] // k.shape[1]
    keys, values = (tensor.float().repeat_interleave(group, 1) for tensor in (k, v))
    scores = q.float() @ keys.transpose(-1, -2) * scale
    if causal:
        sq, skv = scores.shape[-2:]
        visible = torch.ones(sq, skv, dtype=torch.bool, device=q.device).tril(skv - sq)
        scores = scores.masked_fill(~visible, -math.inf)
    lse = torch.logsumexp(scores, -1) if k.shape[2] else scores.new_full(scores.shape[:3], -math.inf)
    weights = (scores - lse.masked_fill(lse == -math.inf, 0).unsqueeze(-1)).exp()
    return (weights @ values).to(q.dtype), lse


def _run(q: Tensor, k: Tensor, v: Tensor, causal: bool, scale: float, results: dict[str, Tensor]) -> bool:
    """Runs a kernel; False: there is none."""
    q, k, v = (
        tensor if tensor.stride(-1) == 1 else tensor.contiguous() for tensor in (q, k, v)
    )  # fmt: skip
    facts = {
        "dtype": NAMES.get(q.dtype), "kvdtype": NAMES.get(k.dtype) if k.dtype == v.dtype else None,
        "hq": q.shape[1], "hkv": k.shape[1], "d": q.shape[3], "dv": v.shape[3],
        "mask": "causal" if causal else "none", "scale": _as_f32(scale),
        "lse": int("lse" in results),
    }  # fmt: skip
    sizes = {"b": q.shape[0], "sq": q.shape[2], "skv": k.shape[2]}
    tensors = {"q": q, "k": k, "v": v, **results}
    for name in ("q", "k", "v", "o"):
        strides = zip("bhs", _strides(tensors[name]), strict=True)
        sizes.update({f"{name}_{axis}": stride for axis, stride in strides})
    kernel = registry.select("attention", facts, sizes, tensors)
    if kernel is None:
        return False
    registry.run(kernel, sizes, tensors)
    return True


def _empty_results(q: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    b, hq, sq, _ = q.shape
    return q.new_empty(b, hq, sq, v.shape[3]), q.new_empty(b, hq, sq, dtype=torch.float32)


def _checked(q: Tensor, k: Tensor, v: Tensor) -> None:
    torch._check(
        q.dim() == 4 and k.dim() == 4 and v.dim() == 4, lambda: "attention_decode takes 4-D tensors"
    )
    torch._check(
        q.shape[0] == k.shape[0] == v.shape[0]
        and k.shape[1:3] == v.shape[1:3]
        and q.shape[3] == k.shape[3],
        lambda: f"attention_decode: q is {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}: "
        "batch, heads, columns or head dimension differ",
    )
    torch._check(
        k.shape[1] > 0 and q.shape[1] % k.shape[1] == 0,
        lambda: f"attention_decode: {q.shape[1]} query heads are not a multiple of {k.shape[1]}",
    )


@torch.library.custom_op("kernelwright::attention_decode", mutates_args=())
def attention_decode(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> Tensor:
    _checked(q, k, v)
    o, _ = _empty_results(q, v)
    factor = _scale_of(q, scale)
    if o.numel() == 0 or _run(q, k, v, causal, factor, {"o": o}):
        return o
    return _reference(q, k, v, causal, factor)[0]


@attention_decode.register_fake
def _(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> Tensor:
    _checked(q, k, v)
    return _empty_results(q, v)[0]


@torch.library.custom_op("kernelwright::attention_decode_lse", mutates_args=())
def attention_decode_lse(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    _checked(q, k, v)
    o, lse = _empty_results(q, v)
    factor = _scale_of(q, scale)
    if lse.numel() == 0 or _run(q, k, v, causal, factor, {"o": o, "lse": lse}):
        return o, lse
    return _reference(q, k, v, causal, factor)


@attention_decode_lse.register_fake
def _(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    _checked(q, k, v)
    return _empty_results(q, v)
