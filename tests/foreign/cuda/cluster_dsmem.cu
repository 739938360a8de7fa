// SPDX-License-Identifier: Apache-2.0
// targets: sm_90 sm_90a sm_100 sm_100a sm_103a sm_120 sm_120a
// Clusters of blocks that read and write each other's shared memory: address mapping, cluster
// barriers, remote loads, stores, atomics and arrivals, and the special registers of a cluster.
//
//   cluster_exchange(out, in)     out[256 * b + i] = in[256 * (b ^ 1) + i]: blocks of 256 threads
//                                 in clusters of two swap their parts; any even grid
//   cluster_sum(out, in)          out[c] = sum of the 4 * 128 elements of cluster c; blocks of
//                                 128 threads in clusters of four, summed in the first block's
//                                 memory
//   cluster_signal(out)           out[0] = 1 + 2 + ... + 64; the second block stores into the
//                                 first one, which waits on its mbarrier; a grid of two blocks of
//                                 64 threads
namespace {

__device__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__device__ unsigned map_to_rank(unsigned address, unsigned rank) {
  unsigned mapped;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(rank));
  return mapped;
}

__device__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

__device__ unsigned cluster_rank() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

}  // namespace

extern "C" __global__ __cluster_dims__(2, 1, 1) void cluster_exchange(float* out, const float* in) {
  __shared__ float part[256];
  const unsigned i = blockIdx.x * 256 + threadIdx.x;
  part[threadIdx.x] = in[i];
  cluster_sync();
  const unsigned peer = map_to_rank(shared_address(&part[threadIdx.x]), cluster_rank() ^ 1);
  float value;
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(peer) : "memory");
  out[i] = value;
  cluster_sync();  // no block may leave while its memory is read
}

extern "C" __global__ __cluster_dims__(4, 1, 1) void cluster_sum(int* out, const int* in) {
  __shared__ int total;
  if (threadIdx.x == 0) total = 0;
  cluster_sync();
  const unsigned place = map_to_rank(shared_address(&total), 0);
  const int value = in[blockIdx.x * 128 + threadIdx.x];
  asm volatile("red.relaxed.cluster.shared::cluster.add.s32 [%0], %1;" ::"r"(place), "r"(value)
               : "memory");
  cluster_sync();
  unsigned cluster;
  asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(cluster));
  if (cluster_rank() == 0 && threadIdx.x == 0) out[cluster] = total;
}

extern "C" __global__ __cluster_dims__(2, 1, 1) void cluster_signal(int* out) {
  __shared__ int slot[64];
  __shared__ alignas(8) unsigned long long barrier;
  const unsigned rank = cluster_rank();
  const unsigned own_barrier = shared_address(&barrier);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 64;" ::"r"(own_barrier));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  cluster_sync();
  if (rank == 1) {
    const unsigned place = map_to_rank(shared_address(&slot[threadIdx.x]), 0);
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(place), "r"(threadIdx.x + 1) : "memory");
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(
                     map_to_rank(own_barrier, 0))
                 : "memory");
  } else if (threadIdx.x == 0) {
    unsigned done = 0;
    while (done == 0) {
      asm volatile(
          "{ .reg .pred p;\n"
          "  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0;\n"
          "  selp.u32 %0, 1, 0, p; }"
          : "=r"(done)
          : "r"(own_barrier)
          : "memory");
    }
    int sum = 0;
    for (int i = 0; i < 64; ++i) sum += slot[i];
    *out = sum;
  }
  cluster_sync();
}
