// SPDX-License-Identifier: Apache-2.0
#include "lower/scan/stage.h"

#include <algorithm>

#include "ir/scan.h"
#include "lower/as_index.h"
#include "lower/checks.h"
#include "lower/fragment.h"
#include "lower/reduce/problem.h"
#include "lower/scan/problem.h"

namespace ww::lower {
namespace scan_stage {
namespace {

constexpr std::size_t kDst = 0, kSrc = 1;
constexpr std::string_view kSmaller = ", each begun with the end of the one before,";

// Are both the same elements? Declines those of one buffer that have some in common.
Match<bool> is_in_place(const Call& call) {
  if (ir::storage_of(call.f(), call.region(kDst).buffer) !=
      ir::storage_of(call.f(), call.region(kSrc).buffer))
    return false;
  const OperandPlaces dst = WW_TRY(operand_places(call, kDst));
  const OperandPlaces src = WW_TRY(operand_places(call, kSrc));
  if (are_same_places(call.f(), dst, src)) return true;
  const auto to = bit_places(call, dst), from = bit_places(call, src);
  if (to && from) {
    if (*to == *from) return true;
    std::vector<std::int64_t> sorted = *from;
    std::ranges::sort(sorted);
    if (std::ranges::none_of(
            *to, [&](std::int64_t bit) { return std::ranges::binary_search(sorted, bit); }))
      return false;
  }
  return decline("overlap", "`{}` and `{}` are in one buffer, and {}", call.buffer(kDst).name,
                 call.buffer(kSrc).name,
                 to && from ? "overlap, but are not the same elements" : "may overlap");
}

// The first threads that hold the elements, from register 0 on.
Fragment first_holders(const OperandPlaces& src, std::int64_t threads) {
  Fragment out{.thread = std::vector<std::int64_t>(src.size(), -1),
               .slot = std::vector<std::int64_t>(src.size(), 0)};
  for_each_holder(src, threads, [&](std::size_t x, std::int64_t u, std::int64_t slot) {
    if (out.thread[x] >= 0 && out.thread[x] <= u) return;
    out.thread[x] = u;
    out.slot[x] = slot;
  });
  const std::int64_t least = *std::ranges::min_element(out.slot);
  for (std::int64_t& slot : out.slot) slot -= least;
  return out;
}

// The source in memory: scanned where it is, in the registers that it goes through.
Match<Expansion> from_memory(const Call& call, bool is_in_place) {
  const ir::ScanShare share = ir::scan_share(WW_TRY(source_extents(call)),
                                             ir::scanned_dimension(call.tile), call.unit_threads());
  Expansion out;
  ir::TileCall scan = call.tile;
  scan.args[kSrc] = WW_TRY(add_fragment(call, kSrc, {share.thread, share.slot}, kSmaller, out));
  scan.args[kDst] = scan.args[kSrc];
  out.calls = {copy_of(call, scan.args[kSrc], call.tile.args[kSrc]), scan,
               copy_of(call, call.tile.args[kDst], scan.args[kSrc])};
  if (is_in_place) out.in_place = {{0, 2}};
  return out;
}

// The source in registers, the results elsewhere.
Match<Expansion> from_registers(const Call& call, const OperandPlaces& src) {
  Expansion out;
  ir::TileCall scan = call.tile;
  scan.args[kDst] =
      WW_TRY(add_fragment(call, kSrc, first_holders(src, call.unit_threads()), kSmaller, out));
  out.calls = {scan, copy_of(call, call.tile.args[kDst], scan.args[kDst])};
  return out;
}

}  // namespace
}  // namespace scan_stage

Match<std::optional<Expansion>> staged_scan(const Call& call) {
  using namespace scan_stage;
  WW_TRY_VOID(check_scope(call));
  if (is_memory(call.memory(kSrc))) {
    return WW_TRY(from_memory(call, is_memory(call.memory(kDst)) && WW_TRY(is_in_place(call))));
  }
  const OperandPlaces src = WW_TRY(register_places(call, kSrc));
  if (src.size() == 0) return std::nullopt;
  if (!is_memory(call.memory(kDst))) {
    const OperandPlaces dst = WW_TRY(register_places(call, kDst));
    if (are_results_at_home(dst, src, call.unit_threads())) return std::nullopt;
  }
  return WW_TRY(from_registers(call, src));
}

}  // namespace ww::lower
