# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows that `kw tune --generator triton` exports: keys are torch's own, rows are found by torch's own
lookup, Inductor takes them as they are, and what Triton makes of them is what was predicted."""

import json
import subprocess

import pytest
import torch
from kernelwright.compile_rows import lds_as_predicted
from kernelwright.lookup import parse_key, read_table
from test_lookup_choices import Choices, Inputs, Node

TYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}
PROBLEMS = [
    "gemm m=512 n=768 k=256 dtype=bf16 b=nk",
    "gemm m=512 n=768 k=256 dtype=f16",
    "gemm m=512 n=768 k=256 dtype=bf16 a=km",
    "gemm m=512 n=768 k=256 dtype=f16 a=km b=nk",
    "gemm m=130 n=264 k=200 dtype=bf16 b=nk lda=208 ldb=216",
    "gemm m=128 n=128 k=72 dtype=bf16 b=nk",
    "gemm m=256 n=256 k=128 dtype=f32",
    "gemm m=16 n=4096 k=1024 dtype=bf16 b=nk",
    "gemm m=2048 n=2048 k=2048 dtype=bf16 b=nk",
    "gemm m=2048 n=2048 k=2048 dtype=f16",
    "gemm m=64 n=4096 k=4096 dtype=bf16 b=nk",
    "gemm m=512 n=768 k=256 dtype=bf16 b=nk epilogue=bias",
    "gemm m=512 n=768 k=256 dtype=f16 alpha=0.5 beta=2",
    "gemm m=256 n=128 k=64 batch=8 dtype=bf16 b=nk",
    "gemm m=256 n=128 k=64 batch=8 dtype=f16 sa=0",
    "gemm m=256 n=128 k=64 batch=8 dtype=bf16 beta=1",
]
REGISTER_MARGIN = 1.6  # vector registers, compiled over predicted, either way,
REGISTER_SLACK = 20  # or this many apart: addresses and masks of small tiles


def torch_call(problem):
    """(operation, inputs): what a program calls, written from the meaning of the problem's text."""
    given = dict(word.split("=", 1) for word in problem.split()[1:])
    m, n, k, batch = (int(given.get(name, 1)) for name in ("m", "n", "k", "batch"))
    dtype = TYPES[given["dtype"]]

    def matrix(rows, columns, plain, line, stride):
        line = int(given.get(line, columns if plain else rows))
        sizes, strides = (rows, columns), (line, 1) if plain else (1, line)
        if batch > 1:
            whole = line * (rows if plain else columns)
            sizes, strides = (batch, *sizes), (int(given.get(stride, whole)), *strides)
        return torch.empty_strided(sizes, strides, dtype=dtype, device="meta")

    operands = [
        matrix(m, k, given.get("a", "mk") == "mk", "lda", "sa"),
        matrix(k, n, given.get("b", "kn") == "kn", "ldb", "sb"),
    ]
    operation, number = "mm" if batch == 1 else "bmm", lambda text: float(text) if "." in text else int(text)
    scalars = {"alpha": number(given.get("alpha", "1")), "beta": number(given.get("beta", "1"))}
    if given.get("epilogue") == "bias":
        operands.insert(0, torch.empty(n, dtype=dtype, device="meta").expand(m, n))
    elif "beta" in given:
        operands.insert(0, matrix(m, n, True, "ldc", "sc"))
    if len(operands) == 2:
        return Inputs([Node(tensor) for tensor in operands]), operation
    operation = {"mm": "addmm", "bmm": "baddbmm"}[operation]
    return Inputs([Node(tensor) for tensor in operands], scalars=scalars), operation


def tune(kw_program, folder, *problems, out="bundle", options=()):
    (folder / "suite.txt").write_text("\n".join(problems) + "\n")
    return subprocess.run(
        [kw_program, "tune", "--generator", "triton", "--suite", folder / "suite.txt", "--quiet",
         "--db", folder / "kw.db", "--out", folder / out, *options],
        capture_output=True, text=True,
    )  # fmt: skip


@pytest.fixture(scope="module")
def bundle(kw_program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("triton")
    run = tune(kw_program, folder, *PROBLEMS)
    assert run.returncode == 0, run.stdout + run.stderr
    return folder / "bundle"


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_key_is_torchs_own_and_is_hit(bundle, problem):
    """E1 and L1: the one row of the problem, without what names its template."""
    table = read_table(bundle)
    kernel_inputs, operation = torch_call(problem)
    choices = Choices(table)
    key = choices.make_lookup_key(kernel_inputs, operation, include_device=True)
    assert key in table, f"{key} is not among {sorted(table)}"
    (row,) = table[key]
    template = row["template_id"]
    expected = {name: value for name, value in row.items() if name not in ("template_id", "template_hash")}
    assert choices.lookup_template_configs(kernel_inputs, operation, [template]) == {template: [expected]}


def test_one_row_a_problem_and_the_files_are_in_order(bundle):
    table = read_table(bundle)
    text = (bundle / "lookup_table.json").read_text()
    assert len(table) == len(PROBLEMS) and list(table) == sorted(table)
    assert json.loads(json.dumps(json.loads(text))) == table
    document = json.loads((bundle / "bundle.json").read_text())
    assert [(note["key"], note["row"]) for note in document["lookup"]] == [(key, 0) for key in table]
    assert "lookup_table.json" in document["files"]
    for note in document["lookup"]:
        assert note["problem"] in PROBLEMS and note["source"] == "model" and note["time_us"] > 0


def test_exporting_again_gives_the_same_bytes(kw_program, bundle, tmp_path):
    run = tune(kw_program, tmp_path, *PROBLEMS)
    assert run.returncode == 0, run.stdout + run.stderr
    for name in ("lookup_table.json", "bundle.json"):
        assert (tmp_path / "bundle" / name).read_bytes() == (bundle / name).read_bytes()


def test_the_bundle_is_true(kw_program, bundle):
    run = subprocess.run([kw_program, "check-bundle", bundle], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.fixture(scope="module")
def reports(on_fake_gpu, bundle, tmp_path_factory):
    out = tmp_path_factory.mktemp("reports") / "out.json"
    run = on_fake_gpu("-m", "kernelwright.compile_rows", bundle, "--json", out)
    assert out.exists(), run.stdout + run.stderr
    return run, {report["key"]: report for report in json.loads(out.read_text())}


def test_inductor_takes_every_row_and_triton_compiles_it(reports):
    """L2: one candidate, nothing timed, the row's constants, no spill, and LDS as predicted."""
    run, found = reports
    assert run.returncode == 0, run.stdout + run.stderr
    assert len(found) == len(PROBLEMS)


def test_some_rows_are_pipelined(reports):
    """So that exact predictions are among them."""
    pipelined = [report for report in reports[1].values() if report["row"]["num_stages"] > 1]
    assert len(pipelined) >= 4


@pytest.mark.parametrize("index", range(len(PROBLEMS)))
def test_lds_is_as_predicted_and_registers_within_the_margin(reports, bundle, index):
    key = list(read_table(bundle))[index]
    report = reports[1][key]
    made, said = report["compiled"], report["predicted"]
    assert lds_as_predicted(report), key
    assert made["vgpr_spills"] == made["sgpr_spills"] == made["scratch_bytes"] == 0
    compiled, predicted = made["vgpr"] + made["agpr"], said["vgpr"] + said["agpr"]
    most = max(compiled, predicted)
    least = min(compiled, predicted)
    assert most <= max(REGISTER_MARGIN * least, least + REGISTER_SLACK), (
        f"{parse_key(key).operation}: {compiled} registers, predicted {predicted}"
    )
