# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A small bundle written by hand, and a launcher that records what it is given."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "experiments" / "inductor"), str(Path(__file__).parent)]


def pointer(name, offset):
    return {"name": name, "kind": "pointer", "offset": offset, "size": 8}


def number(name, kind, offset):
    return {"name": name, "kind": kind, "offset": offset, "size": 4}


GEMM = {
    "name": "gemm_test",
    "operator": "gemm",
    "facts": {
        "adtype": "bf16", "bdtype": "bf16", "out": "bf16", "n": 32, "k": 64, "a": "mk", "b": "nk",
        "preshuffle": 0, "alpha": 1.0, "beta": 0.0, "epilogue": "",
    },
    "problem": "gemm m=16 n=32 k=64 dtype=bf16 b=nk",
    "schedule": "gemm.1:",
    "target": "gfx950",
    "code_object": "gemm_test.hsaco",
    "sizes": ["m", "lda", "ldb", "ldc", "batch", "sa", "sb", "sc"],
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
STRIDES = [f"{tensor}_{axis}" for tensor in "qkvo" for axis in "bhs"]
ATTENTION = {
    "name": "attention_test",
    "operator": "attention",
    "facts": {
        "dtype": "bf16", "kvdtype": "bf16", "hq": 8, "hkv": 2, "d": 64, "dv": 64,
        "mask": "causal", "scale": 0.125, "lse": 0,
    },
    "problem": "attention b=2 hq=8 hkv=2 sq=1 skv=256 d=64 dtype=bf16 mask=causal",
    "schedule": "attention.1:splitkv=4",
    "target": "gfx950",
    "code_object": "attention_test.hsaco",
    "sizes": ["b", "sq", "skv", *STRIDES],
    "guards": ["b >= 1", "sq >= 1", "sq <= 16", "skv >= 1", "k_s % 8 == 0"],
    "alignment": {"q": 16, "k": 16, "v": 16, "o": 8},
    "workspaces": [
        {"name": "partial", "bytes": "4 * b * 8 * sq * 64 * 4", "zeroed": False, "reset": False},
        {"name": "semaphore", "bytes": "b * 8", "zeroed": True, "reset": True},
    ],
    "time_us": 4.0,
    "launches": [
        {
            "kernel": "attention_test_main",
            "grid": ["b * 8 * ceildiv(sq * 4, 16)", "1", "1"],
            "block": [256, 1, 1],
            "dynamic_lds": 0,
            "kernarg_bytes": 56,
            "args": [
                pointer("q", 0), pointer("k", 8), pointer("v", 16), pointer("partial", 24),
                pointer("semaphore", 32), number("b", "i32", 40), number("sq", "i32", 44),
                number("skv", "i32", 48),
            ],
        },
        {
            "kernel": "attention_test_combine",
            "grid": ["ceildiv(b * sq * 8, 4)", "1", "1"],
            "block": [256, 1, 1],
            "dynamic_lds": 0,
            "kernarg_bytes": 16,
            "args": [pointer("partial", 0), pointer("o", 8)],
        },
    ],
}  # fmt: skip


@pytest.fixture
def bundle(tmp_path):
    """Folder of a bundle whose code objects are placeholders: enough for all but execution."""
    folder = tmp_path / "bundle"
    (folder / "kernels").mkdir(parents=True)
    rows = []
    for row in (GEMM, RMSNORM, ATTENTION):
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


@pytest.fixture
def on_emulator(kw_program, tmp_path, monkeypatch):
    """on_emulator(what, ...): the bundle of `kw tune what ...` is loaded; every call of an operator must
    find a kernel, which the launcher that comes back runs on the emulator."""
    import kernelwright
    from emulator_launcher import EmulatorLauncher

    def load(*what):
        run = subprocess.run(
            [kw_program, "tune", *what, "--quiet", "--db", tmp_path / "kw.db", "--out", tmp_path / "bundle"],
            capture_output=True, text=True,
        )  # fmt: skip
        assert run.returncode == 0, run.stdout + run.stderr
        kernelwright.load(tmp_path / "bundle", strict=True)
        launcher = EmulatorLauncher(kw_program, tmp_path, kernelwright, monkeypatch)
        kernelwright.registry.launcher = launcher
        return launcher

    kernelwright.registry.clear()
    yield load
    kernelwright.registry.clear()


@pytest.fixture(scope="session")
def on_fake_gpu(tmp_path_factory):
    """on_fake_gpu("-m", "kernelwright.compile_rows", ...): runs Python in a process of its own, where
    the fake MI355X may be installed. Skips where Triton is not there."""
    pytest.importorskip("triton", reason="Triton (PyPI) is not installed: no row is compiled for gfx950")
    caches = tmp_path_factory.mktemp("caches")
    paths = [str(ROOT / "experiments" / "inductor"), str(Path(__file__).parent)]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONWARNINGS": "ignore",
        "TORCHINDUCTOR_CACHE_DIR": str(caches / "inductor"),
        "TRITON_CACHE_DIR": str(ROOT / "build" / "triton-cache"),
    }

    def run(*arguments, timeout=600):
        return subprocess.run(
            [sys.executable, *map(str, arguments)],
            capture_output=True, text=True, timeout=timeout, env=environment, cwd=caches,
        )  # fmt: skip

    return run


@pytest.fixture(scope="session")
def compiled_rows(on_fake_gpu, tmp_path_factory):
    """Reports by key of the hand-written table, lowered for the fake MI355X and compiled."""
    from lookup_rows import ARCH, hand_table

    folder = tmp_path_factory.mktemp("rows")
    (folder / "lookup_table.json").write_text(json.dumps(hand_table(ARCH)))
    run = on_fake_gpu(
        "-m", "kernelwright.compile_rows", folder, "--json", folder / "out.json", "--keep", folder / "kept"
    )
    assert (folder / "out.json").exists(), run.stdout + run.stderr
    reports = {report["key"]: report for report in json.loads((folder / "out.json").read_text())}
    return run, folder / "kept", reports
