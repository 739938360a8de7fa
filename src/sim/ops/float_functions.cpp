// SPDX-License-Identifier: Apache-2.0
// Family float: division, roots and functions. The approximate ones give the rounded value, which
// is within the error that the PTX manual allows, and have the ranges that it documents.
#include "sim/ops/float_functions.h"

#include <bit>
#include <cmath>
#include <cstdint>

#include "num/approx.h"
#include "sim/ops/float_modes.h"

namespace ww::sim {
namespace {

using std::uint32_t;
using std::uint64_t;

// --- f32 ----------------------------------------------------------------------------------------

/// a * (1 / b), where 1 / b would be subnormal and counts as 0: for b beyond 2^126.
struct DivApprox {
  static float near(float a, float b) {
    const float size = std::abs(b);
    const float no_inverse = std::copysign(0.0F, b);
    return size > 0x1p126F && size < INFINITY ? a * no_inverse : a / b;
  }
  static bool is_tiny(float a, float b) { return Div::is_tiny(a, b); }
};
struct Rsqrt {
  static float near(float a) { return static_cast<float>(1.0 / std::sqrt(double{a})); }
};
struct Sin {
  static float near(float a) { return static_cast<float>(num::sin_of(a)); }
};
struct Cos {
  static float near(float a) { return static_cast<float>(num::cos_of(a)); }
};
struct Lg2 {
  static float near(float a) { return static_cast<float>(num::lg2(a)); }
};
struct Ex2 {
  static float near(float a) { return static_cast<float>(num::ex2(a)); }
};
struct Tanh {
  static float near(float a) { return static_cast<float>(num::tanh_of(a)); }
};

/// With and without `.ftz`, always to nearest.
template <typename Operation, typename... S>
RunOp run_approx(const Decode& in) {
  constexpr F32Mode kFlush{.ftz = true};
  return in.has("ftz") ? &map_lanes<f32_lane<Operation, kFlush, S...>, uint32_t, S...>
                       : &map_lanes<f32_lane<Operation, F32Mode{}, S...>, uint32_t, S...>;
}

// --- f64 ----------------------------------------------------------------------------------------

struct Rsqrt64 {
  static double near(double a) { return 1.0 / std::sqrt(a); }
};

/// `.approx.ftz.f64` looks at the upper word of a and makes the upper word of the result; the lower
/// one is 0.
constexpr uint64_t kUpper = 0xFFFF'FFFF'0000'0000U;

template <typename Operation>
uint64_t upper_word_lane(uint64_t a) {
  const uint64_t result =
      f64_lane<Operation, Rounding::NearestEven, uint64_t>(F64::flushed(a & kUpper));
  const uint64_t nearest = result + 0x7FFF'FFFFU + ((result >> 32U) & 1U);
  return F64::flushed((F64::is_nan(result) ? result : nearest) & kUpper);
}

}  // namespace

// --- decoders -----------------------------------------------------------------------------------

bool decode_div(Decode& in) {
  if (in.type("type") == isa::Type::F64) {
    return decoded(in, run_f64<Div64, uint64_t, uint64_t>(in));
  }
  if (in.word("mode") == "approx")
    return decoded(in, run_approx<DivApprox, uint32_t, uint32_t>(in));
  return decoded(in, run_f32_unsaturated<Div, uint32_t, uint32_t>(in));
}

bool decode_rcp(Decode& in) {
  const bool is_f64 = in.type("type") == isa::Type::F64;
  if (is_f64 && in.has("approx")) {
    return decoded(in, &map_lanes<upper_word_lane<Rcp64>, uint64_t, uint64_t>);
  }
  return decoded(in,
                 is_f64 ? run_f64<Rcp64, uint64_t>(in) : run_f32_unsaturated<Rcp, uint32_t>(in));
}

bool decode_sqrt(Decode& in) {
  const bool is_f64 = in.type("type") == isa::Type::F64;
  return decoded(in,
                 is_f64 ? run_f64<Sqrt64, uint64_t>(in) : run_f32_unsaturated<Sqrt, uint32_t>(in));
}

bool decode_rsqrt(Decode& in) {
  if (in.type("type") == isa::Type::F32) return decoded(in, run_approx<Rsqrt, uint32_t>(in));
  if (in.has("ftz")) return decoded(in, &map_lanes<upper_word_lane<Rsqrt64>, uint64_t, uint64_t>);
  return decoded(
      in, &map_lanes<f64_lane<Rsqrt64, Rounding::NearestEven, uint64_t>, uint64_t, uint64_t>);
}

bool decode_sin(Decode& in) { return decoded(in, run_approx<Sin, uint32_t>(in)); }
bool decode_cos(Decode& in) { return decoded(in, run_approx<Cos, uint32_t>(in)); }
bool decode_lg2(Decode& in) { return decoded(in, run_approx<Lg2, uint32_t>(in)); }
bool decode_ex2(Decode& in) { return decoded(in, run_approx<Ex2, uint32_t>(in)); }
bool decode_tanh(Decode& in) { return decoded(in, run_approx<Tanh, uint32_t>(in)); }

}  // namespace ww::sim
