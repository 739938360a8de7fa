// SPDX-License-Identifier: Apache-2.0
#include "lower/fold/stage.h"

#include <algorithm>
#include <map>

#include "ir/scan.h"
#include "ir/settings.h"
#include "layout/fit.h"
#include "lower/as_index.h"
#include "lower/checks.h"
#include "lower/fold/fold.h"
#include "lower/fold/prefixes.h"
#include "lower/fold/wide_index.h"
#include "lower/fragment.h"

namespace ww::lower {
namespace fold_stage {
namespace {

using Numbers = std::vector<std::int64_t>;

constexpr std::size_t kDst = 0, kSrc = 1;

// The first thread that holds an element of a result gets it.
Fragment result_holders(const OperandPlaces& src, const ir::FoldMap& map, std::int64_t threads) {
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

// The first threads that hold the elements, from register 0 on.
Fragment first_holders(const OperandPlaces& src, std::int64_t threads) {
  Fragment out{.thread = Numbers(src.size(), -1), .slot = Numbers(src.size(), 0)};
  for_each_holder(src, threads, [&](std::size_t x, std::int64_t u, std::int64_t slot) {
    if (out.thread[x] >= 0 && out.thread[x] <= u) return;
    out.thread[x] = u;
    out.slot[x] = slot;
  });
  const std::int64_t least = *std::ranges::min_element(out.slot);
  for (std::int64_t& slot : out.slot) slot -= least;
  return out;
}

// Does a scan write where it reads? Declines operands in one buffer that overlap otherwise: no thread
// may write what another still reads.
Match<bool> is_in_place(const Call& call, bool is_scan) {
  if (ir::storage_of(call.f(), call.region(kDst).buffer) !=
      ir::storage_of(call.f(), call.region(kSrc).buffer))
    return false;
  const OperandPlaces dst = WW_TRY(operand_places(call, kDst));
  const OperandPlaces src = WW_TRY(operand_places(call, kSrc));
  if (is_scan && are_same_places(call.f(), dst, src)) return true;
  const auto to = bit_places(call, dst), from = bit_places(call, src);
  if (to && from) {
    if (is_scan && *to == *from) return true;
    Numbers sorted = *from;
    std::ranges::sort(sorted);
    if (std::ranges::none_of(
            *to, [&](std::int64_t bit) { return std::ranges::binary_search(sorted, bit); }))
      return false;
  }
  return decline("overlap", "`{}` and `{}` are in one buffer, and {}", call.buffer(kDst).name,
                 call.buffer(kSrc).name,
                 !to || !from ? "may overlap"
                 : is_scan    ? "overlap, but are not the same elements"
                              : "overlap");
}

class Stages {
 public:
  Stages(const Call& call, Numbers extents)
      : call_(call),
        is_scan_(ir::is_scan(call.tile.op)),
        threads_(call.is_of_cluster() ? call.context.launch.threads() : call.unit_threads()),
        extents_(std::move(extents)),
        is_folded_(ir::folded_dimensions(call.tile)),
        share_(ir::memory_share(extents_, is_folded_, threads_)),
        code_(call.f(), call.context.facts, call.span) {}

  Match<Expansion> expand(bool is_in_place) {
    ir::TileCall fold = call_.tile;
    const ir::TileArg dst = fold.args[kDst];
    std::optional<std::size_t> read;  // what was in the destination
    if (is_memory(call_.memory(kSrc))) {
      fold.args[kSrc] = WW_TRY(call_.is_of_cluster() ? load_part() : load());
      if (is_in_place) read = out_.calls.size() - 1;
    }
    const bool is_stored = is_scan_ || is_memory(call_.memory(kDst));
    if (is_stored) fold.args[kDst] = WW_TRY(result_of(fold));
    if (is_stored && !is_scan_ && ir::accumulates(fold)) {
      read = add_result_copy(fold.args[kDst], dst);
      if (is_by_first_cta()) set("fill_value", ir::Setting(std::int64_t{0}));
    }
    if (is_wide_index(call_.f(), fold))
      WW_TRY_VOID(add_wide_index(call_, fold, out_));
    else
      out_.calls.push_back(fold);
    if (is_stored) {
      const std::size_t written = add_result_copy(dst, fold.args[kDst]);
      if (read) out_.in_place.emplace_back(*read, written);
    }
    return std::move(out_);
  }

 private:
  // --- copies ---

  void add_copy(const ir::TileArg& to, const ir::TileArg& from) {
    out_.calls.push_back(copy_of(call_, to, from));
    if (call_.is_of_cluster()) out_.calls.back().scope = ir::Unit::Cta;
  }
  void set(std::string_view name, ir::Setting value) {
    out_.calls.back().config.emplace_back(name, std::move(value));
  }
  // Global memory by the first CTA of a cluster alone.
  [[nodiscard]] bool is_by_first_cta() const {
    return call_.is_of_cluster() && call_.memory(kDst) == ir::Scope::Global;
  }
  // Its number.
  std::size_t add_result_copy(const ir::TileArg& to, const ir::TileArg& from) {
    add_copy(to, from);
    if (is_by_first_cta())
      set("predicate", code_.index(ir::ExprOp::Eq, call_.cluster_rank(code_), code_.n(0)));
    return out_.calls.size() - 1;
  }

  // --- registers ---

  Match<ir::Region> registers(std::size_t argument, const Fragment& fragment) {
    return add_fragment(
        call_, argument, fragment,
        is_scan_ ? ", each begun with the end of the one before," : ", with accum=True,", out_);
  }

  Match<ir::Region> load() {
    Fragment fragment{share_.thread, share_.slot};
    if (is_scan_) {
      ir::ScanShare share = ir::scan_share(extents_, ir::scanned_dimension(call_.tile), threads_);
      fragment = {std::move(share.thread), std::move(share.slot)};
    }
    ir::Region out = WW_TRY(registers(kSrc, fragment));
    add_copy(out, call_.tile.args[kSrc]);
    return out;
  }

  // A CTA's part: a range of one dimension, by the number of the CTA.
  Match<ir::Region> load_part() {
    const std::int64_t ctas = call_.cluster_ctas();
    const auto share = ir::cluster_share(extents_, is_folded_, ctas, threads_);
    if (!share)
      return decline("axes", "no extent of `{}` is a multiple of the {} CTAs of the cluster",
                     call_.buffer(kSrc).name, ctas);
    const ir::Region part =
        WW_TRY(registers(kSrc, {share->share.thread, share->share.slot, share->part}));
    ir::Region out = WW_TRY(parts_of(*share, part.buffer));
    ir::Region from = call_.region(kSrc);
    ir::RangeExpr& range = from.ranges[share->dimension];
    const std::int64_t extent = share->part[share->dimension];
    range.min = code_.simplify(code_.add(range.min, code_.mul(call_.cluster_rank(code_), extent)));
    range.extent = code_.n(extent);
    add_copy(part, from);
    return out;
  }
  // The same registers, with the CTAs.
  Match<ir::Region> parts_of(const ir::ClusterShare& share, ir::BufferId part) {
    constexpr std::string_view kAxes[] = {"cbx", "cby", "cbz"};
    const auto& cluster = call_.context.launch.cluster;
    Numbers slot, thread, ctas[3];
    for (std::size_t x = 0; x < share.cta.size(); ++x) {
      slot.push_back(share.share.slot[as_index(share.index[x])]);
      thread.push_back(share.share.thread[as_index(share.index[x])]);
      std::int64_t rest = share.cta[x];
      for (std::size_t d = 0; d < 3; rest /= cluster[d], ++d) ctas[d].push_back(rest % cluster[d]);
    }
    std::vector<layout::Column> columns = {{layout::axes::m(), slot}, {layout::axes::tx(), thread}};
    for (std::size_t d = 0; d < 3; ++d)
      if (cluster[d] > 1) columns.push_back({layout::Axis::builtin(kAxes[d]).value(), ctas[d]});
    auto layout = layout::fit(columns);
    if (!layout)
      return decline("irregular", "no layout says which threads hold which elements of `{}`",
                     call_.buffer(kSrc).name);
    ir::Buffer made = call_.f()[part];
    made.name += "s";
    made.layout = layout::Layout(*std::move(layout));
    made.origin = ir::BufferOrigin::View;
    made.base = part;
    made.shape.clear();
    for (const std::int64_t extent : extents_) made.shape.push_back(code_.n(extent));
    out_.views.push_back(call_.f().add(std::move(made)));
    return whole_region(call_.f(), out_.views.back());
  }

  // Registers for the results: a scan has them where its source is, a reduction in all CTAs.
  Match<ir::TileArg> result_of(const ir::TileCall& fold) {
    const bool is_loaded = is_memory(call_.memory(kSrc));
    if (is_scan_ && is_loaded) return fold.args[kSrc];
    const Fragment shared{share_.result_thread, share_.result_slot};
    if (is_loaded || call_.is_of_cluster()) return WW_TRY(registers(kDst, shared));
    const OperandPlaces src = WW_TRY(register_places(call_, kSrc));
    if (is_scan_) return WW_TRY(registers(kSrc, first_holders(src, threads_)));
    const Fragment first = result_holders(src, ir::fold_map(extents_, is_folded_), threads_);
    return WW_TRY(registers(kDst, fragment_layout(call_, first) ? first : shared));
  }

  const Call& call_;
  bool is_scan_;
  std::int64_t threads_;  // of the unit, or of a CTA of the cluster
  Numbers extents_;
  std::vector<bool> is_folded_;
  ir::MemoryShare share_;
  CodeWriter code_;  // of expressions
  Expansion out_;
};

// Do both stay in the registers where they are?
Match<bool> is_between_registers(const Call& call) {
  if (is_memory(call.memory(kSrc))) return false;
  const bool is_stored = is_memory(call.memory(kDst));
  if (!ir::is_scan(call.tile.op)) return !is_stored && !is_wide_index(call.f(), call.tile);
  const OperandPlaces src = WW_TRY(register_places(call, kSrc));
  if (src.size() == 0) return true;
  if (is_stored) return false;
  return are_results_at_home(WW_TRY(register_places(call, kDst)), src, call.unit_threads());
}

}  // namespace
}  // namespace fold_stage

Match<std::optional<Expansion>> staged_fold(const Call& call) {
  using namespace fold_stage;
  const bool is_scan = ir::is_scan(call.tile.op);
  if (is_scan) WW_TRY_VOID(check_scope(call));
  if (WW_TRY(is_between_registers(call))) return std::nullopt;
  const bool is_in_memory = is_memory(call.memory(kSrc)) && is_memory(call.memory(kDst));
  const bool is_same = is_in_memory && WW_TRY(is_in_place(call, is_scan));
  return WW_TRY(Stages(call, WW_TRY(source_extents(call))).expand(is_same));
}

}  // namespace ww::lower
