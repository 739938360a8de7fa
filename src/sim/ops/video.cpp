// SPDX-License-Identifier: Apache-2.0
// Video instructions, by the pseudocode of the PTX manual: sources are extended by their own types,
// the result is exact, then clamped (.sat) or cut, then combined with c. Words go one by one, halves
// and bytes as parts of a word. Selections (`%r1.b2`, `%r1.h10`) say which parts are read and written.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>

#include "base/wide.h"
#include "sim/ops/families.h"
#include "sim/ops/lane_ops.h"
#include "sim/ops/track.h"

namespace ww::sim::video_ops {
namespace {

using S64 = std::int64_t;
using U32 = std::uint32_t;
using Int = ww::Wide;

enum class Kind : std::uint8_t { Add, Sub, AbsDiff, Min, Max, Mean, Shl, Shr, Mad, Set };
enum class Combine : std::uint8_t { None, Add, Min, Max };
enum class Relation : std::uint8_t { Eq, Ne, Lt, Le, Gt, Ge };

/// A part of a word: its first bit, and how many it has.
struct Part {
  std::uint8_t first = 0, bits = 32;
};

// By code: the whole word, then bytes, then halves.
constexpr Part kParts[] = {{0, 32}, {0, 8}, {8, 8}, {16, 8}, {24, 8}, {0, 16}, {16, 16}};

/// How an op was decoded.
struct VideoOp {
  Kind kind;
  Combine combine;
  bool d_is_signed : 1, a_is_signed : 1, b_is_signed : 1, saturates : 1, wraps : 1;
  std::uint8_t value = 0;    // the relation, or the shift of vmad
  std::uint8_t mask = 0;     // of halves and bytes: those that are written
  std::uint8_t written = 0;  // else: the code of the Part that is written
  /// Of each source the code of its Part; of halves and bytes four numbers of four bits: which of
  /// the parts of a and b, in this order, is part 0, 1, …
  std::array<std::uint16_t, 2> selected{};

  /// The part of source 0 or 1.
  [[nodiscard]] const Part& part(unsigned source) const { return kParts[selected[source]]; }
  /// Which of the parts of a and b is part `i` of source 0 or 1.
  [[nodiscard]] unsigned number(unsigned source, unsigned i) const {
    return unsigned{selected[source]} >> (4 * i) & 15U;
  }
  [[nodiscard]] bool is_signed(unsigned source) const {
    return source == 0 ? a_is_signed : b_is_signed;
  }
};

S64 extended(U32 word, unsigned first, unsigned bits, bool is_signed) {
  const S64 value =
      static_cast<S64>((std::uint64_t{word} >> first) & ((std::uint64_t{1} << bits) - 1));
  const bool is_negative = is_signed && ((value >> (bits - 1)) & 1) != 0;
  return is_negative ? value - (S64{1} << bits) : value;
}

S64 clamped(S64 value, unsigned bits, bool is_signed) {
  const S64 least = is_signed ? -(S64{1} << (bits - 1)) : 0;
  const S64 most = (S64{1} << (is_signed ? bits - 1 : bits)) - 1;
  return std::clamp(value, least, most);
}

bool holds(Relation relation, S64 a, S64 b) {
  switch (relation) {
    case Relation::Eq:
      return a == b;
    case Relation::Ne:
      return a != b;
    case Relation::Lt:
      return a < b;
    case Relation::Le:
      return a <= b;
    case Relation::Gt:
      return a > b;
    case Relation::Ge:
      return a >= b;
  }
  return false;
}

S64 shifted(const VideoOp& form, S64 a, S64 b) {
  const S64 by = form.wraps ? (b & 31) : std::min<S64>(b, 32);
  return form.kind == Kind::Shr ? a >> by : static_cast<S64>(static_cast<std::uint64_t>(a) << by);
}

S64 value_of(const VideoOp& form, S64 a, S64 b) {
  switch (form.kind) {
    case Kind::Add:
      return a + b;
    case Kind::Sub:
      return a - b;
    case Kind::AbsDiff:
      return std::abs(a - b);
    case Kind::Min:
      return std::min(a, b);
    case Kind::Max:
      return std::max(a, b);
    case Kind::Mean:
      return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
    case Kind::Shl:
    case Kind::Shr:
      return shifted(form, a, b);
    case Kind::Set:
      return holds(static_cast<Relation>(form.value), a, b) ? 1 : 0;
    case Kind::Mad:
      break;
  }
  return 0;
}

U32 combined(const VideoOp& form, U32 value, U32 c) {
  const auto order = [&](U32 word) { return extended(word, 0, 32, form.d_is_signed); };
  switch (form.combine) {
    case Combine::None:
      return value;
    case Combine::Add:
      return value + c;
    case Combine::Min:
      return order(value) < order(c) ? value : c;
    case Combine::Max:
      return order(value) > order(c) ? value : c;
  }
  return value;
}

S64 source_of(const VideoOp& form, unsigned source, U32 word) {
  const Part& part = form.part(source);
  return extended(word, part.first, part.bits, form.is_signed(source));
}

U32 whole_word(const VideoOp& form, U32 a, U32 b, U32 c) {
  const Part& to = kParts[form.written];
  S64 value = value_of(form, source_of(form, 0, a), source_of(form, 1, b));
  if (form.saturates) value = clamped(value, to.bits, form.d_is_signed);
  if (to.bits == 32) return combined(form, static_cast<U32>(value), c);
  const U32 mask = ((1U << to.bits) - 1U) << to.first;
  return (c & ~mask) | (static_cast<U32>(value) << to.first & mask);
}

template <unsigned kBits>
U32 all_parts(const VideoOp& form, U32 a, U32 b, U32 c) {
  constexpr unsigned parts = 32 / kBits;
  const auto source = [&](unsigned which, unsigned i) {
    const unsigned number = form.number(which, i);
    return extended(number < parts ? a : b, number % parts * kBits, kBits, form.is_signed(which));
  };
  U32 packed = c;
  U32 sum = c;
  for (unsigned i = 0; i < parts; ++i) {
    if ((form.mask >> i & 1U) == 0) continue;
    S64 value = value_of(form, source(0, i), source(1, i));
    sum += static_cast<U32>(value);
    if (form.saturates) value = clamped(value, kBits, form.d_is_signed);
    const U32 mask = ((1U << kBits) - 1U) << (i * kBits);
    packed = (packed & ~mask) | (static_cast<U32>(value) << (i * kBits) & mask);
  }
  return form.combine == Combine::Add ? sum : packed;
}

// a * b + c has up to 66 bits.
U32 product_sum(const VideoOp& form, U32 a, U32 b, U32 c) {
  const bool is_signed = form.a_is_signed || form.b_is_signed;
  const Int product = Int{source_of(form, 0, a)} * Int{source_of(form, 1, b)};
  const Int sum = (product + extended(c, 0, 32, is_signed)) >> form.value;
  if (!form.saturates) return static_cast<U32>(sum);
  const Int least = is_signed ? -(Int{1} << 31) : Int{0};
  const Int most = (Int{1} << (is_signed ? 31 : 32)) - 1;
  return static_cast<U32>(sum < least ? least : sum > most ? most : sum);
}

template <U32 (*kValue)(const VideoOp&, U32, U32, U32)>
void run_video(Warp& warp, const Op& op) {
  const VideoOp form = op.as<VideoOp>();
  apply_lanes<U32, U32, U32, U32>(warp, op,
                                  [&](U32 a, U32 b, U32 c) { return kValue(form, a, b, c); });
}

// Where all of the result is written, and nothing added, c gives way to it entirely.
void track_parts(Warp& warp, const Op& op) {
  calculate_with(warp, op.p[1], warp.exec, 4);
  calculate_with(warp, op.p[2], warp.exec, 4);
  track_whole<U32>(warp, op, 2, [&](unsigned l) {
    return (undefined_in<U32>(warp, op.p[1], l) | undefined_in<U32>(warp, op.p[2], l)) != 0;
  });
}

// --- decoding ------------------------------------------------------------------------------------

// What a mnemonic computes, and of how many parts of a word.
struct Instruction {
  Mnemonic name;
  Kind kind;
  unsigned parts = 1;
};
constexpr Instruction kInstructions[] = {
    {"vadd", Kind::Add},
    {"vsub", Kind::Sub},
    {"vabsdiff", Kind::AbsDiff},
    {"vmin", Kind::Min},
    {"vmax", Kind::Max},
    {"vshl", Kind::Shl},
    {"vshr", Kind::Shr},
    {"vmad", Kind::Mad},
    {"vset", Kind::Set},
    {"vadd2", Kind::Add, 2},
    {"vsub2", Kind::Sub, 2},
    {"vavrg2", Kind::Mean, 2},
    {"vabsdiff2", Kind::AbsDiff, 2},
    {"vmin2", Kind::Min, 2},
    {"vmax2", Kind::Max, 2},
    {"vset2", Kind::Set, 2},
    {"vadd4", Kind::Add, 4},
    {"vsub4", Kind::Sub, 4},
    {"vavrg4", Kind::Mean, 4},
    {"vabsdiff4", Kind::AbsDiff, 4},
    {"vmin4", Kind::Min, 4},
    {"vmax4", Kind::Max, 4},
    {"vset4", Kind::Set, 4},
};

Relation relation_of(Word word) {
  using enum Relation;
  return word.as<Relation>({{"eq", Eq}, {"ne", Ne}, {"lt", Lt}, {"le", Le}, {"gt", Gt}})
      .value_or(Ge);
}

Combine combine_in(const Decode& in) {
  if (in.has("add")) return Combine::Add;
  return in.word("op2")
      .as<Combine>({{"add", Combine::Add}, {"min", Combine::Min}, {"max", Combine::Max}})
      .value_or(Combine::None);
}

std::string_view selection_of(const Decode& in, std::size_t operand) {
  const isa::Operand& it = in.operand(operand);
  return it.kind == isa::OperandKind::Part ? it.selection : std::string_view{};
}

// Forms of words for which ptxas 13.0 emits other arithmetic than the manual's, seen on an H200: results
// beyond 32 bits are cut before they are clamped or compared; parts of a result are clamped as if they
// were unsigned and no difference negative; and `.h1` of a result gets the upper half of the value.
bool is_unsettled(const Decode& in, Kind kind) {
  const std::string_view written = selection_of(in, 0);
  if (written == "h1" || (in.has("sat") && !written.empty())) return true;
  const bool is_signed = in.word("atype") == "s32" && in.word("btype") == "s32";
  if (kind == Kind::Mad) return !is_signed && (in.has("sat") || in.has("scale"));
  if (in.word("op2").is_one_of({"min", "max"})) return true;
  if (!in.has("sat") || kind == Kind::Shr) return false;
  return kind == Kind::Shl || (in.word("dtype") == "u32" && !is_signed);
}

// The code of a Part.
std::uint8_t part_code(std::string_view selection) {
  if (selection.empty()) return 0;
  const auto digit = static_cast<unsigned>(selection[1] - '0');
  return static_cast<std::uint8_t>((selection[0] == 'b' ? 1U : 5U) + digit);
}

// Digits are written from the last part to the first.
void select_parts(const Decode& in, unsigned parts, VideoOp& out) {
  for (unsigned source = 0; source < 2; ++source) {
    const std::string_view digits = selection_of(in, source + 1);
    unsigned numbers = 0;
    for (unsigned i = 0; i < parts; ++i) {
      const unsigned number =
          digits.empty() ? source * parts + i : static_cast<unsigned>(digits[parts - i] - '0');
      numbers |= number << (4 * i);
    }
    out.selected[source] = static_cast<std::uint16_t>(numbers);
  }
  out.mask = static_cast<std::uint8_t>((1U << parts) - 1);
  const std::string_view mask = selection_of(in, 0);
  if (mask.empty()) return;
  out.mask = 0;
  for (const char digit : mask.substr(1))
    out.mask = static_cast<std::uint8_t>(out.mask | (1U << static_cast<unsigned>(digit - '0')));
}

VideoOp video_op(const Decode& in, Kind kind, unsigned parts) {
  VideoOp out{.kind = kind,
              .combine = combine_in(in),
              .d_is_signed = in.word("dtype") == "s32",
              .a_is_signed = in.word("atype") == "s32",
              .b_is_signed = in.word("btype") == "s32",
              .saturates = in.has("sat"),
              .wraps = in.word("mode") == "wrap"};
  if (kind == Kind::Set) out.value = static_cast<std::uint8_t>(relation_of(in.word("cmp")));
  if (kind == Kind::Mad) out.value = in.word("scale") == "shr7" ? 7 : in.has("scale") ? 15 : 0;
  if (parts > 1) {
    select_parts(in, parts, out);
    return out;
  }
  for (unsigned source = 0; source < 2; ++source)
    out.selected[source] = part_code(selection_of(in, source + 1));
  out.written = part_code(selection_of(in, 0));
  return out;
}

// Whether c has no part in the result.
bool is_c_unused(const VideoOp& it, unsigned parts) {
  if (it.combine != Combine::None) return false;
  return parts > 1 ? it.mask + 1U == 1U << parts : it.written == 0;
}

bool decode_video(Decode& in) {
  const auto [name, kind, parts] =
      *std::ranges::find(kInstructions, in.mnemonic(), &Instruction::name);
  if (parts == 1 && is_unsettled(in, kind)) {
    in.refusal = "the assembler emits other arithmetic for it than the manual describes";
    return false;
  }
  const VideoOp it = video_op(in, kind, parts);
  in.op.set(it);
  in.op.run = kind == Kind::Mad ? run_video<product_sum>
              : parts == 1      ? run_video<whole_word>
              : parts == 2      ? run_video<all_parts<16>>
                                : run_video<all_parts<8>>;
  const Place c = in.given(3) ? in.source(3) : in.constant(0, 4);
  in.operands({in.result(0), in.source(1), in.source(2), c});
  if (kind != Kind::Mad && in.given(3) && is_c_unused(it, parts)) in.op.track = track_parts;
  return true;
}

constexpr auto kRows = [] {
  std::array<OpRow, std::size(kInstructions)> rows;
  std::ranges::transform(kInstructions, rows.begin(), [](const Instruction& it) {
    return OpRow{it.name, decode_video};
  });
  return rows;
}();

}  // namespace

constinit const OpFamily family{"video", kRows, true};

}  // namespace ww::sim::video_ops
