// SPDX-License-Identifier: Apache-2.0
// targets: sm_75 sm_80 sm_89 sm_90 sm_90a sm_100 sm_100a sm_103a sm_120 sm_120a
// Matrix product with ldmatrix and mma.sync: f16 inputs, f32 accumulators. From sm_80 one
// m16n8k16 per step; on sm_75, which lacks that shape, two m16n8k8 over the same fragments.
//
//   gemm_mma_f16(c, a, b, m, n, k)   c = a * b; row-major a (m x k), b (k x n), c (m x n); m a
//                                    multiple of 32, n and k of 16
//   mma_transpose_8x8(out, in)       one warp transposes 8 x 8 halves by movmatrix
// gemm_mma_f16: blocks of 64 threads (two warps), a grid of (n / 16, m / 32) blocks.
#include <cuda_fp16.h>

namespace {

constexpr int kRows = 32;
constexpr int kCols = 16;
constexpr int kDepth = 16;
constexpr int kPitch = 24;  // halves: 48 bytes, so that eight rows of 16 bytes miss each other

__device__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__device__ void load_matrices(unsigned (&r)[4], const __half* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(row)));
}

__device__ void load_matrices_transposed(unsigned (&r)[4], const __half* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(row)));
}

// d (16 x 8) += a (16 x 16) * b (16 x 8)
__device__ void multiply_add(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
  for (int half = 0; half < 2; ++half) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[2 * half]), "r"(a[2 * half + 1]), "r"(half == 0 ? b0 : b1));
  }
#endif
}

}  // namespace

extern "C" __global__ void gemm_mma_f16(float* c, const __half* a, const __half* b, int m, int n,
                                        int k) {
  __shared__ __align__(16) __half a_tile[kRows][kPitch];
  __shared__ __align__(16) __half b_tile[kDepth][kPitch];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const __half* a_block = a + static_cast<long long>(blockIdx.y) * kRows * k;
  const __half* b_block = b + blockIdx.x * kCols;

  float d[2][4] = {};
  for (int k0 = 0; k0 < k; k0 += kDepth) {
    // 16 bytes each: 32 rows of two for a, 16 rows of two for b.
    const int row = threadIdx.x / 2;
    const int col = threadIdx.x % 2 * 8;
    *reinterpret_cast<uint4*>(&a_tile[row][col]) =
        *reinterpret_cast<const uint4*>(a_block + row * k + k0 + col);
    if (row < kDepth)
      *reinterpret_cast<uint4*>(&b_tile[row][col]) =
          *reinterpret_cast<const uint4*>(b_block + static_cast<long long>(k0 + row) * n + col);
    __syncthreads();

    unsigned a_regs[4];
    unsigned b_regs[4];
    load_matrices(a_regs, &a_tile[16 * warp + lane % 16][lane / 16 * 8]);
    load_matrices_transposed(b_regs, &b_tile[lane % 16][lane / 16 * 8]);
    multiply_add(d[0], a_regs, b_regs[0], b_regs[1]);
    multiply_add(d[1], a_regs, b_regs[2], b_regs[3]);
    __syncthreads();
  }

  const int row = blockIdx.y * kRows + 16 * warp + lane / 4;
  const int col = blockIdx.x * kCols + lane % 4 * 2;
  for (int tile = 0; tile < 2; ++tile) {
    float* place = c + static_cast<long long>(row) * n + col + 8 * tile;
    *reinterpret_cast<float2*>(place) = make_float2(d[tile][0], d[tile][1]);
    *reinterpret_cast<float2*>(place + 8 * n) = make_float2(d[tile][2], d[tile][3]);
  }
}

extern "C" __global__ void mma_transpose_8x8(unsigned* out, const unsigned* in) {
  unsigned d;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(d) : "r"(in[threadIdx.x]));
  out[threadIdx.x] = d;
}
