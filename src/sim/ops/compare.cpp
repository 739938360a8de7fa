// SPDX-License-Identifier: Apache-2.0
// set, setp, selp, slct. Eighteen comparisons come down to five relations, with the operands
// exchanged or the answer turned: a > b is b < a, and the unordered a `ltu` b is not a >= b. A
// comparison of 32 lanes is a mask; everything after that (the opposite, combining with a
// predicate) is one operation on masks.
#include <bit>
#include <cstring>
#include <type_traits>
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
  std::string_view word;
  Relation relation;
  bool is_swapped;
  bool is_turned;
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

const Comparison* find_comparison(std::string_view word) {
  for (const Comparison& row : kComparisons) {
    if (row.word == word) return &row;
  }
  return nullptr;
}

// --- what is compared
// ----------------------------------------------------------------------------- A reader: the bits
// of a lane, and the number that they are.

template <typename T>
struct Plain {
  using Bits = T;
  static T read(T value) { return value; }
};
float flushed(U32 bits) {
  return std::bit_cast<float>((bits & 0x7F800000U) == 0 ? bits & 0x80000000U : bits);
}
struct FlushedF32 {
  using Bits = U32;
  static float read(U32 bits) { return flushed(bits); }
};
U16 flushed_half(U16 bits) {
  return static_cast<U16>((bits & 0x7C00U) == 0 ? bits & 0x8000U : bits);
}

// `Word` is the register: a half by itself or, of a pair, the one kShift bits up.
template <typename Word, unsigned kShift>
struct HalfAt {
  using Bits = Word;
  static U16 half(Word word) { return static_cast<U16>(word >> kShift); }
};
template <typename Word, unsigned kShift>
struct F16At : HalfAt<Word, kShift> {
  static float read(Word word) { return num::f16_to_f32(F16At::half(word)); }
};
template <typename Word, unsigned kShift>
struct FlushedF16At : HalfAt<Word, kShift> {
  static float read(Word word) { return num::f16_to_f32(flushed_half(FlushedF16At::half(word))); }
};
template <typename Word, unsigned kShift>
struct Bf16At : HalfAt<Word, kShift> {
  static float read(Word word) { return num::bf16_to_f32(Bf16At::half(word)); }
};

// One number in a register, or two.
template <typename Reader>
struct Single {
  using Low = Reader;
  using High = Reader;
  static constexpr bool kIsPair = false;
};
template <template <typename, unsigned> class Reader>
struct Pair {
  using Low = Reader<U32, 0>;
  using High = Reader<U32, 16>;
  static constexpr bool kIsPair = true;
};

template <typename Pick>
RunOp pick_values(Type type, bool ftz, Pick&& pick) {
  // clang-format off
  switch (type) {
    case Type::B16: case Type::U16: return pick.template operator()<Single<Plain<U16>>>();
    case Type::B32: case Type::U32: return pick.template operator()<Single<Plain<U32>>>();
    case Type::B64: case Type::U64: return pick.template operator()<Single<Plain<std::uint64_t>>>();
    case Type::S16: return pick.template operator()<Single<Plain<std::int16_t>>>();
    case Type::S32: return pick.template operator()<Single<Plain<std::int32_t>>>();
    case Type::S64: return pick.template operator()<Single<Plain<std::int64_t>>>();
    case Type::F64: return pick.template operator()<Single<Plain<double>>>();
    case Type::F32: return ftz ? pick.template operator()<Single<FlushedF32>>()
                               : pick.template operator()<Single<Plain<float>>>();
    case Type::F16: return ftz ? pick.template operator()<Single<FlushedF16At<U16, 0>>>()
                               : pick.template operator()<Single<F16At<U16, 0>>>();
    case Type::F16x2: return ftz ? pick.template operator()<Pair<FlushedF16At>>()
                                 : pick.template operator()<Pair<F16At>>();
    case Type::Bf16: return pick.template operator()<Single<Bf16At<U16, 0>>>();
    case Type::Bf16x2: return pick.template operator()<Pair<Bf16At>>();
    default: return nullptr;
  }
  // clang-format on
}

template <typename Pick>
RunOp pick_relation(Relation relation, Pick&& pick) {
  switch (relation) {
    case Relation::Eq:
      return pick.template operator()<Relation::Eq>();
    case Relation::Ne:
      return pick.template operator()<Relation::Ne>();
    case Relation::Lt:
      return pick.template operator()<Relation::Lt>();
    case Relation::Le:
      return pick.template operator()<Relation::Le>();
    case Relation::Num:
      return pick.template operator()<Relation::Num>();
  }
  return nullptr;
}

// --- setp and set
// --------------------------------------------------------------------------------- Places: p[0] is
// the result, p[1] the second one of setp, p[2] and p[3] are compared, p[4] is the predicate to
// combine with, which bit 4 of op.mode turns (pred_source.h). Other bits of op.mode:

constexpr unsigned kTurned = 1;   // the relation's opposite is meant
constexpr unsigned kCombine = 6;  // two bits:
constexpr unsigned kCombineAnd = 2;
constexpr unsigned kCombineOr = 4;
constexpr unsigned kCombineXor = 6;

// Of halves the numbers are made first: a loop that also compared them would not be vectorised.
template <Relation kRelation, typename Reader>
Mask compare(const Warp& warp, const Op& op) {
  using Bits = typename Reader::Bits;
  using Value = decltype(Reader::read(Bits{}));
  const Bits* const a = warp.source<Bits>(op.p[2]);
  const Bits* const b = warp.source<Bits>(op.p[3]);
  const Mask turn = Mask{0} - (op.mode & kTurned);
  if constexpr (std::is_same_v<Bits, Value>) {
    return test_lanes<holds<kRelation, Value>>(a, b) ^ turn;
  } else {
    alignas(64) Value values[2][kLanes];
    for (unsigned l = 0; l < kLanes; ++l) values[0][l] = Reader::read(a[l]);
    for (unsigned l = 0; l < kLanes; ++l) values[1][l] = Reader::read(b[l]);
    return test_lanes<holds<kRelation, Value>>(values[0], values[1]) ^ turn;
  }
}

Mask combined(Mask test, const Warp& warp, const Op& op) {
  switch (op.mode & kCombine) {
    case kCombineAnd:
      return test & source_pred(warp, op, 4);
    case kCombineOr:
      return test | source_pred(warp, op, 4);
    case kCombineXor:
      return test ^ source_pred(warp, op, 4);
    default:
      return test;
  }
}

// One predicate and nothing to combine with: what loops end with.
template <Relation kRelation, typename Values>
void run_setp_one(Warp& warp, const Op& op) {
  warp.set_pred(op.p[0], compare<kRelation, typename Values::Low>(warp, op));
}
// The second predicate is the opposite, or that of the upper half.
template <Relation kRelation, typename Values>
void run_setp(Warp& warp, const Op& op) {
  const Mask test = compare<kRelation, typename Values::Low>(warp, op);
  Mask second = ~test;
  if constexpr (Values::kIsPair) second = compare<kRelation, typename Values::High>(warp, op);
  const Mask p = combined(test, warp, op);
  const Mask q = combined(second, warp, op);
  warp.set_pred(op.p[0], p);
  if (op.p[1].present()) warp.set_pred(op.p[1], q);
}

// op.imm where it holds, else 0; of a pair for each half.
template <Relation kRelation, typename Values, typename D>
void run_set(Warp& warp, const Op& op) {
  const Mask low = combined(compare<kRelation, typename Values::Low>(warp, op), warp, op);
  const auto yes = static_cast<D>(op.imm);
  alignas(64) D result[kLanes];
  for (unsigned l = 0; l < kLanes; ++l) result[l] = has_lane(low, l) ? yes : D{0};
  if constexpr (Values::kIsPair) {
    const Mask high = combined(compare<kRelation, typename Values::High>(warp, op), warp, op);
    for (unsigned l = 0; l < kLanes; ++l) {
      result[l] = static_cast<D>(result[l] | (has_lane(high, l) ? yes << 16U : D{0}));
    }
  }
  warp.write(op.p[0], result);
}

unsigned combine_mode(std::string_view word) {
  if (word.empty()) return 0;
  return word == "and" ? kCombineAnd : word == "or" ? kCombineOr : kCombineXor;
}

// The operands, and what of the modifiers is known when running.
void take_comparison(Decode& in, const Comparison& comparison) {
  in.op.mode = static_cast<std::uint8_t>((comparison.is_turned ? kTurned : 0) |
                                         combine_mode(in.word("bool")));
  in.op.p[2] = in.source(1);
  in.op.p[3] = in.source(2);
  if (comparison.is_swapped) std::swap(in.op.p[2], in.op.p[3]);
  if (in.has("bool")) take_pred(in, 3, 4);
}

bool decode_setp(Decode& in) {
  const Comparison& comparison = *find_comparison(in.word("cmp"));
  in.op.p[0] = in.result(0);
  in.op.p[1] = in.result_pair(0);
  take_comparison(in, comparison);
  const bool is_one = !in.op.p[1].present() && !in.has("bool");
  in.op.run = pick_values(in.type("type"), in.has("ftz"), [&]<typename Values>() {
    return pick_relation(comparison.relation, [&]<Relation kRelation>() -> RunOp {
      return is_one ? &run_setp_one<kRelation, Values> : &run_setp<kRelation, Values>;
    });
  });
  return in.op.run != nullptr;
}

// What `true` is in the result type; of a pair in each half.
std::int64_t true_bits(Type result, bool is_pair) {
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
  const Comparison& comparison = *find_comparison(in.word("cmp"));
  const Type type = in.type("type");
  const Type result = in.type("dtype");
  in.op.p[0] = in.result(0);
  take_comparison(in, comparison);
  in.op.imm = true_bits(result, type == Type::F16x2 || type == Type::Bf16x2);
  const bool is_narrow = isa::info(result).bits == 16;
  in.op.run = pick_values(type, in.has("ftz"), [&]<typename Values>() {
    return pick_relation(comparison.relation, [&]<Relation kRelation>() -> RunOp {
      if constexpr (sizeof(typename Values::Low::Bits) == 2) {
        if (is_narrow) return &run_set<kRelation, Values, U16>;
      }
      return &run_set<kRelation, Values, U32>;
    });
  });
  return in.op.run != nullptr;
}

// --- selp and slct -------------------------------------------------------------------------------

template <typename T>
void run_selp(Warp& warp, const Op& op) {
  alignas(64) T chosen[kLanes];
  std::memcpy(chosen, warp.source<T>(op.p[2]), sizeof chosen);
  blend(chosen, warp.source<T>(op.p[1]), source_pred(warp, op, 3));
  warp.write(op.p[0], chosen);
}

bool decode_selp(Decode& in) {
  in.op.run = pick_bits(in.type("type"), []<typename T>() -> RunOp { return &run_selp<T>; });
  in.op.track = &track_select;
  in.operands({in.result(0), in.source(1), in.source(2)});
  take_pred(in, 3, 3);
  return true;
}

constexpr auto kSlct = [](auto a, auto b, auto c) { return c >= 0 ? a : b; };
constexpr auto kSlctFlushed = [](auto a, auto b, U32 c) { return flushed(c) >= 0 ? a : b; };

// The bytes of the chosen one; what chooses is used.
template <auto F, typename T, typename C>
void track_slct(Warp& warp, const Op& op) {
  use_value(warp, op.p[3], warp.exec, sizeof(C));
  track_lanes<T>(warp, op, 2, [&](unsigned l) {
    return F(undefined_in<T>(warp, op.p[1], l), undefined_in<T>(warp, op.p[2], l),
             warp.source<C>(op.p[3])[l]);
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

constinit const OpFamily family{"compare", kRows};

}  // namespace ww::sim::compare_ops
