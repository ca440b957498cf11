# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run by test_activation.py in a process of its own, with the fake MI355X: prints one JSON object."""

import json
import sys
import threading

from kernelwright.lookup import activate, fake_gpu, parse_key

fake_gpu.install()

import torch  # noqa: E402
from kernelwright.lookup.activation import ActivationError, _during_compilation  # noqa: E402
from kernelwright.lookup.lowering import _generate, constants, function, operands, triton_kernels, watch_choices  # noqa: E402, E501
from lookup_rows import ARCH, BF16, F16, hand_table, key, linear, matrices, row, tensor  # noqa: E402
from torch._inductor import config  # noqa: E402
from torch._inductor import select_algorithm  # noqa: E402
from torch._inductor.choices import InductorChoices  # noqa: E402
from torch._inductor.codecache import compiled_fx_graph_hash  # noqa: E402
from torch._inductor.graph import GraphLowering  # noqa: E402
from torch._inductor.lookup_table.choices import LookupTableChoices  # noqa: E402
from torch._inductor.virtualized import V  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402

MM = key("mm", matrices(F16, 128, 256, 64, "nt"))
ROW = row(64, 32, 32, 64, group=3)
OTHER = row(32, 32, 32, 64)


def traced(text):
    with FakeTensorMode() as mode:
        tensors = operands(parse_key(text), "cuda:0")
        return make_fx(function(parse_key(text)))(*tensors), tensors, mode


def candidates(text):
    """What Inductor, as it stands in this thread, chooses among; timing them is not possible here."""

    class Enough(Exception):
        pass

    def stop(choices):
        raise Enough(choices)

    module, tensors, mode = traced(text)
    with _during_compilation():
        graph = GraphLowering(module, example_inputs=tensors, shape_env=None)
        select_algorithm.add_preprocessing_fn(stop)
        try:
            _generate(graph, tensors, mode)
        except Exception as error:
            cause = error
            while cause is not None and not isinstance(cause, Enough):
                cause = cause.__cause__ or cause.__context__
            return [c.name for c in cause.args[0]] if cause else f"{type(error).__name__}: {error}"
        finally:
            select_algorithm.clear_preprocessing_fns()
    return "extern" if not graph.buffers else [type(b).__name__ for b in graph.buffers]


def block_m(text):
    """BLOCK_M of the kernel; None where Inductor makes no Triton kernel."""
    module, tensors, mode = traced(text)
    with _during_compilation(), watch_choices():
        graph = GraphLowering(module, example_inputs=tensors, shape_env=None)
        kernels = triton_kernels(_generate(graph, tensors, mode))
    return constants(kernels[0][1])["BLOCK_M"] if kernels else None


def graph_key():
    """Key of Inductor's graph cache for MM, as a compilation in this thread would make it."""
    module, tensors, _ = traced(MM)
    with _during_compilation():
        return compiled_fx_graph_hash(module, tensors, {}, [])[0]


def threads():
    """A thread that compiled before activation, and one that began after it; both after the end."""
    found, steps = {}, [threading.Barrier(2) for _ in range(4)]

    def early():
        found["early before"] = block_m(MM)
        found["early key before"] = graph_key()
        steps[0].wait()
        steps[1].wait()
        found["early"] = block_m(MM)
        found["early key"] = graph_key()
        steps[2].wait()
        steps[3].wait()
        found["early after"] = block_m(MM)
        found["early key after"] = graph_key()

    def late():
        found["late"] = block_m(MM)
        found["late key"] = graph_key()

    first = threading.Thread(target=early)
    first.start()
    steps[0].wait()
    with activate({MM: [ROW]}):
        steps[1].wait()
        steps[2].wait()  # one at a time: what watches the choices is the process's
        second = threading.Thread(target=late)
        second.start()
        second.join()
        found["main key"] = graph_key()
    steps[3].wait()
    first.join()
    return found


def keys():
    found = {"none": graph_key()}
    with activate({MM: [ROW]}):
        found["table"] = graph_key()
    with activate({MM: [OTHER]}):
        found["other table"] = graph_key()
    with activate({MM: [ROW]}, misses="error"):
        found["other misses"] = graph_key()
    found["none again"] = graph_key()
    with config.patch({"lookup_table.table": {MM: [ROW]}, "max_autotune_gemm": True}):
        found["stock without handler"] = graph_key()
        with V.set_choices_handler(LookupTableChoices()):
            found["stock with handler"] = graph_key()
    return found


def misses():
    text = key("mm", matrices(F16, 128, 256, 128, "nt"))
    weight = linear(BF16, 128, 64, 64)
    found = {}
    for mode in ("aten", "error", "autotune"):
        with activate({MM: [ROW]}, misses=mode) as active:
            found[mode] = candidates(text)
            found[f"{mode} addmm"] = candidates(weight)
            found[f"{mode} report"] = active.report()
    with activate({MM: [ROW]}) as active:
        candidates(MM)
        found["hit"] = active.report()
    return found


def biases():
    """Shapes of addmm's bias: one candidate each, with the row under the expanded key alone."""
    m, n, k = 128, 64, 32
    found = {}
    for name, sizes, strides in [
        ("vector", (m, n), (0, 1)), ("matrix", (m, n), (n, 1)), ("column", (m, n), (1, 0)),
        ("padded", (m, n), (n + 8, 1)),
    ]:  # fmt: skip
        text = key("addmm", (tensor(F16, sizes, strides), *matrices(F16, m, n, k)), "alpha=1&beta=1")
        with activate({text: [row(32, 32, 32, k)]}, misses="error"):
            found[name] = candidates(text)
    return found


def users_options():
    found = {}
    with config.patch({"max_autotune_gemm_backends": "ATEN"}), activate({MM: [ROW]}):
        found["backends"] = candidates(MM)
    with activate({MM: [ROW]}, pinned=False):
        found["not pinned"] = block_m(MM)
    with config.patch({"max_autotune_gemm": True}), activate({MM: [ROW]}, pinned=False):
        found["not pinned, autotuned"] = block_m(MM)
    return found


def refusals():
    class Foreign(InductorChoices):
        pass

    found = {}
    with activate({MM: [ROW]}) as first:
        again = activate({MM: [ROW]})
        found["same"] = again is first
        again.deactivate()
        found["still active"] = block_m(MM)
        try:
            activate({MM: [OTHER]})
        except ActivationError as error:
            found["other table"] = str(error)
        with V.set_choices_handler(Foreign()):
            try:
                block_m(MM)
            except ActivationError as error:
                found["foreign choices"] = str(error)
    first.deactivate()
    found["after"] = block_m(MM)
    return found


def topk():
    with activate({MM: [ROW, OTHER, {"template_id": "aten::mm"}]}):
        return candidates(MM)


CHECKS = [threads, keys, misses, biases, users_options, refusals, topk]
if __name__ == "__main__":
    json.dump({check.__name__: check() for check in CHECKS}, sys.stdout)
