// SPDX-License-Identifier: Apache-2.0
// Family convert: pairs of halves, tf32, fp8, fp6, fp4 and ue8m0. Of two sources the first goes to
// the upper part; of four, the first to the uppermost.
#include "sim/ops/convert_narrow.h"

#include <array>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "sim/ops/convert_lanes.h"
#include "sim/ops/float_modes.h"
#include "sim/ops/narrow_lanes.h"

namespace ww::sim {
namespace {

using isa::Type;
using std::uint16_t;
using std::uint32_t;
using std::uint8_t;

// --- from lane functions to run functions -------------------------------------------------------

// Two sources packed into one register.
template <auto F, unsigned kBits, typename D>
D pack_lane(uint32_t a, uint32_t b) {
  return static_cast<D>(uint32_t{F(a)} << kBits | F(b));
}
// Two numbers in a register of type S, kFrom bits each, to two of kTo bits.
template <auto F, unsigned kTo, unsigned kFrom, typename D, typename S>
D repack_lane(S a) {
  const uint32_t pair = a;
  return static_cast<D>(uint32_t{F(pair >> kFrom)} << kTo | F(pair & ((1U << kFrom) - 1U)));
}

template <auto F, unsigned kBits, typename D>
constexpr RunOp kPack = &map_rare_lanes<pack_lane<F, kBits, D>, D, uint32_t, uint32_t>;
template <auto F, unsigned kTo, unsigned kFrom, typename D, typename S>
constexpr RunOp kRepack = &map_rare_lanes<repack_lane<F, kTo, kFrom, D, S>, D, S>;

// --- the table ----------------------------------------------------------------------------------

// A run function for each set of modifiers; the ones that the form requires make no difference.
constexpr std::size_t kWithRelu = 1;
constexpr std::size_t kWithFinite = 2;
constexpr std::size_t kWithRz = 4;
using Runs = std::array<RunOp, 8>;

struct Row {
  Type to, from;
  Runs runs;
};

constexpr Runs by_relu(RunOp plain, RunOp relu) {
  return {plain, relu, plain, relu, plain, relu, plain, relu};
}

// Fp8 and fp6 are in a byte each, fp4 in half a byte; a register holds two.
template <Narrow kFormat>
constexpr unsigned kSlot = kFormat.bits == 4 ? 4 : 8;
template <Narrow kFormat>
using PairOf = std::conditional_t<kFormat.bits == 4, uint8_t, uint16_t>;

template <Narrow kTo>
constexpr Runs from_f32() {
  return by_relu(kPack<f32_to_narrow_lane<kTo, false>, kSlot<kTo>, PairOf<kTo>>,
                 kPack<f32_to_narrow_lane<kTo, true>, kSlot<kTo>, PairOf<kTo>>);
}
template <Narrow kTo>
constexpr Runs from_f16x2() {
  return by_relu(kRepack<f16_to_narrow_lane<kTo, false>, kSlot<kTo>, 16, PairOf<kTo>, uint32_t>,
                 kRepack<f16_to_narrow_lane<kTo, true>, kSlot<kTo>, 16, PairOf<kTo>, uint32_t>);
}
template <Narrow kFrom>
constexpr Runs to_f16x2() {
  return by_relu(
      kRepack<narrow_to_f16_lane<kFrom, false>, 16, kSlot<kFrom>, uint32_t, PairOf<kFrom>>,
      kRepack<narrow_to_f16_lane<kFrom, true>, 16, kSlot<kFrom>, uint32_t, PairOf<kFrom>>);
}

template <typename Format, auto Near, auto TowardZero>
constexpr Runs halves() {
  return table_of<8>([]<std::size_t i>() -> RunOp {
    constexpr auto kRounding = (i & kWithRz) != 0 ? TowardZero : Near;
    constexpr auto kClamp = static_cast<uint8_t>(((i & kWithRelu) != 0 ? kRelu : 0) |
                                                 ((i & kWithFinite) != 0 ? kFinite : 0));
    return kPack<f32_to_half_lane<Format, kRounding, kClamp>, 16, uint32_t>;
  });
}

constexpr Runs powers_of_two() {  // .rp without .rz
  return table_of<8>([]<std::size_t i>() -> RunOp {
    return kPack<f32_to_ue8m0_lane<(i & kWithRz) == 0, (i & kWithFinite) != 0>, 8, uint16_t>;
  });
}
template <bool kUp, bool kFinite>
uint32_t bf16_to_ue8m0_lane(uint32_t bf16) {
  return f32_to_ue8m0_lane<kUp, kFinite>(bf16 << 16U);
}
constexpr Runs powers_of_two_of_bf16x2() {
  return table_of<8>([]<std::size_t i>() -> RunOp {
    constexpr auto kLane = bf16_to_ue8m0_lane<(i & kWithRz) == 0, (i & kWithFinite) != 0>;
    return kRepack<kLane, 8, 16, uint16_t, uint32_t>;
  });
}
constexpr Runs bf16x2_of_powers_of_two() {
  constexpr RunOp kRun = kRepack<ue8m0_to_bf16_lane, 16, 8, uint32_t, uint16_t>;
  return by_relu(kRun, kRun);
}

constexpr Runs tf32() {
  return table_of<8>([]<std::size_t i>() -> RunOp {
    constexpr Rounding kR = (i & kWithRz) != 0 ? Rounding::TowardZero : Rounding::NearestEven;
    return &map_rare_lanes<f32_to_tf32_lane<kR, (i & kWithRelu) != 0, (i & kWithFinite) != 0>,
                           uint32_t, uint32_t>;
  });
}
constexpr Runs tf32_away() {
  return table_of<8>([]<std::size_t i>() -> RunOp {
    constexpr auto kLane = f32_to_tf32_lane<Rounding::NearestAway, false, (i & kWithFinite) != 0>;
    return &map_rare_lanes<kLane, uint32_t, uint32_t>;
  });
}

constexpr Row kTable[] = {
    {Type::F16x2, Type::F32, halves<F16, num::f32_to_f16, num::f32_to_f16_rz>()},
    {Type::Bf16x2, Type::F32, halves<Bf16, num::f32_to_bf16, num::f32_to_bf16_rz>()},
    {Type::Tf32, Type::F32, tf32()},
    {Type::E4m3x2, Type::F32, from_f32<kE4m3>()},
    {Type::E5m2x2, Type::F32, from_f32<kE5m2>()},
    {Type::E2m3x2, Type::F32, from_f32<kE2m3>()},
    {Type::E3m2x2, Type::F32, from_f32<kE3m2>()},
    {Type::E2m1x2, Type::F32, from_f32<kE2m1>()},
    {Type::E4m3x2, Type::F16x2, from_f16x2<kE4m3>()},
    {Type::E5m2x2, Type::F16x2, from_f16x2<kE5m2>()},
    {Type::F16x2, Type::E4m3x2, to_f16x2<kE4m3>()},
    {Type::F16x2, Type::E5m2x2, to_f16x2<kE5m2>()},
    {Type::F16x2, Type::E2m3x2, to_f16x2<kE2m3>()},
    {Type::F16x2, Type::E3m2x2, to_f16x2<kE3m2>()},
    {Type::F16x2, Type::E2m1x2, to_f16x2<kE2m1>()},
    {Type::Ue8m0x2, Type::F32, powers_of_two()},
    {Type::Ue8m0x2, Type::Bf16x2, powers_of_two_of_bf16x2()},
    {Type::Bf16x2, Type::Ue8m0x2, bf16x2_of_powers_of_two()},
};
constexpr Runs kTf32Away = tf32_away();

std::size_t modifiers_of(const Decode& in) {
  return (in.has("relu") ? kWithRelu : 0U) + (in.has("satfinite") ? kWithFinite : 0U) +
         (in.word("rnd") == "rz" ? kWithRz : 0U);
}

// --- rounding by chance -------------------------------------------------------------------------

// Where the random bits of the numbers are: f16 takes 13, bf16 16, the lower ones for the lower
// number; of four numbers each takes a byte.
template <Narrow kTo>
constexpr unsigned kChanceBits = kTo == kF16Codes ? 13 : (kTo == kBf16Codes ? 16 : 8);

template <Narrow kTo, bool kRelu, bool kFinite>
uint32_t chance_pair_lane(uint32_t a, uint32_t b, uint32_t random) {
  constexpr auto kLane = f32_by_chance_lane<kTo, kRelu, kFinite>;
  return kLane(a, random >> 16U, kChanceBits<kTo>) << 16U | kLane(b, random, kChanceBits<kTo>);
}

template <Narrow kTo>
constexpr Runs chance_pairs() {
  return table_of<8>([]<std::size_t i>() -> RunOp {
    constexpr auto kLane = chance_pair_lane<kTo, (i & kWithRelu) != 0, (i & kWithFinite) != 0>;
    return &map_rare_lanes<kLane, uint32_t, uint32_t, uint32_t, uint32_t>;
  });
}

// Four sources are p[1] to p[4]; the random bits are the one further place.
template <Narrow kTo, bool kRelu, typename D>
void run_chance_four(Warp& warp, const Op& op) {
  const uint32_t* random = warp.source<uint32_t>(warp.places(op)[0]);
  alignas(64) D kept[kLanes] = {};
  for (unsigned i = 0; i < 4; ++i) {
    const uint32_t* from = warp.source<uint32_t>(op.p[4 - i]);
    for (unsigned l = 0; l < kLanes; ++l) {
      const uint32_t code =
          f32_by_chance_lane<kTo, kRelu, true>(from[l], random[l] >> (8 * i), kChanceBits<kTo>);
      kept[l] = static_cast<D>(kept[l] | code << (kSlot<kTo> * i));
    }
  }
  warp.write(op.p[0], kept);
}

template <Narrow kTo, typename D>
constexpr Runs chance_four() {
  return by_relu(&run_chance_four<kTo, false, D>, &run_chance_four<kTo, true, D>);
}

constexpr Row kChances[] = {
    {Type::F16x2, Type::F32, chance_pairs<kF16Codes>()},
    {Type::Bf16x2, Type::F32, chance_pairs<kBf16Codes>()},
    {Type::E4m3x4, Type::F32, chance_four<kE4m3, uint32_t>()},
    {Type::E5m2x4, Type::F32, chance_four<kE5m2, uint32_t>()},
    {Type::E2m3x4, Type::F32, chance_four<kE2m3, uint32_t>()},
    {Type::E3m2x4, Type::F32, chance_four<kE3m2, uint32_t>()},
    {Type::E2m1x4, Type::F32, chance_four<kE2m1, uint16_t>()},
};

bool decode_four(Decode& in, RunOp run) {
  const std::vector<Place> from = in.sources(1);
  in.op.run = run;
  in.operands({in.result(0), from[0], from[1], from[2], from[3]});
  const Place random[] = {in.source(2)};
  in.further(random);
  return true;
}

// --- decoders -----------------------------------------------------------------------------------

RunOp find_run(std::span<const Row> rows, const Decode& in) {
  for (const Row& row : rows) {
    if (row.to == in.type("dtype") && row.from == in.type("atype")) {
      return row.runs[modifiers_of(in)];
    }
  }
  return nullptr;
}

bool is_scalar(Type type) {
  return isa::is_whole(type) || type == Type::F16 || type == Type::Bf16 || type == Type::F32 ||
         type == Type::F64;
}

}  // namespace

bool is_narrow_cvt(const Decode& in) {
  return !is_scalar(in.type("dtype")) || !is_scalar(in.type("atype"));
}

bool decode_narrow_cvt(Decode& in) {
  if (in.has("rs")) {
    const RunOp run = find_run(kChances, in);
    const bool is_four = run != nullptr && in.count() == 3;
    return is_four ? decode_four(in, run) : decoded(in, run);
  }
  return decoded(in, in.has("rna") ? kTf32Away[modifiers_of(in)] : find_run(kTable, in));
}

}  // namespace ww::sim
