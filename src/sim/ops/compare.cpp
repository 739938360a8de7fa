// SPDX-License-Identifier: Apache-2.0
// set, setp, selp, slct. Eighteen comparisons come down to five relations, with the operands
// exchanged or the answer turned: a > b is b < a, and the unordered a `ltu` b is not a >= b. A
// comparison of 32 lanes is a mask; everything after that (the opposite, combining with a
// predicate) is one operation on masks.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include "num/half_lanes.h"
#include "sim/checks/undefined.h"
#include "sim/ops/families.h"
#include "sim/ops/lane_ops.h"
#include "sim/ops/pred_source.h"
#include "sim/ops/track.h"

namespace ww::sim::compare_ops {
namespace {

using isa::Type;

using U16 = std::uint16_t;
using U32 = std::uint32_t;

// --- comparisons ---------------------------------------------------------------------------------

enum class Relation : std::uint8_t { Eq, Ne, Lt, Le, Num };

// Ne is ordered: false where there is a NaN.
template <Relation kRelation, typename T>
bool holds(T a, T b) {
  switch (kRelation) {
    case Relation::Eq:
      return a == b;
    case Relation::Ne:
      return a < b || b < a;
    case Relation::Lt:
      return a < b;
    case Relation::Le:
      return a <= b;
    case Relation::Num:
      return a == a && b == b;
  }
  return false;
}

struct Comparison {
  Word word;
  Relation relation;
  bool is_swapped, is_turned;
};
constexpr Comparison kComparisons[] = {
    {"eq", Relation::Eq, false, false},   {"ne", Relation::Ne, false, false},
    {"lt", Relation::Lt, false, false},   {"le", Relation::Le, false, false},
    {"gt", Relation::Lt, true, false},    {"ge", Relation::Le, true, false},
    {"lo", Relation::Lt, false, false},   {"ls", Relation::Le, false, false},
    {"hi", Relation::Lt, true, false},    {"hs", Relation::Le, true, false},
    {"equ", Relation::Ne, false, true},   {"neu", Relation::Eq, false, true},
    {"ltu", Relation::Le, true, true},    {"leu", Relation::Lt, true, true},
    {"gtu", Relation::Le, false, true},   {"geu", Relation::Lt, false, true},
    {"num", Relation::Num, false, false}, {"nan", Relation::Num, false, true},
};

// --- what is compared ----------------------------------------------------------------------------

using Test = Mask (*)(const void* a, const void* b);  // of all lanes

template <Relation kRelation, typename T>
Mask test(const void* a, const void* b) {
  return test_lanes<holds<kRelation, T>>(static_cast<const T*>(a), static_cast<const T*>(b));
}

// The lanes of a register as floats.
using ToFloats = void (*)(const void* bits, float* out);

template <typename Bits, auto kRead>
void to_floats(const void* bits, float* out) {
  const Bits* const in = static_cast<const Bits*>(bits);
  for (unsigned l = 0; l < kLanes; ++l) out[l] = kRead(in[l]);
}

float flushed(U32 bits) {
  return std::bit_cast<float>((bits & 0x7F800000U) == 0 ? bits & 0x80000000U : bits);
}
float f16(U16 bits) { return num::f16_to_f32(bits); }
float flushed_f16(U16 bits) {
  return num::f16_to_f32(static_cast<U16>((bits & 0x7C00U) == 0 ? bits & 0x8000U : bits));
}
float bf16(U16 bits) { return num::bf16_to_f32(bits); }

// Of a pair, the half that begins kShift bits up.
template <auto kRead, unsigned kShift>
float half_at(U32 word) {
  return kRead(static_cast<U16>(word >> kShift));
}

// One predicate and nothing to combine with: what loops end with.
template <Relation kRelation, typename T>
void run_setp_one(Warp& warp, const Op& op);

constexpr std::size_t kRelations = 5;

// How the values of a type are compared.
struct Values {
  std::array<Type, 2> types;
  bool is_flushed;  // with .ftz
  std::array<Test, kRelations> tests;
  std::array<RunOp, kRelations> setp_one{};
  ToFloats low = nullptr;   // null: the bits are compared as they are
  ToFloats high = nullptr;  // of a pair, the second number
};

template <typename T>
constexpr std::array<Test, kRelations> tests_of() {
  return {&test<Relation::Eq, T>, &test<Relation::Ne, T>, &test<Relation::Lt, T>,
          &test<Relation::Le, T>, &test<Relation::Num, T>};
}
template <typename T>
constexpr Values plain(Type one, Type other) {
  return {.types = {one, other},
          .is_flushed = false,
          .tests = tests_of<T>(),
          .setp_one = {&run_setp_one<Relation::Eq, T>, &run_setp_one<Relation::Ne, T>,
                       &run_setp_one<Relation::Lt, T>, &run_setp_one<Relation::Le, T>,
                       &run_setp_one<Relation::Num, T>}};
}
constexpr Values as_floats(Type type, bool is_flushed, ToFloats low, ToFloats high = nullptr) {
  return {.types = {type, type},
          .is_flushed = is_flushed,
          .tests = tests_of<float>(),
          .low = low,
          .high = high};
}
template <auto kRead>
constexpr Values halves(Type type, bool is_flushed) {
  return as_floats(type, is_flushed, &to_floats<U16, kRead>);
}
template <auto kRead>
constexpr Values pairs(Type type, bool is_flushed) {
  return as_floats(type, is_flushed, &to_floats<U32, half_at<kRead, 0>>,
                   &to_floats<U32, half_at<kRead, 16>>);
}

constexpr Values kValues[] = {
    plain<U16>(Type::B16, Type::U16),
    plain<U32>(Type::B32, Type::U32),
    plain<std::uint64_t>(Type::B64, Type::U64),
    plain<std::int16_t>(Type::S16, Type::S16),
    plain<std::int32_t>(Type::S32, Type::S32),
    plain<std::int64_t>(Type::S64, Type::S64),
    plain<double>(Type::F64, Type::F64),
    plain<float>(Type::F32, Type::F32),
    as_floats(Type::F32, true, &to_floats<U32, flushed>),
    halves<f16>(Type::F16, false),
    halves<flushed_f16>(Type::F16, true),
    pairs<f16>(Type::F16x2, false),
    pairs<flushed_f16>(Type::F16x2, true),
    halves<bf16>(Type::Bf16, false),
    pairs<bf16>(Type::Bf16x2, false),
};

// An index into kValues.
std::optional<std::uint8_t> values_of(Type type, bool ftz) {
  for (std::size_t i = 0; i < std::size(kValues); ++i) {
    const Values& values = kValues[i];
    if ((values.types[0] == type || values.types[1] == type) && values.is_flushed == ftz)
      return static_cast<std::uint8_t>(i);
  }
  return std::nullopt;
}

// --- setp and set --------------------------------------------------------------------------------
// Places: p[0] is the result, p[1] the second one of setp, p[2] and p[3] are compared, p[4] is the
// predicate to combine with (pred_source.h).

enum class CombineBy : std::uint8_t { None, And, Or, Xor };

struct CompareOp {
  std::uint32_t yes;    // of set: the result where it holds; of a pair in each half
  std::uint8_t values;  // an index into kValues
  Relation relation;
  std::uint8_t is_turned;  // 1: the relation's opposite is meant
  CombineBy combine_by;

  [[nodiscard]] const Values& how() const { return kValues[values]; }
};

Mask turned(Mask mask, const Op& op) {
  return mask ^ (Mask{0} - Mask{op.as<CompareOp>().is_turned});
}

template <Relation kRelation, typename T>
void run_setp_one(Warp& warp, const Op& op) {
  const Mask mask = test<kRelation, T>(warp.source<T>(op.p[2]), warp.source<T>(op.p[3]));
  warp.set_pred(op.p[0], turned(mask, op));
}

Mask compare(const Warp& warp, const Op& op, ToFloats to_floats) {
  const auto& it = op.as<CompareOp>();
  const Test test = it.how().tests[static_cast<std::size_t>(it.relation)];
  const auto* const a = warp.source<std::byte>(op.p[2]);
  const auto* const b = warp.source<std::byte>(op.p[3]);
  if (to_floats == nullptr) return turned(test(a, b), op);
  alignas(64) float values[2][kLanes];
  to_floats(a, values[0]);
  to_floats(b, values[1]);
  return turned(test(values[0], values[1]), op);
}

Mask combined(Mask test, const Warp& warp, const Op& op) {
  switch (op.as<CompareOp>().combine_by) {
    case CombineBy::And:
      return test & source_pred(warp, op, 4);
    case CombineBy::Or:
      return test | source_pred(warp, op, 4);
    case CombineBy::Xor:
      return test ^ source_pred(warp, op, 4);
    case CombineBy::None:
      break;
  }
  return test;
}

// The second predicate is the opposite, or that of the upper half.
void run_setp(Warp& warp, const Op& op) {
  const Values& values = op.as<CompareOp>().how();
  const Mask test = compare(warp, op, values.low);
  const Mask second = values.high != nullptr ? compare(warp, op, values.high) : ~test;
  const Mask p = combined(test, warp, op);
  const Mask q = combined(second, warp, op);
  warp.set_pred(op.p[0], p);
  if (op.p[1].present()) warp.set_pred(op.p[1], q);
}

// `yes` where it holds, else 0; of a pair for each half.
template <typename D>
void run_set(Warp& warp, const Op& op) {
  const Values& values = op.as<CompareOp>().how();
  const Mask low = combined(compare(warp, op, values.low), warp, op);
  const auto yes = static_cast<D>(op.as<CompareOp>().yes);
  alignas(64) D result[kLanes];
  for (unsigned l = 0; l < kLanes; ++l) result[l] = has_lane(low, l) ? yes : D{0};
  if (values.high != nullptr) {
    const Mask high = combined(compare(warp, op, values.high), warp, op);
    for (unsigned l = 0; l < kLanes; ++l) {
      result[l] = static_cast<D>(result[l] | (has_lane(high, l) ? U32{yes} << 16U : 0U));
    }
  }
  warp.write(op.p[0], result);
}

// The operands, and what of the modifiers is known when running. False: there is no such type.
bool take_comparison(Decode& in, std::uint32_t yes) {
  const auto values = values_of(in.type("type"), in.has("ftz"));
  if (!values) return false;
  const Comparison& comparison =
      *std::ranges::find(kComparisons, in.word("cmp"), &Comparison::word);
  const auto combine_by = in.word("bool").as<CombineBy>(
      {{"and", CombineBy::And}, {"or", CombineBy::Or}, {"xor", CombineBy::Xor}});
  in.op.set(CompareOp{.yes = yes,
                      .values = *values,
                      .relation = comparison.relation,
                      .is_turned = comparison.is_turned,
                      .combine_by = combine_by.value_or(CombineBy::None)});
  in.op.p[2] = in.source(1);
  in.op.p[3] = in.source(2);
  if (comparison.is_swapped) std::swap(in.op.p[2], in.op.p[3]);
  if (in.has("bool")) take_pred(in, 3, 4);
  return true;
}

bool decode_setp(Decode& in) {
  in.op.p[0] = in.result(0);
  in.op.p[1] = in.result_pair(0);
  if (!take_comparison(in, 0)) return false;
  const auto& it = in.op.as<CompareOp>();
  const RunOp one = it.how().setp_one[static_cast<std::size_t>(it.relation)];
  const bool is_one = one != nullptr && !in.op.p[1].present() && !in.has("bool");
  in.op.run = is_one ? one : &run_setp;
  return true;
}

// What `true` is in the result type; of a pair in each half.
std::uint32_t true_bits(Type result, bool is_pair) {
  switch (result) {
    case Type::F32:
      return 0x3F800000;
    case Type::F16:
    case Type::F16x2:
      return 0x3C00;
    case Type::Bf16:
    case Type::Bf16x2:
      return 0x3F80;
    default:
      return is_pair ? 0xFFFF : 0xFFFFFFFF;
  }
}

bool decode_set(Decode& in) {
  const Type type = in.type("type");
  const Type result = in.type("dtype");
  in.op.p[0] = in.result(0);
  if (!take_comparison(in, true_bits(result, type == Type::F16x2 || type == Type::Bf16x2)))
    return false;
  in.op.run = isa::info(result).bits == 16 ? &run_set<U16> : &run_set<U32>;
  return true;
}

// --- selp and slct -------------------------------------------------------------------------------

template <typename T>
void run_selp(Warp& warp, const Op& op) {
  num::in_lanes([&] {
    alignas(64) T chosen[kLanes];
    std::memcpy(chosen, warp.source<T>(op.p[2]), sizeof chosen);
    blend(chosen, warp.source<T>(op.p[1]), source_pred(warp, op, 3));
    warp.write(op.p[0], chosen);
  });
}

bool decode_selp(Decode& in) {
  in.op.run = pick_bits(in.type("type"), []<typename T>() -> RunOp { return &run_selp<T>; });
  in.op.track = pick_bits(in.type("type"), []<typename T>() -> RunOp { return &track_select<T>; });
  in.operands({in.result(0), in.source(1), in.source(2)});
  take_pred(in, 3, 3);
  return true;
}

constexpr auto kSlct = [](auto a, auto b, auto c) { return c >= 0 ? a : b; };
constexpr auto kSlctFlushed = [](auto a, auto b, U32 c) { return flushed(c) >= 0 ? a : b; };

// The bytes of the chosen one; where what chooses is undefined, those in which the two differ.
template <auto F, typename T, typename C>
void track_slct(Warp& warp, const Op& op) {
  calculate_with(warp, op.p[3], warp.exec, sizeof(C));
  track_lanes<T>(warp, op, 3, [&](unsigned l) {
    const T a = undefined_in<T>(warp, op.p[1], l);
    const T b = undefined_in<T>(warp, op.p[2], l);
    if (undefined_in<U32>(warp, op.p[3], l) != 0)
      return either(warp.source<T>(op.p[1])[l], warp.source<T>(op.p[2])[l], a, b);
    return F(a, b, warp.source<C>(op.p[3])[l]);
  });
}

template <auto F, typename C>
void take_slct(Decode& in) {
  const Type type = in.type("type");
  in.op.run = pick_bits(type, []<typename T>() -> RunOp { return &map_lanes<F, T, T, T, C>; });
  in.op.track = pick_bits(type, []<typename T>() -> RunOp { return &track_slct<F, T, C>; });
}

bool decode_slct(Decode& in) {
  if (in.type("ctype") == Type::S32) {
    take_slct<kSlct, std::int32_t>(in);
  } else if (in.has("ftz")) {
    take_slct<kSlctFlushed, U32>(in);
  } else {
    take_slct<kSlct, float>(in);
  }
  in.operands({in.result(0), in.source(1), in.source(2), in.source(3)});
  return true;
}

constexpr OpRow kRows[] = {
    {"set", decode_set}, {"setp", decode_setp}, {"selp", decode_selp}, {"slct", decode_slct}};

}  // namespace

constinit const OpFamily family{"compare", kRows, true};

}  // namespace ww::sim::compare_ops
