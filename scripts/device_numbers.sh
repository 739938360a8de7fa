#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Compares the models of the hardware's arithmetic with the GPU here: builds tests/device/*.cu with
# nvcc and runs them. Usage: scripts/device_numbers.sh [CASES]; exits 1 on a mismatch.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
folder="$root/build/device"
mkdir -p "$folder"
"${CXX:-g++}" -std=c++23 -O2 -I "$root/src" -c "$root/src/num/matrix_unit.cpp" -o "$folder/matrix_unit_model.o"
"$nvcc" -std=c++20 -O2 -arch="${WW_DEVICE_ARCH:-sm_90a}" -I "$root/src" "$root/tests/device/matrix_unit.cu" \
  "$folder/matrix_unit_model.o" -o "$folder/matrix_unit"
exec "$folder/matrix_unit" "$@"
