// SPDX-License-Identifier: Apache-2.0
// targets: sm_75 sm_80 sm_89 sm_90 sm_90a sm_100 sm_100a sm_103a sm_120 sm_120a
// Arithmetic in double precision: the four operations with chosen rounding, fused multiply-add,
// roots, comparison with NaN, conversions to and from all integer widths, and two library
// functions.
//
//   double_basic(out, x, y)     eight results per thread, see the lines
//   double_convert(out, x)      eight conversions per thread, see the lines
//   double_library(out, x)      out[i] = exp(x[i]) and log(1 + x[i]^2), two per thread
//   double_dot(out, x, y, n)    *out = sum of x[i] * y[i]; one warp
// double_basic, double_convert and double_library: any one-dimensional launch.
extern "C" __global__ void double_basic(double* out, const double* x, const double* y) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const double a = x[i];
  const double b = y[i];
  double* r = out + 8 * i;
  r[0] = __dadd_rn(a, b);
  r[1] = __dadd_rz(a, -b);
  r[2] = __dmul_ru(a, b);
  r[3] = __fma_rd(a, b, 1.0);
  r[4] = a / b;
  r[5] = sqrt(fabs(a));
  r[6] = fmax(a, b) - fmin(a, b);
  r[7] = a < b ? -1.0 : a == b ? 0.0 : a > b ? 1.0 : 2.0;  // 2 where one is NaN
}

extern "C" __global__ void double_convert(double* out, const double* x) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const double a = x[i];
  double* r = out + 8 * i;
  r[0] = static_cast<double>(__double2int_rn(a));
  r[1] = static_cast<double>(__double2uint_rz(a));
  r[2] = static_cast<double>(__double2ll_rd(a));
  r[3] = static_cast<double>(__double2ull_ru(a));
  r[4] = static_cast<double>(__double2float_rn(a));
  r[5] = __hiloint2double(__double2hiint(a) ^ static_cast<int>(0x80000000u), __double2loint(a));
  r[6] = rint(a) + floor(a) * 0.5;
  r[7] = static_cast<double>(static_cast<short>(__double_as_longlong(a) >> 48));
}

extern "C" __global__ void double_library(double* out, const double* x) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[2 * i] = exp(x[i]);
  out[2 * i + 1] = log1p(x[i] * x[i]);
}

// A shuffle of 64 bits is two of 32.
extern "C" __global__ void double_dot(double* out, const double* x, const double* y, unsigned n) {
  double sum = 0.0;
  for (unsigned i = threadIdx.x; i < n; i += 32) sum = fma(x[i], y[i], sum);
  for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, mask);
  if (threadIdx.x == 0) *out = sum;
}
