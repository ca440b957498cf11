# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads a bundle from disk: kernels with their launches, sizes and guards. No torch here."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .expressions import evaluate

SCHEMA_VERSION = 1


# Run-time sizes that say how much work a call is.
_EXTENTS = {"m", "batch", "rows", "b", "sq", "skv"}


class BundleError(RuntimeError):
    """The folder is no bundle of this version, or a file does not hold what the bundle says."""


@dataclasses.dataclass(frozen=True)
class Argument:
    name: str
    kind: str  # pointer, i32, i64, f32
    offset: int
    size: int


@dataclasses.dataclass(frozen=True)
class Launch:
    kernel: str
    grid: tuple[str, str, str]  # expressions, workgroups
    block: tuple[int, int, int]
    dynamic_lds: int
    kernarg_bytes: int
    arguments: tuple[Argument, ...]

    def grid_of(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        return tuple(evaluate(expression, sizes) for expression in self.grid)


@dataclasses.dataclass(frozen=True)
class Workspace:
    """Memory of a launch sequence beside its tensors; the caller provides it."""

    name: str
    bytes: str  # expression
    zeroed: bool  # holds zeros before the first launch
    reset: bool  # holds zeros again after the last one

    def bytes_of(self, sizes: Mapping[str, int]) -> int:
        return evaluate(self.bytes, sizes)


@dataclasses.dataclass(frozen=True)
class Kernel:
    """One code object that computes one problem for every run-time size inside its guards."""

    name: str
    operator: str
    facts: Mapping[str, Any]  # what is compiled in: dtype, n, k, orders, ...
    problem: str
    schedule: str
    target: str
    code_object: Path
    sha256: str
    sizes: tuple[str, ...]
    guards: tuple[str, ...]
    alignment: Mapping[str, int]  # bytes, by tensor
    launches: tuple[Launch, ...]
    workspaces: tuple[Workspace, ...]
    rank: float  # predicted or measured microseconds of the problem that it was tuned for

    @functools.cached_property
    def tuned(self) -> Mapping[str, int]:
        """The run-time sizes in the text of `problem`; strides, which follow from them, left out."""
        words = (word.split("=", 1) for word in self.problem.split() if "=" in word)
        return {name: int(value) for name, value in words if name in _EXTENTS and name in self.sizes}

    def distance(self, sizes: Mapping[str, int]) -> float:
        """How far a call is from the problem that the kernel was tuned for, in powers of e."""
        return sum(
            abs(math.log(max(sizes[name], 1) / max(size, 1)))
            for name, size in self.tuned.items()
            if name in sizes
        )

    def refusal(self, sizes: Mapping[str, int]) -> str | None:
        """Why these run-time sizes are outside what the kernel is right for; None: they are not."""
        for guard in self.guards:
            if not evaluate(guard, sizes):
                given = ", ".join(f"{name}={value}" for name, value in sorted(sizes.items()))
                return f"{self.name} needs {guard} (given {given})"
        return None

    def image(self) -> bytes:
        """Bytes of the code object, checked against the bundle's hash."""
        data = self.code_object.read_bytes()
        if hashlib.sha256(data).hexdigest() != self.sha256:
            raise BundleError(f"{self.code_object} is not the file that was exported (sha256)")
        return data


def _launch(row: Mapping[str, Any]) -> Launch:
    return Launch(
        kernel=row["kernel"],
        grid=tuple(row["grid"]),
        block=tuple(row["block"]),
        dynamic_lds=row["dynamic_lds"],
        kernarg_bytes=row["kernarg_bytes"],
        arguments=tuple(Argument(**argument) for argument in row["args"]),
    )


def _kernel(row: Mapping[str, Any], folder: Path) -> Kernel:
    return Kernel(
        name=row["name"],
        operator=row["operator"],
        facts=row["facts"],
        problem=row["problem"],
        schedule=row["schedule"],
        target=row["target"],
        code_object=folder / row["code_object"],
        sha256=row["sha256"],
        sizes=tuple(row["sizes"]),
        guards=tuple(row["guards"]),
        alignment=row["alignment"],
        launches=tuple(_launch(launch) for launch in row["launches"]),
        workspaces=tuple(Workspace(**workspace) for workspace in row.get("workspaces", ())),
        rank=row["time_us"],
    )


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BundleError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise BundleError(f"{path} is not JSON: {error}") from error


def read_bundle(directory: str | Path) -> list[Kernel]:
    """Kernels of the bundle in `directory`; every code object is there and has its hash."""
    root = Path(directory)
    version = _json(root / "bundle.json").get("version")
    if version != SCHEMA_VERSION:
        raise BundleError(f"{root} has bundle version {version}; this loader reads {SCHEMA_VERSION}")
    path = root / "kernels" / "kernels.json"
    try:
        kernels = [_kernel(row, path.parent) for row in _json(path)["kernels"]]
    except (KeyError, TypeError) as error:
        raise BundleError(f"{path}: missing or unknown field {error}") from error
    for kernel in kernels:
        try:
            kernel.image()
        except OSError as error:
            raise BundleError(f"{kernel.code_object}: {error.strerror}") from error
    return kernels
