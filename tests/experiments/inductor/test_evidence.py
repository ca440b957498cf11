# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The committed evidence from a real GPU says what the README claims of it, row by row."""

import json

import pytest
from kernelwright.lookup import parse_key
from kernelwright.lookup.table import check_table


@pytest.fixture(scope="module")
def folder(root):
    return root / "experiments" / "inductor" / "real_gpu"


@pytest.fixture(scope="module")
def evidence(folder):
    return json.loads((folder / "evidence" / "bundle.json").read_text())


def test_versions_device_and_date_are_there(evidence):
    assert evidence["environment"].keys() == {"date", "device", "warp_size", "torch", "triton", "python"}
    assert all(evidence["environment"].values())


def test_every_row_was_taken_as_it_is(evidence, folder):
    """Its fields stand in the generated code, it was the only candidate, nothing was timed."""
    problems = [line for line in (folder / "suite.txt").read_text().splitlines() if line]
    assert len(evidence["keys"]) == len(problems)
    for found in evidence["keys"]:
        check_table({found["key"]: [found["row"]]})
        fields = {name: value for name, value in found["row"].items() if name in found["tile"]}
        assert found["tile"] == fields and {"BLOCK_M", "BLOCK_N", "BLOCK_K", "num_warps", "num_stages"} <= fields.keys()
        assert len(found["candidates"]) == 1 and found["benchmarks"] == 0
        assert 0 <= found["max_error"] <= found["tolerance"] and found["problems"] == []


def test_every_operation_and_order_is_among_them(evidence):
    keys = [parse_key(found["key"]) for found in evidence["keys"]]
    assert {key.operation for key in keys} == {"mm", "addmm", "bmm", "baddbmm"}
    assert all(key.device is None for key in keys)
    orders = {tuple(key.tensor(name).strides[-1] == 1 for name in "ab") for key in keys}
    assert orders == {(True, True), (True, False), (False, True), (False, False)}
    assert any(not found["row"]["EVEN_K"] for found in evidence["keys"])


def test_a_thread_that_compiled_before_took_the_row_too(evidence):
    (found,) = [value for name, value in evidence["also"].items() if "another thread" in name]
    assert found == []


def test_the_readable_form_has_every_key(evidence, folder):
    text = (folder / "evidence" / "bundle.md").read_text()
    assert all(f"`{found['key']}`" in text for found in evidence["keys"])
