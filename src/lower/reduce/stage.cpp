// SPDX-License-Identifier: Apache-2.0
#include "lower/reduce/stage.h"

#include <algorithm>
#include <map>

#include "ir/reduction.h"
#include "ir/settings.h"
#include "layout/fit.h"
#include "lower/as_index.h"
#include "lower/checks.h"
#include "lower/operand_places.h"
#include "lower/reduce/problem.h"

namespace ww::lower {
namespace reduce_stage {
namespace {

using Numbers = std::vector<std::int64_t>;

constexpr std::size_t kDst = 0, kSrc = 1;

bool is_memory(ir::Scope scope) { return scope == ir::Scope::Global || ir::is_shared(scope); }

/// Registers by thread and place, for the elements of an operand in order.
struct Fragment {
  Numbers thread, slot;
};

std::optional<layout::TileLayout> layout_of(const Call& call, const Fragment& fragment) {
  std::vector<layout::Column> columns = {{layout::axes::m(), fragment.slot}};
  const layout::Axis threads = call.tile.scope == ir::Unit::Warp        ? layout::axes::laneid()
                               : call.tile.scope == ir::Unit::Warpgroup ? layout::axes::tid_in_wg()
                                                                        : layout::axes::tx();
  if (call.tile.scope != ir::Unit::Thread) columns.push_back({threads, fragment.thread});
  auto fitted = layout::fit(columns);
  if (!fitted) return std::nullopt;
  return *std::move(fitted);
}

Match<void> check_registers(const Call& call, std::size_t argument, const Fragment& fragment) {
  constexpr std::int64_t kMaxRegisters = 255;
  const std::int64_t words = words_of(fragment.slot, num::bits_of(call.buffer(argument).dtype));
  if (words <= kMaxRegisters) return {};
  return decline("size",
                 "a thread would hold {} registers of `{}`, and has {}; a loop over smaller tiles, "
                 "with accum=True, takes fewer",
                 words, call.buffer(argument).name, kMaxRegisters);
}

// A buffer in registers with the region's extents.
ir::BufferId fragment_buffer(const Call& call, std::size_t argument, layout::TileLayout layout) {
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
  for (const ir::RangeExpr& range : call.region(argument).ranges) out.shape.push_back(range.extent);
  return f.add(std::move(out));
}

// The first thread that holds an element of a result gets it.
Fragment with_first_holder(const OperandPlaces& src, const ir::FoldMap& map, std::int64_t threads) {
  Fragment out{.thread = Numbers(as_index(map.results), -1),
               .slot = Numbers(as_index(map.results), 0)};
  for_each_holder(src, threads, [&](std::size_t x, std::int64_t u, std::int64_t) {
    std::int64_t& holder = out.thread[as_index(map.into[x])];
    if (holder < 0 || u < holder) holder = u;
  });
  std::map<std::int64_t, std::int64_t> count;
  for (std::size_t i = 0; i < out.slot.size(); ++i) out.slot[i] = count[out.thread[i]]++;
  return out;
}

// Where both are in memory of one buffer, what is written must not be what others still read.
Match<void> check_distinct(const Call& call) {
  if (ir::storage_of(call.f(), call.region(kDst).buffer) !=
      ir::storage_of(call.f(), call.region(kSrc).buffer))
    return {};
  const auto to = bit_places(call, WW_TRY(operand_places(call, kDst)));
  const auto from = bit_places(call, WW_TRY(operand_places(call, kSrc)));
  if (to && from) {
    Numbers sorted = *from;
    std::ranges::sort(sorted);
    if (std::ranges::none_of(
            *to, [&](std::int64_t bit) { return std::ranges::binary_search(sorted, bit); }))
      return {};
  }
  return decline("overlap", "`{}` and `{}` are in one buffer, and {}", call.buffer(kDst).name,
                 call.buffer(kSrc).name, to && from ? "overlap" : "may overlap");
}

bool leaves_threads_out(const Fragment& fragment, std::int64_t threads) {
  std::vector<bool> has(as_index(threads));
  for (const std::int64_t thread : fragment.thread) has[as_index(thread)] = true;
  return std::ranges::find(has, false) != has.end();
}

ir::TileCall copy_call(const Call& call, ir::TileArg to, ir::TileArg from) {
  ir::TileCall out;
  out.op = ir::TileOp::Copy;
  out.scope = call.tile.scope;
  out.args = {std::move(to), std::move(from)};
  return out;
}

class Stages {
 public:
  Stages(const Call& call, Numbers extents)
      : call_(call),
        extents_(std::move(extents)),
        is_folded_(ir::folded_dimensions(call.tile)),
        share_(ir::memory_share(extents_, is_folded_, call.unit_threads())) {}

  Match<Expansion> expand() {
    ir::TileCall fold = call_.tile;
    const ir::TileArg dst = fold.args[kDst];
    if (is_memory(call_.memory(kSrc))) {
      const ir::TileArg src = fold.args[kSrc];
      WW_TRY_VOID(stage(kSrc, {share_.thread, share_.slot}, fold));
      out_.calls.push_back(copy_call(call_, fold.args[kSrc], src));
    }
    if (is_memory(call_.memory(kDst))) {
      WW_TRY_VOID(stage_result(fold));
      if (ir::accumulates(fold)) out_.calls.push_back(copy_call(call_, fold.args[kDst], dst));
    }
    out_.calls.push_back(fold);
    if (is_memory(call_.memory(kDst))) out_.calls.push_back(copy_call(call_, dst, fold.args[kDst]));
    return std::move(out_);
  }

 private:
  Match<void> stage(std::size_t argument, const Fragment& fragment, ir::TileCall& fold) {
    WW_TRY_VOID(check_registers(call_, argument, fragment));
    auto layout = layout_of(call_, fragment);
    if (!layout)
      return decline("irregular", "no layout says which threads hold which elements of `{}`",
                     call_.buffer(argument).name);
    const ir::BufferId buffer = fragment_buffer(call_, argument, *std::move(layout));
    out_.buffers.push_back(buffer);
    if (leaves_threads_out(fragment, call_.unit_threads()))
      out_.cleared.emplace_back(buffer, *std::ranges::max_element(fragment.slot) + 1);
    fold.args[argument] = whole_region(call_.f(), buffer);
    return {};
  }
  Match<void> stage_result(ir::TileCall& fold) {
    const Fragment shared{share_.result_thread, share_.result_slot};
    if (is_memory(call_.memory(kSrc))) return stage(kDst, shared, fold);
    const OperandPlaces src = WW_TRY(register_places(call_, kSrc));
    const Fragment first =
        with_first_holder(src, ir::fold_map(extents_, is_folded_), call_.unit_threads());
    return stage(kDst, layout_of(call_, first) ? first : shared, fold);
  }

  const Call& call_;
  Numbers extents_;
  std::vector<bool> is_folded_;
  ir::MemoryShare share_;
  Expansion out_;
};

}  // namespace
}  // namespace reduce_stage

Match<std::optional<Expansion>> staged_reduction(const Call& call) {
  using namespace reduce_stage;
  if (!is_memory(call.memory(kDst)) && !is_memory(call.memory(kSrc))) return std::nullopt;
  WW_TRY_VOID(check_scope(call));
  if (is_memory(call.memory(kDst)) && is_memory(call.memory(kSrc)))
    WW_TRY_VOID(check_distinct(call));
  Numbers extents = WW_TRY(source_extents(call));
  Stages stages(call, std::move(extents));
  return WW_TRY(stages.expand());
}

}  // namespace ww::lower
