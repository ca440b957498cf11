# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads `lookup_table.json` and refuses what Inductor would trip over or compute wrongly with.

A row of Inductor's Triton template is not checked by Inductor: EVEN_K where k is no multiple of
BLOCK_K gives wrong numbers, an unknown field a syntax error in generated code. No torch here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .keys import OPERANDS, Key, KeyFormatError, parse_key

Row = dict[str, Any]
Table = dict[str, list[Row]]

TEMPLATES = {"mm": "triton::mm", "addmm": "triton::mm", "bmm": "triton::bmm", "baddbmm": "triton::bmm"}
ATEN = {"mm": "aten::mm", "addmm": "aten::addmm", "bmm": "aten::bmm", "baddbmm": "aten::baddbmm"}
_BLOCKS = ("BLOCK_M", "BLOCK_N", "BLOCK_K")
_REQUIRED = {
    "template_id", *_BLOCKS, "GROUP_M", "num_warps", "num_stages", "EVEN_K", "USE_FAST_ACCUM", "ACC_TYPE",
}  # fmt: skip
_OPTIONAL = {"template_hash", "hint_override", "matrix_instr_nonkdim", "waves_per_eu", "kpack"}


class TableError(ValueError):
    """The file is no lookup table, or a row of it would be refused or compute wrong numbers."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise TableError(f"'{name}' is there twice")
    return dict(pairs)


def _constant(text: str) -> None:
    raise TableError(f"{text} is not JSON")


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _power_of_two(value: Any, least: int) -> bool:
    return _is_integer(value) and value >= least and value & (value - 1) == 0


def _fields(key: Key, row: Mapping[str, Any]) -> str | None:
    if row["template_id"] != TEMPLATES[key.operation]:
        return f"template_id is '{row['template_id']}', {key.operation} has {TEMPLATES[key.operation]}"
    for name in row:
        if name not in _REQUIRED | _OPTIONAL:
            return f"field '{name}' is unknown to the template"
    for name in sorted(_REQUIRED - row.keys()):
        return f"field '{name}' is missing"
    return None


def _values(key: Key, row: Mapping[str, Any]) -> str | None:
    for name in _BLOCKS:
        if not _power_of_two(row[name], 16):
            return f"{name} is {row[name]!r}, not a power of two of at least 16"
    if not _power_of_two(row["num_warps"], 1) or row["num_warps"] > 16:
        return f"num_warps is {row['num_warps']!r}, not a power of two up to 16"
    for name in ("GROUP_M", "num_stages"):
        if not _is_integer(row[name]) or row[name] < 1:
            return f"{name} is {row[name]!r}, not a positive integer"
    for name in ("EVEN_K", "USE_FAST_ACCUM"):
        if not isinstance(row[name], bool):
            return f"{name} is {row[name]!r}, not true or false"
    if row["ACC_TYPE"] != "tl.float32":
        return f"ACC_TYPE is {row['ACC_TYPE']!r}, not 'tl.float32'"
    return None


def refusal(key: Key, row: Any) -> str | None:
    """Why Inductor must not be given this row for `key`; None: it may."""
    if key.operation not in OPERANDS:
        return f"operation '{key.operation}' has no rows"
    if len(key.tensors) != len(OPERANDS[key.operation]):
        return f"{key.operation} has {len(OPERANDS[key.operation])} operands"
    if not isinstance(row, dict) or "template_id" not in row:
        return "a row is an object with a template_id"
    if row["template_id"] == ATEN[key.operation]:
        return None if set(row) == {"template_id"} else "an ATen row has template_id alone"
    reason = _fields(key, row) or _values(key, row)
    if reason is None and row["EVEN_K"] and key.sizes[2] % row["BLOCK_K"]:
        return f"EVEN_K is true, but k={key.sizes[2]} is no multiple of BLOCK_K={row['BLOCK_K']}"
    return reason


def check_table(table: Any) -> Table:
    """`table` itself, if every key and row of it may be given to Inductor."""
    if not isinstance(table, dict):
        raise TableError("a lookup table is a JSON object of keys")
    for text, rows in table.items():
        try:
            key = parse_key(text)
        except KeyFormatError as error:
            raise TableError(str(error)) from error
        if not isinstance(rows, list) or not rows:
            raise TableError(f"'{text}' has no rows")
        for index, row in enumerate(rows):
            if reason := refusal(key, row):
                raise TableError(f"'{text}'[{index}]: {reason}")
    return table


def read_table(path: str | Path) -> Table:
    """The table in `path`: `lookup_table.json`, or the folder of a bundle that has one."""
    path = Path(path)
    if path.is_dir():
        path = path / "lookup_table.json"
    try:
        text = path.read_text(encoding="utf-8")
        return check_table(json.loads(text, object_pairs_hook=_object, parse_constant=_constant))
    except OSError as error:
        raise TableError(f"{path}: {error.strerror}") from error
    except ValueError as error:  # JSON's errors and TableError
        raise TableError(f"{path}: {error}") from error
