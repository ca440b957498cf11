# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kw tune killed at random moments ends, made again, with what an undisturbed run finds."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import time

import pytest

OPTIONS = ["--budget", "32evals", "--top", "8", "--json", "--quiet"]


def start(kw, problem, db):
    return subprocess.Popen(
        [kw.program, "tune", problem, "--db", db, *OPTIONS],
        cwd=kw.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(word) for word in file.read().split()]


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def comparable(document):
    return {
        "candidates": [
            {key: value for key, value in candidate.items() if key not in ("hsaco", "manifest")}
            for candidate in document["candidates"]
        ],
        "trials": document["trials"],
        "space": document["space"],
        "run": document["run"],
    }


def check_store(path):
    database = sqlite3.connect(path)
    assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert database.execute("PRAGMA foreign_key_check").fetchall() == []
    database.close()


def kill_and_resume(kw, problem, kills, seed, how=signal.SIGKILL):
    begin = time.monotonic()
    whole = start(kw, problem, "whole.db")
    undisturbed = json.loads(whole.communicate()[0])
    length = time.monotonic() - begin
    moments = random.Random(seed)
    for _ in range(kills):
        process = start(kw, problem, "killed.db")
        time.sleep(moments.uniform(0, length))
        children = children_of(process.pid) if process.poll() is None else []
        process.send_signal(how)
        process.communicate()
        for child in children:
            for _ in range(100):
                if not is_running(child):
                    break
                time.sleep(0.05)
            assert not is_running(child), "trial processes end with kw"
        if os.path.exists(kw.folder / "killed.db"):
            check_store(kw.folder / "killed.db")
    final = start(kw, problem, "killed.db")
    out, err = final.communicate()
    assert final.returncode == 0, err
    assert comparable(json.loads(out)) == comparable(undisturbed)


def test_two_kills(kw, small_norm):
    kill_and_resume(kw, small_norm, kills=2, seed=time.time_ns())


@pytest.mark.slow
@pytest.mark.parametrize(
    "problem", ["rmsnorm rows=8 cols=512", "gemm m=64 n=96 k=128 dtype=bf16 b=nk"]
)
def test_ten_kills(kw, problem):
    kill_and_resume(kw, problem, kills=10, seed=time.time_ns())


def test_interrupt_keeps_what_is_done(kw, small_norm):
    process = start(kw, small_norm, "a.db")
    while process.poll() is None:
        time.sleep(0.05)
        if os.path.exists(kw.folder / "a.db.files") and len(os.listdir(kw.folder / "a.db.files")) > 8:
            process.send_signal(signal.SIGINT)
            break
    out, err = process.communicate()
    if process.returncode == 0:
        pytest.skip("finished before it could be interrupted")
    assert process.returncode == 1
    assert "resumes" in err and err.count("\n") == 1
    assert json.loads(out)["error"]["kind"] == "failed"
    (run,) = kw("runs", "--db", "a.db", "--json").json()
    assert run["state"] == "interrupted" and run["best"] is None
    before = kw("show", run["run"], "--db", "a.db", "--json").json()["trials"]
    assert before
    resumed = kw("resume", run["run"], "--db", "a.db", "--quiet", "--json")
    assert resumed.status == 0
    after = kw("show", run["run"], "--db", "a.db", "--json").json()["trials"]
    assert after[: len(before)] == before, "what was done is not done again"


def test_a_second_writer_is_told_who_holds_the_store(kw, small_norm):
    process = start(kw, small_norm, "a.db")
    try:
        while not os.path.exists(kw.folder / "a.db"):
            time.sleep(0.01)
        answer = kw("tune", small_norm, "--db", "a.db", "--seed", "9")
    finally:
        process.kill()
        process.communicate()
    assert answer.status == 1
    answer.one_line_error(str(process.pid))
