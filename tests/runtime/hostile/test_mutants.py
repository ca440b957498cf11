# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hostile code objects and manifests under the address and undefined behaviour sanitizers: 100,000
mutants of kernels of ours, and a while of libFuzzer. KW_MUTANTS sets another number of mutants."""

import os
import re
import shutil
import subprocess

import pytest

pytestmark = pytest.mark.slow

SEEDS = [
    ("rmsnorm rows=8 cols=256 dtype=bf16 residual=1", None),
    ("gemm m=64 n=64 k=128 dtype=bf16 b=nk", "gemm.1:tile=64x64x128,mfma=32x32x16,la=padding,"
     "lb=padding,stages=3,prefetch=2,xcd=0,group=0,slicek=2"),
    ("gemm m=64 n=64 k=128 dtype=bf16 b=nk", "gemm.1:tile=64x64x32,waves=1x2,mfma=32x32x16,a=lds,"
     "b=lds,la=padding,epi=permlane,prefetch=2,xcd=0,group=0,slicek=2,splitk=4"),
    ("gemm m=64 n=48 k=128 dtype=bf16 b=nk", "gemm.1:tile=64x48x128,waves=2x1,a=lds,acc=agpr,"
     "epi=swap,schedule=interleaved,xcd=0,group=0,slicek=4"),
    ("attention b=1 hq=8 hkv=1 sq=1 skv=256 d=64 dtype=bf16", None),
]  # fmt: skip


@pytest.fixture(scope="session")
def sanitized(root):
    """Folder of kw_mutants and kw_fuzz, built with sanitizers in build/fuzz."""
    if not shutil.which("clang++-22"):
        pytest.skip("clang-22 and libclang-rt-22-dev are not installed: no fuzzer")
    for command in (["cmake", "--preset", "fuzz"], ["cmake", "--build", "--preset", "fuzz"]):
        done = subprocess.run(command, cwd=root, capture_output=True, text=True)
        assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return root / "build" / "fuzz" / "bin"


@pytest.fixture(scope="session")
def seeds(kw_program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("seeds")
    for number, (problem, schedule) in enumerate(SEEDS):
        made = tmp_path_factory.mktemp(f"seed{number}")
        chosen = ["--schedule", schedule] if schedule else []
        subprocess.run([kw_program, "compile", problem, *chosen, "-o", made], check=True,
                       capture_output=True)  # fmt: skip
        for file in made.iterdir():
            shutil.copy(file, folder)
    return folder


def test_mutants_break_nothing(sanitized, seeds):
    count = int(os.environ.get("KW_MUTANTS", 100_000))
    shards = os.cpu_count()
    size = -(-count // shards)
    running = [
        subprocess.Popen([sanitized / "kw_mutants", seeds, str(shard * size), str(size)],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for shard in range(shards)
    ]  # fmt: skip
    said = [process.communicate()[0] for process in running]
    assert all(process.returncode == 0 for process in running), "\n".join(t[-4000:] for t in said)
    for text in said:
        shares = {name: int(n) for n, name in re.findall(r"(\d+) ([a-z ]+)[,\n]", text)}
        assert min(shares[way] for way in ("refused", "findings", "clean")) > size / 100, text


def test_fuzzer_finds_nothing(sanitized, seeds, tmp_path):
    corpus = tmp_path / "corpus"
    subprocess.run([sanitized / "kw_mutants", seeds, "--corpus", corpus], check=True)
    done = subprocess.run([sanitized / "kw_fuzz", corpus, "-max_total_time=60", "-timeout=60",
                           "-max_len=65536", "-rss_limit_mb=8192"], cwd=tmp_path,
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
