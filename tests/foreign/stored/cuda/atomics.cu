// SPDX-License-Identifier: Apache-2.0
// Atomics of CUDA C++ and of libcu++.
// case count_bins sm_75 sm_90: --grid 2 --block 64 --arg 0=s32[32,4]:arange --arg 1=s32[4]:zeros --expect '$1 == 32'
// case sum_kinds sm_75 sm_100: --grid 2 --block 32 --arg 0=f32[64]:randint:-9,9,1 --arg 1=f32[1]:zeros --arg 2=f64[1]:zeros --expect '$1[0] == sum($0)' --expect '$2[0] == sum($0)'
// case product_by_cas sm_75: --grid 1 --block 12 --arg 0=u64[1]:ones --expect '$0[0] == 479001600'
// case ring_counter sm_80: --grid 1 --block 32 --arg 0=u32[2]:zeros --expect '$0[0] == 2' --expect '$0[1] == 3'
// case last_block sm_75 sm_90: --grid 5 --block 64 --arg 0=s32[5,64]:randint:-99,99,1 --arg 1=s32[5]:zeros --arg 2=u32[1]:zeros --arg 3=s32[1] --expect '$3[0] == sum($0)'
// case message sm_80 sm_90: --grid 2 --block 32 --arg 0=s32[32]:zeros --arg 1=u32[1]:zeros --arg 2=s32[32] --arg 3=s32[32]:arange --expect '$2 == 3 * $3 + 7'
// case half_sums sm_90 sm_120: --grid 1 --block 64 --arg 0=f16[2]:zeros --arg 1=bf16[2]:zeros --expect '$0[0] == 64' --expect '$0[1] == 128' --expect '$1[0] == 64'
#include <cuda/atomic>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void count_bins(const int* in, int* bins) {
  __shared__ int mine[4];
  if (threadIdx.x < 4) mine[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&mine[in[blockIdx.x * 64 + threadIdx.x] % 4], 1);
  __syncthreads();
  if (threadIdx.x < 4) atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}
extern "C" __global__ void sum_kinds(const float* in, float* f, double* d) {
  const float value = in[blockIdx.x * 32 + threadIdx.x];
  atomicAdd(f, value);
  atomicAdd(d, static_cast<double>(value));
}
extern "C" __global__ void product_by_cas(unsigned long long* out) {
  unsigned long long seen = *reinterpret_cast<volatile unsigned long long*>(out);
  unsigned long long expected;
  do {
    expected = seen;
    seen = atomicCAS(out, expected, expected * (threadIdx.x + 1));
  } while (seen != expected);
}
extern "C" __global__ void ring_counter(unsigned* out) {
  atomicInc(&out[0], 4);  // 0 1 2 3 4 0 ...
  atomicDec(&out[1], 4);  // 4 3 2 1 0 4 ...
}
extern "C" __global__ void last_block(const int* in, int* parts, unsigned* done, int* out) {
  __shared__ int sum;
  __shared__ bool is_last;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, in[blockIdx.x * 64 + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = sum;
    __threadfence();
    is_last = atomicAdd(done, 1U) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (is_last && threadIdx.x == 0) {
    int total = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) total += parts[i];
    *out = total;
  }
}
// Block 0 sends, block 1 waits for the flag.
extern "C" __global__ void message(int* data, unsigned* flag, int* out, const int* index) {
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> ready(*flag);
  if (blockIdx.x == 0) {
    data[threadIdx.x] = 3 * static_cast<int>(threadIdx.x) + 7;
    __syncthreads();
    if (threadIdx.x == 0) ready.store(1, cuda::memory_order_release);
  } else {
    if (threadIdx.x == 0)
      while (ready.load(cuda::memory_order_acquire) == 0) {
      }
    __syncthreads();
    out[threadIdx.x] = data[threadIdx.x];
  }
}
extern "C" __global__ void half_sums(__half2* h, __nv_bfloat162* b) {
  atomicAdd(h, __floats2half2_rn(1.0f, 2.0f));
  atomicAdd(b, __floats2bfloat162_rn(1.0f, 2.0f));
}
