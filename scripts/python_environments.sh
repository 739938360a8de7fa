#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Makes what the Python tests run in, under build/: `venv` with what the package is built and tested with, and for each
# version of Triton named an environment of its own, which sees Debian's PyTorch, if that is installed.
#
#   scripts/python_environments.sh [--thorough] [VERSION...]
#
# Where one cannot be made, its folder has a file `why_not`, and its tests are skipped.
set -euo pipefail

self=$(readlink -f -- "${BASH_SOURCE[0]}")
build="${self%/scripts/*}/build"

# environment FOLDER PYTHON [OPTION of venv...] -- PACKAGE...: once for these packages.
environment() {
  local folder=$1 python=$2
  shift 2
  [[ "$(cat "$folder/.made" 2>/dev/null)" != "$*" ]] || return 0
  local -a options=()
  while [[ $1 != -- ]]; do
    options+=("$1")
    shift
  done
  shift
  mkdir -p "$folder"
  if ! "$python" -m venv "${options[@]}" "$folder"; then
    echo "python3 cannot make a virtual environment (python3-venv)" >"$folder/why_not"
  elif ! "$folder/bin/python" -c 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")'; then
    echo "Python's headers are not installed (python3-dev)" >"$folder/why_not"
  # Without --no-compile, nearly half of pip's time would go into modules that no test imports.
  elif ! "$folder/bin/pip" install --quiet --no-compile --disable-pip-version-check "$@"; then
    echo "pip cannot install $*: no network?" >"$folder/why_not"
  else
    rm -f "$folder/why_not"
    echo "${options[*]:+${options[*]} }-- $*" >"$folder/.made"
  fi
}

more=()
if [[ ${1-} == --thorough ]]; then
  more=(ray) # large: sweeps over a cluster
  shift
fi
environment "$build/venv" python3 -- scikit-build-core nanobind numpy pytest ml_dtypes nbclient ipykernel lsprotocol \
  "${more[@]}"

# Debian's packages are for Debian's Python.
python=python3
[[ $(/usr/bin/python3 -V 2>/dev/null) != "$(python3 -V | cut -d. -f1-2)."* ]] || python=/usr/bin/python3
for version; do
  folder="$build/triton-$version"
  environment "$folder" "$python" --system-site-packages -- "triton==$version" numpy pytest jsonschema
  # Triton's interpreter needs a newer PyTorch than Debian's, of 3 GB.
  if [[ -n ${more[*]} && $version == 3.9.0 && ! -f $folder/why_not ]]; then
    "$folder/bin/pip" install --quiet --upgrade torch numpy || true
  fi
done
