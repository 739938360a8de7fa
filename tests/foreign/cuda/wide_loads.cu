// SPDX-License-Identifier: Apache-2.0
// targets: sm_100 sm_100a sm_103a sm_120 sm_120a
// Accesses of 256 bits, which only global memory has and only from sm_100: eight words or four
// doublewords, through the read-only path, with cache hints, and with destinations left out. And
// packed arithmetic on two floats.
//
//   wide_reverse(out, in)      out[8 * i + j] = in[8 * i + 7 - j], words
//   wide_doubles(out, in)      out[4 * i + j] = in[4 * i + j] + j, doubles
//   wide_partial(out, in)      out[i] = in[8 * i + 1] + in[8 * i + 6], words
//   wide_axpy(out, x, y, a)    out[i] = a * x[i] + y[i] for pairs of floats
// Any one-dimensional launch; `in` and `out` of the first three are 32-byte aligned.
extern "C" __global__ void wide_reverse(unsigned* out, const unsigned* in) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned v[8];
  asm volatile("ld.global.nc.L1::no_allocate.v8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
               : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]), "=r"(v[4]), "=r"(v[5]), "=r"(v[6]),
                 "=r"(v[7])
               : "l"(in + 8 * i));
  asm volatile("st.global.v8.b32 [%0], {%8, %7, %6, %5, %4, %3, %2, %1};" ::"l"(out + 8 * i),
               "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]), "r"(v[4]), "r"(v[5]), "r"(v[6]),
               "r"(v[7])
               : "memory");
}

extern "C" __global__ void wide_doubles(double* out, const double* in) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  double v[4];
  asm volatile("ld.global.L2::evict_last.v4.f64 {%0, %1, %2, %3}, [%4];"
               : "=d"(v[0]), "=d"(v[1]), "=d"(v[2]), "=d"(v[3])
               : "l"(in + 4 * i));
  asm volatile("st.global.v4.b64 [%0], {%1, %2, %3, %4};" ::"l"(out + 4 * i),
               "l"(__double_as_longlong(v[0])), "l"(__double_as_longlong(v[1] + 1.0)),
               "l"(__double_as_longlong(v[2] + 2.0)), "l"(__double_as_longlong(v[3] + 3.0))
               : "memory");
}

extern "C" __global__ void wide_partial(unsigned* out, const unsigned* in) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned a, b;
  asm volatile("ld.global.v8.b32 {_, %0, _, _, _, _, %1, _}, [%2];"
               : "=r"(a), "=r"(b)
               : "l"(in + 8 * i));
  out[i] = a + b;
}

extern "C" __global__ void wide_axpy(float2* out, const float2* x, const float2* y, float a) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  asm volatile(
      "{\n"
      "  .reg .b64 scale, vx, vy, sum;\n"
      "  mov.b64 scale, {%2, %2};\n"
      "  ld.global.b64 vx, [%0];\n"
      "  ld.global.b64 vy, [%1];\n"
      "  fma.rn.f32x2 sum, scale, vx, vy;\n"
      "  st.global.b64 [%3], sum;\n"
      "}" ::"l"(x + i),
      "l"(y + i), "f"(a), "l"(out + i)
      : "memory");
}
