#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Draws the pictures in docs/guide/pictures/ with the built program.
#
#   scripts/make_docs.sh            rewrites them
#   scripts/make_docs.sh --check    fails if one differs from what the program draws now
#
# WARPWRIGHT names the program to use; the default is ./warpwright, which builds it first.
set -feuo pipefail  # -f: notations are not file patterns

self=$(readlink -f -- "${BASH_SOURCE[0]}")
root=${self%/scripts/*}
program=${WARPWRIGHT:-$root/warpwright}
pictures="$root/docs/guide/pictures"

# file name | notation | further arguments
rows=(
  "step_columns|S[(4,6):(1,4)]|"
  "step_tiles|S[(2,2,2,3):(12,3,6,1)]|--shape 4,6"
  "ldmatrix_fragment|ldmatrix_frag(1)|--shape 8,8"
  "mma_a_fragment|mma_frag(A,16,float16)|--shape 16,16"
  "shared_row_major|S[(8,64):(64,1)]|--shape 8,64 --dtype float16"
  "shared_swizzled|mma_shared(float16,128B,8,64)|--shape 8,64"
  "tcgen05_32x32b|tcgen05_atom(32x32b,128,4,float32)|--op slice:0:32,0:4 --op permute:1,0"
  "tcgen05_16x64b|tcgen05_atom(16x64b,64,8,float32)|--op slice:0:16,0:8"
  "tcgen05_16x128b|tcgen05_atom(16x128b,64,8,float32)|--op slice:0:16,0:8"
  "tcgen05_16x256b|tcgen05_atom(16x256b,64,8,float32)|--op slice:0:16,0:8"
  "tcgen05_16x32bx2|S[(16,2,4):(1@laneid,16@laneid,1)]|--shape 16,8"
  "tmem_datapath_d|tmem_datapath(D,128,4)|--op permute:1,0"
  "tmem_datapath_b|tmem_datapath(B,64,4)|--op permute:1,0"
  "tmem_datapath_f|tmem_datapath(F,64,4)|--op permute:1,0"
  "tmem_datapath_g|tmem_datapath(G,32,8)|--op permute:1,0"
)

# file name | command that draws a timeline
timelines=(
  "timeline_pipeline|run examples/pipeline.py --kernel build(lines=6,stages=2,consumers=1)"
  "timeline_hang|run examples/findings/hang.py"
  "timeline_bulk_ring|sim examples/ptx/bulk_ring.ptx --grid 1 --block 64 --arg a=i32[4,32]:arange --arg b=i32[4,32]"
)

draw_timelines_into() {
  local row name command
  for row in "${timelines[@]}"; do
    IFS='|' read -r name command <<<"$row"
    # shellcheck disable=SC2086  # the arguments are words
    "$program" $command --timeline "$1/$name.svg" >/dev/null || [[ $name == timeline_hang ]]
  done
}

draw_into() {
  local row name notation arguments
  (cd "$root" && draw_timelines_into "$1")
  for row in "${rows[@]}"; do
    IFS='|' read -r name notation arguments <<<"$row"
    # shellcheck disable=SC2086  # the arguments are words
    "$program" layout "$notation" $arguments --as svg -o "$1/$name.svg" >/dev/null
  done
}

case ${1:-} in
  "")
    mkdir -p "$pictures"
    draw_into "$pictures"
    ;;
  --check)
    fresh=$(mktemp -d)
    trap 'rm -rf "$fresh"' EXIT
    draw_into "$fresh"
    if ! diff -rq "$fresh" "$pictures"; then
      echo "docs/guide/pictures is out of date: run scripts/make_docs.sh" >&2
      exit 1
    fi
    ;;
  *)
    echo "usage: scripts/make_docs.sh [--check]" >&2
    exit 2
    ;;
esac
