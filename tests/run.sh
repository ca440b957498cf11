#!/usr/bin/env bash
# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs what is missing, builds build/dev, runs every test and ends with "N passed, N failed".
#   --no-install  install nothing
#   --slow        also the tests labelled slow
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

install=()
skipped_labels='lit|slow' # lit runs below, where each of its tests counts
slow=()
for option in "$@"; do
  case "$option" in
    --no-install) install+=(--no-install) ;;
    --slow) skipped_labels=lit; slow=(--slow); install+=(--slow) ;;
    *) echo "run.sh: unknown option $option, expected --no-install or --slow" >&2; exit 2 ;;
  esac
done

give_up() {
  echo "run.sh: $1" >&2
  echo "0 passed, 1 failed"
  exit 1
}

bash experiments/setup/install.sh "${install[@]}" || give_up "installing failed"
bash experiments/setup/build.sh || give_up "the build failed"

results=$PWD/build/dev/results
rm -rf "$results"
mkdir -p "$results"
jobs=$(nproc)

echo "== ctest"
ctest --test-dir build/dev --parallel "$jobs" --label-exclude "$skipped_labels" \
  --output-on-failure --output-junit "$results/ctest.xml" |
  grep --line-buffered -vE '^ +Start +[0-9]+:| Passed +[0-9.]+ sec$'
echo "${PIPESTATUS[0]}" >"$results/ctest.status"

echo "== lit"
bash tests/lit.sh build/dev --xunit-xml-output "$results/lit.xml"
echo $? >"$results/lit.status"

echo "== pytest"
python=build/venv/bin/python
[[ -x $python ]] || python=/usr/bin/python3
PYTHONDONTWRITEBYTECODE=1 "$python" -m pytest tests --quiet --import-mode=importlib \
  -p no:cacheprovider "${slow[@]}" --junitxml "$results/pytest.xml"
echo $? >"$results/pytest.status"

exec /usr/bin/python3 tests/summarize.py "$results"
