# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keys and rows of lookup tables for tests, written here by hand from torch's rules."""

ARCH = "gfx950:sramecc+:xnack-"


def tensor(dtype, sizes, strides):
    return f"(torch.{dtype}, {list(sizes)}, {list(strides)})"


def key(operation, tensors, scalars="", device=None):
    parts = [device] if device else []
    parts.append("(" + ", ".join(tensors) + ")")
    if scalars:
        parts.append(scalars)
    return "+".join([*parts, operation])


def matrices(dtype, m, n, k, order="nn", pad=0, batch=None):
    """a and b; order "nt": b is a weight [n, k] transposed; `pad` elements behind each line."""

    def one(rows, columns, plain):
        sizes, line = (rows, columns), (columns if plain else rows) + pad
        strides = (line, 1) if plain else (1, line)
        if batch:
            sizes, strides = (batch, *sizes), (line * (rows if plain else columns), *strides)
        return tensor(dtype, sizes, strides)

    return one(m, k, order[0] == "n"), one(k, n, order[1] == "n")


def row(block_m, block_n, block_k, k, *, operation="mm", warps=4, stages=2, group=8, **more):
    template = "triton::bmm" if "bmm" in operation else "triton::mm"
    return {
        "template_id": template, "BLOCK_M": block_m, "BLOCK_N": block_n, "BLOCK_K": block_k,
        "GROUP_M": group, "num_warps": warps, "num_stages": stages, "EVEN_K": k % block_k == 0,
        "USE_FAST_ACCUM": False, "ACC_TYPE": "tl.float32", "hint_override": None,
        "matrix_instr_nonkdim": 16, "waves_per_eu": 2, "kpack": 1,
    } | more  # fmt: skip


def linear(dtype, m, n, k, bias=True):
    """addmm of x [m, k], W.t() with W [n, k] and a bias of n, as Inductor keys it."""
    operands = matrices(dtype, m, n, k, "nt")
    return key("addmm", (tensor(dtype, (m, n), (0, 1)), *operands), "alpha=1&beta=1")


BF16, F16, F32 = "bfloat16", "float16", "float32"


def hand_table(device=None):
    """All four operations; orders, padded lines, a ragged k, a bias of one and of two dimensions."""
    full = tensor(F16, (300, 200), (200, 1))
    batched = tensor(F16, (8, 256, 64), (16384, 64, 1))
    rows = {
        key("mm", matrices(BF16, 4096, 4096, 4096, "nt")): row(256, 128, 64, 4096, warps=8, group=4),
        key("mm", matrices(F16, 4096, 4096, 4096, "nn")): row(128, 128, 64, 4096, stages=3),
        key("mm", matrices(BF16, 1024, 512, 1024, "tn")): row(64, 64, 64, 1024),
        key("mm", matrices(BF16, 129, 1024, 72, "nt", pad=8)): row(64, 128, 32, 72),
        key("mm", matrices(BF16, 16, 7168, 2048, "nt")): row(16, 64, 128, 2048, stages=3),
        key("mm", matrices(F32, 512, 512, 256, "nn")): row(64, 64, 32, 256),
        linear(BF16, 1024, 512, 256): row(128, 64, 64, 256),
        key("addmm", (full, *matrices(F16, 300, 200, 100)), "alpha=0.5&beta=2"): row(64, 64, 32, 100),
        key("bmm", matrices(F16, 256, 64, 128, batch=8)): row(64, 64, 64, 128, operation="bmm"),
        key("bmm", matrices(BF16, 77, 77, 64, "nt", batch=16)): row(32, 64, 32, 64, operation="bmm"),
        key("baddbmm", (batched, *matrices(F16, 256, 64, 128, batch=8)), "alpha=0.5&beta=2"):
            row(128, 64, 32, 128, operation="bmm"),
    }  # fmt: skip
    prefix = f"{device}+" if device else ""
    return {prefix + text: [one] for text, one in sorted(rows.items())}
