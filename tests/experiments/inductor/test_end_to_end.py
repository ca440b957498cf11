# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From `kw tune` to a torch operator: the loader packs arguments and grids of an exported bundle,
and the emulator runs what it packed. Only the GPU's launch call itself is replaced."""

import ctypes
import json
import subprocess

import pytest
import torch
from kernelwright.launch import pack

BF16 = torch.bfloat16


class EmulatorLauncher:
    """Runs a launch through `kw launch`: tensors go in and come back as files."""

    def __init__(self, kw, folder, tensor_bytes):
        self.kw, self.folder, self.tensor_bytes, self.launches = kw, folder, tensor_bytes, 0

    def _argument(self, argument, segment, addresses):
        if argument.kind != "pointer":
            value = segment[argument.offset : argument.offset + argument.size].hex()
            return {"offset": argument.offset, "kind": "bytes", "value": value}
        name = argument.name
        addresses[name] = int.from_bytes(segment[argument.offset : argument.offset + 8], "little")
        return {"offset": argument.offset, "kind": "buffer", "buffer": name}

    def launch(self, kernel, launch, grid, values):
        segment, addresses = pack(launch, values), {}
        arguments = [self._argument(item, segment, addresses) for item in launch.arguments]
        buffers = {}
        for name, address in addresses.items():
            size = self.tensor_bytes[name]
            (self.folder / f"{name}.bin").write_bytes(ctypes.string_at(address, size))
            buffers[name] = {
                "bytes": size, "role": "output" if name in ("c", "y", "sum") else "input",
                "init": {"file": f"{name}.bin"}, "save": f"{name}.out",
            }  # fmt: skip
        manifest = {
            "code_object": str(kernel.code_object), "buffers": buffers,
            "launches": [{"kernel": launch.kernel, "grid": list(grid), "block": list(launch.block),
                          "dynamic_lds": launch.dynamic_lds, "args": arguments}],
        }  # fmt: skip
        (self.folder / "launch.json").write_text(json.dumps(manifest))
        run = subprocess.run(
            [self.kw, "launch", self.folder / "launch.json", "--json"], capture_output=True, text=True
        )
        assert run.returncode == 0, run.stdout + run.stderr
        for name in ("c", "y", "sum"):
            if name in addresses:
                data = (self.folder / f"{name}.out").read_bytes()
                ctypes.memmove(addresses[name], data, len(data))
        self.launches += 1


@pytest.fixture
def tuned(kw_program, tmp_path):
    """Tunes problems, loads the bundle, and gives the package and a launcher for tensor sizes."""
    import kernelwright

    def tune(problem, tensor_bytes):
        subprocess.run(
            [kw_program, "tune", *problem.split(), "--budget", "2evals", "--top", "1", "--quiet",
             "--db", tmp_path / "kw.db", "--out", tmp_path / "bundle"],
            check=True, capture_output=True,
        )  # fmt: skip
        kernelwright.load(tmp_path / "bundle", strict=True)
        launcher = EmulatorLauncher(kw_program, tmp_path, tensor_bytes)
        kernelwright.registry.launcher = launcher
        return launcher

    kernelwright.registry.clear()
    yield tune
    kernelwright.registry.clear()


# The problem is tuned for m=64; every other m is the same kernel at its guards' run-time sizes.
@pytest.mark.parametrize("m", [1, 64, 77])
@pytest.mark.parametrize("order", ["nk", "kn"])
def test_gemm(tuned, m, order):
    n, k = 96, 160
    launcher = tuned(
        f"gemm m=64 n={n} k={k} dtype=bf16 b={order}",
        {"a": m * k * 2, "b": n * k * 2, "c": m * n * 2},
    )
    generator = torch.Generator().manual_seed(m)
    a = torch.randint(-4, 5, (m, k), generator=generator).to(BF16)
    b = torch.randint(-4, 5, (n, k), generator=generator).to(BF16).t()
    if order == "kn":
        b = b.contiguous()
    c = torch.ops.kernelwright.gemm(a, b)
    assert launcher.launches == 1
    assert torch.equal(c, (a.double() @ b.double()).to(BF16))


def test_add_rms_norm(tuned):
    rows, cols, eps = 5, 192, 1e-3
    size = rows * cols * 2
    launcher = tuned(
        f"rmsnorm rows={rows} cols={cols} dtype=bf16 residual=1 eps={eps}",
        {"x": size, "residual": size, "weight": cols * 2, "y": size, "sum": size},
    )
    x, residual, weight = (torch.randn(shape).to(BF16) for shape in [(rows, cols)] * 2 + [(cols,)])
    y, total = torch.ops.kernelwright.add_rms_norm(x, residual, weight, eps)
    assert launcher.launches == 1
    assert torch.equal(total, x + residual)
    wide = total.double()
    expected = wide / (wide.square().mean(-1, keepdim=True) + eps).sqrt() * weight.double()
    torch.testing.assert_close(y.double(), expected, rtol=2**-7, atol=1e-6)
