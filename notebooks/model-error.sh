#!/usr/bin/env bash
# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes what model-error.ipynb reads: model-error.sh OUT TABLE...
#   OUT    a folder, made if missing
#   TABLE  published timings, .csv or .csv.gz, as `kw score` reads them
# The program is $KW, or build/dev/bin/kw of this checkout.
set -euo pipefail
if [[ $# -lt 2 ]]; then
  echo "usage: model-error.sh OUT TABLE..." >&2
  exit 2
fi
kw=${KW:-$(dirname "${BASH_SOURCE[0]}")/../build/dev/bin/kw}
out=$1
shift
mkdir -p "$out"

"$kw" score "$@" --calibration none --ablation --json \
  --rows "$out/none.csv" --features "$out/features.csv" >"$out/none.json"
"$kw" score "$@" --json --rows "$out/shipped.csv" >"$out/shipped.json"
"$kw" estimate gemm n=8192 k=8192 dtype=bf16 b=nk --sweep "${KW_SWEEP:-m=1..32768*2}" \
  --quiet --json -o "$out/gemm.csv" >"$out/gemm.json"
