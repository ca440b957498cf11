# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ten hand-written gfx950 kernels against float64, tails included, in strict mode.

They lie in the folder that KW_CODEOBJECTS names (../shared/data/codeobjects/extract.py takes them
out of a clone of their repository); without it these tests skip."""

import os
from pathlib import Path

import codeobjects
import microscaling
import ml_dtypes
import numpy as np
import pytest
from attention_reference import attend
from codeobjects import ceil_div, shuffle_scales, shuffle_weights
from comparing import assert_near, dot_error
from launching import given, launch, output, zeroed

BF16, F32, F64 = ml_dtypes.bfloat16, np.float32, np.float64
E4M3 = ml_dtypes.float8_e4m3fn


@pytest.fixture
def code_object():
    folder = os.environ.get("KW_CODEOBJECTS")
    if not folder:
        pytest.skip("KW_CODEOBJECTS does not name the folder of the hand-written code objects")
    return lambda name: (Path(folder) / f"{name}.co").read_bytes()


def random_bf16(rng, *shape):
    return rng.standard_normal(shape).astype(BF16)


def bf16_case(launch_clean, code, name, m, n, k, split_k=1, dtype=BF16, bias=False, extra=()):
    rng = np.random.default_rng(m * 100 + n + k)
    a, b = random_bf16(rng, m, k), random_bf16(rng, n, k)
    add = random_bf16(rng, n) if bias else None
    clean = name.endswith("clean")
    semaphores = zeroed(1024, np.uint32) if clean else None
    # Split sums are added to zeros, which the `_clean` kernels write themselves.
    d = zeroed((m, n), dtype) if split_k > 1 and not clean else output((m, n), dtype)
    step = codeobjects.bf16_gemm(name, m, n, k, d, given(a), given(b), split_k,
                                 None if add is None else given(add), semaphores)
    launch_clean(code, [step], extra)
    want = a.astype(F64) @ b.astype(F64).T + (0 if add is None else add.astype(F64))
    error = dot_error(a, b.T)
    if split_k > 1 and dtype == BF16:  # each partial sum and each addition rounds to bf16
        error = error + 2 * split_k * 2.0**-9 * np.sqrt(k) * 4
    assert_near(d.result, want, error)
    if clean:
        assert not semaphores.result.any()


@pytest.mark.parametrize("m, n, k, dtype", [(256, 256, 128, BF16), (300, 512, 192, BF16),
                                            (3, 256, 64, BF16), (257, 256, 448, F32)])
def test_bf16_256x256(launch_clean, code_object, m, n, k, dtype):
    name = "bf16gemm_bf16_tn_256x256"
    bf16_case(launch_clean, code_object(name), name, m, n, k, dtype=dtype)


def out_of_bounds_only(outcome):
    kinds = {finding["kind"] for finding in outcome.findings}
    return kinds == {"out-of-bounds"} and all("_load_" in finding["instruction"]
                                              for finding in outcome.findings)


def test_bf16_256x256_prefetches_past_a_single_row(code_object, kw_program, tmp_path):
    """True findings with an odd number of steps of 64: the loop has counted the bytes left in A
    below zero, and the range check passes what it prefetches. Nothing of it is used."""
    name = "bf16gemm_bf16_tn_256x256"
    rng = np.random.default_rng(1)
    a, b = random_bf16(rng, 1, 64), random_bf16(rng, 256, 64)
    d = output((1, 256), BF16)
    step = codeobjects.bf16_gemm(name, 1, 256, 64, d, given(a), given(b))
    outcome = launch(kw_program, tmp_path, code_object(name), [step])
    assert out_of_bounds_only(outcome)
    assert_near(d.result, a.astype(F64) @ b.astype(F64).T, dot_error(a, b.T))


@pytest.mark.parametrize("m, n, k, split_k, dtype, bias", [
    (64, 64, 384, 1, BF16, False), (70, 128, 448, 1, BF16, True), (3, 64, 1216, 2, F32, False),
    (64, 128, 1024, 3, F32, True), (100, 64, 832, 2, BF16, False),
])  # fmt: skip
def test_bf16_64x64_split_k(launch_clean, code_object, m, n, k, split_k, dtype, bias):
    name = "bf16gemm_fp32bf16_tn_64x64_pf3_splitk"
    bf16_case(launch_clean, code_object(name), name, m, n, k, split_k, dtype, bias)


@pytest.mark.parametrize("m, n, k, split_k, dtype, bias, seed", [
    (32, 64, 768, 2, F32, False, 0), (40, 128, 832, 2, BF16, True, 1),
    (100, 64, 1600, 4, F32, True, 2), (80, 64, 1024, 16, F32, False, 3),
])  # fmt: skip
@pytest.mark.parametrize("rows", [32, 80])
def test_bf16_semaphores(launch_clean, code_object, rows, m, n, k, split_k, dtype, bias, seed):
    name = f"bf16gemm_fp32bf16_tn_{rows}x64_splitk_clean"
    bf16_case(launch_clean, code_object(name), name, m, n, k, split_k, dtype, bias,
              ("--seed", str(seed)))


def fp4_case(launch_clean, code, name, m, n, k, split_k=1):
    rng = np.random.default_rng(m * 100 + n + k)
    codes_a, value_a = microscaling.random_elements(rng, m, k, "e2m1")
    codes_b, value_b = microscaling.random_elements(rng, n, k, "e2m1")
    scale_a, scale_b = (microscaling.random_scales(rng, rows, k // 32) for rows in (m, n))
    rows = 32 * ceil_div(m, 32)
    start = np.zeros((rows, n), BF16)
    start[m:] = BF16(-77.0)
    d = output((rows, n), BF16, start)
    step = codeobjects.fp4_gemm(name, m, n, k, d, given(codes_a), given(shuffle_weights(codes_b)),
                                given(shuffle_scales(scale_a)), given(shuffle_scales(scale_b)),
                                split_k)
    launch_clean(code, [step])
    a = value_a * microscaling.scale_values(scale_a)
    b = value_b * microscaling.scale_values(scale_b)
    want = a @ b.T
    error = dot_error(a, b.T)
    if split_k > 1:
        error = error + split_k * 2.0**-8 * np.abs(want).max()
    assert_near(d.result[:m], want, error)
    assert (d.result[m:] == BF16(-77.0)).all()


@pytest.mark.parametrize("m, n, k", [(32, 128, 1024), (5, 128, 256), (70, 288, 1280)])
def test_fp4_32x128(launch_clean, code_object, m, n, k):
    name = "f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128"
    fp4_case(launch_clean, code_object(name), name, m, n, k)


@pytest.mark.parametrize("m, n, k", [(192, 256, 512), (100, 256, 256), (200, 512, 768)])
def test_fp4_192x256(launch_clean, code_object, m, n, k):
    name = "f4gemm_bf16_per1x32Fp4_BpreShuffle_192x256"
    fp4_case(launch_clean, code_object(name), name, m, n, k)


@pytest.mark.parametrize("m, n, k, split_k", [(128, 512, 512, 1), (130, 512, 768, 1),
                                              (9, 1024, 256, 1), (64, 512, 1024, 2)])
def test_fp4_128x512(launch_clean, code_object, m, n, k, split_k):
    name = "f4gemm_bf16_per1x32Fp4_BpreShuffle_128x512"
    fp4_case(launch_clean, code_object(name), name, m, n, k, split_k)


@pytest.mark.parametrize("m, n, k, split_k", [(64, 128, 768, 1), (70, 256, 896, 1),
                                              (1, 128, 128, 1), (33, 128, 1024, 2),
                                              (64, 128, 1536, 3)])
@pytest.mark.parametrize("rows", [64, 128])
def test_fp8(launch_clean, code_object, rows, m, n, k, split_k):
    name = f"fp8gemm_bf16_blockscale_BpreShuffle_{rows}x128"
    rng = np.random.default_rng(m * 100 + n + k)
    a, b = (rng.standard_normal((r, k)).astype(E4M3) for r in (m, n))
    scale_a = rng.uniform(0.5, 2, (k // 128, m)).astype(F32)
    scale_b = rng.uniform(0.5, 2, (n // 128, k // 128)).astype(F32)
    bias = rng.standard_normal(n).astype(F32)
    d = zeroed((m, n), BF16) if split_k > 1 else output((m, n), BF16)
    step = codeobjects.fp8_gemm(name, m, n, k, d, given(a), given(shuffle_weights(b)),
                                given(scale_a), given(scale_b), given(bias), split_k)
    launch_clean(code_object(name), [step])
    scaled_a = a.astype(F64) * np.repeat(scale_a.T.astype(F64), 128, axis=1)
    scaled_b = b.astype(F64) * np.kron(scale_b.astype(F64), np.ones((128, 128)))
    want = scaled_a @ scaled_b.T + bias
    error = dot_error(scaled_a, scaled_b.T) + 2.0**-8 * np.abs(want)  # cut, not rounded
    if split_k > 1:
        error = error + split_k * 2.0**-8 * np.sqrt(k) * 4
    assert_near(d.result, want, error)


def with_rows_behind(tensor, rows):
    """The attention kernel prefetches past K and V: zeros to read there."""
    behind = np.zeros((rows, *tensor.shape[2:]), tensor.dtype)
    return np.concatenate([tensor.reshape(-1, *tensor.shape[2:]), behind])


ATTENTION_SHAPES = [(1, 1, 1, 256, 320, True), (2, 2, 1, 100, 300, True), (1, 2, 2, 300, 64, False),
                    (1, 4, 2, 17, 513, True)]


def attention_case(b, hq, hkv, sq, skv, with_lse, rows_behind):
    rng = np.random.default_rng(sq * 1000 + skv)
    q = random_bf16(rng, b, sq, hq, 128)
    k, v = random_bf16(rng, b, skv, hkv, 128), random_bf16(rng, b, skv, hkv, 128)
    o = output(q.shape, BF16)
    lse = output((b, hq, sq), F32) if with_lse else None
    kept_k, kept_v = (given(with_rows_behind(t, rows_behind)) for t in (k, v))
    step = codeobjects.attention(o, given(q), kept_k, kept_v, lse, b, hq, hkv, sq, skv)
    heads_first = (t.transpose(0, 2, 1, 3) for t in (q, k, v))
    want, want_lse = attend(*heads_first, 128**-0.5, False)
    return step, o, lse, want.transpose(0, 2, 1, 3), want_lse


@pytest.mark.parametrize("b, hq, hkv, sq, skv, with_lse", ATTENTION_SHAPES)
def test_attention(launch_clean, code_object, b, hq, hkv, sq, skv, with_lse):
    step, o, lse, want, want_lse = attention_case(b, hq, hkv, sq, skv, with_lse, 160)
    launch_clean(code_object("fwd_hd128_bf16"), [step])
    assert_near(o.result, want, 0.004)
    if with_lse:
        assert_near(lse.result, want_lse, 1e-3)


def test_attention_reads_past_its_keys(code_object, kw_program, tmp_path):
    """True findings: without rows behind K and V the kernel reads past both. It moves along the
    keys by the scalar offset, which LLVM documents not to be part of the range check."""
    step, o, _, want, _ = attention_case(1, 1, 1, 256, 100, False, 0)
    outcome = launch(kw_program, tmp_path, code_object("fwd_hd128_bf16"), [step])
    assert out_of_bounds_only(outcome)
    assert {finding["detail"].split("'")[1] for finding in outcome.findings} == {"b2", "b3"}
    assert_near(o.result, want, 0.004)
