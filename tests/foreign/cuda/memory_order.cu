// SPDX-License-Identifier: Apache-2.0
// targets: sm_75 sm_80 sm_89 sm_90 sm_90a sm_100 sm_100a sm_103a sm_120 sm_120a
// The memory model's loads, stores, fences and atomics, in each order and scope a target has,
// cache operators, eviction hints and prefetches; and a message from one thread to another
// through flags.
//
//   memory_orders(out, cell)    out[0..4) = values of cell[0..2) seen in turn, see the lines; one
//                               thread, cell is {5, 0} before
//   memory_hints(out, in)       out[i] = in[i] + in[i] by loads and stores with hints
//   memory_message(out, flag)   out[0] = 42, handed from warp 0 to warp 1; one block of 64
//                               threads, *flag is 0 before
//   memory_spaces(out, in)      out[i] = which space a generic pointer is in: 1 global, 2 shared,
//                               3 local, by i % 3
extern "C" __global__ void memory_orders(unsigned* out, unsigned* cell) {
  unsigned a, b, c, d;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(a) : "l"(cell) : "memory");  // 5
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(cell + 1), "r"(a + 1) : "memory");
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(b) : "l"(cell + 1) : "memory");  // 6
  asm volatile("fence.acq_rel.gpu; fence.sc.sys; membar.cta;" ::: "memory");
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 3;"
               : "=r"(c)
               : "l"(cell)
               : "memory");  // 5
  asm volatile("red.relaxed.cta.global.max.u32 [%0], 20;" ::"l"(cell) : "memory");
  asm volatile("atom.relaxed.sys.global.cas.b32 %0, [%1], 20, 9;"
               : "=r"(d)
               : "l"(cell)
               : "memory");  // 20
  out[0] = a;
  out[1] = b;
  out[2] = c;
  out[3] = d;
}

extern "C" __global__ void memory_hints(unsigned* out, const unsigned* in) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned a, b;
  asm volatile("prefetch.global.L2 [%0];" ::"l"(in + i));
  asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(a) : "l"(in + i));
#if __CUDA_ARCH__ >= 800
  unsigned long long policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 0.5;" : "=l"(policy));
  asm volatile("ld.global.L1::evict_first.L2::cache_hint.L2::128B.u32 %0, [%1], %2;"
               : "=r"(b)
               : "l"(in + i), "l"(policy));
#else
  asm volatile("ld.global.L1::evict_first.u32 %0, [%1];" : "=r"(b) : "l"(in + i));
#endif
  __stcs(out + i, a + b);
}

extern "C" __global__ void memory_message(volatile int* out, int* flag) {
  __shared__ int message;
  if (threadIdx.x == 0) {
    message = 42;
    __threadfence_block();
    atomicExch(flag, 1);
  } else if (threadIdx.x == 32) {
    int seen;
    do {
      asm volatile("ld.acquire.cta.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
      if (seen == 0) __nanosleep(20);
    } while (seen == 0);
    out[0] = message;
  }
}

extern "C" __global__ void memory_spaces(int* out, const int* in) {
  __shared__ int shared_cell[1];
  int local_cell[2] = {in[0], in[1]};
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const int* pointer = i % 3 == 0 ? in : i % 3 == 1 ? shared_cell : &local_cell[i & 1];
  out[i] = __isGlobal(pointer) + 2 * __isShared(pointer) + 3 * __isLocal(pointer);
}
