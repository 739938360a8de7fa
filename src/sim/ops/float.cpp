// SPDX-License-Identifier: Apache-2.0
// Family float: arithmetic, min and max, and what works on the bits. Division, roots and functions
// are in float_functions.cpp.
#include "sim/ops/families.h"
#include "sim/ops/float_functions.h"
#include "sim/ops/float_modes.h"

namespace ww::sim::float_ops {
namespace {

using std::uint32_t;
using std::uint64_t;

// --- add, sub, mul, fma -------------------------------------------------------------------------

/// Of two sources, and more where More says so.
template <typename Narrow, typename Wide, typename... More>
bool decode_sum(Decode& in) {
  switch (in.type("type")) {
    case isa::Type::F32:
      return decoded(in, run_f32<Narrow, uint32_t, uint32_t, More...>(in));
    case isa::Type::F32x2:
      return decoded(in, run_f32x2<Narrow, uint32_t, uint32_t, More...>(in));
    case isa::Type::F64:
      return decoded(
          in, run_f64<Wide, uint64_t, uint64_t, std::conditional_t<true, uint64_t, More>...>(in));
    default:
      return false;
  }
}

// --- min, max -----------------------------------------------------------------------------------

constexpr auto kMinMax = table_of<16>([]<std::size_t i>() -> RunOp {
  constexpr auto kLane = min_max<F32, min_max_mode(i)>;
  if constexpr (min_max_mode(i).abs)
    return &map_rare_lanes<kLane, uint32_t, uint32_t, uint32_t>;
  else
    return &map_lanes<kLane, uint32_t, uint32_t, uint32_t>;
});
constexpr auto kMinMax3 = table_of<16>([]<std::size_t i>() -> RunOp {
  return &map_rare_lanes<min_max3<F32, min_max_mode(i)>, uint32_t, uint32_t, uint32_t, uint32_t>;
});
constexpr auto kMinMax64 = table_of<2>([]<std::size_t i>() -> RunOp {
  return &map_lanes<min_max<F64, min_max_mode(i)>, uint64_t, uint64_t, uint64_t>;
});

template <bool kMax>
bool decode_min_max(Decode& in) {
  const std::size_t mode = min_max_index(in, kMax);
  if (in.type("type") == isa::Type::F64) return decoded(in, kMinMax64[mode]);
  return decoded(in, in.count() == 4 ? kMinMax3[mode] : kMinMax[mode]);
}

// --- bits ---------------------------------------------------------------------------------------

/// f32, f32.ftz and f64 of a function of one operand.
struct Unary {
  RunOp f32, f32_ftz, f64;
};
constexpr Unary kAbs{&map_lanes<abs_lane<F32, false>, uint32_t, uint32_t>,
                     &map_lanes<abs_lane<F32, true>, uint32_t, uint32_t>,
                     &map_lanes<abs_lane<F64, false>, uint64_t, uint64_t>};
constexpr Unary kNeg{&map_lanes<neg_lane<F32, false>, uint32_t, uint32_t>,
                     &map_lanes<neg_lane<F32, true>, uint32_t, uint32_t>,
                     &map_lanes<neg_lane<F64, false>, uint64_t, uint64_t>};

bool decode_unary(Decode& in, const Unary& runs) {
  if (in.type("type") == isa::Type::F64) return decoded(in, runs.f64);
  return decoded(in, in.has("ftz") ? runs.f32_ftz : runs.f32);
}
bool decode_abs(Decode& in) { return decode_unary(in, kAbs); }
bool decode_neg(Decode& in) { return decode_unary(in, kNeg); }

bool decode_copysign(Decode& in) {
  if (in.type("type") == isa::Type::F64) {
    return decoded(in, &map_lanes<copysign_lane<F64>, uint64_t, uint64_t, uint64_t>);
  }
  return decoded(in, &map_lanes<copysign_lane<F32>, uint32_t, uint32_t, uint32_t>);
}

// --- testp --------------------------------------------------------------------------------------

template <typename Format>
struct Testp {
  using U = typename Format::U;
  static bool finite(U a) { return Format::magnitude(a) < Format::kInf; }
  static bool infinite(U a) { return Format::magnitude(a) == Format::kInf; }
  static bool number(U a) { return !Format::is_nan(a); }
  static bool notanumber(U a) { return Format::is_nan(a); }
  static bool normal(U a) { return finite(a) && !subnormal(a); }  // zeros too
  static bool subnormal(U a) {
    return Format::is_subnormal_or_zero(a) && Format::magnitude(a) != 0;
  }
};

template <auto F, typename U>
void run_testp(Warp& warp, const Op& op) {
  warp.set_pred(op.p[0], test_lanes<F>(warp.source<U>(op.p[1])));
}

struct TestpRow {
  Word word;
  RunOp f32, f64;
};
// clang-format off
#define TESTP(name) {#name, &run_testp<Testp<F32>::name, uint32_t>, &run_testp<Testp<F64>::name, uint64_t>}
// clang-format on
constexpr TestpRow kTestp[] = {TESTP(finite),     TESTP(infinite), TESTP(number),
                               TESTP(notanumber), TESTP(normal),   TESTP(subnormal)};
#undef TESTP

bool decode_testp(Decode& in) {
  const TestpRow& row = *std::ranges::find(kTestp, in.word("op"), &TestpRow::word);
  return decoded(in, in.type("type") == isa::Type::F64 ? row.f64 : row.f32);
}

constexpr OpRow kRows[] = {
    {"testp", decode_testp},
    {"copysign", decode_copysign},
    {"add", decode_sum<Add, Add64>},
    {"sub", decode_sum<Sub, Sub64>},
    {"mul", decode_sum<Mul, Mul64>},
    {"fma", decode_sum<Fma, Fma64, uint32_t>},
    {"mad", decode_sum<Fma, Fma64, uint32_t>},
    {"div", decode_div},
    {"abs", decode_abs},
    {"neg", decode_neg},
    {"min", decode_min_max<false>},
    {"max", decode_min_max<true>},
    {"rcp", decode_rcp},
    {"sqrt", decode_sqrt},
    {"rsqrt", decode_rsqrt},
    {"sin", decode_sin},
    {"cos", decode_cos},
    {"lg2", decode_lg2},
    {"ex2", decode_ex2},
    {"tanh", decode_tanh},
};

}  // namespace

constinit const OpFamily family{"float", kRows, true};

}  // namespace ww::sim::float_ops
