# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One key and row through Inductor's own lowering, for a GPU that need not be there.

The operands are fake tensors with the sizes and strides of the key; what comes back is the source
of the Triton kernel that Inductor would compile and launch for them.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import operator

import torch

from .activation import _during_compilation, activate
from .keys import Key, TensorKey
from .table import Row

_FUNCTIONS = {
    "mm": torch.mm,
    "bmm": torch.bmm,
    "addmm": torch.addmm,
    "baddbmm": torch.baddbmm,
}


class LoweringError(RuntimeError):
    """Inductor did not take the row, or made something else than one Triton kernel of it."""


@dataclasses.dataclass(frozen=True)
class Lowered:
    kernel: str  # name of the Triton kernel
    source: str  # of its module
    wrapper: str  # of all that Inductor generated
    choices: tuple[str, ...]  # descriptions of the candidates that were left
    benchmarked: int  # candidates that Inductor timed
    hits: dict[str, int]  # lookups that found the row, by key without device


def _given(tensor: TensorKey) -> TensorKey:
    """What a program passes where the key has it broadcast: a bias of one dimension."""
    if len(tensor.sizes) == 2 and tensor.strides[0] == 0 and tensor.sizes[0] > 1:
        return TensorKey(tensor.dtype, tensor.sizes[1:], tensor.strides[1:])
    return tensor


def operands(key: Key, device: str, make=torch.empty_strided) -> list[torch.Tensor]:
    """Tensors of the key's sizes and strides, in the operation's order of arguments."""
    tensors = [_given(tensor) for tensor in key.tensors]
    return [
        make(tensor.sizes, tensor.strides, dtype=getattr(torch, tensor.dtype), device=device)
        for tensor in tensors
    ]


def function(key: Key):
    """The torch operation of the key, with its scalars."""
    scalars = {name: ast.literal_eval(value) for name, value in key.scalars}
    run = _FUNCTIONS[key.operation]
    return lambda *tensors: run(*tensors, **scalars)


def triton_kernels(wrapper: str) -> list[tuple[str, str]]:
    """(name, source) of each Triton kernel in Inductor's generated wrapper."""
    found = []
    for node in ast.walk(ast.parse(wrapper)):
        match node:
            case ast.Call(
                func=ast.Attribute(attr="triton"),
                args=[ast.Constant(value=str(name)), ast.Constant(value=str(source)), *_],
            ):
                found.append((name, source))
    return found


@contextlib.contextmanager
def watch_choices():
    """Yields (choices, timed): the candidates of each lowering, and those that were timed."""
    from torch._inductor import select_algorithm

    choices, timed = [], []
    callers = (select_algorithm.TritonTemplateCaller, select_algorithm.ExternKernelCaller)
    originals = {caller: caller.benchmark for caller in callers}

    def counting(original):
        def benchmark(self, *arguments, **options):
            timed.append(self.name)
            return original(self, *arguments, **options)

        return benchmark

    def record(candidates):
        choices.extend(candidates)
        return candidates

    for caller, original in originals.items():
        caller.benchmark = counting(original)
    select_algorithm.add_preprocessing_fn(record)
    try:
        yield choices, timed
    finally:
        select_algorithm.clear_preprocessing_fns()
        for caller, original in originals.items():
            caller.benchmark = original


def _generate(graph, arguments, fake_mode) -> str:
    from torch._inductor.debug import DebugContext
    from torch._inductor.virtualized import V

    with V.set_graph_handler(graph), V.set_fake_mode(fake_mode), V.set_debug_handler(DebugContext()):
        graph.run(*arguments)
        code = graph.codegen()[0]
    return getattr(code, "value", code)


def lower(key: Key, row: Row) -> Lowered:
    """Inductor's kernel for `key` with `row` as the whole table."""
    from torch._inductor.graph import GraphLowering
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.proxy_tensor import make_fx

    mode = FakeTensorMode()
    with mode:
        arguments = operands(key, "cuda:0")
        module = make_fx(function(key))(*arguments)
    with activate({str(key): [row]}, misses="error") as active:
        with _during_compilation(), watch_choices() as (choices, timed):
            graph = GraphLowering(module, example_inputs=arguments, shape_env=None)
            wrapper = _generate(graph, arguments, mode)
    kernels = triton_kernels(wrapper)
    if len(kernels) != 1:
        raise LoweringError(f"'{key}': Inductor made {len(kernels)} Triton kernels, not one")
    descriptions = tuple(choice.description or choice.name for choice in choices)
    return Lowered(*kernels[0], wrapper, descriptions, len(timed), dict(active.state.hits))


def constants(source: str) -> dict[str, object]:
    """The compile-time constants of a kernel made from Inductor's template, num_warps and num_stages
    too."""
    found = {}
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
                text = ast.unparse(value)
                found[name] = value.value if isinstance(value, ast.Constant) else text
            case ast.keyword(arg="num_warps" | "num_stages" as name, value=ast.Constant(value=number)):
                found[name] = operator.index(number)
    return found
