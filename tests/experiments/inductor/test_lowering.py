# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Level L2: Inductor lowers the operations for an MI355X that is not there, takes exactly our rows,
and Triton compiles what it generated for gfx950 with our tile."""

import json
import re

import pytest
from lookup_rows import ARCH, F16, hand_table, key, matrices, row

TABLE = hand_table(ARCH)


def test_every_row_is_as_it_should_be(compiled_rows):
    run, _, reports = compiled_rows
    assert run.returncode == 0, run.stdout + run.stderr
    assert reports.keys() == TABLE.keys()


@pytest.mark.parametrize("text", list(TABLE))
def test_the_row_is_the_only_candidate_and_nothing_is_timed(compiled_rows, text):
    report = compiled_rows[2][text]
    (choice,) = report["choices"]
    (entry,) = TABLE[text]
    for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K", "num_warps", "num_stages", "GROUP_M"):
        assert f"{name}={entry[name]}" in choice
    assert report["benchmarked"] == 0
    assert report["hits"] == {text.removeprefix(f"{ARCH}+"): 1}


@pytest.mark.parametrize("index", range(len(TABLE)))
def test_the_generated_source_has_the_tile(compiled_rows, index):
    text, (entry,) = list(TABLE.items())[index]
    source = (compiled_rows[1] / f"key{index:03}_row0.py").read_text()
    for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP_M", "EVEN_K"):
        assert f"{name} : tl.constexpr = {entry[name]}\n" in source, text
    for name in ("num_warps", "num_stages"):
        assert f"{name}={entry[name]},\n" in source
    assert compiled_rows[2][text]["differences"] == []


@pytest.mark.parametrize("index", range(len(TABLE)))
def test_the_code_object_is_for_gfx950_and_fits(compiled_rows, index):
    report = compiled_rows[2][list(TABLE)[index]]
    made = report["compiled"]
    assembly = (compiled_rows[1] / f"key{index:03}_row0.s").read_text()
    assert re.search(r'\.amdgcn_target "[^"]*-gfx950"', assembly)
    assert (compiled_rows[1] / f"key{index:03}_row0.hsaco").read_bytes()[:4] == b"\x7fELF"
    assert made["mfma"] > 0 and made["vgpr_spills"] == made["sgpr_spills"] == made["scratch_bytes"] == 0
    assert 0 < made["lds_bytes"] <= 163840 and 0 < made["total_vgpr"] <= 512
    assert f".max_flat_workgroup_size: {64 * made['num_warps']}\n" in assembly


def compile_table(on_fake_gpu, folder, table, **bundle):
    (folder / "lookup_table.json").write_text(json.dumps(table))
    if bundle:
        (folder / "bundle.json").write_text(json.dumps(bundle))
    run = on_fake_gpu("-m", "kernelwright.compile_rows", folder, "--json", folder / "out.json")
    reports = json.loads((folder / "out.json").read_text()) if (folder / "out.json").exists() else []
    return run, reports


def test_differences_to_the_prediction_are_found(on_fake_gpu, tmp_path):
    """LDS predicted wrongly, and a row that spills: the tool says so and fails."""
    honest = key("mm", matrices(F16, 64, 64, 64))
    spilling = key("mm", matrices(F16, 512, 512, 512))
    table = {honest: [row(32, 32, 32, 64)], spilling: [row(256, 128, 16, 512, warps=1, stages=1)]}
    predicted = [{"key": honest, "row": 0, "lds_bytes": 1 << 20, "vgpr": 32, "agpr": 0}]
    run, (first, second) = compile_table(on_fake_gpu, tmp_path, table, lookup=predicted)
    assert run.returncode == 1
    assert any("predicted 1048576" in text for text in first["problems"]), first
    assert any("spills" in text for text in second["problems"]), second


def test_a_device_key_of_another_gpu_is_not_taken(on_fake_gpu, tmp_path):
    table = {key("mm", matrices(F16, 64, 64, 64), device="gfx942:sramecc+:xnack-"): [row(32, 32, 32, 64)]}
    run, reports = compile_table(on_fake_gpu, tmp_path, table)
    assert run.returncode != 0 and not reports and "MissingRow" in run.stderr
