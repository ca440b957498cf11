# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention beyond what is compiled: spaces and estimates answer, compiling is refused by name."""

import pytest

PREFILL = "attention b=2 hq=16 hkv=4 sq=512 skv=1024 d=128"
MODELLED = {
    "prefill": (PREFILL, "prefill, sq=512"),
    "causal": (f"{PREFILL} mask=causal lse=1 layout=bshd", "prefill"),
    "latent": ("attention b=4 hq=16 hkv=1 sq=1 skv=2000 d=576 dv=512", "latent attention"),
    "wide head": ("attention b=1 hq=8 hkv=2 sq=1 skv=900 d=256", "d=256"),
    "two dimensions": ("attention b=1 hq=8 hkv=8 sq=4 skv=900 d=128 dv=64", "dv=64"),
    "window": ("attention b=2 hq=16 hkv=4 sq=1 skv=900 d=128 mask=window:128", "this mask"),
    "prefix": ("attention b=2 hq=16 hkv=4 sq=4 skv=900 d=64 mask=prefix:100", "this mask"),
    "alibi": ("attention b=2 hq=16 hkv=4 sq=1 skv=900 d=128 score=alibi", "score"),
    "softcap": ("attention b=2 hq=16 hkv=4 sq=1 skv=900 d=128 score=softcap:30", "score"),
    "pages": ("attention b=2 hq=16 hkv=4 sq=1 skv=900 d=128 page=16", "page=16"),
    "sinks": ("attention b=2 hq=16 hkv=4 sq=1 skv=900 d=128 sinks=1", "sinks=1"),
    "8 bits": ("attention b=2 hq=16 hkv=4 sq=1 skv=900 d=128 dtype=fp8", "dtype=fp8"),
    "8-bit k and v": ("attention b=2 hq=16 hkv=4 sq=1 skv=900 d=128 kvdtype=bf8", "kvdtype=bf8"),
}


@pytest.mark.parametrize("name", MODELLED)
def test_is_estimated_and_not_compiled(kw, name):
    problem, said = MODELLED[name]
    space = kw("space", problem, "--json").json()
    assert space["legal"] > 100
    document = kw("estimate", problem, "--json").json()
    assert document["source"] == "model" and document["time_us"] > 0
    answer = kw("compile", problem, "--schedule", document["schedule"], "-o", "out")
    assert answer.status == 2 and answer.out == ""
    answer.one_line_error("cannot be compiled: notSupported.", said, "supported: ")


def test_what_is_compiled_still_is(kw):
    answer = kw("compile", "attention b=1 hq=4 hkv=1 sq=1 skv=100 d=64", "-o", "out")
    assert answer.status == 0, answer.err


def test_files_of_lengths_and_documents(kw):
    (kw.folder / "lengths").write_text("1024\n100 300\n")
    (kw.folder / "documents").write_text(" ".join(["1"] * 700 + ["5"] * 324))
    whole = kw("estimate", PREFILL, "--json").json()["time_us"]
    for key in ("varlen=lengths", "mask=document:documents"):
        problem = PREFILL.replace("sq=512", "sq=1024") + " " + key
        document = kw("estimate", problem, "--json").json()
        assert 0 < document["time_us"] < 2 * whole
        kw("compile", problem, "-o", "out").one_line_error("cannot be compiled")
    (kw.folder / "lengths").write_text("500\n")
    kw("estimate", f"{PREFILL} varlen=lengths").one_line_error("1 sequences for b=2")
    kw("estimate", f"{PREFILL} varlen=absent").one_line_error("absent")


def limiters(kw, problem, axis):
    document = kw("estimate", problem, "--sweep", axis, "--calibration", "none", "--json").json()
    for point in document["points"]:
        assert point["time_us"] >= max(point["compute_roof_us"], point["memory_roof_us"])
    times = [point["time_us"] for point in document["points"]]
    assert times == sorted(times), "more columns or queries take no less time"
    return [point["limiter"] for point in document["points"]]


def test_decode_is_limited_by_memory(kw):
    found = limiters(kw, "attention b=32 hq=64 hkv=8 sq=1 d=128", "skv=64..65536*4")
    assert found[0] == "launch" and found[-3:] == ["hbm"] * 3


def test_prefill_is_limited_by_arithmetic(kw):
    found = limiters(kw, "attention b=16 hq=32 hkv=8 skv=4096 d=128 mask=causal", "sq=1..4096*8")
    assert found[0] == "hbm" and set(found[-2:]) <= {"matrix", "vector_alu"}
