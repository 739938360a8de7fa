#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs pytest in one of the environments of scripts/python_environments.sh.
#
#   tests/tools/python/run.sh package BUILD [--installed]    tests of the package, of BUILD or as pip installs it
#   tests/tools/python/run.sh VERSION BUILD [--installed]    tests of `python -m warpwright check` with this Triton
set -euo pipefail

self=$(readlink -f -- "${BASH_SOURCE[0]}")
root=${self%/tests/*}
what=$1 package=$2/package installed=${3-}
environment="$root/build/triton-$what"
[[ $what != package ]] || environment="$root/build/venv"

if [[ ! -f $environment/.made || ($installed == "" && ! -d $package) ]]; then
  cat "$environment/why_not" 2>/dev/null || echo "./test makes the environment and the package that this needs"
  exit 77
fi
if [[ $installed != "" ]]; then
  if [[ $what == package ]]; then
    CMAKE_BUILD_PARALLEL_LEVEL=$(nproc) "$environment/bin/pip" install --quiet --disable-pip-version-check --no-deps \
      --no-build-isolation --force-reinstall "$root"
    package=
  else # without the other packages of the environment that pip installed it into
    export WW_CHECK_TARGETS=sm_80,sm_90a,sm_100a,sm_120a
    package="$root/build/triton-package"
    mkdir -p "$package"
    cp -r "$root"/build/venv/lib/python3*/site-packages/warpwright "$package/"
  fi
fi
tests=("$root/python/tests" --ignore-glob '*/test_check_*.py')
[[ $what == package ]] || tests=("$root"/python/tests/test_check_*.py)
# Modules are compiled by the first process that imports them, of many, and kept.
exec env -u PYTHONDONTWRITEBYTECODE PYTHONPATH="$package" "$environment/bin/python" -m pytest --quiet "${tests[@]}"
