// SPDX-License-Identifier: Apache-2.0
// Products of nvcuda::wmma that came with sm_80: brain floats, tf32, doubles.
// case product_bf16 sm_80 sm_90: --grid 1 --block 32 --arg 0=bf16[16,16]:randint:-4,4,1 --arg 1=bf16[16,16]:randint:-4,4,2 --arg 2=f32[16,16] --expect '$2 == $0 @ $1'
// case product_tf32 sm_80 sm_90: --grid 1 --block 32 --arg 0=f32[16,8]:randint:-4,4,1 --arg 1=f32[8,16]:randint:-4,4,2 --arg 2=f32[16,16] --expect '$2 == $0 @ $1'
// case product_f64 sm_80 sm_90: --grid 1 --block 32 --arg 0=f64[8,4]:rand:1 --arg 1=f64[4,8]:rand:2 --arg 2=f64[8,8] --expect '$2 ~= $0 @ $1'
#include <cuda_bf16.h>
#include <mma.h>
using namespace nvcuda;

template <int M, int N, int K, typename In, typename Sum, typename Precision, typename Out>
__device__ void product(const In* a, const In* b, Out* d) {
  wmma::fragment<wmma::matrix_a, M, N, K, Precision, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, Precision, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, M, N, K, Sum> fc;
  wmma::fill_fragment(fc, Sum(0));
  wmma::load_matrix_sync(fa, a, K);
  wmma::load_matrix_sync(fb, b, N);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(d, fc, N, wmma::mem_row_major);
}
extern "C" __global__ void product_bf16(const __nv_bfloat16* a, const __nv_bfloat16* b, float* d) {
  product<16, 16, 16, __nv_bfloat16, float, __nv_bfloat16>(a, b, d);
}
extern "C" __global__ void product_tf32(const float* a, const float* b, float* d) {
  product<16, 16, 8, float, float, wmma::precision::tf32>(a, b, d);
}
extern "C" __global__ void product_f64(const double* a, const double* b, double* d) {
  product<8, 8, 4, double, double, double>(a, b, d);
}
