// SPDX-License-Identifier: Apache-2.0
// targets: sm_100a sm_103a
// A matrix product by tcgen05.mma: operands in shared memory, the accumulator in tensor memory,
// the end announced on an mbarrier by tcgen05.commit.
//
//   tcgen05_mma_f16(d, a, b, k)   d (128 x 16) = a (128 x k) * b (k x 16): a is row-major, b is
//                                 given as its transpose (16 x k, row-major); k a multiple of 16
// One block of 128 threads.
#include <cuda_fp16.h>

namespace {

constexpr unsigned kColumns = 32;
constexpr unsigned kRows = 128;
constexpr unsigned kCols = 16;
// f32 accumulator, f16 operands, both K-major.
constexpr unsigned kInstruction = 1u << 4 | kCols / 8 << 17 | kRows / 16 << 24;

__device__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// K-major without swizzle: core matrices of 8 rows x 16 bytes, the two of a row side by side.
__device__ unsigned long long descriptor(const void* tile) {
  const unsigned long long start = shared_address(tile) >> 4 & 0x3fff;
  return start | 128ull >> 4 << 16 | 256ull >> 4 << 32 | 1ull << 46;
}

__device__ unsigned core_offset(unsigned row, unsigned k) {
  return row / 8 * 128 + k / 8 * 64 + row % 8 * 8 + k % 8;
}

__device__ void multiply(unsigned d, const __half* a, const __half* b, bool accumulate,
                         unsigned barrier) {
  asm volatile(
      "{\n"
      "  .reg .pred p;\n"
      "  setp.ne.b32 p, %4, 0;\n"
      "  tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;\n"
      "}" ::"r"(d),
      "l"(descriptor(a)), "l"(descriptor(b)), "r"(kInstruction), "r"(accumulate ? 1 : 0)
      : "memory");
  asm volatile(
      "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(barrier)
      : "memory");
}

__device__ void wait_for_phase(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n"
      "  .reg .pred done;\n"
      "again_%=:\n"
      "  mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "  @!done bra again_%=;\n"
      "}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

}  // namespace

extern "C" __global__ __launch_bounds__(128) void tcgen05_mma_f16(float* d, const __half* a,
                                                                  const __half* b, unsigned k) {
  __shared__ alignas(128) __half a_tile[kRows * 16];
  __shared__ alignas(128) __half b_tile[kCols * 16];
  __shared__ alignas(8) unsigned long long barrier;
  __shared__ unsigned base;
  if (threadIdx.x < 32)
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(
                     shared_address(&base)),
                 "n"(kColumns)
                 : "memory");
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&barrier)));
  for (unsigned k0 = 0; k0 < k; k0 += 16) {
    for (unsigned i = threadIdx.x; i < kRows * 16; i += 128)
      a_tile[core_offset(i / 16, i % 16)] = a[i / 16 * k + k0 + i % 16];
    for (unsigned i = threadIdx.x; i < kCols * 16; i += 128)
      b_tile[core_offset(i / 16, i % 16)] = b[i / 16 * k + k0 + i % 16];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
    __syncthreads();
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    if (threadIdx.x == 0) multiply(base, a_tile, b_tile, k0 != 0, shared_address(&barrier));
    wait_for_phase(shared_address(&barrier), k0 / 16 % 2);
  }
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  const unsigned lanes = base + (threadIdx.x / 32 * 32 << 16);
  for (unsigned col = 0; col < kCols; col += 4) {
    float4 v;
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "r"(lanes + col));
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
    *reinterpret_cast<float4*>(d + threadIdx.x * kCols + col) = v;
  }
  __syncthreads();
  if (threadIdx.x < 32)
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(base),
                 "n"(kColumns));
}
