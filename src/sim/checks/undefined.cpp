// SPDX-License-Identifier: Apache-2.0
#include "sim/checks/undefined.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "sim/run/unit.h"

namespace ww::sim {
namespace {

// The name of a register of a function, given one of its ops.
std::string_view register_name(const Program& program, std::uint32_t op, Place place) {
  const Code& code = program.functions[program.infos[op].function];
  const auto name_in = [&](std::uint32_t at) {
    for (const OperandInfo& operand : program.operands_of(at))
      if (operand.place == place && operand.name != ptx::kNoName)
        return program.module.text(operand.name);
    return std::string_view();
  };
  std::string_view name = name_in(op);
  for (std::uint32_t at = code.first_op; at < code.end_op && name.empty(); ++at) name = name_in(at);
  return name;
}
std::string quoted_name(const Program& program, std::uint32_t op, Place place) {
  const std::string_view name = register_name(program, op, place);
  return name.empty() ? "a register" : fmt::format("`{}`", name);
}
std::string operand_name(const Warp& warp, Place place) {
  return quoted_name(*warp.program, warp.current, place);
}

void report_used(Warp& warp, Place place, Mask bad, OriginId origin) {
  const bool is_guard = warp.program->ops[warp.current].guard == place;
  const std::string name = operand_name(warp, place);
  report_undefined(warp, bad, origin, 0,
                   name + (is_guard ? " decides, as the guard, and is undefined"
                                    : " is used and holds undefined bytes"));
}

// The undefined bytes of a lane, of registers of 128 bits too.
unsigned marks_in(const std::uint8_t* bits, unsigned lane, unsigned bytes) {
  if (bytes <= 8) return bits[lane] & ((1U << bytes) - 1U);
  return bits[lane] | unsigned{bits[lane + kLanes]} << 8U;
}

// The lanes with undefined bytes.
Mask undefined_lanes(const Warp& warp, Place place, Mask who, unsigned bytes, bool is_pred) {
  const std::uint8_t* const bits = warp.undefined.of(place);
  Mask lanes = 0;
  if (is_pred) {
    std::memcpy(&lanes, bits, sizeof lanes);
    return lanes & who;
  }
  for_each_lane(who, [&](unsigned l) {
    if (marks_in(bits, l, bytes) != 0) lanes |= lane_bit(l);
  });
  return lanes;
}

// They count as defined from now on.
void take_undefined(Warp& warp, Place place, Mask lanes, unsigned bytes, bool is_pred) {
  std::uint8_t* const marks = warp.undefined.write(place, is_pred ? 0 : lanes);
  if (is_pred) {
    Mask all = 0;
    std::memcpy(&all, marks, sizeof all);
    all &= ~lanes;
    std::memcpy(marks, &all, sizeof all);
    return;
  }
  for_each_lane(lanes, [&](unsigned l) {
    marks[l] = 0;
    if (bytes > 8) marks[l + kLanes] = 0;
  });
}

// --- origins -------------------------------------------------------------------------------------

std::string lane_list(Mask lanes) {
  return fmt::format("lane{} {}", count_lanes(lanes) == 1 ? "" : "s", lanes_text(lanes));
}

// "shared address 0x40", as findings show addresses.
std::string memory_text(const Warp& warp, std::uint64_t address) {
  if (const Region* region = warp.unit->context.memory->find(address); region != nullptr)
    return fmt::format("{}, at address 0x{:x}", region->name, address);
  if (is_in_tensor(address)) return tensor_text(address);
  if (address >= kLocalWindow) return fmt::format("local address 0x{:x}", address - kLocalWindow);
  constexpr std::uint64_t kInBlock = (std::uint64_t{1} << kRankShift) - 1;
  return fmt::format("shared address 0x{:x}", address & kInBlock);
}

// The op of the function whose result the register is: under a guard rather than not.
std::uint32_t writer_of(const Program& program, const Origin& origin) {
  const Code& code = program.functions[program.infos[origin.op].function];
  const auto writes = [&](std::uint32_t op) {
    return std::ranges::any_of(program.operands_of(op), [&](const OperandInfo& operand) {
      return operand.is_result && operand.place == origin.place;
    });
  };
  std::uint32_t found = kNoOp;
  for (std::uint32_t op = code.first_op; op < code.end_op; ++op) {
    if (!writes(op)) continue;
    if (program.ops[op].guard.present()) return op;
    if (found == kNoOp) found = op;
  }
  return found;
}

FoundOrigin register_origin(const Program& program, const Origin& origin) {
  const std::string name = quoted_name(program, origin.op, origin.place);
  const std::uint32_t writer = writer_of(program, origin);
  if (writer == kNoOp) return {.text = fmt::format("no instruction sets {}", name)};
  const Op& op = program.ops[writer];
  const std::string why =
      op.guard.present() ? fmt::format("the guard `{}{}` did not hold", op.guard_negated ? "!" : "",
                                       register_name(program, writer, op.guard))
                         : "this was not executed before";
  return {.text = fmt::format("{} was never set in {}: {}", name, lane_list(origin.lanes), why),
          .op = writer};
}

// A number for what is wrong: the op, or a register that no op sets.
std::uint32_t cause_of(const Program& program, const Origin& origin, std::uint32_t op) {
  if (op != kNoOp) return op;
  const std::uint32_t function = program.infos[origin.op].function;
  return (1U << 31U) | ((function * 65599U + origin.place.offset()) & 0x7FFF'FFFFU);
}

FoundOrigin found_origin(const Warp& warp, OriginId id) {
  if (id == 0) return {};
  const Origin& origin = warp.unit->origins.origin_of(id);
  FoundOrigin out =
      origin.place.present() ? register_origin(*warp.program, origin)
      : origin.address == 0
          ? FoundOrigin{.text = "reads memory that nothing has defined", .op = origin.op}
          : FoundOrigin{
                .text = fmt::format("nothing has defined {}", memory_text(warp, origin.address)),
                .op = origin.op};
  out.way = warp.unit->origins.way_of(id);
  std::erase(out.way, out.op);
  out.cause = cause_of(*warp.program, origin, out.op);
  return out;
}

// Lanes of an op's sources that are undefined, with the origin of the first that is.
struct SourceOrigins {
  OriginId lane[kLanes] = {};
  Mask found = 0;

  void add(Warp& warp, Place place, bool is_pred, Mask who) {
    if (place.is_constant() || !place.present() || !warp.undefined.is_suspect(place)) return;
    const std::uint8_t* const bits = warp.undefined.of(place);
    Mask undefined = 0;
    if (is_pred) {
      std::memcpy(&undefined, bits, sizeof undefined);
    } else {
      for (unsigned l = 0; l < kLanes; ++l) undefined |= static_cast<Mask>(bits[l] != 0) << l;
    }
    undefined &= who & ~found;
    found |= undefined;
    for_each_lane(undefined, [&](unsigned l) { lane[l] = origin_of(warp, place, l); });
  }
};

// An undefined guard: the results may be the old ones or the new ones.
void spread_guard(Warp& warp, Mask lanes) {
  for (const OperandInfo& operand : warp.program->operands_of(warp.current)) {
    if (!operand.is_result) continue;
    std::uint8_t* const marks =
        warp.undefined.write(operand.place, operand.is_predicate() ? 0 : lanes);
    if (operand.is_predicate()) {
      Mask all = 0;
      std::memcpy(&all, marks, sizeof all);
      all |= lanes;
      std::memcpy(marks, &all, sizeof all);
      continue;
    }
    const unsigned bytes = static_cast<unsigned>(isa::info(operand.type).bits) / 8;
    for_each_lane(lanes, [&](unsigned l) {
      marks[l] = static_cast<std::uint8_t>((1U << std::min(bytes, 8U)) - 1U);
      if (bytes > 8) marks[l + kLanes] = 0xFF;
    });
  }
}

// What an op does that has no rule of its own: uses all sources, defines all results.
void use_and_define(Warp& warp) {
  const std::span<const OperandInfo> operands = warp.program->operands_of(warp.current);
  for (const OperandInfo& operand : operands)
    if (!operand.is_result) use_value(warp, operand.place, warp.exec, 8, operand.is_predicate());
  for (const OperandInfo& operand : operands)
    if (operand.is_result) define_value(warp, operand.place, operand.is_predicate());
}

}  // namespace

OriginId origin_of(Warp& warp, Place place, unsigned lane) {
  const LaneTable<OriginId>& origins = warp.undefined.origins;
  const std::uint64_t at = warp.undefined.at(place);
  if (const OriginId id = origins.find(at, lane); id != 0) return id;
  Mask unset = lane_bit(lane);
  const Code& code = warp.program->functions[warp.program->infos[warp.current].function];
  const std::uint8_t* const marks = warp.undefined.of(place);
  for_each_lane(warp.born, [&](unsigned l) {
    if (marks[l] != 0 && origins.find(at, l) == 0) unset |= lane_bit(l);
  });
  return warp.unit->origins.from({.place = place, .op = code.first_op, .lanes = unset});
}

OriginId origin_in(Warp& warp, const Region& region, std::uint64_t offset, unsigned lane) {
  Origins& origins = warp.unit->origins;
  if (const OriginId id = origins.stored_at(warp.unit_warp(), region, offset); id != 0) return id;
  return origins.from(
      {.op = warp.current, .address = region.base + offset - lane * region.lane_stride});
}

void set_origins(Warp& warp, Place place, Mask who, const OriginId* before) {
  OriginId after[kLanes] = {};
  const bool moves = warp.program->infos[warp.current].family == isa::FamilyId::move_rows;
  Origins& origins = warp.unit->origins;
  for_each_lane(who, [&](unsigned l) {
    if (before[l] != 0) after[l] = moves ? before[l] : origins.through(before[l], warp.current);
  });
  warp.undefined.origins.set(warp.undefined.at(place), after, who);
}

void report_undefined(Warp& warp, Mask who, OriginId id, std::uint64_t address, std::string text) {
  if (!warp.checks(Check::Uninit)) return;
  FoundOrigin origin = found_origin(warp, id);
  const bool is_new = origin.cause != kNoOp
                          ? !warp.unit->findings.count_up(Check::Uninit, origin.cause,
                                                          Findings::kOfOrigin, count_lanes(who))
                          : warp.is_new(Check::Uninit, kNoOp, count_lanes(who));
  if (is_new) warp.report_found(Check::Uninit, who, address, std::move(text), std::move(origin));
}

void track_op(Warp& warp, const Op& op) {
  const Mask executing = warp.exec;
  const bool only_computes = (op.flags & kOnlyComputes) != 0 && !warp.undefined.are_early;
  Mask open = 0;  // whether these lanes execute is undefined
  SourceOrigins origins;
  if (op.guard.present()) {
    if (only_computes && warp.undefined.is_suspect(op.guard)) {
      std::memcpy(&open, warp.undefined.of(op.guard), sizeof open);
      open &= warp.active;
      origins.add(warp, op.guard, true, open);
    } else {
      use_value(warp, op.guard, warp.active, 0, true);
    }
  }
  if ((executing | open) == 0 || (op.flags & kTracksItself) != 0) return;
  const std::span<const OperandInfo> operands = warp.program->operands_of(warp.current);
  for (const OperandInfo& operand : operands)
    if (!operand.is_result) origins.add(warp, operand.place, operand.is_predicate(), executing);
  if (executing != 0) {
    if (op.track != nullptr) {
      op.track(warp, op);
    } else {
      use_and_define(warp);
    }
  }
  if (open != 0) spread_guard(warp, open);
  if (origins.found != 0) {
    for (const OperandInfo& operand : operands)
      if (operand.is_result && warp.undefined.is_suspect(operand.place))
        set_origins(warp, operand.place, origins.found, origins.lane);
  }
  clear_suspicions(warp);
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
  if (!any_byte(bits, kLanes)) return define_lanes(warp, place, warp.exec);
  blend(warp.undefined.write(place, warp.exec), bits, warp.exec);
}

void set_loaded_bytes(Warp& warp, Place place, const std::uint8_t* bits, OriginId origin) {
  set_undefined_bytes(warp, place, bits);
  Mask open = 0;
  for_each_lane(warp.exec, [&](unsigned l) {
    if (bits[l] != 0) open |= lane_bit(l);
  });
  if (open == 0) return;
  OriginId origins[kLanes];
  std::ranges::fill(origins, origin);
  set_origins(warp, place, open, origins);
}

void clear_suspicions(Warp& warp) {
  if (warp.undefined.suspects() == nullptr) return;
  const auto look = [&](Place place, isa::Type type) {
    if (place.is_constant() || !warp.undefined.is_suspect(place)) return;
    const std::uint8_t* const bits = warp.undefined.of(place);
    const std::size_t rows = type == isa::Type::Pred     ? sizeof(Mask)
                             : isa::info(type).bits > 64 ? std::size_t{2} * kLanes
                                                         : kLanes;
    if (!any_byte(bits, rows)) warp.undefined.clear_suspicion(place);
  };
  const Place guard = warp.program->ops[warp.current].guard;
  if (guard.present()) look(guard, isa::Type::Pred);
  for (const OperandInfo& operand : warp.program->operands_of(warp.current))
    look(operand.place, operand.type);
}

namespace {

// Reports undefined bytes; the lanes that have them.
Mask report_lanes(Warp& warp, Place place, Mask who, unsigned bytes, bool is_pred) {
  if (!warp.undefined.are_kept() || place.is_constant() || !warp.undefined.is_suspect(place))
    return 0;
  const Mask bad = undefined_lanes(warp, place, who, bytes, is_pred);
  if (bad == 0) return 0;
  report_used(warp, place, bad, origin_of(warp, place, first_lane(bad)));
  return bad;
}

}  // namespace

void use_value(Warp& warp, Place place, Mask who, unsigned bytes, bool is_pred) {
  const Mask bad = report_lanes(warp, place, who, bytes, is_pred);
  // Reported once; what follows from it is not reported again.
  if (bad != 0) take_undefined(warp, place, bad, bytes, is_pred);
}

void show_value(Warp& warp, Place place, Mask who, unsigned bytes) {
  if (!warp.undefined.are_early) report_lanes(warp, place, who, bytes, false);
}

void calculate_with(Warp& warp, Place place, Mask who, unsigned bytes, bool is_pred) {
  if (warp.undefined.are_early) use_value(warp, place, who, bytes, is_pred);
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

void define_lanes(Warp& warp, Place place, Mask who, unsigned bytes) {
  if (!warp.undefined.are_kept() || !warp.undefined.is_suspect(place)) return;
  std::uint8_t* const bits = warp.undefined.write(place, who);
  for_each_lane(who, [&](unsigned l) {
    bits[l] = 0;
    if (bytes > 8) bits[l + kLanes] = 0;
  });
  if (who == kAllLanes) warp.undefined.clear_suspicion(place);
}

}  // namespace ww::sim
