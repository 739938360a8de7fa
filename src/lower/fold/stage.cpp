// SPDX-License-Identifier: Apache-2.0
// Reductions and scans of memory or into memory, and scans into registers of other threads: copies
// move the tile into registers and back, and a fold of registers stands between them.
//
//     Tx.cta.sum(Sums[0:64], Tile[0:64, 0:128])        both in shared memory, 256 threads
//
//     Tx.cta.copy(Tile_part, Tile[0:64, 0:128])        32 lanes hold a row
//     Tx.cta.sum(Sums_part, Tile_part)
//     Tx.cta.copy(Sums[0:64], Sums_part)
//
//     Tx.cta.cumsum(B[0:64, 0:128], A[0:64, 0:128])    the same
//
//     Tx.cta.copy(A_part, A[0:64, 0:128])              each of 32 lanes holds 4 elements side by side
//     Tx.cta.cumsum(A_part, A_part)
//     Tx.cta.copy(B[0:64, 0:128], A_part)
//
// ir::memory_share and ir::scan_share say which thread holds what, because the order of a sum of
// floats depends on it.
//
// In a cluster, each CTA copies its part of the source into registers, and the CTAs together reduce
// all of it:
//
//     Tx.cluster.sum(Sums[0:4], Rows[0:4, 0:1024])     both in global memory, 4 CTAs
//
//     Tx.cta.copy(Rows_part, Rows[0:4, rank * 256 : rank * 256 + 256])
//     Tx.cluster.sum(Sums_part, Rows_parts)            the same registers, as what all CTAs hold
//     Tx.cta.copy(Sums[0:4], Sums_part, predicate=rank == 0)
//
// ir::cluster_share says which CTA holds what. All CTAs get the result: the first writes it to
// global memory, each writes it to its own shared memory.
#include "lower/lowered_op.h"

#include <algorithm>
#include <map>

#include "ir/reduction.h"
#include "ir/scan.h"
#include "ir/settings.h"
#include "layout/fit.h"
#include "layout/ready_made.h"
#include "lower/as_index.h"
#include "lower/call.h"
#include "lower/fold/fold.h"
#include "lower/fold/prefixes.h"
#include "lower/fragment.h"

namespace ww::lower {
namespace {

// --- indices of wide elements --------------------------------------------------------------------

// `argmax` and `argmin` of elements of 64 bits, which leave no room for an index beside them in what
// lanes and warps hand on: first the greatest element, then where it is.
//
//     Tx.cta.argmax(index, A[0:64, 0:32])              A float64
//
//     Tx.cta.max(A_best, A[0:64, 0:32])                in every thread that holds part of a row
//     Tx.cta.equal(A_is_best, A, A_best)               by their bits: -0 is less than +0
//     Tx.cta.equal(A_is_number, A, A_best)             floats only: NaN is not the greatest
//     Tx.cta.logical_and(A_is_best, A_is_best, A_is_number)
//     Tx.cta.argmax(index, A_is_best)                  the first that is; 0 where none is

namespace wide_index {

using ir::TileOp;
using num::DType;

class Calls {
 public:
  Calls(const Call& call, const ir::TileCall& fold, Expansion& out)
      : call_(call),
        f_(call.f()),
        fold_(fold),
        source_(std::get<ir::Region>(fold.args[1])),
        out_(out) {}

  Match<void> add() {
    const bool is_float = num::is_float(f_[source_.buffer].dtype);
    const ir::Region best = WW_TRY(best_region());
    ir::TileCall most = call_of(fold_.op == TileOp::Argmax ? TileOp::Max : TileOp::Min,
                                {best, source_, fold_.args[2], ir::Setting(false)});
    ir::TileCall index = fold_;
    most.dispatch = fold_.dispatch;
    most.workspace = fold_.workspace;
    out_.calls.push_back(std::move(most));
    const ir::Region is_best = flags("_is_best");
    out_.calls.push_back(call_of(TileOp::Equal, {is_best, bits_of(source_), bits_of(best)}));
    if (is_float) {
      const ir::Region is_number = flags("_is_number");
      out_.calls.push_back(call_of(TileOp::Equal, {is_number, source_, best}));
      out_.calls.push_back(call_of(TileOp::LogicalAnd, {is_best, is_best, is_number}));
    }
    index.op = TileOp::Argmax;
    index.args[1] = is_best;
    out_.calls.push_back(std::move(index));
    return {};
  }

 private:
  [[nodiscard]] ir::TileCall call_of(TileOp op, std::vector<ir::TileArg> args) const {
    ir::TileCall out;
    out.op = op;
    out.scope = fold_.scope;
    out.args = std::move(args);
    return out;
  }

  // Registers with another layout or other elements than the source's.
  [[nodiscard]] ir::Buffer beside(std::string_view suffix, DType dtype) const {
    const ir::Buffer& of = f_[source_.buffer];
    ir::Buffer out;
    out.name = of.name + std::string(suffix);
    out.dtype = dtype;
    out.shape = of.shape;
    out.scope = ir::Scope::Local;
    out.span = call_.span;
    out.layout_kind = of.layout_kind;
    out.layout = of.layout;
    out.origin = ir::BufferOrigin::Alloc;
    return out;
  }

  // One element of each row, in the threads that hold part of it; folded dimensions have extent 1.
  Match<ir::Region> best_region() {
    const ir::Buffer& of = f_[source_.buffer];
    const auto whole = ir::layout_of(f_, of);
    const auto shape = ir::const_shape(f_, of);
    const std::vector<bool> is_folded = ir::folded_dimensions(fold_);
    std::vector<std::int64_t> dims;
    for (std::size_t d = 0; d < is_folded.size(); ++d)
      if (is_folded[d]) dims.push_back(static_cast<std::int64_t>(d));
    if (!whole || !shape)
      return decline("extents", "the shape of `{}` is known at run time only", of.name);
    auto layout = layout::reduced(*whole, *shape, dims);
    if (!layout)
      return decline("irregular", "no layout holds one element of each row of `{}`: {}", of.name,
                     layout.error().text);
    ir::Buffer best = beside("_best", of.dtype);
    best.layout_kind = ir::LayoutKind::Explicit;
    best.layout = *std::move(layout);
    ir::Region out;
    for (std::size_t d = 0; d < is_folded.size(); ++d) {
      if (is_folded[d]) best.shape[d] = ir::int_imm(f_, DType::Int32, 1);
      out.ranges.push_back(is_folded[d] ? ir::RangeExpr{ir::int_imm(f_, DType::Int32, 0),
                                                        ir::int_imm(f_, DType::Int32, 1)}
                                        : source_.ranges[d]);
    }
    out.buffer = allocated(std::move(best));
    return out;
  }

  ir::BufferId allocated(ir::Buffer buffer) {
    const ir::BufferId id = f_.add(std::move(buffer));
    out_.buffers.push_back(id);
    return id;
  }

  // A bool for each element of the source, in its thread.
  ir::Region flags(std::string_view suffix) {
    ir::Region out = source_;
    out.buffer = allocated(beside(suffix, DType::Bool));
    return out;
  }

  // The same elements as integers.
  ir::Region bits_of(const ir::Region& region) {
    ir::Buffer view = f_[region.buffer];
    if (!num::is_float(view.dtype)) return region;
    view.base = ir::storage_of(f_, region.buffer);
    view.origin = ir::BufferOrigin::View;
    view.dtype = DType::Int64;
    ir::Region out = region;
    out.buffer = f_.add(std::move(view));
    return out;
  }

  const Call& call_;
  ir::Function& f_;
  const ir::TileCall& fold_;
  ir::Region source_;
  Expansion& out_;
};

}  // namespace wide_index

// Does a reduction between registers look for the index of such an element?
bool is_wide_index(const ir::Function& f, const ir::TileCall& fold) {
  const ir::Buffer& source = f[std::get<ir::Region>(fold.args[1]).buffer];
  return ir::gives_index(fold.op) && num::bits_of(source.dtype) > 32 &&
         fold.scope != ir::Unit::Cluster;
}

// Adds the calls that it stands for. Declines a source whose rows no layout of threads reduces to.
Match<void> add_wide_index(const Call& call, const ir::TileCall& fold, Expansion& out) {
  return wide_index::Calls(call, fold, out).add();
}

}  // namespace

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

// Nothing where both operands are in registers (of the same threads, for a scan), unless an index of
// 64-bit elements is wanted.
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
