# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ir/ops/KEYS.md names each key of problems and schedules that `kw` accepts, and no other."""

import re

import pytest

# Headings of the document where a family's keys stand, and the prefix of its own rows in shared tables.
PROBLEMS = {
    "gemm": ("gemm:", ""), "grouped_gemm": ("grouped_gemm:", ""), "attention": ("attention:", ""),
    "rmsnorm": ("rmsnorm, topk", "rmsnorm"), "topk": ("rmsnorm, topk", "topk"),
}  # fmt: skip
SCHEDULES = {
    "gemm.1": ("gemm.1", ""), "grouped_gemm.1": ("gemm.1", ""), "attention.1": ("attention.1", ""),
    "rmsnorm.1": ("rmsnorm.1", "rmsnorm"), "topk.1": ("rmsnorm.1", "topk"),
    "triton.gemm.1": ("triton.gemm.1", ""),
}  # fmt: skip


def documented(root, heading, family):
    text = (root / "ir" / "ops" / "KEYS.md").read_text()
    sections = [part for part in text.split("\n### ") if part.startswith(heading)]
    assert len(sections) == 1
    keys = []
    for row in re.findall(r"^\| (.*?) \|", sections[0].split("\n## ")[0], re.MULTILINE):
        owner, colon, rest = row.partition(": ")
        if row != "key" and (not colon or owner == family):
            keys += re.findall(r"\w+", rest if colon else row)
    return keys


def accepted(answer):
    assert answer.status == 2
    return answer.err.split("accepted keys: ")[1].split()


@pytest.mark.parametrize("family", PROBLEMS)
def test_keys_of_problems(kw, root, family):
    keys = documented(root, *PROBLEMS[family])
    assert sorted(keys) == sorted(accepted(kw("space", f"{family} zz=1")))


@pytest.mark.parametrize("family", SCHEDULES)
def test_keys_of_schedules(kw, root, family):
    keys = documented(root, *SCHEDULES[family])
    if family == "grouped_gemm.1":  # as the heading says
        keys = [key for key in keys if key not in ("splitk", "reduce")]
    answer = kw("estimate", "gemm m=64 n=64 k=64", "--schedule", f"{family}:zz=1")
    assert sorted(keys) == sorted(accepted(answer))
