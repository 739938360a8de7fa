// SPDX-License-Identifier: Apache-2.0
// targets: sm_75 sm_80 sm_89 sm_90 sm_90a sm_100 sm_100a sm_103a sm_120 sm_120a
// Half and bfloat16 arithmetic, scalar and in pairs: fused multiply-add, comparison, minima,
// conversion to and from float and integers, and atomic addition. Before sm_80 (sm_90) the
// headers compute bfloat16 through float, so that the same source gives other instructions.
//
//   half_pairs(out, x, y)    six results of f16x2 per thread, see the lines
//   half_scalars(out, x)     four conversions per thread, see the lines
//   bf16_pairs(out, x, y)    four results of bf16x2 per thread, see the lines
//   half_sum(total, x, n)    *total += x[0] + ... + x[n-1], in pairs, by atomics
// Any one-dimensional launch.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void half_pairs(__half2* out, const __half2* x, const __half2* y) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const __half2 a = x[i];
  const __half2 b = y[i];
  __half2* r = out + 6 * i;
  r[0] = __hfma2(a, b, __float2half2_rn(0.5f));
  r[1] = __hadd2_sat(a, b);
  r[2] = __hmul2(__hneg2(a), __lowhigh2highlow(b));
  r[3] = __hgt2(a, b);  // 1 where greater, 0 elsewhere
  r[4] = __hmax2(a, __habs2(b));
  r[5] = __hbge2(a, b) ? a : h2rint(b);
}

extern "C" __global__ void half_scalars(float* out, const __half* x) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const __half a = x[i];
  out[4 * i] = __half2float(hexp2(a)) + __half2float(hsqrt(__habs(a)));
  out[4 * i + 1] = __half2float(__int2half_rn(__half2int_rz(a)));
  out[4 * i + 2] = __half2float(__hdiv(a, __float2half(3.0f)));
  out[4 * i + 3] = __hisnan(a) ? -1.0f : static_cast<float>(__half_as_short(a));
}

extern "C" __global__ void bf16_pairs(__nv_bfloat162* out, const __nv_bfloat162* x,
                                      const __nv_bfloat162* y) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const __nv_bfloat162 a = x[i];
  const __nv_bfloat162 b = y[i];
  __nv_bfloat162* r = out + 4 * i;
#if __CUDA_ARCH__ >= 800
  r[0] = __hfma2(a, b, a);
#else
  r[0] = __hmul2(a, b);
#endif
  r[1] = __hadd2(a, __hneg2(b));
  r[2] = __hmin2(a, b);
  r[3] = __floats2bfloat162_rn(__low2float(a) * 0.25f, __high2float(b) + 1.0f);
}

extern "C" __global__ void half_sum(__half2* total, const __half2* x, unsigned n) {
  __half2 sum = __float2half2_rn(0.0f);
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum = __hadd2(sum, x[i]);
  atomicAdd(total, sum);
}
