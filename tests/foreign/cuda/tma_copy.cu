// SPDX-License-Identifier: Apache-2.0
// targets: sm_90 sm_90a sm_100 sm_100a sm_103a sm_120 sm_120a
// A two-dimensional tensor copy in and out of shared memory through tensor maps that are kernel
// parameters, with an mbarrier that counts the bytes of the load.
//
//   tma_scale_2d(in_map, out_map, factor)   out = factor * in, element by element; both maps
//                                           describe float matrices of one size, with boxes
//                                           of 32 x 32 and no swizzle
//   tma_prefetch_reduce(map, value)         adds `value` to each element of the first box
// Blocks of 256 threads; tma_scale_2d: a grid of (cols / 32, rows / 32) blocks, both rounded up.
struct alignas(64) TensorMap {
  unsigned long long words[16];
};

namespace {

constexpr int kBox = 32;
constexpr unsigned kBoxBytes = kBox * kBox * sizeof(float);

__device__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__device__ void wait_for_phase(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n"
      "  .reg .pred done;\n"
      "again_%=:\n"
      "  mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "  @done bra.uni ready_%=;\n"
      "  bra.uni again_%=;\n"
      "ready_%=:\n"
      "}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

}  // namespace

extern "C" __global__ void tma_scale_2d(const __grid_constant__ TensorMap in_map,
                                        const __grid_constant__ TensorMap out_map, float factor) {
  __shared__ alignas(128) float tile[kBox * kBox];
  __shared__ alignas(8) unsigned long long barrier;
  const int x = static_cast<int>(blockIdx.x) * kBox;
  const int y = static_cast<int>(blockIdx.y) * kBox;

  if (threadIdx.x == 0) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(&in_map));
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&barrier)));
    asm volatile("fence.mbarrier_init.release.cluster;");
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)),
        "r"(kBoxBytes));
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(tile)),
        "l"(&in_map), "r"(x), "r"(y), "r"(shared_address(&barrier))
        : "memory");
  }
  __syncthreads();
  wait_for_phase(shared_address(&barrier), 0);

  for (int i = threadIdx.x; i < kBox * kBox; i += blockDim.x) tile[i] *= factor;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group"
        " [%0, {%1, %2}], [%3];" ::"l"(&out_map),
        "r"(x), "r"(y), "r"(shared_address(tile))
        : "memory");
    asm volatile("cp.async.bulk.commit_group;");
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
  }
}

extern "C" __global__ void tma_prefetch_reduce(const __grid_constant__ TensorMap map, float value) {
  __shared__ alignas(128) float tile[kBox * kBox];
  for (int i = threadIdx.x; i < kBox * kBox; i += blockDim.x) tile[i] = value;
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  if (threadIdx.x != 0) return;
  asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %1}];" ::"l"(&map),
               "r"(0));
  asm volatile(
      "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group"
      " [%0, {%1, %1}], [%2];" ::"l"(&map),
      "r"(0), "r"(shared_address(tile))
      : "memory");
  asm volatile("cp.async.bulk.commit_group;");
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
