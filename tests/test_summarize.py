# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The closing line of tests/run.sh, from results as the three runners write them."""

import importlib.util
from pathlib import Path

HERE = Path(__file__).parent
_spec = importlib.util.spec_from_file_location("summarize", HERE / "summarize.py")
summarize = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(summarize)

PASSED = '<testcase name="p" classname="c" status="run"/>'
FAILED = '<testcase name="f" classname="c" status="fail"><failure message=""/></testcase>'
ERROR = '<testcase name="e" classname="c"><error message="crash"/></testcase>'
SKIPPED = '<testcase name="s" classname="c"><skipped message="no GPU"/></testcase>'
MISSING = (
    '<testcase name="m" classname="c" status="notrun">'
    '<skipped message="Unable to find executable: x"/></testcase>'
)


def summary(folder, capsys, results, statuses=(0, 0, 0)):
    for runner, cases, status in zip(summarize.RUNNERS, results, statuses, strict=True):
        (folder / f"{runner}.status").write_text(f"{status}\n")
        if cases is not None:
            (folder / f"{runner}.xml").write_text(f"<testsuite>{''.join(cases)}</testsuite>")
    status = summarize.main(folder)
    return capsys.readouterr().out.splitlines()[-1], status


def test_sum_of_all_runners(tmp_path, capsys):
    results = ([PASSED, PASSED], [PASSED], [PASSED, SKIPPED])
    assert summary(tmp_path, capsys, results) == ("4 passed, 0 failed, 1 skipped", 0)


def test_no_skips_no_third_figure(tmp_path, capsys):
    assert summary(tmp_path, capsys, ([PASSED],) * 3) == ("3 passed, 0 failed", 0)


def test_failures_and_errors(tmp_path, capsys):
    results = ([PASSED, FAILED], [PASSED], [ERROR])
    assert summary(tmp_path, capsys, results, (8, 0, 1)) == ("2 passed, 2 failed", 1)


def test_a_program_that_was_not_built_failed(tmp_path, capsys):
    results = ([MISSING], [PASSED], [PASSED])
    assert summary(tmp_path, capsys, results, (8, 0, 0)) == ("2 passed, 1 failed", 1)


def test_a_runner_without_results_failed(tmp_path, capsys):
    results = ([PASSED], None, [PASSED])
    assert summary(tmp_path, capsys, results, (0, 2, 0)) == ("2 passed, 1 failed", 1)


def test_a_runner_that_crashed_failed(tmp_path, capsys):
    results = ([PASSED], [PASSED], [PASSED])
    assert summary(tmp_path, capsys, results, (0, 0, 139)) == ("3 passed, 1 failed", 1)


def test_nothing_ran_is_a_failure(tmp_path, capsys):
    assert summary(tmp_path, capsys, ([], [], [])) == ("0 passed, 0 failed", 1)
