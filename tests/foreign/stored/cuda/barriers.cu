// SPDX-License-Identifier: Apache-2.0
// cuda::barrier, cuda::pipeline and asynchronous copies.
// case split_arrive sm_80 sm_90 sm_100: --grid 1 --block 64 --arg 0=s32[64]:arange --arg 1=s32[64] --expect '$1[:32] == $0[32:] + 1' --expect '$1[32:] == $0[:32] + 1'
// case barrier_copy sm_80 sm_90: --grid 2 --block 64 --arg 0=f32[2,64]:rand:1 --arg 1=f32[2,64] --expect '$1 == $0 + 1'
// case two_stages sm_80 sm_90 sm_120: --grid 1 --block 32 --arg 0=f32[8,32]:randint:-9,9,1 --arg 1=f32[32] --arg 2=s32:8 --expect '$1 == sum($0, axis=0)'
// case producer_consumer sm_80 sm_90: --grid 1 --block 64 --arg 0=s32[6,32]:randint:-9,9,1 --arg 1=s32[32] --arg 2=s32:6 --expect '$1 == sum($0, axis=0)'
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#pragma nv_diag_suppress static_var_with_dynamic_init
using Barrier = cuda::barrier<cuda::thread_scope_block>;

extern "C" __global__ void split_arrive(const int* in, int* out) {
  __shared__ Barrier barrier;
  __shared__ int shared[64];
  if (threadIdx.x == 0) init(&barrier, 64);
  __syncthreads();
  shared[threadIdx.x] = in[threadIdx.x];
  auto token = barrier.arrive();
  const int one = 1;  // work that needs no other thread
  barrier.wait(std::move(token));
  out[threadIdx.x] = shared[(threadIdx.x + 32) % 64] + one;
}

extern "C" __global__ void barrier_copy(const float* in, float* out) {
  __shared__ Barrier barrier;
  __shared__ alignas(16) float tile[64];
  if (threadIdx.x == 0) init(&barrier, 64);
  __syncthreads();
  cuda::memcpy_async(tile + threadIdx.x, in + blockIdx.x * 64 + threadIdx.x,
                     cuda::aligned_size_t<4>(4), barrier);
  barrier.arrive_and_wait();
  out[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x] + 1;
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = tile[threadIdx.x] + 1;
}

// Rows come in while the one before is added.
extern "C" __global__ void two_stages(const float* in, float* out, int rows) {
  __shared__ alignas(16) float stage[2][32];
  auto pipe = cuda::make_pipeline();
  pipe.producer_acquire();
  cuda::memcpy_async(&stage[0][threadIdx.x], in + threadIdx.x, cuda::aligned_size_t<4>(4), pipe);
  pipe.producer_commit();
  float sum = 0;
  for (int row = 0; row < rows; ++row) {
    if (row + 1 < rows) {
      pipe.producer_acquire();
      cuda::memcpy_async(&stage[(row + 1) % 2][threadIdx.x], in + (row + 1) * 32 + threadIdx.x,
                         cuda::aligned_size_t<4>(4), pipe);
      pipe.producer_commit();
    }
    if (row + 1 < rows) {
      cuda::pipeline_consumer_wait_prior<1>(pipe);
    } else {
      cuda::pipeline_consumer_wait_prior<0>(pipe);
    }
    sum += stage[row % 2][threadIdx.x];
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}

// One warp copies, the other adds.
extern "C" __global__ void producer_consumer(const int* in, int* out, int rows) {
  constexpr int kStages = 2;
  __shared__ Barrier full[kStages], empty[kStages];
  __shared__ int stage[kStages][32];
  if (threadIdx.x == 0)
    for (int s = 0; s < kStages; ++s) {
      init(&full[s], 64);
      init(&empty[s], 64);
    }
  __syncthreads();
  const int lane = threadIdx.x % 32;
  if (threadIdx.x >= 32) {
    for (int row = 0; row < rows; ++row) {
      empty[row % kStages].arrive_and_wait();
      stage[row % kStages][lane] = in[row * 32 + lane];
      (void)full[row % kStages].arrive();
    }
  } else {
    for (int s = 0; s < kStages; ++s) (void)empty[s].arrive();
    int sum = 0;
    for (int row = 0; row < rows; ++row) {
      full[row % kStages].arrive_and_wait();
      sum += stage[row % kStages][lane];
      (void)empty[row % kStages].arrive();
    }
    out[lane] = sum;
  }
}
