// SPDX-License-Identifier: Apache-2.0
// Matrix products through nvcuda::wmma: a warp per block, one tile.
// case product_f16 sm_75 sm_80 sm_90 sm_103a sm_121a: --grid 1 --block 32 --arg 0=f16[16,32]:randint:-4,4,1 --arg 1=f16[32,16]:randint:-4,4,2 --arg 2=f32[16,16]:randint:-9,9,3 --arg 3=f32[16,16] --expect '$3 == $0 @ $1 + $2'
// case product_f16_cols sm_75 sm_90: --grid 1 --block 32 --arg 0=f16[16,32]:randint:-4,4,1 --arg 1=f16[8,16]:randint:-4,4,2 --arg 2=f16[32,8] --expect '$2 == ($1 @ $0).T'
// case product_s8 sm_75 sm_80: --grid 1 --block 32 --arg 0=s8[8,16]:randint:-128,127,1 --arg 1=s8[16,32]:randint:-128,127,2 --arg 2=s32[8,32] --expect '$2 == $0 @ $1'
// case product_u4 sm_75: --grid 1 --block 32 --arg 0=u32[8,4]:full:858993459 --arg 1=u32[8,4]:full:1145324612 --arg 2=s32[8,8] --expect '$2 == 384'
// case product_b1 sm_75 sm_80: --grid 1 --block 32 --arg 0=u32[8,4]:full:252645135 --arg 1=u32[8,4]:full:16711935 --arg 2=s32[8,8] --expect '$2 == 64'
#include <mma.h>
#include <cstdint>
using namespace nvcuda;

// D = A B + C, A 16x32 and B 32x16, row-major; two steps over k.
extern "C" __global__ void product_f16(const half* a, const half* b, const float* c, float* d) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::load_matrix_sync(fc, c, 16, wmma::mem_row_major);
  for (int k = 0; k < 32; k += 16) {
    wmma::load_matrix_sync(fa, a + k, 32);
    wmma::load_matrix_sync(fb, b + 16 * k, 16);
    wmma::mma_sync(fc, fa, fb, fc);
  }
  wmma::store_matrix_sync(d, fc, 16, wmma::mem_row_major);
}

// Column-major operands and a result in shared memory: D^T = B^T A^T with the 32x8x16 shape.
extern "C" __global__ void product_f16_cols(const half* a, const half* b, half* d) {
  __shared__ half tile[32 * 8];
  wmma::fragment<wmma::matrix_a, 32, 8, 16, half, wmma::col_major> fa;
  wmma::fragment<wmma::matrix_b, 32, 8, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 32, 8, 16, half> fc;
  wmma::fill_fragment(fc, __float2half(0.0f));
  wmma::load_matrix_sync(fa, a, 32);
  wmma::load_matrix_sync(fb, b, 16);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(tile, fc, 8, wmma::mem_row_major);
  __syncwarp();
  for (int i = threadIdx.x; i < 256; i += 32) d[i] = tile[i];
}

extern "C" __global__ void product_s8(const signed char* a, const signed char* b, int* d) {
  wmma::fragment<wmma::matrix_a, 8, 32, 16, signed char, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 8, 32, 16, signed char, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 8, 32, 16, int> fc;
  wmma::fill_fragment(fc, 0);
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, b, 32);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(d, fc, 32, wmma::mem_row_major);
}

extern "C" __global__ void product_u4(const uint32_t* a, const uint32_t* b, int* d) {
  using namespace wmma::experimental;
  wmma::fragment<wmma::matrix_a, 8, 8, 32, precision::u4, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 8, 8, 32, precision::u4, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 8, 8, 32, int> fc;
  wmma::fill_fragment(fc, 0);
  wmma::load_matrix_sync(fa, a, 32);
  wmma::load_matrix_sync(fb, b, 32);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(d, fc, 8, wmma::mem_row_major);
}

extern "C" __global__ void product_b1(const uint32_t* a, const uint32_t* b, int* d) {
  using namespace wmma::experimental;
  wmma::fragment<wmma::matrix_a, 8, 8, 128, precision::b1, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 8, 8, 128, precision::b1, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 8, 8, 128, int> fc;
  wmma::fill_fragment(fc, 0);
  wmma::load_matrix_sync(fa, a, 128);
  wmma::load_matrix_sync(fb, b, 128);
  wmma::bmma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(d, fc, 8, wmma::mem_row_major);
}
