#!/usr/bin/env python3
# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the structure that the folders promise: check_layers.py [ROOT]

- #include and target_link_libraries follow the arrows between the folders, one way only;
- MLIR and LLVM headers stay where they are allowed;
- every source has the SPDX header, every header `#pragma once` (not `-inl.h`: Highway compiles
  those once a SIMD target);
- every C++ source is listed in the CMakeLists.txt of its folder.

Prints one line per violation, "FILE:LINE: MESSAGE", and exits with 1 if there is any.
"""

import re
import sys
from pathlib import Path

# Layer -> the layers that it may include. A layer is a folder; ir/dialect is its own, so that
# nothing but codegen compiles against MLIR.
EDGES = {
    "ir": set(),
    "ir/dialect": {"ir"},
    "costmodel": {"ir"},
    "search": {"ir", "costmodel"},
    "codegen": {"ir", "ir/dialect"},
    "runtime": {"ir"},
    "experiments": {"ir", "costmodel", "search", "codegen", "runtime"},
}
FOREIGN = {  # first component of a foreign header -> the layers that may include it
    "mlir": {"ir/dialect", "codegen"},
    "llvm": {"ir/dialect", "codegen", "runtime"},
    "llvm-c": {"ir/dialect", "codegen", "runtime"},
    "lld": {"codegen"},
}
# Interface targets of the root; the others belong to the folder whose CMakeLists.txt adds them.
FOREIGN_TARGETS = {"kw_mlir": "mlir", "kw_llvm": "llvm"}
SOURCES = ("ir", "search", "costmodel", "codegen", "runtime", "experiments", "tests")
CXX = {".cpp", ".h"}
COMMENT = {".cpp": "//", ".h": "//", ".td": "//", ".py": "#", ".sh": "#", ".cmake": "#"}
ADDED = re.compile(r"\b(?:kw_)?add_library\(\s*(kw_\w+)")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]')
SPDX = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"


def layer_of(path):
    """Layer of a path relative to the root: its own, or the one that its tests mirror."""
    parts = path.parts[1:] if path.parts[0] == "tests" else path.parts
    if parts[:2] == ("ir", "dialect"):
        return "ir/dialect"
    return parts[0] if parts and parts[0] in EDGES else None


def may_use(layer, used):
    if used in FOREIGN:
        return layer in FOREIGN[used]
    return used == layer or used in EDGES[layer]


def check_includes(path, lines):
    layer = layer_of(path)
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not match or layer is None:
            continue
        header = Path(match.group(1))
        first = header.parts[0]
        used = first if first in FOREIGN else layer_of(header) if len(header.parts) > 1 else None
        if used and not may_use(layer, used):
            yield number, f"{layer} may not include {header}"


def layers_of_targets(root):
    targets = dict(FOREIGN_TARGETS)
    for path in source_files(root):
        if path.name == "CMakeLists.txt" and layer_of(path):
            for name in ADDED.findall((root / path).read_text()):
                targets[name] = layer_of(path)
    return targets


def check_links(path, lines, targets):
    layer = layer_of(path)
    for number, line in enumerate(lines, 1):
        code = line.split("#")[0]
        for target in re.findall(r"\bkw_\w+", code):
            used = targets.get(target)
            if layer and used and not may_use(layer, used):
                yield number, f"{layer} may not link {target}"


def check_header_comment(path, lines):
    if path.name == "CMakeLists.txt":
        mark = "#"
    else:
        mark = COMMENT.get(path.suffix)
    if mark is None:
        return
    first = 1 if lines and lines[0].startswith("#!") else 0
    if lines[first : first + 2] != [f"{mark} Kernelwright", f"{mark} {SPDX}"]:
        yield first + 1, f"expected the two lines '{mark} Kernelwright' and '{mark} {SPDX}'"
    per_target = path.name.endswith("-inl.h")
    if path.suffix == ".h" and not per_target and "#pragma once" not in lines:
        yield 1, "expected #pragma once"


def check_listed(root, path):
    """A .cpp belongs to the nearest CMakeLists.txt above it."""
    for folder in path.parents:
        cmake = root / folder / "CMakeLists.txt"
        if not cmake.is_file():
            continue
        code = "\n".join(line.split("#")[0] for line in cmake.read_text().splitlines())
        name = path.relative_to(folder).as_posix()
        if name not in re.split(r"[\s()\"]+", code):
            yield 1, f"not listed in {(folder / 'CMakeLists.txt').as_posix()}"
        return
    yield 1, "no CMakeLists.txt above it"


def check_file(root, path, targets):
    lines = (root / path).read_text(encoding="utf-8", errors="replace").splitlines()
    yield from check_header_comment(path, lines)
    if path.suffix in CXX:
        yield from check_includes(path, lines)
    if path.name == "CMakeLists.txt":
        yield from check_links(path, lines, targets)
    if path.suffix == ".cpp":
        yield from check_listed(root, path)


def source_files(root):
    for folder in SOURCES:
        for path in sorted((root / folder).rglob("*")):
            hidden = any(part.startswith(".") or part == "__pycache__" for part in path.parts)
            if path.is_file() and not hidden:
                yield path.relative_to(root)
    if (root / "CMakeLists.txt").is_file():
        yield Path("CMakeLists.txt")


def check_tree(root):
    targets = layers_of_targets(root)
    return [
        f"{path.as_posix()}:{line}: {message}"
        for path in source_files(root)
        for line, message in check_file(root, path, targets)
    ]


def main(root):
    violations = check_tree(root)
    for violation in violations:
        print(violation)
    print(f"{len(violations)} violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1])))
