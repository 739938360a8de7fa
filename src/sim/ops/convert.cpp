// SPDX-License-Identifier: Apache-2.0
// Family convert: `cvt` between numbers, and cvt.pack. Registers may be wider than the types: the
// source's low bits count, and the result is extended. Pairs, tf32 and what is narrower are in
// convert_narrow.cpp.
#include <bit>
#include <cstdint>
#include <cstring>

#include "sim/ops/convert_lanes.h"
#include "sim/ops/convert_narrow.h"
#include "sim/ops/families.h"
#include "sim/ops/float_modes.h"
#include "sim/ops/track.h"

namespace ww::sim::convert_ops {
namespace {

using isa::Type;
using std::int16_t;
using std::int32_t;
using std::int64_t;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;

struct ConvertOp {
  Conversion how;
  uint8_t kept_bits = 0;  // of integers that only change their width: those that are not filled in
};

// --- any pair, through 64 bits ------------------------------------------------------------------

void read_lanes(const Warp& warp, Place place, unsigned bytes, uint64_t* out) {
  with_bytes(bytes, [&]<typename T>() {
    const T* from = warp.source<T>(place);
    for (unsigned l = 0; l < kLanes; ++l) out[l] = from[l];
  });
}
void write_lanes(Warp& warp, Place place, unsigned bytes, const uint64_t* values) {
  with_bytes(bytes, [&]<typename T>() {
    alignas(64) T kept[kLanes];
    for (unsigned l = 0; l < kLanes; ++l) kept[l] = static_cast<T>(values[l]);
    warp.write(place, kept);
  });
}

void run_any(Warp& warp, const Op& op) {
  const Conversion how = op.as<ConvertOp>().how;
  uint64_t values[kLanes];
  read_lanes(warp, op.p[1], how.from_bytes, values);
  for (uint64_t& value : values) value = convert(how, value);
  write_lanes(warp, op.p[0], how.to_bytes, values);
}

// --- integers that only change their width ------------------------------------------------------

// The conversion itself moves the marks: they are cut off and extended like the value.
void track_width(Warp& warp, const Op& op) {
  const Conversion how = op.as<ConvertOp>().how;
  const uint64_t in_register = ~uint64_t{0} >> (64U - 8U * how.to_bytes);
  track_lanes<uint64_t>(warp, op, 1, [&](unsigned l) {
    const auto undefined = undefined_in<uint64_t>(warp, op.p[1], l);
    return convert(how, undefined) & in_register;
  });
}

// Cuts off the bits above some number of them, or fills those with the highest that stays.
template <typename D, typename S, bool kSigned>
void run_extend(Warp& warp, const Op& op) {
  using Wide = std::conditional_t<(sizeof(D) > 4 || sizeof(S) > 4), uint64_t, uint32_t>;
  using T = std::conditional_t<kSigned, std::make_signed_t<Wide>, Wide>;
  apply_lanes<D, S>(warp, op, [unused = sizeof(T) * 8 - op.as<ConvertOp>().kept_bits](S value) {
    return static_cast<D>(static_cast<T>(Wide{value} << unused) >> unused);
  });
}

RunOp extend_run(unsigned to_bytes, unsigned from_bytes, bool by_sign) {
  return with_bytes(to_bytes, [&]<typename D>() {
    return with_bytes(from_bytes, [&]<typename S>() -> RunOp {
      return by_sign ? &run_extend<D, S, true> : &run_extend<D, S, false>;
    });
  });
}

bool is_signed(Type type) { return isa::info(type).cls == isa::TypeClass::Signed; }

// One extension does it, unless a signed source is widened to an unsigned type whose register is
// wider still.
RunOp pick_width_run(Op& op, const Conversion& how) {
  const int from = isa::info(how.from).bits;
  const int to = isa::info(how.to).bits;
  const bool widens = to > from;
  const bool by_sign = is_signed(widens ? how.from : how.to);
  if (widens && by_sign && !is_signed(how.to) && how.to_bytes * 8 > to) return &run_any;
  op.set(ConvertOp{how, static_cast<uint8_t>(widens ? from : to)});
  return extend_run(how.to_bytes, how.from_bytes, by_sign);
}

// --- common pairs -------------------------------------------------------------------------------

// Run functions for rn, rz, rm, rp (or rni …); null where it is left to run_any.
struct Pair {
  Type to, from;
  std::array<RunOp, 4> run;
};

template <auto F, typename D, typename S>
constexpr RunOp kRun = &map_lanes<F, D, S>;

template <typename D, typename Bits>
constexpr Pair float_to_int(Type to, Type from) {
  return {to, from, table_of<4>([]<std::size_t i>() -> RunOp {
            return kRun<float_to_int_lane<D, Bits, kRoundings[i]>, D, Bits>;
          })};
}
template <typename Bits, typename S>
constexpr Pair int_to_float(Type to, Type from) {
  return {to, from, {kRun<int_to_float_lane<Bits, S>, Bits, S>, nullptr, nullptr, nullptr}};
}
template <typename D, typename Format>
constexpr Pair half_to_int(Type to, Type from) {
  return {to, from, table_of<4>([]<std::size_t i>() -> RunOp {
            return kRun<half_to_int_lane<D, Format, kRoundings[i]>, D, uint16_t>;
          })};
}
// Only to nearest, or exact.
template <auto F, typename D, typename S>
constexpr Pair nearest(Type to, Type from) {
  return {to, from, {kRun<F, D, S>, nullptr, nullptr, nullptr}};
}
template <typename Format, auto Near, auto TowardZero>
constexpr Pair to_half(Type to) {
  return {to,
          Type::F32,
          {kRun<f32_to_half_lane<Format, Near>, uint16_t, uint32_t>,
           kRun<f32_to_half_lane<Format, TowardZero>, uint16_t, uint32_t>, nullptr, nullptr}};
}

constexpr Pair kPairs[] = {
    int_to_float<uint32_t, int32_t>(Type::F32, Type::S32),
    int_to_float<uint32_t, uint32_t>(Type::F32, Type::U32),
    int_to_float<uint32_t, int64_t>(Type::F32, Type::S64),
    int_to_float<uint32_t, uint64_t>(Type::F32, Type::U64),
    int_to_float<uint64_t, int32_t>(Type::F64, Type::S32),
    int_to_float<uint64_t, uint32_t>(Type::F64, Type::U32),
    int_to_float<uint64_t, int64_t>(Type::F64, Type::S64),
    int_to_float<uint64_t, uint64_t>(Type::F64, Type::U64),
    float_to_int<int32_t, uint32_t>(Type::S32, Type::F32),
    float_to_int<uint32_t, uint32_t>(Type::U32, Type::F32),
    float_to_int<int64_t, uint32_t>(Type::S64, Type::F32),
    float_to_int<uint64_t, uint32_t>(Type::U64, Type::F32),
    float_to_int<int32_t, uint64_t>(Type::S32, Type::F64),
    float_to_int<uint32_t, uint64_t>(Type::U32, Type::F64),
    float_to_int<int64_t, uint64_t>(Type::S64, Type::F64),
    float_to_int<uint64_t, uint64_t>(Type::U64, Type::F64),
    nearest<int_to_half_lane<F16, int32_t>, uint16_t, int32_t>(Type::F16, Type::S32),
    nearest<int_to_half_lane<F16, uint32_t>, uint16_t, uint32_t>(Type::F16, Type::U32),
    nearest<int_to_half_lane<F16, int16_t>, uint16_t, int16_t>(Type::F16, Type::S16),
    nearest<int_to_half_lane<F16, uint16_t>, uint16_t, uint16_t>(Type::F16, Type::U16),
    nearest<int_to_half_lane<Bf16, int32_t>, uint16_t, int32_t>(Type::Bf16, Type::S32),
    nearest<int_to_half_lane<Bf16, uint32_t>, uint16_t, uint32_t>(Type::Bf16, Type::U32),
    half_to_int<int32_t, F16>(Type::S32, Type::F16),
    half_to_int<uint32_t, F16>(Type::U32, Type::F16),
    half_to_int<int32_t, Bf16>(Type::S32, Type::Bf16),
    half_to_int<uint32_t, Bf16>(Type::U32, Type::Bf16),
    nearest<same_lane<uint32_t>, uint32_t, uint32_t>(Type::F32, Type::F32),
    nearest<same_lane<uint64_t>, uint64_t, uint64_t>(Type::F64, Type::F64),
    nearest<f32_to_f64_lane, uint64_t, uint32_t>(Type::F64, Type::F32),
    nearest<f16_to_f32_lane, uint32_t, uint16_t>(Type::F32, Type::F16),
    nearest<bf16_to_f32_lane, uint32_t, uint16_t>(Type::F32, Type::Bf16),
    to_half<F16, num::f32_to_f16, num::f32_to_f16_rz>(Type::F16),
    to_half<Bf16, num::f32_to_bf16, num::f32_to_bf16_rz>(Type::Bf16),
    {Type::F32, Type::F64, table_of<4>([]<std::size_t i>() -> RunOp {
       return kRun<f64_to_f32_lane<kRoundings[i]>, uint32_t, uint64_t>;
     })},
};
// Rounding to a whole number that stays an f32.
constexpr Pair kWhole{Type::F32, Type::F32, table_of<4>([]<std::size_t i>() -> RunOp {
                        return kRun<f32_to_whole_lane<kRoundings[i]>, uint32_t, uint32_t>;
                      })};

bool is_plain(const Conversion& how) {
  const auto fits = [](Type type, unsigned bytes) {
    return static_cast<unsigned>(isa::info(type).bits) == bytes * 8;
  };
  return !how.ftz && how.clamp == kNoClamp && fits(how.from, how.from_bytes) &&
         fits(how.to, how.to_bytes);
}

RunOp pick_pair_run(const Conversion& how, std::size_t rounding) {
  const auto run_of = [&](const Pair& pair) {
    return pair.run[rounding] != nullptr ? pair.run[rounding] : &run_any;
  };
  if (!is_plain(how)) return &run_any;
  if (how.to == how.from && how.integral) return how.to == Type::F32 ? run_of(kWhole) : &run_any;
  for (const Pair& pair : kPairs) {
    if (pair.to == how.to && pair.from == how.from) return run_of(pair);
  }
  return &run_any;
}

// --- decoders -----------------------------------------------------------------------------------

// `.sat` is for integers to integers and for floats; floats to integers always saturate.
Conversion read_conversion(const Decode& in) {
  Conversion how{.from = in.type("atype"), .to = in.type("dtype")};
  how.rounding = kRoundings[rounding_index(in.word("rnd"))];
  how.integral = in.word("rnd").is_one_of({"rni", "rzi", "rmi", "rpi"});
  how.ftz = in.has("ftz");
  const bool is_clamped_anyway = isa::is_whole(how.to) && !isa::is_whole(how.from);
  how.clamp =
      static_cast<uint8_t>((in.has("sat") && !is_clamped_anyway ? kSat : 0) |
                           (in.has("relu") ? kRelu : 0) | (in.has("satfinite") ? kFinite : 0));
  how.to_bytes = static_cast<uint8_t>(in.width(0));
  how.from_bytes = static_cast<uint8_t>(in.width(1));
  return how;
}

bool decode_cvt(Decode& in) {
  if (is_narrow_cvt(in)) return decode_narrow_cvt(in);
  const Conversion how = read_conversion(in);
  if (how.to_bytes > 8 || how.from_bytes > 8) {
    in.refusal = "conversions of 128-bit registers are not simulated";
    return false;
  }
  in.op.set(ConvertOp{how});
  if (isa::is_whole(how.to) && isa::is_whole(how.from) && how.clamp == kNoClamp) {
    in.op.track = &track_width;
    return decoded(in, pick_width_run(in.op, how));
  }
  return decoded(in, pick_pair_run(how, rounding_index(in.word("rnd"))));
}

// --- cvt.pack -----------------------------------------------------------------------------------

// a and b, clamped to `bits` bits, above each other: b lowest.
template <unsigned kBits, bool kSigned>
uint32_t pack_lane(uint32_t a, uint32_t b) {
  constexpr int32_t kHigh = (1 << (kSigned ? kBits - 1 : kBits)) - 1;
  constexpr int32_t kLow = kSigned ? -kHigh - 1 : 0;
  const auto one = [](uint32_t bits) {
    const auto value = static_cast<int32_t>(bits);
    const int32_t above = value > kLow ? value : kLow;
    return static_cast<uint32_t>(above < kHigh ? above : kHigh) & ((1U << kBits) - 1U);
  };
  return one(a) << kBits | one(b);
}
template <unsigned kBits, bool kSigned>
uint32_t pack_below_lane(uint32_t a, uint32_t b, uint32_t c) {
  return c << (2 * kBits) | pack_lane<kBits, kSigned>(a, b);
}

struct PackRow {
  Type type;
  RunOp run;
};
template <unsigned kBits, bool kSigned>
constexpr RunOp kPackBelow =
    &map_lanes<pack_below_lane<kBits, kSigned>, uint32_t, uint32_t, uint32_t, uint32_t>;
constexpr PackRow kPacks[] = {
    {Type::U16, &map_lanes<pack_lane<16, false>, uint32_t, uint32_t, uint32_t>},
    {Type::S16, &map_lanes<pack_lane<16, true>, uint32_t, uint32_t, uint32_t>},
    {Type::U8, kPackBelow<8, false>},
    {Type::S8, kPackBelow<8, true>},
    {Type::U4, kPackBelow<4, false>},
    {Type::S4, kPackBelow<4, true>},
    {Type::U2, kPackBelow<2, false>},
    {Type::S2, kPackBelow<2, true>},
};

bool decode_pack(Decode& in) {
  for (const PackRow& row : kPacks) {
    if (row.type == in.type("dtype")) return decoded(in, row.run);
  }
  return false;
}

constexpr OpRow kRows[] = {
    {"cvt", decode_cvt},
    {"cvt.pack", decode_pack},
};

}  // namespace

constinit const OpFamily family{"convert", kRows, true};

}  // namespace ww::sim::convert_ops
