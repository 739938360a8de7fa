#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Compares random textures and surfaces on the virtual GPU with the GPU here, bit by bit
# (ww_device_textures). Usage: scripts/device_textures.sh [TEXTURES [SEED]]; prints the table of
# docs/evidence/textures.md. Exit status: 0 all agree but for the kinds that this page names, 1 others
# differ, 2 it could not be built or run.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build="$root/build/device"
log="$build/textures.log"
mkdir -p "$build"
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_COMPILE_WARNING_AS_ERROR=OFF > "$log" 2>&1 &&
  cmake --build "$build" --target ww_device_textures >> "$log" 2>&1 || {
  tail -40 "$log" >&2
  exit 2
}
exec "$build/bin/ww_device_textures" "$@"
