# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs `kw` in a folder of the test's own."""

import json
import subprocess
from dataclasses import dataclass

import pytest


@dataclass
class Answer:
    status: int
    out: str
    err: str

    def json(self):
        """The one JSON document on stdout; NaN and Infinity are refused."""

        def refuse(constant):
            raise AssertionError(f"{constant} in JSON")

        return json.loads(self.out, parse_constant=refuse)

    def one_line_error(self, *parts):
        """The message, which must be the only line on stderr and hold all parts."""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        assert lines[0].startswith("kw: "), lines[0]
        for part in parts:
            assert part in lines[0], lines[0]
        return lines[0]


@pytest.fixture
def kw(kw_program, tmp_path):
    """kw("space", "gemm ...", json=True, input=None) -> Answer"""
    kw_program = kw_program.resolve()
    if not kw_program.exists():
        pytest.fail(f"{kw_program} is not built")

    def run(*arguments, input=None, timeout=300, cwd=tmp_path, prefix=(), **options):
        completed = subprocess.run(
            [*prefix, str(kw_program), *map(str, arguments)],
            input=input, capture_output=True, text=True, timeout=timeout, cwd=cwd, **options,
        )  # fmt: skip
        return Answer(completed.returncode, completed.stdout, completed.stderr)

    run.program = kw_program
    run.folder = tmp_path
    return run


SMALL_GEMM = "gemm m=16 n=32 k=64 dtype=bf16 b=nk"
SMALL_NORM = "rmsnorm rows=8 cols=512 dtype=bf16"


@pytest.fixture
def small_gemm():
    return SMALL_GEMM


@pytest.fixture
def small_norm():
    return SMALL_NORM
