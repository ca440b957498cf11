#!/usr/bin/env bash
# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs what is missing, builds build/dev and tunes a suite of real layer shapes into
# out/quickstart: bundle, HSACO and the table of what won and why. Interrupted, it resumes.
#   --no-install  install nothing
#   --clean       start over: remove build/dev and out/quickstart first
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

install=()
clean=0
for option in "$@"; do
  case "$option" in
    --no-install) install=(--no-install) ;;
    --clean) clean=1 ;;
    *) echo "quickstart.sh: unknown option $option, expected --no-install or --clean" >&2; exit 2 ;;
  esac
done

out=out/quickstart
if [[ $clean -eq 1 ]]; then
  echo "Removing build/dev and $out"
  rm -rf build/dev "$out"
fi
bash experiments/setup/install.sh --no-python "${install[@]}"
echo "Building build/dev (a few minutes the first time)"
bash experiments/setup/build.sh kw
mkdir -p "$out"
exec build/dev/bin/kw tune --suite experiments/suites/quickstart.txt --db "$out/kw.db" --out "$out"
