# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The gemm operators on a CPU: batches, orders, epilogues and packed weights; which kernel a call gets,
which it is refused and why; empty results; reference and fake tensors."""

import dataclasses

import pytest
import torch

BF16, F16, F32, I8 = torch.bfloat16, torch.float16, torch.float32, torch.int8


@pytest.fixture
def with_facts(kernelwright):
    """with_facts(n=..., ...): the loaded GEMM kernel with other facts, guards or rank, as a second one
    with `name`."""
    (kernel,) = kernelwright.registry.kernels("gemm")

    def change(name=None, guards=None, rank=None, alignment=None, **facts):
        other = dataclasses.replace(
            kernel, name=name or kernel.name, facts=kernel.facts | facts,
            guards=kernel.guards if guards is None else guards,
            alignment=kernel.alignment if alignment is None else alignment,
            rank=kernel.rank if rank is None else rank, sha256=name or kernel.sha256,
        )  # fmt: skip
        kernelwright.registry._kernels[other.sha256, other.problem] = other
        return other

    return change


def randn(*shape, dtype=BF16, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def launched(package):
    """(kernel name, grid, values) of each launch."""
    return [(kernel.name, grid, values) for kernel, _, grid, values in package.registry.launcher.calls]


# ---- One kernel, every m ----


@pytest.mark.parametrize("m", [1, 2, 15, 16, 17, 1000, 4096])
def test_one_kernel_serves_every_m_of_its_guards(kernelwright, m):
    kernelwright.registry.strict = True
    c = torch.ops.kernelwright.gemm(randn(m, 64), randn(32, 64).t())
    ((name, grid, values),) = launched(kernelwright)
    assert c.shape == (m, 32) and grid == (-(-m // 16) * 2, 1, 1) and values["m"] == m


@pytest.mark.parametrize(
    "a, reason",
    [
        (lambda: randn(4097, 64), "needs m >= 1 and m <= 4096 (given"),
        (lambda: torch.zeros(17, 65, dtype=BF16)[:, :64], "needs lda % 8 == 0 (given"),
        (lambda: torch.zeros(1, 64, dtype=BF16).expand(17, 64), "needs lda >= 64 (given"),
        (lambda: torch.zeros(17 * 64 + 1, dtype=BF16)[1:].view(17, 64), "needs a aligned to 16 bytes"),
        (lambda: torch.zeros(64, 17, dtype=BF16).t(), "needs a=mk (given km)"),
        (lambda: randn(17, 64, dtype=F16), "needs adtype=bf16 (given f16)"),
    ],
)
def test_the_rest_is_refused_with_the_reason(kernelwright, a, reason):
    kernelwright.registry.strict = True
    a = a()
    with pytest.raises(kernelwright.NoKernel) as error:
        torch.ops.kernelwright.gemm(a, torch.zeros(32, 64, dtype=a.dtype).t())
    assert f"gemm_test {reason}" in str(error.value) and not launched(kernelwright)


def test_every_reason_is_given(kernelwright, with_facts):
    with_facts(name="for other weights", n=48)
    with_facts(name="for relu", epilogue="relu")
    kernelwright.registry.strict = True
    with pytest.raises(kernelwright.NoKernel) as error:
        torch.ops.kernelwright.gemm(randn(5000, 64), randn(32, 64).t())
    text = str(error.value)
    assert "for other weights needs n=48 (given 32)" in text
    assert "for relu needs epilogue=relu (given )" in text and "needs m >= 1" in text


def test_the_fastest_that_fits_runs(kernelwright, with_facts):
    with_facts(name="fast for few rows", guards=("m <= 16",), rank=1.0)
    for m in (16, 17):
        torch.ops.kernelwright.gemm(randn(m, 64), randn(32, 64).t())
    assert [name for name, _, _ in launched(kernelwright)] == ["fast for few rows", "gemm_test"]


def test_the_kernel_of_the_nearest_size_runs(kernelwright, with_facts):
    """A suite has kernels of several m that are all right for every m: the time of another m says
    nothing of this call. Two problems may have one code object."""
    (kernel,) = kernelwright.registry.kernels("gemm")
    for m, rank in ((1, 1.0), (256, 9.0)):
        problem = f"gemm m={m} n=32 k=64 dtype=bf16 b=nk"
        other = dataclasses.replace(kernel, name=f"for {m}", problem=problem, rank=rank)
        kernelwright.registry._kernels[other.sha256, other.problem] = other
    wanted = {1: "for 1", 3: "for 1", 5: "gemm_test", 60: "gemm_test", 70: "for 256", 4096: "for 256"}
    for m in wanted:
        torch.ops.kernelwright.gemm(randn(m, 64), randn(32, 64).t())
    assert [name for name, _, _ in launched(kernelwright)] == list(wanted.values())


def test_a_fact_that_one_side_does_not_know_is_refused(kernelwright, with_facts):
    """A kernel for more than the operator can ask, an operator that asks more than a row says."""
    with_facts(swizzled=1)
    kernelwright.registry.strict = True
    with pytest.raises(kernelwright.NoKernel, match="swizzled=1 .given None"):
        torch.ops.kernelwright.gemm(randn(4, 64), randn(32, 64).t())


def test_what_a_row_leaves_out_is_neutral(kernelwright, with_facts):
    """Rows written before there were epilogues and batches run what they could, and no more."""
    kernel, late = with_facts(), ("preshuffle", "alpha", "beta", "epilogue")
    facts = {name: value for name, value in kernel.facts.items() if name not in late}
    early = dataclasses.replace(kernel, facts=facts, sizes=("m", "lda", "ldb", "ldc"))
    kernelwright.registry._kernels[kernel.sha256, kernel.problem] = early
    kernelwright.registry.strict = True
    a, weight = randn(2, 4, 64), randn(32, 64)
    torch.ops.kernelwright.gemm(a[0], weight.t())
    assert len(launched(kernelwright)) == 1
    for call, reason in [
        (lambda: torch.ops.kernelwright.gemm(a[0], weight.t(), epilogue="relu"), "needs epilogue= "),
        (lambda: torch.ops.kernelwright.gemm(a[0], weight.t(), alpha=2.0), "needs alpha=1 "),
        (lambda: torch.ops.kernelwright.gemm(a, weight.t()), "has no size batch .given 2."),
        (lambda: torch.ops.kernelwright.gemm_packed(a[0], kernelwright.pack_weights(weight), 32), "preshuffle=0"),
    ]:  # fmt: skip
        with pytest.raises(kernelwright.NoKernel, match=reason):
            call()


# ---- Empty results ----


@pytest.mark.parametrize("a_shape, b_shape", [
    ((0, 64), (64, 32)), ((4, 64), (64, 0)), ((0, 5, 64), (0, 64, 32)), ((3, 0, 64), (3, 64, 32)),
    ((0, 5, 64), (64, 32)), ((3, 4, 64), (64, 0)), ((0, 0), (0, 0)),
])  # fmt: skip
def test_empty_results_launch_nothing(kernelwright, a_shape, b_shape):
    kernelwright.registry.strict = True
    for dtype, out in ((BF16, None), (I8, F32)):
        a, b = torch.zeros(a_shape, dtype=dtype), torch.zeros(b_shape, dtype=dtype)
        c = torch.ops.kernelwright.gemm(a, b, out_dtype=out)
        assert c.shape == torch.matmul(a.float(), b.float()).shape and c.dtype == (out or BF16)
    assert not launched(kernelwright) and kernelwright.report() == {"hits": {}, "misses": {}}


@pytest.mark.parametrize("epilogue", ["", "bias", "relu"])
def test_an_empty_sum_is_the_epilogue_alone(kernelwright, epilogue):
    kernelwright.registry.strict = True
    bias = randn(32) if "bias" in epilogue else None
    c = torch.ops.kernelwright.gemm(randn(5, 0), randn(0, 32), bias, epilogue=epilogue)
    assert torch.equal(c, torch.zeros(5, 32, dtype=BF16) if bias is None else bias.expand(5, 32))
    assert not launched(kernelwright)


# ---- Orders and batches ----


@pytest.mark.parametrize("n, k", [(1, 64), (32, 1), (1, 1)])
@pytest.mark.parametrize("order", ["kn", "nk"])
def test_one_column_fits_both_orders(kernelwright, with_facts, n, k, order):
    """x @ W.t() with W of one row has the strides of either order."""
    with_facts(n=n, k=k, b=order, guards=(f"ldb >= {k if order == 'nk' else n}",), alignment={})
    kernelwright.registry.strict = True
    for weight in (randn(n, k).t(), randn(k, n)):
        if n > 1 and k > 1:
            continue
        torch.ops.kernelwright.gemm(randn(3, k), weight)
    assert len(launched(kernelwright)) == 2


def test_batches(kernelwright, with_facts):
    with_facts(guards=("m >= 1", "batch <= 8"))
    kernelwright.registry.strict = True
    a, weights = randn(8, 5, 64), randn(8, 32, 64)
    assert torch.ops.kernelwright.gemm(a, weights.transpose(1, 2)).shape == (8, 5, 32)
    assert torch.ops.kernelwright.gemm(a, weights[0].t()).shape == (8, 5, 32)
    assert torch.ops.kernelwright.gemm(a[0], weights.transpose(1, 2)).shape == (8, 5, 32)
    assert torch.ops.kernelwright.gemm(a[:1], weights[:1].transpose(1, 2)).shape == (1, 5, 32)
    sizes = [{name: values[name] for name in ("batch", "sa", "sb", "sc")} for *_, values in launched(kernelwright)]
    whole = {"batch": 8, "sa": 5 * 64, "sb": 32 * 64, "sc": 5 * 32}
    assert sizes == [whole, whole | {"sb": 0}, whole | {"sa": 0}, {"batch": 1, "sa": 0, "sb": 0, "sc": 0}]
    with pytest.raises(kernelwright.NoKernel, match="batch <= 8"):
        torch.ops.kernelwright.gemm(randn(9, 5, 64), weights[0].t())


# ---- Epilogues ----


def exact(a, b, bias=None, aux=None, aux2=None, c=None, epilogue="", alpha=1.0, beta=0.0):
    y = alpha * (a.double() @ b.double()) + (0 if c is None else beta * c.double())
    others = [tensor.double() for tensor in (aux, aux2) if tensor is not None]
    for step in epilogue.split(",") if epilogue else []:
        if step == "bias":
            y = y + bias.double()
        elif step == "mul":
            y = y * others.pop(0)
        elif step == "add":
            y = y + others.pop(0)
        else:
            y = getattr(torch.nn.functional, step)(y)
    return y


def arguments(epilogue, m=7, n=32, batch=(), dtype=BF16):
    steps = epilogue.split(",")
    given = {"epilogue": epilogue}
    if "bias" in steps:
        given["bias"] = randn(n, dtype=dtype, seed=3)
    for index, _ in enumerate(step for step in steps if step in ("mul", "add")):
        given[("aux", "aux2")[index]] = randn(*batch, m, n, dtype=dtype, seed=4 + index)
    return given


EPILOGUES = ["bias", "bias,gelu", "silu,mul", "bias,relu,add", "add,mul", "mul,bias,add,gelu", "relu"]


@pytest.mark.parametrize("epilogue", EPILOGUES)
@pytest.mark.parametrize("alpha, beta", [(1.0, 0.0), (0.5, 2.0)])
@pytest.mark.parametrize("batch", [(), (3,)])
def test_reference_of_epilogues(kernelwright, epilogue, alpha, beta, batch):
    kernelwright.registry.launcher = None
    a, b = randn(*batch, 7, 64, seed=1), randn(*batch, 32, 64, seed=2).transpose(-1, -2)
    given = arguments(epilogue, batch=batch) | {"alpha": alpha, "beta": beta}
    if beta:
        given["c"] = randn(*batch, 7, 32, seed=9)
    got = torch.ops.kernelwright.gemm(a, b, **given)
    torch.testing.assert_close(got.double(), exact(a, b, **given), rtol=2**-7, atol=2**-5)


@pytest.mark.parametrize("epilogue", ["bias,gelu", "add,mul"])
def test_a_kernel_gets_what_its_epilogue_reads(kernelwright, with_facts, epilogue):
    with_facts(epilogue=epilogue, alpha=0.5, beta=2.0)
    kernelwright.registry.strict = True
    c = randn(7, 32, seed=9)
    given = arguments(epilogue)
    result = torch.ops.kernelwright.gemm(
        randn(7, 64), randn(32, 64).t(), **given, c=c, alpha=0.5, beta=2.0
    )
    ((_, _, values),) = launched(kernelwright)
    for name in ("bias", "aux", "aux2"):
        assert (name in values) == (name in given)
        if name in given:
            assert values[name] == given[name].data_ptr()
    assert values["alpha"] == 0.5 and values["beta"] == 2.0
    assert torch.equal(result, c) and result.data_ptr() != c.data_ptr()  # c goes in as the result


@pytest.mark.parametrize(
    "given, message",
    [
        ({"epilogue": "bias"}, "needs bias"), ({"bias": torch.zeros(32)}, "has no step for bias"),
        ({"epilogue": "mul"}, "needs aux"), ({"epilogue": "tanh"}, "'tanh'"),
        ({"epilogue": "relu,relu"}, "twice"), ({"beta": 1.0}, "beta=1.0 without c"),
        ({"c": torch.zeros(7, 32, dtype=BF16)}, "beta=0.0 with c"),
        ({"epilogue": "bias", "bias": torch.zeros(31, dtype=BF16)}, "expected .32,."),
        ({"epilogue": "bias", "bias": torch.zeros(32, dtype=F16)}, "expected .32,. of torch.bfloat16"),
        ({"epilogue": "add", "aux": torch.zeros(1, 32, dtype=BF16)}, "expected .7, 32."),
    ],
)  # fmt: skip
@pytest.mark.parametrize("fake", [False, True])
def test_wrong_arguments_are_named(kernelwright, given, message, fake):
    def call():
        with pytest.raises(RuntimeError, match=message):
            torch.ops.kernelwright.gemm(torch.zeros(7, 64, dtype=BF16), torch.zeros(64, 32, dtype=BF16), **given)

    if not fake:
        return call()
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode(allow_non_fake_inputs=True):
        call()


# ---- Types and packed weights ----


def test_int8_sums_exactly(kernelwright):
    kernelwright.registry.launcher = None
    generator = torch.Generator().manual_seed(5)
    a, b = (torch.randint(-128, 128, shape, generator=generator).to(I8) for shape in ((5, 640), (640, 32)))
    exactly = a.long() @ b.long()
    assert torch.equal(torch.ops.kernelwright.gemm(a, b, out_dtype=torch.int32).long(), exactly)
    assert torch.equal(torch.ops.kernelwright.gemm(a, b, out_dtype=F32).long(), exactly)
    assert torch.equal(torch.ops.kernelwright.gemm(a, b), exactly.to(BF16))


def test_types_choose_the_kernel(kernelwright, with_facts):
    with_facts(adtype="i8", bdtype="i8", out="f32")
    kernelwright.registry.strict = True
    a, b = torch.zeros(4, 64, dtype=I8), torch.zeros(32, 64, dtype=I8).t()
    assert torch.ops.kernelwright.gemm(a, b, out_dtype=F32).dtype == F32
    with pytest.raises(kernelwright.NoKernel, match="out=f32 .given bf16"):
        torch.ops.kernelwright.gemm(a, b)


@pytest.mark.parametrize("n", [32, 33])
@pytest.mark.parametrize("batch", [(), (3,)])
def test_packed_weights(kernelwright, with_facts, n, batch):
    with_facts(preshuffle=1, n=n, guards=("m >= 1",))
    weight, a = randn(*batch, n, 64), randn(*batch, 5, 64, seed=1)
    packed = kernelwright.pack_weights(weight)
    result = torch.ops.kernelwright.gemm_packed(a, packed, n)
    ((_, _, values),) = launched(kernelwright)
    assert values["b"] == packed.data_ptr() and result.shape == (*batch, 5, n)
    kernelwright.registry.launcher = None
    got = torch.ops.kernelwright.gemm_packed(a, packed, n)
    torch.testing.assert_close(got, torch.matmul(a, weight.transpose(-1, -2)))
    with pytest.raises(RuntimeError, match="packed for k=64"):
        torch.ops.kernelwright.gemm_packed(randn(5, 32), packed, n)


# ---- torch.compile ----


def test_opcheck(kernelwright):
    kernelwright.registry.launcher = None
    a, b = randn(3, 7, 64), randn(3, 64, 32, seed=2)
    given = arguments("bias,silu,mul", batch=(3,))
    torch.library.opcheck(torch.ops.kernelwright.gemm.default, (a, b), given)
    packed = kernelwright.pack_weights(randn(32, 64))
    torch.library.opcheck(torch.ops.kernelwright.gemm_packed.default, (a, packed, 32))


def test_a_compiled_model_launches_the_same_kernels(kernelwright, with_facts):
    """The kernel of a plain product and one with an epilogue, chosen inside a compiled graph."""
    with_facts(name="with silu", epilogue="bias,silu")
    kernelwright.registry.strict = True

    def layer(x, weight, bias):
        return torch.ops.kernelwright.gemm(x, weight.t(), bias, epilogue="bias,silu") + 1, (
            torch.ops.kernelwright.gemm(x, weight.t())
        )

    compiled = torch.compile(layer, backend="aot_eager", fullgraph=True, dynamic=True)
    for m in (4, 9):
        compiled(randn(m, 64), randn(32, 64), randn(32))
    assert [(name, values["m"]) for name, _, values in launched(kernelwright)] == [
        ("with silu", 4), ("gemm_test", 4), ("with silu", 9), ("gemm_test", 9),
    ]  # fmt: skip


@pytest.mark.parametrize("shape", [(5,), (0,), (3, 5), (3, 0), (0, 5)])
def test_fake_results_are_like_real_ones(kernelwright, shape):
    from torch._subclasses.fake_tensor import FakeTensorMode

    def results(make):
        weight, packed = make(32, 64), make(2, 2, 4, 16, 8)
        return (
            torch.ops.kernelwright.gemm(make(*shape, 64), weight.t()),
            torch.ops.kernelwright.gemm_packed(make(*shape, 64), packed, 31),
        )

    kernelwright.registry.launcher = None
    real = results(lambda *sizes: torch.zeros(sizes, dtype=BF16))
    with FakeTensorMode():
        for fake, true in zip(results(lambda *sizes: torch.empty(sizes, dtype=BF16)), real):
            assert (fake.shape, fake.stride(), fake.dtype) == (true.shape, true.stride(), true.dtype)
