#!/usr/bin/env bash
# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs the lit tests with the programs of a build folder: lit.sh BUILD [lit options]
set -euo pipefail
build=$(cd "$1" && pwd)
shift
cd "$(dirname "${BASH_SOURCE[0]}")"
lit=$(command -v lit-22 || command -v lit)
exec "$lit" codegen --param kw_bin="$build/bin" --param llvm_bin="$(llvm-config-22 --bindir)" \
  --param output="$build/tests/lit" -sv --no-progress-bar --order=lexical "$@"
