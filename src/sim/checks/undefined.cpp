// SPDX-License-Identifier: Apache-2.0
#include "sim/checks/undefined.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "sim/run/unit.h"

namespace ww::sim {
namespace {

// The name of an operand of the running op.
std::string_view operand_name(const Warp& warp, Place place) {
  std::string_view name = "a register";
  for (const OperandInfo& operand : warp.program->operands_of(warp.current)) {
    if (operand.place == place && operand.name != ptx::kNoName)
      name = warp.program->module.text(operand.name);
  }
  return name;
}

void report_undefined(Warp& warp, Place place, Mask bad) {
  const std::string_view name = operand_name(warp, place);
  if (!warp.is_new(Check::Uninit, kNoOp, count_lanes(bad))) return;
  const bool is_guard = warp.program->ops[warp.current].guard == place;
  warp.report(Check::Uninit, bad,
              is_guard ? "the guard decides and nothing has written it"
                       : fmt::format("`{}` is used and holds undefined bytes", name));
}

}  // namespace

void use_and_define(Warp& warp) {
  const std::span<const OperandInfo> operands = warp.program->operands_of(warp.current);
  for (const OperandInfo& operand : operands) {
    const bool is_pred = operand.type == isa::Type::Pred;
    if (!operand.is_result) use_value(warp, operand.place, warp.exec, 8, is_pred);
  }
  for (const OperandInfo& operand : operands) {
    if (operand.is_result) define_value(warp, operand.place, operand.type == isa::Type::Pred);
  }
}

bool has_no_suspect(const Warp& warp) {
  const auto& at = warp.program->watched[warp.current].at;
  const std::uint8_t* const notes = warp.undefined.suspects();
  if (at[0] != WatchedPlaces::kMany)
    return (notes[at[0]] | notes[at[1]] | notes[at[2]] | notes[at[3]] | notes[at[4]] |
            notes[at[5]]) == 0;
  const auto is_suspect = [&](Place place) {
    return place.present() && !place.is_constant() && warp.undefined.is_suspect(place);
  };
  return !is_suspect(warp.program->ops[warp.current].guard) &&
         std::ranges::none_of(
             warp.program->operands_of(warp.current),
             [&](const OperandInfo& operand) { return is_suspect(operand.place); });
}

void set_undefined_bytes(Warp& warp, Place place, const std::uint8_t* bits) {
  const bool is_zero = std::all_of(bits, bits + kLanes, [](std::uint8_t b) { return b == 0; });
  if (is_zero) return define_lanes(warp, place, warp.exec);
  blend(warp.undefined.write(place, warp.exec), bits, warp.exec);
}

void clear_suspicions(Warp& warp) {
  if (warp.undefined.suspects() == nullptr) return;
  const auto look = [&](Place place, isa::Type type) {
    if (place.is_constant() || !warp.undefined.is_suspect(place)) return;
    const std::uint8_t* const bits = warp.undefined.of(place);
    const std::size_t rows = type == isa::Type::Pred     ? sizeof(Mask)
                             : isa::info(type).bits > 64 ? std::size_t{2} * kLanes
                                                         : kLanes;
    if (std::all_of(bits, bits + rows, [](std::uint8_t b) { return b == 0; }))
      warp.undefined.clear_suspicion(place);
  };
  const Place guard = warp.program->ops[warp.current].guard;
  if (guard.present()) look(guard, isa::Type::Pred);
  for (const OperandInfo& operand : warp.program->operands_of(warp.current))
    look(operand.place, operand.type);
}

void use_value(Warp& warp, Place place, Mask who, unsigned bytes, bool is_pred) {
  if (!warp.undefined.are_kept() || place.is_constant() || !warp.undefined.is_suspect(place))
    return;
  const std::uint8_t* const bits = warp.undefined.of(place);
  Mask bad = 0;
  if (is_pred) {
    std::memcpy(&bad, bits, sizeof bad);
    bad &= who;
    if (bad == 0) return;
    Mask all = 0;
    std::memcpy(&all, bits, sizeof all);
    all &= ~bad;
    std::memcpy(warp.undefined.write(place, 0), &all, sizeof all);
  } else {
    std::uint64_t words[4];
    std::memcpy(words, bits, sizeof words);
    if ((words[0] | words[1] | words[2] | words[3]) == 0) return;
    const auto wanted = static_cast<std::uint8_t>(bytes >= 8 ? 0xFFU : (1U << bytes) - 1U);
    for_each_lane(who, [&](unsigned l) {
      if ((bits[l] & wanted) != 0) bad |= lane_bit(l);
    });
    if (bad == 0) return;
    // Reported once; what follows from it is not reported again.
    std::uint8_t* const marks = warp.undefined.write(place, bad);
    for_each_lane(bad, [&](unsigned l) { marks[l] = 0; });
  }
  report_undefined(warp, place, bad);
}

// --- bits of undefined bytes ---------------------------------------------------------------------

std::uint64_t known_bits(const Warp& warp, Place place, unsigned lane) {
  if (warp.undefined.known.empty() || place.is_constant()) return 0;
  return warp.undefined.known.find(warp.undefined.at(place), lane);
}

void set_known_bits(Warp& warp, Place place, const std::uint64_t* bits) {
  std::uint64_t any = 0;
  for_each_lane(warp.exec, [&](unsigned l) { any |= bits[l]; });
  if (any != 0) warp.undefined.known.set(warp.undefined.at(place), bits, warp.exec);
}

void define_value(Warp& warp, Place place, bool is_pred) {
  if (!warp.undefined.are_kept() || place.is_constant() || !place.present()) return;
  if (!warp.undefined.is_suspect(place)) return;
  std::uint8_t* const bits = warp.undefined.write(place, is_pred ? 0 : warp.exec);
  if (is_pred) {
    Mask all = 0;
    std::memcpy(&all, bits, sizeof all);
    all &= ~warp.exec;
    std::memcpy(bits, &all, sizeof all);
    return;
  }
  if (warp.exec == kAllLanes) {
    std::memset(bits, 0, kLanes);
  } else {
    for_each_lane(warp.exec, [&](unsigned l) { bits[l] = 0; });
  }
}

void define_lanes(Warp& warp, Place place, Mask who) {
  if (!warp.undefined.are_kept() || !warp.undefined.is_suspect(place)) return;
  std::uint8_t* const bits = warp.undefined.write(place, who);
  for_each_lane(who, [&](unsigned l) { bits[l] = 0; });
  if (who == kAllLanes) warp.undefined.clear_suspicion(place);
}

}  // namespace ww::sim
