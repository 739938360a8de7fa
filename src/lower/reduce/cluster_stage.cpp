// SPDX-License-Identifier: Apache-2.0
#include "lower/reduce/cluster_stage.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "ir/reduction.h"
#include "layout/fit.h"
#include "lower/as_index.h"
#include "lower/fragment.h"
#include "lower/operand_places.h"

namespace ww::lower {
namespace cluster_stage {
namespace {

using Numbers = std::vector<std::int64_t>;

constexpr std::size_t kDst = 0, kSrc = 1;

class Stages {
 public:
  Stages(const Call& call, Numbers extents)
      : call_(call),
        extents_(std::move(extents)),
        is_folded_(ir::folded_dimensions(call.tile)),
        code_(call.f(), call.context.facts, call.span),
        rank_(call.cluster_rank(code_)) {}

  Match<Expansion> expand() {
    ir::TileCall fold = call_.tile;
    if (is_memory(call_.memory(kSrc))) WW_TRY_VOID(stage_source(fold));
    const bool is_stored = is_memory(call_.memory(kDst));
    const ir::TileArg dst = fold.args[kDst];
    if (is_stored) WW_TRY_VOID(stage_result(fold));
    if (is_stored && ir::accumulates(fold)) {
      out_.in_place = {{out_.calls.size(), out_.calls.size() + 2}};
      copy_result(fold.args[kDst], dst);
      if (call_.memory(kDst) == ir::Scope::Global)
        out_.calls.back().config.emplace_back("fill_value", ir::Setting(std::int64_t{0}));
    }
    out_.calls.push_back(fold);
    if (is_stored) copy_result(dst, fold.args[kDst]);
    return std::move(out_);
  }

 private:
  void copy(const ir::TileArg& to, const ir::TileArg& from) {
    out_.calls.push_back(copy_of(call_, to, from));
    out_.calls.back().scope = ir::Unit::Cta;
  }

  // Global memory by the first CTA alone.
  void copy_result(const ir::TileArg& to, const ir::TileArg& from) {
    copy(to, from);
    if (call_.memory(kDst) != ir::Scope::Global) return;
    const ir::ExprId is_first = code_.index(ir::ExprOp::Eq, rank_, code_.n(0));
    out_.calls.back().config.emplace_back("predicate", ir::Setting(is_first));
  }

  // A CTA's part: a range of one dimension, by the number of the CTA.
  Match<void> stage_source(ir::TileCall& fold) {
    const std::int64_t ctas = call_.cluster_ctas();
    const auto share =
        ir::cluster_share(extents_, is_folded_, ctas, call_.context.launch.threads());
    if (!share)
      return decline("axes", "no extent of `{}` is a multiple of the {} CTAs of the cluster",
                     call_.buffer(kSrc).name, ctas);
    WW_TRY_VOID(check_registers(share->share.slot));
    const ir::BufferId part = WW_TRY(part_of(*share)), parts = WW_TRY(parts_of(*share, part));
    ir::Region from = call_.region(kSrc);
    ir::RangeExpr& range = from.ranges[share->dimension];
    const std::int64_t extent = share->part[share->dimension];
    range.min = code_.simplify(code_.add(range.min, code_.mul(rank_, extent)));
    range.extent = code_.n(extent);
    copy(whole_region(call_.f(), part), from);
    fold.args[kSrc] = whole_region(call_.f(), parts);
    return {};
  }
  Match<void> check_registers(const Numbers& slots) const {
    constexpr std::int64_t kMaxRegisters = 255;
    const ir::Buffer& of = call_.buffer(kSrc);
    const std::int64_t words = words_of(slots, num::storage_bits(of.dtype));
    if (words <= kMaxRegisters) return {};
    return decline("size",
                   "a thread would hold {} registers of `{}`, and has {}; a loop over smaller "
                   "tiles, with accum=True, takes fewer",
                   words, of.name, kMaxRegisters);
  }

  Match<ir::BufferId> add_registers(std::string name, const Numbers& extents,
                                    std::span<const layout::Column> columns, ir::BufferId base) {
    const ir::Buffer& of = call_.buffer(kSrc);
    auto layout = layout::fit(columns);
    if (!layout)
      return decline("irregular", "no layout says which threads hold which elements of `{}`",
                     of.name);
    ir::Buffer made;
    made.name = std::move(name);
    made.dtype = of.dtype;
    made.scope = ir::Scope::Local;
    made.span = call_.span;
    made.layout_kind = ir::LayoutKind::Explicit;
    made.layout = layout::Layout(*std::move(layout));
    made.origin = base.valid() ? ir::BufferOrigin::View : ir::BufferOrigin::Alloc;
    made.base = base;
    for (const std::int64_t extent : extents) made.shape.push_back(code_.n(extent));
    const ir::BufferId id = call_.f().add(std::move(made));
    (base.valid() ? out_.views : out_.buffers).push_back(id);
    return id;
  }
  Match<ir::BufferId> part_of(const ir::ClusterShare& share) {
    const layout::Column columns[] = {{layout::axes::m(), share.share.slot},
                                      {layout::axes::tx(), share.share.thread}};
    const ir::BufferId out =
        WW_TRY(add_registers(call_.buffer(kSrc).name + "_part", share.part, columns, {}));
    std::vector<bool> has(as_index(call_.context.launch.threads()));
    for (const std::int64_t thread : share.share.thread) has[as_index(thread)] = true;
    if (std::ranges::find(has, false) != has.end())
      out_.cleared.emplace_back(out, *std::ranges::max_element(share.share.slot) + 1);
    return out;
  }
  // The same registers, with the CTAs.
  Match<ir::BufferId> parts_of(const ir::ClusterShare& share, ir::BufferId part) {
    constexpr std::string_view kAxes[] = {"cbx", "cby", "cbz"};
    Numbers slot, thread, ctas[3];
    for (std::size_t x = 0; x < share.cta.size(); ++x) {
      slot.push_back(share.share.slot[as_index(share.index[x])]);
      thread.push_back(share.share.thread[as_index(share.index[x])]);
      std::int64_t rest = share.cta[x];
      for (std::size_t d = 0; d < 3; rest /= call_.context.launch.cluster[d], ++d)
        ctas[d].push_back(rest % call_.context.launch.cluster[d]);
    }
    std::vector<layout::Column> columns = {{layout::axes::m(), slot}, {layout::axes::tx(), thread}};
    for (std::size_t d = 0; d < 3; ++d)
      if (call_.context.launch.cluster[d] > 1)
        columns.push_back({layout::Axis::builtin(kAxes[d]).value(), ctas[d]});
    return add_registers(call_.buffer(kSrc).name + "_parts", extents_, columns, part);
  }

  // All CTAs have it.
  Match<void> stage_result(ir::TileCall& fold) {
    const ir::MemoryShare share =
        ir::memory_share(extents_, is_folded_, call_.context.launch.threads());
    fold.args[kDst] = WW_TRY(add_fragment(call_, kDst, {share.result_thread, share.result_slot},
                                          ", with accum=True,", out_));
    return {};
  }

  const Call& call_;
  Numbers extents_;
  std::vector<bool> is_folded_;
  CodeWriter code_;  // of expressions
  ir::ExprId rank_;
  Expansion out_;
};

}  // namespace
}  // namespace cluster_stage

Match<Expansion> staged_cluster_reduction(const Call& call, std::vector<std::int64_t> extents) {
  return cluster_stage::Stages(call, std::move(extents)).expand();
}

}  // namespace ww::lower
