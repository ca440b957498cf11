# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A HIP host program (experiments/examples) on the emulator, by LD_LIBRARY_PATH alone."""

import json
import os
import subprocess

import pytest


@pytest.fixture
def run_example(kw_program):
    """run_example(arguments): the finished process of hip_rmsnorm."""
    program = kw_program.parent / "hip_rmsnorm"
    if not program.exists():
        pytest.skip("HIP's headers and library (libamdhip64-dev) are not installed")

    def run(*arguments):
        environment = os.environ | {"LD_LIBRARY_PATH": str(kw_program.parents[1] / "lib")}
        return subprocess.run([program, *map(str, arguments)], env=environment,
                              capture_output=True, text=True)  # fmt: skip

    return run


@pytest.fixture
def kernel(kw_program, tmp_path):
    """Code object and kernel name of an RMSNorm of 256 columns, one wave a row."""
    done = subprocess.run([kw_program, "compile", "rmsnorm rows=5 cols=256 dtype=bf16", "-o",
                           tmp_path, "--json"], check=True, capture_output=True, text=True)  # fmt: skip
    compiled = json.loads(done.stdout)
    launch = json.loads(open(compiled["manifest"]).read())["launches"][0]
    assert launch["block"] == [64, 1, 1] and launch["grid"] == [5, 1, 1]
    return compiled["hsaco"], launch["kernel"]


def test_a_hip_program_runs_on_the_emulator(run_example, kernel):
    done = run_example(*kernel, 5, 256)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "device: Kernelwright emulator of gfx950, 256 compute units" in done.stdout
    assert "0 of 1280 elements wrong" in done.stdout


def test_it_notices_wrong_results(run_example, kernel):
    """Rows of twice the length: the kernel writes the first half of the result."""
    done = run_example(*kernel, 2, 512)
    assert done.returncode == 1 and "emulated HIP" not in done.stderr
    assert "of 1024 elements wrong" in done.stdout


def test_what_the_kernel_does_wrong_is_its_error(run_example, kernel):
    """A single row of half the length: the kernel reads past it."""
    done = run_example(*kernel, 1, 128)
    assert done.returncode == 1
    assert "out-of-bounds" in done.stderr and "unspecified launch failure" in done.stderr


def test_errors_of_the_module_api(run_example, kernel):
    done = run_example(kernel[0], "other", 5, 256)
    assert done.returncode == 1
    assert "named symbol not found" in done.stderr
