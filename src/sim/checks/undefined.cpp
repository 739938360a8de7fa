// SPDX-License-Identifier: Apache-2.0
// What a warp knows about the values in its registers: which bytes nothing has written, which still
// wait for a load of tensor memory, and which numbers are not finite.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "sim/run/unit.h"
#include "sim/run/warp.h"

namespace ww::sim {

void Warp::default_track() {
  const OpInfo& info = program->infos[current_];
  for (std::uint32_t i = 0; i < info.operand_count; ++i) {
    const OperandInfo& operand = program->operands[info.first_operand + i];
    const bool is_pred = operand.type == isa::Type::Pred;
    if (!operand.is_result) use(operand.place, exec, 8, is_pred);
  }
  for (std::uint32_t i = 0; i < info.operand_count; ++i) {
    const OperandInfo& operand = program->operands[info.first_operand + i];
    if (operand.is_result) define(operand.place, operand.type == isa::Type::Pred);
  }
}

namespace {

// Lanes in which the 16-, 32- or 64-bit numbers are finite: not all bits of the exponent are set.
template <typename T>
Mask finite_among(const T* values, T exponent) {
  Mask finite = 0;
  for (unsigned l = 0; l < kLanes; ++l) {
    finite |= static_cast<Mask>((values[l] & exponent) != exponent) << l;
  }
  return finite;
}

Mask finite_in(const Warp& warp, Place place, isa::Type as) {
  switch (as) {
    case isa::Type::F32:
      return finite_among<std::uint32_t>(warp.source<std::uint32_t>(place), 0x7F80'0000U);
    case isa::Type::F64:
      return finite_among<std::uint64_t>(warp.source<std::uint64_t>(place), 0x7FF0'0000'0000'0000U);
    case isa::Type::F16:
      return finite_among<std::uint16_t>(warp.source<std::uint16_t>(place), 0x7C00U);
    case isa::Type::Bf16:
      return finite_among<std::uint16_t>(warp.source<std::uint16_t>(place), 0x7F80U);
    case isa::Type::F16x2:
      return finite_among<std::uint32_t>(warp.source<std::uint32_t>(place), 0x7C00U) &
             finite_among<std::uint32_t>(warp.source<std::uint32_t>(place), 0x7C00'0000U);
    case isa::Type::Bf16x2:
      return finite_among<std::uint32_t>(warp.source<std::uint32_t>(place), 0x7F80U) &
             finite_among<std::uint32_t>(warp.source<std::uint32_t>(place), 0x7F80'0000U);
    default:
      return kAllLanes;
  }
}

}  // namespace

Mask Warp::finite_lanes(bool results) {
  const OpInfo& info = program->infos[current_];
  Mask finite = kAllLanes;
  for (std::uint32_t i = 0; i < info.operand_count; ++i) {
    const OperandInfo& operand = program->operands[info.first_operand + i];
    if (operand.is_result == results) finite &= finite_in(*this, operand.place, operand.as);
  }
  return finite;
}

void Warp::report_numbers(Mask lanes) {
  const Mask born_now = lanes & finite_ & ~finite_lanes(true);
  // Loads and moves only pass numbers on.
  using isa::FamilyId;
  const FamilyId family = program->infos[current_].family;
  const bool makes_numbers = family == FamilyId::float_rows || family == FamilyId::half_rows ||
                             family == FamilyId::mma_rows || family == FamilyId::convert_rows;
  if (born_now == 0 || !makes_numbers) return;
  if (unit->findings.count_up(Check::Numbers, current_, kNoOp, count_lanes(born_now))) return;
  report(Check::Numbers, born_now, "finite operands gave a NaN or an infinity");
}

void Warp::use(Place place, Mask who, unsigned bytes, bool is_pred) {
  if (undefined == nullptr || place.is_constant()) return;
  const std::uint8_t* const bits = undefined_lanes(place);
  Mask bad = 0;
  if (is_pred) {
    std::memcpy(&bad, bits, sizeof bad);
    bad &= who;
    if (bad == 0) return;
    const Mask known = ~bad;
    Mask all = 0;
    std::memcpy(&all, bits, sizeof all);
    all &= known;
    std::memcpy(mark_lanes(place, 0), &all, sizeof all);
  } else {
    std::uint64_t words[4];
    std::memcpy(words, bits, sizeof words);
    if ((words[0] | words[1] | words[2] | words[3]) == 0) return;
    const auto wanted = static_cast<std::uint8_t>(bytes >= 8 ? 0xFFU : (1U << bytes) - 1U);
    for_each_lane(who, [&](unsigned l) {
      if ((bits[l] & wanted) != 0) bad |= lane_bit(l);
    });
    if (bad == 0) return;
    // Reported once; what comes of it is not reported again.
    std::uint8_t* const marks = mark_lanes(place, bad);
    for_each_lane(bad, [&](unsigned l) { marks[l] = 0; });
  }
  report_undefined(place, bad);
}

// Of an operand of the op that runs.
std::string_view Warp::name_of(Place place) const {
  const OpInfo& info = program->infos[current_];
  std::string_view name = "a register";
  for (std::uint32_t i = 0; i < info.operand_count; ++i) {
    const OperandInfo& operand = program->operands[info.first_operand + i];
    if (operand.place == place && operand.name != ptx::kNoName) {
      name = program->module.text(operand.name);
    }
  }
  return name;
}

void Warp::report_undefined(Place place, Mask bad) {
  const std::string_view name = name_of(place);
  if (const PendingLoad* load = pending_load(place); load != nullptr) {
    report_pending(*load, bad, name);
    return;
  }
  if (!checks(Check::Uninit)) return;
  if (unit->findings.count_up(Check::Uninit, current_, kNoOp, count_lanes(bad))) return;
  const bool is_guard = program->ops[current_].guard == place;
  report(Check::Uninit, bad,
         is_guard ? "the guard decides and nothing has written it"
                  : fmt::format("`{}` is used and holds undefined bytes", name));
}

const PendingLoad* Warp::pending_load(Place place) const {
  for (const PendingLoad& load : loads) {
    const Op& op = program->ops[load.op];
    const auto* first = &program->places[op.extra];
    if (load.frame == frame_offset_ &&
        std::find(first, first + op.count, place) != first + op.count) {
      return &load;
    }
  }
  return nullptr;
}

void Warp::report_pending(const PendingLoad& load, Mask bad, std::string_view name) {
  if (!checks(Check::Async)) return;
  if (unit->findings.count_up(Check::Async, current_, load.op, count_lanes(bad))) return;
  report_at(Check::Async, bad, 0, fmt::format("`{}` is used before `tcgen05.wait::ld`", name),
            Party{load.op, cta->linear, index, load.lanes});
}

void Warp::pass_on(Place place, Mask who) {
  if (loads.empty() || !tracks() || place.is_constant()) return;
  const PendingLoad* load = pending_load(place);
  if (load == nullptr) return;
  Mask bad = 0;
  const std::uint8_t* const bits = undefined_lanes(place);
  for_each_lane(load->lanes & who, [&](unsigned l) {
    if (bits[l] != 0) bad |= lane_bit(l);
  });
  if (bad != 0) report_pending(*load, bad, name_of(place));
}

// --- bits of undefined bytes ---------------------------------------------------------------------

std::uint64_t Warp::known_bits(Place place, unsigned lane) const {
  if (known_bits_.empty() || place.is_constant()) return 0;
  const auto found = known_bits_.find(frame_offset_ + place.offset());
  return found == known_bits_.end() ? 0 : found->second[lane];
}

void Warp::set_known_bits(Place place, const std::uint64_t* bits) {
  std::uint64_t any = 0;
  for_each_lane(exec, [&](unsigned l) { any |= bits[l]; });
  if (any != 0) blend(known_bits_[frame_offset_ + place.offset()].data(), bits, exec);
}

void Warp::drop_known_bits(std::uint64_t at, Mask who) {
  const auto found = known_bits_.find(at);
  if (found == known_bits_.end()) return;
  for_each_lane(who, [&](unsigned l) { found->second[l] = 0; });
  const bool is_empty = std::all_of(found->second.begin(), found->second.end(),
                                    [](std::uint64_t bits) { return bits == 0; });
  if (is_empty) known_bits_.erase(found);
}

void Warp::define(Place place, bool is_pred) {
  if (undefined == nullptr || place.is_constant() || !place.present()) return;
  std::uint8_t* const bits = mark_lanes(place, is_pred ? 0 : exec);
  if (is_pred) {
    Mask all = 0;
    std::memcpy(&all, bits, sizeof all);
    all &= ~exec;
    std::memcpy(bits, &all, sizeof all);
    return;
  }
  if (exec == kAllLanes) {
    std::memset(bits, 0, kLanes);
  } else {
    for_each_lane(exec, [&](unsigned l) { bits[l] = 0; });
  }
}

}  // namespace ww::sim
