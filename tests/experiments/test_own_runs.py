# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The user's own runs in the store, and what the estimates make of them."""

from pathlib import Path

import pytest

PROBLEM = "gemm m=16 n=64 k=128 b=nk"
OPTIONS = ["--rungs", "model", "--top", "3", "--json", "--quiet"]


def estimate(kw, *options, problem=PROBLEM):
    answer = kw("estimate", problem, "--json", *options)
    assert answer.status == 0, answer.err
    return answer.json()


def imported(kw, name, factors, problem=PROBLEM, device="mine"):
    """Runs of schedules that took `factors` times as long as the model says without them."""
    schedules = kw("space", problem, "--list", str(len(factors)), "--json").json()["schedules"]
    (kw.folder / "schedules.txt").write_text("\n".join(schedules) + "\n")
    times = estimate(kw, "--schedules", "schedules.txt", "--own-runs", "none", problem=problem)
    lines = ["problem,schedule,time_us,device"]
    for one, factor in zip(times, factors, strict=True):
        lines.append(f'{problem},"{one["schedule"]}",{factor * one["time_us"]},{device}')
    (kw.folder / name).write_text("\n".join(lines) + "\n")
    answer = kw("import", name, "--json")
    assert answer.status == 0, answer.err


def test_runs_pull_the_estimate(kw):
    before = estimate(kw)
    assert before["calibration"] == {"name": "shipped", "own_runs": 0}
    imported(kw, "four.csv", [1.3, 1.32, 1.28, 1.3])
    after = estimate(kw)
    assert after["calibration"] == {"name": "shipped", "own_runs": 4}
    assert after["schedule"] == before["schedule"]
    assert 1.15 < after["time_us"] / before["time_us"] < 1.3
    low, high = after["interval_us"]
    assert high / low < before["interval_us"][1] / before["interval_us"][0]
    assert estimate(kw, "--own-runs", "none") == before
    assert abs(sum(after["terms"].values()) - after["time_us"]) < 1e-6 * after["time_us"]
    # Another shape learns of the generator and the machine, less than the shape itself.
    other = "gemm m=16 n=128 k=64 b=nk"
    plain = estimate(kw, "--own-runs", "none", problem=other)
    there = estimate(kw, problem=other)
    assert 1.02 < there["time_us"] / plain["time_us"] < after["time_us"] / before["time_us"]
    # Another operator learns nothing, another target neither.
    norm = estimate(kw, problem="rmsnorm rows=8 cols=512")
    assert norm["calibration"]["own_runs"] == 0
    assert estimate(kw, "--target", "gfx942")["calibration"]["own_runs"] == 0


def test_an_absurd_run_does_not_hurt(kw):
    before = estimate(kw)["time_us"]
    imported(kw, "one.csv", [20])
    assert abs(estimate(kw)["time_us"] / before - 1) < 0.3
    imported(kw, "five.csv", [20, 1.1, 1.12, 1.08, 1.1])
    assert abs(estimate(kw)["time_us"] / before - 1.1) < 0.06


def test_runs_of_one_device(kw):
    before = estimate(kw)["time_us"]
    imported(kw, "mine.csv", [1.3] * 4)
    imported(kw, "theirs.csv", [0.8] * 4, device="theirs")
    assert estimate(kw)["calibration"]["own_runs"] == 8
    assert estimate(kw, "--own-runs", "mine")["time_us"] > before
    assert estimate(kw, "--own-runs", "theirs")["time_us"] < before
    answer = kw("estimate", PROBLEM, "--own-runs", "nobody")
    assert answer.status == 2
    answer.one_line_error("no run of that device")


def test_tune_ranks_with_them_and_repeats_itself(kw):
    first = kw("tune", PROBLEM, *OPTIONS).json()
    assert first["calibration"]["own_runs"] == 0
    imported(kw, "four.csv", [1.3] * 4)
    second = kw("tune", PROBLEM, *OPTIONS).json()
    assert second["calibration"]["own_runs"] == 4 and second["run"] != first["run"]
    schedules = [[c["schedule"] for c in d["candidates"]] for d in (first, second)]
    assert schedules[0] == schedules[1]
    best = second["candidates"][0]
    assert best["time_us"] == estimate(kw)["time_us"]
    again = kw("tune", PROBLEM, *OPTIONS).json()
    assert again["run"] == second["run"] and again["candidates"] == second["candidates"]
    without = kw("tune", PROBLEM, "--own-runs", "none", *OPTIONS).json()
    assert without["run"] == first["run"] and without["candidates"] == first["candidates"]
    # A run that was begun before goes on with what was known then.
    imported(kw, "more.csv", [1.6] * 6)
    resumed = kw("resume", second["run"], "--json", "--quiet").json()
    assert resumed["candidates"] == second["candidates"]
    # Runs that say nothing about the problem change nothing.
    imported(kw, "norm.csv", [2], problem="rmsnorm rows=8 cols=512")
    third, fourth = (kw("tune", PROBLEM, *OPTIONS).json() for _ in range(2))
    assert third["run"] == fourth["run"] != second["run"]
    assert third["calibration"]["own_runs"] == 10


HEADER = "gfx,cu_num,op,dtype_a,dtype_b,dtype_out,scale,M,N,K,kernel_family,tile_m,tile_n,us\n"


def table(kw, name, sizes, us):
    rows = [f"gfx950,256,gemm,bf16,bf16,bf16,,{m},7168,4096,ck,128,128,{us(m)}\n" for m in sizes]
    (kw.folder / name).write_text(HEADER + "".join(rows))
    return name


def predictions(kw, name, *options):
    answer = kw("score", name, "--rows", "rows.csv", "--json", *options)
    assert answer.status == 0, answer.err
    lines = (kw.folder / "rows.csv").read_text().splitlines()[1:]
    return answer.json(), [float(line.split(",")[2]) for line in lines]


def test_score_learns_of_other_rows_alone(kw):
    scored = table(kw, "scored.csv", [512, 1024, 2048], lambda m: 100)
    document, plain = predictions(kw, scored)
    assert document["calibration"] == {"name": "shipped", "own_runs": 0}
    # The scored rows themselves, in the store with any time: they don't count.
    for us in (1, 1e6):
        assert kw("import", table(kw, "same.csv", [512, 1024, 2048], lambda m: us)).status == 0
    document, own = predictions(kw, scored, "--own-runs", "all")
    assert document["calibration"]["own_runs"] == 0 and own == plain
    # Others of the same shape do, if asked for.
    near = {m: 2 * us for m, us in zip([768, 1536, 3072], plain)}
    assert kw("import", table(kw, "other.csv", list(near), near.get)).status == 0
    assert predictions(kw, scored)[1] == plain
    document, own = predictions(kw, scored, "--own-runs", "all")
    assert document["calibration"]["own_runs"] == 3
    assert own != plain


@pytest.mark.parametrize("command", ["estimate", "tune"])
def test_a_store_that_is_none(kw, command):
    (kw.folder / "kw.db").write_text("no database")
    answer = kw(command, PROBLEM, *(OPTIONS if command == "tune" else []))
    assert answer.status == 2
    answer.one_line_error("kw.db")
    if command == "estimate":
        assert kw("estimate", PROBLEM, "--own-runs", "none").status == 0


def test_a_calibration_of_another_model_says_so(kw, tmp_path):
    shipped = Path(__file__).parents[2] / "costmodel" / "calibration" / "shipped.json"
    other = tmp_path / "other.json"
    other.write_text(shipped.read_text().replace('"model":"analytic-', '"model":"analytic-0-', 1))
    problem = ["estimate", "rmsnorm", "rows=64", "cols=512"]
    answer = kw(*problem, "--calibration", str(other), "--json")
    assert "was fitted to estimates of analytic-0-" in answer.err
    assert "was fitted" not in kw(*problem, "--json").err
