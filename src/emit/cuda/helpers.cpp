// SPDX-License-Identifier: Apache-2.0
#include "emit/cuda/helpers.h"

#include <fmt/format.h>

#include "base/check.h"

namespace ww::emit::cuda {
namespace {

struct Row {
  std::string_view name;
  std::string_view text;
  std::string_view needs = {};  // another row
};

constexpr Row kRows[] = {
    {"ww_vec", R"(// A vector value; aligned as far as one access can make use of.
template <typename T, int N>
struct alignas(N % 2 == 0 && sizeof(T) * (N & -N) <= 16 ? sizeof(T) * (N & -N)
               : N % 2 == 0                             ? 16
                                                        : sizeof(T)) ww_vec {
  T lane[N];
};
)"},
    {"ww_lanes", R"(// The vector whose lane k is value(k).
template <typename T, int N, typename Value>
__forceinline__ __device__ ww_vec<T, N> ww_lanes(Value value) {
  ww_vec<T, N> out;
#pragma unroll
  for (int k = 0; k < N; ++k) out.lane[k] = value(k);
  return out;
}
)",
     "ww_vec"},
    {"ww_store", R"(// Stores a vector where nothing is known about the alignment.
template <typename T, typename V, int N>
__forceinline__ __device__ void ww_store(T* to, ww_vec<V, N> value) {
#pragma unroll
  for (int k = 0; k < N; ++k) to[k] = value.lane[k];
}
)",
     "ww_vec"},
    {"ww_bitcast", R"(// The same bits as another type.
template <typename To, typename From>
__forceinline__ __device__ To ww_bitcast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof(To));
  return to;
}
)"},
    {"ww_settle",
     R"(// Words that tcgen05.ld has written. Stands behind the wait for them, so that nvcc uses them no
// earlier; it is no instruction.
template <int N>
__forceinline__ __device__ void ww_settle(void* words) {
#pragma unroll
  for (int i = 0; i < N; ++i) {
    uint32_t word;
    memcpy(&word, static_cast<uint8_t*>(words) + 4 * i, 4);
    asm volatile("" : "+r"(word));
    memcpy(static_cast<uint8_t*>(words) + 4 * i, &word, 4);
  }
}
)"},
    {"ww_settle_floats",
     R"(// Sums that wgmma has written. Stands behind the wait for them, so that nvcc uses them no
// earlier; it is no instruction. As floats: to turn them into words would be a use.
template <int N>
__forceinline__ __device__ void ww_settle_floats(void* sums) {
#pragma unroll
  for (int i = 0; i < N; ++i) {
    float sum;
    memcpy(&sum, static_cast<uint8_t*>(sums) + 4 * i, 4);
    asm volatile("" : "+f"(sum));
    memcpy(static_cast<uint8_t*>(sums) + 4 * i, &sum, 4);
  }
}
)"},
    {"ww_hidden_zero",
     R"(// A zero that ptxas does not know to be one: a bit of the clock that stays 0 for centuries. ptxas
// 13.0 unpacks the upper half of a word of 8-bit floats wrongly if it finds the word constant.
__forceinline__ __device__ uint32_t ww_hidden_zero() {
  uint64_t clock;
  asm("mov.u64 %0, %%clock64;" : "=l"(clock));
  return static_cast<uint32_t>(clock >> 63);
}
)"},
    {"ww_floordiv",
     R"(// Rounds to minus infinity; by 0 gives -1, and the least number by -1 itself.
template <typename T>
__forceinline__ __device__ T ww_floordiv(T a, T b) {
  if (b == 0) return T(-1);
  if (b == T(-1)) return T(0ull - static_cast<unsigned long long>(a));
  return T(a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0));
}
)"},
    {"ww_floormod", R"(// Has the sign of the divisor; by 0 gives the dividend.
template <typename T>
__forceinline__ __device__ T ww_floormod(T a, T b) {
  if (b == 0) return a;
  if (b == T(-1)) return 0;
  return T(a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0));
}
)"},
    {"ww_truncdiv", R"(// Rounds to zero; by 0 gives -1, and the least number by -1 itself.
template <typename T>
__forceinline__ __device__ T ww_truncdiv(T a, T b) {
  if (b == 0) return T(-1);
  if (T(-1) < T(0) && b == T(-1)) return T(0ull - static_cast<unsigned long long>(a));
  return T(a / b);
}
)"},
    {"ww_truncmod", R"(// Has the sign of the dividend; by 0 gives the dividend.
template <typename T>
__forceinline__ __device__ T ww_truncmod(T a, T b) {
  if (b == 0) return a;
  if (T(-1) < T(0) && b == T(-1)) return 0;
  return T(a % b);
}
)"},
    {"ww_shl", R"(// Bits shifted out are gone, all of them from the width of the type on.
template <typename T>
__forceinline__ __device__ T ww_shl(T a, T by) {
  const unsigned long long n = static_cast<unsigned long long>(by);
  return n < 8 * sizeof(T) ? T(static_cast<unsigned long long>(a) << n) : T(0);
}
)"},
    {"ww_shr", R"(// Fills with the sign, with nothing else from the width of the type on.
template <typename T>
__forceinline__ __device__ T ww_shr(T a, T by) {
  const unsigned long long n = static_cast<unsigned long long>(by);
  return n < 8 * sizeof(T) ? T(a >> n) : T(a >> (8 * sizeof(T) - 1) >> 1);
}
)"},
    {"ww_abs",
     R"(// The least number gives itself. Not as `abs`, whose result ptxas takes for no less than 0.
template <typename T>
__forceinline__ __device__ T ww_abs(T a) {
  return a < T(0) ? T(-a) : a;
}
template <>
__forceinline__ __device__ int32_t ww_abs<int32_t>(int32_t a) {
  int32_t out;
  asm("{ .reg .s32 minus; neg.s32 minus, %1; min.u32 %0, %1, minus; }" : "=r"(out) : "r"(a));
  return out;
}
template <>
__forceinline__ __device__ int64_t ww_abs<int64_t>(int64_t a) {
  int64_t out;
  asm("{ .reg .s64 minus; neg.s64 minus, %1; min.u64 %0, %1, minus; }" : "=l"(out) : "l"(a));
  return out;
}
)"},
    {"ww_gelu", R"(// x times how much of the normal distribution is below x.
__forceinline__ __device__ float ww_gelu(float x) { return x * normcdff(x); }
__forceinline__ __device__ double ww_gelu(double x) { return x * normcdf(x); }
)"},
    {"ww_gelu_tanh", R"(// x / 2 * (1 + tanh(u)), u = sqrt(2 / pi) * (x + 0.044715 x^3).
__forceinline__ __device__ float ww_gelu_tanh(float x) {
  return x / (1.0f + expf(x * fmaf(x * x, -0.0713548163f, -1.59576912f)));
}
__forceinline__ __device__ double ww_gelu_tanh(double x) {
  return x / (1.0 + exp(x * fma(x * x, -0.071354816272600250, -1.5957691216057308)));
}
)"},
    {"ww_real_mod", R"(// a - floor(a / b) * b, each step rounded.
__forceinline__ __device__ float ww_real_mod(float a, float b) {
  return a - __fmul_rn(floorf(a / b), b);
}
__forceinline__ __device__ double ww_real_mod(double a, double b) {
  return a - __dmul_rn(floor(a / b), b);
}
)"},
    {"ww_to_int64",
     R"(// Drops the fraction; what does not fit gives the nearest number, NaN gives 0.
__forceinline__ __device__ int64_t ww_to_int64(double x) { return isnan(x) ? 0 : __double2ll_rz(x); }
)"},
    {"ww_to_uint64",
     R"(// Drops the fraction; what does not fit gives the nearest number, NaN gives 0.
__forceinline__ __device__ uint64_t ww_to_uint64(double x) {
  return isnan(x) ? 0 : __double2ull_rz(x);
}
)"},
    {"ww_to_int32",
     R"(// Drops the fraction; what does not fit gives the nearest number, NaN gives 0.
__forceinline__ __device__ int ww_to_int32(double x) { return isnan(x) ? 0 : __double2int_rz(x); }
)"},
    {"ww_to_uint32",
     R"(// Drops the fraction; what does not fit gives the nearest number, NaN gives 0.
__forceinline__ __device__ uint32_t ww_to_uint32(double x) {
  return isnan(x) ? 0 : __double2uint_rz(x);
}
)"},
    {"ww_from_power",
     R"(// A power of two whose exponent is the code; 2^-127 is subnormal, the last code NaN.
__forceinline__ __device__ float ww_from_power(uint8_t code) {
  return __uint_as_float(code == 255 ? 0x7fffffffu : code == 0 ? 0x400000u : uint32_t(code) << 23);
}
)"},
    {"ww_from_narrow",
     R"(// A float with E bits of exponent and M of mantissa, from its code.
template <int E, int M>
__forceinline__ __device__ float ww_from_narrow(uint8_t code) {
  const uint32_t size = code & ((1u << (E + M)) - 1u);
  const float scale = __uint_as_float((255u - (1u << (E - 1))) << 23);
  const float number = __uint_as_float(size << (23 - M)) * scale;
  return __uint_as_float(__float_as_uint(number) | uint32_t(code >> (E + M) & 1) << 31);
}
)"},
    {"ww_to_narrow",
     R"(// The code of the nearest float with E bits of exponent and M of mantissa, ties to even. What is
// too large becomes the largest number, and so does NaN.
template <int E, int M>
__forceinline__ __device__ uint8_t ww_to_narrow(float x) {
  constexpr int bias = (1 << (E - 1)) - 1;
  constexpr uint32_t last = (1u << (E + M)) - 1u;
  constexpr uint32_t largest = ((1u << E) - 1u - bias + 127u) << 23 | ((1u << M) - 1u) << (23 - M);
  constexpr uint32_t unit = uint32_t(127 + 24 - bias - M) << 23;
  const float size = fminf(fabsf(x), __uint_as_float(largest));
  const uint32_t bits = __float_as_uint(size);
  const uint32_t rounded = (bits + ((1u << (22 - M)) - 1u) + (bits >> (23 - M) & 1u)) >> (23 - M);
  const bool is_small = bits < uint32_t(128 - bias) << 23;
  const uint32_t code = is_small ? __float_as_uint(__fadd_rn(size, __uint_as_float(unit))) - unit
                                 : rounded - (uint32_t(127 - bias) << M);
  return isnan(x) ? last : code | __float_as_uint(x) >> 31 << (E + M);
}
)"},
    {"ww_odd_float",
     R"(// A float that rounds on to a narrow one as the number itself does: cut, then odd if it was.
__forceinline__ __device__ float ww_odd_float(double x) {
  const float cut = __double2float_rz(x);
  return double(cut) == x || isnan(x) ? cut : __uint_as_float(__float_as_uint(cut) | 1u);
}
__forceinline__ __device__ float ww_odd_float(int64_t x) {
  const float cut = __ll2float_rz(x);
  return int64_t(cut) == x ? cut : __uint_as_float(__float_as_uint(cut) | 1u);
}
__forceinline__ __device__ float ww_odd_float(uint64_t x) {
  const float cut = __ull2float_rz(x);
  return uint64_t(cut) == x ? cut : __uint_as_float(__float_as_uint(cut) | 1u);
}
)"},
    {"ww_nibble",
     R"(// Element i of an array of 4 bits each, the lower half of a byte first.
__forceinline__ __device__ uint8_t ww_nibble(const uint8_t* bytes, int64_t i) {
  return bytes[i / 2] >> i % 2 * 4 & 15;
}
)"},
    {"ww_put_nibble",
     R"(// Writes it; the other half of the byte stays.
__forceinline__ __device__ void ww_put_nibble(uint8_t* bytes, int64_t i, uint8_t code) {
  bytes[i / 2] = (bytes[i / 2] & (i % 2 == 0 ? 240 : 15)) | code << i % 2 * 4;
}
)"},
    {"ww_to_tf32", R"(// The nearest number with 10 bits of fraction, ties to even.
__forceinline__ __device__ float ww_to_tf32(float x) {
  const uint32_t bits = __float_as_uint(x);
  if (isnan(x)) return __uint_as_float(0x7fffffffu);
  return __uint_as_float((bits + 0xfffu + (bits >> 13 & 1u)) & ~0x1fffu);
}
)"},
    {"tvm_builtin_pointer_offset", R"(template <typename T>
__forceinline__ __device__ T* tvm_builtin_pointer_offset(T* ptr, int64_t elems) {
  return ptr + elems;
}
)"},
    {"tvm_builtin_byte_offset", R"(template <typename T>
__forceinline__ __device__ T* tvm_builtin_byte_offset(void* ptr, int64_t bytes) {
  return reinterpret_cast<T*>(static_cast<char*>(ptr) + bytes);
}
)"},
    {"tvm_builtin_copy_256b",
     R"(__forceinline__ __device__ void tvm_builtin_copy_256b(void* dst, void* src) {
  const uint4 low = static_cast<uint4*>(src)[0];
  const uint4 high = static_cast<uint4*>(src)[1];
  static_cast<uint4*>(dst)[0] = low;
  static_cast<uint4*>(dst)[1] = high;
}
)"},
    {"tvm_builtin_copy_128b",
     R"(__forceinline__ __device__ void tvm_builtin_copy_128b(void* dst, void* src) {
  *static_cast<uint4*>(dst) = *static_cast<uint4*>(src);
}
)"},
    {"tvm_builtin_copy_64b",
     R"(__forceinline__ __device__ void tvm_builtin_copy_64b(void* dst, void* src) {
  *static_cast<uint2*>(dst) = *static_cast<uint2*>(src);
}
)"},
    {"tvm_builtin_copy_32b",
     R"(__forceinline__ __device__ void tvm_builtin_copy_32b(void* dst, void* src) {
  *static_cast<uint32_t*>(dst) = *static_cast<uint32_t*>(src);
}
)"},
    {"tvm_builtin_copy_16b",
     R"(__forceinline__ __device__ void tvm_builtin_copy_16b(void* dst, void* src) {
  *static_cast<uint16_t*>(dst) = *static_cast<uint16_t*>(src);
}
)"},
    {"tvm_builtin_copy_8b",
     R"(__forceinline__ __device__ void tvm_builtin_copy_8b(void* dst, void* src) {
  *static_cast<uint8_t*>(dst) = *static_cast<uint8_t*>(src);
}
)"},
    {"get_tmem_addr",
     R"(// Adds to the lane (high half) and the column (low half) of a tensor memory address.
__forceinline__ __device__ uint32_t get_tmem_addr(uint32_t base, uint32_t row, uint32_t col) {
  return (((base >> 16) + row) & 0xffffu) << 16 | ((base + col) & 0xffffu);
}
)"},
    {"tvm_builtin_elect_sync", R"(// 1 in one lane of the warp, 0 in the others.
__forceinline__ __device__ uint32_t tvm_builtin_elect_sync() {
  uint32_t is_elected;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "elect.sync _|p, 0xffffffff;\n"
      "selp.b32 %0, 1, 0, p;\n"
      "}"
      : "=r"(is_elected)
      :
      : "memory");
  return is_elected;
}
)"},
    {"tvm_builtin_warpgroup_sync", R"(// A barrier of 128 threads.
__forceinline__ __device__ void tvm_builtin_warpgroup_sync(int barrier) {
  asm volatile("bar.sync %0, 128;" : : "r"(barrier) : "memory");
}
)"},
    {"tvm_builtin_cluster_sync", R"(__forceinline__ __device__ void tvm_builtin_cluster_sync() {
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" : : : "memory");
}
)"},
    {"tvm_builtin_mbarrier_wait", R"(// Waits until the phase of that parity has completed.
__forceinline__ __device__ void tvm_builtin_mbarrier_wait(void* barrier, uint32_t parity) {
  const uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(barrier));
  uint32_t is_complete = 0;
  while (is_complete == 0) {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.b32 %0, 1, 0, p;\n"
        "}"
        : "=r"(is_complete)
        : "r"(address), "r"(parity)
        : "memory");
  }
}
)"},
    {"tvm_builtin_mbarrier_poll",
     R"(// Waits until the phase of that parity has completed, where a test does not wait by itself.
__forceinline__ __device__ void tvm_builtin_mbarrier_poll(void* barrier, uint32_t parity) {
  const uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(barrier));
  uint32_t is_complete = 0;
  while (is_complete == 0) {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "mbarrier.test_wait.parity.shared.b64 p, [%1], %2;\n"
        "selp.b32 %0, 1, 0, p;\n"
        "}"
        : "=r"(is_complete)
        : "r"(address), "r"(parity)
        : "memory");
  }
}
)"},
    {"tvm_builtin_cluster_ctaid_x",
     R"(__forceinline__ __device__ int tvm_builtin_cluster_ctaid_x() {
  int id;
  asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(id));
  return id;
}
)"},
    {"tvm_builtin_cluster_ctaid_y",
     R"(__forceinline__ __device__ int tvm_builtin_cluster_ctaid_y() {
  int id;
  asm("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(id));
  return id;
}
)"},
    {"tvm_builtin_cluster_ctaid_z",
     R"(__forceinline__ __device__ int tvm_builtin_cluster_ctaid_z() {
  int id;
  asm("mov.u32 %0, %%cluster_ctaid.z;" : "=r"(id));
  return id;
}
)"},
};

const Row& row_of(std::string_view name) {
  for (const Row& row : kRows)
    if (row.name == name) return row;
  WW_CHECK(false, "no helper `{}`", name);
  return kRows[0];
}

}  // namespace

std::string_view Helpers::use(std::string_view name) {
  const Row& row = row_of(name);
  used_.insert(row.name);
  if (!row.needs.empty()) use(row.needs);
  return row.name;
}

void Helpers::add(const std::string& name, const std::string& text) { made_[name].insert(text); }

void Helpers::note(num::DType dtype) {
  has_fp16_ |= dtype == num::DType::Float16;
  has_bf16_ |= dtype == num::DType::Bfloat16;
  has_fp8_ |= dtype == num::DType::Float8E4M3fn || dtype == num::DType::Float8E5M2;
}

std::string Helpers::includes(bool with_host) const {
  std::string out;
  if (has_maps_) out += "#include <cuda.h>\n";
  if (has_bf16_) out += "#include <cuda_bf16.h>\n";
  if (has_fp16_) out += "#include <cuda_fp16.h>\n";
  if (has_fp8_) out += "#include <cuda_fp8.h>\n";
  if (!out.empty()) out += "\n";
  if (with_host) out += "#include <cmath>\n";
  out += "#include <cstdint>\n";
  if (has_printf_ || with_host) out += "#include <cstdio>\n";
  if (with_host) out += "#include <cstdlib>\n#include <cstring>\n#include <vector>\n";
  return out;
}

std::string Helpers::text() const {
  std::string out;
  for (const Row& row : kRows)
    if (used_.contains(row.name)) out += fmt::format("{}\n", row.text);
  for (const auto& [name, overloads] : made_)
    for (const std::string& text : overloads) out += text + "\n";
  return out;
}

}  // namespace ww::emit::cuda
