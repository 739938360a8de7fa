// SPDX-License-Identifier: Apache-2.0
// cumsum, cumprod, cummax, cummin / registers: every thread folds the elements that it holds side by
// side, then the lanes of a warp fold what they have, by `shfl.sync.up` over 1, 2, 4, … lanes, and each
// thread folds what is before it into its results.
//
//     Tx.warp.cumsum(B[0:8, 0:16], A[0:8, 0:16])     float32, a row of 16 in 4 lanes
//
//     part[0] = A[0]
//     for i in T.unroll(3):
//         part[i + 1] = part[i] + A[i + 1]
//     swept[0] = part[3]
//     given[0] = T.tvm_warp_shuffle_up(mask, swept[0], 1, 32, 32)
//     if 1 <= lane % 4:
//         swept[0] = given[0] + swept[0]             the same over 2 lanes
//     …
//     if 1 <= lane % 4:
//         before[0] = given[0]                       what the lane below has
//         for i in T.unroll(4):
//             B[i] = before[0] + part[i]
//     else:                                          B[i] = part[i]
//
// Lanes that do not follow each other give by `shfl.sync.idx`. Where a warp goes over a row several
// times, such as over a row of 64 with element i in lane i % 32, the last lane of each time hands the
// whole on. Narrow types are folded in float32 or int32, and each result is rounded once. A row must be
// in one warp; `warps` takes the others.
#include "lower/as_index.h"
#include "lower/call.h"
#include "lower/fold/prefixes.h"
#include "lower/variant.h"

namespace ww::lower::scan_registers {
namespace {

struct Plan {
  ScanPlan scan;
  std::vector<std::vector<LaneRead>> carries = {};  // by band and line: from the sweep before
};

Match<void> check_in_warps(const Call& call, const ScanPlan& p) {
  for (const ScanBand& band : p.bands)
    for (const std::vector<std::size_t>& sweeps : band.sweeps)
      for (const std::size_t s : sweeps) {
        const std::int64_t first = p.sweeps[sweeps[0]].threads[0] / kLanesOfWarp;
        const std::int64_t warp = p.sweeps[s].threads[0] / kLanesOfWarp;
        if (warp != first)
          return decline("lanes", "row {} of `{}` is in the lanes of warps {} and {}, expected one",
                         p.sweeps[s].row, call.buffer(1).name, first, warp);
      }
  return {};
}

// Who has the whole of the sweep before, for all threads of a row that has one more.
Match<LaneRead> carry_of(const Call& call, const ScanPlan& p, const ScanBand& band,
                         std::size_t line) {
  std::vector<std::int64_t> givers(as_index(p.fold.threads), -1);
  for (std::size_t u = 0; u < givers.size(); ++u)
    if (line < band.sweeps[u].size()) givers[u] = p.sweeps[band.sweeps[u][line - 1]].threads.back();
  return lane_read(call, givers);
}

Match<Plan> match(const Call& call) {
  Plan plan{.scan = WW_TRY(scan_rows(call))};
  WW_TRY_VOID(check_in_warps(call, plan.scan));
  WW_TRY_VOID(plan_lines(call, plan.scan));
  for (const ScanBand& band : plan.scan.bands) {
    std::vector<LaneRead>& carries = plan.carries.emplace_back();
    for (std::size_t line = 1; line < band.lines.size(); ++line)
      carries.push_back(WW_TRY(carry_of(call, plan.scan, band, line)));
  }
  if (plan.scan.has_sweeps()) WW_TRY_VOID(check_warps(call, "scope", "threads"));
  return plan;
}

void emit(const Plan& plan, const Call& call, CodeWriter& code) {
  ScanWriter writer(plan.scan, call, code);
  writer.write_sweeps();
  writer.write_results([&](std::size_t band, std::size_t line) {
    const LaneRead& carry = plan.carries[band][line - 1];
    const ir::ExprId whole =
        writer.given(writer.swept(plan.scan.bands[band].lines[line - 1]), carry);
    writer.in_threads(carry.threads, [&] { writer.add_to_base(whole, line == 1); });
  });
}

PlanReport report(const Plan& plan, const Call& call) {
  std::int64_t given = 0;
  for (const std::vector<LaneRead>& carries : plan.carries) given += std::ssize(carries);
  return scan_report(plan.scan, call, given);
}

constexpr auto kVariants = rows_for(
    kScans, variant<Plan, match, emit, report>(
                {.name = "registers", .about = "threads scan their registers, then lanes do"}));

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::scan_registers
