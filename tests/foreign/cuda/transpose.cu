// SPDX-License-Identifier: Apache-2.0
// targets: sm_75 sm_80 sm_89 sm_90 sm_90a sm_100 sm_100a sm_103a sm_120 sm_120a
// Matrix transposition through a shared tile with one padding column, for three element sizes.
//
//   transpose_f32(out, in, rows, cols)   out[c][r] = in[r][c]; `in` is rows x cols, row-major
//   transpose_u8(...)                    the same for bytes
//   transpose_f64x2(...)                 the same for pairs of doubles
// Blocks of (32, 8) threads; a grid of (ceil(cols / 32), ceil(rows / 32)) blocks.
namespace {

constexpr int kTile = 32;
constexpr int kStep = 8;

template <typename T>
__device__ void transpose(T* out, const T* in, int rows, int cols) {
  __shared__ T tile[kTile][kTile + 1];
  const int col = blockIdx.x * kTile + threadIdx.x;
  const int row = blockIdx.y * kTile + threadIdx.y;
#pragma unroll
  for (int j = 0; j < kTile; j += kStep) {
    if (row + j < rows && col < cols)
      tile[threadIdx.y + j][threadIdx.x] = in[static_cast<long long>(row + j) * cols + col];
  }
  __syncthreads();
  const int out_col = blockIdx.y * kTile + threadIdx.x;
  const int out_row = blockIdx.x * kTile + threadIdx.y;
#pragma unroll
  for (int j = 0; j < kTile; j += kStep) {
    if (out_row + j < cols && out_col < rows)
      out[static_cast<long long>(out_row + j) * rows + out_col] =
          tile[threadIdx.x][threadIdx.y + j];
  }
}

}  // namespace

extern "C" __global__ void transpose_f32(float* out, const float* in, int rows, int cols) {
  transpose(out, in, rows, cols);
}

extern "C" __global__ void transpose_u8(unsigned char* out, const unsigned char* in, int rows,
                                        int cols) {
  transpose(out, in, rows, cols);
}

// 16-byte elements: vector accesses to global and shared memory.
extern "C" __global__ void transpose_f64x2(double2* out, const double2* in, int rows, int cols) {
  transpose(out, in, rows, cols);
}
