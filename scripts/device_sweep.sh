#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Compares the virtual GPU with the GPU here: every instruction (ww_device_sweep) and all launches of
# tests/foreign/launches.txt (ww_device_corpus). Needs nvcc and a device of sm_90.
#
#   scripts/device_sweep.sh [--out FOLDER] [options of ww_device_sweep: --cases N, --only TEXT, --json]
#
# Writes to FOLDER (build/device/report): sweep.md, the tables at the end of docs/evidence/numbers.md,
# sweep_all.md, sweep_differences.txt and sweep.json; of the launches corpus.txt, and launches.txt with
# the device's digests, which is to replace tests/foreign/launches.txt. Exit status: 0 all agree, 1
# something differs, 2 it could not be built or run.
set -uo pipefail
# shellcheck source=scripts/device_build.sh
. "$(dirname "${BASH_SOURCE[0]}")/device_build.sh"
out="$root/build/device/report"
rest=()
while [ $# -gt 0 ]; do
  case $1 in
    --out) out=$2; shift 2 ;;
    *) rest+=("$1"); shift ;;
  esac
done
mkdir -p "$out"
device_build "$out/build.log" ww_device_sweep ww_device_corpus
status=0
"$build/bin/ww_device_corpus" --out "$out" 2>&1 | tee "$out/corpus.log" || status=$?
"$build/bin/ww_device_sweep" --json --out "$out" "${rest[@]}" 2>&1 | tee "$out/sweep.log" || status=$?
exit $status
