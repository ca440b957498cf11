# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The generator triton on the command line: space, estimate, tune, export, check."""

import json

import pytest

LINEAR = "gemm m=4096 n=4096 k=4096 dtype=bf16 b=nk"
BIASED = "gemm m=100 n=512 k=1000 epilogue=bias b=nk"


@pytest.fixture
def tuned(kw):
    """A bundle of rows for two problems, made with the options of an export."""
    for problem in (LINEAR, BIASED):
        assert kw("tune", problem, "--generator", "triton", "--json").status == 0

    def export(*options):
        made = kw("export", "inductor", LINEAR, BIASED, "--out", "bundle", "--json", *options)
        return made.json()

    return export


def test_space_and_estimate(kw):
    space = kw("space", LINEAR, "--generator", "triton", "--list", "3", "--json").json()
    assert space["legal"] > 1000
    assert space["raw"] == space["legal"] + sum(rule["removed"] for rule in space["rules"])
    assert all(text.startswith("triton.gemm.1:") for text in space["schedules"])
    best = kw("estimate", LINEAR, "--generator", "triton", "--json").json()
    assert best["schedule"].startswith("triton.gemm.1:")
    assert best["source"] == "model"
    one = kw("estimate", LINEAR, "--schedule", best["schedule"], "--json").json()
    assert one["time_us"] == best["time_us"]


def test_kw_does_not_compile_for_triton(kw):
    answer = kw("compile", LINEAR, "--schedule", "triton.gemm.1:", "-o", "x")
    assert answer.status == 2
    answer.one_line_error("compiled by Triton")


def test_tune_has_the_model_alone(kw):
    answer = kw("tune", LINEAR, "--generator", "triton", "--rungs", "model,compiled")
    assert answer.status == 2
    answer.one_line_error("rung model only")
    answer = kw("tune", "rmsnorm rows=8 cols=64", "--generator", "triton")
    assert answer.status == 2
    answer.one_line_error("makes no rmsnorm")


def test_rows_are_exported_and_proven(kw, tuned):
    made = tuned("--key", "both")
    folder = kw.folder / "bundle"
    table = json.loads((folder / "lookup_table.json").read_text())
    assert len(table) == 4
    assert sum(key.startswith("gfx950:sramecc+:xnack-+((") for key in table) == 2
    notes = json.loads((folder / "bundle.json").read_text())["lookup"]
    assert notes == made["lookup"] and len(notes) == 4
    assert [note["key"] for note in notes] == sorted(table)
    addmm = next(rows for key, rows in table.items() if key.startswith("((") and "addmm" in key)
    assert addmm[0]["EVEN_K"] is (1000 % addmm[0]["BLOCK_K"] == 0)
    checked = kw("check-bundle", "bundle", "--json").json()
    assert checked["ok"] and checked["rows"] == 4
    before = (folder / "lookup_table.json").read_bytes()
    tuned("--key", "both")
    assert (folder / "lookup_table.json").read_bytes() == before


def test_rows_name_the_calibration_that_they_rest_on(kw, tuned):
    note = tuned()["lookup"][0]
    assert note["calibration"]["name"] == "shipped"
    one = kw("estimate", note["problem"], "--schedule", note["schedule"], "--json").json()
    assert one["time_us"] == note["time_us"]


def test_a_lie_is_found(kw, tuned):
    tuned()
    path = kw.folder / "bundle" / "lookup_table.json"
    path.write_text(path.read_text().replace('"GROUP_M": ', '"GROUP_M": 1'))
    answer = kw("check-bundle", "bundle")
    assert answer.status == 1 and "lookup_table.json" in answer.out
