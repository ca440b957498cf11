# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A small bundle written by hand, and a launcher that records what it is given."""

import hashlib
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "experiments" / "inductor"))


def pointer(name, offset):
    return {"name": name, "kind": "pointer", "offset": offset, "size": 8}


def number(name, kind, offset):
    return {"name": name, "kind": kind, "offset": offset, "size": 4}


GEMM = {
    "name": "gemm_test",
    "operator": "gemm",
    "facts": {"adtype": "bf16", "bdtype": "bf16", "out": "bf16", "n": 32, "k": 64, "a": "mk", "b": "nk"},
    "problem": "gemm m=16 n=32 k=64 dtype=bf16 b=nk",
    "schedule": "gemm.1:",
    "target": "gfx950",
    "code_object": "gemm_test.hsaco",
    "sizes": ["m", "lda", "ldb", "ldc"],
    "guards": ["m >= 1 and m <= 4096", "lda % 8 == 0", "lda >= 64", "ldb % 8 == 0"],
    "alignment": {"a": 16, "b": 16, "c": 2},
    "time_us": 3.0,
    "launches": [
        {
            "kernel": "gemm_test_main",
            "grid": ["ceildiv(m, 16) * 2", "1", "1"],
            "block": [256, 1, 1],
            "dynamic_lds": 0,
            "kernarg_bytes": 40,
            "args": [
                pointer("a", 0), pointer("b", 8), pointer("c", 16),
                number("m", "i32", 24), number("lda", "i32", 28),
                number("ldb", "i32", 32), number("ldc", "i32", 36),
            ],
        }
    ],
}  # fmt: skip
RMSNORM = {
    "name": "rmsnorm_test",
    "operator": "rmsnorm",
    "facts": {"dtype": "bf16", "out": "bf16", "cols": 64, "weight": 1, "residual": 0},
    "problem": "rmsnorm rows=4 cols=64 dtype=bf16",
    "schedule": "rmsnorm.1:",
    "target": "gfx950",
    "code_object": "rmsnorm_test.hsaco",
    "sizes": ["rows"],
    "guards": ["rows >= 1"],
    "alignment": {"x": 16, "weight": 16, "y": 16},
    "time_us": 2.0,
    "launches": [
        {
            "kernel": "rmsnorm_test_main",
            "grid": ["ceildiv(rows, 4)", "1", "1"],
            "block": [256, 1, 1],
            "dynamic_lds": 0,
            "kernarg_bytes": 32,
            "args": [
                pointer("x", 0), pointer("weight", 8), pointer("y", 16),
                number("rows", "i32", 24), number("eps", "f32", 28),
            ],
        }
    ],
}  # fmt: skip


@pytest.fixture
def bundle(tmp_path):
    """Folder of a bundle whose code objects are placeholders: enough for all but execution."""
    folder = tmp_path / "bundle"
    (folder / "kernels").mkdir(parents=True)
    rows = []
    for row in (GEMM, RMSNORM):
        image = row["name"].encode()
        (folder / "kernels" / row["code_object"]).write_bytes(image)
        rows.append(row | {"sha256": hashlib.sha256(image).hexdigest()})
    (folder / "kernels" / "kernels.json").write_text(json.dumps({"version": 1, "kernels": rows}))
    (folder / "bundle.json").write_text(json.dumps({"version": 1}))
    return folder


class RecordingLauncher:
    def __init__(self):
        self.calls = []

    def launch(self, kernel, launch, grid, values):
        self.calls.append((kernel, launch, grid, dict(values)))


@pytest.fixture
def kernelwright(bundle):
    """The package with the bundle loaded and a recording launcher in place of a GPU."""
    import kernelwright as package

    package.registry.clear()
    package.load(bundle)
    package.registry.launcher = RecordingLauncher()
    yield package
    package.registry.clear()
