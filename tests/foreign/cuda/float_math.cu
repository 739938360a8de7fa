// SPDX-License-Identifier: Apache-2.0
// targets: sm_75 sm_80 sm_89 sm_90 sm_90a sm_100 sm_100a sm_103a sm_120 sm_120a
// Single precision: rounding modes, flushing to zero, the approximations of the special function
// unit, library functions with a slow path (sine reduces large arguments with a table and a local
// array), and conversions.
//
//   float_rounding(out, x, y)   eight results per thread, see the lines
//   float_approx(out, x)        eight approximations per thread, see the lines
//   float_library(out, x)       sine, cosine, power and error function of x[i], four per thread
//   float_convert(out, x)       eight integer conversions per thread, see the lines
// Any one-dimensional launch.
extern "C" __global__ void float_rounding(float* out, const float* x, const float* y) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const float a = x[i];
  const float b = y[i];
  float* r = out + 8 * i;
  r[0] = __fadd_rn(a, b);
  r[1] = __fsub_rz(a, b);
  r[2] = __fmul_ru(a, b);
  r[3] = __fmaf_rd(a, b, -1.0f);
  r[4] = a / b;
  r[5] = __fsqrt_rz(fabsf(a));
  r[6] = fmaxf(a, b) - fminf(a, b);
  asm("add.ftz.f32 %0, %1, %2;" : "=f"(r[7]) : "f"(a), "f"(b));
}

extern "C" __global__ void float_approx(float* out, const float* x) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const float a = x[i];
  float* r = out + 8 * i;
  r[0] = __sinf(a);
  r[1] = __cosf(a);
  r[2] = __expf(a);
  r[3] = __log2f(fabsf(a));
  r[4] = rsqrtf(fabsf(a));
  r[5] = __fdividef(a, 3.0f);
  asm("rcp.approx.f32 %0, %1;" : "=f"(r[6]) : "f"(a));
  asm("tanh.approx.f32 %0, %1;" : "=f"(r[7]) : "f"(a));
}

extern "C" __global__ void float_library(float4* out, const float* x) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const float a = x[i];
  out[i] = make_float4(sinf(a), cosf(a), powf(fabsf(a), 1.25f), erff(a));
}

extern "C" __global__ void float_convert(int* out, const float* x) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const float a = x[i];
  int* r = out + 8 * i;
  r[0] = __float2int_rn(a);
  r[1] = static_cast<int>(__float2uint_ru(a));
  r[2] = static_cast<int>(__float2ll_rz(a) >> 3);
  r[3] = static_cast<signed char>(a);
  r[4] = static_cast<unsigned short>(a);
  r[5] = __float_as_int(__int2float_rd(__float_as_int(a)));
  r[6] = __float_as_int(__saturatef(a));
  r[7] = signbit(a) + 2 * isnan(a) + 4 * isinf(a);
}
