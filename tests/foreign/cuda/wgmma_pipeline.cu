// SPDX-License-Identifier: Apache-2.0
// targets: sm_90a
// A whole product with wgmma: two stages filled by cp.async, 128-byte swizzle, the products of one
// stage still under way while the next one is filled.
//
//   wgmma_pipeline(d, a, b, n, k)   d (m x n) = a (m x k) * transpose of b (n x k), all row-major;
//                                   m a multiple of 64, n of 128, k of 64
// Blocks of 128 threads, one for each 64 x 128 of d: grid (n / 128, m / 64).
#include <cuda_fp16.h>

namespace {

constexpr int kRows = 64, kColumns = 128, kDepth = 64;   // of a tile: 128 bytes of k
constexpr int kStage = (kRows + kColumns) * kDepth * 2;  // bytes

__device__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// Copies rows of 128 bytes; chunk c of row r goes to place c ^ (r % 8).
__device__ void copy_tile(unsigned to, const __half* from, int rows, int k) {
  for (int i = threadIdx.x; i < rows * 8; i += 128) {
    const int row = i / 8;
    const int chunk = i % 8;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                     to + row * 128 + (chunk ^ (row % 8)) * 16),
                 "l"(from + static_cast<long long>(row) * k + chunk * 8)
                 : "memory");
  }
}

// 128-byte swizzle; groups of 8 rows are 1024 bytes apart.
__device__ unsigned long long descriptor(unsigned address) {
  return (address >> 4 & 0x3fff) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

__device__ void multiply(float (&d)[64], unsigned long long a, unsigned long long b, int adds) {
  asm volatile(
      "{\n"
      "  .reg .pred p;\n"
      "  setp.ne.b32 p, %66, 0;\n"
      "  wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, "
        "%8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, "
        "%24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, "
        "%40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, "
        "%56, %57, %58, %59, %60, %61, %62, %63"
      "}, %64, %65, p, 1, 1, 0, 0;\n"
      "}"
      :
        "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]),
        "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
        "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]),
        "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
        "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]),
        "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
        "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
        "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
        "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]),
        "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
        "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]),
        "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
        "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]),
        "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
        "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]),
        "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
      : "l"(a), "l"(b), "r"(adds)
      : "memory");
}

}  // namespace

extern "C" __global__ __launch_bounds__(128) void wgmma_pipeline(float* d, const __half* a,
                                                                 const __half* b, int n, int k) {
  __shared__ alignas(1024) unsigned char stages[2 * kStage];
  const __half* rows = a + static_cast<long long>(blockIdx.y) * kRows * k;
  const __half* columns = b + static_cast<long long>(blockIdx.x) * kColumns * k;
  float acc[64];
  const auto fill = [&](int tile) {
    const unsigned to = shared_address(stages) + tile % 2 * kStage;
    copy_tile(to, rows + tile * kDepth, kRows, k);
    copy_tile(to + kRows * 128, columns + tile * kDepth, kColumns, k);
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  const int tiles = k / kDepth;
  fill(0);
  for (int tile = 0; tile < tiles; ++tile) {
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    const unsigned at = shared_address(stages) + tile % 2 * kStage;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int step = 0; step < kDepth / 16; ++step)
      multiply(acc, descriptor(at + step * 32), descriptor(at + kRows * 128 + step * 32),
               tile + step);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    __syncthreads();  // all have waited for the products of the stage that is filled next
    if (tile + 1 < tiles) fill(tile + 1);
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  const int row = blockIdx.y * kRows + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
  const int column = blockIdx.x * kColumns + threadIdx.x % 4 * 2;
#pragma unroll
  for (int r = 0; r < 64; ++r)
    d[static_cast<long long>(row + 8 * (r >> 1 & 1)) * n + column + 8 * (r >> 2) + (r & 1)] = acc[r];
}
