#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The tests of lowered copies and products (tests/engines) with the GPU here as one more engine, then under
# compute-sanitizer. Needs a driver, and nvcc for the part that goes through CUDA C++.
#
#   scripts/device_lowering.sh [--out FOLDER] [COPIES]      COPIES: random ones, 10000 unless told
#
# Steps, one line of summary each:
#
#   cases      all coverage cases, mis-lowerings, needless declines and variants; products of matrices;
#              elementwise primitives; reductions
#   random     COPIES random copies on the GPU, in up to 8 processes with a seed each
#   products   COPIES / 10 random products, likewise
#   memcheck   the coverage cases and 500 random copies: accesses out of bounds or misaligned
#   racecheck  the same: accesses of shared memory that nothing orders
#   synccheck  the same: barriers that not all threads reach
#
# initcheck is left out: every array is filled before a kernel runs, because that is how unwritten
# elements are told from written ones, so it could find nothing.
#
# Logs are in FOLDER (build/device/lowering). Exit status: 0 all agree, 1 something differs, 2 it
# could not be built, or there is nothing to run on.
set -uo pipefail
# shellcheck source=scripts/device_build.sh
. "$(dirname "${BASH_SOURCE[0]}")/device_build.sh"
out="$root/build/device/lowering"
copies=10000
while [ $# -gt 0 ]; do
  case $1 in
    --out) out=$2; shift 2 ;;
    *) copies=$1; shift ;;
  esac
done
mkdir -p "$out"
out=$(cd "$out" && pwd)
tests="$build/tests/lowering_tests"
coverage=(LdstMatrix Reg GmemSmem Fallback Tma Bulk Dsmem RemoteMbarrier)
products=(Gemm GemmTypes GemmFactors GemmWarps GemmLayouts GemmStage GemmHarness WholeGemm Elementwise
          ElementwiseFunctions Reduce)
status=0

# --- building ---------------------------------------------------------------------------------------

device_build "$out/build.log" lowering_tests
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2> /dev/null)
export WW_DEVICE=cuda
if ! "$tests" --gtest_filter=LdstMatrix.TensorMemoryFragment > "$out/first.log" 2>&1; then
  cat "$out/first.log" >&2
  exit 2
fi
grep '^on ' "$out/first.log"

# --- steps ------------------------------------------------------------------------------------------

# start NAME COMMAND ...: in the background, with its output in NAME.log and its status in NAME.rc.
start() {
  local name=$1
  shift
  { "$@" > "$out/$name.log" 2>&1; echo $? > "$out/$name.rc"; } &
}

# summary STEP SECONDS: what the step's logs (STEP_*.log) say, in one line.
summary() {
  local step=$1 seconds=$2 failed=0 rc
  for rc in "$out/$step"_*.rc; do
    [ "$(cat "$rc")" = 0 ] || { failed=$((failed + 1)); echo "  failed: ${rc%.rc}.log" >&2; }
  done
  [ $failed -eq 0 ] || status=1
  cat "$out/$step"_*.log | awk -v step="$step" -v seconds="$seconds" -v failed="$failed" '
    match($0, /on the GPU: [0-9]+ programs, [0-9]+ copies/) {
      split(substr($0, RSTART, RLENGTH), w, " "); programs += w[4]; copies += w[6] }
    /programs by nvcc/ { nvcc += $1 }
    /^\[  PASSED  \]/ { passed += $4 }
    /ERROR SUMMARY:/ { has_errors = 1; split($0, w, "SUMMARY: "); errors += w[2] }
    /RACECHECK SUMMARY:/ { has_errors = 1; split($0, w, "SUMMARY: "); errors += w[2] }
    END {
      printf "%-10s %s: %d tests passed, on the GPU %d programs, %d copies; by nvcc %d programs", step,
        failed ? "FAILED" : "agrees", passed, programs, copies, nvcc
      if (has_errors) printf "; %d errors", errors
      printf "; %d s\n", seconds }' | tee -a "$out/summary.txt"
}

: > "$out/summary.txt"
rm -f "$out"/*.rc

begin=$SECONDS
for suite in "${coverage[@]}" "${products[@]}" Harness Mislowering Needless Variants; do
  WW_ALL_CUDA=1 start "cases_$suite" "$tests" --gtest_filter="$suite.*"
done
wait
summary cases $((SECONDS - begin))

# A fifth of the programs are for sm_100a and do not run on earlier GPUs: more are asked for.
begin=$SECONDS
parts=$(($(nproc) > 8 ? 8 : $(nproc)))
for ((i = 0; i < parts; ++i)); do
  WW_RANDOM_SEED=$((20260101 + i)) WW_RANDOM_COUNT=$((copies * 4 / 3 / parts + 1)) \
    start "random_$i" "$tests" --gtest_filter='RandomCopies.*'
done
wait
summary random $((SECONDS - begin))

begin=$SECONDS
for ((i = 0; i < parts; ++i)); do
  WW_RANDOM_SEED=$((20260301 + i)) WW_RANDOM_COUNT=$((copies / 10 / parts + 1)) \
    start "products_$i" "$tests" --gtest_filter='RandomGemms.*'
done
wait
summary products $((SECONDS - begin))

if [ -z "$sanitizer" ]; then
  echo "there is no compute-sanitizer here" >&2
  exit 2
fi
# All tools at once. What they find ends with status 99.
begin=$SECONDS
sanitize() {  # STEP PART FILTER
  start "$1_$2" "$sanitizer" --tool "$1" --error-exitcode 99 --print-limit 20 "$tests" --gtest_filter="$3"
}
for tool in memcheck racecheck synccheck; do
  for suite in "${coverage[@]}"; do sanitize $tool "$suite" "$suite.*"; done
  for ((i = 0; i < 2; ++i)); do
    WW_RANDOM_SEED=$((20260201 + i)) WW_RANDOM_COUNT=250 sanitize $tool "random$i" 'RandomCopies.*'
  done
done
wait
for tool in memcheck racecheck synccheck; do summary $tool $((SECONDS - begin)); done
exit $status
