// SPDX-License-Identifier: Apache-2.0
// Products: fragments of accumulators and operands, the grid of warps, and the shared memory that
// fragments come from and go to.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "infer/relation.h"
#include "infer/state.h"
#include "ir/settings.h"
#include "layout/image.h"

namespace ww::infer {
namespace {

using layout::WarpGrid;

// Arguments of `gemm`: D, A, B, C, transpose_A, transpose_B.
constexpr std::array<char, 4> kLetters = {'D', 'A', 'B', 'C'};
constexpr std::size_t kTransposeA = 4, kTransposeB = 5;

bool is_register_product(const State& state, const Use& use) {
  return use.kind == UseKind::Product && state.call(use).op == ir::TileOp::Gemm;
}

bool is_transposed(const State& state, const Use& use, char letter) {
  if (letter != 'A' && letter != 'B') return false;
  return ir::is_true(state.call(use).args[letter == 'A' ? kTransposeA : kTransposeB]);
}

Result<Named> fragment_of(const State& state, const Use& use, const Operand& operand,
                          const layout::Shape& shape, const WarpGrid& grid) {
  const char letter = kLetters[operand.arg];
  // C is where D is, and has its name.
  return mma_named(letter == 'C' ? 'D' : letter, shape, state.f[operand.buffer].dtype, grid,
                   is_transposed(state, use, letter));
}
// Of the whole buffer.
Result<Named> fragment(const State& state, const Use& use, const Operand& operand,
                       const WarpGrid& grid) {
  return fragment_of(state, use, operand, state.shape(operand.buffer), grid);
}

// --- the grid of warps ---------------------------------------------------------------------------

std::vector<WarpGrid> grids_of(std::int64_t warps) {
  std::vector<WarpGrid> out;
  for (std::int64_t m = warps; m >= 1; --m)
    if (warps % m == 0) out.push_back({m, warps / m});
  return out;
}

// None where there are no whole warps, or where they are not those of the CTA: the one warpgroup of
// a CTA is the CTA.
std::vector<WarpGrid> possible_grids(const State& state, const Use& use) {
  const ir::Unit unit = state.call(use).scope;
  const std::int64_t threads = state.launch.threads();
  if (unit == ir::Unit::Warp) return {{1, 1}};
  const bool is_whole = unit == ir::Unit::Cta || (unit == ir::Unit::Warpgroup && threads == 128);
  if (!is_whole || threads % 32 != 0) return {};
  return grids_of(state.launch.warps());
}

// The grid whose fragments are in the threads that this operand is in.
std::optional<WarpGrid> grid_of_known(const State& state, const Use& use, const Operand& operand,
                                      const std::vector<WarpGrid>& grids) {
  const std::optional<Named> known = state.known(operand.buffer);
  if (!known) return std::nullopt;
  const auto held = holders_of(known->layout);
  if (!held) return std::nullopt;
  for (const WarpGrid& grid : grids) {
    const Result<Named> want = fragment(state, use, operand, grid);
    if (want && holders_of(want->layout) == held) return grid;
  }
  return std::nullopt;
}

// Is the operand of a product computed from the sums of another?
bool is_chained(const State& state, const Use& use) {
  const auto in_group = [&](const Use& other, std::size_t arg, std::uint32_t group) {
    const Operand* operand = other.at(arg);
    return operand != nullptr && state.is_local(operand->buffer) &&
           state.group(operand->buffer) == group;
  };
  for (const Use& other : state.uses) {
    if (!is_register_product(state, other)) continue;
    const Operand* a = use.at(1);
    const Operand* d = use.at(0);
    if (a != nullptr && state.is_local(a->buffer) && in_group(other, 0, state.group(a->buffer)))
      return true;
    if (d != nullptr && in_group(other, 1, state.group(d->buffer))) return true;
  }
  return false;
}

// The warp's part of D is as near to a square as the grid allows; of two, more warps along M.
std::optional<WarpGrid> squarest(const State& state, const Use& use, const Operand& d,
                                 const std::vector<WarpGrid>& grids) {
  const layout::Shape shape = state.shape(d.buffer);
  std::optional<WarpGrid> best;
  std::int64_t best_side = 0;
  for (const WarpGrid& grid : grids) {
    if (!fragment(state, use, d, grid)) continue;
    const std::int64_t side = std::max(shape[0] / grid.m, shape[1] / grid.n);
    if (!best || side < best_side) {
      best = grid;
      best_side = side;
    }
  }
  return best;
}

std::optional<WarpGrid> grid_of(const State& state, const Use& use) {
  const std::vector<WarpGrid> grids = possible_grids(state, use);
  const Operand* d = use.at(0);
  if (grids.empty() || d == nullptr || !state.is_local(d->buffer)) return std::nullopt;
  for (const std::size_t arg : {0U, 3U, 1U, 2U}) {
    const Operand* operand = use.at(arg);
    if (operand == nullptr) continue;
    if (const auto known = grid_of_known(state, use, *operand, grids)) return known;
    if (arg == 0 && state.known(d->buffer)) return std::nullopt;  // sums that are no fragments
  }
  if (is_chained(state, use) || is_row_reduced(state, d->buffer))
    if (fragment(state, use, *d, grids[0])) return grids[0];
  return squarest(state, use, *d, grids);
}

std::string part_text(char letter) {
  return letter == 'A' || letter == 'B' ? fmt::format("operand {}", letter) : "accumulator";
}

void decide_operand(State& state, const Use& use, std::size_t arg) {
  const Operand* operand = use.at(arg);
  if (operand == nullptr || !state.is_open(operand->buffer)) return;
  const std::optional<WarpGrid> grid = grid_of(state, use);
  if (!grid) return;
  if (Result<Named> named = fragment(state, use, *operand, *grid))
    decide(state, operand->buffer, *std::move(named),
           fmt::format("{} of {}", part_text(kLetters[arg]), state.name(use)), state.span(use));
}

// --- shared memory -------------------------------------------------------------------------------

// Tiles in registers that products use, and all that goes with them.
bool goes_with_products(const State& state, ir::BufferId id) {
  return std::ranges::any_of(state.uses, [&](const Use& use) {
    return use.kind == UseKind::Product &&
           std::ranges::any_of(use.operands, [&](const Operand& each) {
             return state.is_local(each.buffer) && state.group(each.buffer) == state.group(id);
           });
  });
}

// The call by which matrix instructions meet the buffer, if there is one.
const Use* fragment_use(const State& state, ir::BufferId id) {
  for (const Use& use : state.uses) {
    if (!use.has(id)) continue;
    if (use.kind == UseKind::Product) return &use;
    if (use.kind != UseKind::Copy) continue;
    for (const Operand& each : use.operands)
      if (state.is_local(each.buffer) && goes_with_products(state, each.buffer)) return &use;
  }
  return nullptr;
}

}  // namespace

bool is_of_product(const State& state, ir::BufferId id) {
  return is_of_async_product(state, id) || std::ranges::any_of(state.uses, [&](const Use& use) {
           return is_register_product(state, use) && use.has(id);
         });
}

std::string product_problem(const State& state, const Use& use) {
  if (!is_register_product(state, use)) return async_product_problem(state, use);
  const ir::Unit unit = state.call(use).scope;
  const std::vector<WarpGrid> grids = possible_grids(state, use);
  if (grids.empty() && unit == ir::Unit::Cta)
    return fmt::format("{} threads are not whole warps", state.launch.threads());
  if (grids.empty())
    return fmt::format(
        "fragments are inferred for `Tx.warp` and `Tx.cta`, not for one {} of several",
        ir::name_of(unit));
  for (const Operand& each : use.operands) {
    if (each.arg >= kLetters.size() || !state.is_local(each.buffer)) continue;
    const auto fits = [&](const WarpGrid& grid) {
      return fragment(state, use, each, grid).has_value();
    };
    if (std::ranges::none_of(grids, fits))
      return fmt::format("no grid of {} warps has fragments of `{}`: {}",
                         grids.front().m * grids.front().n, state.f[each.buffer].name,
                         fragment(state, use, each, grids.front()).error().text);
  }
  return "the layout that is written for the accumulator is of no grid of warps";
}

std::optional<Named> missing_fragment(const State& state, const Use& use, const Operand& operand) {
  const Operand* d = use.at(0);
  const std::optional<Named> known = state.known(operand.buffer);
  if (!is_register_product(state, use) || d == nullptr || !known) return std::nullopt;
  if (operand.arg == 0 || operand.arg >= kLetters.size() || operand.buffer == d->buffer)
    return std::nullopt;
  const std::optional<WarpGrid> grid = grid_of_known(state, use, *d, possible_grids(state, use));
  const Result<Named> whole =
      grid ? fragment(state, use, operand, *grid) : fail(DiagKind::BadBuffer, "no grid");
  const auto held = holders_of(known->layout);
  const auto wanted = whole ? holders_of(whole->layout) : std::nullopt;
  if (!held || !wanted || have(*held, *wanted)) return std::nullopt;
  // Of a part of the operand, the fragments of the part.
  const Result<Named> part = fragment_of(state, use, operand, operand.extents, *grid);
  return part ? std::optional(*part) : std::nullopt;
}

void decide_products(State& state) {
  for (const std::size_t arg : {0U, 3U, 1U, 2U})
    for (const Use& use : state.uses)
      if (is_register_product(state, use)) decide_operand(state, use, arg);
}

void decide_shared(State& state) {
  for (const ir::BufferId id : state.autos) {
    if (state.is_local(id) || state.decided.contains(id.index)) continue;
    if (const Use* use = fragment_use(state, id)) {
      Result<Named> named = shared_named(state.shape(id), state.f[id].dtype);
      if (named &&
          decide(state, id, *std::move(named),
                 fmt::format("fragments of products in {}", state.name(*use)), state.span(*use)))
        continue;
    }
    decide_default(state, id, "no fragments of products", {});
  }
}

// --- async products ------------------------------------------------------------------------------
//
// Products of `gemm_async`: their accumulator, and a factor that is in registers, are as wgmma deals
// them to the warpgroups that make the call.

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

// --- tensor --------------------------------------------------------------------------------------
//
// Tiles that are copied to or from tensor memory: a lane of it belongs to a thread of the warpgroup.

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
