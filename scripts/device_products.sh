#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs whole products of examples/gemm_hopper.py and gemm_splitk.py on the virtual GPU and on the GPU here,
# on the same numbers, and compares all bytes of D; then some of them under NVIDIA's checkers where they are
# installed. Needs a device of sm_90. Usage: scripts/device_products.sh; prints the table of
# docs/evidence/numbers.md. Exit status: 0 all agree, 1 something differs, 2 it could not be built or run.
set -uo pipefail
# shellcheck source=scripts/device_build.sh
. "$(dirname "${BASH_SOURCE[0]}")/device_build.sh"
device_build "$build/products.log" warpwright
warpwright=$build/bin/warpwright
cd "$root" || exit 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
status=0

# name, file, kernel
small='M=136, N=264, K=328, BM=64, BN=64, ctas=4'
products=(
  "float16|gemm_hopper|build()"
  "bfloat16|gemm_hopper|build(M=256, N=256, K=512, dtype=\"bfloat16\", out=\"bfloat16\")"
  "tf32|gemm_hopper|build($small, dtype=\"float32\", out=\"float32\")"
  "float16 into float32|gemm_hopper|build($small, out=\"float32\")"
  "float8_e4m3fn, summed by the tensor core|gemm_hopper|build(M=128, N=256, K=512, BN=128, dtype=\"float8_e4m3fn\", out=\"bfloat16\")"
  "float8_e4m3fn, promoted|gemm_hopper|build(M=128, N=256, K=512, BN=128, dtype=\"float8_e4m3fn\", out=\"bfloat16\", promote=True)"
  "int8|gemm_hopper|build(M=136, N=264, K=336, BN=128, dtype=\"int8\", out=\"int32\", acc_dtype=\"int32\")"
  "A transposed|gemm_hopper|build($small, trans_a=True)"
  "B as (K, N)|gemm_hopper|build($small, trans_b=False)"
  "both|gemm_hopper|build($small, trans_a=True, trans_b=False)"
  "ragged|gemm_hopper|build(M=200, N=264, K=136)"
  "few rows|gemm_hopper|build(M=16, N=512, K=512, BM=64, BN=16, swap=True)"
  "cluster of 2|gemm_hopper|build(M=256, N=256, K=256, BN=128, cluster=2)"
  "bias and relu|gemm_hopper|build($small, bias=True, activation=relu)"
  "bias and gelu|gemm_hopper|build($small, bias=True, activation=gelu)"
  "bias and gelu_tanh, by tanh.approx|gemm_hopper|build($small, bias=True, activation=gelu_tanh)"
  "silu|gemm_hopper|build($small, activation=silu)"
  "bias and residual|gemm_hopper|build($small, bias=True, residual=True)"
  "scaled rows into float8_e4m3fn|gemm_hopper|build(M=136, N=256, K=320, BN=128, row_scale=True, dtype=\"float8_e4m3fn\", out=\"float8_e4m3fn\")"
  "K in 4 parts|gemm_splitk|build(M=72, N=200, K=600)"
  "K in 3 parts, bfloat16, B as (K, N)|gemm_splitk|build(M=136, N=144, K=1032, BM=128, BN=96, split=3, trans_b=False, dtype=\"bfloat16\", out=\"bfloat16\")"
  "K in 8 parts|gemm_splitk|build(M=256, N=128, K=1024, BM=128, BN=128, split=8)"
  "K in 2 parts, int8|gemm_splitk|build(M=128, N=128, K=1024, dtype=\"int8\", out=\"int32\", acc_dtype=\"int32\", split=2)"
  "K in 4 parts, float8_e4m3fn|gemm_splitk|build(M=128, N=128, K=1024, dtype=\"float8_e4m3fn\", out=\"bfloat16\", split=4)"
  "K in 2 parts, tf32|gemm_splitk|build(M=128, N=128, K=512, dtype=\"float32\", out=\"float32\", split=2)"
)

run_on() { # device file kernel
  "$warpwright" run "examples/$2.py" --kernel "$3" --device "$1" --out "D=$folder/$1.npy" > "$folder/log" 2>&1 ||
    { cat "$folder/log"; exit 2; }
}

echo '| product | bytes of D | that differ |'
echo '|---|--:|--:|'
for row in "${products[@]}"; do
  IFS='|' read -r name file kernel <<< "$row"
  run_on sim "$file" "$kernel"
  run_on cuda "$file" "$kernel"
  differ=$(cmp -l "$folder/sim.npy" "$folder/cuda.npy" | wc -l)
  # The virtual GPU has tanh.approx to within its error, not bit by bit.
  [ "$differ" = 0 ] || [[ $name == *approx* ]] || status=1
  echo "| $name | $(($(stat -c %s "$folder/sim.npy") - 128)) | $differ |"
done

checker=$(command -v compute-sanitizer || true)
[ -n "$checker" ] || { echo 'compute-sanitizer is not installed'; exit "$status"; }
for tool in memcheck synccheck racecheck; do
  for kernel in 'gemm_hopper|build(M=200, N=264, K=136)' 'gemm_hopper|build(M=256, N=256, K=256, BN=128, cluster=2)' \
    'gemm_splitk|build(M=72, N=200, K=600)'; do
    echo "$tool ${kernel#*|}: $("$checker" --tool $tool "$warpwright" run "examples/${kernel%%|*}.py" --kernel "${kernel#*|}" \
      --device cuda 2>&1 | grep SUMMARY)"
  done
done
exit "$status"
