// SPDX-License-Identifier: Apache-2.0
// out = 2 * a + b over tiles of 16 x 64 floats: a producer warp fills a ring of three stages through
// tensor maps, four consumer warps add, and one of their threads stores the tile. pipeline_test.cpp
// compiles it and runs it on the virtual GPU.
#include <cuda.h>

#include <cuda/barrier>

namespace cde = cuda::device::experimental;
using barrier = cuda::barrier<cuda::thread_scope_block>;

constexpr int kStages = 3, kTileRows = 16, kTileColumns = 64, kConsumers = 128;
constexpr int kTile = kTileRows * kTileColumns;

template <bool kFences>
__device__ void add(const CUtensorMap& a, const CUtensorMap& b, const CUtensorMap& out,
                    int tiles_across, int tiles) {
  __shared__ alignas(128) float stages[kStages][2][kTile];
  __shared__ alignas(128) float result[kTile];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ barrier full[kStages], empty[kStages];
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      init(&full[s], 1);
      init(&empty[s], kConsumers);
    }
    cde::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    if (threadIdx.x != 0) return;
    for (int i = 0, tile = blockIdx.x; tile < tiles; ++i, tile += gridDim.x) {
      const int s = i % kStages;
      const int x = tile % tiles_across * kTileColumns, y = tile / tiles_across * kTileRows;
      empty[s].wait_parity((i / kStages + 1) & 1);
      cde::cp_async_bulk_tensor_2d_global_to_shared(stages[s][0], &a, x, y, full[s]);
      cde::cp_async_bulk_tensor_2d_global_to_shared(stages[s][1], &b, x, y, full[s]);
      (void)cuda::device::barrier_arrive_tx(full[s], 1, 2 * kTile * sizeof(float));
    }
    return;
  }
  const int thread = static_cast<int>(threadIdx.x) - 32;
  for (int i = 0, tile = blockIdx.x; tile < tiles; ++i, tile += gridDim.x) {
    const int s = i % kStages;
    const int x = tile % tiles_across * kTileColumns, y = tile / tiles_across * kTileRows;
    full[s].wait_parity(i / kStages & 1);
    if (thread == 0) cde::cp_async_bulk_wait_group_read<0>();  // the last tile has been read
    asm volatile("bar.sync 1, 128;" ::: "memory");
    for (int e = thread; e < kTile; e += kConsumers)
      result[e] = 2 * stages[s][0][e] + stages[s][1][e];
    (void)empty[s].arrive();
    if (kFences) cde::fence_proxy_async_shared_cta();
    asm volatile("bar.sync 1, 128;" ::: "memory");
    if (thread != 0) continue;
    cde::cp_async_bulk_tensor_2d_shared_to_global(&out, x, y, result);
    cde::cp_async_bulk_commit_group();
  }
  if (thread == 0) cde::cp_async_bulk_wait_group_read<0>();
}

extern "C" __global__ void __launch_bounds__(kConsumers + 32)
    add_tiles(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
              const __grid_constant__ CUtensorMap out, int tiles_across, int tiles) {
  add<true>(a, b, out, tiles_across, tiles);
}

// The same with the mistake that a test looks for.
extern "C" __global__ void __launch_bounds__(kConsumers + 32)
    add_tiles_unfenced(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                       const __grid_constant__ CUtensorMap out, int tiles_across, int tiles) {
  add<false>(a, b, out, tiles_across, tiles);
}
