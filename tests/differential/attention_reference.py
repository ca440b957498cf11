# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention in float64."""

import numpy as np


def attend(q, k, v, scale, causal):
    """q[b, hq, sq, d], k and v[b, hkv, skv, d]: output and natural log of the sums of exponentials.
    Causal: query i sees keys up to i + skv - sq; a query that sees none gives 0 and NaN."""
    q, k, v = (t.astype(np.float64) for t in (q, k, v))
    group = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
    score = np.einsum("bhqd,bhkd->bhqk", q, k) * scale
    if causal:
        sq, skv = score.shape[2:]
        score[..., np.arange(skv)[None, :] > np.arange(sq)[:, None] + skv - sq] = -np.inf
    peak = score.max(axis=-1, keepdims=True)
    e = np.exp(score - peak)
    total = e.sum(axis=-1, keepdims=True)
    return np.einsum("bhqk,bhkd->bhqd", e / total, v), (peak + np.log(total))[..., 0]
