#!/usr/bin/env python3
# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Adds up the JUnit files that the test runners left in a folder: summarize.py FOLDER

Prints "N passed, N failed[, N skipped]" as its last line. A runner that exited non-zero without
a failed test (a crash, nothing collected, no result file) counts as one failure of its own.
"""

import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

RUNNERS = ("ctest", "lit", "pytest")


def outcome(case):
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    skipped = case.find("skipped")
    if skipped is None:
        return "passed"
    # ctest calls a program that was not built skipped, too.
    return "failed" if "Unable to find executable" in skipped.get("message", "") else "skipped"


def count_runner(folder, runner):
    status = int((folder / f"{runner}.status").read_text())
    counts = Counter()
    try:
        cases = ElementTree.parse(folder / f"{runner}.xml").iter("testcase")
        for case in cases:
            result = outcome(case)
            counts[result] += 1
            if result == "failed":
                print(f"FAILED {runner}: {case.get('classname')} {case.get('name')}")
    except (OSError, ElementTree.ParseError) as error:
        print(f"FAILED {runner}: no results ({error})")
        counts["failed"] += 1
    if status != 0 and counts["failed"] == 0:
        print(f"FAILED {runner}: exit status {status}")
        counts["failed"] += 1
    return counts


def main(folder):
    total = Counter()
    for runner in RUNNERS:
        total += count_runner(folder, runner)
    line = f"{total['passed']} passed, {total['failed']} failed"
    if total["skipped"]:
        line += f", {total['skipped']} skipped"
    print(line)
    return 0 if total["failed"] == 0 and total["passed"] > 0 else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
