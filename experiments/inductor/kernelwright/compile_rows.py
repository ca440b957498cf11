# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles a bundle's lookup rows for gfx950 without a GPU, through Inductor's own lowering and
Triton, and prints what they take beside what bundle.json predicts.

    python -m kernelwright.compile_rows BUNDLE|lookup_table.json [--json FILE] [--keep DIR]
                                        [--rows N] [--match TEXT]

Exits 1 where Inductor does not take a row as the only candidate, a constant of its kernel is not
the row's, a row spills or needs more LDS than there is, or its LDS is not as predicted.
Needs `triton` (PyPI, any build with the AMD backend) beside torch.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .lookup import fake_gpu, parse_key, read_table
from .lookup.table import Row

_RESOURCES = (
    "lds_bytes", "vgpr", "agpr", "total_vgpr", "sgpr", "vgpr_spills", "sgpr_spills", "scratch_bytes",
    "mfma", "num_warps", "num_stages", "triton",
)  # fmt: skip
_NOT_CONSTANTS = {"template_id", "template_hash", "hint_override"}


def differences(found: Mapping[str, Any], row: Row) -> list[str]:
    """Fields of `row` that the generated kernel's constants do not have."""
    return [
        f"{name} is {found.get(name)!r} in the kernel, {value!r} in the row"
        for name, value in row.items()
        if name not in _NOT_CONSTANTS and found.get(name) != value
    ]


def predictions(path: Path) -> dict[tuple[str, int], dict[str, Any]]:
    """What bundle.json predicts, by key and row; empty for a table alone."""
    if not (path / "bundle.json").is_file():
        return {}
    document = json.loads((path / "bundle.json").read_text(encoding="utf-8"))
    return {(entry["key"], entry["row"]): entry for entry in document.get("lookup", [])}


def problems(report: Mapping[str, Any]) -> list[str]:
    """What is wrong with a row's report; empty: nothing."""
    found = list(report["differences"])
    if len(report["choices"]) != 1:
        found.append(f"{len(report['choices'])} candidates, not one")
    if report["benchmarked"]:
        found.append(f"{report['benchmarked']} candidates were timed")
    if not report["hits"]:
        found.append("no lookup found it")
    made = report["compiled"]
    for name in ("vgpr_spills", "sgpr_spills", "scratch_bytes"):
        if made[name]:
            found.append(f"{name} {made[name]}")
    if made["lds_bytes"] > fake_gpu.LDS_BYTES:
        found.append(f"{made['lds_bytes']} bytes of LDS, there are {fake_gpu.LDS_BYTES}")
    for name in ("num_warps", "num_stages"):
        if made[name] != report["row"][name]:
            found.append(f"compiled with {name}={made[name]}")
    predicted = report["predicted"]
    if predicted and not lds_as_predicted(report):
        found.append(f"LDS {made['lds_bytes']}, predicted {predicted['lds_bytes']}")
    return found


def lds_as_predicted(report: Mapping[str, Any]) -> bool:
    """Exactly, where Triton pipelines; with one stage or one step of k it may keep tiles in registers,
    and the prediction is an upper bound."""
    made, said, row = report["compiled"]["lds_bytes"], report["predicted"]["lds_bytes"], report["row"]
    pipelined = row["num_stages"] > 1 and parse_key(report["key"]).sizes[2] > row["BLOCK_K"]
    return made == said if pipelined else made <= said


def compile_row(text: str, row: Row, predicted: Mapping[str, Any] | None, keep: Path | None, name: str):
    """Report of one row: its kernel's constants, candidates and resources."""
    from .lookup.compiling import compile_kernel
    from .lookup.lowering import constants, lower

    lowered = lower(parse_key(text), row)
    compiled = compile_kernel(lowered)
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        (keep / f"{name}.hsaco").write_bytes(compiled.hsaco)
        (keep / f"{name}.s").write_text(compiled.assembly)
        (keep / f"{name}.py").write_text(lowered.source)
    resources = {field: getattr(compiled, field) for field in _RESOURCES}
    found = constants(lowered.source)
    report = {
        "key": text,
        "row": row,
        "kernel": lowered.kernel,
        "choices": list(lowered.choices),
        "benchmarked": lowered.benchmarked,
        "hits": lowered.hits,
        "differences": differences(found, row),
        "hsaco_bytes": len(compiled.hsaco),
        "compiled": resources,
        "predicted": dict(predicted) if predicted else None,
    }
    return report | {"problems": problems(report)}


def compile_rows(
    path: Path, *, rows: int | None = None, match: str = "", keep: Path | None = None
) -> Iterator[dict[str, Any]]:
    """Reports of the Triton rows of `path`: of each key the first `rows` (None: all)."""
    known = predictions(path)
    for number, (text, listed) in enumerate(read_table(path).items()):
        if match not in text:
            continue
        for index, row in enumerate(listed[:rows]):
            if row["template_id"].startswith("triton::"):
                name = f"key{number:03}_row{index}"
                yield compile_row(text, row, known.get((text, index)), keep, name)


def _line(report: Mapping[str, Any]) -> str:
    row, made, said = report["row"], report["compiled"], report["predicted"] or {}
    tile = "x".join(str(row[f"BLOCK_{axis}"]) for axis in "MNK")
    key = dataclasses.replace(parse_key(report["key"]), device=None)
    sizes = "x".join(map(str, key.sizes))
    return (
        f"{key.operation:8} {key.tensors[-1].dtype:9} {sizes:18} {tile:12} warps {row['num_warps']:2} "
        f"stages {row['num_stages']}  LDS {made['lds_bytes']:6} ({said.get('lds_bytes', '-')})  "
        f"VGPR {made['vgpr']:3} ({said.get('vgpr', '-')})  AGPR {made['agpr']:3} ({said.get('agpr', '-')})  "
        f"spills {made['vgpr_spills']}  {'; '.join(report['problems']) or 'ok'}"
    )


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("bundle", type=Path, help="folder of a bundle, or a lookup_table.json")
    parser.add_argument("--json", type=Path, help="write the reports there")
    parser.add_argument("--keep", type=Path, help="folder for code objects, assembly and sources")
    parser.add_argument("--rows", type=int, help="of each key the first N rows alone")
    parser.add_argument("--match", default="", help="keys that hold this text alone")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    options = _arguments(arguments)
    try:
        fake_gpu.install()
    except ImportError as error:
        print(f"compile_rows: {error}: install torch and triton", file=sys.stderr)
        return 2
    reports = []
    for report in compile_rows(
        options.bundle, rows=options.rows, match=options.match, keep=options.keep
    ):
        print(_line(report), flush=True)
        reports.append(report)
    wrong = sum(bool(report["problems"]) for report in reports)
    print(f"{len(reports)} rows compiled for gfx950, {wrong} not as they should be; (predicted)")
    if options.json:
        options.json.write_text(json.dumps(reports, indent=1) + "\n")
    return 1 if wrong or not reports else 0


if __name__ == "__main__":
    sys.exit(main())
