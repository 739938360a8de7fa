#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Compares tensor maps and copies of the virtual GPU with the GPU here: records what it does with random
# cases (tests/engines/tensor_copy/record.cu), then runs the same cases on the virtual GPU. Needs nvcc, a device of
# sm_90 and a release build of the tests.
#
#   scripts/device_tensor.sh [--out FOLDER] [CASES]       CASES of each kind, 20000 if not given
#
# With BLESS=1 the first cases of each kind go to tests/engines/tensor_copy/h200.txt. Exit status: 0 all agree, 1
# something differs, 2 it could not be built or run.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out="$root/build/device/tensor"
if [ "${1:-}" = --out ]; then
  out=$2
  shift 2
fi
cases=${1:-20000}
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
mkdir -p "$out"
"$nvcc" -std=c++17 -O2 -arch=sm_90a "$root/tests/engines/tensor_copy/record.cu" -o "$out/record" || exit 2
for kind in encode load store reduce im2col_load im2col_store interleaved interleaved_store; do
  "$out/record" $kind "$cases" "$out/$kind.bin" || exit 2
done
cmake --build "$root/build/release" --target tensor_copy_tests > "$out/build.log" 2>&1 || exit 2
WW_TENSOR_RECORD="$out" "$root/build/release/tests/tensor_copy_tests" --gtest_filter='*Record*' || exit 1
