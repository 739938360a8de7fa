#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Compares wgmma on the virtual GPU with the GPU here, bit by bit (ww_device_wgmma). Needs a device of
# sm_90. Usage: scripts/device_wgmma.sh [ELEMENTS of D for each form]; prints the table of
# docs/evidence/numbers.md. Exit status: 0 all agree, 1 something differs, 2 it could not be built or run.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build="$root/build/device"
log="$build/wgmma.log"
mkdir -p "$build"
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_COMPILE_WARNING_AS_ERROR=OFF > "$log" 2>&1 &&
  cmake --build "$build" --target ww_device_wgmma >> "$log" 2>&1 || {
  tail -40 "$log" >&2
  exit 2
}
exec "$build/bin/ww_device_wgmma" "$@"
