# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The torch operators on a CPU: registration, fake tensors, selection, refusal, empty results."""

import pytest
import torch

BF16 = torch.bfloat16


def operands(m, k=64, n=32, dtype=BF16):
    generator = torch.Generator().manual_seed(m)
    return (
        torch.randn(m, k, generator=generator).to(dtype),
        torch.randn(n, k, generator=generator).to(dtype).t(),
    )


def expected_norm(x, weight, eps):
    wide = x.double()
    return wide / (wide.square().mean(-1, keepdim=True) + eps).sqrt() * weight.double()


def test_gemm_launches_the_kernel_that_fits(kernelwright):
    a, b = operands(17)
    c = torch.ops.kernelwright.gemm(a, b)
    ((kernel, launch, grid, values),) = kernelwright.registry.launcher.calls
    assert kernel.name == "gemm_test" and grid == (4, 1, 1)
    assert values == {
        "a": a.data_ptr(), "b": b.data_ptr(), "c": c.data_ptr(),
        "m": 17, "lda": 64, "ldb": 64, "ldc": 32,
    }  # fmt: skip
    assert kernelwright.report() == {"hits": {"gemm_test": 1}, "misses": {}}


@pytest.mark.parametrize(
    "case",
    ["order", "dtype", "k", "m", "lda", "alignment"],
)
def test_gemm_outside_its_guards_takes_the_reference(kernelwright, case):
    a, b = operands(17)
    if case == "order":
        b = b.contiguous()
    elif case == "dtype":
        a, b = operands(17, dtype=torch.float16)
    elif case == "k":
        a, b = operands(17, k=72)
    elif case == "m":
        a, b = operands(4097)
    elif case == "lda":
        a = torch.zeros(17, 65, dtype=BF16)[:, :64]
    elif case == "alignment":
        a = torch.zeros(17 * 64 + 1, dtype=BF16)[1:].view(17, 64)
    assert torch.equal(torch.ops.kernelwright.gemm(a, b), torch.mm(a, b))
    assert not kernelwright.registry.launcher.calls
    kernelwright.registry.strict = True
    with pytest.raises(kernelwright.NoKernel, match="gemm_test needs"):
        torch.ops.kernelwright.gemm(a, b)


def test_without_a_gpu_the_reference_runs(kernelwright):
    kernelwright.registry.launcher = None
    a, b = operands(17)
    assert torch.equal(torch.ops.kernelwright.gemm(a, b), torch.mm(a, b))
    assert kernelwright.report()["misses"] == {"gemm": 1}


@pytest.mark.parametrize("shape", [(0, 64, 32), (4, 64, 0)])
def test_empty_results_launch_nothing(kernelwright, shape):
    m, k, n = shape
    c = torch.ops.kernelwright.gemm(torch.zeros(m, k, dtype=BF16), torch.zeros(k, n, dtype=BF16))
    assert c.shape == (m, n) and not kernelwright.registry.launcher.calls
    y = torch.ops.kernelwright.rms_norm(torch.zeros(0, 64, dtype=BF16), torch.ones(64, dtype=BF16), 1e-6)
    assert y.shape == (0, 64) and not kernelwright.registry.launcher.calls


def test_rms_norm_passes_rows_and_eps(kernelwright):
    x, weight = torch.ones(2, 3, 64, dtype=BF16), torch.ones(64, dtype=BF16)
    torch.ops.kernelwright.rms_norm(x, weight, 1e-5)
    ((kernel, _, grid, values),) = kernelwright.registry.launcher.calls
    assert kernel.name == "rmsnorm_test" and grid == (2, 1, 1)
    assert values["rows"] == 6 and values["eps"] == 1e-5


def test_rms_norm_reference(kernelwright):
    kernelwright.registry.launcher = None
    x, weight = torch.randn(5, 64).to(BF16), torch.randn(64).to(BF16)
    y = torch.ops.kernelwright.rms_norm(x, weight, 1e-6)
    torch.testing.assert_close(y.double(), expected_norm(x, weight, 1e-6), rtol=1e-2, atol=1e-2)
    residual = torch.randn(5, 64).to(BF16)
    y, total = torch.ops.kernelwright.add_rms_norm(x, residual, weight, 1e-6)
    assert torch.equal(total, x + residual)
    torch.testing.assert_close(
        y.double(), expected_norm(x + residual, weight, 1e-6), rtol=1e-2, atol=1e-2
    )


def test_loading_twice_changes_nothing(kernelwright, bundle):
    kernelwright.load(bundle)
    assert len(kernelwright.registry.kernels("gemm")) == 1


def test_opcheck(kernelwright):
    kernelwright.registry.launcher = None
    x, weight = torch.randn(4, 64).to(BF16), torch.ones(64, dtype=BF16)
    torch.library.opcheck(torch.ops.kernelwright.gemm.default, operands(5))
    torch.library.opcheck(torch.ops.kernelwright.rms_norm.default, (x, weight, 1e-6))
    torch.library.opcheck(torch.ops.kernelwright.add_rms_norm.default, (x, x, weight, 1e-6))


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compiled_equals_eager(kernelwright, backend):
    kernelwright.registry.launcher = None

    def layer(x, residual, weight, projection):
        y, total = torch.ops.kernelwright.add_rms_norm(x, residual, weight, 1e-6)
        return torch.ops.kernelwright.gemm(y, projection.t()) * 2, total

    arguments = [torch.randn(6, 64).to(BF16) for _ in range(2)]
    arguments += [torch.ones(64, dtype=BF16), torch.randn(32, 64).to(BF16)]
    got = torch.compile(layer, backend=backend, fullgraph=True)(*arguments)
    for actual, expected in zip(got, layer(*arguments), strict=True):
        assert actual.stride() == expected.stride()
        torch.testing.assert_close(actual, expected)


def test_fake_tensors_know_shapes_and_refuse_wrong_ones(kernelwright):
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        c = torch.ops.kernelwright.gemm(torch.empty(7, 64), torch.empty(32, 64).t())
        assert c.shape == (7, 32) and c.stride() == (32, 1)
        with pytest.raises(RuntimeError, match="inner sizes differ"):
            torch.ops.kernelwright.gemm(torch.empty(7, 64), torch.empty(32, 64))
