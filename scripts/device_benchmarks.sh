#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Measures the suite `kernels` on a machine that has a GPU and little else: builds bench/kernels with
# what it needs of src/ (the compiler and the CUDA device; no simulator, no CMake, no Google Benchmark)
# and runs it. Where all of Warpwright builds, `./warpwright bench kernels --json` writes the same.
#
#   scripts/device_benchmarks.sh [REPETITIONS [TEXT]] > kernels.json      TEXT: part of the rows' names
#   scripts/make_benchmarks.py --suite kernels --from kernels.json --machine "NVIDIA H200"
#
# WW_BENCH_KERNELS replaces the rows (bench/kernels/kernel_rows.h). Needed: g++ 12 and fmt; where fmt is
# not installed, FMT_INCLUDE names a folder with its headers. Exits 1 when a row fails, 2 without a GPU.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export folder="$root/build/device/kernels"
mkdir -p "$folder"
cd "$root"
sources=()
for source in src/{base,num,target,layout,isa,isa/families,ir,script,ptx,lower,lower/copy,emit/ptx}/*.cpp \
  src/driver/build.cpp src/runtime/{device,cuda_calls,cuda_device}.cpp \
  bench/compile/examples.cpp bench/kernels/{contents,kernel_rows,device_main}.cpp; do
  case "$source" in *_test.cpp) ;; *) sources+=("$source") ;; esac
done
# An object that is newer than all sources is left alone.
compile() {
  local object="$folder/${1//\//_}.o"
  [[ -f $object && -z $(find src bench -name '*.[chd]*' -newer "$object" -print -quit) ]] ||
    "${CXX:-g++}" -std=c++23 -O2 -w -DFMT_HEADER_ONLY -I src ${FMT_INCLUDE:+-I "$FMT_INCLUDE"} -c "$1" -o "$object"
}
export -f compile
printf '%s\n' "${sources[@]}" | xargs -P "${JOBS:-$(nproc)}" -I{} bash -c 'compile {}' >&2
objects=("${sources[@]//\//_}")
objects=("${objects[@]/%/.o}")
"${CXX:-g++}" "${objects[@]/#/$folder/}" -o "$folder/device_main" -ldl >&2
exec "$folder/device_main" "$@"
