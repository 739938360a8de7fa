// SPDX-License-Identifier: Apache-2.0
// targets: sm_75 sm_80 sm_89 sm_90 sm_90a sm_100 sm_100a sm_103a sm_120 sm_120a
// Prefix sums over one block, in three ways: shuffles that go up, a tree in dynamic shared
// memory, and a warp scan of predicates by ballot.
//
//   scan_inclusive_u32(out, in, n)   out[i] = in[0] + ... + in[i]; n at most blockDim.x
//   scan_exclusive_f32(out, in)      out[i] = in[0] + ... + in[i-1]; a block of B threads, B a
//                                    power of two, scans 2B elements in 8B bytes of dynamic
//                                    shared memory
//   scan_compact_i32(out, count, in) the positive elements of in[0..blockDim.x), in order
// One block, of a multiple of 32 threads.
extern __shared__ float tree[];

extern "C" __global__ void scan_inclusive_u32(unsigned* out, const unsigned* in, unsigned n) {
  __shared__ unsigned of_warp[32];
  const unsigned i = threadIdx.x;
  const unsigned lane = i % 32;
  unsigned sum = i < n ? in[i] : 0;
  for (unsigned offset = 1; offset < 32; offset *= 2) {
    const unsigned before = __shfl_up_sync(0xffffffffu, sum, offset);
    if (lane >= offset) sum += before;
  }
  if (lane == 31) of_warp[i / 32] = sum;
  __syncthreads();
  for (unsigned warp = 0; warp < i / 32; ++warp) sum += of_warp[warp];
  if (i < n) out[i] = sum;
}

extern "C" __global__ void scan_exclusive_f32(float* out, const float* in) {
  const unsigned t = threadIdx.x;
  const unsigned n = 2 * blockDim.x;
  tree[2 * t] = in[2 * t];
  tree[2 * t + 1] = in[2 * t + 1];
  unsigned stride = 1;
  for (unsigned active = n / 2; active > 0; active /= 2, stride *= 2) {
    __syncthreads();
    if (t < active) tree[stride * (2 * t + 2) - 1] += tree[stride * (2 * t + 1) - 1];
  }
  if (t == 0) tree[n - 1] = 0.0f;
  for (unsigned active = 1; active < n; active *= 2) {
    stride /= 2;
    __syncthreads();
    if (t < active) {
      const unsigned left = stride * (2 * t + 1) - 1;
      const unsigned right = stride * (2 * t + 2) - 1;
      const float below = tree[left];
      tree[left] = tree[right];
      tree[right] += below;
    }
  }
  __syncthreads();
  out[2 * t] = tree[2 * t];
  out[2 * t + 1] = tree[2 * t + 1];
}

extern "C" __global__ void scan_compact_i32(int* out, unsigned* count, const int* in) {
  __shared__ unsigned of_warp[32];
  const unsigned warp = threadIdx.x / 32;
  const int value = in[threadIdx.x];
  const unsigned kept = __ballot_sync(0xffffffffu, value > 0);
  unsigned lanes_below;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lanes_below));
  if (threadIdx.x % 32 == 0) of_warp[warp] = __popc(kept);
  const int total = __syncthreads_count(value > 0);
  unsigned place = __popc(kept & lanes_below);
  for (unsigned w = 0; w < warp; ++w) place += of_warp[w];
  if (value > 0) out[place] = value;
  if (threadIdx.x == 0) *count = total;
}
