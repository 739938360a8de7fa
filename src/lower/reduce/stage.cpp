// SPDX-License-Identifier: Apache-2.0
#include "lower/reduce/stage.h"

#include <algorithm>
#include <map>

#include "ir/reduction.h"
#include "ir/settings.h"
#include "lower/as_index.h"
#include "lower/fragment.h"
#include "lower/operand_places.h"
#include "lower/reduce/cluster_stage.h"
#include "lower/reduce/problem.h"
#include "lower/reduce/wide_index.h"

namespace ww::lower {
namespace reduce_stage {
namespace {

using Numbers = std::vector<std::int64_t>;

constexpr std::size_t kDst = 0, kSrc = 1;

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
    std::optional<std::size_t> read;  // what was in the destination
    if (is_memory(call_.memory(kSrc))) {
      const ir::TileArg src = fold.args[kSrc];
      WW_TRY_VOID(stage(kSrc, {share_.thread, share_.slot}, fold));
      add_copy(fold.args[kSrc], src);
    }
    if (is_memory(call_.memory(kDst))) {
      WW_TRY_VOID(stage_result(fold));
      if (ir::accumulates(fold)) read = add_copy(fold.args[kDst], dst);
    }
    if (is_wide_index(call_.f(), fold))
      WW_TRY_VOID(add_wide_index(call_, fold, out_));
    else
      out_.calls.push_back(fold);
    if (is_memory(call_.memory(kDst))) {
      const std::size_t written = add_copy(dst, fold.args[kDst]);
      if (read) out_.in_place.emplace_back(*read, written);
    }
    return std::move(out_);
  }

 private:
  // Its number.
  std::size_t add_copy(const ir::TileArg& to, const ir::TileArg& from) {
    out_.calls.push_back(copy_of(call_, to, from));
    return out_.calls.size() - 1;
  }
  Match<void> stage(std::size_t argument, const Fragment& fragment, ir::TileCall& fold) {
    fold.args[argument] =
        WW_TRY(add_fragment(call_, argument, fragment, ", with accum=True,", out_));
    return {};
  }
  Match<void> stage_result(ir::TileCall& fold) {
    const Fragment shared{share_.result_thread, share_.result_slot};
    if (is_memory(call_.memory(kSrc))) return stage(kDst, shared, fold);
    const OperandPlaces src = WW_TRY(register_places(call_, kSrc));
    const Fragment first =
        with_first_holder(src, ir::fold_map(extents_, is_folded_), call_.unit_threads());
    return stage(kDst, fragment_layout(call_, first) ? first : shared, fold);
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
  if (!is_memory(call.memory(kDst)) && !is_memory(call.memory(kSrc))) {
    if (!is_wide_index(call.f(), call.tile)) return std::nullopt;
    Expansion out;
    WW_TRY_VOID(add_wide_index(call, call.tile, out));
    return out;
  }
  if (is_memory(call.memory(kDst)) && is_memory(call.memory(kSrc)))
    WW_TRY_VOID(check_distinct(call));
  Numbers extents = WW_TRY(source_extents(call));
  if (call.is_of_cluster()) return WW_TRY(staged_cluster_reduction(call, std::move(extents)));
  Stages stages(call, std::move(extents));
  return WW_TRY(stages.expand());
}

}  // namespace ww::lower
