# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Levels L0 and L1: torch's own LookupTableChoices makes our keys and returns our rows."""

import random

import pytest
import torch
from kernelwright.lookup.keys import Key, TensorKey, parse_key
from lookup_rows import ARCH, BF16, F16, hand_table, key, linear, matrices, row

choices_module = pytest.importorskip(
    "torch._inductor.lookup_table.choices", reason="this torch has no lookup table (2.11 and later have)"
)
from torch._inductor.kernel_inputs import MMKernelInputs  # noqa: E402


class Node:
    """What a lookup asks an operand."""

    def __init__(self, tensor):
        self.tensor = tensor

    def get_device(self):
        return torch.device("cuda", 0)

    def get_dtype(self):
        return self.tensor.dtype

    def get_size(self):
        return list(self.tensor.size())

    def get_stride(self):
        return list(self.tensor.stride())


class Inputs(MMKernelInputs):
    def shapes_hinted(self):
        return tuple(tuple(node.get_size()) for node in self._input_nodes)

    def strides_hinted(self):
        return tuple(tuple(node.get_stride()) for node in self._input_nodes)

    shapes_autotune, strides_autotune = shapes_hinted, strides_hinted  # newer names


class Choices(choices_module.LookupTableChoices):
    def __init__(self, table):
        self.table = table

    def _get_lookup_table(self):
        return self.table

    @staticmethod
    def _get_device_key(device):
        return ARCH


def inputs(text):
    """Operands of the key, on meta tensors."""
    parsed = parse_key(text)
    tensors = [
        torch.empty_strided(t.sizes, t.strides, dtype=getattr(torch, t.dtype), device="meta")
        for t in parsed.tensors
    ]
    number = lambda text: float(text) if "." in text else int(text)  # noqa: E731
    scalars = {name: number(value) for name, value in reversed(parsed.scalars)}
    return Inputs([Node(tensor) for tensor in tensors], scalars=scalars), parsed.operation


@pytest.mark.parametrize("text", list(hand_table()))
def test_torch_prints_the_key(text):
    kernel_inputs, operation = inputs(text)
    device, agnostic = Choices({}).make_lookup_key_variants(kernel_inputs, operation)
    assert agnostic == text and device == f"{ARCH}+{text}"


def test_torch_prints_random_keys():
    """Sizes, strides (padded and transposed, broadcast batches), dtypes and operations at random."""
    generator = random.Random(7)
    types = ["float16", "bfloat16", "float32", "int8", "float8_e4m3fn", "float8_e5m2"]
    for _ in range(200):
        batch = generator.choice([None, 1, 3, 16])
        operation = generator.choice(["mm", "addmm"] if batch is None else ["bmm", "baddbmm"])
        tensors = []
        for _ in range(3 if "add" in operation else 2):
            sizes = [generator.randint(1, 5000) for _ in range(2)]
            line = sizes[1] + generator.choice([0, 0, 8, 3])
            strides = generator.choice([[line, 1], [1, sizes[0]], [0, 1]])
            if batch is not None:
                sizes, strides = [batch, *sizes], [generator.choice([0, 10**8]), *strides]
            tensors.append(TensorKey(generator.choice(types), tuple(sizes), tuple(strides)))
        scalars = ()
        if "add" in operation:
            scalars = tuple((n, str(generator.choice([0, 1, 0.5, 2.0, -3]))) for n in ("alpha", "beta"))
        text = str(Key(None, tuple(tensors), scalars, operation))
        kernel_inputs, _ = inputs(text)
        assert Choices({}).make_lookup_key(kernel_inputs, operation) == text


def look_up(table, text, templates=("triton::mm", "triton::bmm", "aten::mm"), hashes=None):
    kernel_inputs, operation = inputs(text)
    return Choices(table).lookup_template_configs(kernel_inputs, operation, list(templates), hashes)


def stripped(entry):
    return {name: value for name, value in entry.items() if name not in ("template_id", "template_hash")}


@pytest.mark.parametrize("device", [None, ARCH])
def test_every_row_is_found_and_returned_as_it_is(device):
    table = hand_table(device)
    for text in hand_table():
        (entry,) = table[f"{device}+{text}" if device else text]
        assert look_up(table, text) == {entry["template_id"]: [stripped(entry)]}


def test_the_device_key_wins_and_lists_are_not_merged():
    text = key("mm", matrices(F16, 64, 64, 64))
    table = {text: [row(32, 32, 32, 64)], f"{ARCH}+{text}": [row(64, 64, 32, 64)]}
    assert [entry["BLOCK_M"] for entry in look_up(table, text)["triton::mm"]] == [64]


@pytest.mark.parametrize(
    "other",
    [
        key("mm", matrices(F16, 64, 64, 64, "nt")), key("mm", matrices(F16, 64, 64, 64, "tn")),
        key("mm", matrices(F16, 64, 64, 64, pad=8)), key("mm", matrices(BF16, 64, 64, 64)),
        key("mm", matrices(F16, 64, 64, 128)), linear(F16, 64, 64, 64),
    ],
)  # fmt: skip
def test_another_problem_is_a_miss(other):
    assert look_up({key("mm", matrices(F16, 64, 64, 64)): [row(32, 32, 32, 64)]}, other) == {}


def test_hashes_filter():
    text = key("mm", matrices(F16, 64, 64, 64))
    entry = row(32, 32, 32, 64, template_hash="right")
    assert look_up({text: [entry]}, text, hashes={"triton::mm": "right"})
    assert look_up({text: [entry]}, text, hashes={"triton::mm": None})
    assert look_up({text: [entry]}, text, hashes={"triton::mm": "wrong"}) == {}


def test_templates_that_are_not_in_use_and_rows_that_are_none():
    text = key("mm", matrices(F16, 64, 64, 64))
    assert look_up({text: [row(32, 32, 32, 64)]}, text, templates=["aten::mm"]) == {}
    for wrong in ([3], [{"BLOCK_M": 16}]):
        with pytest.raises(ValueError):
            look_up({text: wrong}, text)


def test_top_rows_stay_in_order():
    text = key("mm", matrices(F16, 64, 64, 64))
    rows = [row(64, 32, 32, 64), row(32, 32, 32, 64), {"template_id": "aten::mm"}]
    found = look_up({text: rows}, text)
    assert found == {"triton::mm": [stripped(entry) for entry in rows[:2]], "aten::mm": [{}]}
