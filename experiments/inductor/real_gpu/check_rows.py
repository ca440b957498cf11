# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Proves on a real GPU that torch.compile takes a lookup table's rows as they are.

    kw tune --generator triton --suite suite.txt && kw export inductor --suite suite.txt --key agnostic --out BUNDLE
    python check_rows.py BUNDLE --out evidence/bundle

For each key that this GPU would look up: the code generated with the table active has one Triton
kernel with exactly the row's constants and no library call, nothing is benchmarked, the result
equals eager's within the dtype's tolerance and itself in a second run. Each function is compiled
without the table first, so that Inductor's caches hold other code for it. Writes evidence.json
and evidence.md; exits 1 where something does not hold.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import hashlib
import json
import logging
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch

from kernelwright.lookup import TableError, activate, parse_key, read_table
from kernelwright.lookup.lowering import constants, function, operands, triton_kernels, watch_choices
from kernelwright.lookup.table import check_table

# Of the result's largest magnitude: what one rounding to the type and another order of summation
# in float32 leave.
TOLERANCE = {"float16": 2**-9, "bfloat16": 2**-6, "float32": 2**-17}
_NOT_CONSTANTS = {"template_id", "template_hash", "hint_override"}


def random_operands(key, seed):
    """Operands of the key's strides, padding in them filled with NaN."""
    generator = torch.Generator(device="cuda").manual_seed(seed)

    def make(sizes, strides, dtype, device):
        extent = 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides))
        memory = torch.full((extent + 64,), float("nan"), dtype=dtype, device=device)
        tensor = memory.as_strided(sizes, strides)
        values = torch.randn(sizes, generator=generator, device=device)
        if 0 in strides:  # broadcast: one value for all
            shown = tensor.as_strided([1 if s == 0 else n for n, s in zip(sizes, strides)], strides)
            shown.copy_(values[tuple(slice(0, 1) if s == 0 else slice(None) for s in strides)])
        else:
            tensor.copy_(values)
        return tensor

    return operands(key, "cuda", make)


@contextlib.contextmanager
def log_of_lookups():
    """Messages of torch's lookup table."""
    messages = []
    handler = logging.Handler()
    handler.emit = lambda record: messages.append(record.getMessage())
    logger = logging.getLogger("torch._inductor.lookup_table.choices")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield messages
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


def generated(run, tensors):
    """(result, wrapper code) of one compilation."""
    from torch._inductor.utils import run_and_get_code

    torch._dynamo.reset()
    result, codes = run_and_get_code(torch.compile(run, fullgraph=True), *tensors)
    return result, "\n".join(codes)


def differences(source, row):
    """Row fields that the kernel's constants do not have."""
    found = constants(source)
    return [
        f"{name}={found.get(name)!r}, row {value!r}"
        for name, value in row.items()
        if name not in _NOT_CONSTANTS and found.get(name) != value
    ]


def error_against(result, expected):
    scale = expected.abs().max().item()
    return (result.double() - expected).abs().max().item() / scale if scale else 0.0


def check_key(text, row, seed):
    """Evidence of one key whose table has just `row`."""
    from torch._dynamo.utils import counters

    key = parse_key(text)
    run, tensors = function(key), random_operands(key, seed)
    eager = run(*tensors)
    wide = run(*(tensor.double() for tensor in tensors))
    _, before = generated(run, tensors)
    counters.clear()
    with activate({text: [row]}, misses="error"), watch_choices() as (choices, timed):
        with log_of_lookups() as messages:
            result, code = generated(run, tensors)
        again = generated(run, tensors)[0]
    kernels = triton_kernels(code)
    problems = []
    if len(kernels) != 1:
        problems.append(f"{len(kernels)} Triton kernels")
    problems += differences(kernels[0][1], row) if kernels else []
    if "extern_kernels." in code:
        problems.append("a library call is left")
    if code == before:
        problems.append("the code made before is used")
    benchmarks = len(timed) + counters["inductor"]["select_algorithm_autotune"]
    if benchmarks:
        problems.append(f"{benchmarks} benchmarks")
    if not any("lookup hit" in message for message in messages):
        problems.append("no lookup hit was logged")
    error, tolerance = error_against(result, wide), TOLERANCE[str(eager.dtype).split(".")[1]]
    if not error <= tolerance:
        problems.append(f"error {error:.2e}")
    if not torch.equal(result, again):
        problems.append("a second run differs")
    return {
        "key": text,
        "row": row,
        "tile": {n: v for n, v in constants(kernels[0][1]).items() if n in row} if kernels else None,
        "kernel": kernels[0][0] if kernels else None,
        "candidates": [choice.description or choice.name for choice in choices][:8],
        "benchmarks": benchmarks,
        "max_error": error,
        "eager_max_error": error_against(eager, wide),
        "max_difference_to_eager": error_against(result, eager.double()),
        "tolerance": tolerance,
        "library_call_without_table": "extern_kernels." in before,
        "problems": problems,
    }


def in_a_thread(text, row):
    """A thread that compiled before activation takes the row too: its kernel's constants differ in ..."""
    key = parse_key(text)
    run, tensors = function(key), random_operands(key, 1)
    found = []

    def work():
        generated(run, tensors)
        compiled.set()
        activated.wait()
        kernels = triton_kernels(generated(run, tensors)[1])
        found.append(differences(kernels[0][1], row) if kernels else ["no Triton kernel"])

    compiled, activated = threading.Event(), threading.Event()
    thread = threading.Thread(target=work)
    thread.start()
    compiled.wait()
    with activate({text: [row]}, misses="error"):
        activated.set()
        thread.join()
    return found[0] if found else ["the thread failed"]


def with_stock_class(text, row):
    """The row through torch's own LookupTableChoices, without this package's loader."""
    from torch._inductor import config
    from torch._inductor.lookup_table.choices import LookupTableChoices
    from torch._inductor.utils import fresh_cache
    from torch._inductor.virtualized import V

    key = parse_key(text)
    run, tensors = function(key), random_operands(key, 2)
    options = {
        "max_autotune": True,
        "max_autotune_gemm_backends": "ATEN,TRITON",
        "lookup_table.table": json.loads(json.dumps({text: [row]})),
    }
    with fresh_cache(), config.patch(options), V.set_choices_handler(LookupTableChoices()):
        with watch_choices() as (choices, timed):
            _, code = generated(run, tensors)
    kernels = triton_kernels(code)
    found = differences(kernels[0][1], row) if kernels else ["no Triton kernel"]
    return {"differences": found, "candidates": len(choices), "benchmarks": len(timed)}


def seconds_of_compiling(text, row):
    """Wall-clock seconds of one compilation with the row and with Inductor's own candidates, caches
    empty; and how many candidates it timed."""
    from torch._inductor import config
    from torch._inductor.utils import fresh_cache

    key = parse_key(text)
    run, tensors = function(key), random_operands(key, 4)
    with fresh_cache(), activate({text: [row]}, misses="error"):
        begin = time.perf_counter()
        generated(run, tensors)
        with_row = time.perf_counter() - begin
    options = {"max_autotune": True, "max_autotune_gemm_backends": "ATEN,TRITON"}
    with fresh_cache(), config.patch(options), watch_choices() as (choices, _):
        begin = time.perf_counter()
        generated(run, tensors)
        autotuned = time.perf_counter() - begin
    return {"with the row": round(with_row, 2), "max-autotune": round(autotuned, 2), "candidates": len(choices)}


def refused(text, row, change):
    """The reason for which the loader refuses a changed row; None: it takes it."""
    try:
        check_table({text: [{**row, **change}]})
    except TableError as error:
        return str(error)
    return None


def missing(text, row):
    """The error of an operation without a row, with misses="error"."""
    key = parse_key(text)
    run, tensors = function(key), random_operands(key, 3)
    longer = [torch.cat([t, t], -2) if i == len(tensors) - 2 else t for i, t in enumerate(tensors)]
    with activate({text: [row]}, misses="error"):
        try:
            generated(run, longer)
        except Exception as error:  # dynamo wraps it
            return str(error).splitlines()[0]
    return None


def keys_of_this_gpu(table):
    name = torch.cuda.get_device_properties(0).gcnArchName
    return {
        text: rows for text, rows in table.items() if parse_key(text).device in (None, name)
    }


def provenance(path):
    """Which table: its hash and, of a bundle, who made it with which model."""
    table = path / "lookup_table.json" if path.is_dir() else path
    found = {"sha256": hashlib.sha256(table.read_bytes()).hexdigest()}
    if (path / "bundle.json").is_file():
        head = json.loads((path / "bundle.json").read_text())
        found |= {name: head.get(name) for name in ("producer", "target", "model", "triton")}
    return found


def versions():
    import triton

    properties = torch.cuda.get_device_properties(0)
    return {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "device": properties.name,
        "warp_size": properties.warp_size,
        "torch": torch.__version__,
        "triton": triton.__version__,
        "python": sys.version.split()[0],
    }


def markdown(evidence):
    head = evidence["environment"]
    lines = [
        "# Rows taken by Inductor on a real GPU", "",
        ", ".join(f"{name} {value}" for name, value in head.items()), "",
        "Table: " + ", ".join(f"{name} {value}" for name, value in evidence["table"].items()), "",
        f"{len(evidence['keys'])} rows, {sum(not key['problems'] for key in evidence['keys'])} as they "
        "should be: Inductor took the row's tile as the only candidate, timed nothing, and the result "
        "is right.", "",
        "| key | tile found in the generated code | candidates | benchmarks | error | eager's | tolerance | |",
        "|---|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    for key in evidence["keys"]:
        tile = key["tile"] or {}
        short = "x".join(str(tile.get(f"BLOCK_{x}")) for x in "MNK")
        short += f", {tile.get('num_warps')} warps, {tile.get('num_stages')} stages, group {tile.get('GROUP_M')}"
        short += ", even k" if tile.get("EVEN_K") else ""
        lines.append(
            f"| `{key['key']}` | {short} | {len(key['candidates'])} | {key['benchmarks']} "
            f"| {key['max_error']:.1e} | {key['eager_max_error']:.1e} | {key['tolerance']:.1e} "
            f"| {'; '.join(key['problems']) or 'ok'} |"
        )
    lines += ["", "Errors are the largest against float64, of the result's largest magnitude.", ""]
    lines += [f"- {name}: {text}" for name, text in evidence["also"].items()]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="path without suffix")
    parser.add_argument("--limit", type=int, help="the first N keys alone")
    parser.add_argument("--seconds", action="store_true", help="also time max-autotune's compilations")
    options = parser.parse_args()
    table = keys_of_this_gpu(read_table(options.table))
    rows = [(text, row) for text, rows in table.items() for row in rows if "BLOCK_M" in row]
    if not rows:
        raise SystemExit(f"{options.table}: no key is one of this GPU's; export with --key agnostic")
    keys = []
    for index, (text, row) in enumerate(rows[: options.limit]):
        keys.append(check_key(text, row, index))
        print(text, keys[-1]["problems"] or "ok", flush=True)
    text, row = rows[0]
    also = {
        "another thread, which compiled before activation, differs from the row in": in_a_thread(text, row),
        "an operation without a row, misses=error": missing(text, row),
        "EVEN_K lie": refused(text, row, {"EVEN_K": True, "BLOCK_K": 1 << 20}),
        "unknown field": refused(text, row, {"comment": "fast"}),
    }
    for operation in dict.fromkeys(parse_key(key).operation for key, _ in rows):
        first = next((k, r) for k, r in rows if parse_key(k).operation == operation)
        also[f"torch's own LookupTableChoices, {operation}"] = with_stock_class(*first)
        if options.seconds:
            also[f"seconds of compiling, {operation}"] = seconds_of_compiling(*first)
    evidence = {"environment": versions(), "table": provenance(options.table), "keys": keys, "also": also}
    options.out.with_suffix(".json").write_text(json.dumps(evidence, indent=1) + "\n")
    options.out.with_suffix(".md").write_text(markdown(evidence))
    failed = [key["key"] for key in keys if key["problems"]]
    if also["another thread, which compiled before activation, differs from the row in"]:
        failed.append("thread")
    print(f"{len(keys)} rows, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
