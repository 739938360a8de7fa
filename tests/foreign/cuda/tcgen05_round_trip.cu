// SPDX-License-Identifier: Apache-2.0
// targets: sm_100a sm_103a
// Tensor memory there and back: allocation by one warp, stores and loads in two shapes, packing
// of 16-bit values, waits, and the release of the columns.
//
//   tmem_round_trip(out, in)   out[i] = in[i] for 128 x 8 words; lane t of tensor memory holds
//                              row t
//   tmem_fragment(out, in)     `in` is 128 x 4 words, stored as above; `out` is what 16x128b.x1
//                              gives: for thread t, half h and register r, out[4t + 2h + r] is
//                              in[32w + 16h + g + 8r][q], where w = t / 32, g = t % 32 / 4 and
//                              q = t % 4
//   tmem_pack(out, in)         in and out are 128 x 2 words; each half of a word is stored in a
//                              column of its own and packed again by the load
// One block of 128 threads.
namespace {

constexpr unsigned kColumns = 32;

// The address of the first column, in every thread.
__device__ unsigned allocate() {
  __shared__ unsigned base;
  if (threadIdx.x < 32) {
    const unsigned place = static_cast<unsigned>(__cvta_generic_to_shared(&base));
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(place),
                 "r"(kColumns)
                 : "memory");
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
  }
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  return base;
}

__device__ void release(unsigned base) {
  __syncthreads();
  if (threadIdx.x < 32)
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(base),
                 "r"(kColumns));
}

// A warp reaches the 32 lanes that belong to it.
__device__ unsigned own_lanes(unsigned base) { return base + (threadIdx.x / 32 * 32 << 16); }

__device__ void wait_stores() { asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory"); }
__device__ void wait_loads() { asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory"); }

}  // namespace

extern "C" __global__ void tmem_round_trip(unsigned* out, const unsigned* in) {
  const unsigned base = allocate();
  unsigned v[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) v[i] = in[threadIdx.x * 8 + i];
  asm volatile(
      "tcgen05.st.sync.aligned.32x32b.x8.b32 [%0 + 4], {%1, %2, %3, %4, %5, %6, %7, %8};" ::"r"(
          own_lanes(base)),
      "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]), "r"(v[4]), "r"(v[5]), "r"(v[6]), "r"(v[7])
      : "memory");
  wait_stores();
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8 + 4];"
               : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]), "=r"(v[4]), "=r"(v[5]), "=r"(v[6]),
                 "=r"(v[7])
               : "r"(own_lanes(base)));
  wait_loads();
#pragma unroll
  for (int i = 0; i < 8; ++i) out[threadIdx.x * 8 + i] = v[i];
  release(base);
}

extern "C" __global__ void tmem_fragment(unsigned* out, const uint4* in) {
  const unsigned base = allocate();
  const uint4 v = in[threadIdx.x];
  asm volatile(
      "tcgen05.st.sync.aligned.32x32b.x4.b32 [%0], {%1, %2, %3, %4};" ::"r"(own_lanes(base)),
      "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
      : "memory");
  wait_stores();
  for (unsigned half = 0; half < 2; ++half) {
    unsigned r0, r1;
    asm volatile("tcgen05.ld.sync.aligned.16x128b.x1.b32 {%0, %1}, [%2];"
                 : "=r"(r0), "=r"(r1)
                 : "r"(own_lanes(base) + (half * 16 << 16)));
    wait_loads();
    out[(threadIdx.x * 2 + half) * 2] = r0;
    out[(threadIdx.x * 2 + half) * 2 + 1] = r1;
  }
  release(base);
}

extern "C" __global__ void tmem_pack(uint2* out, const uint2* in) {
  const unsigned base = allocate();
  uint2 v = in[threadIdx.x];
  asm volatile(
      "tcgen05.st.sync.aligned.32x32b.x2.unpack::16b.b32 [%0], {%1, %2};" ::"r"(own_lanes(base)),
      "r"(v.x), "r"(v.y)
      : "memory");
  wait_stores();
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x2.pack::16b.b32 {%0, %1}, [%2];"
               : "=r"(v.x), "=r"(v.y)
               : "r"(own_lanes(base)));
  wait_loads();
  out[threadIdx.x] = v;
  release(base);
}
