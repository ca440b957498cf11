# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Triton attention: forward with and without a causal mask, decoding with split keys."""

import numpy as np
import pytest

pytest.importorskip("triton", reason="Triton (PyPI) is not installed: its kernels are not run")

import kernels  # noqa: E402
import ml_dtypes  # noqa: E402
from attention_reference import attend  # noqa: E402
from comparing import assert_near  # noqa: E402
from launching import given, output  # noqa: E402

F16, BF16 = np.float16, ml_dtypes.bfloat16


def random_inputs(b, hq, hkv, sq, skv, d, dtype):
    rng = np.random.default_rng(sq * 1000 + skv)
    return [rng.standard_normal(shape).astype(dtype)
            for shape in ((b, hq, sq, d), (b, hkv, skv, d), (b, hkv, skv, d))]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype, b, hq, hkv, sq, skv, d, warps", [
    (F16, 1, 2, 1, 128, 128, 64, 4), (BF16, 2, 2, 2, 100, 150, 64, 4),
    (BF16, 1, 1, 1, 64, 200, 128, 4), (F16, 1, 2, 2, 70, 70, 32, 2),
    (BF16, 1, 1, 1, 128, 256, 128, 8),
])  # fmt: skip
def test_forward(run_triton, dtype, b, hq, hkv, sq, skv, d, warps, causal):
    q, k, v = random_inputs(b, hq, hkv, sq, skv, d, dtype)
    o, lse = output(q.shape, dtype), output((b, hq, sq), np.float32)
    scale = np.float32(d**-0.5)
    block_m = 128 if warps == 8 else 64
    run_triton(kernels.attention, (-(-sq // block_m), b * hq),
               [given(q), given(k), given(v), o, lse, scale, *map(np.int32, (hq, hkv, sq, skv))],
               {"D": d, "CAUSAL": causal, "BLOCK_M": block_m, "BLOCK_N": 64}, num_warps=warps)
    want, want_lse = attend(q, k, v, float(scale), causal)
    # Probabilities are rounded to the operands' type before the second product.
    assert_near(o.result, want, 2.0**-7 if dtype == BF16 else 2.0**-10)
    assert_near(lse.result, want_lse, 1e-4)


@pytest.mark.parametrize("group, skv, splits", [(4, 256, 2), (8, 300, 3), (1, 64, 1), (5, 500, 4)])
def test_decode(run_triton, group, skv, splits):
    """A part per split, then their combination: two kernels."""
    b, hkv, d = 2, 2, 64
    rows = b * hkv * group
    q, k, v = random_inputs(b, hkv * group, hkv, 1, skv, d, BF16)
    scale = np.float32(d**-0.5)
    length = -(-skv // splits)
    part = output((rows, splits, d), np.float32)
    peak, total = (output((rows, splits), np.float32) for _ in range(2))
    run_triton(kernels.decode_part, (b * hkv, splits),
               [given(q), given(k), given(v), part, peak, total, scale,
                *map(np.int32, (hkv, skv, length))],
               {"GROUP": group, "HEADS": 16, "D": d, "BLOCK_N": 64})
    o = output((rows, d), BF16)
    run_triton(kernels.decode_combine, (rows,),
               [given(part.result), given(peak.result), given(total.result), o, np.int32(splits)],
               {"D": d, "BLOCK_S": 4}, num_warps=1)
    want, _ = attend(q, k, v, float(scale), False)
    assert_near(o.result, want.reshape(rows, d), 2.0**-7)
