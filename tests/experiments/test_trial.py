# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kw trial: JSON lines in, one line out for each, whatever happens."""

import json
import os


def ask(kw, *requests):
    lines = [line if isinstance(line, str) else json.dumps(line) for line in requests]
    answer = kw("trial", input="\n".join(lines) + "\n")
    assert answer.status == 0, answer.err
    answers = [json.loads(line) for line in answer.out.splitlines()]
    assert len(answers) == len(requests)
    return answers


def trial(problem, schedule, **more):
    return {"id": 1, "problem": problem, "schedule": schedule, "target": "gfx950", **more}


def test_climbs_the_rungs(kw, small_norm):
    rungs = ["model", "compiled", "validated"]
    (answer,) = ask(kw, trial(small_norm, "rmsnorm.1:", id={"a": [1]}, rungs=rungs, seed=3))
    assert answer["id"] == {"a": [1]}
    assert answer["state"] == "ok" and answer["error"] is None
    assert list(answer["rungs"]) == rungs
    assert answer["rungs"]["model"]["source"] == "model"
    assert answer["rungs"]["compiled"]["vgpr"] > 0
    assert answer["rungs"]["validated"]["ok"] is True
    assert os.path.isabs(answer["hsaco"]) and os.path.exists(answer["hsaco"])


def test_is_idempotent(kw, small_norm):
    request = trial(small_norm, "rmsnorm.1:", rungs=["compiled"])
    first, second = ask(kw, request, request)
    for answer in (first, second):
        del answer["rungs"]["compiled"]["compile_ms"]
    assert first == second


def test_states(kw, small_norm):
    answers = ask(
        kw,
        trial(small_norm, "rmsnorm.1:waves=16,rows=16"),
        trial(small_norm, "gemm.1:"),
        trial("gemm m=1", "gemm.1:"),
        trial(small_norm, "rmsnorm.1:", rungs=["simulated"]),
        "this is not JSON",
        {"id": 7},
        trial(small_norm, "rmsnorm.1:", rungs=["compiled"]),
    )
    assert [answer["state"] for answer in answers] == [
        "illegal", "illegal", "failed", "failed", "failed", "failed", "ok",
    ]  # fmt: skip
    assert all(answer["error"] for answer in answers[:-1])
    assert all("\n" not in answer["error"] for answer in answers[:-1])


BAD_FIELDS = [
    {"rungs": ["foo"]},
    {"rungs": "model"},
    {"seed": -1},
    {"seed": 1 << 70},
    {"target": 3},
    {"limits": []},
    {"limits": {"seconds": -1}},
    {"problem": None},
    {"colour": 2},
]


def test_a_refused_line_keeps_its_id(kw, small_norm):
    identifiers = [7, "seven", {"a": [1, None]}, [], 1.5, False, 1 << 63, "\u00e9", None]
    requests = [
        {**trial(small_norm, "rmsnorm.1:"), **fields, "id": identifier}
        for fields, identifier in zip(BAD_FIELDS, identifiers, strict=True)
    ]
    missing = {"id": 8, "schedule": "rmsnorm.1:"}
    answers = ask(kw, *requests, missing, {"seed": -1}, [{"id": 1}], "{", "\xff", '{"id": 1e999}')
    assert [answer["id"] for answer in answers] == [*identifiers, 8] + 5 * [None]
    assert all(answer["state"] == "failed" and answer["error"] for answer in answers)


def test_limits(kw, small_norm):
    timed_out, crashed, well = ask(
        kw,
        trial(small_norm, "rmsnorm.1:", limits={"seconds": 0.001}),
        trial(small_norm, "rmsnorm.1:", limits={"seconds": 60, "memory_mb": 64}),
        trial(small_norm, "rmsnorm.1:", rungs=["compiled"]),
    )
    assert timed_out["state"] == "timeout"
    assert crashed["state"] in ("crashed", "failed", "compile_failed")
    assert well["state"] == "ok", "the process was replaced"


def test_nothing_to_do(kw):
    answer = kw("trial", input="\n\n")
    assert answer.status == 0 and answer.out == ""
