#!/usr/bin/env bash
# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Configures and builds the preset dev in build/dev: build.sh [TARGET...] (default: everything).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# A translation unit of MLIR takes up to 3 GB: no more jobs than memory allows.
memory_gb=$(awk '/^MemAvailable:/ {print int($2 / 1048576)}' /proc/meminfo)
jobs=$(nproc)
if [[ $jobs -gt $((memory_gb / 3)) ]]; then
  jobs=$((memory_gb / 3))
fi

export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
mkdir -p build
if ! cmake --preset dev >build/configure.log 2>&1; then
  cat build/configure.log
  echo "build.sh: the configuration failed" >&2
  exit 1
fi
cmake --build build/dev --parallel "$((jobs > 0 ? jobs : 1))" ${1:+--target "$@"}
