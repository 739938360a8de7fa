// SPDX-License-Identifier: Apache-2.0
// targets: sm_75 sm_80 sm_89 sm_90 sm_90a sm_100 sm_100a sm_103a sm_120 sm_120a
// Sums and maxima over a whole array: shuffles inside a warp, shared memory between warps, and
// one atomic per block. The last block to finish, found by a counter, writes the mean.
//
//   reduce_sum_f32(total, in, n)                  *total += sum of in[0..n)
//   reduce_max_i32(best, in, n)                   *best = max(*best, in[0..n))
//   reduce_mean_f32(mean, partial, ticket, in, n) *mean = sum / n; partial has gridDim.x elements
//                                                 and *ticket is 0 before and after
// One-dimensional blocks of a multiple of 32 threads.
namespace {

constexpr unsigned kFullWarp = 0xffffffffu;

struct Sum {
  static __device__ float identity() { return 0.0f; }
  static __device__ float join(float a, float b) { return a + b; }
};

struct Max {
  static __device__ int identity() { return -2147483647 - 1; }
  static __device__ int join(int a, int b) { return a > b ? a : b; }
};

template <typename Op, typename T>
__device__ T reduce_warp(T value) {
  for (int offset = 16; offset > 0; offset /= 2)
    value = Op::join(value, __shfl_down_sync(kFullWarp, value, offset));
  return value;
}

// The result is in thread 0 only.
template <typename Op, typename T>
__device__ T reduce_block(T value) {
  __shared__ T of_warp[32];
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  value = reduce_warp<Op>(value);
  if (lane == 0) of_warp[warp] = value;
  __syncthreads();
  if (warp != 0) return value;
  return reduce_warp<Op>(lane < blockDim.x / 32 ? of_warp[lane] : Op::identity());
}

template <typename Op, typename T>
__device__ T reduce_grid_part(const T* in, unsigned n) {
  T value = Op::identity();
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    value = Op::join(value, in[i]);
  return reduce_block<Op>(value);
}

}  // namespace

extern "C" __global__ void reduce_sum_f32(float* total, const float* in, unsigned n) {
  const float sum = reduce_grid_part<Sum>(in, n);
  if (threadIdx.x == 0) atomicAdd(total, sum);
}

extern "C" __global__ void reduce_max_i32(int* best, const int* in, unsigned n) {
  const int found = reduce_grid_part<Max>(in, n);
  if (threadIdx.x == 0) atomicMax(best, found);
}

extern "C" __global__ void reduce_mean_f32(float* mean, volatile float* partial, unsigned* ticket,
                                           const float* in, unsigned n) {
  const float sum = reduce_grid_part<Sum>(in, n);
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    is_last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
  }
  if (!__syncthreads_or(threadIdx.x == 0 && is_last) || threadIdx.x != 0) return;
  __threadfence();
  float all = 0.0f;
  for (unsigned i = 0; i < gridDim.x; ++i) all += partial[i];
  *mean = all / static_cast<float>(n);
}
