#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Whether all sources are formatted. Exits 77 where clang-format 14 is not installed: versions differ.
set -euo pipefail

self=$(readlink -f -- "${BASH_SOURCE[0]}")
cd "${self%/scripts/*}"

version=$(clang-format --version 2>/dev/null || true)
if [[ ! $version =~ version\ 14\. ]]; then
  echo "clang-format 14 is not installed${version:+ (found $version)}"
  exit 77
fi
wrong=$(find src tests bench python \( -name '*.h' -o -name '*.cpp' -o -name '*.js' \) -print0 |
  { xargs -0 -n 100 -P "$(nproc)" nice clang-format --dry-run -Werror 2>&1 || true; } |
  sed -n 's/^\([^: ]*\):[0-9]*:.*error: .*/  \1/p' | sort -u)
[[ -z $wrong ]] || printf 'these files are not formatted; run clang-format -i on them:\n%s\n' "$wrong"
[[ -z $wrong ]]
