// SPDX-License-Identifier: Apache-2.0
// targets: sm_75 sm_80 sm_89 sm_90 sm_90a sm_100 sm_100a sm_103a sm_120 sm_120a
// Operations between the lanes of a warp: votes, matches, reductions, the election of one lane,
// and the four shuffles with segments and with their predicate. What a target lacks is left out
// by the architecture macro.
//
//   warp_votes(out, in)       six results per thread, see the lines
//   warp_shuffles(out, in)    six results per thread, see the lines
//   warp_divergent(out, in)   out[i] = sum of in[j] over the lanes j of the same parity as i
//   warp_redux(out, in)       five integer reductions per thread, from sm_80
//   warp_elect(out)           out[w] = 1: one lane of each warp w adds 1 to it, from sm_90
//   warp_redux_f32(out, in)   smallest and largest float, for sm_100a and sm_103a
// One block of a multiple of 32 threads.
namespace {

constexpr unsigned kAll = 0xffffffffu;

}  // namespace

extern "C" __global__ void warp_votes(unsigned* out, const unsigned* in) {
  const unsigned value = in[threadIdx.x];
  unsigned* r = out + 6 * threadIdx.x;
  r[0] = __ballot_sync(kAll, value & 1);
  r[1] = __any_sync(kAll, value == 7) | __all_sync(kAll, value < 100) << 1;
  r[2] = __uni_sync(kAll, value & 2);
  r[3] = __match_any_sync(kAll, value % 4);
  int same;
  r[4] = __match_all_sync(kAll, static_cast<unsigned long long>(value / 64), &same);
  r[5] = same | __activemask() << 1;
}

extern "C" __global__ void warp_shuffles(int* out, const int* in) {
  const int value = in[threadIdx.x];
  int* r = out + 6 * threadIdx.x;
  r[0] = __shfl_sync(kAll, value, value & 31);
  r[1] = __shfl_up_sync(kAll, value, 3, 8);
  r[2] = __shfl_down_sync(kAll, value, 5, 16);
  r[3] = __shfl_xor_sync(kAll, value, 9);
  asm volatile(
      "{\n"
      "  .reg .pred valid;\n"
      "  shfl.sync.down.b32 %0|valid, %2, 4, 0x1f, 0xffffffff;\n"
      "  selp.s32 %1, 1, 0, valid;\n"
      "}"
      : "=r"(r[4]), "=r"(r[5])
      : "r"(value));
}

extern "C" __global__ void warp_divergent(int* out, const int* in) {
  int value = in[threadIdx.x];
  const unsigned lanes = threadIdx.x % 2 == 0 ? 0x55555555u : 0xaaaaaaaau;
  if (threadIdx.x % 2 == 0) {
    for (int mask = 2; mask < 32; mask *= 2) value += __shfl_xor_sync(lanes, value, mask);
    __syncwarp(lanes);
  } else {
    for (int mask = 16; mask > 1; mask /= 2) value += __shfl_xor_sync(lanes, value, mask);
    __syncwarp(lanes);
  }
  out[threadIdx.x] = value;
}

#if __CUDA_ARCH__ >= 800
extern "C" __global__ void warp_redux(unsigned* out, const unsigned* in) {
  const unsigned value = in[threadIdx.x];
  unsigned* r = out + 5 * threadIdx.x;
  r[0] = __reduce_add_sync(kAll, value);
  r[1] = static_cast<unsigned>(__reduce_min_sync(kAll, static_cast<int>(value)));
  r[2] = __reduce_max_sync(kAll, value);
  r[3] = __reduce_xor_sync(kAll, value);
  r[4] = __reduce_or_sync(kAll, value) ^ __reduce_and_sync(kAll, value);
}
#endif

#if __CUDA_ARCH__ >= 900
extern "C" __global__ void warp_elect(unsigned* out) {
  unsigned elected;
  asm volatile(
      "{\n"
      "  .reg .pred p;\n"
      "  elect.sync _|p, 0xffffffff;\n"
      "  selp.b32 %0, 1, 0, p;\n"
      "}"
      : "=r"(elected));
  if (elected != 0) atomicAdd(out + threadIdx.x / 32, 1u);
}
#endif

#if defined(__CUDA_ARCH_FEAT_SM100_ALL) || defined(__CUDA_ARCH_FEAT_SM103_ALL)
extern "C" __global__ void warp_redux_f32(float2* out, const float* in) {
  float2 r;
  asm volatile("redux.sync.min.f32 %0, %1, 0xffffffff;" : "=f"(r.x) : "f"(in[threadIdx.x]));
  asm volatile("redux.sync.max.abs.NaN.f32 %0, %1, %2;"
               : "=f"(r.y)
               : "f"(in[threadIdx.x]), "r"(kAll));
  out[threadIdx.x] = r;
}
#endif
