# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models in torch.compile whose operators run tuned kernels: `kw tune` makes a bundle, the loader
chooses and packs, and the emulator runs each launch in strict mode. Small integers: results are exact."""

import pytest
import torch
from emulator_launcher import BF16, integers


@pytest.fixture
def tuned(on_emulator, tmp_path):
    """tuned(problem, ...): a bundle of these problems, loaded."""

    def tune(*problems):
        (tmp_path / "suite.txt").write_text("\n".join(problems) + "\n")
        return on_emulator("--suite", tmp_path / "suite.txt", "--budget", "2evals", "--top", "1")

    return tune


def test_two_projections_for_any_number_of_rows(tuned):
    """Both kernels were tuned for m=32; the compiled model runs them for other m, none at m=0."""
    launcher = tuned("gemm m=32 n=48 k=64 dtype=bf16 b=nk", "gemm m=32 n=64 k=48 dtype=bf16 b=kn")

    def model(x, up, down):
        return torch.ops.kernelwright.gemm(torch.ops.kernelwright.gemm(x, up.t()) / 64, down) + x

    compiled = torch.compile(model, backend="aot_eager", fullgraph=True, dynamic=True)
    up, down = integers(48, 64, seed=1), integers(48, 64, seed=2)
    for m in (5, 32, 40):
        x = integers(m, 64, seed=m)
        hidden = (x.double() @ up.double().t()).to(BF16) / 64
        expected = (hidden.double() @ down.double()).to(BF16) + x
        assert torch.equal(compiled(x, up, down), expected)
    assert len(launcher.names) == 6 and len(set(launcher.names)) == 2
    assert compiled(integers(0, 64), up, down).shape == (0, 64)
    assert len(launcher.names) == 6


# Problems at m=32, or a batch of 4; the calls are of other sizes.
def call(name):
    """(problem, arguments, expected) of one operator call that the problem's kernel runs."""
    if name == "batch":
        a, w = integers(3, 17, 64), integers(3, 48, 64, seed=1).transpose(1, 2)
        return "gemm m=32 n=48 k=64 batch=4 dtype=bf16 b=nk", (a, w), a.double() @ w.double()
    if name == "one weight for a batch":
        a, w = integers(3, 17, 64), integers(48, 64, seed=1).t()
        return "gemm m=32 n=48 k=64 batch=4 dtype=bf16 b=nk", (a, w), a.double() @ w.double()
    if name == "a=km":
        a, w = integers(64, 24).t(), integers(64, 48, seed=1)
        return "gemm m=32 n=48 k=64 dtype=bf16 a=km", (a, w), a.double() @ w.double()
    if name == "padded":
        a, w = integers(17, 80)[:, :64], integers(48, 72, seed=1)[:, :64].t()
        return "gemm m=32 n=48 k=64 dtype=bf16 b=nk lda=80 ldb=72", (a, w), a.double() @ w.double()
    if name == "one column":
        a, w = integers(17, 64), integers(1, 64, seed=1).t()
        return "gemm m=32 n=1 k=64 dtype=bf16 b=nk", (a, w), a.double() @ w.double()
    if name == "f32":
        a, w = integers(17, 64, dtype=torch.float32), integers(48, 64, dtype=torch.float32, seed=1).t()
        return "gemm m=32 n=48 k=64 dtype=f32 b=nk", (a, w), a.double() @ w.double()
    assert name == "i8"
    a, w = integers(17, 64, dtype=torch.int8), integers(48, 64, dtype=torch.int8, seed=1).t()
    return "gemm m=32 n=48 k=64 dtype=i8 b=nk out=i32", (a, w), a.double() @ w.double()


CALLS = ["batch", "one weight for a batch", "a=km", "padded", "one column", "f32", "i8"]


@pytest.mark.parametrize("name", CALLS)
def test_calls(tuned, name):
    problem, (a, b), expected = call(name)
    launcher = tuned(problem)
    out = torch.int32 if a.dtype == torch.int8 else a.dtype
    result = torch.ops.kernelwright.gemm(a, b, out_dtype=out)
    assert torch.equal(result, expected.to(out)) and len(launcher.names) == 1


@pytest.mark.parametrize("m", [1, 40])
def test_packed_weights(tuned, m):
    import kernelwright

    launcher = tuned("gemm m=32 n=48 k=128 dtype=bf16 b=nk preshuffle=1")
    x, weight = integers(m, 128), integers(48, 128, seed=1)
    result = torch.ops.kernelwright.gemm_packed(x, kernelwright.pack_weights(weight), 48)
    assert torch.equal(result, (x.double() @ weight.double().t()).to(BF16))
    assert len(launcher.names) == 1


STEPS = {
    "bias": lambda y, given: y + given["bias"].double(),
    "relu": lambda y, given: y.relu(),
    "gelu": lambda y, given: torch.nn.functional.gelu(y),
    "silu": lambda y, given: torch.nn.functional.silu(y),
}
EPILOGUES = [
    ("bias", "", {}), ("relu,bias", "", {}), ("bias,gelu", "", {}), ("silu,mul", "", {}),
    ("mul,bias,add", "", {}), ("", " alpha=0.5 beta=2.0", {"alpha": 0.5, "beta": 2.0}),
    ("bias,relu", " batch=3", {}), ("add", " batch=3 beta=1.0", {"beta": 1.0}),
]  # fmt: skip


@pytest.mark.parametrize("epilogue, text, scalars", EPILOGUES)
def test_epilogues(tuned, epilogue, text, scalars):
    """Everything that a kernel's epilogue reads reaches it, at another m than it was tuned for."""
    suffix = f" epilogue={epilogue}" if epilogue else ""
    launcher = tuned(f"gemm m=32 n=48 k=64 dtype=bf16 b=nk{text}{suffix}")
    batch, m, n = (3,) if "batch" in text else (), 21, 48
    a, w = integers(*batch, m, 64), integers(*batch, n, 64, seed=1).transpose(-1, -2)
    steps, given, names = epilogue.split(","), dict(scalars), ["aux", "aux2"]
    if "bias" in steps:
        given["bias"] = integers(n, seed=2)
    for step in steps:
        if step in ("mul", "add"):
            given[names.pop(0)] = integers(*batch, m, n, seed=3 + len(names))
    if "beta" in scalars:
        given["c"] = integers(*batch, m, n, seed=6)
    y = scalars.get("alpha", 1) * (a.double() @ w.double())
    y = y + scalars["beta"] * given["c"].double() if "c" in given else y
    others = [given[name].double() for name in ("aux", "aux2") if name in given]
    for step in filter(None, steps):
        if step in STEPS:
            y = STEPS[step](y, given)
        else:
            y = y * others.pop(0) if step == "mul" else y + others.pop(0)
    result = torch.ops.kernelwright.gemm(a, w, epilogue=epilogue, **given)
    assert len(launcher.names) == 1
    torch.testing.assert_close(result.double(), y, rtol=2**-8, atol=2**-10)
