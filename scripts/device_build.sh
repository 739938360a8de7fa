# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# What the scripts/device_*.sh that build with CMake share. Sourced, never run; sets `root` (the repository)
# and `build` (the folder of their builds).

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build="$root/build/device"

# device_build LOG TARGET...: builds them. On failure shows the end of the log and exits with status 2.
device_build() {
  local log=$1
  local -a generator=()
  shift
  mkdir -p "$build"
  ! command -v ninja > /dev/null || generator=(-G Ninja)
  { cmake -S "$root" -B "$build" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release \
      -DCMAKE_COMPILE_WARNING_AS_ERROR=OFF &&
    cmake --build "$build" --target "$@" -j "$(nproc)"; } > "$log" 2>&1 && return
  tail -40 "$log" >&2
  exit 2
}
