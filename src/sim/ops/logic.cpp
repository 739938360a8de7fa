// SPDX-License-Identifier: Apache-2.0
// Logic and shifts. Predicates are whole masks here: one operation for all lanes. Where a shift's
// amount or a truth table is a constant it is taken out of the loop over lanes.
#include <algorithm>

#include "sim/checks/undefined.h"
#include "sim/ops/families.h"
#include "sim/ops/integer_lanes.h"
#include "sim/ops/lane_ops.h"
#include "sim/ops/pred_source.h"
#include "sim/ops/track.h"

namespace ww::sim::logic_ops {
namespace {

using isa::Type;

using U32 = std::uint32_t;
using U64 = std::uint64_t;

constexpr auto kAnd = []<typename T>(T a, T b) { return static_cast<T>(a & b); };
constexpr auto kOr = []<typename T>(T a, T b) { return static_cast<T>(a | b); };
constexpr auto kXor = []<typename T>(T a, T b) { return static_cast<T>(a ^ b); };
constexpr auto kNot = []<typename T>(T a) { return static_cast<T>(~a); };
constexpr auto kCnot = []<typename T>(T a) { return static_cast<T>(a == 0 ? 1 : 0); };

// --- and, or, xor, not ---------------------------------------------------------------------------

template <auto F>
void run_pred2(Warp& warp, const Op& op) {
  warp.set_pred(op.p[0], F(source_pred(warp, op, 1), source_pred(warp, op, 2)));
}
template <auto F>
void track_pred2(Warp& warp, const Op& op) {
  const Mask value[] = {source_pred(warp, op, 1), source_pred(warp, op, 2)};
  const Mask undefined[] = {undefined_pred(warp, op.p[1]), undefined_pred(warp, op.p[2])};
  set_undefined_pred(warp, op.p[0], unstable_bits(value, undefined, F));
}
void run_pred_not(Warp& warp, const Op& op) { warp.set_pred(op.p[0], ~source_pred(warp, op, 1)); }

template <auto F>
bool decode_logic(Decode& in) {
  const Type type = in.type("type");
  if (type == Type::Pred) {
    in.op.run = &run_pred2<F>;
    in.op.track = &track_pred2<F>;
    in.op.p[0] = in.result(0);
    take_pred(in, 1, 1);
    take_pred(in, 2, 2);
    return true;
  }
  in.op.run = pick_bits(type, []<typename T>() -> RunOp { return &map_lanes<F, T, T, T>; });
  in.op.track =
      pick_bits(type, []<typename T>() -> RunOp { return &track_bitwise_lanes<F, T, 2>; });
  in.operands({in.result(0), in.source(1), in.source(2)});
  return true;
}

bool decode_not(Decode& in) {
  const Type type = in.type("type");
  if (type == Type::Pred) {
    in.op.run = &run_pred_not;
    in.op.track = &track_copy_pred;
    in.op.p[0] = in.result(0);
    take_pred(in, 1, 1);
    return true;
  }
  in.op.run = pick_bits(type, []<typename T>() -> RunOp { return &map_lanes<kNot, T, T>; });
  in.op.track = &track_copy;
  in.operands({in.result(0), in.source(1)});
  return true;
}

bool decode_cnot(Decode& in) {
  in.op.run =
      pick_bits(in.type("type"), []<typename T>() -> RunOp { return &map_lanes<kCnot, T, T>; });
  in.operands({in.result(0), in.source(1)});
  return true;
}

// --- lop3 ----------------------------------------------------------------------------------------

// Bit 4a + 2b + c of the table is the result: chosen by c, then by b, then by a. Four of the eight
// are the same in all lanes, and with a table known to the compiler most of it goes away.
constexpr auto kLop3 = [](std::int64_t table, U32 a, U32 b, U32 c) {
  const auto all = [table](unsigned i) { return U32{0} - (static_cast<U32>(table >> i) & 1U); };
  const auto choose = [](U32 by, U32 zero, U32 one) { return zero ^ (by & (zero ^ one)); };
  const auto of_c = [&](unsigned ab) { return choose(c, all(2 * ab), all(2 * ab + 1)); };
  return choose(a, choose(b, of_c(0), of_c(1)), choose(b, of_c(2), of_c(3)));
};
template <std::int64_t kTable>
constexpr auto kLop3Of = [](U32 a, U32 b, U32 c) { return kLop3(kTable, a, b, c); };

struct TableRun {
  std::int64_t table;
  RunOp run;
};
template <std::int64_t kTable>
constexpr TableRun kTableRun{kTable, &map_lanes<kLop3Of<kTable>, U32, U32, U32, U32>};
// The tables that compilers write most.
constexpr TableRun kTables[] = {
    kTableRun<0xC0>,  // a & b
    kTableRun<0x3C>,  // a ^ b
    kTableRun<0xFC>,  // a | b
    kTableRun<0x80>,  // a & b & c
    kTableRun<0xFE>,  // a | b | c
    kTableRun<0x96>,  // a ^ b ^ c
    kTableRun<0xEA>,  // (a & b) | c
    kTableRun<0xF8>,  // a | (b & c)
    kTableRun<0x6A>,  // (a & b) ^ c
    kTableRun<0x78>,  // a ^ (b & c)
    kTableRun<0xCA>,  // a ? b : c
    kTableRun<0xE4>,  // c ? a : b
    kTableRun<0xE8>,  // two of three
};

RunOp lop3_run(std::int64_t table) {
  for (const TableRun& row : kTables) {
    if (row.table == table) return row.run;
  }
  return &map_lanes_imm<kLop3, U32, U32, U32, U32>;
}

void track_lop3(Warp& warp, const Op& op) {
  track_bitwise<U32, 3>(warp, op, [table = op.as<Constant>().value](U32 a, U32 b, U32 c) {
    return kLop3(table, a, b, c);
  });
}

// d|p: p[0] to p[3] as before, p[4] is q, the further place p.
struct Lop3Pred {
  std::uint8_t table;
  bool is_and;  // with q, else or
};

void run_lop3_pred(Warp& warp, const Op& op) {
  const auto [table, is_and] = op.as<Lop3Pred>();
  alignas(64) U32 result[kLanes];
  const U32* const a = warp.source<U32>(op.p[1]);
  const U32* const b = warp.source<U32>(op.p[2]);
  const U32* const c = warp.source<U32>(op.p[3]);
#pragma GCC ivdep
  for (unsigned l = 0; l < kLanes; ++l) result[l] = kLop3(table, a[l], b[l], c[l]);
  const Mask found = test_lanes<[](U32 x) { return x != 0; }, U32>(result);
  const Mask q = source_pred(warp, op, 4);
  warp.write(op.p[0], result);
  warp.set_pred(warp.places(op)[0], is_and ? found & q : found | q);
}

bool decode_lop3(Decode& in) {
  in.operands({in.result(0), in.source(1), in.source(2), in.source(3)});
  const auto table = static_cast<std::uint8_t>(in.immediate(4));
  if (!in.has("op")) {
    in.op.set(Constant{table});
    in.op.run = lop3_run(table);
    in.op.track = &track_lop3;
    return true;
  }
  in.op.run = &run_lop3_pred;
  in.op.set(Lop3Pred{table, in.word("op") == "and"});
  const Place further[] = {in.result_pair(0)};
  in.further(further);
  take_pred(in, 5, 4);
  return true;
}

// --- shifts --------------------------------------------------------------------------------------

constexpr auto kShl = [](auto a, U32 n) { return lane::shift_left(a, n); };
constexpr auto kShr = [](auto a, U32 n) { return lane::shift_right(a, n); };
// With the amount in front, a constant of at most 255.
constexpr auto kShlImm = [](std::int64_t n, auto a) {
  return lane::shift_left(a, static_cast<U32>(n));
};
constexpr auto kShrImm = [](std::int64_t n, auto a) {
  return lane::shift_right(a, static_cast<U32>(n));
};

// More than the width is as much as 255.
std::int64_t clamped_amount(const Decode& in, std::size_t i) {
  return static_cast<std::int64_t>(std::min(static_cast<U32>(in.immediate(i)), U32{255}));
}

// For `uninit=early`: shifts by whole elements, of 4 bits or more, put values together and take them apart.
// Others calculate: `x << 1` is what compilers make of `x * 2`. A value of which only parts are undefined
// may yet lose them.
constexpr unsigned kLeastElement = 4;

template <typename T>
void use_shifted(Warp& warp, Place value, Mask lanes) {
  if (!has_undefined(warp, value)) return;
  Mask whole = 0;
  for_each_lane(lanes, [&](unsigned l) {
    if (undefined_in<T>(warp, value, l) == static_cast<T>(~T{0})) whole |= lane_bit(l);
  });
  calculate_with(warp, value, whole, sizeof(T));
}

template <auto F, typename T>
void track_calculated_imm(Warp& warp, const Op& op) {
  use_shifted<T>(warp, op.p[1], warp.exec);
  track_moved_imm<F, T, T>(warp, op);
}

template <auto F, typename T>
void track_shift(Warp& warp, const Op& op) {
  const U32* const amount = warp.source<U32>(op.p[2]);
  Mask calculates = 0;
  for_each_lane(warp.exec, [&](unsigned l) {
    if (amount[l] % kLeastElement != 0 && amount[l] < 8 * sizeof(T)) calculates |= lane_bit(l);
  });
  if (calculates != 0) use_shifted<T>(warp, op.p[1], calculates);
  track_moved_lanes<F, 1, T, T, U32>(warp, op);
}

template <auto F, auto FImm, typename T>
bool decode_shift_of(Decode& in) {
  in.operands({in.result(0), in.source(1), in.source(2)});
  if (in.is_immediate(2)) {
    const std::int64_t amount = clamped_amount(in, 2);
    in.op.set(Constant{amount});
    in.op.run = &map_lanes_imm<FImm, T, T>;
    const bool calculates = amount % kLeastElement != 0;
    in.op.track = calculates ? &track_calculated_imm<FImm, T> : &track_moved_imm<FImm, T, T>;
  } else {
    in.op.run = &map_lanes<F, T, T, U32>;
    in.op.track = &track_shift<F, T>;
  }
  return true;
}

template <auto F, auto FImm>
bool decode_shift(Decode& in) {
  return pick_int(in.type("type"), [&]<typename T>() { return decode_shift_of<F, FImm, T>(in); });
}

// The pair b:a shifted, of which the upper (left) or lower (right) word remains.
template <bool kLeft>
constexpr auto kFunnel = [](std::int64_t n, U32 a, U32 b) {
  const U64 pair = (static_cast<U64>(b) << 32U) | a;
  return static_cast<U32>(kLeft ? (pair << n) >> 32U : pair >> n);
};
template <bool kLeft, bool kWrap>
constexpr auto kShf =
    [](U32 a, U32 b, U32 n) { return kFunnel<kLeft>(lane::count32<kWrap>(n), a, b); };

template <bool kLeft, bool kWrap>
bool decode_shf_of(Decode& in) {
  in.operands({in.result(0), in.source(1), in.source(2), in.source(3)});
  if (in.is_immediate(3)) {
    in.op.set(Constant{lane::count32<kWrap>(static_cast<U32>(in.immediate(3)))});
    in.op.run = &map_lanes_imm<kFunnel<kLeft>, U32, U32, U32>;
    in.op.track = &track_moved_imm<kFunnel<kLeft>, U32, U32, U32>;
  } else {
    in.op.run = &map_lanes<kShf<kLeft, kWrap>, U32, U32, U32, U32>;
    in.op.track = &track_moved_lanes<kShf<kLeft, kWrap>, 2, U32, U32, U32, U32>;
  }
  return true;
}
bool decode_shf(Decode& in) {
  const bool wraps = in.word("mode") == "wrap";
  if (in.word("dir") == "l")
    return wraps ? decode_shf_of<true, true>(in) : decode_shf_of<true, false>(in);
  return wraps ? decode_shf_of<false, true>(in) : decode_shf_of<false, false>(in);
}

constexpr OpRow kRows[] = {
    {"and", decode_logic<kAnd>},
    {"or", decode_logic<kOr>},
    {"xor", decode_logic<kXor>},
    {"not", decode_not},
    {"cnot", decode_cnot},
    {"lop3", decode_lop3},
    {"shf", decode_shf},
    {"shl", decode_shift<kShl, kShlImm>},
    {"shr", decode_shift<kShr, kShrImm>},
};

}  // namespace

constinit const OpFamily family{"logic", kRows, true};

}  // namespace ww::sim::logic_ops
