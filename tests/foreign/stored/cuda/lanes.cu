// SPDX-License-Identifier: Apache-2.0
// Intrinsics of warps, packed bytes and halves.
// case lane_moves sm_75 sm_80 sm_110a: --grid 1 --block 32 --arg 0=s32[32]:arange --arg 1=s32[4,32] --expect '$1[0, 1:] == $0[:31]' --expect '$1[1, :31] == $0[1:]' --expect '$1[2] == 31 - $0' --expect '$1[3] == 496'
// case lane_votes sm_75: --grid 1 --block 64 --arg 0=u32[2,4] --expect '$0[0, 0] == 1431655765' --expect '$0[0, 1] == 0' --expect '$0[0, 2] == 1' --expect '$0[1, 3] == 4'
// case reduce_kinds sm_80 sm_90: --grid 1 --block 32 --arg 0=s32[32]:arange --arg 1=s32[5] --expect '$1[0] == 496' --expect '$1[1] == 0' --expect '$1[2] == 31' --expect '$1[3] == 0' --expect '$1[4] == 31'
// case byte_dots sm_75 sm_90: --grid 1 --block 32 --arg 0=s8[32,4]:randint:-128,127,1 --arg 1=s8[32,4]:randint:-128,127,2 --arg 2=s32[32]:arange --arg 3=s32[32] --expect '$3 == sum(i32($0) * i32($1), axis=1) + $2'
// case half_dots sm_75: --grid 1 --block 32 --arg 0=s16[32,2]:randint:-3000,3000,1 --arg 1=s8[32,4]:randint:-128,127,2 --arg 2=s32[2,32] --expect '$2[0] == sum(i32($0) * i32($1[:, :2]), axis=1)' --expect '$2[1] == sum(i32($0) * i32($1[:, 2:]), axis=1)'
// case byte_distances sm_75 sm_90: --grid 1 --block 32 --arg 0=u8[32,4]:randint:0,255,1 --arg 1=u8[32,4]:randint:0,255,2 --arg 2=u8[32,4] --arg 3=u32[32] --expect '$2 == abs(i32($0) - i32($1))' --expect '$3 == sum(abs(i32($0) - i32($1)), axis=1)'
// case byte_extremes sm_75 sm_90: --grid 1 --block 32 --arg 0=u8[32,4]:randint:0,255,1 --arg 1=u8[32,4]:randint:0,255,2 --arg 2=u8[2,32,4] --expect '$2[0] == max($0, $1)' --expect '$2[1] == min($0, $1)'
#include <cstdint>
extern "C" __global__ void lane_moves(const int* in, int* out) {
  const int v = in[threadIdx.x];
  out[threadIdx.x] = __shfl_up_sync(~0u, v, 1);
  out[32 + threadIdx.x] = __shfl_down_sync(~0u, v, 1);
  out[64 + threadIdx.x] = __shfl_xor_sync(~0u, v, 31);
  int sum = v;
  for (int by = 16; by > 0; by /= 2) sum += __shfl_xor_sync(~0u, sum, by);
  out[96 + threadIdx.x] = sum;
}
extern "C" __global__ void lane_votes(unsigned* out) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const unsigned even = __ballot_sync(~0u, lane % 2 == 0);
  const int all = __all_sync(~0u, lane % 2 == 0), any = __any_sync(~0u, lane == 7);
  const unsigned same = __match_any_sync(~0u, lane / 4);
  if (lane == 3) {
    out[4 * warp] = even;
    out[4 * warp + 1] = static_cast<unsigned>(all);
    out[4 * warp + 2] = static_cast<unsigned>(any);
    out[4 * warp + 3] = static_cast<unsigned>(__popc(same));
  }
}
#if __CUDA_ARCH__ >= 800
extern "C" __global__ void reduce_kinds(const int* in, int* out) {
  const int v = in[threadIdx.x];
  const int sum = __reduce_add_sync(~0u, v), least = __reduce_min_sync(~0u, v), most = __reduce_max_sync(~0u, v);
  const unsigned both = __reduce_and_sync(~0u, static_cast<unsigned>(v)), either = __reduce_or_sync(~0u, static_cast<unsigned>(v));
  if (threadIdx.x == 0) {
    out[0] = sum;
    out[1] = least;
    out[2] = most;
    out[3] = static_cast<int>(both);
    out[4] = static_cast<int>(either);
  }
}
#endif
extern "C" __global__ void byte_dots(const int* a, const int* b, const int* c, int* out) {
  out[threadIdx.x] = __dp4a(a[threadIdx.x], b[threadIdx.x], c[threadIdx.x]);
}
extern "C" __global__ void half_dots(const int* a, const int* b, int* out) {
  out[threadIdx.x] = __dp2a_lo(a[threadIdx.x], b[threadIdx.x], 0);
  out[32 + threadIdx.x] = __dp2a_hi(a[threadIdx.x], b[threadIdx.x], 0);
}
extern "C" __global__ void byte_distances(const unsigned* a, const unsigned* b, unsigned* each, unsigned* sum) {
  each[threadIdx.x] = __vabsdiffu4(a[threadIdx.x], b[threadIdx.x]);
  sum[threadIdx.x] = __vsadu4(a[threadIdx.x], b[threadIdx.x]);
}
extern "C" __global__ void byte_extremes(const unsigned* a, const unsigned* b, unsigned* out) {
  out[threadIdx.x] = __vmaxu4(a[threadIdx.x], b[threadIdx.x]);
  out[32 + threadIdx.x] = __vminu4(a[threadIdx.x], b[threadIdx.x]);
}
