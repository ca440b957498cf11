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
OUTPUTS = ("c", "y", "sum", "o", "lse")


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
        workspaces = {item.name: item.bytes_of(values) for item in kernel.workspaces}
        written = {*OUTPUTS, *workspaces}
        arguments = [self._argument(item, segment, addresses) for item in launch.arguments]
        buffers = {}
        for name, address in addresses.items():
            size = workspaces.get(name) or self.tensor_bytes[name]
            (self.folder / f"{name}.bin").write_bytes(ctypes.string_at(address, size))
            buffers[name] = {
                "bytes": size, "role": "output" if name in written else "input",
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
        for name in written & addresses.keys():
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


def attention_operands(b, hq, hkv, sq, skv, d, layout):
    """Normal, and strided as [b, s, h, d] in memory where the layout says so."""
    generator = torch.Generator().manual_seed(skv)

    def one(heads, length):
        tensor = torch.randn(b, heads, length, d, generator=generator).to(BF16)
        if layout == "bshd":
            tensor = tensor.transpose(1, 2).contiguous().transpose(1, 2)
        return tensor

    return one(hq, sq), one(hkv, skv), one(hkv, skv)


def exact_attention(q, k, v, causal):
    group, (sq, skv) = q.shape[1] // k.shape[1], (q.shape[2], k.shape[2])
    keys, values = (tensor.double().repeat_interleave(group, 1) for tensor in (k, v))
    scores = q.double() @ keys.transpose(-1, -2) / q.shape[-1] ** 0.5
    if causal:
        scores = scores.masked_fill(~torch.ones(sq, skv, dtype=torch.bool).tril(skv - sq), -torch.inf)
    lse = scores.logsumexp(-1)
    return (scores - lse.masked_fill(lse.isneginf(), 0).unsqueeze(-1)).exp() @ values, lse


# One kernel for every batch, number of queries and columns, and for both orders in memory; a long
# sequence is tuned to splits, which take a second launch.
@pytest.mark.parametrize(
    "tuned_for, launches, b, sq, skv, layout",
    [(32, 1, 1, 1, 300, "bhsd"), (8192, 2, 2, 3, 777, "bshd"), (8192, 2, 2, 4, 2, "bhsd")],
)
def test_attention(tuned, tuned_for, launches, b, sq, skv, layout):
    hq, hkv, d = 8, 2, 64
    launcher = tuned(
        f"attention b=1 hq={hq} hkv={hkv} sq=2 skv={tuned_for} d={d} dtype=bf16 mask=causal lse=1",
        {"q": b * hq * sq * d * 2, "k": b * hkv * skv * d * 2, "v": b * hkv * skv * d * 2,
         "o": b * hq * sq * d * 2, "lse": b * hq * sq * 4},
    )  # fmt: skip
    q, k, v = attention_operands(b, hq, hkv, sq, skv, d, layout)
    o, lse = torch.ops.kernelwright.attention_decode_lse(q, k, v, causal=True)
    assert launcher.launches == launches
    expected, expected_lse = exact_attention(q, k, v, causal=True)
    torch.testing.assert_close(o.double(), expected, rtol=2**-6, atol=2**-8)
    torch.testing.assert_close(lse.double(), expected_lse, rtol=1e-5, atol=1e-5)
