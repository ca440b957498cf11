# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bad input: one clear line on stderr, one document with --json, the right exit status."""

import json
import os
import resource
import sqlite3

import pytest


def refused(answer, *parts, status=2):
    assert answer.status == status, answer
    message = answer.one_line_error(*parts)
    if answer.out:
        assert answer.json()["error"]["message"] == message.removeprefix("kw: ")
    return message


PROBLEMS = {
    "no problem": ("", []),
    "unknown family": ("conv m=1", ["conv"]),
    "known family to come": ("attention b=1", ["attention"]),
    "unknown key": ("gemm m=1 n=1 k=1 colour=2", ["colour"]),
    "missing key": ("gemm m=1 n=1", ["k"]),
    "repeated key": ("gemm m=1 m=2 n=1 k=1", ["m"]),
    "zero": ("gemm m=0 n=1 k=1", ["m"]),
    "negative": ("gemm m=-5 n=1 k=1", ["m"]),
    "2^31": ("gemm m=2147483648 n=1 k=1", ["m"]),
    "2^63": ("gemm m=1 n=9223372036854775808 k=1", ["n"]),
    "2^100": ("rmsnorm rows=1267650600228229401496703205376 cols=1", ["rows"]),
    "not a number": ("gemm m=four n=1 k=1", ["m"]),
    "unknown type": ("gemm m=1 n=1 k=1 dtype=bf17", ["dtype", "bf17", "bf16"]),
    "unknown order": ("gemm m=1 n=1 k=1 a=nn", ["a"]),
    "contradictory order": ("gemm m=64 n=64 k=64 a=mk lda=8", ["lda"]),
    "no value": ("gemm m= n=1 k=1", ["m"]),
    "no key": ("gemm m=1 n=1 k=1 =3", []),
}


@pytest.mark.parametrize("case", PROBLEMS)
@pytest.mark.parametrize("command", ["space", "estimate", "compile", "tune"])
def test_problems(kw, case, command):
    text, parts = PROBLEMS[case]
    more = ["-o", "out"] if command == "compile" else []
    refused(kw(command, text, *more, "--json"), *parts)
    assert not (kw.folder / "out").exists()


SCHEDULES = {
    "empty": ("", []),
    "unknown family": ("conv.1:", ["conv"]),
    "unknown version": ("gemm.9:", ["9"]),
    "unknown key": ("gemm.1:colour=2", ["colour"]),
    "unknown value": ("gemm.1:schedule=random", ["schedule"]),
    "repeated key": ("gemm.1:stages=1,stages=2", ["stages"]),
    "another family": ("rmsnorm.1:", ["rmsnorm"]),
    "illegal": ("gemm.1:tile=256x256x64,waves=2x4,stages=3", ["not legal"]),
}


@pytest.mark.parametrize("case", SCHEDULES)
@pytest.mark.parametrize("command", ["estimate", "compile"])
def test_schedules(kw, case, command):
    text, parts = SCHEDULES[case]
    more = ["-o", "out"] if command == "compile" else []
    problem = "gemm m=4096 n=4096 k=4096 dtype=bf16 b=nk"
    refused(kw(command, problem, "--schedule", text, *more, "--json"), *parts)


def test_explaining_an_unknown_schedule(kw, small_gemm):
    refused(kw("space", small_gemm, "--explain", "what", "--json"))
    refused(kw("space", small_gemm, "--explain", "", "--json"))


USAGE = {
    "no command": ([], ["expected one of the commands"]),
    "unknown command": (["fly"], ["expected one of the commands"]),
    "unknown option": (["targets", "--fast"], ["--fast"]),
    "option without value": (["targets", "--seed"], ["--seed"]),
    "bad number": (["targets", "--jobs", "many"], ["--jobs"]),
    "no jobs": (["targets", "--jobs", "0"], ["--jobs"]),
    "negative seed": (["targets", "--seed=-1"], ["--seed"]),
    "unknown target": (["space", "gemm m=1 n=1 k=1", "--target", "sm90"], ["sm90", "gfx950"]),
    "unknown generator": (["space", "gemm m=1 n=1 k=1", "--generator", "x"], ["accepted: kw triton"]),
    "generator to come": (["space", "gemm m=1 n=1 k=1", "--generator", "flydsl"], ["not available"]),
    "unknown strategy": (["tune", "gemm m=1 n=1 k=1", "--strategy", "luck"], ["exhaustive"]),
    "bad budget": (["tune", "gemm m=1 n=1 k=1", "--budget", "lots"], ["500evals"]),
    "no rung": (["tune", "gemm m=1 n=1 k=1", "--rungs", ""], ["rung ''", "compiled"]),
    "no last rung": (["tune", "gemm m=1 n=1 k=1", "--rungs", "model,"], ["rung ''"]),
    "no folder to tune into": (["tune", "gemm m=1 n=1 k=1", "--out", ""], ["--out", "empty"]),
    "no folder to compile into": (["compile", "gemm m=1 n=1 k=1", "-o", ""], ["--out", "empty"]),
    "no folder to export to": (["export", "inductor", "--out", "", "--run", "a"], ["--out", "empty"]),
    "no budget": (["tune", "gemm m=1 n=1 k=1", "--budget", "0s"], ["500evals"]),
    "no candidates": (["tune", "gemm m=1 n=1 k=1", "--top", "0"], ["--top"]),
    "unknown rung": (["tune", "gemm m=1 n=1 k=1", "--rungs", "model,fast"], ["fast"]),
    "unknown device": (["tune", "gemm m=1 n=1 k=1", "--device", "abacus"], ["emulated"]),
    "no store to write": (["tune", "gemm m=1 n=1 k=1", "--db", ""], ["--db", "empty"]),
    "no store to read": (["runs", "--db", ""], ["--db", "empty"]),
    "no such schedule": (["tune", "gemm m=1 n=1 k=1", "--schedule", "fast"], ["fast", "gemm.1"]),
    "an empty schedule": (["tune", "gemm m=1 n=1 k=1", "--schedule", ""], ["empty schedule"]),
    "an illegal schedule": (["tune", "gemm m=1 n=1 k=1", "--schedule", "gemm.1:"], ["not legal"]),
    "of another family": (["tune", "gemm m=1 n=1 k=1", "--schedule", "rmsnorm.1:"], ["not legal", "family"]),
    "given and searched": (
        ["tune", "gemm m=1 n=1 k=1", "--schedule", "gemm.1:", "--strategy", "random"], ["one of them"]),
    "a schedule for a suite": (["tune", "--suite", "x", "--schedule", "gemm.1:"], ["not for a suite"]),
    "problem and suite": (["tune", "gemm m=1 n=1 k=1", "--suite", "x"], ["not both"]),
    "no suite": (["tune", "--suite", "none.txt"], ["none.txt"]),
    "compile without folder": (["compile", "gemm m=1 n=1 k=1"], ["--out"]),
    "unknown stage": (["compile", "gemm m=1 n=1 k=1", "-o", "o", "--emit", "ptx"], ["ptx", "isa"]),
    "unknown export": (["export", "onnx", "--out", "o", "gemm m=1 n=1 k=1"], ["inductor"]),
    "no schedules file": (["estimate", "gemm m=1 n=1 k=1", "--schedules", "none"], ["none"]),
    "no manifest": (["validate", "none.json"], ["none.json"]),
    "no manifest to launch": (["launch", "none.json"], ["none.json"]),
    "no bundle": (["check-bundle", "none"], ["none"]),
    "an order of sums": (
        ["validate", "x.json", "--matrix-sums", "foo"], ["--matrix-sums", "'foo': expected ordered or grouped"]),
    "an order of sums by number": (
        ["launch", "x.json", "--matrix-sums", "0"], ["--matrix-sums", "expected ordered or grouped"]),
}  # fmt: skip


@pytest.mark.parametrize("case", USAGE)
def test_usage(kw, case):
    arguments, parts = USAGE[case]
    refused(kw(*arguments), *parts)
    refused(kw(*arguments, "--json"), *parts)


@pytest.mark.parametrize("order", ["ordered", "grouped"])
def test_orders_of_sums_are_accepted(kw, order):
    refused(kw("launch", "none.json", "--matrix-sums", order), "none.json")


@pytest.mark.parametrize("what", ["gemm m=1 n=1 k=1", "--suite"])
@pytest.mark.parametrize("schedule", [[], ["--schedule", "gemm.1:tile=16x16x32,waves=1x1"]])
def test_no_kernel_to_export(kw, what, schedule):
    """Known before anything is begun: no store, no folder."""
    if what == "--suite":
        if schedule:
            pytest.skip("a schedule is for one problem")
        (kw.folder / "suite.txt").write_text("gemm m=1 n=1 k=1\n")
    words = [what, "suite.txt"] if what == "--suite" else [what]
    answer = kw("tune", *words, *schedule, "--rungs", "model", "--out", "bundle", "--json")
    refused(answer, "--out", "no kernel to export", "model,compiled")
    assert {path.name for path in kw.folder.iterdir()} <= {"suite.txt"}


BUNDLE_FILES = [".", "bundle.json", "kernels", "kernels/kernels.json"]


@pytest.mark.parametrize("command", ["validate", "mutate", "launch", "measure"])
@pytest.mark.parametrize("file", BUNDLE_FILES)
def test_a_bundle_is_no_manifest(kw, command, file):
    (kw.folder / "bundle" / "kernels").mkdir(parents=True)
    for name in ("bundle.json", "kernels/kernels.json"):
        (kw.folder / "bundle" / name).write_text("{}")
    refused(kw(command, f"bundle/{file}", "--json"), "kw check-bundle")


@pytest.mark.parametrize("value", ["nan", "-nan", "inf", "-inf", "-1", "0", "1e400", "1s", ""])
def test_trial_seconds(kw, small_norm, value):
    refused(kw("tune", small_norm, "--trial-seconds", value), "--trial-seconds", "from 0.001")
    assert list(kw.folder.iterdir()) == [], "refused before anything is begun"


@pytest.mark.parametrize("value", ["-1", "1000000000000000000000", "99999999999999999999", "1e3", ""])
def test_whole_numbers(kw, small_norm, value):
    refused(kw("space", small_norm, "--list", value), "--list", "whole number")
    refused(kw("targets", "--seed", value), "--seed", "whole number")


def test_given_schedules_that_cannot_be_meant(kw):
    problem = "gemm m=32 n=48 k=512 dtype=bf16 b=nk"
    given = "gemm.1:tile=32x64x64,waves=1x4,xcd=0,group=1,splitk=4"
    refused(kw("tune", problem, "--schedule", given, "--schedule", given), "given twice")
    atomic = given + ",reduce=atomic"
    refused(kw("tune", problem, "--schedule", atomic, "--deterministic"), "depends on timing")
    refused(kw("tune", problem, "--schedule", given, "--generator", "triton"), "generator triton")
    assert list(kw.folder.iterdir()) == [], "refused before anything is begun"


@pytest.mark.parametrize("problem, reason", [
    ("gemm m=16 n=2000000000 k=64", "addressRange removed the last"),
])  # fmt: skip
def test_the_rule_that_leaves_nothing_is_named(kw, problem, reason):
    """Not the one that removed most: each problem has many tiles that are too large for it."""
    answer = kw("estimate", problem)
    assert answer.status == 3
    answer.one_line_error(reason)


class TestTargetsWithoutACompilerOrEmulator:
    OPTIONS = ["--target", "gfx942", "--json"]

    def test_tune(self, kw, small_norm, small_gemm):
        (kw.folder / "suite.txt").write_text(f"{small_gemm}\n{small_norm}\n")
        for subject in ([small_gemm], [small_norm], ["--suite", "suite.txt"]):
            for rungs in ([], ["--rungs", "compiled"], ["--rungs", "validated"]):
                refused(kw("tune", *subject, *rungs, *self.OPTIONS), "gfx942", "expected gfx950;")
        assert not (kw.folder / "kw.db").exists(), "refused before anything is begun"

    def test_the_model_alone(self, kw, small_norm, small_gemm):
        for problem in (small_norm, small_gemm):
            answer = kw("tune", problem, "--rungs", "model", "--quiet", *self.OPTIONS)
            assert answer.status == 0 and answer.json()["candidates"], answer.err

    def test_compile(self, kw, small_norm):
        refused(kw("compile", small_norm, "-o", "out", *self.OPTIONS), "gfx942", "expected gfx950;")
        assert not (kw.folder / "out").exists()

    def test_trial(self, kw, small_norm):
        request = {"id": 1, "problem": small_norm, "schedule": "rmsnorm.1:", "target": "gfx942"}
        answer = json.loads(kw("trial", input=json.dumps(request) + "\n").out)
        assert answer["state"] == "compile_failed" and "gfx950" in answer["error"]


def test_suites(kw):
    (kw.folder / "empty.txt").write_text("# nothing\n")
    refused(kw("tune", "--suite", "empty.txt"), "empty.txt")
    (kw.folder / "bad.txt").write_text("# head\nrmsnorm rows=1 cols=512\ngemm m=1\n")
    refused(kw("tune", "--suite", "bad.txt"), "bad.txt:3")
    assert not (kw.folder / "kw.db").exists(), "refused before anything is begun"


@pytest.fixture
def compiled(kw, small_norm):
    return kw("compile", small_norm, "-o", "out", "--json").json()


@pytest.mark.parametrize("command", ["validate", "launch"])
class TestCodeObjects:
    def damage(self, kw, compiled, command, data):
        with open(compiled["hsaco"], "wb") as file:
            file.write(data)
        return kw(command, compiled["manifest"], "--json")

    def test_truncated(self, kw, compiled, command):
        data = open(compiled["hsaco"], "rb").read()
        for length in (0, 3, 64, 1000, len(data) // 2, len(data) - 100):
            refused(self.damage(kw, compiled, command, data[:length]))

    def test_foreign(self, kw, compiled, command):
        refused(self.damage(kw, compiled, command, b"not an object at all\n" * 100))
        refused(self.damage(kw, compiled, command, open("/bin/true", "rb").read()))

    def test_missing(self, kw, compiled, command):
        os.remove(compiled["hsaco"])
        refused(kw(command, compiled["manifest"], "--json"), os.path.basename(compiled["hsaco"]))

    def test_not_json(self, kw, compiled, command):
        for text in ("", "{", "[]", "null", '"text"', "\xff\xfe"):
            (kw.folder / "m.json").write_text(text, encoding="latin-1")
            refused(kw(command, "m.json", "--json"), "m.json")

    def test_missing_keys(self, kw, compiled, command):
        manifest = json.load(open(compiled["manifest"]))
        for key in ("code_object", "buffers", "launches"):
            less = {name: value for name, value in manifest.items() if name != key}
            (kw.folder / "out" / "less.json").write_text(json.dumps(less))
            refused(kw(command, "out/less.json", "--json"), "less.json")

    def test_unknown_kernel(self, kw, compiled, command):
        manifest = json.load(open(compiled["manifest"]))
        manifest["launches"][0]["kernel"] = "somebody_else"
        (kw.folder / "out" / "other.json").write_text(json.dumps(manifest))
        refused(kw(command, "out/other.json", "--json"), "somebody_else")

    def test_several_or_none_in_a_folder(self, kw, compiled, command):
        (kw.folder / "none").mkdir()
        refused(kw(command, "none", "--json"), "no manifest")
        (kw.folder / "out" / "b.json").write_text("{}")
        refused(kw(command, "out", "--json"), "b.json")


def test_launch_of_missing_input_file(kw, compiled):
    manifest = json.load(open(compiled["manifest"]))
    manifest["buffers"]["x"]["init"] = {"file": "x.bin"}
    (kw.folder / "out" / "m.json").write_text(json.dumps(manifest))
    refused(kw("launch", "out/m.json", "--json"), "x.bin")


def test_validate_without_a_problem(kw, compiled):
    manifest = json.load(open(compiled["manifest"]))
    del manifest["problem"]
    (kw.folder / "out" / "m.json").write_text(json.dumps(manifest))
    refused(kw("validate", "out/m.json", "--json"), "problem")


@pytest.mark.parametrize("place", ["file/sub", "/proc/kw-out"])
@pytest.mark.parametrize("command", ["compile", "tune"])
def test_folders_that_cannot_be_written(kw, small_norm, command, place):
    (kw.folder / "file").write_text("x")
    option = "-o" if command == "compile" else "--out"
    refused(kw(command, small_norm, option, place, "--json"), place.split("/")[-2] or "proc")


def test_read_only_folder(kw, small_norm):
    # Root writes everywhere unless it gives up the capability.
    capabilities = "-dac_override,-dac_read_search"
    prefix = ["setpriv", "--bounding-set", capabilities] if os.geteuid() == 0 else []
    (kw.folder / "locked").mkdir(mode=0o555)
    for arguments in (
        ["compile", small_norm, "-o", "locked"],
        ["compile", small_norm, "-o", "locked/sub"],
        ["tune", small_norm, "--out", "locked"],
        ["tune", small_norm, "--db", "locked/kw.db"],
    ):
        answer = kw(*arguments, "--json", prefix=prefix)
        refused(answer, "locked", "Permission denied")
    assert list((kw.folder / "locked").iterdir()) == []


def limit_file_size():
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


def test_a_disk_that_is_full(kw, small_norm):
    """A limit on the size of files stands for it."""
    answer = kw("compile", small_norm, "-o", "out", preexec_fn=limit_file_size)
    refused(answer, status=1)
    assert list((kw.folder / "out").glob("*")) == []


def test_stdout_that_is_full(kw):
    import subprocess

    with open("/dev/full", "w") as full:
        completed = subprocess.run(
            [kw.program, "targets", "--json"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert completed.returncode == 1
    assert completed.stderr.count("\n") == 1 and "stdout" in completed.stderr


class TestStores:
    def test_none(self, kw):
        for command in (["runs"], ["show", "x"], ["resume", "x"]):
            refused(kw(*command, "--json"), "kw.db")
        assert list(kw.folder.iterdir()) == [], "reading makes nothing"

    @pytest.mark.parametrize("command", ["runs", "tune"])
    def test_no_database(self, kw, small_norm, command):
        text = "this is a text file, not a database\n" * 100
        (kw.folder / "kw.db").write_text(text)
        more = [small_norm] if command == "tune" else []
        refused(kw(command, *more, "--json"), "kw.db", "not a database")
        assert (kw.folder / "kw.db").read_text() == text

    @pytest.mark.parametrize("command", ["runs", "tune"])
    def test_another_programs(self, kw, small_norm, command):
        with sqlite3.connect(kw.folder / "kw.db") as database:
            database.execute("CREATE TABLE customers (name TEXT)")
        more = [small_norm] if command == "tune" else []
        refused(kw(command, *more, "--json"), "another program")

    @pytest.mark.parametrize("command", ["runs", "tune"])
    def test_another_version(self, kw, small_norm, command):
        assert kw("tune", small_norm, "--rungs", "model", "--quiet").status == 0
        database = sqlite3.connect(kw.folder / "kw.db")
        database.execute("PRAGMA user_version = 99")
        database.close()
        more = [small_norm] if command == "tune" else []
        refused(kw(command, *more, "--json"), "version 99")

    def test_a_folder(self, kw, small_norm):
        refused(kw("tune", small_norm, "--db", ".", "--json"), "folder")

    def test_unknown_run(self, kw, small_norm):
        assert kw("tune", small_norm, "--rungs", "model", "--quiet").status == 0
        for command in ("show", "resume"):
            refused(kw(command, "fedcba", "--json"), "fedcba")
        refused(kw("export", "inductor", "--out", "o", "--run", "fedcba", "--json"), "fedcba")

    def test_problem_that_was_never_tuned(self, kw, small_norm, small_gemm):
        assert kw("tune", small_norm, "--rungs", "model", "--quiet").status == 0
        refused(kw("export", "inductor", "--out", "o", small_gemm, "--json"), "no finished run")
