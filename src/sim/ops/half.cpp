// SPDX-License-Identifier: Apache-2.0
// Family half: f16 and bf16, alone and in pairs, and mixed precision. A pair is two numbers with
// the same function.
#include "num/approx.h"
#include "sim/ops/families.h"
#include "sim/ops/float_modes.h"
#include "sim/ops/half_arithmetic.h"

namespace ww::sim::half_ops {
namespace {

using std::uint16_t;
using std::uint32_t;

// --- from a lane function to run functions ------------------------------------------------------

/// One lane function alone and in pairs.
struct HalfRuns {
  RunOp one, pair;
};

template <auto F, typename... S>
constexpr HalfRuns runs_of() {
  return {&map_lanes<F, uint16_t, S...>, &map_halves_by<F, F, uint32_t, sizeof...(S)>};
}
template <auto F, typename... S>
constexpr HalfRuns rare_runs_of() {
  return {&map_rare_lanes<F, uint16_t, S...>, &map_rare_halves<F, uint32_t, sizeof...(S)>};
}
template <HalfMode kMode, auto F, typename... S>
constexpr HalfRuns runs_in() {
  if constexpr (kMode.sat || kMode.oob)
    return rare_runs_of<F, S...>();
  else
    return runs_of<F, S...>();
}

bool is_pair(isa::Type type) { return type == isa::Type::F16x2 || type == isa::Type::Bf16x2; }
bool is_bf16(isa::Type type) { return type == isa::Type::Bf16 || type == isa::Type::Bf16x2; }

bool decode_runs(Decode& in, const HalfRuns& runs) {
  return decoded(in, is_pair(in.type("type")) ? runs.pair : runs.one);
}

/// The same for f16 and bf16.
bool decode_formats(Decode& in, const HalfRuns& f16, const HalfRuns& bf16) {
  return decode_runs(in, is_bf16(in.type("type")) ? bf16 : f16);
}

// --- add, sub, mul, fma -------------------------------------------------------------------------

template <typename Operation, HalfMode kMode>
constexpr HalfRuns kTwo = runs_in<kMode, half_lane<Operation, F16, kMode>, uint16_t, uint16_t>();
template <typename Operation>
constexpr HalfRuns kTwoBf16 = runs_of<half_lane<Operation, Bf16, HalfMode{}>, uint16_t, uint16_t>();
template <typename Format, HalfMode kMode>
constexpr HalfRuns kFma =
    runs_in<kMode, half_fma_lane<Format, kMode>, uint16_t, uint16_t, uint16_t>();

bool is_mixed(const Decode& in) { return in.has("atype") || in.has("abtype"); }
bool mixes_bf16(const Decode& in, SlotName slot) { return in.type(slot) == isa::Type::Bf16; }

template <typename Operation, typename Format>
constexpr auto kMixed = table_of<16>([]<std::size_t i>() -> RunOp {
  constexpr F32Mode kMode{kRoundings[i % 4], false, (i & 8U) != 0};
  return &map_rare_lanes<mixed_lane<Operation, Format, kMode>, uint32_t, uint16_t, uint32_t>;
});
template <typename Format>
constexpr auto kMixedFma = table_of<16>([]<std::size_t i>() -> RunOp {
  constexpr F32Mode kMode{kRoundings[i % 4], false, (i & 8U) != 0};
  return &map_rare_lanes<mixed_fma_lane<Format, kMode>, uint32_t, uint16_t, uint16_t, uint32_t>;
});

template <typename Operation>
bool decode_halves(Decode& in) {
  static constexpr HalfRuns kF16[] = {
      kTwo<Operation, HalfMode{}>, kTwo<Operation, HalfMode{.ftz = true}>,
      kTwo<Operation, HalfMode{.sat = true}>, kTwo<Operation, HalfMode{.ftz = true, .sat = true}>};
  const std::size_t mode = (in.has("ftz") ? 1U : 0U) + (in.has("sat") ? 2U : 0U);
  return decode_formats(in, kF16[mode], kTwoBf16<Operation>);
}

template <typename Operation, typename Mixed>
bool decode_two(Decode& in) {
  if (!is_mixed(in)) return decode_halves<Operation>(in);
  const auto& runs = mixes_bf16(in, "atype") ? kMixed<Mixed, Bf16> : kMixed<Mixed, F16>;
  return decoded(in, runs[f32_mode_index(in)]);
}

bool decode_fma(Decode& in) {
  if (is_mixed(in)) {
    const auto& runs = mixes_bf16(in, "abtype") ? kMixedFma<Bf16> : kMixedFma<F16>;
    return decoded(in, runs[f32_mode_index(in)]);
  }
  static constexpr HalfRuns kF16[] = {
      kFma<F16, HalfMode{}>,
      kFma<F16, HalfMode{.ftz = true}>,
      kFma<F16, HalfMode{.sat = true}>,
      kFma<F16, HalfMode{.ftz = true, .sat = true}>,
      kFma<F16, HalfMode{.relu = true}>,
      kFma<F16, HalfMode{.ftz = true, .relu = true}>,
      kFma<F16, HalfMode{.oob = true}>,
      kFma<F16, HalfMode{.relu = true, .oob = true}>,
  };
  static constexpr HalfRuns kBf16[] = {
      kFma<Bf16, HalfMode{}>,
      kFma<Bf16, HalfMode{.relu = true}>,
      kFma<Bf16, HalfMode{.oob = true}>,
      kFma<Bf16, HalfMode{.relu = true, .oob = true}>,
  };
  const std::size_t relu = in.has("relu") ? 1U : 0U;
  const std::size_t ftz = in.has("ftz") ? 1U : 0U;
  const std::size_t clamp = in.has("sat") ? 2U : relu * 4U;
  const std::size_t f16 = in.has("oob") ? 6U + relu : ftz + clamp;
  return decode_formats(in, kF16[f16], kBf16[relu + (in.has("oob") ? 2U : 0U)]);
}

// --- one operand --------------------------------------------------------------------------------

/// The run functions of both formats, with and without `.ftz`.
struct UnaryRuns {
  HalfRuns f16, f16_ftz, bf16, bf16_ftz;
};

bool decode_unary(Decode& in, const UnaryRuns& runs) {
  if (in.has("ftz")) return decode_formats(in, runs.f16_ftz, runs.bf16_ftz);
  return decode_formats(in, runs.f16, runs.bf16);
}

constexpr UnaryRuns kNeg{runs_of<neg_lane<F16, false>, uint16_t>(),
                         runs_of<neg_lane<F16, true>, uint16_t>(),
                         runs_of<neg_lane<Bf16, false>, uint16_t>(),
                         {}};
constexpr UnaryRuns kAbs{runs_of<abs_lane<F16, false>, uint16_t>(),
                         runs_of<abs_lane<F16, true>, uint16_t>(),
                         runs_of<abs_lane<Bf16, false>, uint16_t>(),
                         {}};
bool decode_neg(Decode& in) { return decode_unary(in, kNeg); }
bool decode_abs(Decode& in) { return decode_unary(in, kAbs); }

template <typename Format, auto F, bool kFtz>
void run_function(Warp& warp, const Op& op) {
  alignas(64) uint16_t kept[kLanes];
  half_function<Format, F, kFtz, kLanes>(warp.source<uint16_t>(op.p[1]), kept);
  warp.write(op.p[0], kept);
}
template <typename Format, auto F, bool kFtz>
void run_function_pair(Warp& warp, const Op& op) {
  Halves<uint32_t> a;
  Halves<uint32_t> d;
  a.read(warp, op.p[1]);
  half_function<Format, F, kFtz, 2 * kLanes>(a.at, d.at);
  d.write(warp, op.p[0]);
}
template <typename Format, auto F, bool kFtz>
constexpr HalfRuns kFunction{&run_function<Format, F, kFtz>, &run_function_pair<Format, F, kFtz>};

constexpr UnaryRuns kTanh{
    kFunction<F16, num::tanh_of, false>, {}, kFunction<Bf16, num::tanh_of, false>, {}};
constexpr UnaryRuns kEx2{kFunction<F16, num::ex2, false>, {}, {}, kFunction<Bf16, num::ex2, true>};
bool decode_tanh(Decode& in) { return decode_unary(in, kTanh); }
bool decode_ex2(Decode& in) { return decode_unary(in, kEx2); }

// --- min, max -----------------------------------------------------------------------------------

template <typename Format>
constexpr auto kMinMax = [] {
  return []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array{rare_runs_of<min_max<Format, min_max_mode(I)>, uint16_t, uint16_t>()...};
  }
  (std::make_index_sequence<16>{});
}();

template <bool kMax>
bool decode_min_max(Decode& in) {
  const std::size_t mode = min_max_index(in, kMax);
  return decode_formats(in, kMinMax<F16>[mode], kMinMax<Bf16>[mode]);
}

constexpr OpRow kRows[] = {
    {"add", decode_two<HalfAdd, Add>},
    {"sub", decode_two<HalfSub, Sub>},
    {"mul", decode_halves<HalfMul>},
    {"fma", decode_fma},
    {"neg", decode_neg},
    {"abs", decode_abs},
    {"min", decode_min_max<false>},
    {"max", decode_min_max<true>},
    {"tanh", decode_tanh},
    {"ex2", decode_ex2},
};

}  // namespace

constinit const OpFamily family{"half", kRows, true};

}  // namespace ww::sim::half_ops
