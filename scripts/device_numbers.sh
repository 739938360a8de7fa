#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Compares the models of the hardware's arithmetic with the GPU here: builds tests/hardware/matrix_unit.*
# and what it needs of src/, and runs it. Usage: scripts/device_numbers.sh [CASES [TEXT]], only
# forms with TEXT in their names; exits 1 on a mismatch.
# Needed: g++, nvcc and fmt; where fmt is not installed, FMT_INCLUDE names a folder with its headers.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
folder="$root/build/device"
flags=(-std=c++23 -O2 -ffp-contract=off -DFMT_HEADER_ONLY -I "$root/src" ${FMT_INCLUDE:+-I "$FMT_INCLUDE"})
mkdir -p "$folder"
objects=()
for source in "$root"/src/base/*.cpp "$root"/src/num/*.cpp "$root/tests/hardware/matrix_unit.cpp"; do
  case "$source" in *_test.cpp) continue ;; esac
  object="$folder/$(basename "$(dirname "$source")")_$(basename "${source%.cpp}").o"
  "${CXX:-g++}" "${flags[@]}" -w -c "$source" -o "$object" &
  objects+=("$object")
done
"$nvcc" -std=c++20 -O2 -arch="${WW_DEVICE_ARCH:-sm_90a}" -c "$root/tests/hardware/matrix_unit.cu" \
  -o "$folder/matrix_kernels.o"
for job in $(jobs -p); do wait "$job"; done
"$nvcc" "$folder/matrix_kernels.o" "${objects[@]}" -o "$folder/matrix_unit"
exec "$folder/matrix_unit" "$@"
