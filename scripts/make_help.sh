#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Prints the generated part of docs/reference/commands.md: the program's version, its help and that of every
# command, each under the command that prints it. `BLESS=1 ./test --quick -R Says/commands` writes it to the
# page. ./warpwright answers from the page until the program is built.
#
# WARPWRIGHT names the program to ask; the default is the one in build/release.
set -euo pipefail

self=$(readlink -f -- "${BASH_SOURCE[0]}")
program=${WARPWRIGHT:-${self%/scripts/*}/build/release/bin/warpwright}

# section ARGUMENT...
section() {
  # shellcheck disable=SC2016  # these are Markdown's
  printf '\n## `warpwright %s`\n\n```text\n' "$*"
  "$program" "$@"
  printf '```\n'
}

# commands [COMMAND]: the names in the section `commands:` of a help, as they are typed.
commands() {
  "$program" "$@" --help | awk -F '  +' '/^commands:$/ { on = 1; next } !NF { on = 0 } on && !/^  help / { print $2 }'
}

section --version
section --help
while IFS= read -r command; do
  section "$command" --help
  while IFS= read -r action; do
    read -ra words <<<"$action"
    section "${words[@]}" --help
  done < <(commands "$command")
done < <(commands)
