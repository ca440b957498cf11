# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of others, run by `kw launch` in strict mode and compared with numpy."""

import itertools
import os
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))
os.environ.setdefault("TRITON_CACHE_DIR", str(FOLDER.parents[1] / "build" / "triton-cache"))

import launching  # noqa: E402  (needs the path above)
import mutating  # noqa: E402

proof = mutating.Proof()


def describe(findings):
    return "\n".join(f"{f['kind']} at {f['pc']:#x} `{f['instruction']}` workgroup {f['workgroup']} "
                     f"wave {f['wave']} lane {f['lane']}: {f['detail']}" for f in findings)


@pytest.fixture
def launch_clean(kw_program, tmp_path, request):
    """launch_clean(code_object, launches): runs them and accepts no finding."""
    folders = (tmp_path / f"launch{i}" for i in itertools.count())

    def run(code_object, launches, extra=()):
        folder = next(folders)
        outcome = launching.launch(kw_program, folder, code_object, launches, extra)
        assert outcome.ok and not outcome.findings, describe(outcome.findings)
        if mutating.MUTANTS:
            proof.add(kw_program, folder / "manifest.json", request.node.name)
        return outcome

    return run


@pytest.fixture
def run_triton(launch_clean):
    """run_triton(function, grid, arguments, constants, **options): compiles for these arguments and
    runs without findings. Skips where Triton is not installed."""
    pytest.importorskip("triton", reason="Triton (PyPI) is not installed: its kernels are not run")
    import compiling

    def run(function, grid, arguments, constants, extra=(), **options):
        kernel = compiling.compile_kernel(function, arguments, constants, **options)
        ordered = [(None, value) for value in [*arguments, *[None] * kernel.hidden]]
        step = launching.Launch(kernel.name, grid, kernel.block, ordered, kernel.lds)
        return launch_clean(kernel.hsaco, [step], extra)

    return run


def pytest_terminal_summary(terminalreporter):
    if mutating.MUTANTS:
        terminalreporter.write_line(proof.text())


def pytest_sessionfinish(session):
    if mutating.MUTANTS and not proof.holds():
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
