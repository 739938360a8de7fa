// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic, carries, bit fields and dot products. The arithmetic itself is in
// integer_lanes.h; here is which function a form gets.
#include "sim/checks/undefined.h"
#include "sim/ops/families.h"
#include "sim/ops/integer_lanes.h"
#include "sim/ops/lane_ops.h"
#include "sim/ops/track.h"

namespace ww::sim::integer_ops {
namespace {

using isa::Type;

using S16 = std::int16_t;
using S32 = std::int32_t;
using S64 = std::int64_t;
using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

// One result and then sources, as nearly all forms here.
bool finish(Decode& in, RunOp run) {
  in.op.run = run;
  in.op.p[0] = in.result(0);
  for (std::size_t i = 1; i < in.count(); ++i) in.op.p[i] = in.source(i);
  return run != nullptr;
}

// --- lane by lane --------------------------------------------------------------------------------

template <auto F, typename T, std::size_t... I>
RunOp same_type(std::index_sequence<I...>) {
  return &map_lanes<F, T, std::conditional_t<I == 0, T, T>...>;
}
// F of kSources values of the form's type.
template <auto F, unsigned kSources>
RunOp int_run(Type type) {
  return pick_int(
      type, []<typename T>() { return same_type<F, T>(std::make_index_sequence<kSources>{}); });
}
template <auto F, unsigned kSources>
bool decode_int(Decode& in) {
  return finish(in, int_run<F, kSources>(in.type("type")));
}

// The same of two values, or of two in each word.
template <auto F>
RunOp packable_run(Type type) {
  if (type == Type::S16x2) return &map_lanes<lane::on_halves<F, S16>, U32, U32, U32>;
  if (type == Type::U16x2) return &map_lanes<lane::on_halves<F, U16>, U32, U32, U32>;
  return int_run<F, 2>(type);
}
template <auto F, auto Relu>
bool decode_extreme(Decode& in) {
  const Type type = in.type("type");
  return finish(in, in.has("relu") ? packable_run<Relu>(type) : packable_run<F>(type));
}

// A function object for `.u32` or `.s32`, with as many sources as given.
template <auto F, typename... S>
RunOp word_run(Type type) {
  return type == Type::S32 ? &map_rare_lanes<F, S32, S32, S32, std::conditional_t<true, S32, S>...>
                           : &map_rare_lanes<F, U32, U32, U32, std::conditional_t<true, U32, S>...>;
}

// --- products ------------------------------------------------------------------------------------

template <typename T>
RunOp mul_wide() {
  return &map_lanes<lane::kMulWide, lane::Double<T>, T, T>;
}
template <typename T>
RunOp mad_wide() {
  return &map_lanes<lane::kThenAdd<lane::kMulWide>, lane::Double<T>, T, T, lane::Double<T>>;
}
// Of 16 and 32 bits.
template <typename Pick>
RunOp pick_narrow(Type type, Pick&& pick) {
  return pick_int(type, [&]<typename T>() -> RunOp {
    if constexpr (sizeof(T) <= 4) return pick.template operator()<T>();
    return nullptr;
  });
}

bool decode_mul(Decode& in) {
  const Type type = in.type("type");
  if (in.has("wide"))
    return finish(in, pick_narrow(type, []<typename T>() { return mul_wide<T>(); }));
  return finish(in, in.word("mode") == "hi" ? int_run<lane::kMulHi, 2>(type)
                                            : int_run<lane::kMulLo, 2>(type));
}

bool decode_mul24(Decode& in) {
  const Type type = in.type("type");
  return finish(in, in.word("mode") == "hi" ? word_run<lane::kMul24Hi>(type)
                                            : word_run<lane::kMul24Lo>(type));
}

bool decode_mad24(Decode& in) {
  using lane::kThenAdd;
  const Type type = in.type("type");
  if (in.has("sat")) {
    return finish(in, &map_rare_lanes<lane::kThenAddSat<lane::kMul24Hi>, S32, S32, S32, S32>);
  }
  return finish(in, in.word("mode") == "hi" ? word_run<kThenAdd<lane::kMul24Hi>, U32>(type)
                                            : word_run<kThenAdd<lane::kMul24Lo>, U32>(type));
}

// --- carry ---------------------------------------------------------------------------------------

enum class CarryIn : std::uint8_t { Clear, Set, Read };  // subtraction starts with 1
struct CarryOp {
  CarryIn in;
  bool writes;
};

// p[0] = F(p[1], …, carry in); the carry flag is the place behind the sources.
template <auto F, typename D, typename... S>
void run_carry(Warp& warp, const Op& op) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    const Place flag = op.p[sizeof...(S) + 1];
    const auto [carry_in, writes] = op.as<CarryOp>();
    const Mask start = carry_in == CarryIn::Set ? kAllLanes : 0;
    const Mask before = carry_in == CarryIn::Read ? warp.pred(flag) : start;
    Mask after = 0;
    alignas(64) D value[kLanes];
    for (unsigned l = 0; l < kLanes; ++l) {
      const auto sum = F(warp.source<S>(op.p[I + 1])[l]..., has_lane(before, l));
      value[l] = sum.value;
      after |= static_cast<Mask>(sum.carry) << l;
    }
    warp.write(op.p[0], value);
    if (writes) warp.set_pred(flag, after);
  }
  (std::index_sequence_for<S...>{});
}

template <auto F>
RunOp carry_run2(Type type) {
  return pick_int(type, []<typename T>() -> RunOp {
    if constexpr (sizeof(T) >= 4) return &run_carry<F, T, T, T>;
    return nullptr;
  });
}
template <auto Mul>
RunOp carry_run3(Type type) {
  return pick_int(type, []<typename T>() -> RunOp {
    if constexpr (sizeof(T) >= 4) return &run_carry<lane::kMadCarry<Mul>, T, T, T, T>;
    return nullptr;
  });
}

bool finish_carry(Decode& in, RunOp run, CarryIn before) {
  in.op.set(CarryOp{before, in.has("cc")});
  in.op.p[in.count()] = in.carry();
  return finish(in, run);
}

bool decode_add(Decode& in) {
  const Type type = in.type("type");
  if (in.has("cc")) return finish_carry(in, carry_run2<lane::kAddCarry>(type), CarryIn::Clear);
  if (in.has("sat")) return finish(in, &map_lanes<lane::add_sat, S32, S32, S32>);
  return finish(in, packable_run<lane::kAdd>(type));
}
bool decode_sub(Decode& in) {
  const Type type = in.type("type");
  if (in.has("cc")) return finish_carry(in, carry_run2<lane::kSubCarry>(type), CarryIn::Set);
  if (in.has("sat")) return finish(in, &map_lanes<lane::sub_sat, S32, S32, S32>);
  return finish(in, int_run<lane::kSub, 2>(type));
}
bool decode_addc(Decode& in) {
  return finish_carry(in, carry_run2<lane::kAddCarry>(in.type("type")), CarryIn::Read);
}
bool decode_subc(Decode& in) {
  return finish_carry(in, carry_run2<lane::kSubCarry>(in.type("type")), CarryIn::Read);
}

RunOp mad_carry_run(const Decode& in) {
  const Type type = in.type("type");
  return in.word("mode") == "hi" ? carry_run3<lane::kMulHi>(type) : carry_run3<lane::kMulLo>(type);
}
bool decode_madc(Decode& in) { return finish_carry(in, mad_carry_run(in), CarryIn::Read); }

bool decode_mad(Decode& in) {
  const Type type = in.type("type");
  if (in.has("cc")) return finish_carry(in, mad_carry_run(in), CarryIn::Clear);
  if (in.has("wide"))
    return finish(in, pick_narrow(type, []<typename T>() { return mad_wide<T>(); }));
  if (in.has("sat")) {
    return finish(in, &map_rare_lanes<lane::kThenAddSat<lane::kMulHi>, S32, S32, S32, S32>);
  }
  return finish(in, in.word("mode") == "hi" ? int_run<lane::kThenAdd<lane::kMulHi>, 3>(type)
                                            : int_run<lane::kThenAdd<lane::kMulLo>, 3>(type));
}

// --- bits ----------------------------------------------------------------------------------------

template <auto F>
bool decode_count(Decode& in) {
  const bool is_wide = in.type("type") == Type::B64;
  return finish(in, is_wide ? &map_lanes<F, U32, U64> : &map_lanes<F, U32, U32>);
}

template <auto F>
RunOp find_run(Type type) {
  return pick_int(type, []<typename T>() -> RunOp {
    if constexpr (sizeof(T) >= 4) return &map_lanes<F, U32, T>;
    return nullptr;
  });
}
bool decode_bfind(Decode& in) {
  const Type type = in.type("type");
  return finish(in, in.has("shiftamt") ? find_run<lane::kBfind<true>>(type)
                                       : find_run<lane::kBfind<false>>(type));
}

bool decode_fns(Decode& in) { return finish(in, &map_rare_lanes<lane::fns, U32, U32, U32, S32>); }

template <auto F, unsigned kData, typename D, typename... S>
bool finish_moved(Decode& in) {
  in.op.track = &track_moved_lanes<F, kData, D, S...>;
  return finish(in, &map_lanes<F, D, S...>);
}

bool decode_brev(Decode& in) {
  return in.type("type") == Type::B64 ? finish_moved<lane::kBrev, 1, U64, U64>(in)
                                      : finish_moved<lane::kBrev, 1, U32, U32>(in);
}

// Whether place and length, operands `at` and the next, are constants: packed into one Constant then.
bool take_field(Decode& in, std::size_t at) {
  const auto is_byte = [&in](std::size_t i) {
    return in.is_immediate(i) && in.immediate(i) >= 0 && in.immediate(i) < 256;
  };
  if (!is_byte(at) || !is_byte(at + 1)) return false;
  in.op.set(Constant{in.immediate(at) | (in.immediate(at + 1) << 8)});
  return true;
}

template <typename T>
bool decode_bfe_of(Decode& in) {
  if (!take_field(in, 2)) return finish_moved<lane::kBfe, 1, T, T, U32, U32>(in);
  in.op.track = &track_moved_imm<lane::kBfeImm, T, T>;
  return finish(in, &map_lanes_imm<lane::kBfeImm, T, T>);
}
bool decode_bfe(Decode& in) {
  return pick_int(in.type("type"), [&]<typename T>() {
    if constexpr (sizeof(T) >= 4) return decode_bfe_of<T>(in);
    return false;
  });
}

template <typename T>
bool decode_bfi_of(Decode& in) {
  if (!take_field(in, 3)) return finish_moved<lane::kBfi, 2, T, T, T, U32, U32>(in);
  in.op.track = &track_moved_imm<lane::kBfiImm, T, T, T>;
  return finish(in, &map_lanes_imm<lane::kBfiImm, T, T, T>);
}
bool decode_bfi(Decode& in) {
  return in.type("type") == Type::B64 ? decode_bfi_of<U64>(in) : decode_bfi_of<U32>(in);
}

bool decode_bmsk(Decode& in) {
  return finish(in, in.word("mode") == "wrap" ? &map_rare_lanes<lane::bmsk<true>, U32, U32, U32>
                                              : &map_rare_lanes<lane::bmsk<false>, U32, U32, U32>);
}

template <bool kWrap>
RunOp szext_run(Type type) {
  return type == Type::S32 ? &map_rare_lanes<lane::kSzext<kWrap>, S32, S32, U32>
                           : &map_rare_lanes<lane::kSzext<kWrap>, U32, U32, U32>;
}
bool decode_szext(Decode& in) {
  const Type type = in.type("type");
  return finish(in, in.word("mode") == "wrap" ? szext_run<true>(type) : szext_run<false>(type));
}

// --- dot products --------------------------------------------------------------------------------

// pick.template operator()<A, B>() for the signs of the two sources.
template <typename Signed, typename Unsigned, typename SignedB, typename UnsignedB, typename Pick>
RunOp pick_signs(const Decode& in, Pick&& pick) {
  const bool a = in.type("atype") == Type::S32;
  const bool b = in.type("btype") == Type::S32;
  if (a) {
    return b ? pick.template operator()<Signed, SignedB>()
             : pick.template operator()<Signed, UnsignedB>();
  }
  return b ? pick.template operator()<Unsigned, SignedB>()
           : pick.template operator()<Unsigned, UnsignedB>();
}

bool decode_dp4a(Decode& in) {
  return finish(in, pick_signs<std::int8_t, std::uint8_t, std::int8_t, std::uint8_t>(
                        in, []<typename A, typename B>() -> RunOp {
                          return &map_rare_lanes<lane::dp4a<A, B>, U32, U32, U32, U32>;
                        }));
}

template <unsigned kFirst>
RunOp dp2a_run(const Decode& in) {
  return pick_signs<S16, U16, std::int8_t, std::uint8_t>(in, []<typename A, typename B>() -> RunOp {
    return &map_rare_lanes<lane::dp2a<A, B, kFirst>, U32, U32, U32, U32>;
  });
}
// Of the second source only two bytes take part.
template <unsigned kFirst>
void track_dp2a(Warp& warp, const Op& op) {
  calculate_with(warp, op.p[1], warp.exec, 4);
  calculate_with(warp, op.p[3], warp.exec, 4);
  const auto used = [&](unsigned l) {
    return (undefined_in<U32>(warp, op.p[2], l) >> (8 * kFirst)) & 0xFFFFU;
  };
  Mask second = 0;
  for_each_lane(warp.exec, [&](unsigned l) { second |= used(l) != 0 ? lane_bit(l) : 0; });
  if (second != 0) calculate_with(warp, op.p[2], second, 4);
  track_whole<U32>(warp, op, 3, [&](unsigned l) {
    return (undefined_in<U32>(warp, op.p[1], l) | undefined_in<U32>(warp, op.p[3], l) | used(l)) !=
           0;
  });
}
bool decode_dp2a(Decode& in) {
  const bool is_high = in.word("mode") == "hi";
  in.op.track = is_high ? &track_dp2a<2> : &track_dp2a<0>;
  return finish(in, is_high ? dp2a_run<2>(in) : dp2a_run<0>(in));
}

constexpr OpRow kRows[] = {
    {"add", decode_add},
    {"sub", decode_sub},
    {"mul", decode_mul},
    {"mad", decode_mad},
    {"mul24", decode_mul24},
    {"mad24", decode_mad24},
    {"sad", decode_int<lane::kSad, 3>},
    {"div", decode_int<lane::kDiv, 2>},
    {"rem", decode_int<lane::kRem, 2>},
    {"abs", decode_int<lane::kAbs, 1>},
    {"neg", decode_int<lane::kNegate, 1>},
    {"min", decode_extreme<lane::kMin, lane::kMinRelu>},
    {"max", decode_extreme<lane::kMax, lane::kMaxRelu>},
    {"addc", decode_addc},
    {"subc", decode_subc},
    {"madc", decode_madc},
    {"popc", decode_count<lane::kPopc>},
    {"clz", decode_count<lane::kClz>},
    {"bfind", decode_bfind},
    {"fns", decode_fns},
    {"brev", decode_brev},
    {"bfe", decode_bfe},
    {"bfi", decode_bfi},
    {"bmsk", decode_bmsk},
    {"szext", decode_szext},
    {"dp4a", decode_dp4a},
    {"dp2a", decode_dp2a},
};

}  // namespace

constinit const OpFamily family{"integer", kRows, true};

}  // namespace ww::sim::integer_ops
