// SPDX-License-Identifier: Apache-2.0
// Products in the style of template libraries: tiles as types, guarded iterators, a software pipeline, epilogues
// as functors, split k. Written for this corpus.
// case product_simt sm_75 sm_90: --grid 2,2 --block 64 --arg 0=f32[20,24]:randint:-4,4,1 --arg 1=f32[24,28]:randint:-4,4,2 --arg 2=f32[20,28] --arg 3=s32:20 --arg 4=s32:28 --arg 5=s32:24 --expect '$2 == max($0 @ $1, 0)'
// case product_pipelined sm_80 sm_90 sm_120: --grid 2,2 --block 32 --arg 0=f16[32,64]:randint:-4,4,1 --arg 1=f16[16,64]:randint:-4,4,2 --arg 2=f32[32,16] --arg 3=s32:32 --arg 4=s32:16 --arg 5=s32:64 --expect '$2 == $0 @ $1.T'
// case product_split_k sm_80: --grid 1,1,4 --block 64 --arg 0=f32[16,64]:randint:-4,4,1 --arg 1=f32[64,16]:randint:-4,4,2 --arg 2=f32[16,16]:zeros --arg 3=s32:16 --arg 4=s32:16 --arg 5=s32:64 --expect '$2 == $0 @ $1'
// case batched_outer sm_75 sm_100: --grid 3 --block 64 --arg 0=f64[3,8]:rand:1 --arg 1=f64[3,8]:rand:2 --arg 2=f64[3,8,8] --expect '$2[2, 5] == $0[2, 5] * $1[2]' --expect '$2[0, 7] == $0[0, 7] * $1[0]'
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cstdint>

template <int kM, int kN, int kK>
struct Tile {
  static constexpr int M = kM, N = kN, K = kK;
};
struct Relu {
  __device__ float operator()(float x) const { return x > 0 ? x : 0; }
};
struct Identity {
  __device__ float operator()(float x) const { return x; }
};

/// Rows and columns of a matrix, zero outside it.
template <typename T>
struct GuardedTile {
  const T* base;
  int rows, cols;
  __device__ T operator()(int r, int c) const { return r < rows && c < cols ? base[r * cols + c] : T(0); }
};

template <typename Shape, typename Epilogue>
__device__ void simt_product(const float* a, const float* b, float* c, int m, int n, int k, int k0, int k1,
                             float (&sum)[4]) {
  __shared__ float as[Shape::K][Shape::M], bs[Shape::K][Shape::N];
  const GuardedTile<float> ga{a, m, k}, gb{b, k, n};
  const int row0 = blockIdx.x * Shape::M, col0 = blockIdx.y * Shape::N;
  const int tr = threadIdx.x / 8 * 2, tc = threadIdx.x % 8 * 2;
  for (int kk = k0; kk < k1; kk += Shape::K) {
    for (int i = threadIdx.x; i < Shape::M * Shape::K; i += 64)
      as[i % Shape::K][i / Shape::K] = ga(row0 + i / Shape::K, kk + i % Shape::K);
    for (int i = threadIdx.x; i < Shape::N * Shape::K; i += 64)
      bs[i / Shape::N][i % Shape::N] = gb(kk + i / Shape::N, col0 + i % Shape::N);
    __syncthreads();
    for (int x = 0; x < Shape::K; ++x)
      for (int i = 0; i < 4; ++i) sum[i] += as[x][tr + i / 2] * bs[x][tc + i % 2];
    __syncthreads();
  }
}
template <typename Visit>
__device__ void for_results(int m, int n, Visit visit) {
  const int row = blockIdx.x * 16 + threadIdx.x / 8 * 2, col = blockIdx.y * 16 + threadIdx.x % 8 * 2;
  for (int i = 0; i < 4; ++i)
    if (row + i / 2 < m && col + i % 2 < n) visit((row + i / 2) * n + col + i % 2, i);
}

extern "C" __global__ void product_simt(const float* a, const float* b, float* c, int m, int n, int k) {
  float sum[4] = {};
  simt_product<Tile<16, 16, 8>, Relu>(a, b, c, m, n, k, 0, k, sum);
  for_results(m, n, [&](int at, int i) { c[at] = Relu{}(sum[i]); });
}
extern "C" __global__ void product_split_k(const float* a, const float* b, float* c, int m, int n, int k) {
  float sum[4] = {};
  const int part = k / gridDim.z;
  simt_product<Tile<16, 16, 8>, Identity>(a, b, c, m, n, k, blockIdx.z * part, (blockIdx.z + 1) * part, sum);
  for_results(m, n, [&](int at, int i) { atomicAdd(&c[at], sum[i]); });
}

#if __CUDA_ARCH__ >= 800
// A warp makes a 16x8 tile of A B^T, both k-major, with ldmatrix, mma.sync and two stages of cp.async.
extern "C" __global__ void product_pipelined(const half* a, const half* b, float* c, int m, int n, int k) {
  __shared__ alignas(128) half as[2][16][16], bs[2][8][16];
  const int lane = threadIdx.x, row0 = blockIdx.x * 16, col0 = blockIdx.y * 8;
  const auto fetch = [&](int stage, int kk) {
    __pipeline_memcpy_async(&as[stage][lane / 2][lane % 2 * 8], a + (row0 + lane / 2) * k + kk + lane % 2 * 8, 16);
    if (lane < 16)
      __pipeline_memcpy_async(&bs[stage][lane / 2][lane % 2 * 8], b + (col0 + lane / 2) * k + kk + lane % 2 * 8, 16);
    __pipeline_commit();
  };
  float d[4] = {};
  fetch(0, 0);
  for (int kk = 0, stage = 0; kk < k; kk += 16, stage ^= 1) {
    if (kk + 16 < k) fetch(stage ^ 1, kk + 16);
    else __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncwarp();
    uint32_t ra[4], rb[2];
    const uint32_t pa = static_cast<uint32_t>(__cvta_generic_to_shared(&as[stage][lane % 16][lane / 16 * 8]));
    const uint32_t pb = static_cast<uint32_t>(__cvta_generic_to_shared(&bs[stage][lane % 8][lane / 8 % 2 * 8]));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3]) : "r"(pa) : "memory");
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(rb[0]), "=r"(rb[1]) : "r"(pb) : "memory");
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
    __syncwarp();
  }
  for (int i = 0; i < 4; ++i)
    c[(row0 + lane / 4 + i / 2 * 8) * n + col0 + lane % 4 * 2 + i % 2] = d[i];
}
#endif

extern "C" __global__ void batched_outer(const double* a, const double* b, double* c) {
  const int batch = blockIdx.x, r = threadIdx.x / 8, s = threadIdx.x % 8;
  c[batch * 64 + threadIdx.x] = a[batch * 8 + r] * b[batch * 8 + s];
}
