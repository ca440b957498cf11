# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The code objects that Inductor and Triton make of rows run on the emulator in strict mode and
compute the operation: the tile, EVEN_K and the key's strides are right together."""

import ast
import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from kernelwright.lookup.keys import parse_key
from lookup_rows import ARCH, BF16, F16, F32, key, matrices, row, tensor

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "differential"))
import launching  # noqa: E402

M, N, K = 70, 96, 72
BIAS = tensor(F16, (M, N), (0, 1))
CASES = {
    "nt": (key("mm", matrices(BF16, M, N, 128, "nt")), row(32, 64, 64, 128)),
    "ragged k, padded lines": (key("mm", matrices(F16, M, N, K, "nt", pad=8)), row(64, 32, 32, K)),
    "nn, three stages": (key("mm", matrices(F16, M, N, K)), row(32, 32, 16, K, stages=3, group=2)),
    "tn": (key("mm", matrices(BF16, 64, N, 96, "tn")), row(64, 32, 32, 96, warps=8)),
    "f32": (key("mm", matrices(F32, M, N, K)), row(32, 32, 32, K)),
    "few rows": (key("mm", matrices(BF16, 3, 160, 256, "nt")), row(16, 32, 128, 256, warps=2)),
    "addmm": (key("addmm", (BIAS, *matrices(F16, M, N, K, "nt")), "alpha=0.5&beta=2"), row(32, 32, 64, K)),
    "bmm": (key("bmm", matrices(F16, M, N, 64, batch=3)), row(64, 64, 32, 64, operation="bmm")),
    "baddbmm": (
        key("baddbmm", (tensor(BF16, (2, M, N), (M * N, N, 1)), *matrices(BF16, M, N, K, "nt", batch=2)),
            "alpha=1&beta=1"),
        row(32, 64, 32, K, operation="bmm"),
    ),
}  # fmt: skip
TYPES = {"float16": np.float16, "bfloat16": np.uint16, "float32": np.float32}
TOLERANCE = {"float16": 2**-10, "bfloat16": 2**-7, "float32": 2**-20}


@pytest.fixture(scope="module")
def compiled(on_fake_gpu, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    table = {f"{ARCH}+{text}": [entry] for text, entry in CASES.values()}
    (folder / "lookup_table.json").write_text(json.dumps(table))
    run = on_fake_gpu(
        "-m", "kernelwright.compile_rows", folder, "--json", folder / "out.json", "--keep", folder / "kept"
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return {
        report["key"]: (report, folder / "kept" / f"key{index:03}_row0")
        for index, report in enumerate(json.loads((folder / "out.json").read_text()))
    }


def operand(part, generator):
    """(tensor, memory): random small integers in the key's strides, NaN in what lies between."""
    sizes = tuple(1 if stride == 0 else size for size, stride in zip(part.sizes, part.strides))
    extent = 1 + sum((size - 1) * stride for size, stride in zip(sizes, part.strides))
    memory = torch.full((extent,), math.nan, dtype=getattr(torch, part.dtype))
    values = torch.randint(-4, 5, sizes, generator=generator)
    memory.as_strided(sizes, part.strides).copy_(values)
    return memory.as_strided(part.sizes, part.strides), memory


def array(memory):
    return memory.view(torch.int16).numpy().view(np.uint16) if memory.element_size() == 2 else memory.numpy()


def grid(parsed, entry):
    m, n, _ = parsed.sizes
    tiles = -(-m // entry["BLOCK_M"]) * -(-n // entry["BLOCK_N"])
    batch = parsed.tensor("a").sizes[0] if "bmm" in parsed.operation else 1
    return (tiles, batch, 1)


@pytest.mark.parametrize("name", CASES)
def test_the_kernel_of_a_row_computes_the_operation(compiled, kw_program, tmp_path, name):
    text, entry = CASES[name]
    report, path = compiled[f"{ARCH}+{text}"]
    parsed, generator = parse_key(text), torch.Generator().manual_seed(11)
    operands = [operand(part, generator) for part in parsed.tensors]
    scalars = {scalar: ast.literal_eval(value) for scalar, value in parsed.scalars}
    run = getattr(torch, parsed.operation)
    exact = run(*(tensor.double() for tensor, _ in operands), **scalars)

    given = [launching.given(array(memory)) for _, memory in operands]
    result = launching.output(exact.shape, array(torch.empty(1, dtype=operands[-1][0].dtype)).dtype)
    arguments = [*given, result, None, None]  # and two pointers to scratch memory that is not used
    made = report["compiled"]
    step = launching.Launch(
        report["kernel"], grid(parsed, entry), 64 * made["num_warps"],
        [(None, argument) for argument in arguments], made["lds_bytes"],
    )  # fmt: skip
    code_object = path.with_suffix(".hsaco").read_bytes()
    outcome = launching.launch(kw_program, tmp_path / "launch", code_object, [step])
    assert outcome.ok and not outcome.findings, outcome.findings[:3]
    got = torch.from_numpy(result.result.copy()).view(operands[-1][0].dtype).reshape(exact.shape)
    tolerance = TOLERANCE[parsed.tensors[-1].dtype]
    torch.testing.assert_close(got.double(), exact, rtol=tolerance, atol=0)
