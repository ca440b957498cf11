# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Proof by mutation of whatever the differential tests launch: `kw mutate` on each launch that was
clean, if KW_MUTANTS_A_LAUNCH says how many mutants. At least 99 of 100 harmful ones must be found."""

import json
import os
import subprocess
from collections import Counter

MUTANTS = int(os.environ.get("KW_MUTANTS_A_LAUNCH", 0))
FOUND_OF_HARMFUL = 0.99


class Proof:
    def __init__(self):
        self.launches = 0
        self.harmful = Counter()
        self.found = Counter()
        self.with_finding = Counter()
        self.escaped = []
        self.false_findings = []

    def add(self, program, manifest, test):
        """Mutates one launch; `test` is named where something escapes."""
        run = subprocess.run([program, "mutate", manifest, "--limit", str(MUTANTS), "--json"],
                             capture_output=True, text=True)  # fmt: skip
        report = json.loads(run.stdout)
        assert "kinds" in report, run.stdout + run.stderr
        self.launches += 1
        for kind, count in report["kinds"].items():
            self.harmful[kind] += count["harmful"]
            self.found[kind] += count["found"]
            self.with_finding[kind] += count["with_finding"]
        for mutant in report["mutants"]:
            if mutant["harmful"] and not mutant["finding"] and not mutant["wrong_output"]:
                self.escaped.append(f"{test}: {mutant['kind']} {mutant['what']} at "
                                    f"{mutant['pc']:#x} of {mutant['kernel']}: {mutant['harm']}")
        if report["original"]:
            self.false_findings.append(f"{test}: {report['original'][0]}")

    def holds(self):
        enough = self.found.total() >= FOUND_OF_HARMFUL * self.harmful.total()
        return enough and not self.false_findings

    def text(self):
        lines = [f"{self.launches} launches, {MUTANTS} mutants each at most; found of harmful:"]
        lines += [f"  {kind}: {self.found[kind]} of {n}, {self.with_finding[kind]} with a finding"
                  for kind, n in self.harmful.items()]  # fmt: skip
        lines += [f"  all: {self.found.total()} of {self.harmful.total()}"]
        lines += [f"  escaped: {line}" for line in self.escaped]
        lines += [f"  false finding: {line}" for line in self.false_findings]
        return "\n".join(lines)
