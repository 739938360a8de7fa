// SPDX-License-Identifier: Apache-2.0
// targets: sm_90 sm_90a sm_100 sm_100a sm_103a sm_120 sm_120a
// Bulk copies of contiguous bytes: global to shared, counted by an mbarrier over several phases,
// and shared to global in bulk groups; a bulk reduction; and named barriers between two halves of
// a block.
//
//   bulk_negate(out, in, chunks)   out[i] = -in[i] for 256 * chunks integers; one block
//   bulk_accumulate(sum, in)       sum[i] += in[256 * b + i] for each block b, 256 integers
//   bulk_handover(out, in)         out[i] = 2 * in[255 - i] for i < 256, one block; 128 threads
//                                  load, 128 threads store
// Blocks of 256 threads.
namespace {

constexpr int kChunk = 256;
constexpr unsigned kBytes = kChunk * sizeof(int);

__device__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__device__ bool phase_done(unsigned barrier, unsigned parity) {
  unsigned done;
  asm volatile(
      "{\n"
      "  .reg .pred p;\n"
      "  mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2, 0x989680;\n"
      "  selp.b32 %0, 1, 0, p;\n"
      "}"
      : "=r"(done)
      : "r"(barrier), "r"(parity)
      : "memory");
  return done != 0;
}

__device__ void load_chunk(unsigned to, const int* from, unsigned barrier) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(barrier),
               "r"(kBytes));
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
      " [%0], [%1], %2, [%3];" ::"r"(to),
      "l"(__cvta_generic_to_global(from)), "r"(kBytes), "r"(barrier)
      : "memory");
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

}  // namespace

extern "C" __global__ void bulk_negate(int* out, const int* in, int chunks) {
  __shared__ alignas(16) int tile[kChunk];
  __shared__ alignas(8) unsigned long long barrier;
  const unsigned barrier_address = shared_address(&barrier);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier_address), "r"(1));
    asm volatile("fence.proxy.async.shared::cta;");
  }
  __syncthreads();
  for (int chunk = 0; chunk < chunks; ++chunk) {
    if (threadIdx.x == 0) load_chunk(shared_address(tile), in + chunk * kChunk, barrier_address);
    while (!phase_done(barrier_address, chunk % 2)) {
    }
    tile[threadIdx.x] = -tile[threadIdx.x];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                       __cvta_generic_to_global(out + chunk * kChunk)),
                   "r"(shared_address(tile)), "r"(kBytes)
                   : "memory");
      asm volatile("cp.async.bulk.commit_group;");
      asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(barrier_address));
}

extern "C" __global__ void bulk_accumulate(int* sum, const int* in) {
  __shared__ alignas(16) int tile[kChunk];
  tile[threadIdx.x] = in[blockIdx.x * kChunk + threadIdx.x];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x != 0) return;
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], %2;" ::"l"(
                   __cvta_generic_to_global(sum)),
               "r"(shared_address(tile)), "r"(kBytes)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" ::: "memory");
}

extern "C" __global__ void bulk_handover(int* out, const int* in) {
  __shared__ int tile[kChunk];
  const int t = threadIdx.x;
  if (t < 128) {
    for (int i = t; i < kChunk; i += 128) tile[i] = 2 * in[i];
    asm volatile("barrier.cta.arrive 1, 256;" ::: "memory");
  } else {
    asm volatile("barrier.cta.sync 1, 256;" ::: "memory");
    for (int i = t - 128; i < kChunk; i += 128) out[i] = tile[kChunk - 1 - i];
  }
}
