// SPDX-License-Identifier: Apache-2.0
// targets: sm_90a
// Warpgroup matrix products, with both operands in shared memory and with the first in registers.
// The shared tiles have no swizzle: core matrices of 8 rows x 16 bytes, 128 bytes each.
//
//   wgmma_f16(d, a, b, k)    d (64 x 16) = a (64 x k) * b (k x 16): a is row-major, b is given as
//                            its transpose (16 x k, row-major); k a multiple of 16
//   wgmma_bf16_rs(d, a, b)   d (64 x 8) = a (64 x 16) * b (16 x 8), both row-major; a in
//                            registers, b read transposed
// One block of 128 threads.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace {

// Start address, leading and stride byte offsets, in units of 16 bytes; no swizzle.
__device__ unsigned long long descriptor(const void* tile, unsigned leading, unsigned stride) {
  const unsigned long long start = static_cast<unsigned>(__cvta_generic_to_shared(tile)) >> 4;
  return (start & 0x3fff) | static_cast<unsigned long long>(leading >> 4) << 16 |
         static_cast<unsigned long long>(stride >> 4) << 32;
}

// Where element (row, k) of a K-major tile with 16 elements along k stands: two core matrices side
// by side are 256 bytes.
__device__ int core_offset(int row, int k) {
  return row / 8 * 128 + k / 8 * 64 + row % 8 * 8 + k % 8;
}

__device__ void before_wgmma() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ void after_wgmma() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

}  // namespace

extern "C" __global__ __launch_bounds__(128) void wgmma_f16(float* d, const __half* a,
                                                            const __half* b, int k) {
  __shared__ alignas(128) __half a_tile[64 * 16];
  __shared__ alignas(128) __half b_tile[16 * 16];
  float acc[8] = {};
  for (int k0 = 0; k0 < k; k0 += 16) {
    for (int i = threadIdx.x; i < 64 * 16; i += 128)
      a_tile[core_offset(i / 16, i % 16)] = a[i / 16 * k + k0 + i % 16];
    for (int i = threadIdx.x; i < 16 * 16; i += 128)
      b_tile[core_offset(i / 16, i % 16)] = b[i / 16 * k + k0 + i % 16];
    before_wgmma();
    asm volatile(
        "{\n"
        "  .reg .pred accumulate;\n"
        "  setp.ne.b32 accumulate, %10, 0;\n"
        "  wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16\n"
        "    {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, accumulate, 1, 1, 0, 0;\n"
        "}"
        : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3]), "+f"(acc[4]), "+f"(acc[5]),
          "+f"(acc[6]), "+f"(acc[7])
        : "l"(descriptor(a_tile, 128, 256)), "l"(descriptor(b_tile, 128, 256)), "r"(k0)
        : "memory");
    after_wgmma();
    __syncthreads();
  }
  const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
  const int col = threadIdx.x % 4 * 2;
#pragma unroll
  for (int r = 0; r < 8; ++r)
    d[(row + 8 * (r >> 1 & 1)) * 16 + 8 * (r >> 2) + col + (r & 1)] = acc[r];
}

extern "C" __global__ __launch_bounds__(128) void wgmma_bf16_rs(float* d, const __nv_bfloat16* a,
                                                                const __nv_bfloat16* b) {
  __shared__ alignas(128) __nv_bfloat16 b_tile[16 * 8];
  b_tile[threadIdx.x] = b[threadIdx.x];
  const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
  const int col = threadIdx.x % 4 * 2;
  unsigned regs[4];
#pragma unroll
  for (int r = 0; r < 4; ++r)
    regs[r] = *reinterpret_cast<const unsigned*>(a + (row + 8 * (r & 1)) * 16 + 8 * (r >> 1) + col);
  float acc[4] = {};
  before_wgmma();
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, "
      "0, 1, 1, 1;"
      : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
      : "r"(regs[0]), "r"(regs[1]), "r"(regs[2]), "r"(regs[3]), "l"(descriptor(b_tile, 128, 128))
      : "memory");
  after_wgmma();
#pragma unroll
  for (int r = 0; r < 4; ++r) d[(row + 8 * (r >> 1)) * 8 + col + (r & 1)] = acc[r];
}
