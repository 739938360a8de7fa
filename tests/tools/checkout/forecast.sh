#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# forecast.sh SOURCE WORK: replays recorded builds (builds/*.txt) second by second. From the first tenth on, each
# forecast of a build's end must be right within 30 %. SOURCE: the repository; WORK: a folder for it.
set -euo pipefail

root=$1 work=$2 me=forecast
rm -rf "$work"
mkdir -p "$work"
# shellcheck source=scripts/setup.sh
. "$root/scripts/setup.sh"

# replay FILE PLAN: prints `least most count` of the errors in percent of the whole build, and where one is missing.
replay() {
  local file=$1 plan=$2 name=${1##*/} end now left error least=0 most=0 count=0
  end=$(awk '$1 == "end" { print $2 }' "$file")
  awk '$1 == "step" { print $2, $3 }' "$file" >"$work/steps"
  for ((now = end / 10; now < end; now += end / 60)); do
    left=$(awk -v now="$now" '$1 <= now' "$work/steps" | forecast "$plan" "${name%%_*}" "$now")
    if [[ -z $left ]]; then
      # The forecast itself says when a tenth has passed.
      ((now * 100 < end * 13)) || { echo "none after $now of $end ms"; return; }
      continue
    fi
    ((++count))
    error=$(((now + left * 1000 - end) * 100 / end))
    ((error >= least)) || least=$error
    ((error <= most)) || most=$error
  done
  echo "$least $most $count"
}

for file in "$root"/tests/tools/checkout/builds/*.txt; do
  plan=$(sed -n 's/^plan //p' "$file")
  read -r least most count <<<"$(replay "$file" "$plan")"
  echo "${file##*/}: $count forecasts, errors from $least to $most %"
  ((least >= -30 && most <= 30 && count > 40)) || exit 1
  # A build that begins its steps in another order, and has a precompiled header of tests at its end, is forecast less well.
  mixed="$(sort -k 3 <<<"$plan")"$'\n'"1 0 tests/cmake_pch.hxx.gch"
  read -r least most count <<<"$(replay "$file" "$mixed")"
  echo "${file##*/} in another order: $count forecasts, errors from $least to $most %"
  ((least >= -60 && most <= 60 && count > 40)) || exit 1
  # A rule that counts steps, as ninja does, must not pass.
  read -r least most count <<<"$(replay "$file" "$(awk '{ $1 = 1; print }' <<<"$plan")")"
  ((least < -30 || most > 30)) || { echo "${file##*/}: steps without weights were right, too"; exit 1; }
done
