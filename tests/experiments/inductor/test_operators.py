# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The torch operators on a CPU: registration, fake tensors, selection, refusal, empty results."""

import threading

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
        "batch": 1, "sa": 0, "sb": 0, "sc": 0, "alpha": 1.0, "beta": 0.0,
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


def heads(b=2, sq=1, skv=256, hq=8, hkv=2, d=64, dtype=BF16):
    generator = torch.Generator().manual_seed(skv)
    shapes = (b, hq, sq, d), (b, hkv, skv, d), (b, hkv, skv, d)
    return tuple(torch.randn(shape, generator=generator).to(dtype) for shape in shapes)


def expected_attention(q, k, v, causal, scale=None):
    return torch.nn.functional.scaled_dot_product_attention(
        q.double(), k.double(), v.double(), scale=scale, enable_gqa=True,
        attn_mask=torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).tril(k.shape[2] - q.shape[2])
        if causal else None,
    )  # fmt: skip


def test_attention_launches_both_kernels_over_one_workspace(kernelwright):
    q, k, v = heads(b=3, sq=2)
    k = k.transpose(1, 2).contiguous().transpose(1, 2)  # [b, s, h, d] in memory
    o = torch.ops.kernelwright.attention_decode(q, k, v, causal=True)
    (_, _, grid, main), (_, _, combining_grid, combine) = kernelwright.registry.launcher.calls
    assert o.shape == q.shape and o.is_contiguous()
    assert grid == (24, 1, 1) and combining_grid == (12, 1, 1)
    assert main["partial"] == combine["partial"] != 0 and combine["o"] == o.data_ptr()
    sizes = {"b": 3, "sq": 2, "skv": 256, "q_b": 1024, "q_h": 128, "q_s": 64,
             "k_b": 256 * 128, "k_h": 64, "k_s": 128, "v_b": 32768, "v_h": 256 * 64, "v_s": 64}  # fmt: skip
    assert {name: main[name] for name in sizes} == sizes


def test_strides_of_a_single_query_or_head_do_not_matter(kernelwright):
    q, k, v = heads(b=1)
    q = q.as_strided(q.shape, (7, 64, 3, 1))
    torch.ops.kernelwright.attention_decode(q, k, v, causal=True)
    values = kernelwright.registry.launcher.calls[0][3]
    assert (values["q_b"], values["q_h"], values["q_s"]) == (512, 64, 64)


@pytest.mark.parametrize(
    "case, reason",
    [("dtype", "dtype=bf16"), ("mask", "mask=causal"), ("scale", "scale=0.125"), ("heads", "hq=8"),
     ("d", "d=64"), ("sq", "sq <= 16"), ("lse", "lse=0"), ("stride", "k_s % 8 == 0"),
     ("alignment", "k aligned to 16")],
)  # fmt: skip
def test_attention_outside_its_guards_takes_the_reference(kernelwright, case, reason):
    q, k, v = heads(
        dtype=torch.float16 if case == "dtype" else BF16, hq=4 if case == "heads" else 8,
        sq=17 if case == "sq" else 1, d=128 if case == "d" else 64,
    )  # fmt: skip
    if case == "stride":
        k = torch.nn.functional.pad(k, (0, 1))[..., :-1]
    elif case == "alignment":
        k = torch.cat([k.new_zeros(1), k.flatten()])[1:].view(k.shape)
    causal, scale = case != "mask", 0.5 if case == "scale" else None
    operator = torch.ops.kernelwright.attention_decode
    if case == "lse":
        operator = lambda *arguments: torch.ops.kernelwright.attention_decode_lse(*arguments)[0]  # noqa: E731
    o = operator(q, k, v, causal, scale)
    assert not kernelwright.registry.launcher.calls
    torch.testing.assert_close(
        o.double(), expected_attention(q, k, v, causal, scale), rtol=1e-2, atol=1e-2
    )
    kernelwright.registry.strict = True
    with pytest.raises(kernelwright.NoKernel, match=f"attention_test needs {reason}"):
        operator(q, k, v, causal, scale)


@pytest.mark.parametrize("empty", [{"b": 0}, {"sq": 0}])
def test_empty_attention_launches_nothing(kernelwright, empty):
    q, k, v = heads(**empty)
    o, lse = torch.ops.kernelwright.attention_decode_lse(q, k, v, causal=True)
    assert o.shape == q.shape and lse.shape == q.shape[:3]
    assert torch.ops.kernelwright.attention_decode(q, k, v, causal=True).shape == q.shape
    assert not kernelwright.registry.launcher.calls


def test_attention_rows_that_see_nothing(kernelwright):
    q, k, v = heads(sq=5, skv=3)
    o, lse = torch.ops.kernelwright.attention_decode_lse(q, k, v, causal=True)
    assert torch.all(o[:, :, :2] == 0) and torch.all(lse[:, :, :2] == -torch.inf)
    assert torch.all(lse[:, :, 2:].isfinite()) and not o.isnan().any()
    o, lse = torch.ops.kernelwright.attention_decode_lse(q, k[:, :, :0], v[:, :, :0])
    assert torch.all(o == 0) and torch.all(lse == -torch.inf)


def test_attention_fake_tensors(kernelwright):
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        q, k = torch.empty(2, 8, 3, 64, dtype=BF16), torch.empty(2, 2, 9, 64, dtype=BF16)
        v = torch.empty(2, 2, 9, 32, dtype=BF16)
        o, lse = torch.ops.kernelwright.attention_decode_lse(q, k, v)
        assert o.shape == (2, 8, 3, 32) and o.dtype == BF16 and o.is_contiguous()
        assert lse.shape == (2, 8, 3) and lse.dtype == torch.float32
        with pytest.raises(RuntimeError, match="not a multiple"):
            torch.ops.kernelwright.attention_decode(q[:, :7], k, v)
        with pytest.raises(RuntimeError, match="differ"):
            torch.ops.kernelwright.attention_decode(q, k[:, :, :8], v)


def test_threads_call_and_load_at_once(kernelwright, bundle):
    """Every call finds its kernel and is counted while the bundle is loaded again and again."""
    kernelwright.registry.strict = True
    a, b = operands(5)

    def calls():
        for _ in range(50):
            torch.ops.kernelwright.gemm(a, b)

    threads = [threading.Thread(target=calls) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        kernelwright.load(bundle, strict=True)
    assert kernelwright.report()["hits"] == {"gemm_test": 200}
    assert len(kernelwright.registry.launcher.calls) == 200


def test_loading_twice_changes_nothing(kernelwright, bundle):
    kernelwright.load(bundle)
    assert len(kernelwright.registry.kernels("gemm")) == 1


def test_opcheck(kernelwright):
    kernelwright.registry.launcher = None
    x, weight = torch.randn(4, 64).to(BF16), torch.ones(64, dtype=BF16)
    torch.library.opcheck(torch.ops.kernelwright.gemm.default, operands(5))
    torch.library.opcheck(torch.ops.kernelwright.rms_norm.default, (x, weight, 1e-6))
    torch.library.opcheck(torch.ops.kernelwright.add_rms_norm.default, (x, x, weight, 1e-6))
    torch.library.opcheck(torch.ops.kernelwright.attention_decode.default, (*heads(), True))
    torch.library.opcheck(torch.ops.kernelwright.attention_decode_lse.default, heads(sq=3))


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
