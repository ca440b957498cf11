# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""lit configuration of the pass tests; tests/lit.sh passes the three parameters."""

import os

import lit.formats

config.name = "kernelwright"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = lit_config.params["output"]
# kw-opt and kw from the build; FileCheck, not, count, split-file from LLVM.
config.environment["PATH"] = os.pathsep.join(
    [lit_config.params["kw_bin"], lit_config.params["llvm_bin"], "/usr/bin", "/bin"]
)
