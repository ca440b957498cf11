# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""LLVM's own constant folding as the second implementation: each operation of its IR, and each
gfx950 intrinsic that it folds, on random inputs; vector and scalar code alike."""

import numpy as np
import pytest
from folding import Operation, execute, fold, random_input, same

ITEMS = 64
LEAST_MNEMONICS = {"vector": 150, "scalar": 60}  # a little below what LLVM 22.1.8 chooses


def binary(op, kind, kinds=()):
    return Operation(f"{op} {kind}", kind, (kind, kind), f"%r = {op} {kind} %a, %b", kinds)


def suffix(kind):
    return {
        "float": "f32",
        "double": "f64",
        "half": "f16",
        "bfloat": "bf16",
        "<2 x half>": "v2f16",
        "<2 x i16>": "v2i16",
        "<2 x float>": "v2f32",
    }.get(kind, kind)


def call(name, kind, arguments, kinds=(), result=None, extra="", overloads=None):
    types = ".".join(suffix(k) for k in (overloads or [kind]))
    listed = ", ".join(f"{k} %{n}" for k, n in zip(arguments, "abc", strict=False))
    result = result or kind
    return Operation(
        f"{name} {kind}",
        result,
        tuple(arguments),
        f"%r = call {result} @llvm.{name}.{types}({listed}{extra})",
        kinds,
    )


def integer_operations():
    ops = []
    for kind in ("i16", "i32", "i64", "<2 x i16>"):
        ops += [binary(op, kind) for op in ("add", "sub", "mul", "and", "or", "xor")]
        ops += [binary(op, kind, ("any", "amount")) for op in ("shl", "lshr", "ashr")]
        ops += [
            call(op, kind, (kind, kind))
            for op in (
                "umin",
                "umax",
                "smin",
                "smax",
                "uadd.sat",
                "usub.sat",
                "sadd.sat",
                "ssub.sat",
            )
        ]
        ops.append(call("abs", kind, (kind,), extra=", i1 false"))
    for kind in ("i32", "i64", "i16"):
        ops += [binary(op, kind, ("any", "divisor")) for op in ("udiv", "urem", "sdiv", "srem")]
        ops += [
            call("ctpop", kind, (kind,)),
            call("bitreverse", kind, (kind,)),
            call("bswap", kind, (kind,)),
            call("ctlz", kind, (kind,), extra=", i1 false"),
            call("cttz", kind, (kind,), extra=", i1 false"),
        ]
        ops += [call(op, kind, (kind,) * 3, ("any", "any", "amount")) for op in ("fshl", "fshr")]
        ops += [
            Operation(f"icmp {p} {kind}", "i1", (kind, kind), f"%r = icmp {p} {kind} %a, %b")
            for p in ("eq", "ne", "ugt", "uge", "ult", "ule", "sgt", "sge", "slt", "sle")
        ]
        ops.append(
            Operation(
                f"select {kind}",
                kind,
                (kind, kind),
                f"%s = icmp slt {kind} %a, %b\n%r = select i1 %s, {kind} %b, {kind} %a".replace(
                    "%s", "%a.s"
                ),
            )
        )
    for sign, extend, shift in (("u", "zext", "lshr"), ("s", "sext", "ashr")):
        ops.append(
            Operation(
                f"mulhi {sign}",
                "i32",
                ("i32", "i32"),
                f"%a.w = {extend} i32 %a to i64\n%b.w = {extend} i32 %b to i64\n"
                "%r.p = mul i64 %a.w, %b.w\n%r.s = lshr i64 %r.p, 32\n"
                "%r = trunc i64 %r.s to i32",
            )
        )
        ops.append(
            Operation(
                f"mad64 {sign}",
                "i64",
                ("i64", "i32", "i32"),
                f"%b.w = {extend} i32 %b to i64\n%c.w = {extend} i32 %c to i64\n"
                "%r.p = mul i64 %b.w, %c.w\n%r = add i64 %r.p, %a",
            )
        )
        ops.append(
            Operation(
                f"mad24 {sign}",
                "i32",
                ("i32", "i32", "i32"),
                f"%a.t = shl i32 %a, 8\n%a.u = {shift} i32 %a.t, 8\n"
                f"%b.t = shl i32 %b, 8\n%b.u = {shift} i32 %b.t, 8\n"
                "%r.p = mul i32 %a.u, %b.u\n%r = add i32 %r.p, %c",
            )
        )
        ops += [
            Operation(f"{extend} {k}", "i32", (k,), f"%r = {extend} {k} %a to i32")
            for k in ("i8", "i16")
        ]
        for what in ("add", "sub", "mul"):
            ops.append(
                Operation(
                    f"{sign}{what}.overflow",
                    "i32",
                    ("i32", "i32"),
                    f"%r.s = call {{i32, i1}} @llvm.{sign}{what}.with.overflow.i32"
                    "(i32 %a, i32 %b)\n"
                    "%r.v = extractvalue {i32, i1} %r.s, 0\n%r.o = extractvalue {i32, i1} %r.s, 1\n"
                    "%r.n = xor i32 %r.v, -1\n%r.q = select i1 %r.o, i32 %r.n, i32 %r.v\n"
                    "%r = or i32 %r.q, 0",
                )
            )
    combined = {
        "lshl_add": "%r.t = shl i32 %a, 5\n%r = add i32 %r.t, %b",
        "add3": "%r.t = add i32 %a, %b\n%r = add i32 %r.t, %c",
        "lshl_or": "%r.t = shl i32 %a, 7\n%r = or i32 %r.t, %b",
        "and_or": "%r.t = and i32 %a, %b\n%r = or i32 %r.t, %c",
        "or3": "%r.t = or i32 %a, %b\n%r = or i32 %r.t, %c",
        "xor3": "%r.t = xor i32 %a, %b\n%r = xor i32 %r.t, %c",
        "xad": "%r.t = xor i32 %a, %b\n%r = add i32 %r.t, %c",
        "add_lshl": "%r.t = add i32 %a, %b\n%r = shl i32 %r.t, 9",
        "bfi": "%r.t = xor i32 %b, %c\n%r.u = and i32 %r.t, %a\n%r = xor i32 %r.u, %c",
        "majority": "%r.t = and i32 %a, %b\n%r.u = and i32 %b, %c\n%r.v = and i32 %a, %c\n"
        "%r.w = or i32 %r.t, %r.u\n%r = or i32 %r.w, %r.v",
        "xnor": "%r.t = xor i32 %a, %b\n%r = xor i32 %r.t, -1",
        "andn2": "%r.t = xor i32 %b, -1\n%r = and i32 %a, %r.t",
        "bfm": "%r.m = and i32 %a, 31\n%r.t = shl i32 1, %r.m\n%r.u = sub i32 %r.t, 1\n"
        "%r.k = and i32 %b, 31\n%r = shl i32 %r.u, %r.k",
        "bfe": "%r.t = lshr i32 %a, 5\n%r = and i32 %r.t, 1023",
        "bfe.signed": "%r.t = shl i32 %a, 9\n%r = ashr i32 %r.t, 20",
        "absdiff": "%r.t = sub i32 %a, %b\n%r.g = icmp ugt i32 %a, %b\n%r.n = sub i32 %b, %a\n"
        "%r = select i1 %r.g, i32 %r.t, i32 %r.n",
    }
    ops += [
        Operation(name, "i32", ("i32",) * (3 if "%c" in body else 2 if "%b" in body else 1), body)
        for name, body in combined.items()
    ]
    for op in ("smin", "smax", "umin", "umax"):
        ops.append(
            Operation(
                f"{op}3",
                "i32",
                ("i32",) * 3,
                f"%r.t = call i32 @llvm.{op}.i32(i32 %a, i32 %b)\n"
                f"%r = call i32 @llvm.{op}.i32(i32 %r.t, i32 %c)",
            )
        )
        low, high = (
            (op, op.replace("min", "max")) if "min" in op else (op, op.replace("max", "min"))
        )
        ops.append(
            Operation(
                f"clamp {op}",
                "i32",
                ("i32",),
                f"%r.t = call i32 @llvm.{low}.i32(i32 %a, "
                f"i32 {100 if 'min' in op else 12})\n%r = call i32 @llvm.{high}.i32(i32 %r.t"
                f", i32 {12 if 'min' in op else 100})",
            )
        )
    ops += [
        call("amdgcn.perm", "i32", ("i32",) * 3, overloads=()),
        call("amdgcn.ubfe", "i32", ("i32",) * 3),
        call("amdgcn.sbfe", "i32", ("i32",) * 3),
    ]
    ops[-3] = Operation(
        "perm", "i32", ("i32",) * 3, "%r = call i32 @llvm.amdgcn.perm(i32 %a, i32 %b, i32 %c)"
    )
    return ops


PREDICATES = (
    "oeq",
    "ogt",
    "oge",
    "olt",
    "ole",
    "one",
    "ord",
    "ueq",
    "ugt",
    "uge",
    "ult",
    "ule",
    "une",
    "uno",
)


def float_operations():
    ops = []
    for kind in ("float", "double", "half", "<2 x half>", "bfloat"):
        ops += [binary(op, kind) for op in ("fadd", "fsub", "fmul")]
        ops += [
            call(op, kind, (kind, kind))
            for op in (
                "minnum",
                "maxnum",
                "minimum",
                "maximum",
                "minimumnum",
                "maximumnum",
                "copysign",
            )
        ]
        ops += [call(op, kind, (kind,)) for op in ("fabs", "canonicalize")]
        if kind != "bfloat":  # whose rounding LLVM does not fold
            ops += [
                call(op, kind, (kind,))
                for op in ("floor", "ceil", "trunc", "rint", "roundeven", "round")
            ]
        ops += [
            call("fma", kind, (kind,) * 3),
            Operation(f"fneg {kind}", kind, (kind,), f"%r = fneg {kind} %a"),
        ]
    for kind in ("float", "double", "half"):
        ops += [binary("fdiv", kind), call("sqrt", kind, (kind,))]
        ops += [
            Operation(f"fcmp {p} {kind}", "i1", (kind, kind), f"%r = fcmp {p} {kind} %a, %b")
            for p in PREDICATES
        ]
        ops += [
            Operation(
                f"is.fpclass {mask} {kind}",
                "i1",
                (kind,),
                f"%r = call i1 @llvm.is.fpclass.{suffix(kind)}({kind} %a, i32 {mask})",
            )
            for mask in (3, 0x204, 0x90, 0x108, 0x60)
        ]
        ops.append(
            Operation(
                f"ldexp {kind}",
                kind,
                (kind, "i16"),
                f"%b.w = sext i16 %b to i32\n"
                f"%r = call {kind} @llvm.ldexp.{suffix(kind)}.i32({kind} %a, i32 %b.w)",
            )
        )
        for part, result in ((0, kind), (1, "i32")):
            finite = "%r = " + (f"extractvalue {{{kind}, i32}} %r.s, {part}")
            ops.append(
                Operation(
                    f"frexp.{part} {kind}",
                    result,
                    (kind,),
                    f"%r.s = call {{{kind}, i32}} @llvm.frexp.{suffix(kind)}.i32({kind} %a)\n"
                    + finite,
                )
            )
        ops += [
            call("amdgcn.fract", kind, (kind,)) if kind != "half" else call("floor", kind, (kind,))
        ]
        ops += [
            Operation(
                f"class {kind}",
                "i1",
                (kind,),
                f"%r = call i1 @llvm.amdgcn.class.{suffix(kind)}({kind} %a, i32 {mask})",
            )
            for mask in (0x155, 0x2AA)
        ]
    # With infinities beside NaNs LLVM folds a median to something that the ISA does not say.
    ops += [
        call("amdgcn.fmed3", kind, (kind,) * 3, ("not infinite",) * 3) for kind in ("float", "half")
    ]
    for name in ("cubeid", "cubesc", "cubetc", "cubema"):
        ops.append(
            Operation(
                name,
                "float",
                ("float",) * 3,
                f"%r = call float @llvm.amdgcn.{name}(float %a, float %b, float %c)",
            )
        )
    ops += [
        Operation(
            "pkrtz",
            "<2 x half>",
            ("float", "float"),
            "%r = call <2 x half> @llvm.amdgcn.cvt.pkrtz(float %a, float %b)",
        ),
        Operation(
            "cvt.off", "float", ("i32",), "%r = call float @llvm.amdgcn.cvt.off.f32.i4(i32 %a)"
        ),
        Operation(
            "fmul.legacy",
            "float",
            ("float", "float"),
            "%r = call float @llvm.amdgcn.fmul.legacy(float %a, float %b)",
        ),
    ]
    return ops


def conversions():
    ops = []
    floats = ("float", "double", "half", "bfloat")
    for kind in ("i32", "i64", "i16", "i8"):
        ops += [
            Operation(f"{op} {kind} {f}", f, (kind,), f"%r = {op} {kind} %a to {f}")
            for op in ("sitofp", "uitofp")
            for f in floats
        ]
    for kind in ("i32", "i64", "i16"):
        ops += [
            Operation(
                f"{op} {f} {kind}",
                kind,
                (f,),
                f"%r = call {kind} @llvm.{op}.{kind}.{suffix(f)}({f} %a)",
            )
            for op in ("fptosi.sat", "fptoui.sat")
            for f in floats[:3]
        ]
    wider = [
        ("half", "float"),
        ("half", "double"),
        ("float", "double"),
        ("bfloat", "float"),
        ("bfloat", "double"),
    ]
    ops += [Operation(f"fpext {a} {b}", b, (a,), f"%r = fpext {a} %a to {b}") for a, b in wider]
    ops += [Operation(f"fptrunc {b} {a}", a, (b,), f"%r = fptrunc {b} %a to {a}") for a, b in wider]
    return ops


GROUPS = {"integer": integer_operations, "float": float_operations, "conversion": conversions}
covered = {"vector": set(), "scalar": set()}


def inputs_of(operation, seed):
    rng = np.random.default_rng(seed)
    return [
        random_input(rng, kind, operation.kind(i), ITEMS)
        for i, kind in enumerate(operation.arguments)
    ]


@pytest.mark.parametrize("unit", covered)
@pytest.mark.parametrize("group", GROUPS)
def test_operations(kw_program, tmp_path, group, unit):
    operations = GROUPS[group]()
    inputs = [inputs_of(operation, seed) for seed, operation in enumerate(operations)]
    folded = fold(operations, inputs, tmp_path)
    results, used = execute(kw_program, operations, inputs, tmp_path / unit, unit == "scalar")
    covered[unit] |= used
    wrong, compared = [], 0
    for operation, sources, (want, known), got in zip(
        operations, inputs, folded, results, strict=True
    ):
        good = same(operation.result, got, want) | ~known
        compared += int(known.sum())
        assert known.sum() * 4 >= ITEMS, f"{operation.name}: LLVM folded {known.sum()} of {ITEMS}"
        if not good.all():
            at = np.flatnonzero(~good)[0]
            wrong.append(
                f"{operation.name} of {[hex(s[at]) for s in sources]}: {got[at]:#x}, LLVM "
                f"{want[at]:#x} ({np.count_nonzero(~good)} of {ITEMS})"
            )
    print(
        f"{group}, {unit}: {len(operations)} operations, {compared} results compared, "
        f"{len(used)} mnemonics"
    )
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("unit", covered)
def test_enough_instructions_were_covered(unit):
    """Runs behind the others."""
    if not covered[unit]:
        pytest.skip("the operations were not run")
    print(f"{unit}: {len(covered[unit])} mnemonics: {' '.join(sorted(covered[unit]))}")
    assert len(covered[unit]) >= LEAST_MNEMONICS[unit]
