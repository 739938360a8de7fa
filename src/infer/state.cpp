// SPDX-License-Identifier: Apache-2.0
#include "infer/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/join.h"
#include "infer/relation.h"
#include "ir/indexed.h"
#include "ir/print/print.h"
#include "ir/print/printer.h"
#include "ir/reduction.h"
#include "ir/scan.h"
#include "ir/visit.h"

namespace ww::infer {

// --- named ---------------------------------------------------------------------------------------

namespace {

// As Python writes it: "(8,)", "(8, 16)".
std::string tuple_text(std::span<const std::int64_t> items) {
  if (items.size() == 1) return fmt::format("({},)", items[0]);
  return fmt::format("({})", join(items, ", "));
}

std::string axis_text(const Sharers& by) {
  if (by.axis == layout::axes::tx()) return "";
  return fmt::format(", axis={}", by.axis.name());
}

Result<Named> with_text(Result<layout::Layout> layout, std::string text) {
  if (!layout) return std::move(layout).failure();
  return Named{*std::move(layout), std::move(text)};
}

}  // namespace

Result<Named> mma_named(char operand, const layout::Shape& shape, num::DType dtype,
                        const layout::WarpGrid& warps, bool is_transposed) {
  std::string text = fmt::format(R"(mma_tile_layout("{}", {}, "{}", warps=({}, {}){}))", operand,
                                 tuple_text(shape), num::name_of(dtype), warps.m, warps.n,
                                 is_transposed ? ", transposed=True" : "");
  return with_text(layout::mma_tile(operand, shape, num::storage_bits(dtype), warps, is_transposed),
                   std::move(text));
}

Result<Named> wgmma_named(char operand, const layout::Shape& shape, num::DType dtype,
                          std::int64_t warpgroups) {
  return with_text(
      layout::wgmma_tile(operand, shape, num::storage_bits(dtype), warpgroups),
      fmt::format(R"(wgmma_tile_layout("{}", {}, "{}"{}))", operand, tuple_text(shape),
                  num::name_of(dtype), warpgroups > 1 ? fmt::format(", {}", warpgroups) : ""));
}

Result<Named> shared_named(const layout::Shape& shape, num::DType dtype) {
  const int bits = num::storage_bits(dtype);
  return with_text(layout::mma_shared(shape, layout::widest_swizzle(shape, bits), bits),
                   fmt::format(R"(mma_shared_layout("{}", "auto", {}))", num::name_of(dtype),
                               tuple_text(shape)));
}

Result<Named> coalesced_named(const layout::Shape& shape, const Sharers& by, num::DType dtype) {
  return with_text(layout::coalesced(shape, by.count, num::storage_bits(dtype), by.axis),
                   fmt::format("coalesced_layout({}, {}, \"{}\"{})", tuple_text(shape), by.count,
                               num::name_of(dtype), axis_text(by)));
}

Result<Named> row_named(const layout::Shape& shape, const Sharers& by) {
  return with_text(layout::row_owned(shape, by.count, by.axis),
                   fmt::format("row_layout({}, {}{})", tuple_text(shape), by.count, axis_text(by)));
}

Result<Named> wg_named(std::int64_t columns) {
  return with_text(layout::wg_local(columns), fmt::format("wg_local_layout({})", columns));
}

Result<Named> reduced_named(const Named& whole, const layout::Shape& shape,
                            const layout::Shape& dims) {
  const std::string axes = dims.size() == 1 ? fmt::format("{}", dims[0]) : tuple_text(dims);
  return with_text(layout::reduced(whole.layout, shape, dims),
                   fmt::format("reduced_layout({}, {}, {})", whole.text, tuple_text(shape), axes));
}

Named given_named(const layout::Layout& layout) {
  return {layout, ir::printing::layout_text(layout)};
}

namespace {

using ir::TileOp;

// More than the registers of a CTA, or its shared memory, could hold.
constexpr std::int64_t kMaxElements = std::int64_t{1} << 22U;

UseKind kind_of(TileOp op) {
  switch (op) {
    case TileOp::Copy:
    case TileOp::CopyAsync:
      return UseKind::Copy;
    case TileOp::Gemm:
    case TileOp::GemmAsync:
      return UseKind::Product;
    case TileOp::PermuteLayout:
      return UseKind::Other;
    default:
      break;
  }
  if (ir::is_reduction(op)) return UseKind::Reduction;
  if (ir::is_scan(op)) return UseKind::Scan;
  return ir::is_indexed(op) ? UseKind::Indexed : UseKind::Elementwise;
}

std::optional<Operand> read_operand(const ir::Function& f, std::size_t arg,
                                    const ir::Region& region) {
  const ir::Buffer& buffer = f[region.buffer];
  Operand out{.arg = arg, .buffer = region.buffer, .is_whole = true};
  if (region.ranges.size() != buffer.shape.size()) return std::nullopt;
  for (std::size_t d = 0; d < region.ranges.size(); ++d) {
    const auto extent = ir::const_int(f, region.ranges[d].extent);
    if (!extent) return std::nullopt;
    out.extents.push_back(*extent);
    if (ir::const_int(f, region.ranges[d].min) != 0 || ir::const_int(f, buffer.shape[d]) != *extent)
      out.is_whole = false;
  }
  return out;
}

void read_uses(State& state) {
  const ir::Function& f = state.f;
  ir::for_each_stmt(f, f.body, [&](ir::StmtId id) {
    if (f[id].kind != ir::StmtKind::Tile) return;
    const ir::TileCall& call = f[f[id].tile];
    Use use{.kind = kind_of(call.op), .stmt = id, .call = f[id].tile};
    for (std::size_t i = 0; i < call.args.size(); ++i)
      if (const auto* region = std::get_if<ir::Region>(&call.args[i]))
        if (auto operand = read_operand(f, i, *region)) use.operands.push_back(*std::move(operand));
    if (!use.operands.empty()) state.uses.push_back(std::move(use));
  });
}

// Unites what a call wants in the same places.
void read_groups(State& state) {
  state.groups.resize(state.f.buffer_count());
  std::iota(state.groups.begin(), state.groups.end(), 0U);
  for (const Use& use : state.uses)
    for (const Operand& a : use.operands)
      for (const Operand& b : use.operands) {
        if (a.arg >= b.arg || !are_alike(state, use, a, b)) continue;
        const std::uint32_t from = std::max(state.group(a.buffer), state.group(b.buffer));
        const std::uint32_t to = std::min(state.group(a.buffer), state.group(b.buffer));
        std::ranges::replace(state.groups, from, to);
      }
}

}  // namespace

const Operand* Use::at(std::size_t arg) const {
  const auto found = std::ranges::find(operands, arg, &Operand::arg);
  return found == operands.end() ? nullptr : &*found;
}

bool Use::has(ir::BufferId buffer) const {
  return std::ranges::find(operands, buffer, &Operand::buffer) != operands.end();
}

std::string State::name(const Use& use) const {
  return fmt::format("`{}`", ir::tile_name(call(use)));
}

bool State::is_open(ir::BufferId id) const {
  return is_local(id) && std::ranges::find(autos, id) != autos.end() && !decided.contains(id.index);
}

std::optional<Named> State::known(ir::BufferId id) const {
  const ir::Buffer& buffer = f[id];
  if (!is_local(id) || !buffer.layout) return std::nullopt;
  if (const auto found = decided.find(id.index); found != decided.end()) return found->second.named;
  return ir::has_thread_axes(buffer) ? std::optional(given_named(*buffer.layout)) : std::nullopt;
}

layout::Shape State::shape(ir::BufferId id) const {
  return ir::const_shape(f, f[id]).value_or(layout::Shape{});
}

std::int64_t State::elements(ir::BufferId id) const {
  const Result<std::int64_t> count = layout::element_count(shape(id));
  return count && *count <= kMaxElements ? *count : 0;
}

Result<State> read_state(ir::Function& function) {
  State state{.f = function};
  for (std::uint32_t i = 0; i < function.buffer_count(); ++i) {
    const ir::BufferId id{i};
    const ir::Buffer& buffer = function[id];
    if (!is_auto(buffer)) continue;
    const bool is_view = buffer.origin == ir::BufferOrigin::View && state.is_local(id);
    (is_view ? state.views : state.autos).push_back(id);
  }
  if (state.autos.empty()) return state;
  state.launch = WW_TRY(ir::launch_shape(function));
  read_uses(state);
  read_groups(state);
  return state;
}

bool decide(State& state, ir::BufferId id, Named named, std::string reason, Span because) {
  if (named.layout.size() != state.elements(id)) return false;
  state.f.at(id).layout = named.layout;
  state.decided[id.index] = {std::move(named), std::move(reason), because};
  return true;
}

void decide_default(State& state, ir::BufferId id, std::string reason, Span because) {
  state.f.at(id).layout_kind = ir::LayoutKind::RowMajor;
  state.decided[id.index] = {{{}, "\"default\""}, std::move(reason), because};
}

std::optional<Sharers> sharers_of(const State& state, ir::Unit unit) {
  switch (unit) {
    case ir::Unit::Warp:
      return Sharers{32, layout::axes::laneid()};
    case ir::Unit::Warpgroup:
      return Sharers{128, layout::axes::tid_in_wg()};
    case ir::Unit::Cta:
      return Sharers{state.launch.threads(), layout::axes::tx()};
    default:
      return std::nullopt;
  }
}

Outcome infer_layouts(ir::Function& function, const InferOptions& options) {
  Outcome out;
  Result<State> read = read_state(function);
  if (!read) {
    out.errors.push_back(std::move(read).error());
    return out;
  }
  State& state = *read;
  if (state.autos.empty()) return out;
  decide_units(state);
  decide_products(state);
  decide_async_products(state);
  decide_tensor(state);
  follow(state);
  decide_by_memory(state);
  decide_shared(state);
  refuse_open(state);
  if (state.errors.empty()) settle_views(state, options);
  if (state.errors.empty()) add_conversions(state, out.layouts.conversions);
  out.errors = std::move(state.errors);
  for (const ir::BufferId id : state.autos)
    if (const auto found = state.decided.find(id.index); found != state.decided.end())
      out.layouts.buffers.push_back(
          {id, found->second.named.text, found->second.reason, found->second.because});
  return out;
}

}  // namespace ww::infer
