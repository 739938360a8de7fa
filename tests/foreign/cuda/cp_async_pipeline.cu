// SPDX-License-Identifier: Apache-2.0
// targets: sm_80 sm_89 sm_90 sm_90a sm_100 sm_100a sm_103a sm_120 sm_120a
// Two shared buffers filled by cp.async while the other one is used. Each tile of 1024 floats is
// written back reversed, so that every thread needs what others copied; a tile beyond the end of
// the input is filled up with zeros by the source size operand.
//
//   pipeline_reverse(out, in, n, tiles)   out[1024 * t + i] = in[1024 * t + 1023 - i], 0 where
//                                         that index is not below n; out has 1024 * tiles
//                                         elements
//   pipeline_mbarrier(out, in)            out[i] = in[i ^ 64] for i < 256, one block; the copies
//                                         arrive on a barrier object and each thread waits for it
// Blocks of 256 threads; pipeline_reverse takes any number of them.
namespace {

constexpr int kTile = 1024;

__device__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// 16 bytes to `to`, the first `bytes` of them from `from`, the others zero.
__device__ void copy_async_16(float* to, const float* from, int bytes) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(shared_address(to)),
               "l"(__cvta_generic_to_global(from)), "r"(bytes)
               : "memory");
}

__device__ void fetch_tile(float (&buffer)[kTile], const float* in, int n, int tile) {
  const int first = tile * kTile + 4 * static_cast<int>(threadIdx.x);
  const int elems = min(4, max(0, n - first));
  copy_async_16(&buffer[4 * threadIdx.x], elems > 0 ? in + first : in, 4 * elems);
}

}  // namespace

extern "C" __global__ __launch_bounds__(256) void pipeline_reverse(float* out, const float* in,
                                                                   int n, int tiles) {
  __shared__ __align__(16) float buffer[2][kTile];
  const int step = static_cast<int>(gridDim.x);
  int stage = 0;
  int tile = static_cast<int>(blockIdx.x);
  if (tile < tiles) fetch_tile(buffer[0], in, n, tile);
  asm volatile("cp.async.commit_group;");
  for (; tile < tiles; tile += step, stage ^= 1) {
    // An empty group at the end keeps the count right.
    if (tile + step < tiles) fetch_tile(buffer[stage ^ 1], in, n, tile + step);
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < kTile; i += 256)
      out[tile * kTile + i] = buffer[stage][kTile - 1 - i];
    __syncthreads();
  }
  asm volatile("cp.async.wait_all;");
}

extern "C" __global__ __launch_bounds__(256) void pipeline_mbarrier(float* out, const float* in) {
  __shared__ float tile[256];
  __shared__ __align__(8) unsigned long long barrier;
  const unsigned address = shared_address(&barrier);
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 256;" ::"r"(address));
  __syncthreads();
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(&tile[threadIdx.x])),
               "l"(__cvta_generic_to_global(in + threadIdx.x))
               : "memory");
  asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(address) : "memory");
  asm volatile(
      "{\n"
      "  .reg .pred done;\n"
      "  .reg .b64 state;\n"
      "  mbarrier.arrive.shared.b64 state, [%0];\n"
      "wait_%=:\n"
      "  mbarrier.test_wait.shared.b64 done, [%0], state;\n"
      "  @!done bra wait_%=;\n"
      "}" ::"r"(address)
      : "memory");
  out[threadIdx.x] = tile[threadIdx.x ^ 64];
}
