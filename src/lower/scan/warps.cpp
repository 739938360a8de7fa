// SPDX-License-Identifier: Apache-2.0
// cumsum, cumprod, cummax, cummin / warps: for rows that several warps hold. Threads and lanes scan as
// in `registers`; the last lane of each sweep over a warp puts the whole of it into shared memory, and
// each thread folds those of the sweeps before its own.
//
//     Tx.cta.cumsum(B[0:512], A[0:512])              float32, four elements in each of 128 threads
//
//     …                                              part and swept, as in `registers`
//     T.cuda.cta_sync()
//     if threadIdx_x % 32 == 31:
//         between[threadIdx_x // 32] = swept[0]
//     T.cuda.cta_sync()
//     if 32 <= threadIdx_x:
//         base[0] = between[0]
//     if 64 <= threadIdx_x:
//         base[0] = base[0] + between[1]             the same for 96
//     …
//     for i in T.unroll(4):
//         B[i] = base[0] + before[0] + part[i]
//
// The shared memory is the compiler's own, as that of reductions, or the `workspace=`. All threads
// of the unit must arrive.
#include <algorithm>

#include "lower/as_index.h"
#include "lower/call.h"
#include "lower/fold/prefixes.h"
#include "lower/scratch.h"
#include "lower/variant.h"

namespace ww::lower::scan_warps {
namespace {

using ir::ExprId;

/// What a line does with scratch memory, at places by formulas of the thread.
struct Handing {
  std::vector<bool> givers = {};
  ThreadFormula to = {};                       // where the whole of the sweep goes
  std::vector<std::vector<bool>> takers = {};  // by sweep that is taken
  std::vector<bool> begins = {};               // takers of the first of a row
  ThreadFormula from = {};                     // where the first of them is
};
struct Plan {
  ScanPlan scan;
  std::int64_t elements = 0;                        // of scratch memory
  std::vector<std::vector<Handing>> handings = {};  // by band and line
};

// --- match ---------------------------------------------------------------------------------------

// The sweep of the run that the thread has before the line; 0 where it has none.
std::int64_t sweep_before(const ScanPlan& p, const ScanBand& band, std::size_t line,
                          std::size_t u) {
  for (std::size_t k = line; k-- > 0;)
    if (const ScanRun& run = band.lines[k].runs[u]; run.sweep >= 0)
      return p.sweeps[as_index(run.sweep)].number;
  return 0;
}

Match<Handing> handing_of(const Call& call, const ScanPlan& p, const ScanBand& band,
                          std::size_t line) {
  const std::size_t threads = as_index(p.fold.threads);
  Handing out{.givers = std::vector<bool>(threads), .begins = std::vector<bool>(threads)};
  std::vector<std::int64_t> to(threads), from(threads);
  for (std::size_t u = 0; u < threads; ++u) {
    const ScanRun& run = band.lines[line].runs[u];
    if (run.sweep < 0) continue;
    const ScanSweep& sweep = p.sweeps[as_index(run.sweep)];
    const std::int64_t row = sweep.row * p.most_sweeps;
    const bool is_last = run.place == std::ssize(sweep.threads) - 1;
    // The last sweep of a row, too: all warps alike.
    out.givers[u] = is_last && sweep.counts && band.sweeps[u].size() > 1;
    to[u] = row + sweep.number;
    const std::int64_t before = sweep_before(p, band, line, u);
    from[u] = row + before;
    out.begins[u] = before == 0;
    for (std::size_t i = 0; i < as_index(sweep.number - before); ++i) {
      if (i == out.takers.size()) out.takers.emplace_back(threads);
      out.takers[i][u] = true;
    }
  }
  const std::string what = fmt::format("which rows of `{}` a thread holds", call.buffer(1).name);
  if (has_any(out.givers)) out.to = WW_TRY(formula_of(to, out.givers, what));
  if (!out.takers.empty()) out.from = WW_TRY(formula_of(from, out.takers[0], what));
  return out;
}

Match<Plan> match(const Call& call) {
  if (call.tile.scope != ir::Unit::Warpgroup && call.tile.scope != ir::Unit::Cta)
    return decline("scope", "{} scope, expected warpgroup or cta", ir::name_of(call.tile.scope));
  Plan plan{.scan = WW_TRY(scan_rows(call))};
  const ScanPlan& p = plan.scan;
  WW_TRY_VOID(check_warps(call, "scope", "threads"));
  WW_TRY_VOID(plan_lines(call, plan.scan));
  plan.elements = p.rows * p.most_sweeps;
  WW_TRY_VOID(check_scratch(call, p.fold.type, plan.elements));
  for (const ScanBand& band : p.bands) {
    std::vector<Handing>& handings = plan.handings.emplace_back();
    for (std::size_t line = 0; line < band.lines.size(); ++line)
      handings.push_back(WW_TRY(handing_of(call, p, band, line)));
  }
  return plan;
}

// --- emit ----------------------------------------------------------------------------------------

void take(const Handing& each, const Call& call, ScanWriter& writer, CodeWriter& code,
          ir::BufferId between) {
  const ExprId first = formula_expr(code, each.from, writer.thread());
  const auto add = [&](ExprId i, bool is_first) {
    const ExprId place = scratch_index(call, code, code.add(first, i));
    writer.add_to_base(code.load(between, {place}), is_first);
  };
  const auto among = [&](const std::vector<bool>& set, bool is_first, auto&& body) {
    std::vector<bool> some = set;
    for (std::size_t u = 0; u < set.size(); ++u) some[u] = set[u] && each.begins[u] == is_first;
    writer.in_threads(some, body);
  };
  among(each.takers[0], true, [&] { add(code.n(0), true); });
  among(each.takers[0], false, [&] { add(code.n(0), false); });
  const auto rest = std::span(each.takers).subspan(1);
  const bool is_same =
      std::ranges::all_of(rest, [&](const std::vector<bool>& set) { return set == rest[0]; });
  if (is_same && rest.size() > 1)
    return writer.in_threads(rest[0], [&] {
      code.loop("i", std::ssize(rest), ir::LoopKind::Unroll,
                [&](ExprId i) { add(code.add(i, code.n(1)), false); });
    });
  for (std::size_t i = 0; i < rest.size(); ++i)
    writer.in_threads(rest[i], [&] { add(code.n(static_cast<std::int64_t>(i) + 1), false); });
}

void emit(const Plan& plan, const Call& call, CodeWriter& code) {
  ScanWriter writer(plan.scan, call, code);
  writer.write_sweeps();
  const ir::BufferId between = scratch_view(call, code, plan.scan.fold.type, plan.elements);
  write_barrier(call, code);
  for (std::size_t band = 0; band < plan.handings.size(); ++band)
    for (std::size_t line = 0; line < plan.handings[band].size(); ++line) {
      const Handing& each = plan.handings[band][line];
      writer.in_threads(each.givers, [&] {
        const ExprId place = formula_expr(code, each.to, writer.thread());
        const ExprId at = scratch_index(call, code, place);
        code.store(between, at, writer.swept(plan.scan.bands[band].lines[line]));
      });
    }
  write_barrier(call, code);
  writer.write_results([&](std::size_t band, std::size_t line) {
    take(plan.handings[band][line], call, writer, code, between);
  });
}

// --- report --------------------------------------------------------------------------------------

PlanReport report(const Plan& plan, const Call& call) {
  PlanReport out = scan_report(plan.scan, call, 0);
  std::int64_t written = 0, read = 0;
  for (const std::vector<Handing>& handings : plan.handings)
    for (const Handing& each : handings) {
      written += has_any(each.givers) ? 1 : 0;
      read += std::ssize(each.takers);
    }
  report_scratch(out, call, plan.scan.fold.type, written, read, plan.elements);
  out.summary += fmt::format(", then up to {} {} through {}", read, read == 1 ? "sweep" : "sweeps",
                             scratch_text(call));
  return out;
}

constexpr auto kVariants =
    rows_for(kScans, variant<Plan, match, emit, report>(
                         {.name = "warps",
                          .priority = 5,
                          .about = "threads and lanes scan, then warps through shared memory"}));

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::scan_warps
