// SPDX-License-Identifier: Apache-2.0
// targets: sm_75 sm_80 sm_89 sm_90 sm_90a sm_100 sm_100a sm_103a sm_120 sm_120a
// Matrix product in float with tiles in shared memory, each thread computing 2 x 2 elements.
//
//   gemm_f32(c, a, b, m, n, k, alpha, beta)   c = alpha * a * b + beta * c; row-major matrices a
//                                             (m x k), b (k x n), c (m x n) of any size
// Blocks of (16, 16) threads; a grid of (ceil(n / 32), ceil(m / 32)) blocks.
namespace {

constexpr int kTile = 32;
constexpr int kDepth = 16;
constexpr int kThreads = 16;

__device__ float at_or_zero(const float* p, int row, int col, int rows, int cols) {
  return row < rows && col < cols ? p[row * cols + col] : 0.0f;
}

}  // namespace

extern "C" __global__ __launch_bounds__(kThreads* kThreads) void gemm_f32(
    float* c, const float* __restrict__ a, const float* __restrict__ b, int m, int n, int k,
    float alpha, float beta) {
  __shared__ float a_tile[kTile][kDepth + 1];
  __shared__ __align__(16) float b_tile[kDepth][kTile];
  const int first_row = blockIdx.y * kTile;
  const int first_col = blockIdx.x * kTile;
  const int t = threadIdx.y * kThreads + threadIdx.x;

  float sum[2][2] = {};
  for (int k0 = 0; k0 < k; k0 += kDepth) {
    for (int i = t; i < kTile * kDepth; i += kThreads * kThreads) {
      a_tile[i / kDepth][i % kDepth] = at_or_zero(a, first_row + i / kDepth, k0 + i % kDepth, m, k);
      b_tile[i / kTile][i % kTile] = at_or_zero(b, k0 + i / kTile, first_col + i % kTile, k, n);
    }
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < kDepth; ++kk) {
      const float2 y = *reinterpret_cast<const float2*>(&b_tile[kk][2 * threadIdx.x]);
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const float x = a_tile[2 * threadIdx.y + r][kk];
        sum[r][0] = fmaf(x, y.x, sum[r][0]);
        sum[r][1] = fmaf(x, y.y, sum[r][1]);
      }
    }
    __syncthreads();
  }

#pragma unroll
  for (int r = 0; r < 2; ++r) {
    for (int j = 0; j < 2; ++j) {
      const int row = first_row + 2 * threadIdx.y + r;
      const int col = first_col + 2 * threadIdx.x + j;
      if (row < m && col < n) {
        float* place = c + row * n + col;
        *place = alpha * sum[r][j] + beta * *place;
      }
    }
  }
}
