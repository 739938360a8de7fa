// SPDX-License-Identifier: Apache-2.0
// Reductions whose layouts say what is reduced, as TVM has them for tiles in registers:
//
//   Tx.warp.sum(red, acc, thread_reduce=False)   (16, 128) into (16, 4): lane l of a row's 4 lanes
//                                                gets the sum of what it holds, red[r, l]
//   Tx.warp.sum(red, acc, thread_reduce=True)    the sum of the row, in all 4
//   Tx.warp.sum(dst, src)                        128 elements, 4 in each of 32 lanes, into 4 that
//                                                all lanes have: element i of each lane
//
// They become reductions along axes, of views that have lanes and registers as dimensions of their
// own. Nothing of this concerns a call whose extents are those that `axes` leaves.
#include <algorithm>

#include "base/join.h"
#include "infer/infer.h"
#include "ir/reduction.h"
#include "ir/settings.h"
#include "layout/group.h"
#include "script/api/builtins.h"
#include "script/interp/evaluator.h"

namespace ww::script {
namespace {

constexpr std::size_t kAccum = 3;  // among the arguments of a reduction

// A whole buffer in registers.
struct Tile {
  ir::BufferId id;
  layout::Shape shape;
  layout::Grouped grouped;
};

std::optional<Tile> tile_of(const ir::Function& f, const ir::TileArg& arg) {
  const auto* const region = std::get_if<ir::Region>(&arg);
  if (region == nullptr) return std::nullopt;
  const ir::Buffer& buffer = f[region->buffer];
  const auto shape = ir::const_shape(f, buffer);
  if (buffer.scope != ir::Scope::Local || infer::is_auto(buffer) || !shape) return std::nullopt;
  if (region->ranges.size() != shape->size()) return std::nullopt;
  for (std::size_t d = 0; d < shape->size(); ++d)
    if (ir::const_int(f, region->ranges[d].min) != 0 ||
        ir::const_int(f, region->ranges[d].extent) != (*shape)[d])
      return std::nullopt;
  const auto layout = ir::layout_of(f, buffer);
  if (!layout) return std::nullopt;
  auto grouped = layout::group(*layout, *shape);
  if (!grouped) return std::nullopt;
  return Tile{region->buffer, *shape, *std::move(grouped)};
}

layout::Shape without_ones(const layout::Shape& shape) {
  layout::Shape out;
  std::ranges::copy_if(shape, std::back_inserter(out), [](std::int64_t n) { return n != 1; });
  return out;
}

// The reduction that is meant: other shapes of both tiles, and the axes of the source.
struct Plan {
  layout::Shape src, dst;
  std::vector<std::int64_t> axes;
  std::optional<layout::Layout> dst_layout;
};

// Each lane's part of a folded dimension is in the destination.
std::optional<Plan> lanes_kept(const Tile& dst, const Tile& src, const std::vector<bool>& folded) {
  Plan out;
  for (std::size_t d = 0; d < folded.size(); ++d) {
    if (!folded[d]) {
      if (dst.shape[d] != src.shape[d]) return std::nullopt;
      out.src.push_back(src.shape[d]);
      out.dst.push_back(src.shape[d]);
      continue;
    }
    std::int64_t lanes = 1;
    for (const layout::Iter& iter : src.grouped.dim(d)) {
      if (iter.axis.is_thread()) {
        out.dst.push_back(iter.extent);
        lanes *= iter.extent;
      } else {
        out.axes.push_back(static_cast<std::int64_t>(out.src.size()));
      }
      out.src.push_back(iter.extent);
    }
    if (lanes != dst.shape[d]) return std::nullopt;
  }
  return out;
}

// The destination has the same result in each lane of a folded dimension.
std::optional<Plan> lanes_equal(const Tile& dst, const Tile& src, const std::vector<bool>& folded) {
  Plan out;
  out.src = src.shape;
  const layout::TileLayout& old = dst.grouped.layout.tile();
  layout::Iters shard, replica = old.replica();
  for (std::size_t d = 0; d < folded.size(); ++d) {
    if (!folded[d] && dst.shape[d] != src.shape[d]) return std::nullopt;
    if (!folded[d]) out.dst.push_back(dst.shape[d]);
    if (folded[d]) out.axes.push_back(static_cast<std::int64_t>(d));
    for (const layout::Iter& iter : dst.grouped.dim(d)) {
      const bool is_lane = iter.axis.is_thread() || iter.extent == 1;
      if (folded[d] && !is_lane) return std::nullopt;
      (folded[d] ? replica : shard).push_back(iter);
    }
  }
  auto tile = layout::TileLayout::make(shard, replica, old.offset());
  if (!tile || dst.grouped.layout.is_swizzled()) return std::nullopt;
  out.dst_layout = layout::Layout(*std::move(tile));
  return out;
}

// The destination has one element for each register of the source, the same in all lanes.
std::optional<Plan> registers_kept(const Tile& dst, const Tile& src) {
  const auto is_thread = [](const layout::Iter& iter) {
    return iter.axis.is_thread() && iter.extent > 1;
  };
  const layout::TileLayout& there = dst.grouped.layout.tile();
  if (std::ranges::any_of(there.shard(), is_thread) ||
      std::ranges::none_of(there.replica(), is_thread))
    return std::nullopt;
  Plan out;
  std::int64_t registers = 1, results = 1;
  for (const layout::Iter& iter : src.grouped.layout.tile().shard()) {
    if (is_thread(iter)) out.axes.push_back(static_cast<std::int64_t>(out.src.size()));
    if (!is_thread(iter)) out.dst.push_back(iter.extent);
    if (!is_thread(iter)) registers *= iter.extent;
    out.src.push_back(iter.extent);
  }
  for (const std::int64_t extent : dst.shape) results *= extent;
  if (results != registers) return std::nullopt;
  return out;
}

Result<ir::TileArg> view_of(Context& in, const Tile& tile, const layout::Shape& shape,
                            const std::optional<layout::Layout>& layout, Span span) {
  const auto region = [&](const Value& value) -> Result<ir::TileArg> {
    return ir::TileArg(WW_TRY(as_region(in, value, "a view", span)));
  };
  if (shape == tile.shape && !layout) return region(of_buffer(tile.id));
  CallArgs args = CallArgs::at(span);
  for (const std::int64_t extent : shape) args.plain.push_back({of_int(extent), span});
  if (layout) args.named.push_back({{layout_value(in, *layout), span}, "layout"});
  const std::string name = in.fn()[tile.id].name + "_parts";
  const Value view =
      WW_TRY(call_builtin(in, *find_builtin("buffer.view"), args, of_buffer(tile.id)));
  give_name(in, view, name);
  return region(view);
}

// What puts the result of a reduction into what was in the destination.
std::optional<ir::TileOp> accumulating(ir::TileOp op) {
  switch (op) {
    case ir::TileOp::Sum:
      return ir::TileOp::Add;
    case ir::TileOp::Prod:
      return ir::TileOp::Mul;
    case ir::TileOp::Max:
      return ir::TileOp::Maximum;
    case ir::TileOp::Min:
      return ir::TileOp::Minimum;
    default:
      return std::nullopt;
  }
}

// Another tile like the destination: lanes that get the same result have had values of their own.
std::optional<FoldedInto> into_another(Context& in, ir::TileCall& call, Tile& dst, Span span) {
  const auto op = accumulating(call.op);
  if (!op || !ir::accumulates(call)) return std::nullopt;
  ir::Buffer total = in.fn()[dst.id];
  total.name += "_total";
  total.origin = ir::BufferOrigin::Alloc;
  total.base = {};
  total.elem_offset = {};
  total.span = span;
  ir::Stmt alloc = stmt_node(ir::StmtKind::Alloc, span);
  alloc.buffer = in.fn().add(std::move(total));
  const Value old = of_buffer(dst.id);
  dst.id = alloc.buffer;
  emit(in, std::move(alloc));
  call.args[kAccum] = ir::Setting(false);
  return FoldedInto{{call.scope, *op}, CallArgs::at(span, {old, old, of_buffer(dst.id)})};
}

}  // namespace

Result<std::optional<FoldedInto>> read_off_layouts(Context& in, ir::TileCall& call, Span span) {
  const auto src = tile_of(in.fn(), call.args[1]);
  auto dst = tile_of(in.fn(), call.args[0]);
  std::optional<FoldedInto> then;
  if (!src || !dst) return then;
  const auto rank = std::ssize(src->shape);
  std::vector<bool> folded(src->shape.size());
  for (const std::int64_t axis : ir::folded_axes(call)) {
    if (axis < -rank || axis >= rank) return then;
    folded[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)] = true;
  }
  layout::Shape left;
  for (std::size_t d = 0; d < folded.size(); ++d)
    if (!folded[d]) left.push_back(src->shape[d]);
  if (without_ones(left) == without_ones(dst->shape)) return then;
  const ir::Setting* const across = ir::find_setting(call, "thread_reduce");
  const bool* const is_across = across == nullptr ? nullptr : std::get_if<bool>(across);
  std::optional<Plan> plan;
  if (dst->shape.size() == src->shape.size())
    plan = is_across != nullptr && *is_across ? lanes_equal(*dst, *src, folded)
                                              : lanes_kept(*dst, *src, folded);
  if (!plan) plan = registers_kept(*dst, *src);
  if (!plan || plan->axes.empty()) return then;
  if (plan->dst_layout) then = into_another(in, call, *dst, span);
  call.args[0] = WW_TRY(view_of(in, *dst, plan->dst, plan->dst_layout, span));
  call.args[1] = WW_TRY(view_of(in, *src, plan->src, std::nullopt, span));
  call.args[2] =
      plan->axes.size() == 1 ? ir::Setting(plan->axes[0]) : ir::Setting(join(plan->axes, ", "));
  return then;
}

}  // namespace ww::script
