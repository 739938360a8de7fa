// SPDX-License-Identifier: Apache-2.0
// Cooperative groups: tiles, coalesced and labelled groups, the grid, copies.
// options: -rdc=false
// case tile_sum sm_75 sm_90 sm_121a: --grid 2 --block 64 --arg 0=s32[32,4]:randint:-99,99,1 --arg 1=s32[32] --expect '$1 == sum($0, axis=1)'
// case odd_count sm_75 sm_80: --grid 1 --block 64 --arg 0=s32[64]:arange --arg 1=s32[1]:zeros --expect '$1[0] == 32'
// case label_sum sm_80 sm_90: --grid 1 --block 32 --arg 0=s32[8,4]:arange --arg 1=s32[4]:zeros --expect '$1 == sum($0, axis=0)'
// case grid_turns sm_80 sm_90: --grid 4 --block 32 --arg 0=s32[128]:arange --arg 1=s32[128] --expect '$1[:96] == before($0)[32:]' --expect '$1[96:] == before($0)[:32]'
// case group_copy sm_80 sm_100: --grid 2 --block 64 --arg 0=f32[2,256]:rand:1 --arg 1=f32[2,256] --expect '$1 == 2 * $0'
// case tile_scan sm_80: --grid 1 --block 32 --arg 0=s32[32]:ones --arg 1=s32[32] --arg 2=s32[32]:arange --expect '$1 == $2 + 1'
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

extern "C" __global__ void tile_sum(const int* in, int* out) {
  const auto tile = cg::tiled_partition<4>(cg::this_thread_block());
  const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  const int sum = cg::reduce(tile, in[at], cg::plus<int>());
  if (tile.thread_rank() == 0) out[at / 4] = sum;
}

extern "C" __global__ void odd_count(const int* in, int* out) {
  if (in[threadIdx.x] % 2 != 0) {
    const auto together = cg::coalesced_threads();
    if (together.thread_rank() == 0) atomicAdd(out, static_cast<int>(together.size()));
  }
}

extern "C" __global__ void label_sum(const int* in, int* out) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int label = threadIdx.x % 4;
  const auto group = cg::labeled_partition(warp, label);
  const int sum = cg::reduce(group, in[threadIdx.x], cg::plus<int>());
  if (group.thread_rank() == 0) out[label] = sum;
}

// Each block hands its part to the one before it.
extern "C" __global__ void grid_turns(int* buffer, int* out) {
  const auto grid = cg::this_grid();
  const unsigned n = gridDim.x * blockDim.x;
  const unsigned at = grid.thread_rank();
  const int mine = buffer[at];
  grid.sync();
  buffer[(at + n - blockDim.x) % n] = mine;
  grid.sync();
  out[at] = buffer[at];
}

extern "C" __global__ void group_copy(const float* in, float* out) {
  __shared__ alignas(16) float tile[256];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, tile, in + blockIdx.x * 256, sizeof tile);
  cg::wait(block);
  for (int i = threadIdx.x; i < 256; i += 64) out[blockIdx.x * 256 + i] = 2 * tile[i];
}

extern "C" __global__ void tile_scan(const int* in, int* out, const int* expected) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  out[threadIdx.x] = cg::inclusive_scan(warp, in[threadIdx.x]);
}
