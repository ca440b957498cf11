# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`kw measure`, and `--device hip`: refusals where there is no GPU, and what is stored where a
library poses as one (tests/runtime/hip/FakeGpu.cpp)."""

import json
import os
import sqlite3
import subprocess

import pytest

PROBLEM = "rmsnorm rows=3 cols=256 dtype=bf16"


@pytest.fixture(scope="module")
def compiled(kw_program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("compiled")
    subprocess.run([kw_program, "compile", PROBLEM, "-o", folder], check=True, capture_output=True)
    return folder


@pytest.fixture
def measure(kw_program, compiled, tmp_path):
    """measure(library, options..., **environment): the finished process."""

    def run(library, *options, **environment):
        command = [kw_program, "measure", compiled, "--json", "--db", tmp_path / "kw.db",
                   "--samples", "3", "--warm-ups", "1", *options]  # fmt: skip
        return subprocess.run(command, capture_output=True, text=True,
                              env=os.environ | {"KW_HIP_LIBRARY": str(library)} | environment)  # fmt: skip

    return run


@pytest.fixture
def fake_gpu(kw_program):
    return kw_program.parents[1] / "tests" / "libkw_fake_gpu.so"


def rows(tmp_path):
    if not (tmp_path / "kw.db").exists():
        return []
    with sqlite3.connect(tmp_path / "kw.db") as store:
        return store.execute("SELECT rung, origin, created, value, device.name FROM result "
                             "JOIN device ON device.id = result.device").fetchall()  # fmt: skip


def one_line(done):
    assert done.returncode == 1
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    assert json.loads(done.stdout)["error"]["kind"] == "failed"
    return lines[0]


def test_without_a_library_it_is_one_line(measure, tmp_path):
    line = one_line(measure("/no-such-library.so"))
    assert "no GPU found: " in line and "no-such-library" in line
    assert not rows(tmp_path)


def test_an_emulation_is_never_stored_as_measured(measure, kw_program, tmp_path):
    library = kw_program.parents[1] / "lib" / "libamdhip64.so.7"
    assert "'Kernelwright emulator of gfx950' is no GPU" in one_line(measure(library))
    assert not rows(tmp_path)


def test_a_measurement_is_stored_with_its_device(measure, fake_gpu, tmp_path):
    done = measure(fake_gpu)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["source"] == "measured" and said["problem"] == PROBLEM
    assert said["device"] == "Test double of a GPU" and said["arch"] == "gfx950"
    assert said["min_us"] <= said["p10_us"] <= said["time_us"] <= said["p90_us"] <= said["max_us"]
    assert said["samples"] == 3 and said["sets"] >= 2
    [(rung, origin, created, value, device)] = rows(tmp_path)
    assert (rung, origin, device) == ("measured", "kw", "Test double of a GPU")
    assert created.startswith("20") and json.loads(value) == said


def test_measured_again_it_is_one_row(measure, fake_gpu, tmp_path):
    first, second = (json.loads(measure(fake_gpu).stdout) for _ in range(2))
    assert first["hsaco_sha256"] == second["hsaco_sha256"]
    [row] = rows(tmp_path)
    assert json.loads(row[3]) == second


def test_a_hung_kernel_is_one_line_and_nothing_is_stored(measure, fake_gpu, tmp_path):
    done = measure(fake_gpu, "--limit", "1", KW_FAKE_GPU_HANG="hipDeviceSynchronize")
    assert "did not end within 1 s" in one_line(done)
    assert not rows(tmp_path)


@pytest.mark.parametrize("command", ["validate", "launch"])
def test_other_commands_survive_a_hung_kernel(kw_program, compiled, fake_gpu, command):
    [manifest] = compiled.glob("*.json")
    done = subprocess.run([kw_program, command, manifest, "--device", "hip", "--limit", "1",
                           "--json"], capture_output=True, text=True,
                          env=os.environ | {"KW_HIP_LIBRARY": str(fake_gpu),
                                            "KW_FAKE_GPU_HANG": "hipDeviceSynchronize"})  # fmt: skip
    assert "did not end within 1 s" in one_line(done)
