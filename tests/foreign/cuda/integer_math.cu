// SPDX-License-Identifier: Apache-2.0
// targets: sm_75 sm_80 sm_89 sm_90 sm_90a sm_100 sm_100a sm_103a sm_120 sm_120a
// Integers: 64-bit and 128-bit division and multiplication (calls or long sequences), carries,
// bit fields, shifts across words, permuted bytes, dot products of bytes, saturation and narrow
// types.
//
//   integer_divide(out, x, y)    six results per thread, see the lines; y[i] is not 0
//   integer_wide(out, x, y)      six results per thread, see the lines
//   integer_bits(out, x)         ten results per thread, see the lines
//   integer_dot(out, x, y)       three results per thread, see the lines
//   integer_narrow(out, x)       out[i] = sum of the signed bytes and halves of x[i]
// Any one-dimensional launch.
using u64 = unsigned long long;
using i64 = long long;

extern "C" __global__ void integer_divide(i64* out, const i64* x, const i64* y) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  i64* r = out + 6 * i;
  r[0] = x[i] / y[i];
  r[1] = x[i] % y[i];
  r[2] = static_cast<i64>(static_cast<u64>(x[i]) / static_cast<u64>(y[i]));
  r[3] = static_cast<i64>(static_cast<u64>(x[i]) % 1000003u);
  r[4] = static_cast<int>(x[i]) / 7;
  r[5] = static_cast<unsigned>(x[i]) % (static_cast<unsigned>(y[i]) | 1u);
}

extern "C" __global__ void integer_wide(u64* out, const u64* x, const u64* y) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned __int128 product = static_cast<unsigned __int128>(x[i]) * y[i];
  const unsigned __int128 sum = product + x[i];
  u64* r = out + 6 * i;
  r[0] = static_cast<u64>(sum >> 64);
  r[1] = static_cast<u64>(sum);
  r[2] = static_cast<u64>(__mul64hi(static_cast<i64>(x[i]), static_cast<i64>(y[i])));
  r[3] = static_cast<u64>(static_cast<unsigned>(x[i])) * static_cast<unsigned>(y[i]) + x[i];
  r[4] = static_cast<u64>(product >> (x[i] & 127));
  r[5] = max(static_cast<i64>(x[i]), static_cast<i64>(y[i])) < 0 ? ~x[i] : x[i] & y[i];
}

extern "C" __global__ void integer_bits(unsigned* out, const u64* x) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned low = static_cast<unsigned>(x[i]);
  const unsigned high = static_cast<unsigned>(x[i] >> 32);
  unsigned* r = out + 10 * i;
  r[0] = __popcll(x[i]);
  r[1] = __clzll(static_cast<i64>(x[i])) << 8 | __clz(static_cast<int>(low));
  r[2] = __brev(low);
  r[3] = __ffsll(static_cast<i64>(x[i]));
  r[4] = __funnelshift_l(low, high, 11);
  r[5] = __funnelshift_rc(low, high, low & 63);
  r[6] = __byte_perm(low, high, 0x6142);
  r[7] = (low & high) ^ (low | ~high) ^ 0x5a5au;
  asm("bfe.u32 %0, %1, 5, 9;" : "=r"(r[8]) : "r"(low));
  asm("bfi.b32 %0, %1, %2, 8, 12;" : "=r"(r[9]) : "r"(low), "r"(high));
}

extern "C" __global__ void integer_dot(int* out, const int* x, const int* y) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[3 * i] = __dp4a(x[i], y[i], 5);
  out[3 * i + 1] = __dp2a_lo(x[i], y[i], -1);
  out[3 * i + 2] =
      static_cast<int>(__usad(x[i], y[i], 1u)) + __mulhi(x[i], y[i]) + __sad(x[i], 3, 0);
}

extern "C" __global__ void integer_narrow(short* out, const int* x) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const int v = x[i];
  short sum = 0;
  for (int byte = 0; byte < 4; ++byte)
    sum = static_cast<short>(sum + static_cast<signed char>(v >> 8 * byte));
  sum = static_cast<short>(sum + static_cast<short>(v) + static_cast<short>(v >> 16));
  out[i] = sum;
}
