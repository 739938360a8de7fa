// SPDX-License-Identifier: Apache-2.0
#include "lower/fragment.h"

#include <algorithm>

#include "layout/fit.h"
#include "lower/as_index.h"
#include "lower/operand_places.h"

namespace ww::lower {
namespace fragments {
namespace {

// A buffer in registers with the region's extents.
ir::BufferId fragment_buffer(const Call& call, std::size_t argument, const Fragment& fragment,
                             layout::TileLayout layout) {
  ir::Function& f = call.f();
  const ir::Buffer& of = f[call.region(argument).buffer];
  ir::Buffer out;
  out.name = of.name + "_part";
  out.dtype = of.dtype;
  out.scope = ir::Scope::Local;
  out.span = call.span;
  out.layout_kind = ir::LayoutKind::Explicit;
  out.layout = layout::Layout(std::move(layout));
  out.origin = ir::BufferOrigin::Alloc;
  for (const std::int64_t extent : fragment.part)
    out.shape.push_back(ir::int_imm(f, num::DType::Int32, extent, call.span));
  if (fragment.part.empty())
    for (const ir::RangeExpr& range : call.region(argument).ranges)
      out.shape.push_back(range.extent);
  return f.add(std::move(out));
}

bool leaves_threads_out(const Fragment& fragment, std::int64_t threads) {
  std::vector<bool> has(as_index(threads));
  for (const std::int64_t thread : fragment.thread) has[as_index(thread)] = true;
  return std::ranges::find(has, false) != has.end();
}

}  // namespace
}  // namespace fragments

bool is_memory(ir::Scope scope) { return scope == ir::Scope::Global || ir::is_shared(scope); }

std::optional<layout::TileLayout> fragment_layout(const Call& call, const Fragment& fragment) {
  std::vector<layout::Column> columns = {{layout::axes::m(), fragment.slot}};
  const layout::Axis threads = call.tile.scope == ir::Unit::Warp        ? layout::axes::laneid()
                               : call.tile.scope == ir::Unit::Warpgroup ? layout::axes::tid_in_wg()
                                                                        : layout::axes::tx();
  if (call.tile.scope != ir::Unit::Thread) columns.push_back({threads, fragment.thread});
  auto fitted = layout::fit(columns);
  if (!fitted) return std::nullopt;
  return *std::move(fitted);
}

Match<ir::Region> add_fragment(const Call& call, std::size_t argument, const Fragment& fragment,
                               std::string_view how, Expansion& out) {
  constexpr std::int64_t kMaxRegisters = 255;
  const std::string& name = call.buffer(argument).name;
  const std::int64_t words =
      words_of(fragment.slot, num::storage_bits(call.buffer(argument).dtype));
  if (words > kMaxRegisters)
    return decline("size",
                   "a thread would hold {} registers of `{}`, and has {}; a loop over smaller "
                   "tiles{} takes fewer",
                   words, name, kMaxRegisters, how);
  auto layout = fragment_layout(call, fragment);
  if (!layout)
    return decline("irregular", "no layout says which threads hold which elements of `{}`", name);
  const ir::BufferId buffer =
      fragments::fragment_buffer(call, argument, fragment, *std::move(layout));
  out.buffers.push_back(buffer);
  const std::int64_t threads =
      fragment.part.empty() ? call.unit_threads() : call.context.launch.threads();
  if (fragments::leaves_threads_out(fragment, threads))
    out.cleared.emplace_back(buffer, *std::ranges::max_element(fragment.slot) + 1);
  return whole_region(call.f(), buffer);
}

ir::TileCall copy_of(const Call& call, ir::TileArg to, ir::TileArg from) {
  ir::TileCall out;
  out.op = ir::TileOp::Copy;
  out.scope = call.tile.scope;
  out.args = {std::move(to), std::move(from)};
  const auto is_register = [&](const ir::TileArg& arg) {
    return call.f()[std::get<ir::Region>(arg).buffer].scope == ir::Scope::Local;
  };
  if (is_register(out.args[0]) && is_register(out.args[1])) out.workspace = call.tile.workspace;
  return out;
}

}  // namespace ww::lower
