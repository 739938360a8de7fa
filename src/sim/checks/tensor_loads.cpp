// SPDX-License-Identifier: Apache-2.0
#include "sim/checks/tensor_loads.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "sim/run/unit.h"

namespace ww::sim {
namespace {

// The lanes that wait for that register of a load; null: it is none of the load's.
Mask* waiting_for(const Warp& warp, PendingLoad& load, Place place) {
  if (load.frame != warp.here.frame || load.waiting.empty()) return nullptr;
  const Op& op = warp.program->ops[load.op];
  const std::span<const Place> places = warp.places(op);
  const auto found = std::ranges::find(places, place);
  return found == places.end() ? nullptr
                               : &load.waiting[static_cast<std::size_t>(found - places.begin())];
}

void check_use(Warp& warp, const PendingLoad& load, const OperandInfo& operand, Mask& waiting) {
  const Mask early = waiting & warp.exec;
  if (early == 0) return;
  waiting &= ~early;
  if (!warp.is_new(Check::Async, load.op, count_lanes(early))) return;
  const std::string_view name =
      operand.name != ptx::kNoName ? warp.program->module.text(operand.name) : "a register";
  warp.report_at(Check::Async, early, 0,
                 fmt::format("`{}` is used before `tcgen05.wait::ld`", name),
                 Party{load.op, warp.cta->linear, warp.index, load.lanes});
}

}  // namespace

void check_tensor_loads(Warp& warp) {
  const std::span<const OperandInfo> operands = warp.program->operands_of(warp.current);
  for (const bool is_result : {false, true}) {
    for (const OperandInfo& operand : operands) {
      if (operand.is_result != is_result || operand.place.is_constant()) continue;
      for (PendingLoad& load : warp.pending.loads) {
        Mask* const waiting = waiting_for(warp, load, operand.place);
        if (waiting == nullptr) continue;
        if (is_result)
          *waiting &= ~warp.exec;
        else
          check_use(warp, load, operand, *waiting);
      }
    }
  }
}

}  // namespace ww::sim
