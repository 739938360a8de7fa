// SPDX-License-Identifier: Apache-2.0
// What frames inference: which threads a tile belongs to, errors where nothing decides, and views of
// a thread's registers, whose layout follows that of the tile.
#include <fmt/format.h>

#include <algorithm>

#include "infer/state.h"
#include "ir/print/print.h"
#include "layout/canonical.h"
#include "layout/views.h"

namespace ww::infer {
namespace {

Diag buffer_error(const State& state, ir::BufferId id, std::string text) {
  return Diag{DiagKind::BadBuffer,
              fmt::format("`layout=\"auto\"` of `{}`: {}", state.f[id].name, text),
              state.f[id].span,
              {}};
}

std::vector<const Use*> uses_of(const State& state, ir::BufferId id) {
  std::vector<const Use*> out;
  for (const Use& use : state.uses)
    if (use.has(id)) out.push_back(&use);
  return out;
}

// `coalesced_layout(…)` if the tile is for a unit of known threads.
std::string remedy_text(const State& state, ir::BufferId id, const std::vector<const Use*>& uses) {
  const ir::Unit unit = uses.empty() ? ir::Unit::Cta : state.call(*uses[0]).scope;
  if (const auto by = sharers_of(state, unit))
    if (const Result<Named> named = coalesced_named(state.shape(id), *by, state.f[id].dtype))
      return fmt::format("write a layout, such as `layout={}`", named->text);
  return "write a layout in the place of \"auto\"";
}

// What a use says that does not decide.
std::string silence_text(const State& state, const Use& use) {
  const auto others = std::ranges::count_if(
      use.operands, [&](const Operand& each) { return state.is_local(each.buffer); });
  if (use.kind == UseKind::Product) return ": " + product_problem(state, use);
  for (const Operand& each : use.operands)
    if (state.f[each.buffer].scope == ir::Scope::Tmem)
      return ": only for `Tx.wg` and 128 rows, one in each lane of tensor memory, a layout is "
             "inferred";
  return others > 1 ? " follows its other tiles, none of which has a layout" : " takes any layout";
}

void refuse(State& state, ir::BufferId id) {
  std::vector<const Use*> uses = uses_of(state, id);
  const bool is_product = is_of_product(state, id);
  if (is_product) std::erase_if(uses, [](const Use* use) { return use->kind != UseKind::Product; });
  Diag problem = buffer_error(
      state, id,
      uses.empty() ? "no tile primitive uses it" : "no use says which threads hold what");
  constexpr std::size_t kMaxNotes = 4;
  for (std::size_t i = 0; i < std::min(uses.size(), kMaxNotes); ++i)
    problem.notes.push_back(
        {state.name(*uses[i]) + silence_text(state, *uses[i]), state.span(*uses[i])});
  std::string remedy = remedy_text(state, id, uses);
  if (is_product) remedy = "choose a shape that the warps can share, or write a layout";
  if (meets_tensor_memory(state, id)) remedy = "write a layout, such as `tcgen05_atom_layout(…)`";
  problem.notes.push_back({std::move(remedy), {}});
  state.errors.push_back(std::move(problem));
}

// One unit for all uses: of a thread, each has a tile of its own.
void decide_unit(State& state, ir::BufferId id) {
  const std::vector<const Use*> uses = uses_of(state, id);
  if (uses.empty()) return;
  const ir::Unit unit = state.call(*uses[0]).scope;
  for (const Use* use : uses) {
    if (state.call(*use).scope == unit) continue;
    Diag problem = buffer_error(state, id, "two uses share it among different threads");
    problem.notes.push_back(
        {fmt::format("{}: all threads of a {}", state.name(*uses[0]), ir::name_of(unit)),
         state.span(*uses[0])});
    problem.notes.push_back({fmt::format("{}: all threads of a {}", state.name(*use),
                                         ir::name_of(state.call(*use).scope)),
                             state.span(*use)});
    problem.notes.push_back({"write the layout that both take, or use two buffers", {}});
    state.errors.push_back(std::move(problem));
    decide_default(state, id, "in error", {});
    return;
  }
  if (unit == ir::Unit::Thread)
    decide_default(state, id, fmt::format("{} is of one thread", state.name(*uses[0])),
                   state.span(*uses[0]));
}

}  // namespace

void decide_units(State& state) {
  for (const ir::BufferId id : state.autos) {
    if (state.shape(id).size() != state.f[id].shape.size()) {
      Diag problem = buffer_error(state, id, "an extent is known at run time only");
      problem.notes.push_back({"give the tile extents that are constants", {}});
      state.errors.push_back(std::move(problem));
      decide_default(state, id, "in error", {});
    } else if (state.elements(id) == 0 || state.shape(id).empty()) {
      state.errors.push_back(buffer_error(state, id,
                                          state.shape(id).empty()
                                              ? "it has no dimension to share"
                                              : "more elements than a tile can have"));
      decide_default(state, id, "in error", {});
    } else if (state.is_local(id)) {
      decide_unit(state, id);
    }
  }
}

void refuse_open(State& state) {
  for (const ir::BufferId id : state.autos)
    if (state.is_open(id)) refuse(state, id);
}

void settle_views(State& state, const InferOptions& options) {
  for (const ir::BufferId id : state.views) {
    ir::Buffer& view = state.f.at(id);
    const ir::Buffer& tile = state.f[view.base];
    view.layout_kind = ir::LayoutKind::RowMajor;
    const auto whole = ir::layout_of(state.f, tile);
    const Result<layout::Layout> mine =
        whole ? layout::storage(*whole) : fail(DiagKind::BadBuffer, "no layout");
    if (!mine) {
      state.errors.push_back(Diag(mine.error()).with_span(view.span));
      continue;
    }
    const Result<std::int64_t> span = layout::memory_span(*mine);
    const std::int64_t total = options.locals_by_place && span ? *span : mine->size();
    const Result<std::int64_t> asked = layout::element_count(state.shape(id));
    if (!asked || *asked != total) {
      state.errors.push_back(
          Diag{DiagKind::NotAdmitted,
               fmt::format("`local` of {} elements over `{}`, of which a thread holds {}",
                           asked ? *asked : 0, tile.name, total),
               view.span,
               {{fmt::format("its layout was inferred: `{}`",
                             state.decided.at(view.base.index).named.text),
                 tile.span}}});
    } else if (!options.locals_by_place && !layout::is_trivial(*mine)) {
      view.layout = *mine;
      view.layout_kind = ir::LayoutKind::Explicit;
    }
  }
}

}  // namespace ww::infer
