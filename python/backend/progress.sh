#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Copies what a build by pip prints (stdin) to stdout, and shows on the terminal (stderr) how far it is, in the line
# below the one that pip writes. Reads to the end in any case, or the build would fail.
set -uo pipefail
trap cat EXIT

self=$(readlink -f -- "${BASH_SOURCE[0]}")
root=${self%/python/*} me=warpwright
# shellcheck source=scripts/setup.sh
. "$root/scripts/setup.sh"

# Down a line and up again, so that there is one; then save the place, write below it, and return.
show_line() { printf '\033D\033[A\0337\r\033D\033[K%s\0338' "$1" >&2; }

# The newest build folder is the one that ninja works in when it prints its first step.
while IFS= read -r line; do
  printf '%s\n' "$line"
  [[ ! $line =~ ^\[ ]] || break
done
folder=$(find "$root"/build/wheel -maxdepth 2 -name build.ninja -printf '%T@ %h\n' 2>/dev/null | sort -n | tail -n 1)
plan=$(plan_build "${folder#*"$root/build/"}" _core warpwright)
progress "building" "$plan" "$(nproc 2>/dev/null || echo 2)" 3>&1
