// SPDX-License-Identifier: Apache-2.0
// Products of `gemm_async`: their accumulator, and a factor that is in registers, are as wgmma deals
// them to the warpgroups that make the call.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "infer/state.h"

namespace ww::infer {
namespace {

constexpr std::int64_t kWarpgroup = 128;
// Arguments of `gemm_async` that may be in registers: C and A.
constexpr std::array<char, 2> kRegisterLetters = {'D', 'A'};

bool is_async_product(const State& state, const Use& use) {
  return use.kind == UseKind::Product && state.call(use).op == ir::TileOp::GemmAsync;
}

// That share the product; none where the unit is not whole warpgroups.
std::optional<std::int64_t> warpgroups_of(const State& state, const Use& use) {
  const ir::Unit unit = state.call(use).scope;
  if (unit == ir::Unit::Warpgroup) return 1;
  const std::int64_t threads = state.launch.threads();
  if (unit != ir::Unit::Cta || threads % kWarpgroup != 0) return std::nullopt;
  return threads / kWarpgroup;
}

Result<Named> tile_of(const State& state, const Operand& operand, std::int64_t warpgroups) {
  return wgmma_named(kRegisterLetters[operand.arg], state.shape(operand.buffer),
                     state.f[operand.buffer].dtype, warpgroups);
}

}  // namespace

bool is_of_async_product(const State& state, ir::BufferId id) {
  return std::ranges::any_of(state.uses, [&](const Use& use) {
    return is_async_product(state, use) && state.is_local(id) && use.has(id);
  });
}

std::string async_product_problem(const State& state, const Use& use) {
  const auto warpgroups = warpgroups_of(state, use);
  if (!warpgroups)
    return fmt::format("wgmma is for whole warpgroups, and `Tx.{}` has {} threads",
                       ir::name_of(state.call(use).scope), state.launch.threads());
  for (const Operand& each : use.operands) {
    if (each.arg >= kRegisterLetters.size() || !state.is_local(each.buffer)) continue;
    if (const Result<Named> tile = tile_of(state, each, *warpgroups); !tile)
      return fmt::format("wgmma deals no such `{}` to {} warpgroup{}: {}",
                         state.f[each.buffer].name, *warpgroups, *warpgroups == 1 ? "" : "s",
                         tile.error().text);
  }
  return "another layout is written for one of its tiles";
}

void decide_async_products(State& state) {
  for (const Use& use : state.uses) {
    if (!is_async_product(state, use)) continue;
    const auto warpgroups = warpgroups_of(state, use);
    if (!warpgroups) continue;
    for (const Operand& each : use.operands) {
      if (each.arg >= kRegisterLetters.size() || !state.is_open(each.buffer)) continue;
      if (Result<Named> tile = tile_of(state, each, *warpgroups))
        decide(state, each.buffer, *std::move(tile),
               fmt::format("{} of {}", each.arg == 0 ? "accumulator" : "factor A", state.name(use)),
               state.span(use));
    }
  }
}

}  // namespace ww::infer
