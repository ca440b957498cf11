# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every line of every suite is a problem that has legal schedules."""

from pathlib import Path

import pytest

SUITES = sorted((Path(__file__).resolve().parents[2] / "experiments" / "suites").glob("*.txt"))

# Suites that are made for another generator than ours.
GENERATORS = {"linear-bias": "triton"}


def problems(suite):
    lines = (line.split("#")[0].strip() for line in suite.read_text().splitlines())
    return [line for line in lines if line]


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.stem)
def test_canonical_and_without_repetition(kw, suite):
    lines = problems(suite)
    assert len(lines) == len(set(lines)) > 0
    (kw.folder / "none").write_text("")
    generator = GENERATORS.get(suite.stem, "kw")
    for line in lines[:: max(1, len(lines) // 8)]:
        count = kw("space", line, "--generator", generator, "--json").json()
        assert count["legal"] > 0, line


def test_the_models_are_there():
    names = {suite.stem for suite in SUITES}
    models = "llama3-70b llama3-405b qwen3-32b deepseek-v3 gpt-oss-120b minimax-m3".split()
    assert names >= {"quickstart", *models}
    for model in models:
        suite = next(suite for suite in SUITES if suite.stem == model)
        ms = {line.split()[1].split("=")[1] for line in problems(suite)}
        assert {"1", "64", "2048"} <= ms, "decode and prefill"
