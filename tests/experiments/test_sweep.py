# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`kw estimate --sweep`: points as single estimates say, their CSV, the ridge, the limiters."""

import csv
import subprocess
import time

import pytest

WEIGHTS = ["gemm", "n=1024", "k=1024", "dtype=bf16", "b=nk"]
SCHEDULE = "gemm.1:tile=16x64x64,waves=1x4,group=0"


def sweep(kw, axis, *options):
    return kw("estimate", *WEIGHTS, "--schedule", SCHEDULE, "--sweep", axis, *options)


def test_points_are_single_estimates(kw):
    document = sweep(kw, "m=1..4096*8", "--json").json()
    assert document["sweep"] == {"key": "m", "values": [1, 8, 64, 512, 4096]}
    for point in document["points"]:
        single = kw("estimate", *WEIGHTS, f"m={point['m']}", "--schedule", SCHEDULE, "--json").json()
        assert {key: point[key] for key in single} == single


def test_best_schedule_of_each_point(kw):
    document = kw("estimate", "gemm m=7 n=64 k=64", "--sweep", "m=16,32", "--json").json()
    assert [point["m"] for point in document["points"]] == [16, 32]
    best = kw("estimate", "gemm m=32 n=64 k=64", "--json").json()
    assert document["points"][1]["schedule"] == best["schedule"]
    assert document["points"][1]["source"] == "model"


def test_csv_has_the_terms(kw, tmp_path):
    file = tmp_path / "new" / "sweep.csv"
    document = sweep(kw, "m=256..1024+256", "--json", "-o", file).json()
    assert document["csv"] == str(file)
    with open(file, newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [int(row["m"]) for row in rows] == [256, 512, 768, 1024]
    terms = [f"{term}_us" for term in document["points"][0]["terms"]]
    for row in rows:
        assert row["status"] == "ok" and row["source"] == "model"
        assert sum(float(row[term]) for term in terms) == pytest.approx(float(row["time_us"]))


def test_ridge_and_limiters(kw):
    document = sweep(kw, "m=1..32768*2", "--json").json()
    points = {point["m"]: point for point in document["points"]}
    behind, at = document["ridge"]["behind"], document["ridge"]["at"]
    assert at == 2 * behind
    assert points[behind]["compute_roof_us"] < points[behind]["memory_roof_us"]
    assert points[at]["compute_roof_us"] >= points[at]["memory_roof_us"]
    assert points[1]["memory_roof_us"] == pytest.approx(
        2 * (1024 + 1024 * 1024 + 1024) / 8e12 * 1e6, rel=0.01
    )
    for point in document["points"]:
        assert point["time_us"] >= max(point["compute_roof_us"], point["memory_roof_us"])
    spans = document["limiters"]
    assert spans[0]["from"] == 1 and spans[-1]["to"] == 32768
    for span in spans:
        assert points[span["from"]]["limiter"] == points[span["to"]]["limiter"] == span["limiter"]
    assert all(a["limiter"] != b["limiter"] for a, b in zip(spans, spans[1:]))


def test_a_point_without_estimate_keeps_its_place(kw, tmp_path):
    file = tmp_path / "sweep.csv"
    answer = kw(
        "estimate", "gemm m=64 n=64 dtype=f16", "--schedule", "gemm.1:tile=16x64x64,waves=1x4,group=0,splitk=4",
        "--sweep", "k=64,1024", "--json", "-o", file,
    )  # fmt: skip
    assert answer.status == 2
    first, second = answer.json()["points"]
    assert "error" in first and "time_us" not in first
    assert second["time_us"] > 0
    with open(file, newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert rows[0]["status"] == first["error"] and rows[0]["time_us"] == ""
    assert rows[1]["status"] == "ok"


@pytest.mark.parametrize(
    "axis",
    ["m", "=1..4*2", "m=", "m=5..1*2", "m=1..8*1", "m=1..8", "m=0..4+1", "m=1..4+0", "m=4,2", "m=2,2",
     "m=1.5,2", "m=-1,2", "m=1..2147483648*2", "m=1..2147483647+1", "m=1,", "m=1..4*2*2"],
)  # fmt: skip
def test_what_is_no_range_is_refused(kw, axis):
    answer = sweep(kw, axis)
    assert answer.status == 2
    assert "--sweep" in answer.err and len(answer.err.splitlines()) == 1


def test_an_unknown_key_is_named(kw):
    answer = sweep(kw, "rows=1,2")
    assert answer.status == 2 and "rows" in answer.err


ILLEGAL = "gemm.1:tile=256x256x64,waves=2x4,stages=3"


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_sweep_without_any_estimate_is_refused(kw, tmp_path, options):
    file = tmp_path / "sweep.csv"
    answer = kw("estimate", *WEIGHTS, "--schedule", ILLEGAL, "--sweep", "m=16,32", "--quiet", "-o", file, *options)
    assert answer.status == 2
    line = answer.one_line_error("no point of the sweep has an estimate: m=16: ", "not legal")
    if options:
        assert answer.json()["error"]["message"] == line.removeprefix("kw: ")
    else:
        assert answer.out == ""
    with open(file, newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["m"] for row in rows] == ["16", "32"]
    assert all(row["status"] not in ("", "ok") for row in rows)


def test_points_without_estimate_are_one_line_on_stderr(kw):
    answer = kw(
        "estimate", "gemm m=64 n=64 dtype=f16", "--schedule", "gemm.1:tile=16x64x64,waves=1x4,group=0,splitk=4",
        "--sweep", "k=64,1024", "--quiet",
    )  # fmt: skip
    assert answer.status == 2
    answer.one_line_error("1 of 2 points of the sweep without an estimate: k=64: ")
    assert "limited by" in answer.out


def test_nothing_is_begun_if_one_point_is_no_problem(kw, tmp_path):
    answer = kw("estimate", "gemm m=16 n=64 dtype=f16 lda=64", "--sweep", "k=64,128", "-o", tmp_path / "new" / "a.csv")
    assert answer.status == 2
    answer.one_line_error("lda")
    assert not (tmp_path / "new").exists()


def test_a_killed_sweep_keeps_its_rows(kw, tmp_path):
    """The best schedules of a large product take a second or so a point: time to look at the file."""
    file = tmp_path / "sweep.csv"
    axis = f"m={','.join(str(m) for m in range(1000, 3000, 8))}"
    process = subprocess.Popen(
        [kw.program, "estimate", "gemm n=4096 k=4096 dtype=bf16 b=nk", "--sweep", axis, "--quiet", "-o", file],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        end = time.monotonic() + 120
        while not file.exists() or file.read_text().count("\n") < 2:
            assert time.monotonic() < end and process.poll() is None
            time.sleep(0.02)
    finally:
        process.kill()
        process.wait()
    with open(file, newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert 0 < len(rows) < 250
    assert rows[0]["m"] == "1000" and rows[0]["status"] == "ok"
