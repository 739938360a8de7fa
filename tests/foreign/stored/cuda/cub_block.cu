// SPDX-License-Identifier: Apache-2.0
// CUB's collectives for a warp and a block.
// case block_sum sm_75 sm_90: --grid 3 --block 96 --arg 0=s32[3,96]:randint:-99,99,1 --arg 1=s32[3] --expect '$1 == sum($0, axis=1)'
// case block_scan sm_80: --grid 1 --block 64 --arg 0=s32[64]:ones --arg 1=s32[64] --arg 2=s32[64]:arange --expect '$1 == $2'
// case block_sort sm_80 sm_100: --grid 1 --block 32 --arg 0=u32[64]:list:9,3,61,5,7,50,1,0,2,4,6,8,10,12,11,13,15,14,16,18,17,19,21,20,22,23,24,25,26,27,28,29,30,31,33,32,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,63,51,52,53,54,55,56,57,58,59,60,62 --arg 1=u32[64]:zeros --arg 2=u32[64]:arange --expect '$1 == $2'
// case warp_max sm_75 sm_120: --grid 2 --block 64 --arg 0=f32[4,32]:randn:1 --arg 1=f32[4] --expect '$1 == max($0, axis=1)'
// case block_exchange sm_90: --grid 1 --block 32 --arg 0=s32[32,4]:arange --arg 1=s32[4,32] --expect '$1 == $0.T'
#include <cub/cub.cuh>

extern "C" __global__ void block_sum(const int* in, int* out) {
  using Reduce = cub::BlockReduce<int, 96>;
  __shared__ Reduce::TempStorage storage;
  const int sum = Reduce(storage).Sum(in[blockIdx.x * 96 + threadIdx.x]);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// `expected` is for the expectation only.
extern "C" __global__ void block_scan(const int* in, int* out, const int* expected) {
  using Scan = cub::BlockScan<int, 64, cub::BLOCK_SCAN_WARP_SCANS>;
  __shared__ Scan::TempStorage storage;
  int value = in[threadIdx.x];
  Scan(storage).ExclusiveSum(value, value);
  out[threadIdx.x] = value;
}

extern "C" __global__ void block_sort(const unsigned* in, unsigned* out, const unsigned* expected) {
  using Sort = cub::BlockRadixSort<unsigned, 32, 2, cub::NullType, 3>;
  __shared__ Sort::TempStorage storage;
  unsigned keys[2] = {in[2 * threadIdx.x], in[2 * threadIdx.x + 1]};
  Sort(storage).Sort(keys, 0, 6);
  out[2 * threadIdx.x] = keys[0];
  out[2 * threadIdx.x + 1] = keys[1];
}

extern "C" __global__ void warp_max(const float* in, float* out) {
  using Reduce = cub::WarpReduce<float>;
  __shared__ Reduce::TempStorage storage[2];
  const int warp = threadIdx.x / 32;
  const float most = Reduce(storage[warp]).Reduce(in[blockIdx.x * 64 + threadIdx.x],
                                                  [](float a, float b) { return a > b ? a : b; });
  if (threadIdx.x % 32 == 0) out[blockIdx.x * 2 + warp] = most;
}

// From four consecutive items a thread to one in four.
extern "C" __global__ void block_exchange(const int* in, int* out) {
  using Load = cub::BlockLoad<int, 32, 4, cub::BLOCK_LOAD_VECTORIZE>;
  using Exchange = cub::BlockExchange<int, 32, 4>;
  __shared__ Load::TempStorage load;
  __shared__ Exchange::TempStorage exchange;
  int items[4];
  Load(load).Load(in, items);
  for (int i = 0; i < 4; ++i) out[i * 32 + threadIdx.x] = items[i];
  Exchange(exchange).BlockedToStriped(items);
  Exchange(exchange).StripedToBlocked(items);
  for (int i = 0; i < 4; ++i) out[i * 32 + threadIdx.x] = items[i];
}
