#!/usr/bin/env bash
# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs what is missing: the Debian packages of packages.txt and, in build/venv, the Python
# packages of ../requirements.txt. Cheap when nothing is missing.
#   --no-install  install nothing, only say what is missing
#   --no-python   leave the Python packages alone (only tests need them)
#   --slow        also the packages of packages-slow.txt, which only slow tests need
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

install=1
python=1
lists=(experiments/setup/packages.txt)
for option in "$@"; do
  case "$option" in
    --no-install) install=0 ;;
    --no-python) python=0 ;;
    --slow) lists+=(experiments/setup/packages-slow.txt) ;;
    *)
      echo "install.sh: unknown option $option, expected --no-install, --no-python or --slow" >&2
      exit 2
      ;;
  esac
done

missing_packages() {
  local package
  for package in $(grep -hv '^#' "${lists[@]}"); do
    if [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) != installed ]]; then
      echo "$package"
    fi
  done
}

install_packages() {
  local sudo=()
  if [[ $(id -u) -ne 0 ]]; then
    if ! command -v sudo >/dev/null; then
      echo "Not root and no sudo: ask somebody who is root to install these packages." >&2
      exit 1
    fi
    sudo=(sudo)
  fi
  "${sudo[@]}" apt-get -qq update
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -y --no-install-recommends install "$@" >/dev/null
}

mapfile -t packages < <(missing_packages)
if [[ ${#packages[@]} -gt 0 ]]; then
  if [[ $install -eq 1 ]]; then
    echo "Installing Debian packages: ${packages[*]}"
    install_packages "${packages[@]}"
  else
    echo "Not installed (--no-install): ${packages[*]}"
  fi
fi

venv=build/venv
stamp=$venv/requirements.installed # the requirements that this venv was made from
if [[ $python -eq 1 ]] && ! cmp -s experiments/requirements.txt "$stamp"; then
  if [[ $install -eq 1 ]]; then
    echo "Installing Python packages into $venv:" $(grep -v '^#' experiments/requirements.txt)
    mkdir -p build
    # Debian's Python: another one in PATH may be too new for the pinned torch.
    [[ -x $venv/bin/python ]] || /usr/bin/python3 -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --quiet --disable-pip-version-check \
      -r experiments/requirements.txt
    cp experiments/requirements.txt "$stamp"
  else
    echo "Not installed (--no-install): the Python packages of experiments/requirements.txt"
  fi
fi
