# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The checker on a small tree: clean as it is, and with each violation put in by turns."""

import importlib.util
from pathlib import Path

import pytest

HERE = Path(__file__).parent
_spec = importlib.util.spec_from_file_location("check_layers", HERE / "check_layers.py")
check_layers = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(check_layers)

SPDX = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"
CXX_HEADER = "// Kernelwright\n// " + SPDX
HASH_HEADER = "# Kernelwright\n# " + SPDX

CLEAN = {
    "CMakeLists.txt": HASH_HEADER + "add_library(kw_llvm INTERFACE)\n",
    "ir/CMakeLists.txt": HASH_HEADER + "kw_add_library(kw_ir SOURCES A.cpp ops/B.cpp)\n",
    "ir/A.h": CXX_HEADER + "#pragma once\n#include <vector>\n",
    "ir/A.cpp": CXX_HEADER + '#include "ir/A.h"\n',
    "ir/ops/B.cpp": CXX_HEADER + '#include "ir/A.h"\n',
    "ir/dialect/CMakeLists.txt": HASH_HEADER + "kw_add_library(kw_dialect SOURCES D.cpp\n"
    "  PUBLIC kw_ir kw_mlir)\n",
    "ir/dialect/D.cpp": CXX_HEADER + '#include "ir/A.h"\n#include "mlir/IR/Dialect.h"\n',
    "costmodel/CMakeLists.txt": HASH_HEADER + "kw_add_library(kw_costmodel SOURCES C.cpp\n"
    "  PUBLIC kw_ir)\n",
    "costmodel/C.cpp": CXX_HEADER + '#include "ir/A.h"\n#include <Eigen/Core>\n',
    "codegen/CMakeLists.txt": HASH_HEADER + "kw_add_library(kw_codegen SOURCES G.cpp\n"
    "  PUBLIC kw_dialect PRIVATE kw_mlir)\n",
    "codegen/G.cpp": CXX_HEADER + '#include "ir/dialect/D.h"\n#include <lld/Common/Driver.h>\n',
    "runtime/CMakeLists.txt": HASH_HEADER + "kw_add_library(kw_runtime SOURCES R.cpp\n"
    "  PUBLIC kw_ir PRIVATE kw_llvm)\n",
    "runtime/R.cpp": CXX_HEADER + "#include <llvm/MC/MCInst.h>\n",
    "experiments/kw.sh": "#!/usr/bin/env bash\n" + HASH_HEADER,
    "tests/runtime/CMakeLists.txt": HASH_HEADER + "kw_add_test(kw_runtime_tests\n"
    "  SOURCES RTest.cpp LIBS kw_runtime)\n",
    "tests/runtime/RTest.cpp": CXX_HEADER + '#include "runtime/R.h"\n',
}


def violations(root, changes=()):
    files = {**CLEAN, **dict(changes)}
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return check_layers.check_tree(root)


def test_clean_tree(tmp_path):
    assert violations(tmp_path) == []


@pytest.mark.parametrize(
    "name, extra, expected",
    [
        ("ir/A.cpp", '#include "costmodel/C.h"', "ir/A.cpp:4: ir may not include costmodel/C.h"),
        ("ir/A.cpp", '#include "ir/dialect/D.h"', "ir may not include ir/dialect/D.h"),
        ("ir/A.cpp", "#include <llvm/ADT/StringRef.h>", "ir may not include llvm/"),
        ("ir/ops/B.cpp", '#  include "mlir/IR/Value.h"', "ir may not include mlir/"),
        ("costmodel/C.cpp", '#include "search/S.h"', "costmodel may not include search/S.h"),
        ("costmodel/C.cpp", "#include <llvm-c/Core.h>", "costmodel may not include llvm-c/Core.h"),
        ("codegen/G.cpp", '#include "runtime/R.h"', "codegen may not include runtime/R.h"),
        ("runtime/R.cpp", '#include "codegen/G.h"', "runtime may not include codegen/G.h"),
        ("runtime/R.cpp", "#include <mlir/IR/Value.h>", "runtime may not include mlir/IR/Value.h"),
        ("runtime/R.cpp", "#include <lld/Common/Driver.h>", "runtime may not include lld/"),
        ("tests/runtime/RTest.cpp", '#include "codegen/G.h"', "may not include codegen/G.h"),
    ],
)
def test_include_against_the_arrows(tmp_path, name, extra, expected):
    found = violations(tmp_path, {name: CLEAN[name] + extra + "\n"})
    assert len(found) == 1 and expected in found[0]


@pytest.mark.parametrize(
    "name, extra, expected",
    [
        ("costmodel/CMakeLists.txt", "kw_llvm", "costmodel may not link kw_llvm"),
        ("ir/CMakeLists.txt", "kw_mlir", "ir may not link kw_mlir"),
        ("runtime/CMakeLists.txt", "kw_codegen", "runtime may not link kw_codegen"),
        ("tests/runtime/CMakeLists.txt", "kw_costmodel", "runtime may not link kw_costmodel"),
    ],
)
def test_link_against_the_arrows(tmp_path, name, extra, expected):
    found = violations(tmp_path, {name: CLEAN[name] + f"target_link_libraries(x {extra})\n"})
    assert len(found) == 1 and expected in found[0]


@pytest.mark.parametrize("name", ["ir/A.cpp", "ir/A.h", "ir/CMakeLists.txt", "experiments/kw.sh"])
def test_missing_licence(tmp_path, name):
    found = violations(tmp_path, {name: CLEAN[name].replace("SPDX-", "")})
    assert len(found) == 1 and "expected the two lines" in found[0]


def test_missing_licence_of_python(tmp_path):
    found = violations(tmp_path, {"experiments/x.py": "print()\n"})
    assert len(found) == 1 and found[0].startswith("experiments/x.py:1: expected the two lines")


def test_missing_pragma_once(tmp_path):
    found = violations(tmp_path, {"ir/A.h": CXX_HEADER})
    assert found == ["ir/A.h:1: expected #pragma once"]
    assert violations(tmp_path, {"ir/A-inl.h": CXX_HEADER}) == []


@pytest.mark.parametrize(
    "name, cmake",
    [
        ("ir/ops/New.cpp", "ir/CMakeLists.txt"),
        ("ir/dialect/B.cpp", "ir/dialect/CMakeLists.txt"),
        ("tests/runtime/NewTest.cpp", "tests/runtime/CMakeLists.txt"),
    ],
)
def test_unlisted_source(tmp_path, name, cmake):
    assert violations(tmp_path, {name: CXX_HEADER}) == [f"{name}:1: not listed in {cmake}"]


def test_a_commented_name_is_not_listed(tmp_path):
    changed = CLEAN["ir/CMakeLists.txt"].replace("A.cpp", "# A.cpp\n")
    found = violations(tmp_path, {"ir/CMakeLists.txt": changed})
    assert "ir/A.cpp:1: not listed in ir/CMakeLists.txt" in found


def test_exit_status(tmp_path, capsys):
    violations(tmp_path)
    assert check_layers.main(tmp_path) == 0
    violations(tmp_path, {"ir/A.h": CXX_HEADER})
    assert check_layers.main(tmp_path) == 1
    assert capsys.readouterr().out.endswith("1 violations\n")
