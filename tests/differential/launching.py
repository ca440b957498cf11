# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches kernels of any code object over numpy arrays through `kw launch`."""

import json
import math
import subprocess
from dataclasses import dataclass, field

import numpy as np


@dataclass(eq=False)
class Buffer:
    """`initial`: an array, or None for memory that nobody wrote. `result` is filled by a launch."""

    shape: tuple
    dtype: np.dtype
    initial: np.ndarray | None = None
    role: str = "input"
    result: np.ndarray | None = None

    @property
    def bytes(self):
        return math.prod(self.shape) * self.dtype.itemsize


def given(array):
    array = np.ascontiguousarray(array)
    return Buffer(array.shape, array.dtype, array)


def output(shape, dtype, initial=None):
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    return Buffer(shape, np.dtype(dtype), initial, "output")


def zeroed(shape, dtype):
    buffer = output(shape, dtype)
    buffer.initial = np.zeros(buffer.shape, buffer.dtype)
    return buffer


@dataclass
class Launch:
    """`arguments`: pairs of offset (None: in the metadata's order) and Buffer, numpy scalar or None
    for a null pointer."""

    kernel: str
    grid: tuple
    block: int
    arguments: list
    dynamic_lds: int = 0


@dataclass
class Outcome:
    ok: bool
    findings: list = field(default_factory=list)
    instructions: int = 0
    seconds: float = 0.0


def launch(program, folder, code_object, launches, extra=()):
    """Writes manifest and inputs to `folder`, runs `kw launch`, reads what the buffers of role
    output hold afterwards. Any failure but findings raises with the program's own words."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kernel.co").write_bytes(code_object)
    names = {}
    for step in launches:
        for _, value in step.arguments:
            if isinstance(value, Buffer):
                names.setdefault(value, f"b{len(names)}")
    manifest = {
        "version": 1,
        "code_object": "kernel.co",
        "buffers": {name: _describe(buffer, name, folder) for buffer, name in names.items()},
        "launches": [_describe_launch(step, names) for step in launches],
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1))
    run = subprocess.run([program, "launch", folder / "manifest.json", "--json", *extra],
                         capture_output=True, text=True, timeout=600)
    answer = json.loads(run.stdout) if run.stdout.strip() else {}
    if run.returncode not in (0, 1) or "ok" not in answer:
        raise RuntimeError(f"kw launch ended with {run.returncode}: {run.stdout}{run.stderr}")
    for buffer, name in names.items():
        if buffer.role == "output":
            data = (folder / f"{name}.out").read_bytes()
            buffer.result = np.frombuffer(data, buffer.dtype).reshape(buffer.shape)
    return Outcome(answer["ok"], answer["findings"], answer["instructions"], answer["seconds"])


def _describe(buffer, name, folder):
    entry = {"bytes": buffer.bytes, "role": buffer.role, "init": "poison"}
    if buffer.initial is not None:
        (folder / f"{name}.in").write_bytes(np.ascontiguousarray(buffer.initial).tobytes())
        entry["init"] = {"file": f"{name}.in"}
    if buffer.role == "output":
        entry["save"] = f"{name}.out"
    return entry


def _describe_launch(step, names):
    grid = list(step.grid) + [1] * (3 - len(step.grid))
    return {
        "kernel": step.kernel,
        "grid": grid,
        "block": [step.block, 1, 1],
        "dynamic_lds": step.dynamic_lds,
        "args": [_describe_argument(offset, value, names) for offset, value in step.arguments],
    }


def _describe_argument(offset, value, names):
    place = {} if offset is None else {"offset": offset}
    if value is None:
        return {**place, "kind": "null"}
    if isinstance(value, Buffer):
        return {**place, "kind": "buffer", "buffer": names[value], "at": 0}
    letter = {"i": "i", "u": "u", "f": "f"}[value.dtype.kind]
    kind = f"{letter}{8 * value.dtype.itemsize}"
    return {**place, "kind": kind, "value": value.item()}
