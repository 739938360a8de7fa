#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh SOURCE WORK: what ./warpwright does before the first build, and where a checkout is moved, copied, or has an
# unusual path, with a small program in the place of ours. SOURCE: the repository; WORK: a folder for it.
set -euo pipefail

source=$1 work=$2
rm -rf "$work"
mkdir -p "$work"

# make_checkout PATH
make_checkout() {
  mkdir -p "$1/scripts" "$1/bench" "$1/examples"
  cp -r "$source/tests/tools/checkout/toy/." "$source/cmake" "$source/CMakePresets.json" "$source/warpwright" "$1"
  cp "$source/scripts/setup.sh" "$1/scripts"
}

# expect WHAT OUTPUT BUILDS CHECKOUT: its program prints OUTPUT, after it was built ("built") or without ("kept").
expect() {
  local what=$1 output=$2 builds=$3 checkout=$4 said did=kept
  rm -f "$checkout/build/release.log"
  if ! said=$("$checkout/warpwright" 2>"$work/messages"); then
    cat "$work/messages"
    exit 1
  fi
  [[ ! -f $checkout/build/release.log ]] || did=built
  if [[ $said != "$output" || $did != "$builds" ]]; then
    printf '%s: expected `%s` (%s), got `%s` (%s)\n' "$what" "$output" "$builds" "$said" "$did"
    cat "$work/messages"
    exit 1
  fi
  printf 'ok: %s\n' "$what"
}

says() { grep -qF -- "$1" "$work/messages" || { printf 'not said: %s\n' "$1"; cat "$work/messages"; exit 1; }; }
set_word() { printf '#pragma once\n#define WORD "%s"\n' "$1" >"$2/src/word.h"; }

# --- help before a build --------------------------------------------------------------------------

# answers HEADING ARGUMENT...: without a build, and with what the page says there.
answers() {
  local heading=$1 said
  shift
  said=$("$fresh/warpwright" "$@")
  if [[ $said != "$(sed -n "/^## \`$heading\`\$/,/^\`\`\`\$/p" "$source/docs/reference/commands.md" | sed '1,3d;$d')" || -z $said ]]; then
    printf 'warpwright %s: expected what is under `%s`, got: %s\n' "$*" "$heading" "$said"
    exit 1
  fi
  [[ ! -e $fresh/build ]] || { echo "warpwright $*: something was built"; exit 1; }
}

fresh="$work/fresh"
make_checkout "$fresh"
mkdir -p "$fresh/docs/reference"
cp "$source/docs/reference/commands.md" "$fresh/docs/reference"
for arguments in --help -h help; do
  answers 'warpwright --help' "$arguments"
done
answers 'warpwright --version' --version
answers 'warpwright run --help' help run
answers 'warpwright run --help' run -h
answers 'warpwright run --help' run kernel.py --device --help
answers 'warpwright examples --help' examples --help
answers 'warpwright examples run --help' help examples run
answers 'warpwright examples run --help' examples run transpose --help
expect "what no page answers" one built "$fresh"
for arguments in --help --version; do # the toy says the same to everything
  [[ $("$fresh/warpwright" "$arguments") == one ]] || { echo "the program that is built was not asked"; exit 1; }
done
rm "$fresh/build/release.stamp" "$fresh/build/release/bin/warpwright"
[[ $("$fresh/warpwright" help nothing) == one ]] || { echo "help of an unknown command came from the page"; exit 1; }
echo "ok: help and version without a build"

# --- moved and copied -----------------------------------------------------------------------------

first="$work/first"
make_checkout "$first"
expect "a first build" one built "$first"
expect "nothing to do" one kept "$first"

# planned ROOT: what a build of it will compile, as scripts/setup.sh plans it.
planned() { (root=$1 me=plan && . "$1/scripts/setup.sh" && plan_build release program); }

[[ -z $(planned "$first") ]] || { echo "a plan where nothing is to do"; exit 1; }
touch "$first/src/word.cpp"
before=$(planned "$first")
for ((i = 0; i < 100; ++i)); do echo "using std::size_t;"; done >>"$first/src/word.h"
after=$(planned "$first")
read -r weight waits output <<<"$before"
if [[ $output != CMakeFiles/ww_word.dir/src/word.cpp.o || $waits != 0 ]] || ((weight < 36)) ||
  [[ $after != "$((weight + 12)) $waits $output" && $after != "$((weight + 13)) $waits $output" ]]; then
  printf 'the plan: expected one file, and its header to count an eighth; got\n%s\n%s\n' "$before" "$after"
  exit 1
fi
set_word one "$first"
expect "what was planned" one built "$first"
mv "$first" "$work/moved"
expect "a moved checkout" one kept "$work/moved"
cp -a "$work/moved" "$work/copy"
expect "a copy" one kept "$work/copy"
set_word two "$work/copy"
expect "a change in the copy" two built "$work/copy"
says "build/release was made for $first"
expect "the original, of which the copy changed" one kept "$work/moved"
set_word three "$work/copy"
expect "another change in the copy" three built "$work/copy"
set_word four "$work/moved"
expect "a change in the original only" three kept "$work/copy"
expect "the original" four built "$work/moved"

# What was built of other sources is not taken, though nothing is newer: a copy whose times are those of
# copying, and a build folder from another checkout.
set_word five "$work/moved"
cp -r "$work/moved" "$work/timeless"
touch -d "1 hour" "$work/timeless/build/release.stamp" # as if it was copied last
expect "a stale copy without times" five built "$work/timeless"
expect "the original of it" five built "$work/moved"
make_checkout "$work/other"
cp -a "$work/moved/build" "$work/other"
touch -d "1 hour" "$work/other/build/release.stamp"
expect "the build folder of another checkout" one built "$work/other"

touch "$work/copy/src/says_its_path" "$work/copy/CMakeLists.txt"
expect "a program that holds its path" "$work/copy"$'\n'three built "$work/copy"
expect "the same again" "$work/copy"$'\n'three kept "$work/copy"
mv "$work/copy" "$work/elsewhere"
expect "moved with its path" "$work/elsewhere"$'\n'three built "$work/elsewhere"

# --- unusual paths --------------------------------------------------------------------------------

odd="$work/a b,c=(ä)+%~@!{x}:"
make_checkout "$odd"
expect "an unusual path" one built "$odd"
[[ $("$odd/build/release/bin/big_test") == one ]]
set_word two "$odd"
expect "a change under it" two built "$odd"
(($(grep -c 'Building CXX' "$odd/build/release.log") == 1)) || { echo "not one file was compiled"; exit 1; }

for character in '"' '#' '$' '&' "'" '*' ';' '<' '?' '[' ']' '^' '`' '|'; do
  refused="$work/a${character}b"
  mkdir "$refused"
  cp "$source/CMakeLists.txt" "$refused"
  if said=$(cmake -S "$refused" -B "$refused/build" 2>&1) || [[ ${said//$'\n'/} != *"has a $character in it"* ]]; then
    printf 'not refused: %s\n%s\n' "$refused" "$said"
    exit 1
  fi
done
echo "ok: paths that cannot be built in"
rm -rf "$work"
