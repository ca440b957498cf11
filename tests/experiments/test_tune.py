# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kw tune and what is asked of its store afterwards."""

import csv
import json
import os
import sqlite3
import time

import pytest

KEYS = "problem target run seed strategy space trials candidates bundle seconds".split()
CANDIDATE_KEYS = (
    "rank schedule time_us source interval_us estimates limiter validated max_rel hsaco vgpr agpr lds_bytes spills"
).split()
SHORT = ["--budget", "6evals", "--top", "3", "--quiet", "--json"]


def tune(kw, *arguments, status=0):
    answer = kw("tune", *arguments)
    assert answer.status == status, answer.err
    return answer.json()


def comparable(document):
    """Without what may differ between two calls."""
    return {key: value for key, value in document.items() if key not in ("seconds", "bundle")}


def test_document(kw, small_norm):
    document = tune(kw, small_norm, "--out", "bundle", *SHORT)
    assert all(key in document for key in KEYS)
    assert document["problem"] == small_norm
    assert document["space"]["estimated"] == document["space"]["legal"]
    assert document["bundle"] == str(kw.folder / "bundle")
    assert document["trials"]["validated"] == len(document["candidates"]) == 3
    for rank, candidate in enumerate(document["candidates"], 1):
        assert all(key in candidate for key in CANDIDATE_KEYS)
        assert candidate["rank"] == rank
        assert candidate["source"] in ("model", "compiled")
        assert candidate["validated"] is True and candidate["spills"] == 0
        assert candidate["max_rel"] >= 0
        assert os.path.isabs(candidate["hsaco"]) and os.path.exists(candidate["hsaco"])
        assert candidate["estimates"]["simulated"] is None
        assert candidate["estimates"]["measured"] is None
    times = [candidate["time_us"] for candidate in document["candidates"]]
    assert times == sorted(times)
    assert kw("check-bundle", "bundle", "--json").json()["ok"] is True
    with open(kw.folder / "bundle" / "table.csv") as file:
        rows = list(csv.DictReader(file))
    assert [row["schedule"] for row in rows] == [c["schedule"] for c in document["candidates"]]
    assert rows[0]["problem"] == small_norm and float(rows[0]["time_us"]) == times[0]
    assert {row["source"] for row in rows} <= {"model", "compiled"}


def test_candidates_are_what_they_say(kw, small_gemm):
    best = tune(kw, small_gemm, *SHORT)["candidates"][0]
    manifest = json.load(open(best["manifest"]))
    assert manifest["schedule"] == best["schedule"]
    again = kw("validate", best["manifest"], "--json").json()
    assert again["ok"] is True and again["max_rel"] == best["max_rel"]


def test_the_second_call_comes_from_the_store(kw, small_norm):
    first = tune(kw, small_norm, "--out", "bundle", *SHORT)
    begin = time.monotonic()
    second = tune(kw, small_norm, "--out", "bundle", *SHORT)
    assert time.monotonic() - begin < 2
    assert comparable(second) == comparable(first)
    other = tune(kw, small_norm, "--seed", "1", *SHORT)
    assert other["run"] != first["run"]


def test_lost_artifacts_are_made_again(kw, small_norm):
    first = tune(kw, small_norm, *SHORT)
    os.remove(first["candidates"][0]["hsaco"])
    second = tune(kw, small_norm, *SHORT)
    assert comparable(second) == comparable(first)
    assert os.path.exists(second["candidates"][0]["hsaco"])


@pytest.mark.parametrize("what", ["hsaco", "manifest"])
@pytest.mark.parametrize("data", [b"junk", b"", None], ids=["junk", "empty", "one bit"])
def test_damaged_artifacts_are_made_again(kw, small_norm, what, data):
    first = tune(kw, small_norm, *SHORT)
    path = first["candidates"][0][what]
    whole = open(path, "rb").read()
    with open(path, "wb") as file:
        file.write(bytes([whole[0] ^ 1]) + whole[1:] if data is None else data)
    second = tune(kw, small_norm, "--out", "bundle", *SHORT)
    assert comparable(second) == comparable(first)
    assert open(path, "rb").read() == whole
    assert kw("check-bundle", "bundle").status == 0


def test_a_damaged_artifact_is_no_answer_to_another_run(kw, small_norm):
    best = tune(kw, small_norm, *SHORT)["candidates"][0]
    with open(best["hsaco"], "wb") as file:
        file.write(b"junk")
    other = tune(kw, small_norm, "--seed", "1", *SHORT)
    assert best["hsaco"] in [candidate["hsaco"] for candidate in other["candidates"]]
    assert kw("validate", best["manifest"]).status == 0


def test_a_compiled_kernel_serves_other_sizes(kw):
    tune(kw, "rmsnorm rows=8 cols=512", *SHORT)
    document = tune(kw, "rmsnorm rows=9 cols=512", *SHORT)
    best = document["candidates"][0]
    assert json.load(open(best["manifest"]))["problem"] == "rmsnorm rows=9 cols=512 dtype=bf16"
    assert kw("validate", best["manifest"]).status == 0


@pytest.mark.parametrize("strategy", ["random", "evolutionary"])
def test_strategies_repeat_with_their_seed(kw, small_gemm, strategy):
    options = ["--strategy", strategy, "--budget", "20evals", "--top", "2", "--json", "--quiet"]
    one = tune(kw, small_gemm, "--db", "a.db", "--jobs", "1", *options)
    two = tune(kw, small_gemm, "--db", "b.db", "--jobs", "3", *options)
    schedules = [[c["schedule"] for c in document["candidates"]] for document in (one, two)]
    assert schedules[0] == schedules[1]
    assert one["trials"] == two["trials"]


def test_the_model_alone(kw, small_gemm):
    document = tune(kw, small_gemm, "--rungs", "model", *SHORT)
    assert [c["source"] for c in document["candidates"]] == ["model"] * 3
    assert all(c["hsaco"] is None and c["validated"] is False for c in document["candidates"])
    assert document["trials"]["compiled"] == 0
    estimate = kw("estimate", small_gemm, "--json").json()
    assert document["candidates"][0]["schedule"] == estimate["schedule"]


def calibration_file(kw, name, log=None):
    """The shipped constants; a correction of our own kernels by exp(log), or none at all."""
    constants = {"target": "gfx950", "values": {"launch": 1.3e-6, "barrier": 80}}
    document = {"format": "kw-calibration", "version": 1, "constants": constants, "families": {}}
    if log is not None:
        trees = {"roots": [0], "input": [0], "threshold": [0], "left": [-1], "right": [-1], "leaves": [0.1]}
        unseen = {"any": {"log": log, "half_width": 0.3}, "by_dtype": {}}
        document["families"]["gemm"] = {
            "inputs": ["log_us"], "effects": [], "trees": trees, "width_trees": trees,
            "width_by_rows": {"log_rows": [], "scale": [1]}, "generators": {}, "unseen": unseen,
        }  # fmt: skip
    (kw.folder / name).write_text(json.dumps(document))
    return name


@pytest.mark.parametrize("calibration", ["shipped", "none", "mine.json"])
@pytest.mark.parametrize("generator", ["kw", "triton"])
def test_times_are_those_of_kw_estimate(kw, small_gemm, calibration, generator):
    calibration_file(kw, "mine.json", 0.25)
    options = ["--calibration", calibration, "--generator", generator, "--json"]
    document = tune(kw, small_gemm, "--rungs", "model", "--top", "4", "--quiet", *options)
    assert document["calibration"]["name"] == calibration
    best = kw("estimate", small_gemm, *options).json()
    assert best["calibration"]["name"] == calibration
    assert document["candidates"][0]["schedule"] == best["schedule"]
    for candidate in document["candidates"]:
        one = kw("estimate", small_gemm, "--schedule", candidate["schedule"], *options).json()
        assert one["time_us"] == candidate["time_us"]
        assert one["interval_us"] == candidate["interval_us"]


def test_the_correction_changes_no_rank(kw, small_gemm):
    ranks = []
    for log in (None, 0.3, -0.3):
        name = calibration_file(kw, f"{log}.json", log)
        options = ["--rungs", "model", "--budget", "200evals", "--top", "200", "--calibration", name]
        document = tune(kw, small_gemm, *options, "--json", "--quiet")
        ranks.append([c["schedule"] for c in document["candidates"]])
        times = [c["time_us"] for c in document["candidates"]]
        assert times == sorted(times)
    assert len(ranks[0]) == 200
    assert ranks[0] == ranks[1] == ranks[2]


def test_a_run_keeps_its_calibration(kw, small_gemm):
    mine = calibration_file(kw, "mine.json", 0.25)
    options = ["--calibration", mine, *SHORT]
    first = tune(kw, small_gemm, *options)
    assert comparable(tune(kw, small_gemm, *options)) == comparable(first)
    plain = tune(kw, small_gemm, *SHORT)
    calibration_file(kw, mine, 0.5)
    other = tune(kw, small_gemm, *options)
    assert len({first["run"], plain["run"], other["run"]}) == 3
    assert other["candidates"][0]["time_us"] > 1.2 * first["candidates"][0]["time_us"]
    # The run that was begun with the old file goes on with what that said, and without it.
    (kw.folder / mine).unlink()
    database = sqlite3.connect(kw.folder / "kw.db")
    database.execute("UPDATE run SET state = 'running', document = NULL WHERE id = ?", (first["run"],))
    database.commit()
    database.close()
    resumed = kw("resume", first["run"], "--json", "--quiet").json()
    assert comparable(resumed) == comparable(first)


def test_a_calibration_that_is_none(kw, small_gemm):
    answer = kw("tune", small_gemm, "--calibration", "nowhere.json")
    assert answer.status == 2
    answer.one_line_error("nowhere.json")
    assert not (kw.folder / "kw.db").exists()


def test_a_time_budget(kw, small_norm):
    document = tune(kw, small_norm, "--budget", "2s", "--top", "2", "--json", "--quiet")
    assert document["candidates"]


def test_suite(kw, small_norm):
    (kw.folder / "suite.txt").write_text(
        f"# two\n{small_norm}\ngemm m=4 n=4 k=4 dtype=fp8\nrmsnorm rows=3 cols=1024\n"
    )
    documents = tune(kw, "--suite", "suite.txt", "--out", "bundle", *SHORT, status=2)
    assert [("error" in document) for document in documents] == [False, True, False]
    kernels = json.load(open(kw.folder / "bundle" / "kernels" / "kernels.json"))
    assert len(kernels["kernels"] if isinstance(kernels, dict) else kernels) == 2


def test_a_kernel_that_is_best_twice_is_exported_once(kw):
    (kw.folder / "suite.txt").write_text("rmsnorm rows=8 cols=512\nrmsnorm rows=9 cols=512\n")
    documents = tune(kw, "--suite", "suite.txt", "--out", "bundle", *SHORT)
    hsaco = {document["candidates"][0]["hsaco"] for document in documents}
    assert len(list((kw.folder / "bundle" / "kernels").glob("*.hsaco"))) == len(hsaco)
    assert kw("check-bundle", "bundle").status == 0


def test_nothing_legal(kw):
    answer = kw("tune", "gemm m=16 n=2000000000 k=64", "--json", "--quiet")
    assert answer.status == 3
    answer.one_line_error("nothing is legal")


def test_progress_goes_to_stderr(kw, small_norm):
    answer = kw("tune", small_norm, "--budget", "4evals", "--top", "1", "--json")
    assert "validating" in answer.err and "\r" not in answer.err
    answer.json()


def test_runs_show_and_export(kw, small_norm, small_gemm):
    norm = tune(kw, small_norm, *SHORT)
    gemm = tune(kw, small_gemm, *SHORT)
    runs = kw("runs", "--json").json()
    assert {run["run"] for run in runs} == {norm["run"], gemm["run"]}
    assert all(run["state"] == "done" and run["best"]["source"] for run in runs)
    shown = kw("show", norm["run"][:6], "--json").json()
    assert comparable(shown["result"]) == comparable(norm)
    assert len(shown["trials"]) == sum(
        [norm["trials"]["compiled"], norm["trials"]["validated"]]
    ) + sum(norm["trials"]["failed"].values())
    for how in ([small_norm, *small_gemm.split()], ["--run", gemm["run"]]):
        document = kw("export", "inductor", "--out", "exported", *how, "--json").json()
        assert document["bundle"] == str(kw.folder / "exported")
        assert all(kernel["source"] for kernel in document["kernels"])
        assert kw("check-bundle", "exported").status == 0
    resumed = kw("resume", norm["run"], "--quiet", "--json").json()
    assert comparable(resumed) == comparable(norm)


def test_model_only_runs_are_not_exported(kw, small_norm):
    run = tune(kw, small_norm, "--rungs", "model", *SHORT)["run"]
    answer = kw("export", "inductor", "--out", "exported", "--run", run, "--json")
    assert answer.status == 2
    answer.one_line_error("model alone")
    assert not (kw.folder / "exported").exists()


def test_given_schedules_instead_of_a_search(kw):
    problem = "gemm m=32 n=48 k=512 dtype=bf16 b=nk"
    tile = "gemm.1:tile=32x64x64,waves=1x4,xcd=0,group=1"
    given = [tile, tile + ",splitk=4,reduce=atomic"]
    options = [word for text in given for word in ("--schedule", text)]
    document = tune(kw, problem, *options, "--json", "--out", "bundle")
    assert document["strategy"] == "given" and document["space"]["estimated"] == 2
    assert {candidate["schedule"] for candidate in document["candidates"]} == set(given)
    assert kw("check-bundle", "bundle").status == 0
    assert tune(kw, problem, *options, "--json", "--out", "bundle")["run"] == document["run"]
    assert tune(kw, problem, "--schedule", tile, "--json")["run"] != document["run"]
    assert json.loads(kw("resume", document["run"], "--json").out)["run"] == document["run"]


def test_one_kernel_for_several_m(kw):
    """A suite has problems that differ in m alone; where one schedule wins all, its code object is
    one file with a row for each."""
    problems = [f"gemm m={m} n=64 k=64 dtype=bf16 b=nk" for m in (17, 20, 32)]
    given = "gemm.1:tile=32x64x64,waves=1x1,xcd=0,group=1"
    for problem in problems:
        tune(kw, problem, "--schedule", given, "--json")
    assert kw("export", "inductor", *problems, "--out", "out").status == 0
    assert len(list((kw.folder / "out" / "kernels").glob("*.hsaco"))) == 1
    rows = json.load(open(kw.folder / "out" / "kernels" / "kernels.json"))["kernels"]
    assert [row["problem"] for row in rows] == problems
    answer = kw("check-bundle", "out", "--json")
    assert answer.json()["ok"] and answer.json()["kernels"] == 3


@pytest.mark.parametrize("key", ["compiler", "model", "validator"])
def test_runs_of_another_version_are_not_exported(kw, small_norm, key):
    """What this program writes into a bundle it must be able to prove."""
    run = tune(kw, small_norm, *SHORT)["run"]
    with sqlite3.connect(kw.folder / "kw.db") as store:
        (text,) = store.execute("SELECT document FROM run WHERE id = ?", (run,)).fetchone()
        document = json.loads(text)
        document["versions"][key] = "before"
        store.execute("UPDATE run SET document = ? WHERE id = ?", (json.dumps(document), run))
    for subject in ([small_norm], ["--run", run]):
        answer = kw("export", "inductor", "--out", "out", *subject)
        assert answer.status == 2
        answer.one_line_error("earlier version" if subject[0] == "--run" else "no finished run")
    assert not (kw.folder / "out" / "bundle.json").exists()


DOCUMENTS = ["{}", '{"candidates": []}', '{"candidates": [{}]}', "[1, 2]", "7", "x", "null", ""]
VALUES = ["{}", "[]", "7", "x", '{"vgpr": "a"}', '{"max_rel": "a"}']


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_damaged_document_is_no_run(kw, small_norm, document):
    """JSON in a store is a file's content: it may be anything. The same call makes it again."""
    run = tune(kw, small_norm, *SHORT)
    with sqlite3.connect(kw.folder / "kw.db") as store:
        store.execute("UPDATE run SET document = ?", (document,))
    assert kw("runs", "--json").json()[0]["best"] is None
    assert kw("show", run["run"], "--json").json()["result"] is None
    kw("export", "inductor", small_norm, "--out", "out").one_line_error("no finished run")
    again = tune(kw, small_norm, *SHORT)
    assert [c["schedule"] for c in again["candidates"]] == [c["schedule"] for c in run["candidates"]]


@pytest.mark.parametrize("value", VALUES)
def test_a_damaged_result_is_made_again(kw, small_norm, value):
    run = tune(kw, small_norm, *SHORT)
    with sqlite3.connect(kw.folder / "kw.db") as store:
        store.execute("UPDATE result SET value = ?", (value,))
        store.execute("UPDATE run SET document = ''")
    again = tune(kw, small_norm, *SHORT, "--out", "bundle")
    assert [c["schedule"] for c in again["candidates"]] == [c["schedule"] for c in run["candidates"]]
    assert kw("check-bundle", "bundle").status == 0


def test_a_damaged_spec(kw, small_norm):
    run = tune(kw, small_norm, *SHORT)["run"]
    for spec in ("{}", "[]", "x", ""):
        with sqlite3.connect(kw.folder / "kw.db") as store:
            store.execute("UPDATE run SET spec = ?", (spec,))
        assert kw("show", run, "--json").json()["run"] == run
        answer = kw("resume", run)
        assert answer.status == 2 and len(answer.err.splitlines()) == 1
