// SPDX-License-Identifier: Apache-2.0
// targets: sm_89 sm_90 sm_90a sm_100 sm_100a sm_103a sm_120 sm_120a
// Conversions to and from 8-bit floating formats, in pairs; on the targets that have them also
// the 6-bit and 4-bit formats and the power-of-two scale, whose results live in 8-bit registers.
//
//   fp8_encode(out, x)       out[i] = e4m3 pair | e5m2 pair << 16 of x[2i], x[2i + 1] (first one
//                            low)
//   fp8_decode(out, in)      out[i] = e4m3 pair in the low half of in[i], as two floats
//   fp8_quantize(out, x, n)  out[i] = x[i] rounded to e5m2 and back
//   fp4_encode(out, x)       out[i] = e2m1 pair | e2m3 pair << 8 | ue8m0 pair << 16 of x[2i],
//                            x[2i+1], modulo 2^32; only for sm_100a, sm_103a and sm_120a
// Any one-dimensional launch.
#include <cuda_fp8.h>

extern "C" __global__ void fp8_encode(unsigned* out, const float2* x) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned e4m3 = __nv_cvt_float2_to_fp8x2(x[i], __NV_SATFINITE, __NV_E4M3);
  const unsigned e5m2 = __nv_cvt_float2_to_fp8x2(x[i], __NV_SATFINITE, __NV_E5M2);
  out[i] = e4m3 | e5m2 << 16;
}

extern "C" __global__ void fp8_decode(float2* out, const unsigned* in) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const __half2_raw pair =
      __nv_cvt_fp8x2_to_halfraw2(static_cast<__nv_fp8x2_storage_t>(in[i]), __NV_E4M3);
  out[i] = __half22float2(__half2(pair));
}

extern "C" __global__ void fp8_quantize(float* out, const float* x, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    out[i] = static_cast<float>(__nv_fp8_e5m2(x[i]));
}

#if defined(__CUDA_ARCH_FEAT_SM100_ALL) || defined(__CUDA_ARCH_FEAT_SM103_ALL) || \
    defined(__CUDA_ARCH_FEAT_SM120_ALL)
extern "C" __global__ void fp4_encode(unsigned* out, const float2* x) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned short e2m1, e2m3, ue8m0;
  asm("{\n"
      "  .reg .b8 pair, zero;\n"
      "  .reg .b16 cleared;\n"
      "  mov.b16 cleared, 0;\n"
      "  mov.b16 {zero, _}, cleared;\n"
      "  cvt.rn.satfinite.e2m1x2.f32 pair, %1, %2;\n"
      "  mov.b16 %0, {pair, zero};\n"
      "}"
      : "=h"(e2m1)
      : "f"(x[i].y), "f"(x[i].x));
  asm("cvt.rn.satfinite.e2m3x2.f32 %0, %1, %2;" : "=h"(e2m3) : "f"(x[i].y), "f"(x[i].x));
  asm("cvt.rz.satfinite.ue8m0x2.f32 %0, %1, %2;" : "=h"(ue8m0) : "f"(x[i].y), "f"(x[i].x));
  out[i] = e2m1 + (static_cast<unsigned>(e2m3) << 8) + (static_cast<unsigned>(ue8m0) << 16);
}
#endif
