# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One operation of LLVM's IR at a time: folded on constants by `opt`, and compiled for gfx950 by
`llc` with the same values as arguments."""

import re
from dataclasses import dataclass

import launching
import numpy as np
from snippets import run, tool

TRIPLE = 'target triple = "amdgcn-amd-amdhsa"\n'
WAVE = 64
# Bits of a value, and how it comes out of the integer that holds it.
BITS = {
    "i1": 1,
    "i8": 8,
    "i16": 16,
    "i32": 32,
    "i64": 64,
    "half": 16,
    "bfloat": 16,
    "float": 32,
    "double": 64,
    "<2 x i16>": 32,
    "<2 x half>": 32,
    "<2 x float>": 64,
}


@dataclass(frozen=True)
class Operation:
    """`body`: IR that makes %r of %a, %b, %c, each line without its newline. `kinds`: what random
    inputs each argument gets (see `random_input`)."""

    name: str
    result: str
    arguments: tuple
    body: str
    kinds: tuple = ()

    def kind(self, i):
        return self.kinds[i] if i < len(self.kinds) else "any"


def holder(kind):
    return "i64" if BITS[kind] == 64 else "i32"


def unpack(kind, name):
    """IR that turns %name.raw into %name."""
    bits, raw = BITS[kind], f"%{name}.raw"
    if kind in ("i32", "i64"):
        return f"  %{name} = or {kind} {raw}, 0\n"
    if kind.startswith("i"):
        return f"  %{name} = trunc i32 {raw} to {kind}\n"
    if bits == 16:
        return (
            f"  %{name}.n = trunc i32 {raw} to i16\n  %{name} = bitcast i16 %{name}.n to {kind}\n"
        )
    return f"  %{name} = bitcast i{bits} {raw} to {kind}\n"


def pack(kind):
    """IR that turns %r into %r.raw."""
    bits = BITS[kind]
    if kind in ("i32", "i64"):
        return f"  %r.raw = or {kind} %r, 0\n"
    if kind.startswith("i"):
        return f"  %r.raw = zext {kind} %r to i32\n"
    if bits == 16:
        return f"  %r.n = bitcast {kind} %r to i16\n  %r.raw = zext i16 %r.n to i32\n"
    return f"  %r.raw = bitcast {kind} %r to i{bits}\n"


def body_of(operation):
    names = "abc"[: len(operation.arguments)]
    text = "".join(
        unpack(kind, name) for kind, name in zip(operation.arguments, names, strict=True)
    )
    return (
        text
        + "".join(f"  {line.strip()}\n" for line in operation.body.split("\n"))
        + pack(operation.result)
    )


def declarations(operations):
    """Of the intrinsics that are called, from their calls."""
    found = {}
    for operation in operations:
        for result, name, arguments in re.findall(
            r"call ([^@]+?) @(llvm[.\w]+)\((.*?)\)\s*(?:\n|$)", operation.body
        ):
            kinds = [re.sub(r"\s+\S+$", "", part.strip()) for part in _split(arguments)]
            found[name] = f"declare {result} @{name}({', '.join(kinds)})\n"
    return "".join(found.values())


def _split(arguments):
    """At commas outside of < >."""
    return re.findall(r"(?:<[^>]*>|[^,<])+", arguments)


def fold(operations, inputs, folder):
    """[operation] of uint64 arrays and masks of the items that LLVM folded to a number."""
    text = TRIPLE + declarations(operations)
    for index, operation in enumerate(operations):
        body = body_of(operation)
        text += f"define void @f{index}(ptr %p) {{\n"
        for item in range(len(inputs[index][0])):
            constants = "".join(
                f"  %{name}.raw = or {holder(kind)} {int(values[item])}, 0\n"
                for name, kind, values in zip(
                    "abc", operation.arguments, inputs[index], strict=False
                )
            )
            lines = (
                constants + body + (f"  store volatile {holder(operation.result)} %r.raw, ptr %p\n")
            )
            text += re.sub(r"%([abcr][\w.]*)", rf"%\1.{item}", lines)
        text += "  ret void\n}\n"
    (folder / "fold.ll").write_text(text)
    folded = run(
        [
            tool("opt"),
            "-S",
            "-passes=instcombine<no-verify-fixpoint>,instsimplify",
            folder / "fold.ll",
        ]
    )
    results = []
    for part in folded.split("define void @f")[1:]:
        found = re.findall(r"store volatile (i32|i64) (\S+),", part)
        known = np.array([value.lstrip("-").isdigit() for _, value in found])
        numbers = [
            int(value) & (2**64 - 1 if kind == "i64" else 2**32 - 1) if ok else 0
            for (kind, value), ok in zip(found, known, strict=True)
        ]
        results.append((np.array(numbers, np.uint64), known))
    return results


def kernels(operations, inputs, scalar):
    """IR of a kernel for each operation. `scalar`: an item a workgroup of one lane, so that LLVM
    uses scalar instructions; else an item a lane."""
    space = 4 if scalar else 1
    text = TRIPLE + declarations(operations)
    intrinsic = "workgroup.id.x" if scalar else "workitem.id.x"
    text += f"declare i32 @llvm.amdgcn.{intrinsic}()\ndeclare i32 @llvm.amdgcn.workgroup.id.y()\n"
    for index, operation in enumerate(operations):
        items = len(inputs[index][0])
        text += (
            f"define amdgpu_kernel void @k{index}(ptr addrspace({space}) inreg %in, "
            "ptr addrspace(1) inreg %out) #0 {\n"
            f"  %lane = call i32 @llvm.amdgcn.{intrinsic}()\n"
        )
        if scalar:
            text += "  %id = or i32 %lane, 0\n"
        else:
            text += (
                "  %group = call i32 @llvm.amdgcn.workgroup.id.y()\n"
                f"  %base = mul i32 %group, {WAVE}\n  %id = add i32 %base, %lane\n"
            )
        word = 0
        for name, kind in zip("abc", operation.arguments, strict=False):
            size = 2 if holder(kind) == "i64" else 1
            text += (
                f"  %{name}.i = add i32 %id, {word * items // size}\n"
                f"  %{name}.p = getelementptr {holder(kind)}, ptr addrspace({space}) %in, i32 "
                f"%{name}.i\n"
                f"  %{name}.raw = load {holder(kind)}, ptr addrspace({space}) %{name}.p\n"
            )
            # 64-bit arguments come first, so that all of them are aligned.
            word += size
        text += body_of(operation)
        text += (
            f"  %q = getelementptr {holder(operation.result)}, ptr addrspace(1) %out, i32 %id\n"
            f"  store {holder(operation.result)} %r.raw, ptr addrspace(1) %q\n  ret void\n}}\n"
        )
    limit = 1 if scalar else WAVE
    return text + (
        f'attributes #0 = {{ "amdgpu-flat-work-group-size"="{limit},{WAVE}" '
        '"uniform-work-group-size"="true" }\n'
    )


def compile_kernels(text, folder):
    """Code object and assembly text."""
    (folder / "kernels.ll").write_text(text)
    options = ["-mtriple=amdgcn-amd-amdhsa", "-mcpu=gfx950", "-O2", folder / "kernels.ll"]
    run([tool("llc"), *options, "-filetype=obj", "-o", folder / "kernels.o"])
    run([tool("llc"), *options, "-o", folder / "kernels.s"])
    run([tool("ld.lld"), "-shared", folder / "kernels.o", "-o", folder / "kernels.co"])
    return (folder / "kernels.co").read_bytes(), (folder / "kernels.s").read_text()


def mnemonics(assembly):
    """Of instructions, without the encoding that the assembler chose."""
    words = re.findall(r"^\t([vs]_\w+)", assembly, re.M)
    return {re.sub(r"_(e32|e64|sdwa|dpp)$", "", word) for word in words}


def execute(program, operations, inputs, folder, scalar):
    """[operation] of uint64 arrays from `kw launch`, and the mnemonics that were compiled."""
    folder.mkdir(parents=True, exist_ok=True)
    code, assembly = compile_kernels(kernels(operations, inputs, scalar), folder)
    launches, outputs = [], []
    for index, operation in enumerate(operations):
        items = len(inputs[index][0])
        wide = holder(operation.result) == "i64"
        words = np.concatenate(
            [
                values.astype(np.uint64 if holder(kind) == "i64" else np.uint32).view(np.uint32)
                for kind, values in zip(operation.arguments, inputs[index], strict=True)
            ]
        )
        out = launching.output((items,), np.uint64 if wide else np.uint32)
        outputs.append(out)
        grid, block = ((items,), 1) if scalar else ((1, items // WAVE), WAVE)
        launches.append(
            launching.Launch(f"k{index}", grid, block, [(0, launching.given(words)), (8, out)])
        )
    outcome = launching.launch(program, folder / "run", code, launches)
    assert outcome.ok, outcome.findings[:3]
    return [out.result.astype(np.uint64) for out in outputs], mnemonics(assembly)


# ---- Random inputs

FLOAT_TYPES = {
    "half": (np.float16, 5, 10),
    "float": (np.float32, 8, 23),
    "double": (np.float64, 11, 52),
    "bfloat": (None, 8, 7),
}


def random_float_bits(rng, kind, count, quiet_only=True):
    """Of every size, special ones among them; NaNs are quiet (LLVM leaves signalling ones open)."""
    _, exponent_bits, mantissa = FLOAT_TYPES[kind]
    width = 1 + exponent_bits + mantissa
    bias = (1 << exponent_bits - 1) - 1
    bits = rng.integers(0, 1 << width, count, dtype=np.uint64)
    exponent = rng.integers(bias - 6, bias + 12, count).astype(np.uint64)
    usual = bits & np.uint64((1 << mantissa) - 1 | 1 << width - 1) | exponent << np.uint64(mantissa)
    few_bits = usual & ~np.uint64((1 << max(mantissa - 4, 0)) - 1)
    top = (1 << exponent_bits) - 1 << mantissa
    special = np.array(
        [
            0,
            1 << width - 1,
            top,
            top | 1 << width - 1,
            top | 1 << mantissa - 1,
            1,
            (1 << mantissa) - 1,
            1 << mantissa,
            top - 1,
        ],
        np.uint64,
    )
    choice = rng.integers(0, 5, count)
    bits = np.choose(
        choice, [bits, usual, usual, few_bits, special[rng.integers(0, len(special), count)]]
    )
    is_nan = (bits & np.uint64(top) == top) & (bits & np.uint64((1 << mantissa) - 1) != 0)
    return np.where(is_nan & quiet_only, bits | np.uint64(1 << mantissa - 1), bits).astype(
        np.uint64
    )


def random_integer_bits(rng, width, count):
    bits = rng.integers(0, 2**64, count, dtype=np.uint64)
    short = bits >> rng.integers(0, 64, count).astype(np.uint64)
    special = np.array(
        [
            0,
            1,
            2**64 - 1,
            1 << width - 1,
            (1 << width - 1) - 1,
            31,
            32,
            63,
            255,
            0xFFFF,
            0xFFFFFF,
            0x800000,
        ],
        np.uint64,
    )
    choice = rng.integers(0, 4, count)
    mixed = np.choose(choice, [bits, short, short, special[rng.integers(0, len(special), count)]])
    return mixed & np.uint64(2**width - 1)


def random_input(rng, kind, what, count):
    """Raw bits. `what`: any; amount (of a shift, by the type's width); divisor (positive); not
    infinite; or a number: that constant."""
    width = BITS[kind]
    if isinstance(what, int):
        return np.full(count, what, np.uint64)
    if kind in FLOAT_TYPES:
        bits = random_float_bits(rng, kind, count)
        _, exponent_bits, mantissa = FLOAT_TYPES[kind]
        infinity = np.uint64((1 << exponent_bits) - 1 << mantissa)
        is_infinite = what == "not infinite" and bits & np.uint64(2 ** (width - 1) - 1) == infinity
        return np.where(is_infinite, np.uint64(0), bits)
    if kind.startswith("<2 x"):
        element = kind[5:-1]
        low, high = (random_input(rng, element, what, count) for _ in range(2))
        return low | high << np.uint64(BITS[element])
    if what == "amount":
        return rng.integers(0, width, count, dtype=np.uint64)
    bits = random_integer_bits(rng, width, count)
    if what == "divisor":
        return bits & np.uint64(2 ** (width - 1) - 1) | np.uint64(1)
    return bits


def same(kind, got, want):
    """Bits, but any NaN is as good as another."""
    equal = got == want
    elements = 2 if kind.startswith("<2 x") else 1
    element = kind[5:-1] if elements == 2 else kind
    if element not in FLOAT_TYPES:
        return equal
    _, exponent_bits, mantissa = FLOAT_TYPES[element]
    width = 1 + exponent_bits + mantissa
    good = np.ones(len(got), bool)
    for i in range(elements):
        g, w = (x >> np.uint64(i * width) & np.uint64(2**width - 1) for x in (got, want))
        top = np.uint64((1 << exponent_bits) - 1 << mantissa)
        nan = [(x & ~np.uint64(1 << width - 1)) > top for x in (g, w)]
        good &= (g == w) | (nan[0] & nan[1])
    return good
