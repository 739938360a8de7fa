// SPDX-License-Identifier: Apache-2.0
// Matrix products by tcgen05.mma in the style of CUTLASS: a warp that copies tiles through tensor maps, a warp
// that multiplies, four warps that store; two stages. Blocks of 192 threads; A is M x K, B is N x K, both f16.
//
//   tma_product    a tile of 128 x 64 for each block
//   pair_product   a tile of 256 x 64 for each cluster of two: each block has its rows of A and half of B
//
// case tma_product sm_100a: --grid 2 --block 192 --shared 50176 --arg 0='tensormap(f16[256,192]:randn:1, box=[128,64], swizzle=128B)' --arg 1='tensormap(f16[64,192]:randn:2, box=[64,64], swizzle=128B)' --arg 2=f32[256,64] --arg 3=u32:192 --expect '$2 ~= $0 @ $1.T'
// case pair_product sm_100a: --grid 2 --cluster 2 --block 192 --shared 50176 --arg 0='tensormap(f16[256,192]:randn:3, box=[128,64], swizzle=128B)' --arg 1='tensormap(f16[64,192]:randn:4, box=[32,64], swizzle=128B)' --arg 2=f32[256,64] --arg 3=u32:192 --expect '$2 ~= $0 @ $1.T'

namespace {

struct alignas(64) TensorMap {
  char bytes[128];
};

constexpr unsigned kN = 64, kTileK = 64, kStages = 2;
constexpr unsigned kTileA = 128 * kTileK * 2, kTileB = kN * kTileK * 2;  // bytes

struct Barriers {
  unsigned long long full[kStages], empty[kStages], done;
  unsigned columns;
};

__device__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ void init(unsigned long long& barrier, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&barrier)), "r"(count));
}

__device__ void wait(unsigned long long& barrier, unsigned parity) {
  asm volatile(
      "{\n.reg .pred done;\nagain_%=:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra again_%=;\n}" ::"r"(shared_address(&barrier)),
      "r"(parity)
      : "memory");
}

template <int kBlocks>
__device__ void copy(const TensorMap& map, unsigned to, unsigned k, unsigned row, unsigned barrier) {
  if constexpr (kBlocks == 1)
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
        "l"(&map), "r"(k), "r"(row), "r"(barrier)
        : "memory");
  else
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.cta_group::2 [%0], [%1, {%2, %3}], "
        "[%4];" ::"r"(to),
        "l"(&map), "r"(k), "r"(row), "r"(barrier)
        : "memory");
}

// The same place in the first block of the cluster.
__device__ unsigned in_first_block(unsigned address) {
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(there) : "r"(address));
  return there;
}

// K-major, 128-byte swizzle: groups of 8 rows are 1024 bytes.
__device__ unsigned long long descriptor(unsigned at) {
  return (at >> 4 & 0x3fff) | 1ull << 16 | 64ull << 32 | 1ull << 46 | 2ull << 61;
}

template <int kBlocks>
__device__ void multiply(unsigned d, unsigned a, unsigned b, bool adds) {
  constexpr unsigned kInstruction = 1u << 4 | kN / 8 << 17 | kBlocks * 128 / 16 << 24;
  for (unsigned k = 0; k < kTileK * 2; k += 32) {
    if constexpr (kBlocks == 1)
      asm volatile(
          "{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\n"
          "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;\n}" ::"r"(d),
          "l"(descriptor(a + k)), "l"(descriptor(b + k)), "r"(kInstruction), "r"(adds || k > 0 ? 1 : 0)
          : "memory");
    else
      asm volatile(
          "{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\n"
          "tcgen05.mma.cta_group::2.kind::f16 [%0], %1, %2, %3, p;\n}" ::"r"(d),
          "l"(descriptor(a + k)), "l"(descriptor(b + k)), "r"(kInstruction), "r"(adds || k > 0 ? 1 : 0)
          : "memory");
  }
}

template <int kBlocks>
__device__ void commit(unsigned long long& barrier) {
  if constexpr (kBlocks == 1)
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(
                     shared_address(&barrier))
                 : "memory");
  else
    asm volatile(
        "{\n.reg .b16 both;\nmov.b16 both, 3;\ntcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster."
        "multicast::cluster.b64 [%0], both;\n}" ::"r"(shared_address(&barrier))
        : "memory");
}

__device__ unsigned rank_in_cluster() {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

template <int kBlocks>
__device__ void join() {
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  if constexpr (kBlocks == 1) {
    __syncthreads();
  } else {
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  }
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

// Tiles for both operands, as soon as their stage is free. Those of both blocks of a pair are announced to the
// first one.
template <int kBlocks>
__device__ void produce(const TensorMap& a, const TensorMap& b, unsigned tiles, unsigned steps, Barriers& bars) {
  constexpr unsigned kRowsB = kN / kBlocks;
  const unsigned rank = kBlocks == 1 ? 0 : rank_in_cluster();
  for (unsigned i = 0; i < steps; ++i) {
    const unsigned stage = i % kStages;
    const unsigned at = tiles + stage * (kTileA + kTileB);
    wait(bars.empty[stage], (i / kStages + 1) % 2);
    const unsigned full = shared_address(&bars.full[stage]);
    if (rank == 0)
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(full), "r"(kBlocks * kTileA + kTileB)
                   : "memory");
    const unsigned signalled = kBlocks == 1 ? full : in_first_block(full);
    copy<kBlocks>(a, at, i * kTileK, blockIdx.x * 128, signalled);
    copy<kBlocks>(b, at + kTileA, i * kTileK, rank * kRowsB, signalled);
  }
}

// The first block multiplies for both.
template <int kBlocks>
__device__ void consume(unsigned d, unsigned tiles, unsigned steps, Barriers& bars) {
  if (kBlocks == 2 && rank_in_cluster() != 0) return;
  for (unsigned i = 0; i < steps; ++i) {
    const unsigned stage = i % kStages;
    const unsigned at = tiles + stage * (kTileA + kTileB);
    wait(bars.full[stage], i / kStages % 2);
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    multiply<kBlocks>(d, at, at + kTileA, i > 0);
    commit<kBlocks>(bars.empty[stage]);
  }
  commit<kBlocks>(bars.done);
}

__device__ void store(unsigned d, float* c, Barriers& bars) {
  wait(bars.done, 0);
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  const unsigned lanes = d + (threadIdx.x / 32 * 32 << 16);
  float* row = c + (blockIdx.x * 128ull + threadIdx.x) * kN;
  for (unsigned col = 0; col < kN; col += 8) {
    float v[8];
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
                 : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3]), "=f"(v[4]), "=f"(v[5]), "=f"(v[6]), "=f"(v[7])
                 : "r"(lanes + col));
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
    for (unsigned i = 0; i < 8; ++i) row[col + i] = v[i];
  }
}

template <int kBlocks>
__device__ void product(const TensorMap& a, const TensorMap& b, float* c, unsigned k) {
  extern __shared__ char room[];
  __shared__ Barriers bars;
  const unsigned tiles = (shared_address(room) + 1023) / 1024 * 1024;
  const unsigned warp = threadIdx.x / 32;
  if (threadIdx.x == 0) {
    for (unsigned s = 0; s < kStages; ++s) {
      init(bars.full[s], 1);
      init(bars.empty[s], 1);
    }
    init(bars.done, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  if (warp == 5) {
    if constexpr (kBlocks == 1)
      asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 64;" ::"r"(shared_address(&bars.columns))
                   : "memory");
    else
      asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], 64;" ::"r"(shared_address(&bars.columns))
                   : "memory");
  }
  join<kBlocks>();
  const unsigned d = bars.columns;
  if (threadIdx.x == 128) produce<kBlocks>(a, b, tiles, k / kTileK, bars);
  if (threadIdx.x == 160) consume<kBlocks>(d, tiles, k / kTileK, bars);
  __syncwarp();
  if (warp < 4) store(d, c, bars);
  join<kBlocks>();
  if (warp == 5) {
    if constexpr (kBlocks == 1)
      asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 64;" ::"r"(d));
    else
      asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, 64;" ::"r"(d));
  }
}

}  // namespace

extern "C" __global__ __launch_bounds__(192) void tma_product(const __grid_constant__ TensorMap a,
                                                              const __grid_constant__ TensorMap b, float* c, unsigned k) {
  product<1>(a, b, c, k);
}

extern "C" __global__ __launch_bounds__(192) void pair_product(const __grid_constant__ TensorMap a,
                                                               const __grid_constant__ TensorMap b, float* c, unsigned k) {
  product<2>(a, b, c, k);
}
