# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How matrix instructions add, `--matrix-sums`: along k with one rounding a product (ordered), or
in groups that are cut below 24 bits of their largest product and rounded into the sum (grouped, as
CDNA3 does). Bit for bit against exact rational arithmetic."""

import json
import subprocess
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from exact_rounding import F32, NEAREST, exponent_of, round_exact
from snippets import Snippet, run_snippets

LANES = 64


class Shape:
    """An instruction, its element type, and where the elements of one row or column lie."""

    def __init__(self, text, dtype, bits, m, k, group, registers, scaled=False):
        self.text, self.dtype, self.bits, self.m, self.k = text, dtype, bits, m, k
        self.group, self.registers, self.scaled = group, registers, scaled
        self.groups = LANES // m
        self.per_lane = k // self.groups
        self.results = m * m // LANES

    def pack(self, elements):
        """[m, k] of codes to [registers, lanes] of words."""
        words = np.zeros((self.registers, LANES), np.uint32)
        for i in range(self.m):
            for k in range(self.k):
                lane, index = i + self.m * (k // self.per_lane), k % self.per_lane
                at = index * self.bits
                words[at // 32, lane] |= np.uint32(int(elements[i, k]) << at % 32)
        return words

    def place(self, i, j):
        """Register and lane of D(i, j)."""
        lanes_of_rows = LANES // self.m
        return 4 * (i // (4 * lanes_of_rows)) + i % 4, j + self.m * (i // 4 % lanes_of_rows)


MFMA = "v_mfma_f32_{} v[128:{}], v[16:{}], v[{}:{}], v[{}:{}]{}"


def mfma(name, registers, results, modifiers=""):
    b = 16 + registers
    c = b + registers
    return MFMA.format(name, 127 + results, b - 1, b, c - 1, c, c + results - 1, modifiers)


SHAPES = {
    "f16": Shape(mfma("16x16x32_f16", 4, 4), np.float16, 16, 16, 32, 8, 4),
    "bf16": Shape(mfma("16x16x32_bf16", 4, 4), ml_dtypes.bfloat16, 16, 16, 32, 8, 4),
    "f16 32x32": Shape(mfma("32x32x16_f16", 4, 16), np.float16, 16, 32, 16, 8, 4),
    "f16 k=16": Shape(mfma("16x16x16_f16", 2, 4), np.float16, 16, 16, 16, 8, 2),
    "fp8": Shape(mfma("16x16x32_fp8_fp8", 2, 4), ml_dtypes.float8_e4m3fn, 8, 16, 32, 16, 2),
    "fp4": Shape(
        mfma("16x16x128_f8f6f4", 4, 4, " cbsz:4 blgp:4"), ml_dtypes.float4_e2m1fn, 4, 16, 128, 16, 4
    ),
    "fp4 scaled": Shape(
        mfma("16x16x128_f8f6f4", 4, 4, ", v28, v29 cbsz:4 blgp:4").replace(
            "v_mfma_f32", "v_mfma_scale_f32"
        ),
        ml_dtypes.float4_e2m1fn,
        4,
        16,
        128,
        16,
        4,
        True,
    ),
}


def random_codes(rng, shape):
    """Finite numbers of very different sizes, zeros among them."""
    if shape.bits == 4:
        return rng.integers(0, 16, (shape.m, shape.k))
    x = rng.standard_normal((shape.m, shape.k)) * 2.0 ** rng.integers(-6, 5, (shape.m, shape.k))
    x[rng.random(x.shape) < 0.1] = 0
    return x.astype(shape.dtype).view(f"u{shape.bits // 8}")


def numbers(codes, shape):
    raw = codes.astype(np.uint8 if shape.bits <= 8 else np.uint16)
    return raw.view(shape.dtype).astype(np.float64)


def ordered(products, start, _):
    total = start
    for product in products:
        total = Fraction(float(round_exact(product + total, F32, NEAREST)))
    return total


def grouped(products, start, size):
    total = start
    for first in range(0, len(products), size):
        group = products[first : first + size]
        exponents = [exponent_of(p) for p in group if p != 0]
        if exponents:
            step = Fraction(2) ** (max(exponents) - 24)
            part = sum(p // step for p in group) * step
            total = Fraction(float(round_exact(total + part, F32, NEAREST)))
    return total


@pytest.mark.parametrize("sums", ["ordered", "grouped"])
@pytest.mark.parametrize("name", SHAPES)
def test_sums(kw_program, tmp_path, name, sums):
    shape = SHAPES[name]
    rng = np.random.default_rng(len(name))
    a, b = (random_codes(rng, shape) for _ in range(2))
    c = rng.standard_normal((shape.results, LANES)).astype(np.float32)
    inputs = [*shape.pack(a), *shape.pack(b), *c]
    scale = np.ones((2, shape.m, shape.k), object)
    if shape.scaled:
        exponents = rng.integers(120, 134, (2, LANES))
        inputs += list(exponents.astype(np.uint32))
        for operand in range(2):
            for i in range(shape.m):
                for k in range(shape.k):
                    e = int(exponents[operand, i + shape.m * (k // 32)])
                    scale[operand, i, k] = Fraction(2) ** (e - 127)
    (snippet,) = run_snippets(
        kw_program, tmp_path, [Snippet(shape.text, inputs, shape.results)], ["--matrix-sums", sums]
    )
    left, right = numbers(a, shape), numbers(b, shape)
    add = {"ordered": ordered, "grouped": grouped}[sums]
    for i in range(0, shape.m, 3):
        for j in range(0, shape.m, 5):
            products = [
                Fraction(float(x)) * Fraction(float(y)) * sx * sy
                for x, y, sx, sy in zip(left[i], right[j], scale[0, i], scale[1, j], strict=True)
            ]
            register, lane = shape.place(i, j)
            want = float(add(products, Fraction(float(c[register, lane])), shape.group))
            got = snippet.got[register].view(np.float32)[lane]
            assert float(got) == want, (i, j, got, want)


def test_the_default_is_ordered(kw_program, tmp_path):
    """1 - 2^-26 + small, where the two differ."""
    shape = SHAPES["f16"]
    rng = np.random.default_rng(1)
    inputs = [
        *shape.pack(random_codes(rng, shape)),
        *shape.pack(random_codes(rng, shape)),
        *rng.standard_normal((4, LANES)).astype(np.float32),
    ]
    results = [
        run_snippets(kw_program, tmp_path / str(i), [Snippet(shape.text, inputs, 4)], extra)[0].got
        for i, extra in enumerate(((), ("--matrix-sums", "ordered"), ("--matrix-sums", "grouped")))
    ]
    np.testing.assert_array_equal(results[0], results[1])
    assert (results[0] != results[2]).any()


def test_command_line(kw_program, tmp_path):
    """Validate takes the option too, and both refuse other words."""

    def run(*arguments):
        return subprocess.run([kw_program, *arguments], capture_output=True, text=True)

    made = run("compile", "gemm m=64 n=64 k=64 dtype=f16", "-o", tmp_path)
    assert made.returncode == 0, made.stderr
    for sums in ("ordered", "grouped"):
        proof = run("validate", tmp_path, "--matrix-sums", sums, "--json")
        assert proof.returncode == 0 and json.loads(proof.stdout)["ok"], proof.stderr
    for command in ("validate", "launch"):
        wrong = run(command, tmp_path, "--matrix-sums", "pairwise")
        assert wrong.returncode == 2 and "grouped" in wrong.stderr
