# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Level L-1 (no torch): the loader refuses a table whose rows Inductor would trip over or compute
wrong numbers with, naming the reason."""

import copy
import json

import pytest
from kernelwright.lookup.table import TableError, check_table, read_table
from lookup_rows import ARCH, F16, F32, hand_table, key, matrices, row

GOOD = key("mm", matrices(F16, 96, 64, 160, "nt"))


def write(tmp_path, text):
    path = tmp_path / "lookup_table.json"
    path.write_text(text)
    return path


@pytest.mark.parametrize("device", [None, ARCH])
def test_a_good_table_is_read_from_its_file_and_from_its_bundle(tmp_path, device):
    path = write(tmp_path, json.dumps(hand_table(device)))
    assert read_table(path) == read_table(tmp_path) == hand_table(device)


def test_aten_rows():
    assert check_table({GOOD: [row(32, 32, 32, 160), {"template_id": "aten::mm"}]})
    with pytest.raises(TableError, match="template_id alone"):
        check_table({GOOD: [{"template_id": "aten::mm", "BLOCK_M": 32}]})


ROW_LIES = {
    "EVEN_K lie": ({"EVEN_K": True, "BLOCK_K": 64}, "k=160 is no multiple of BLOCK_K=64"),
    "not a power of two": ({"BLOCK_M": 48}, "BLOCK_M is 48"),
    "too small": ({"BLOCK_N": 8}, "BLOCK_N is 8"),
    "text": ({"BLOCK_K": "32"}, "BLOCK_K is '32'"),
    "truth": ({"num_stages": True}, "num_stages is True"),
    "warps": ({"num_warps": 3}, "num_warps is 3"),
    "too many warps": ({"num_warps": 32}, "num_warps is 32"),
    "GROUP_M": ({"GROUP_M": 0}, "GROUP_M is 0"),
    "stages": ({"num_stages": 0}, "num_stages is 0"),
    "EVEN_K number": ({"EVEN_K": 1}, "EVEN_K is 1"),
    "ACC_TYPE": ({"ACC_TYPE": "tl.float16"}, "ACC_TYPE is 'tl.float16'"),
    "ALLOW_TF32": ({"ALLOW_TF32": False}, "'ALLOW_TF32' is unknown"),
    "comment": ({"comment": "fast"}, "'comment' is unknown"),
    "score": ({"score": 1.5}, "'score' is unknown"),
    "other template": ({"template_id": "triton::bmm"}, "mm has triton::mm"),
    "no such template": ({"template_id": "triton::fast"}, "mm has triton::mm"),
    "ATen of another": ({"template_id": "aten::bmm"}, "mm has triton::mm"),
}


@pytest.mark.parametrize("lie", ROW_LIES)
def test_a_row_that_lies_is_refused(lie):
    change, reason = ROW_LIES[lie]
    with pytest.raises(TableError, match=reason):
        check_table({GOOD: [row(32, 32, 32, 160) | change]})


@pytest.mark.parametrize("name", sorted(row(32, 32, 32, 160).keys() - {"hint_override", "matrix_instr_nonkdim", "waves_per_eu", "kpack"}))  # fmt: skip
def test_a_missing_field_is_named(name):
    broken = row(32, 32, 32, 160)
    del broken[name]
    with pytest.raises(TableError, match=name):
        check_table({GOOD: [broken]})


TABLE_LIES = {
    "no rows": {GOOD: []},
    "a row alone": {GOOD: row(32, 32, 32, 160)},
    "a row that is none": {GOOD: [3]},
    "no key": {"mm": [row(32, 32, 32, 160)]},
    "grouped": {GOOD.replace("+mm", "+grouped_mm"): [row(32, 32, 32, 160)]},
    "operands": {GOOD.replace("+mm", "+alpha=1&beta=1+addmm"): [row(32, 32, 32, 160)]},
    "a list": [GOOD],
}


@pytest.mark.parametrize("lie", TABLE_LIES)
def test_a_table_that_lies_is_refused(lie):
    with pytest.raises(TableError):
        check_table(copy.deepcopy(TABLE_LIES[lie]))


@pytest.mark.parametrize(
    "change, reason",
    [
        (lambda text: text[:-1] + "," + text[1:], "there twice"),
        (lambda text: text.replace('"BLOCK_M"', '"BLOCK_M": 16, "BLOCK_M"'), "there twice"),
        (lambda text: text.replace('"GROUP_M": 8', '"GROUP_M": NaN'), "NaN is not JSON"),
        (lambda text: text.replace('"GROUP_M": 8', '"GROUP_M": Infinity'), "Infinity is not JSON"),
        (lambda text: text[:-2], "lookup_table.json"),
        (lambda text: "[]", "JSON object"),
    ],
)
def test_text_that_json_readers_would_let_pass(tmp_path, change, reason):
    path = write(tmp_path, change(json.dumps({GOOD: [row(32, 32, 32, 160)]})))
    with pytest.raises(TableError, match=reason):
        read_table(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(TableError, match="lookup_table.json"):
        read_table(tmp_path)


def test_rows_of_float32():
    assert check_table({key("mm", matrices(F32, 96, 64, 160)): [row(32, 32, 32, 160)]})
