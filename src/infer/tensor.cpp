// SPDX-License-Identifier: Apache-2.0
// Tiles that are copied to or from tensor memory: a lane of it belongs to a thread of the warpgroup.
#include <fmt/format.h>

#include <algorithm>

#include "infer/state.h"
#include "layout/image.h"

namespace ww::infer {
namespace {

constexpr std::int64_t kLanes = 128;

bool is_tensor(const State& state, const Operand& operand) {
  return state.f[operand.buffer].scope == ir::Scope::Tmem;
}

// Is row r in lane r, for all of them?
bool has_a_row_in_each_lane(const State& state, const Operand& operand) {
  const layout::Shape shape = state.shape(operand.buffer);
  const auto layout = ir::layout_of(state.f, state.f[operand.buffer]);
  if (shape.size() != 2 || shape[0] != kLanes || operand.extents[0] != kLanes || !layout)
    return false;
  if (layout->copies() != 1 || !layout::require_constant(*layout, "places")) return false;
  std::vector<std::int64_t> lanes(static_cast<std::size_t>(layout->size()));
  layout::enumerate_axis(*layout, layout::axes::tlane(), lanes);
  for (std::size_t x = 0; x < lanes.size(); ++x)
    if (lanes[x] != static_cast<std::int64_t>(x) / shape[1]) return false;
  return true;
}

// The tile of a copy to or from tensor memory that a warpgroup makes.
void decide_copy(State& state, const Use& use) {
  const auto tensor = std::ranges::find_if(
      use.operands, [&](const Operand& each) { return is_tensor(state, each); });
  if (tensor == use.operands.end() || state.call(use).scope != ir::Unit::Warpgroup ||
      !has_a_row_in_each_lane(state, *tensor))
    return;
  for (const Operand& each : use.operands) {
    const layout::Shape shape = state.shape(each.buffer);
    if (!state.is_open(each.buffer) || shape.size() != 2 || shape[0] != kLanes) continue;
    if (Result<Named> named = wg_named(shape[1]))
      decide(state, each.buffer, *std::move(named),
             fmt::format("meets tensor memory in {}", state.name(use)), state.span(use));
  }
}

}  // namespace

bool meets_tensor_memory(const State& state, ir::BufferId id) {
  return std::ranges::any_of(state.uses, [&](const Use& use) {
    return use.kind == UseKind::Copy && use.has(id) &&
           std::ranges::any_of(use.operands,
                               [&](const Operand& each) { return is_tensor(state, each); });
  });
}

void decide_tensor(State& state) {
  for (const Use& use : state.uses)
    if (use.kind == UseKind::Copy) decide_copy(state, use);
}

}  // namespace ww::infer
