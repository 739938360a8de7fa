// SPDX-License-Identifier: Apache-2.0
// targets: sm_75 sm_80 sm_89 sm_90 sm_90a sm_100 sm_100a sm_103a sm_120 sm_120a
// What a kernel says about its launch, and how it takes its parameters: bounds on threads, blocks
// and registers, cluster sizes, structs by value (also indexed, so that they are read by
// address), narrow parameters, two views of dynamic shared memory, and the special registers of a
// launch.
//
//   launch_bounded(out, in)            out[i] = in[i] + 1; at most 256 threads, two blocks
//                                      resident
//   launch_registers(out, x)           out[i] = a sum over 32 values x[0..32) rotated by i
//   launch_struct(out, config, at)     out[0] = config.scale * config.values[at] + config.bias
//   launch_narrow(out, a, b, c, d)     out[0] = a + b + c + d
//   launch_dynamic(out, words)         out[i] = word i of dynamic shared memory after it was
//                                      filled as shorts by the first half of the threads; there are
//                                      4 * words bytes
//   launch_places(out)                 eight special registers per thread
//   launch_cluster(out)                out[b] = rank of block b in its cluster of two; from sm_90
//   launch_cluster_size(out)           out[b] = number of blocks in its cluster; from sm_90
//   launch_block_size(out)             out[b] = number of blocks, 128 threads each, clusters of
//                                      two; from sm_90
struct Config {
  char tag;
  double scale;
  int values[6];
  struct {
    short low;
    unsigned char flag;
  } inner;
  float bias;
};

extern __shared__ __align__(16) unsigned char dynamic_bytes[];

extern "C" __global__ __launch_bounds__(256, 2) void launch_bounded(int* out, const int* in) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] + 1;
}

extern "C" __global__ __maxnreg__(40) void launch_registers(float* out, const float* x) {
  float kept[32];
#pragma unroll
  for (int i = 0; i < 32; ++i) kept[i] = x[(i + threadIdx.x) % 32];
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < 32; ++i) sum = fmaf(kept[i], static_cast<float>(i), sum);
#pragma unroll
  for (int i = 31; i >= 0; --i) sum = sum * 0.5f + kept[i];
  out[threadIdx.x] = sum;
}

extern "C" __global__ void launch_struct(float* out, const __grid_constant__ Config config,
                                         int at) {
  const int* chosen = &config.values[at];
  out[0] = static_cast<float>(config.scale * *chosen) + config.bias;
  out[1] = static_cast<float>(config.inner.low) + config.inner.flag + config.tag;
}

extern "C" __global__ void launch_narrow(int* out, signed char a, unsigned short b, bool c,
                                         float d) {
  out[0] = a + b + c + static_cast<int>(d);
}

extern "C" __global__ void launch_dynamic(unsigned* out, unsigned words) {
  unsigned short* shorts = reinterpret_cast<unsigned short*>(dynamic_bytes);
  unsigned size;
  asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(size));
  const unsigned writers = blockDim.x / 2;
  if (threadIdx.x < writers)
    for (unsigned i = threadIdx.x; i < size / 2; i += writers)
      shorts[i] = static_cast<unsigned short>(3 * i);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x)
    out[i] = reinterpret_cast<const unsigned*>(dynamic_bytes)[i];
}

extern "C" __global__ void launch_places(uint4* out) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  unsigned lane, below;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm volatile("mov.u32 %0, %%lanemask_le;" : "=r"(below));
  uint4* place = out + (block * threads + thread) * 2;
  place[0] = make_uint4(block, thread, lane, below);
  place[1] = make_uint4(gridDim.y, blockDim.z, warpSize, blockIdx.y << 16 | threadIdx.z);
}

#if __CUDA_ARCH__ >= 900
extern "C" __global__ __cluster_dims__(2, 1, 1)
    __launch_bounds__(128) void launch_cluster(unsigned* out) {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) out[blockIdx.x] = rank;
}

// The size of the cluster is left to the launch, up to four.
extern "C" __global__ __launch_bounds__(128, 1, 4) void launch_cluster_size(unsigned* out) {
  unsigned size;
  asm volatile("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(size));
  if (threadIdx.x == 0) out[blockIdx.x] = size;
}

// Threads per block and blocks per cluster are both fixed; the launch then counts clusters.
extern "C" __global__ __block_size__((128, 1, 1), (2, 1, 1)) void launch_block_size(unsigned* out) {
  if (threadIdx.x == 127) out[blockIdx.x] = gridDim.x;
}
#endif
