// SPDX-License-Identifier: Apache-2.0
// mov: copies, vectors, packing and unpacking; prmt. Special registers, constants and addresses of
// variables are places like any other when they get here.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <vector>

#include "sim/checks/undefined.h"
#include "sim/ops/families.h"
#include "sim/ops/lane_ops.h"
#include "sim/ops/pred_source.h"
#include "sim/ops/track.h"

namespace ww::sim::move_ops {
namespace {

using isa::Type;

using U8 = std::uint8_t;
using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

// --- copies --------------------------------------------------------------------------------------

template <typename T>
void run_copy(Warp& warp, const Op& op) {
  warp.write(op.p[0], warp.source<T>(op.p[1]));
}
void run_copy_pred(Warp& warp, const Op& op) { warp.set_pred(op.p[0], source_pred(warp, op, 1)); }

// The address of a local variable: where it is in the function's memory, and where that is.
template <typename T>
void run_frame_address(Warp& warp, const Op& op) {
  const auto start = static_cast<T>(warp.here.local);
  apply_lanes<T, T>(warp, op, [start](T offset) { return static_cast<T>(offset + start); });
}

// A special register that is wider than the form, as %gridid once was not.
constexpr auto kNarrow = [](U64 a) { return static_cast<U32>(a); };

bool decode_copy(Decode& in) {
  const Type type = in.type("type");
  in.op.p[0] = in.result(0);
  if (type == Type::Pred) {
    in.op.run = &run_copy_pred;
    in.op.track = &track_copy_pred;
    take_pred(in, 1, 1);
    return true;
  }
  const Place offset = in.frame_offset(1);
  in.op.p[1] = offset.present() ? offset : in.source(1);
  in.op.track = type == Type::B128 ? &track_copy_wide : &track_copy;
  if (offset.present()) {
    in.op.run = pick_bits(type, []<typename T>() -> RunOp { return &run_frame_address<T>; });
  } else if (type == Type::B128) {
    in.op.run = &run_copy<Wide>;
  } else if (isa::info(type).bits == 32 && in.width(1) == 8) {
    in.op.run = &map_lanes<kNarrow, U32, U64>;
  } else {
    in.op.run = pick_bits(type, []<typename T>() -> RunOp { return &run_copy<T>; });
  }
  return in.op.run != nullptr;
}

// --- packing -------------------------------------------------------------------------------------

// The first part is the lowest.
template <typename D, typename... S>
D joined(S... parts) {
  D whole = 0;
  unsigned shift = 0;
  ((whole = static_cast<D>(whole | (static_cast<D>(parts) << shift)), shift += 8 * sizeof(S)), ...);
  return whole;
}
template <typename D, typename... S>
constexpr RunOp kPack = &map_lanes<joined<D, S...>, D, S...>;

template <typename D, typename S>
void run_unpack(Warp& warp, const Op& op) {
  constexpr unsigned kParts = sizeof(D) / sizeof(S);
  const D* const whole = warp.source<D>(op.p[kParts]);
  alignas(64) S part[kParts][kLanes];
  for (unsigned i = 0; i < kParts; ++i) {
    const unsigned shift = 8 * sizeof(S) * i;
#pragma GCC ivdep
    for (unsigned l = 0; l < kLanes; ++l) part[i][l] = static_cast<S>(whole[l] >> shift);
  }
  for (unsigned i = 0; i < kParts; ++i) warp.write(op.p[i], part[i]);
}

// 128 bits, which lie in memory as their parts do.
template <typename S>
void run_pack_wide(Warp& warp, const Op& op) {
  constexpr unsigned kParts = sizeof(Wide) / sizeof(S);
  alignas(64) Wide whole[kLanes];
  for (unsigned l = 0; l < kLanes; ++l) {
    S parts[kParts];
    for (unsigned i = 0; i < kParts; ++i) parts[i] = warp.source<S>(op.p[i + 1])[l];
    std::memcpy(&whole[l], parts, sizeof parts);
  }
  warp.write(op.p[0], whole);
}
template <typename S>
void run_unpack_wide(Warp& warp, const Op& op) {
  constexpr unsigned kParts = sizeof(Wide) / sizeof(S);
  alignas(64) S part[kParts][kLanes];
  for (unsigned l = 0; l < kLanes; ++l) {
    S parts[kParts];
    std::memcpy(parts, &warp.source<Wide>(op.p[kParts])[l], sizeof parts);
    for (unsigned i = 0; i < kParts; ++i) part[i][l] = parts[i];
  }
  for (unsigned i = 0; i < kParts; ++i) warp.write(op.p[i], part[i]);
}

struct PackRow {
  int bits;  // of the whole
  std::size_t parts;
  RunOp pack, unpack;
};
constexpr PackRow kPacks[] = {
    {16, 2, kPack<U16, U8, U8>, &run_unpack<U16, U8>},
    {32, 2, kPack<U32, U16, U16>, &run_unpack<U32, U16>},
    {32, 4, kPack<U32, U8, U8, U8, U8>, &run_unpack<U32, U8>},
    {64, 2, kPack<U64, U32, U32>, &run_unpack<U64, U32>},
    {64, 4, kPack<U64, U16, U16, U16, U16>, &run_unpack<U64, U16>},
    {128, 2, &run_pack_wide<U64>, &run_unpack_wide<U64>},
    {128, 4, &run_pack_wide<U32>, &run_unpack_wide<U32>},
};

bool decode_parts(Decode& in, bool packs) {
  const std::vector<Place> parts = packs ? in.sources(1) : in.results(0);
  const int bits = isa::info(in.type("type")).bits;
  for (const PackRow& row : kPacks) {
    if (row.bits != bits || row.parts != parts.size()) continue;
    in.op.run = packs ? row.pack : row.unpack;
    in.op.track = packs ? &track_pack : &track_unpack;
    in.op.set(Parts{static_cast<std::uint8_t>(parts.size())});
    in.op.bytes = static_cast<std::uint8_t>(static_cast<std::size_t>(bits) / 8 / parts.size());
    std::copy(parts.begin(), parts.end(), in.op.p.begin() + (packs ? 1 : 0));
    (packs ? in.op.p[0] : in.op.p[parts.size()]) = packs ? in.result(0) : in.source(1);
    return true;
  }
  return false;
}

// --- vectors -------------------------------------------------------------------------------------

// Places: the results, then as many sources.

// All sources are read first: the lists may name the same registers in another order.
template <typename T>
void run_vector(Warp& warp, const Op& op) {
  const std::span<const Place> places = warp.places(op);
  const std::size_t count = places.size() / 2;
  alignas(64) T values[4][kLanes];
  for (std::size_t i = 0; i < count; ++i)
    std::memcpy(values[i], warp.source<T>(places[count + i]), sizeof values[i]);
  for (std::size_t i = 0; i < count; ++i) warp.write(places[i], values[i]);
}

void track_vector(Warp& warp, const Op& op) {
  const std::span<const Place> places = warp.places(op);
  const std::size_t count = places.size() / 2;
  std::uint8_t bytes[4][kLanes] = {};
  for (std::size_t i = 0; i < count; ++i) {
    const Place source = places[count + i];
    if (!has_undefined(warp, source)) continue;
    for (unsigned l = 0; l < kLanes; ++l) bytes[i][l] = undefined_in_lane(warp, source, l);
  }
  for (std::size_t i = 0; i < count; ++i) set_undefined(warp, places[i], bytes[i]);
}

bool decode_vector(Decode& in) {
  std::vector<Place> places = in.results(0);
  const std::vector<Place> sources = in.sources(1);
  places.insert(places.end(), sources.begin(), sources.end());
  in.further(places);
  in.op.run = pick_bits(in.type("type"), []<typename T>() -> RunOp { return &run_vector<T>; });
  in.op.track = &track_vector;
  return in.op.run != nullptr;
}

// One value cut into parts; the places are the results and the source.
template <typename T>
void run_cut(Warp& warp, const Op& op) {
  const std::span<const Place> places = warp.places(op);
  const std::size_t count = places.size() - 1;
  const std::size_t bits = 8 * sizeof(T) / count;
  alignas(64) T whole[kLanes];
  std::memcpy(whole, warp.source<T>(places[count]), sizeof whole);
  const auto mask = static_cast<T>((U64{1} << bits) - 1);
  for (std::size_t i = 0; i < count; ++i) {
    alignas(64) T part[kLanes];
    for (unsigned l = 0; l < kLanes; ++l) part[l] = static_cast<T>((whole[l] >> (i * bits)) & mask);
    warp.write(places[i], part);
  }
}

void track_cut(Warp& warp, const Op& op) {
  const std::span<const Place> places = warp.places(op);
  const std::size_t count = places.size() - 1;
  const std::size_t bits = 8 * op.bytes / count;
  const std::size_t bytes = bits / 8;
  std::uint8_t whole[kLanes] = {};
  if (has_undefined(warp, places[count]))
    for (unsigned l = 0; l < kLanes; ++l) whole[l] = undefined_in_lane(warp, places[count], l);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint8_t part[kLanes];
    for (unsigned l = 0; l < kLanes; ++l)
      part[l] =
          static_cast<std::uint8_t>((unsigned{whole[l]} >> (i * bits / 8)) & ((1U << bytes) - 1U));
    set_undefined(warp, places[i], part);
  }
}

bool decode_cut(Decode& in) {
  std::vector<Place> places = in.results(0);
  places.push_back(in.source(1));
  in.further(places);
  in.op.bytes = static_cast<std::uint8_t>(isa::info(in.type("type")).bits / 8);
  in.op.run = pick_bits(in.type("type"), []<typename T>() -> RunOp { return &run_cut<T>; });
  in.op.track = &track_cut;
  return in.op.run != nullptr;
}

bool decode_mov(Decode& in) {
  const bool is_scalar = in.form.form().operands[1].count == isa::OperandSpec::Count::Scalar;
  if (in.has("vec")) return is_scalar ? decode_cut(in) : decode_vector(in);
  const auto is_list = [&](std::size_t i) {
    const isa::OperandSpec& spec = in.form.form().operands[i];
    return spec.count != isa::OperandSpec::Count::Scalar && spec.fixed_count > 1;
  };
  if (is_list(1)) return decode_parts(in, true);
  if (is_list(0)) return decode_parts(in, false);
  return decode_copy(in);
}

// --- prmt ----------------------------------------------------------------------------------------

// Four selectors of 4 bits: which of the bytes of b:a, and (bit 3) only its sign.
constexpr auto kPrmt = [](std::int64_t selectors, U32 a, U32 b) {
  U32 result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const auto selector = static_cast<U32>(selectors >> (4 * i)) & 15U;
    const U32 byte = ((selector & 4U) != 0 ? b : a) >> (8 * (selector & 3U)) & 0xFFU;
    const U32 sign = (byte >> 7U) * 0xFFU;
    result |= ((selector & 8U) != 0 ? sign : byte) << (8 * i);
  }
  return result;
};

// What the other modes are in these terms, by the low two bits of the selector operand.
struct PrmtMode {
  Word word;
  U16 selectors[4];
};
constexpr PrmtMode kModes[] = {
    {"f4e", {0x3210, 0x4321, 0x5432, 0x6543}}, {"b4e", {0x5670, 0x6701, 0x7012, 0x0123}},
    {"rc8", {0x0000, 0x1111, 0x2222, 0x3333}}, {"ecl", {0x3210, 0x3211, 0x3222, 0x3333}},
    {"ecr", {0x0000, 0x1110, 0x2210, 0x3210}}, {"rc16", {0x1010, 0x3232, 0x1010, 0x3232}},
};

// One byte of the result, where the selector is a constant.
struct BytePick {
  BytePick(const Warp& warp, const Op& op, unsigned i) {
    const auto selector = static_cast<U32>(op.as<Constant>().value >> (4 * i)) & 15U;
    const bool is_sign = (selector & 8U) != 0;
    from = warp.source<U32>(op.p[(selector & 4U) != 0 ? 2 : 1]);
    down = 8 * (selector & 3U) + (is_sign ? 7 : 0);
    kept = is_sign ? 1 : 0xFF;
    times = (is_sign ? 0xFFU : 1U) << (8 * i);
  }
  U32 operator()(unsigned l) const { return ((from[l] >> down) & kept) * times; }

  const U32* from;
  U32 down, kept, times;
};
void run_prmt_imm(Warp& warp, const Op& op) {
  const BytePick b0(warp, op, 0);
  const BytePick b1(warp, op, 1);
  const BytePick b2(warp, op, 2);
  const BytePick b3(warp, op, 3);
  alignas(64) U32 result[kLanes];
  for (unsigned l = 0; l < kLanes; ++l) result[l] = b0(l) | b1(l) | b2(l) | b3(l);
  warp.write(op.p[0], result);
}

constexpr auto kPrmtLane = [](U32 a, U32 b, U32 c) { return kPrmt(c & 0xFFFFU, a, b); };
template <std::size_t kMode>
constexpr auto kPrmtMode =
    [](U32 a, U32 b, U32 c) { return kPrmt(kModes[kMode].selectors[c & 3U], a, b); };

struct PrmtRun {
  RunOp run, track;
};
template <auto F>
constexpr PrmtRun kPrmtRun{&map_lanes<F, U32, U32, U32, U32>,
                           &track_moved_lanes<F, 2, U32, U32, U32, U32>};
constexpr PrmtRun kModeRuns[] = {kPrmtRun<kPrmtMode<0>>, kPrmtRun<kPrmtMode<1>>,
                                 kPrmtRun<kPrmtMode<2>>, kPrmtRun<kPrmtMode<3>>,
                                 kPrmtRun<kPrmtMode<4>>, kPrmtRun<kPrmtMode<5>>};

bool decode_prmt(Decode& in) {
  const Word word = in.word("mode");
  std::size_t mode = 0;
  while (mode < std::size(kModes) && kModes[mode].word != word) ++mode;
  const bool is_named = mode < std::size(kModes);
  PrmtRun chosen = is_named ? kModeRuns[mode] : kPrmtRun<kPrmtLane>;
  if (in.is_immediate(3)) {
    const std::int64_t c = in.immediate(3);
    in.op.set(Constant{is_named ? kModes[mode].selectors[c & 3] : c & 0xFFFF});
    chosen = {&run_prmt_imm, &track_moved_imm<kPrmt, U32, U32, U32>};
  }
  in.op.track = chosen.track;
  return in.runs(chosen.run, {in.result(0), in.source(1), in.source(2), in.source(3)});
}

constexpr OpRow kRows[] = {{"mov", decode_mov}, {"prmt", decode_prmt}};

}  // namespace

constinit const OpFamily family{"move", kRows, true};

}  // namespace ww::sim::move_ops
