# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`kw check-bundle` finds each lie in a lookup table that was edited by hand, and names it, also when
the liar makes the hashes of bundle.json fit; the exporter writes none of them."""

import copy
import hashlib
import json
import shutil
import subprocess

import pytest
from test_lookup_export import tune

EVEN = "gemm m=256 n=256 k=512 dtype=bf16 b=nk"
RAGGED = "gemm m=128 n=128 k=72 dtype=bf16 b=nk"
BIAS = "gemm m=256 n=128 k=128 dtype=f16 b=nk epilogue=bias"
BATCH = "gemm m=128 n=64 k=64 batch=4 dtype=bf16"


@pytest.fixture(scope="module")
def honest(kw_program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("honest")
    run = tune(kw_program, folder, EVEN, RAGGED, BIAS, BATCH)
    assert run.returncode == 0, run.stdout + run.stderr
    return folder / "bundle"


class Liar:
    """A bundle to edit. `row(problem)` and `note(problem)` are the row and its entry in bundle.json."""

    def __init__(self, folder):
        self.folder = folder
        self.table = json.loads((folder / "lookup_table.json").read_text())
        self.head = json.loads((folder / "bundle.json").read_text())

    def note(self, problem):
        return next(note for note in self.head["lookup"] if note["problem"] == problem)

    def key(self, problem):
        return self.note(problem)["key"]

    def row(self, problem):
        return self.table[self.key(problem)][self.note(problem)["row"]]

    def rename(self, problem, change):
        """Moves a row to another key, and its note with it."""
        key = self.key(problem)
        self.table[change(key)] = self.table.pop(key)
        self.note(problem)["key"] = change(key)
        self.head["lookup"].sort(key=lambda note: (note["key"], note["row"]))

    def write(self, text=None):
        """In the form that the exporter writes, with the right hash."""
        text = text or json.dumps(self.table, indent=2, sort_keys=True) + "\n"
        (self.folder / "lookup_table.json").write_text(text)
        self.head["files"]["lookup_table.json"] = hashlib.sha256(text.encode()).hexdigest()
        (self.folder / "bundle.json").write_text(json.dumps(self.head, indent=2) + "\n")


@pytest.fixture
def liar(honest, tmp_path):
    return Liar(shutil.copytree(honest, tmp_path / "bundle"))


def check(kw_program, folder):
    run = subprocess.run([kw_program, "check-bundle", folder], capture_output=True, text=True)
    return run.returncode, run.stdout + run.stderr


def test_written_again_an_honest_bundle_is_the_same(kw_program, liar, honest):
    liar.write()
    assert (liar.folder / "lookup_table.json").read_bytes() == (honest / "lookup_table.json").read_bytes()
    status, text = check(kw_program, liar.folder)
    assert status == 0, text


def test_an_edited_table_has_another_hash(kw_program, liar):
    liar.row(EVEN)["GROUP_M"] += 1
    (liar.folder / "lookup_table.json").write_text(json.dumps(liar.table, indent=2, sort_keys=True) + "\n")
    status, text = check(kw_program, liar.folder)
    assert status == 1 and "lookup_table.json" in text and "not the file that bundle.json hashed" in text


def put(problem, **fields):
    return lambda liar: liar.row(problem).update(fields)


ROW_LIES = {
    "EVEN_K of a ragged k": (put(RAGGED, EVEN_K=True), "EVEN_K"),
    "no EVEN_K where k is even": (put(EVEN, EVEN_K=False), "EVEN_K"),
    "EVEN_K as a number": (put(EVEN, EVEN_K=1), "EVEN_K"),
    "more LDS than there is": (put(EVEN, BLOCK_M=256, BLOCK_N=256, BLOCK_K=256, num_stages=4), "LDS"),
    "no power of two": (put(EVEN, BLOCK_M=48), "BLOCK_M"),
    "a block of 8": (put(EVEN, BLOCK_N=8), "BLOCK_N"),
    "a number as text": (put(EVEN, BLOCK_K="64"), "BLOCK_K"),
    "a number that is a truth": (put(EVEN, num_stages=True), "num_stages"),
    "a fraction": (put(EVEN, num_warps=4.5), "num_warps"),
    "three warps": (put(EVEN, num_warps=3), "num_warps"),
    "32 warps": (put(EVEN, num_warps=32), "num_warps"),
    "no stages": (put(EVEN, num_stages=0), "num_stages"),
    "no group": (put(EVEN, GROUP_M=0), "GROUP_M"),
    "matrix instruction": (put(EVEN, matrix_instr_nonkdim=17), "matrix_instr_nonkdim"),
    "waves": (put(EVEN, waves_per_eu=9), "waves_per_eu"),
    "kpack": (put(EVEN, kpack=2), "kpack"),
    "half accumulator": (put(EVEN, ACC_TYPE="tl.float16"), "ACC_TYPE"),
    "fast accumulation": (put(EVEN, USE_FAST_ACCUM=True), "USE_FAST_ACCUM"),
    "hint": (put(EVEN, hint_override=4), "hint_override"),
    "TF32": (put(EVEN, ALLOW_TF32=False), "ALLOW_TF32"),
    "a comment": (put(EVEN, comment="fast"), "comment"),
    "a score": (put(EVEN, score=1), "score"),
    "hash of another template": (put(EVEN, template_hash="0" * 64), "template_hash"),
    "template of another operation": (put(BATCH, template_id="triton::mm"), "template_id"),
    "no such template": (put(EVEN, template_id="triton::fast"), "template_id"),
    "a missing field": (lambda liar: liar.row(EVEN).pop("GROUP_M"), "GROUP_M is missing"),
    "no template": (lambda liar: liar.row(EVEN).pop("template_id"), "template_id"),
    "another legal tile": (
        lambda liar: liar.row(EVEN).update(GROUP_M=liar.row(EVEN)["GROUP_M"] + 1), "is not the row of"),
}  # fmt: skip
TABLE_LIES = {
    "no rows": (lambda liar: liar.table.update({liar.key(EVEN): []}), "has no list of rows"),
    "a row that is none": (lambda liar: liar.table.update({liar.key(EVEN): [3]}), "is no object"),
    "a row alone": (lambda liar: liar.table.update({liar.key(EVEN): liar.row(EVEN)}), "has no list of rows"),
    "a row twice": (
        lambda liar: liar.table[liar.key(EVEN)].append(copy.deepcopy(liar.row(EVEN))), "bundle.json"),
    "a key removed": (lambda liar: liar.table.pop(liar.key(EVEN)), "lookup"),
    "a key added": (
        lambda liar: liar.table.update({liar.key(EVEN).replace("512", "1024"): [liar.row(EVEN)]}), "lookup"),
    "rows of two problems swapped": (
        lambda liar: liar.table.update({liar.key(EVEN): liar.table[liar.key(BIAS)],
                                        liar.key(BIAS): liar.table[liar.key(EVEN)]}), "lookup_table.json"),
    "ATen alone": (
        lambda liar: liar.table.update({liar.key(EVEN): [{"template_id": "aten::mm"}]}), "ATen"),
}  # fmt: skip
KEY_LIES = {
    "strides of another order": (EVEN, lambda key: key.replace("[1, 512]", "[256, 1]"), "is not the key of"),
    "padded lines": (EVEN, lambda key: key.replace("[1, 512]", "[1, 520]"), "is not the key of"),
    "dtype": (EVEN, lambda key: key.replace("bfloat16", "float16"), "is not the key of"),
    "operation": (EVEN, lambda key: key.replace("+mm", "+bmm"), ""),
    "no operation": (EVEN, lambda key: key.replace("+mm", "+grouped_mm"), "op"),
    "device": (EVEN, lambda key: key.replace("gfx950", "gfx942"), "is for the device gfx942"),
    "scalar as a float": (BIAS, lambda key: key.replace("alpha=1&", "alpha=1.0&"), ""),
    "bias that is not expanded": (BIAS, lambda key: key.replace("[256, 128], [0, 1]", "[128], [1]"), ""),
    "spelling": (EVEN, lambda key: key.replace(", ", ","), ""),
    "spaces": (EVEN, lambda key: key + " ", ""),
}
NOTE_LIES = {
    "LDS": (lambda note: note.update(lds_bytes=note["lds_bytes"] - 16), "lds_bytes"),
    "registers": (lambda note: note.update(vgpr=1), "vgpr"),
    "occupancy": (lambda note: note.update(occupancy=note["occupancy"] + 1), "occupancy"),
    "half the time": (lambda note: note.update(time_us=note["time_us"] / 2), "time_us"),
    "no time": (lambda note: note.update(time_us=0), "time_us"),
    "labelled measured": (lambda note: note.update(source="measured"), "measured"),
    "a guess": (lambda note: note.update(source="guessed"), "guessed"),
    "interval": (lambda note: note.update(interval_us=[0.0, 0.001]), "interval_us"),
    "limiter": (lambda note: note.update(limiter="luck"), "limiter"),
    "other problem": (lambda note: note.update(problem=note["problem"].replace("m=256", "m=512")), "key"),
    "other schedule": (lambda note: note.update(schedule="gemm.1:tile=32x32x64"), "triton"),
    "row number": (lambda note: note.update(row=1), "lookup"),
    "unknown field": (lambda note: note.update(comment="fast"), "unknown field 'comment'"),
    "missing field": (lambda note: note.pop("limiter"), "field 'limiter' is missing"),
}


def assert_found(kw_program, liar, reason):
    status, text = check(kw_program, liar.folder)
    assert status == 1 and reason in text and len(text.strip().splitlines()) == 1, text


@pytest.mark.parametrize("lie", ROW_LIES)
def test_a_row_that_lies(kw_program, liar, lie):
    change, reason = ROW_LIES[lie]
    change(liar)
    liar.write()
    assert_found(kw_program, liar, reason)


@pytest.mark.parametrize("lie", TABLE_LIES)
def test_a_table_that_lies(kw_program, liar, lie):
    change, reason = TABLE_LIES[lie]
    change(liar)
    liar.write()
    assert_found(kw_program, liar, reason)


@pytest.mark.parametrize("lie", KEY_LIES)
def test_a_key_that_lies(kw_program, liar, lie):
    problem, change, reason = KEY_LIES[lie]
    assert change(liar.key(problem)) != liar.key(problem)
    liar.rename(problem, change)
    liar.write()
    assert_found(kw_program, liar, reason)


@pytest.mark.parametrize("lie", NOTE_LIES)
def test_a_prediction_that_lies(kw_program, liar, lie):
    change, reason = NOTE_LIES[lie]
    change(liar.note(EVEN))
    liar.write()
    assert_found(kw_program, liar, reason)


TEXT_LIES = {
    "a key twice": (lambda text: text.replace('"GROUP_M"', '"GROUP_M": 1, "GROUP_M"', 1), "twice"),
    "NaN": (lambda text: text.replace('"hint_override": null', '"hint_override": NaN', 1).replace(
        '"kpack": 1', '"kpack": NaN', 1), "not JSON"),
    "cut off": (lambda text: text[: len(text) // 2], "not JSON"),
    "a list": (lambda text: "[]\n", "not a JSON object"),
    "another form": (lambda text: json.dumps(json.loads(text)) + "\n", "differs"),
}  # fmt: skip


@pytest.mark.parametrize("lie", TEXT_LIES)
def test_text_that_lies(kw_program, liar, lie):
    change, reason = TEXT_LIES[lie]
    text = (liar.folder / "lookup_table.json").read_text()
    liar.write(change(text))
    assert change(text) != text
    assert_found(kw_program, liar, reason)


def test_a_missing_table(kw_program, liar):
    (liar.folder / "lookup_table.json").unlink()
    assert_found(kw_program, liar, "lookup_table.json")


def test_a_table_that_is_not_listed(kw_program, liar):
    del liar.head["files"]["lookup_table.json"]
    (liar.folder / "bundle.json").write_text(json.dumps(liar.head, indent=2))
    assert_found(kw_program, liar, "lookup_table.json")


def test_predictions_without_a_table(kw_program, liar):
    (liar.folder / "lookup_table.json").unlink()
    del liar.head["files"]["lookup_table.json"]
    (liar.folder / "bundle.json").write_text(json.dumps(liar.head, indent=2))
    assert_found(kw_program, liar, "lookup")


def test_versions_of_triton(kw_program, liar):
    liar.head["triton"] = "1.0"
    liar.write()
    assert_found(kw_program, liar, "triton")


# What the exporter is asked for and must refuse: nothing may be written.
REFUSED = {
    "k that Inductor splits itself": ("gemm m=16 n=16 k=16384 dtype=bf16 b=nk", "decompose"),
    "a type without a template": ("gemm m=64 n=64 k=64 dtype=i8 b=nk", ""),
    "an epilogue that is no operation": ("gemm m=64 n=64 k=64 dtype=bf16 epilogue=silu", ""),
    "packed weights": ("gemm m=64 n=64 k=128 dtype=bf16 b=nk preshuffle=1", ""),
    "another family": ("rmsnorm rows=8 cols=512 dtype=bf16", ""),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_no_row_can_say_is_not_exported(kw_program, tmp_path, case):
    problem, reason = REFUSED[case]
    run = tune(kw_program, tmp_path, problem)
    assert run.returncode != 0 and reason in run.stdout + run.stderr, run.stdout + run.stderr
    assert not (tmp_path / "bundle" / "lookup_table.json").exists()
