# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loads a Kernelwright bundle and runs its kernels behind torch.library operators.

    import kernelwright
    kernelwright.load("out/quickstart")
    y = torch.ops.kernelwright.gemm(x, weight.t())

Without a matching kernel or GPU the operators compute their reference; `strict=True` raises
instead, with every kernel's reason. `kernelwright.report()` counts hits and misses.
"""

from __future__ import annotations

from pathlib import Path

from . import lookup, ops
from .bundle import BundleError, read_bundle
from .expressions import ExpressionError
from .packing import pack_weights
from .registry import NoKernel, registry

__all__ = [
    "BundleError", "ExpressionError", "NoKernel", "load", "lookup", "ops", "pack_weights", "read_bundle",
    "registry", "report",
]  # fmt: skip


def load(directory: str | Path, *, strict: bool = False) -> int:
    """Adds a bundle's kernels to the operators; returns how many the bundle has. Idempotent."""
    registry.strict = strict
    return registry.load(directory)


def report() -> dict[str, dict[str, int]]:
    """Calls that a kernel ran, by kernel, and calls that took the reference path, by operator."""
    return {"hits": dict(registry.hits), "misses": dict(registry.misses)}
