# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`kw check-bundle` finds lies in a bundle that was edited by hand, by a careful liar too: one who
makes the hashes of bundle.json fit what was edited."""

import copy
import hashlib
import json
import re
import shutil
import subprocess

import pytest


@pytest.fixture(scope="module")
def honest(kw_program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("honest")
    (folder / "suite.txt").write_text(
        "gemm m=32 n=32 k=64 dtype=bf16 b=nk\nrmsnorm rows=4 cols=64 dtype=bf16\n"
    )
    subprocess.run(
        [kw_program, "tune", "--suite", folder / "suite.txt", "--budget", "2evals", "--top", "1",
         "--quiet", "--db", folder / "kw.db", "--out", folder / "bundle"],
        check=True, capture_output=True,
    )  # fmt: skip
    return folder / "bundle"


@pytest.fixture
def bundle(honest, tmp_path):
    return shutil.copytree(honest, tmp_path / "bundle")


def check(kw, bundle):
    run = subprocess.run([kw, "check-bundle", bundle], capture_output=True, text=True)
    return run.returncode, run.stdout + run.stderr


def edit(path, change):
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document, indent=2))


def fit_hashes(bundle):
    def change(document):
        for name in document["files"]:
            document["files"][name] = hashlib.sha256((bundle / name).read_bytes()).hexdigest()

    edit(bundle / "bundle.json", change)


def test_an_honest_bundle_passes(kw_program, bundle):
    status, text = check(kw_program, bundle)
    assert status == 0, text


def test_the_loader_in_a_bundle_is_whole(bundle, root):
    """Every file of the package travels inside the program, which was built from these."""
    package = root / "experiments" / "inductor" / "kernelwright"
    files = {path.relative_to(package) for path in package.rglob("*.py")}
    assert {path.relative_to(bundle / "kernelwright") for path in (bundle / "kernelwright").rglob("*.py")} == files
    for name in files:
        assert (bundle / "kernelwright" / name).read_text() == (package / name).read_text(), name


def row(kernels):
    return kernels["kernels"][0]


ROW_LIES = {
    "k": (lambda k: row(k)["facts"].update(k=128), 'facts.k is 64, not 128'),
    "order": (lambda k: row(k)["facts"].update(b="kn"), 'facts.b is'),
    "guard removed": (lambda k: row(k)["guards"].pop(), 'guards is'),
    "guard loosened": (lambda k: row(k).update(guards=["m >= 1"]), 'guards is'),
    "grid": (lambda k: row(k)["launches"][0].update(grid=["1", "1", "1"]), 'launches[0].grid[0]'),
    "block": (lambda k: row(k)["launches"][0].update(block=[1024, 1, 1]), 'block[0] is'),
    "symbol": (lambda k: row(k)["launches"][0].update(kernel="other"), 'launches[0].kernel'),
    "argument offset": (lambda k: row(k)["launches"][0]["args"][0].update(offset=8), 'args[0].offset'),
    "argument order": (lambda k: row(k)["launches"][0]["args"].reverse(), 'args[0].name'),
    "kernarg size": (lambda k: row(k)["launches"][0].update(kernarg_bytes=8), 'kernarg_bytes'),
    "alignment": (lambda k: row(k)["alignment"].update(a=1), 'alignment.a is 16, not 1'),
    "registers": (lambda k: row(k)["resources"][0].update(vgpr=1), 'resources[0].vgpr'),
    "LDS": (lambda k: row(k)["resources"][0].update(lds_bytes=1), 'resources[0].lds_bytes'),
    "foreign hash": (lambda k: row(k).update(sha256="0" * 64), 'sha256 is'),
    "unknown field": (lambda k: row(k).update(comment="fast"), "unknown field 'comment'"),
    "missing field": (lambda k: row(k).pop("guards"), 'guards is missing'),
    "illegal schedule": (lambda k: row(k).update(schedule="gemm.1:tile=256x256x256,stages=3"), 'schedule is illegal'),
    "other schedule": (lambda k: row(k).update(schedule="gemm.1:tile=32x32x64,stages=1,prefetch=0"), 'schedule'),
    "other problem": (lambda k: row(k).update(problem="gemm m=32 n=32 k=128 dtype=bf16 b=nk"), 'k128'),
    "no problem": (lambda k: row(k).update(problem="gemm m=32"), 'key "n" is missing'),
    "target": (lambda k: row(k).update(target="gfx942"), 'gfx942'),
    "time": (lambda k: row(k).update(time_us=-1.0), 'time_us is'),
    "half the time": (lambda k: row(k).update(time_us=row(k)["time_us"] / 2), 'time_us is'),
    "time as text": (lambda k: row(k).update(time_us="fast"), 'time_us is'),
    "source": (lambda k: row(k).update(source="guessed"), "source 'guessed'"),
    "measured": (lambda k: row(k).update(source="measured"), "source 'measured'"),
    "simulated": (lambda k: row(k).update(source="simulated"), "source 'simulated'"),
    "the time of the model": (lambda k: row(k).update(source="model"), "source is"),
    "no interval of m": (lambda k: row(k).update(sizes=["lda"]), "sizes"),
    "workspace": (lambda k: row(k).update(workspaces=[{"name": "x", "bytes": "1"}]), "workspaces"),
    "row twice": (lambda k: k["kernels"].append(row(k)), 'different numbers of rows'),
    "row removed": (lambda k: k["kernels"].pop(), 'different numbers of rows'),
    "code objects swapped": (lambda k: row(k).update(code_object=k["kernels"][1]["code_object"]), 'code_object is'),
}


@pytest.mark.parametrize("lie", ROW_LIES)
def test_a_lie_in_kernels_json_is_found(kw_program, bundle, lie):
    change, reason = ROW_LIES[lie]
    edit(bundle / "kernels" / "kernels.json", change)
    status, text = check(kw_program, bundle)
    assert status == 1 and "not the file that bundle.json hashed" in text
    fit_hashes(bundle)
    status, text = check(kw_program, bundle)
    assert status == 1 and reason in text, f"{lie}: {text}"


def told(bundle):
    return bundle["problems"][0]


HEAD_LIES = {
    "not validated": (lambda b: told(b).update(validated=False), 'validated is true, not false'),
    "other time": (lambda b: told(b).update(time_us=told(b)["time_us"] / 2), 'time_us is'),
    "other schedule": (lambda b: told(b).update(schedule="gemm.1:"), 'schedule is'),
    "other kernel": (lambda b: told(b).update(kernel="gemm_x"), 'kernel is'),
    "other problem": (lambda b: told(b).update(problem="gemm m=33 n=32 k=64 dtype=bf16 b=nk"), 'problem is'),
    "interval": (lambda b: told(b).update(interval_us=[0.0, 0.1]), 'interval_us[0] is'),
    "half an interval": (lambda b: told(b)["interval_us"].pop(), 'interval_us is'),
    "limiter": (lambda b: told(b).update(limiter="luck"), 'limiter is'),
    "calibration": (lambda b: told(b)["calibration"].update(log=0.5), 'time_us is'),
    "no calibration": (lambda b: told(b).pop("calibration"), 'time_us is'),
    "not a calibration": (lambda b: told(b).update(calibration="mine"), 'calibration'),
    "relative error": (lambda b: told(b).update(max_rel=0.0), 'max_rel is'),
    "relative error as text": (lambda b: told(b).update(max_rel="none"), 'max_rel is'),
    "other seed": (lambda b: told(b).update(seed=12345), 'max_rel is'),
    "no seed": (lambda b: told(b).update(seed="x"), 'seed of the validation'),
    "a measurement": (lambda b: told(b).update(measured_us=1.0), 'measured_us is null, not 1.0'),
    "remark on a problem": (lambda b: told(b).update(remark=1), "unknown field 'remark'"),
    "nothing of a problem": (lambda b: b["problems"].__setitem__(0, 3), 'seed of the validation'),
    "problems in another order": (lambda b: b["problems"].reverse(), 'problem'),
    "target": (lambda b: b.update(target="gfx942"), 'target, product or cus'),
    "compute units": (lambda b: b.update(cus=512), 'cus'),
    "producer": (lambda b: b.update(producer="another"), 'producer is "another"'),
    "compiler": (lambda b: b.update(compiler="llvm 99"), 'compiler is "llvm 99"'),
    "model": (lambda b: b.update(model="analytic-0"), 'model is "analytic-0"'),
    "validator": (lambda b: b.update(validator="0"), 'validator is "0"'),
    "no validator": (lambda b: b.update(validator=None), 'validator is null'),
    "unknown field": (lambda b: b.update(remark=1), "unknown field 'remark'"),
    "missing field": (lambda b: b.pop("compiler"), "field 'compiler' is missing"),
    "file outside": (lambda b: b["files"].update({"../x": "0" * 64}), 'outside the bundle'),
    "loader left out": (lambda b: b["files"].pop("kernelwright/registry.py"), 'does not list'),
}


@pytest.mark.parametrize("lie", HEAD_LIES)
def test_a_lie_in_bundle_json_is_found(kw_program, bundle, lie):
    change, reason = HEAD_LIES[lie]
    edit(bundle / "bundle.json", change)
    status, text = check(kw_program, bundle)
    assert status == 1 and reason in text, f"{lie}: {text}"


TWICE_TOLD = {
    "measured": ({"source": "measured"}, {"source": "measured"}, "source 'measured'"),
    "measured, with the measurement": (
        {"source": "measured"}, {"source": "measured", "measured_us": 1.0}, "source 'measured'"),
    "half the time": ({"time_us": 0.25}, {"time_us": 0.25, "interval_us": [0.2, 0.3]}, "time_us is"),
}  # fmt: skip


@pytest.mark.parametrize("lie", TWICE_TOLD)
def test_a_time_that_both_files_tell(kw_program, bundle, lie):
    of_kernel, of_problem, reason = TWICE_TOLD[lie]
    edit(bundle / "kernels" / "kernels.json", lambda k: row(k).update(of_kernel))
    edit(bundle / "bundle.json", lambda b: told(b).update(of_problem))
    fit_hashes(bundle)
    status, text = check(kw_program, bundle)
    assert status == 1 and reason in text, text


def test_a_row_that_is_in_both_files_twice(kw_program, bundle):
    edit(bundle / "kernels" / "kernels.json", lambda k: k["kernels"].append(row(k)))
    edit(bundle / "bundle.json", lambda b: b["problems"].append(told(b)))
    fit_hashes(bundle)
    status, text = check(kw_program, bundle)
    assert status == 1 and "is there twice" in text, text


def places(json_value, place=()):
    """Every place in a document, the document itself first."""
    yield place
    if isinstance(json_value, dict):
        items = json_value.items()
    else:
        items = enumerate(json_value) if isinstance(json_value, list) else ()
    for key, value in items:
        yield from places(value, (*place, key))


def replaced(document, place, value):
    """The document with another value at a place."""
    if not place:
        return value
    document = copy.deepcopy(document)
    inner = document
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return document


@pytest.mark.parametrize("name", ["bundle.json", "kernels/kernels.json"])
@pytest.mark.parametrize("value", [None, "x", [7]])
def test_no_value_may_be_another(kw_program, bundle, name, value):
    """Each value of the documents, and each part of them, replaced by one of another kind: found, in one
    line, never a crash. Of the hashes a few will do."""
    document = json.loads((bundle / name).read_text())
    hashes = [place for place in places(document) if place[:1] == ("files",)][4:]
    for place in places(document):
        # The name of a calibration is its user's word: what it says is proven, not how it is called.
        if place in hashes or (place[-2:] == ("calibration", "name") and value == "x"):
            continue
        (bundle / name).write_text(json.dumps(replaced(document, place, value)))
        if name != "bundle.json":
            fit_hashes(bundle)
        run = subprocess.run(
            [kw_program, "check-bundle", "--no-validate", bundle], capture_output=True, text=True
        )
        if run.returncode == 0:
            assert replaced(document, place, value) == document, f"{place}: {value}"
            continue
        text = run.stdout + run.stderr
        assert run.returncode in (1, 2) and len(text.strip().splitlines()) == 1, f"{place}: {text}"


def test_an_edited_loader(kw_program, bundle):
    path = bundle / "kernelwright" / "registry.py"
    path.write_text(path.read_text().replace("if reason is None", "if True"))
    status, text = check(kw_program, bundle)
    assert status == 1 and "not the file that bundle.json hashed" in text
    fit_hashes(bundle)
    status, text = check(kw_program, bundle)
    assert status == 1 and "registry.py: is not the loader of this program" in text, text


def test_an_extra_module_of_the_loader(kw_program, bundle):
    (bundle / "kernelwright" / "torch.py").write_text("print('mine')\n")
    status, text = check(kw_program, bundle)
    assert status == 1 and "torch.py: is in the folder" in text, text


@pytest.mark.parametrize("name", ["bundle.json", "kernels/kernels.json"])
def test_a_key_twice(kw_program, bundle, name):
    """Parsers keep the last one and say nothing: a reader that keeps the first sees another bundle."""
    path = bundle / name
    path.write_text(path.read_text().replace('"time_us"', '"time_us": 0.1, "time_us"', 1))
    if name != "bundle.json":
        fit_hashes(bundle)
    status, text = check(kw_program, bundle)
    assert status == 1 and "'time_us' is there twice" in text, text


@pytest.mark.parametrize("name", ["bundle.json", "kernels/kernels.json"])
def test_a_number_that_is_none(kw_program, bundle, name):
    path = bundle / name
    path.write_text(re.sub(r'"time_us": [0-9.]+', '"time_us": NaN', path.read_text(), count=1))
    if name != "bundle.json":
        fit_hashes(bundle)
    status, text = check(kw_program, bundle)
    assert status in (1, 2) and "not a JSON" in text, text


def code_object(bundle, index=0):
    kernels = json.loads((bundle / "kernels" / "kernels.json").read_text())["kernels"]
    return bundle / "kernels" / kernels[index]["code_object"], kernels[index]


def fit_code_object(bundle, path):
    digest = hashlib.sha256(path.read_bytes()).hexdigest()

    def change(kernels):
        for kernel in kernels["kernels"]:
            if kernel["code_object"] == path.name:
                kernel["sha256"] = digest

    edit(bundle / "kernels" / "kernels.json", change)
    fit_hashes(bundle)


def test_truncated_code_object(kw_program, bundle):
    path, _ = code_object(bundle)
    path.write_bytes(path.read_bytes()[:1000])
    assert check(kw_program, bundle)[0] == 1
    fit_code_object(bundle, path)
    assert check(kw_program, bundle)[0] == 1


def test_changed_machine_code_fails_validation(kw_program, bundle):
    """A matrix instruction turned into s_nop keeps every resource and hash that a liar can fit."""
    path, _ = code_object(bundle)
    code = bytearray(path.read_bytes())
    position = next(
        i for i in range(0, len(code) - 8, 4) if code[i + 3] == 0xD3 and code[i + 2] in (0xB5, 0xB7, 0xCD)
    )
    code[position : position + 8] = bytes.fromhex("000080bf000080bf")
    path.write_bytes(code)
    fit_code_object(bundle, path)
    status, text = check(kw_program, bundle)
    assert status == 1 and "validation" in text, text


def test_code_that_runs_alike_but_is_not_what_the_compiler_makes(kw_program, bundle):
    """No run can tell: the text of another linker in the code object's comment."""
    path, _ = code_object(bundle)
    code = path.read_bytes()
    assert b"LLD" in code
    path.write_bytes(code.replace(b"LLD", b"DLL"))
    fit_code_object(bundle, path)
    status, text = check(kw_program, bundle)
    assert status == 1 and "is not what the compiler makes" in text, text


@pytest.mark.parametrize("name", ["bundle.json", "kernels/kernels.json"])
def test_unreadable_bundle_is_bad_input(kw_program, bundle, name):
    (bundle / name).write_text("{")
    status, text = check(kw_program, bundle)
    assert status in (1, 2) and len(text.strip().splitlines()) == 1


def test_extra_file_is_found(kw_program, bundle):
    (bundle / "kernels" / "other.hsaco").write_bytes(b"x")
    assert check(kw_program, bundle)[0] == 1


@pytest.mark.parametrize("name", ["torch.py", "torch.so", "torch.pyc", "lookup/torch.py", "notes.txt"])
def test_an_extra_file_beside_the_loader(kw_program, bundle, name):
    """Python imports more than sources."""
    (bundle / "kernelwright" / name).write_bytes(b"x")
    status, text = check(kw_program, bundle)
    assert status == 1 and f"{name}: is in the folder" in text, text


def test_what_python_caches_is_no_lie(kw_program, bundle):
    (bundle / "kernelwright" / "__pycache__").mkdir()
    (bundle / "kernelwright" / "__pycache__" / "bundle.pyc").write_bytes(b"x")
    status, text = check(kw_program, bundle)
    assert status == 0, text


def test_an_edited_table(kw_program, bundle):
    assert "table.csv" in json.loads((bundle / "bundle.json").read_text())["files"]
    table = bundle / "table.csv"
    table.write_text(table.read_text().replace("compiled", "measured"))
    status, text = check(kw_program, bundle)
    assert status == 1 and "table.csv: is not the file that bundle.json hashed" in text, text


def test_a_table_that_is_gone(kw_program, bundle):
    (bundle / "table.csv").unlink()
    status, text = check(kw_program, bundle)
    assert status == 1 and "lists table.csv, which cannot be read" in text, text


def test_what_is_not_of_the_bundle_is_reported(kw_program, bundle):
    """A store or notes may lie beside a bundle: no lie, but said."""
    (bundle / "notes.txt").write_text("mine")
    (bundle / "old").mkdir()
    run = subprocess.run([kw_program, "check-bundle", "--no-validate", "--json", bundle], capture_output=True, text=True)
    document = json.loads(run.stdout)
    assert run.returncode == 0 and document["ok"] and document["unnamed"] == ["notes.txt", "old/"]
    status, text = check(kw_program, bundle)
    assert status == 0 and "not of the bundle, not checked: notes.txt old/" in text, text


def test_an_honest_bundle_has_nothing_unnamed(kw_program, bundle):
    run = subprocess.run([kw_program, "check-bundle", "--no-validate", "--json", bundle], capture_output=True, text=True)
    assert json.loads(run.stdout)["unnamed"] == []
