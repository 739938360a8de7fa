// SPDX-License-Identifier: Apache-2.0
// The kernel that performs the copies of cases.h, one block each: fills shared memory, issues the
// copy, finds out how many bytes the mbarrier was told of, and digests what lies in shared memory.
// Included by record.cu; what the virtual GPU runs is in virtual_run.cpp.
#include "cases.h"

namespace {

using namespace ww::tensor_cases;

#define C1 "{%2}"
#define C2 "{%2, %3}"
#define C3 "{%2, %3, %4}"
#define C4 "{%2, %3, %4, %5}"
#define C5 "{%2, %3, %4, %5, %6}"
#define COORDINATES "r"(o.at[0]), "r"(o.at[1]), "r"(o.at[2]), "r"(o.at[3]), "r"(o.at[4])

#define LOAD(n)                                                                                  \
  asm volatile("cp.async.bulk.tensor." #n "d.shared::cluster.global.tile.mbarrier::complete_tx::" \
               "bytes [%0], [%1, " C##n "], [%7];" ::"r"(at), "l"(map), COORDINATES, "r"(barrier) \
               : "memory")
#define STORE(n)                                                                             \
  asm volatile("cp.async.bulk.tensor." #n "d.global.shared::cta.tile.bulk_group [%1, " C##n \
               "], [%0];" ::"r"(at), "l"(map), COORDINATES                                   \
               : "memory")
#define REDUCE(n, op)                                                                            \
  asm volatile("cp.reduce.async.bulk.tensor." #n "d.global.shared::cta." #op                      \
               ".tile.bulk_group [%1, " C##n "], [%0];" ::"r"(at), "l"(map), COORDINATES : "memory")
#define COLUMNS(n, offsets)                                                                       \
  asm volatile("cp.async.bulk.tensor." #n "d.shared::cluster.global.im2col.mbarrier::complete_tx" \
               "::bytes [%0], [%1, " C##n "], [%7], " offsets ";" ::"r"(at), "l"(map),            \
               COORDINATES, "r"(barrier), "h"(w), "h"(h), "h"(d)                                  \
               : "memory")
#define COLUMNS_OUT(n)                                                                       \
  asm volatile("cp.async.bulk.tensor." #n "d.global.shared::cta.im2col_no_offs.bulk_group " \
               "[%1, " C##n "], [%0];" ::"r"(at), "l"(map), COORDINATES                      \
               : "memory")
#define BY_RANK(what, ...)                 \
  switch (o.rank) {                        \
    case 1: what(1, ##__VA_ARGS__); break; \
    case 2: what(2, ##__VA_ARGS__); break; \
    case 3: what(3, ##__VA_ARGS__); break; \
    case 4: what(4, ##__VA_ARGS__); break; \
    case 5: what(5, ##__VA_ARGS__); break; \
    default: break;                        \
  }

__device__ void load(const Order& o, const void* map, unsigned at, unsigned barrier) {
  if (o.kind != kIm2colLoad) {
    BY_RANK(LOAD);
    return;
  }
  const unsigned short w = o.offsets[0], h = o.offsets[1], d = o.offsets[2];
  switch (o.rank) {
    case 3: COLUMNS(3, "{%8}"); break;
    case 4: COLUMNS(4, "{%8, %9}"); break;
    default: COLUMNS(5, "{%8, %9, %10}"); break;
  }
}

__device__ void reduce(const Order& o, const void* map, unsigned at) {
  switch (o.reduction) {
    case kAdd: BY_RANK(REDUCE, add); break;
    case kMin: BY_RANK(REDUCE, min); break;
    case kMax: BY_RANK(REDUCE, max); break;
    case kInc: BY_RANK(REDUCE, inc); break;
    case kDec: BY_RANK(REDUCE, dec); break;
    case kAnd: BY_RANK(REDUCE, and); break;
    case kOr: BY_RANK(REDUCE, or); break;
    default: BY_RANK(REDUCE, xor); break;
  }
}

__device__ void store(const Order& o, const void* map, unsigned at) {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  if (o.kind == kStore || o.kind == kInterleavedStore) BY_RANK(STORE);
  if (o.kind == kReduce) reduce(o, map, at);
  if (o.kind == kIm2colStore) {
    switch (o.rank) {
      case 3: COLUMNS_OUT(3); break;
      case 4: COLUMNS_OUT(4); break;
      default: COLUMNS_OUT(5); break;
    }
  }
  asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}

// Whether the phase ends within about that many tests.
__device__ bool wait(unsigned barrier, unsigned parity, unsigned tests) {
  for (unsigned i = 0; i < tests; ++i) {
    unsigned done = 0;
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2, 1000; selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(barrier), "r"(parity)
        : "memory");
    if (done != 0) return true;
  }
  return false;
}

// How many bytes the copy counts, where `expected` were announced; -1 if that does not come out.
__device__ int count_bytes(unsigned barrier, int expected) {
  int bytes = expected;
  while (!wait(barrier, 0, bytes == expected ? 4000 : 20)) {
    if (bytes <= 0) return -1;
    asm volatile("mbarrier.complete_tx.relaxed.cluster.shared::cta.b64 [%0], 16;" ::"r"(barrier) : "memory");
    bytes -= 16;
  }
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(barrier) : "memory");
  while (!wait(barrier, 1, 20)) {
    if (bytes > 1 << 20) return -1;
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 16;" ::"r"(barrier) : "memory");
    bytes += 16;
  }
  return bytes;
}

}  // namespace

extern "C" __global__ void copy_boxes(const unsigned char* maps, const Order* orders,
                                      unsigned long long* digests, int* bytes,
                                      unsigned* dump, unsigned dump_words) {
  extern __shared__ __align__(1024) unsigned words[];
  __shared__ __align__(8) unsigned long long barrier_object;
  __shared__ unsigned long long sum;
  const Order& o = orders[blockIdx.x];
  const void* map = maps + blockIdx.x * 128ULL;
  const unsigned count = o.shared_bytes / 4;
  const unsigned barrier = static_cast<unsigned>(__cvta_generic_to_shared(&barrier_object));
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(words)) + o.shared;
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x)
    words[i] = word_of(~o.seed, o.is_indexed, i);
  if (threadIdx.x == 0) {
    sum = 0;
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier) : "memory");
  }
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    if (o.kind == kStore || o.kind == kReduce || o.kind == kIm2colStore ||
        o.kind == kInterleavedStore) {
      store(o, map, at);
    } else {
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(o.box_bytes) : "memory");
      load(o, map, at, barrier);
      bytes[blockIdx.x] = count_bytes(barrier, static_cast<int>(o.box_bytes));
    }
  }
  __syncthreads();
  unsigned long long mine = 0;
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) mine += digest_of(words[i], i);
  atomicAdd(&sum, mine);
  for (unsigned i = threadIdx.x; i < dump_words && i < count; i += blockDim.x)
    dump[blockIdx.x * static_cast<unsigned long long>(dump_words) + i] = words[i];
  __syncthreads();
  if (threadIdx.x == 0) digests[blockIdx.x] = sum;
}
