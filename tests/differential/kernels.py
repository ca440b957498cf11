# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Triton kernels of the differential tests, from memory-bound rows to attention.

They are written to make the compiler use much of the instruction set, not to be fast. Tensors are
dense and row-major; strides are in elements; every kernel masks its tails.
"""

import triton
import triton.language as tl

LOG2E = tl.constexpr(1.4426950408889634)
LN2 = tl.constexpr(0.6931471805599453)


# Elementwise


@triton.jit
def copy(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)


@triton.jit
def add(a, b, c, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(c + i, tl.load(a + i, mask=i < n) + tl.load(b + i, mask=i < n), mask=i < n)


@triton.jit
def convert(x, y, n, BLOCK: tl.constexpr):
    """To the element type of y: round to nearest even between floats."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    tl.store(y + i, value.to(y.dtype.element_ty), mask=i < n)


@triton.jit
def functions(x, y, n, BLOCK: tl.constexpr):
    """y[f, i] = f(x[i]) for x > 0: exp, exp2, log, log2, sqrt, rsqrt, sin, cos, erf, 1/x."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    v = tl.load(x + i, mask=mask, other=1.0)
    tl.store(y + 0 * n + i, tl.exp(v), mask=mask)
    tl.store(y + 1 * n + i, tl.exp2(v), mask=mask)
    tl.store(y + 2 * n + i, tl.log(v), mask=mask)
    tl.store(y + 3 * n + i, tl.log2(v), mask=mask)
    tl.store(y + 4 * n + i, tl.sqrt_rn(v), mask=mask)
    tl.store(y + 5 * n + i, tl.rsqrt(v), mask=mask)
    tl.store(y + 6 * n + i, tl.sin(v), mask=mask)
    tl.store(y + 7 * n + i, tl.cos(v), mask=mask)
    tl.store(y + 8 * n + i, tl.erf(v), mask=mask)
    tl.store(y + 9 * n + i, tl.div_rn(1.0, v), mask=mask)


@triton.jit
def integer_functions(a, b, y, n, BLOCK: tl.constexpr):
    """y[f, i]: quotient, remainder, high product, shifts, minimum, maximum; b is not 0."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    u = tl.load(a + i, mask=mask, other=1)
    v = tl.load(b + i, mask=mask, other=1)
    tl.store(y + 0 * n + i, u // v, mask=mask)
    tl.store(y + 1 * n + i, u % v, mask=mask)
    tl.store(y + 2 * n + i, tl.umulhi(u, v), mask=mask)
    tl.store(y + 3 * n + i, u >> (v & 7), mask=mask)
    tl.store(y + 4 * n + i, u << (v & 7), mask=mask)
    tl.store(y + 5 * n + i, tl.minimum(u, v), mask=mask)
    tl.store(y + 6 * n + i, tl.maximum(u, v), mask=mask)
    tl.store(y + 7 * n + i, (u & v) | (u ^ ~v), mask=mask)


@triton.jit
def random_uniform(y, n, seed, BLOCK: tl.constexpr):
    """The counter-based generator Philox 4x32-10: 32-bit high products."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.randint(seed, i), mask=i < n)


@triton.jit
def transpose(x, y, rows, cols, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):
    """A two-dimensional grid."""
    r = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    c = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    tile = tl.load(x + r[:, None] * cols + c[None, :],
                   mask=(r < rows)[:, None] & (c < cols)[None, :])
    tl.store(y + c[:, None] * rows + r[None, :], tl.trans(tile),
             mask=(c < cols)[:, None] & (r < rows)[None, :])


@triton.jit
def gather_rows(table, index, y, count, cols, BLOCK_C: tl.constexpr):
    """y[i] = table[index[i]] (embedding); a workgroup per row, a scalar load per workgroup."""
    row = tl.load(index + tl.program_id(0))
    c = tl.arange(0, BLOCK_C)
    value = tl.load(table + row.to(tl.int64) * cols + c, mask=c < cols)
    tl.store(y + tl.program_id(0) * cols + c, value, mask=c < cols)


@triton.jit
def gated(gate, up, y, n, BLOCK: tl.constexpr):
    """SwiGLU: gate * sigmoid(gate) * up."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    g = tl.load(gate + i, mask=i < n, other=0.0).to(tl.float32)
    u = tl.load(up + i, mask=i < n, other=0.0).to(tl.float32)
    tl.store(y + i, (g * tl.sigmoid(g) * u).to(y.dtype.element_ty), mask=i < n)


@triton.jit
def rotate(x, angle, y, rows, HALF: tl.constexpr, BLOCK_R: tl.constexpr):
    """Rotary embedding of pairs (i, i + HALF) by angle[row, i]."""
    r = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    c = tl.arange(0, HALF)
    mask = (r < rows)[:, None]
    at = r[:, None] * (2 * HALF) + c[None, :]
    t = tl.load(angle + r[:, None] * HALF + c[None, :], mask=mask, other=0.0)
    low = tl.load(x + at, mask=mask, other=0.0).to(tl.float32)
    high = tl.load(x + at + HALF, mask=mask, other=0.0).to(tl.float32)
    cos = tl.cos(t)
    sin = tl.sin(t)
    tl.store(y + at, (low * cos - high * sin).to(y.dtype.element_ty), mask=mask)
    tl.store(y + at + HALF, (high * cos + low * sin).to(y.dtype.element_ty), mask=mask)


# Rows: one workgroup a row, unless told


@triton.jit
def softmax(x, y, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    value = tl.load(x + row * cols + c, mask=c < cols, other=float("-inf")).to(tl.float32)
    e = tl.exp(value - tl.max(value, axis=0))
    tl.store(y + row * cols + c, (e / tl.sum(e, axis=0)).to(y.dtype.element_ty), mask=c < cols)


@triton.jit
def online_softmax(x, y, cols, BLOCK: tl.constexpr):
    """Rows of any length: one pass for maximum and sum, one that writes."""
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    peak = tl.full([BLOCK], float("-inf"), tl.float32)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, cols, BLOCK):
        mask = start + c < cols
        value = tl.load(x + row * cols + start + c, mask=mask, other=-1e30).to(tl.float32)
        new = tl.maximum(peak, value)
        total = total * tl.exp(peak - new) + tl.where(mask, tl.exp(value - new), 0.0)
        peak = new
    top = tl.max(peak, axis=0)
    norm = 1.0 / tl.sum(total * tl.exp(peak - top), axis=0)
    for start in range(0, cols, BLOCK):
        mask = start + c < cols
        value = tl.load(x + row * cols + start + c, mask=mask, other=0.0).to(tl.float32)
        tl.store(y + row * cols + start + c, (tl.exp(value - top) * norm).to(y.dtype.element_ty),
                 mask=mask)


@triton.jit
def rms_norm(x, weight, y, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    value = tl.load(x + row * cols + c, mask=c < cols, other=0.0).to(tl.float32)
    w = tl.load(weight + c, mask=c < cols, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(value * value, axis=0) / cols + eps)
    tl.store(y + row * cols + c, (value * scale * w).to(y.dtype.element_ty), mask=c < cols)


@triton.jit
def layer_norm(x, weight, bias, y, mean_out, rstd_out, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    mask = c < cols
    value = tl.load(x + row * cols + c, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(value, axis=0) / cols
    centred = tl.where(mask, value - mean, 0.0)
    rstd = 1.0 / tl.sqrt(tl.sum(centred * centred, axis=0) / cols + eps)
    w = tl.load(weight + c, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(bias + c, mask=mask, other=0.0).to(tl.float32)
    tl.store(y + row * cols + c, (centred * rstd * w + b).to(y.dtype.element_ty), mask=mask)
    tl.store(mean_out + row, mean)
    tl.store(rstd_out + row, rstd)


@triton.jit
def layer_norm_weight_grad(x, dy, mean, rstd, dweight, dbias, rows, cols, BLOCK_R: tl.constexpr,
                           BLOCK_C: tl.constexpr):
    """Column sums over all rows: a workgroup per block of columns."""
    c = tl.program_id(0) * BLOCK_C + tl.arange(0, BLOCK_C)
    dw = tl.zeros([BLOCK_R, BLOCK_C], tl.float32)
    db = tl.zeros([BLOCK_R, BLOCK_C], tl.float32)
    for start in range(0, rows, BLOCK_R):
        r = start + tl.arange(0, BLOCK_R)
        mask = (r < rows)[:, None] & (c < cols)[None, :]
        at = r[:, None] * cols + c[None, :]
        g = tl.load(dy + at, mask=mask, other=0.0).to(tl.float32)
        v = tl.load(x + at, mask=mask, other=0.0).to(tl.float32)
        m = tl.load(mean + r, mask=r < rows, other=0.0)
        s = tl.load(rstd + r, mask=r < rows, other=0.0)
        dw += g * (v - m[:, None]) * s[:, None]
        db += g
    tl.store(dweight + c, tl.sum(dw, axis=0), mask=c < cols)
    tl.store(dbias + c, tl.sum(db, axis=0), mask=c < cols)


@triton.jit
def quantize_rows(x, y, scale_out, cols, TOP: tl.constexpr, BLOCK: tl.constexpr):
    """Row-wise scaling to 8 bits: y = x / scale, scale = max |x| / TOP."""
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    value = tl.load(x + row * cols + c, mask=c < cols, other=0.0).to(tl.float32)
    scale = tl.maximum(tl.max(tl.abs(value), axis=0), 1e-8) / TOP
    tl.store(y + row * cols + c, (value / scale).to(y.dtype.element_ty), mask=c < cols)
    tl.store(scale_out + row, scale)


@triton.jit
def reduce_rows(x, total, top, bottom, where_top, where_bottom, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    mask = c < cols
    value = tl.load(x + row * cols + c, mask=mask, other=0)
    high = tl.load(x + row * cols + c, mask=mask, other=-(2**30))
    low = tl.load(x + row * cols + c, mask=mask, other=2**30)
    tl.store(total + row, tl.sum(value, axis=0))
    tl.store(top + row, tl.max(high, axis=0))
    tl.store(bottom + row, tl.min(low, axis=0))
    tl.store(where_top + row, tl.argmax(high, axis=0))
    tl.store(where_bottom + row, tl.argmin(low, axis=0))


@triton.jit
def reduce_columns(x, total, parity, rows, cols, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):
    """Sum and exclusive or of int32 columns, over axis 0 of the tile."""
    c = tl.program_id(0) * BLOCK_C + tl.arange(0, BLOCK_C)
    r = tl.arange(0, BLOCK_R)
    mask = (r < rows)[:, None] & (c < cols)[None, :]
    value = tl.load(x + r[:, None] * cols + c[None, :], mask=mask, other=0)
    tl.store(total + c, tl.sum(value, axis=0), mask=c < cols)
    tl.store(parity + c, tl.xor_sum(value, axis=0), mask=c < cols)


# Order


@triton.jit
def sort_rows(x, y, cols, DESCENDING: tl.constexpr, BLOCK: tl.constexpr):
    """Padding sorts to the end."""
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    pad: tl.constexpr = float("-inf") if DESCENDING else float("inf")
    value = tl.load(x + row * cols + c, mask=c < cols, other=pad)
    tl.store(y + row * cols + c, tl.sort(value, descending=DESCENDING), mask=c < cols)


@triton.jit
def top_k(x, values, indices, cols, K: tl.constexpr, BLOCK: tl.constexpr):
    """Keys of 64 bits: an order-preserving image of the float above the inverted column."""
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    value = tl.load(x + row * cols + c, mask=c < cols, other=float("-inf"))
    bits = value.to(tl.int32, bitcast=True)
    ordered = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
    best = tl.topk((ordered.to(tl.int64) << 32) | (BLOCK - 1 - c), K)
    high = (best >> 32).to(tl.int32)
    k = tl.arange(0, K)
    tl.store(values + row * K + k,
             tl.where(high < 0, high ^ 0x7FFFFFFF, high).to(tl.float32, bitcast=True))
    tl.store(indices + row * K + k, BLOCK - 1 - (best & 0xFFFFFFFF).to(tl.int32))


@triton.jit
def running_sums(x, y, cols, REVERSE: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    value = tl.load(x + row * cols + c, mask=c < cols, other=0)
    tl.store(y + row * cols + c, tl.cumsum(value, axis=0, reverse=REVERSE), mask=c < cols)


@triton.jit
def _linear_step(decay_a, value_a, decay_b, value_b):
    return decay_a * decay_b, value_a * decay_b + value_b


@triton.jit
def linear_recurrence(decay, x, y, cols, BLOCK: tl.constexpr):
    """h[i] = decay[i] * h[i - 1] + x[i], as a scan of pairs."""
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    a = tl.load(decay + row * cols + c, mask=c < cols, other=1.0)
    b = tl.load(x + row * cols + c, mask=c < cols, other=0.0)
    _, h = tl.associative_scan((a, b), 0, _linear_step)
    tl.store(y + row * cols + c, h, mask=c < cols)


@triton.jit
def histogram(x, y, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n, other=0)
    counts = tl.histogram(value, BINS, mask=i < n)
    tl.atomic_add(y + tl.arange(0, BINS), counts, sem="relaxed")


# Atomics


@triton.jit
def atomic_counters(x, counts, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    """Rows of `counts`: add, maximum, minimum, and, or, exclusive or of x by x mod BINS."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    value = tl.load(x + i, mask=mask, other=0)
    bin = value % BINS
    tl.atomic_add(counts + 0 * BINS + bin, 1, mask=mask)
    tl.atomic_max(counts + 1 * BINS + bin, value, mask=mask)
    tl.atomic_min(counts + 2 * BINS + bin, value, mask=mask)
    tl.atomic_and(counts + 3 * BINS + bin, value, mask=mask)
    tl.atomic_or(counts + 4 * BINS + bin, value, mask=mask)
    tl.atomic_xor(counts + 5 * BINS + bin, value, mask=mask)


@triton.jit
def atomic_sums(x, y, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n, other=0.0)
    tl.atomic_add(y + i % BINS, value, mask=i < n, sem="relaxed")


@triton.jit
def tickets(counter, order, BLOCK: tl.constexpr):
    """Every workgroup takes a number and marks its place: the places are a permutation."""
    place = tl.atomic_add(counter, 1)
    tl.store(order + place, tl.program_id(0))


@triton.jit
def locked_sums(lock, x, y, BLOCK: tl.constexpr):
    """Workgroups take turns by a spin lock and add their tile without atomics."""
    c = tl.arange(0, BLOCK)
    value = tl.load(x + tl.program_id(0) * BLOCK + c)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(y + c, tl.load(y + c) + value)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def last_one_sums(x, partial, arrived, y, parts, BLOCK: tl.constexpr, PARTS: tl.constexpr):
    """Each workgroup stores a partial sum; the last to arrive adds them all."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(partial + tl.program_id(0), tl.sum(tl.load(x + i), axis=0))
    tl.debug_barrier()
    if tl.atomic_add(arrived, 1) == parts - 1:
        p = tl.arange(0, PARTS)
        sums = tl.load(partial + p, mask=p < parts, other=0.0, volatile=True)
        tl.store(y, tl.sum(sums, axis=0))


# Matrix products


@triton.jit
def matmul(a, b, c, m, n, k, stride_am, stride_ak, stride_bk, stride_bn, BLOCK_M: tl.constexpr,
           BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
           ACCUMULATOR: tl.constexpr):
    """c[m, n] = a[m, k] b[k, n]; output tiles are walked in groups of GROUP rows."""
    tiles_m = tl.cdiv(m, BLOCK_M)
    tiles_n = tl.cdiv(n, BLOCK_N)
    first = tl.program_id(0) // (GROUP * tiles_n) * GROUP
    rows = min(tiles_m - first, GROUP)
    inside = tl.program_id(0) % (GROUP * tiles_n)
    om = (first + inside % rows) * BLOCK_M + tl.arange(0, BLOCK_M)
    on = (inside // rows) * BLOCK_N + tl.arange(0, BLOCK_N)
    ok = tl.arange(0, BLOCK_K)
    pa = a + om[:, None] * stride_am + ok[None, :] * stride_ak
    pb = b + ok[:, None] * stride_bk + on[None, :] * stride_bn
    acc = tl.zeros([BLOCK_M, BLOCK_N], ACCUMULATOR)
    for start in range(0, k, BLOCK_K):
        inner = start + ok < k
        ta = tl.load(pa, mask=(om < m)[:, None] & inner[None, :], other=0.0)
        tb = tl.load(pb, mask=inner[:, None] & (on < n)[None, :], other=0.0)
        acc = tl.dot(ta, tb, acc, out_dtype=ACCUMULATOR)
        pa += BLOCK_K * stride_ak
        pb += BLOCK_K * stride_bk
    tl.store(c + om[:, None] * n + on[None, :], acc.to(c.dtype.element_ty),
             mask=(om < m)[:, None] & (on < n)[None, :])


@triton.jit
def matmul_split_k(a, b, c, m, n, k, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                   BLOCK_K: tl.constexpr, SPLIT: tl.constexpr):
    """a[m, k], b[n, k]; slices of k add to c (zero before) with atomics."""
    om = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    on = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    ok = tl.program_id(2) * BLOCK_K + tl.arange(0, BLOCK_K)
    acc = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for start in range(0, k, BLOCK_K * SPLIT):
        inner = start + ok < k
        ta = tl.load(a + om[:, None] * k + (start + ok)[None, :],
                     mask=(om < m)[:, None] & inner[None, :], other=0.0)
        tb = tl.load(b + on[None, :] * k + (start + ok)[:, None],
                     mask=inner[:, None] & (on < n)[None, :], other=0.0)
        acc = tl.dot(ta, tb, acc)
    tl.atomic_add(c + om[:, None] * n + on[None, :], acc.to(c.dtype.element_ty),
                  mask=(om < m)[:, None] & (on < n)[None, :], sem="relaxed")


@triton.jit
def matmul_scaled(a, b, c, scale_a, scale_b, m, n, k, FORMAT_A: tl.constexpr,
                  FORMAT_B: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                  BLOCK_K: tl.constexpr):
    """a[m, k], b[n, k] in microscaling formats: an e8m0 scale per 32 of k, fp4 two a byte along k.
    k is a multiple of BLOCK_K."""
    PACK_A: tl.constexpr = 2 if FORMAT_A == "e2m1" else 1
    PACK_B: tl.constexpr = 2 if FORMAT_B == "e2m1" else 1
    om = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    on = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    oka = tl.arange(0, BLOCK_K // PACK_A)
    okb = tl.arange(0, BLOCK_K // PACK_B)
    oks = tl.arange(0, BLOCK_K // 32)
    row_ok = (om < m)[:, None]
    col_ok = (on < n)[:, None]
    acc = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for start in range(0, k, BLOCK_K):
        ta = tl.load(a + om[:, None] * (k // PACK_A) + start // PACK_A + oka[None, :], mask=row_ok,
                     other=0)
        tb = tl.load(b + on[None, :] * (k // PACK_B) + start // PACK_B + okb[:, None],
                     mask=(on < n)[None, :], other=0)
        sa = tl.load(scale_a + om[:, None] * (k // 32) + start // 32 + oks[None, :], mask=row_ok,
                     other=127)
        sb = tl.load(scale_b + on[:, None] * (k // 32) + start // 32 + oks[None, :], mask=col_ok,
                     other=127)
        acc = tl.dot_scaled(ta, sa, FORMAT_A, tb, sb, FORMAT_B, acc)
    tl.store(c + om[:, None] * n + on[None, :], acc.to(c.dtype.element_ty),
             mask=row_ok & (on < n)[None, :])


# Attention: q[b, hq, sq, D], k and v[b, hkv, skv, D], o as q, lse[b, hq, sq] in natural logarithms


@triton.jit
def attention(q, k, v, o, lse, scale, hq, hkv, sq, skv, D: tl.constexpr, CAUSAL: tl.constexpr,
              BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Blocks of keys with a running maximum. Causal: query i sees keys up to i + skv - sq."""
    head = tl.program_id(1)
    batch = head // hq
    kv_head = batch * hkv + (head % hq) // (hq // hkv)
    om = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    on = tl.arange(0, BLOCK_N)
    od = tl.arange(0, D)
    base = head.to(tl.int64) * sq * D
    kv_base = kv_head.to(tl.int64) * skv * D
    tq = tl.load(q + base + om[:, None] * D + od[None, :], mask=(om < sq)[:, None], other=0.0)
    peak = tl.full([BLOCK_M], -1e30, tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, D], tl.float32)
    end = skv
    if CAUSAL:
        end = min(skv, (tl.program_id(0) + 1) * BLOCK_M + skv - sq)
    for start in range(0, end, BLOCK_N):
        keys = start + on
        tk = tl.load(k + kv_base + keys[None, :] * D + od[:, None], mask=(keys < skv)[None, :],
                     other=0.0)
        score = tl.dot(tq, tk) * (scale * LOG2E)
        visible = (keys < skv)[None, :]
        if CAUSAL:
            visible = visible & (keys[None, :] <= om[:, None] + skv - sq)
        score = tl.where(visible, score, -1e30)
        new = tl.maximum(peak, tl.max(score, axis=1))
        p = tl.exp2(score - new[:, None])
        shrink = tl.exp2(peak - new)
        total = total * shrink + tl.sum(p, axis=1)
        tv = tl.load(v + kv_base + keys[:, None] * D + od[None, :], mask=(keys < skv)[:, None],
                     other=0.0)
        acc = tl.dot(p.to(tv.dtype), tv, acc * shrink[:, None])
        peak = new
    tl.store(o + base + om[:, None] * D + od[None, :],
             (acc / total[:, None]).to(o.dtype.element_ty), mask=(om < sq)[:, None])
    tl.store(lse + head * sq + om, (peak + tl.log2(total)) * LN2, mask=om < sq)


@triton.jit
def decode_part(q, k, v, part, part_peak, part_total, scale, hkv, skv, length, GROUP: tl.constexpr,
                HEADS: tl.constexpr, D: tl.constexpr, BLOCK_N: tl.constexpr):
    """One query a sequence. Grid: b * hkv, splits; a split takes `length` keys for the GROUP query
    heads of one key head (padded to HEADS rows of a matrix instruction)."""
    split = tl.program_id(1)
    kv_head = tl.program_id(0)
    oh = tl.arange(0, HEADS)
    on = tl.arange(0, BLOCK_N)
    od = tl.arange(0, D)
    row = kv_head * GROUP + oh
    tq = tl.load(q + row[:, None] * D + od[None, :], mask=(oh < GROUP)[:, None], other=0.0)
    peak = tl.full([HEADS], -1e30, tl.float32)
    total = tl.zeros([HEADS], tl.float32)
    acc = tl.zeros([HEADS, D], tl.float32)
    base = kv_head * skv * D
    end = min(skv, (split + 1) * length)
    for start in range(split * length, end, BLOCK_N):
        keys = start + on
        tk = tl.load(k + base + keys[None, :] * D + od[:, None], mask=(keys < end)[None, :],
                     other=0.0)
        score = tl.where((keys < end)[None, :], tl.dot(tq, tk) * (scale * LOG2E), -1e30)
        new = tl.maximum(peak, tl.max(score, axis=1))
        p = tl.exp2(score - new[:, None])
        shrink = tl.exp2(peak - new)
        total = total * shrink + tl.sum(p, axis=1)
        tv = tl.load(v + base + keys[:, None] * D + od[None, :], mask=(keys < end)[:, None],
                     other=0.0)
        acc = tl.dot(p.to(tv.dtype), tv, acc * shrink[:, None])
        peak = new
    at = row * tl.num_programs(1) + split
    tl.store(part + at[:, None] * D + od[None, :], acc, mask=(oh < GROUP)[:, None])
    tl.store(part_peak + at, peak, mask=oh < GROUP)
    tl.store(part_total + at, total, mask=oh < GROUP)


@triton.jit
def decode_combine(part, part_peak, part_total, o, splits, D: tl.constexpr, BLOCK_S: tl.constexpr):
    """Adds the splits of one query head, rescaled to their common maximum."""
    row = tl.program_id(0)
    s = tl.arange(0, BLOCK_S)
    d = tl.arange(0, D)
    at = row * splits + s
    peak = tl.load(part_peak + at, mask=s < splits, other=-1e30)
    weight = tl.exp2(peak - tl.max(peak, axis=0))
    total = tl.load(part_total + at, mask=s < splits, other=0.0) * weight
    value = tl.load(part + at[:, None] * D + d[None, :], mask=(s < splits)[:, None], other=0.0)
    out = tl.sum(value * weight[:, None], axis=0) / tl.sum(total, axis=0)
    tl.store(o + row * D + d, out.to(o.dtype.element_ty))
