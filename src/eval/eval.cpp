// SPDX-License-Identifier: Apache-2.0
#include "eval/eval.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>

#include "eval/cta/cta.h"
#include "eval/cta/report.h"
#include "eval/cta/schedule.h"
#include "eval/launch/arrays.h"
#include "eval/sync/barriers.h"
#include "eval/tile/cluster.h"

namespace ww::eval {
namespace {

Coordinates unflatten(std::int64_t number, const Coordinates& extents) {
  return {number % extents[0], number / extents[0] % extents[1],
          number / (extents[0] * extents[1])};
}

std::int64_t volume(const Coordinates& extents) { return extents[0] * extents[1] * extents[2]; }

// The CTAs of a cluster take turns until all have ended or none can go on. False: the run ends.
bool run_cluster(Run& run, std::deque<Cta>& ctas, Clock& clock) {
  while (!run.stop) {
    bool all_done = true;
    bool all_wait = true;
    for (Cta& cta : ctas) {
      advance(cta);
      all_done = all_done && is_done(cta);
      all_wait = all_wait && (is_done(cta) || waits_for_cluster(cta));
    }
    if (all_done) break;
    // An arrival, or bytes, at an mbarrier of a CTA that had its turn.
    if (std::any_of(ctas.begin(), ctas.end(), can_run)) continue;
    const bool is_call = all_wait && std::any_of(ctas.begin(), ctas.end(), is_at_cluster_call);
    if (is_call) {
      if (!run_cluster_call(ctas)) return false;
      continue;
    }
    if (!all_wait) {
      for (Cta& cta : ctas)
        if (!is_done(cta) && !run.stop) report_stuck(cta);
      return false;
    }
    bool orders = true;
    for (Cta& cta : ctas) orders = release_cluster(cta) && orders;
    if (orders) clock.cluster_floor = clock.now++;
  }
  if (run.stop) return false;
  for (Cta& cta : ctas) report_leftovers(cta);
  return true;
}

void run_grid(Run& run) {
  const Launch& launch = run.launch;
  const Coordinates cluster = launch.shape.cluster;
  Coordinates clusters{};
  for (std::size_t d = 0; d < 3; ++d) clusters[d] = launch.grid[d] / cluster[d];
  std::uint32_t number = 0;
  for (std::int64_t c = 0; c < volume(clusters); ++c) {
    Clock clock;
    std::deque<Cta> ctas;
    const Coordinates at = unflatten(c, clusters);
    for (std::int64_t k = 0; k < volume(cluster); ++k) {
      const Coordinates in = unflatten(k, cluster);
      ctas.emplace_back(run, clock, number++,
                        Coordinates{at[0] * cluster[0] + in[0], at[1] * cluster[1] + in[1],
                                    at[2] * cluster[2] + in[2]});
    }
    for (Cta& cta : ctas) cta.cluster = &ctas;
    if (!run_cluster(run, ctas, clock)) return;
  }
}

}  // namespace

Result<Report> run(const ir::Function& function, std::vector<Argument> arguments,
                   const Options& options) {
  const Launch launch = WW_TRY(make_launch(function, arguments, options));
  Run state(launch, options);
  state.globals.resize(launch.roots.size());
  for (std::size_t r = 0; r < launch.roots.size(); ++r)
    if (launch.roots[r].scope == ir::Scope::Global)
      state.globals[r] = load_argument(launch, launch.roots[r],
                                       std::get<BufferArg>(arguments[launch.roots[r].param]));
  run_grid(state);
  if (state.stop) return fail(*std::move(state.stop));
  Report report;
  state.findings.move_to(report);
  report.grid = launch.grid;
  report.steps = state.steps;
  report.printed = std::move(state.printed);
  report.written.resize(function.params.size());
  for (std::size_t r = 0; r < launch.roots.size(); ++r) {
    const Root& root = launch.roots[r];
    if (root.scope != ir::Scope::Global) continue;
    store_argument(launch, root, state.globals[r], std::get<BufferArg>(arguments[root.param]),
                   report.written[root.param]);
  }
  return report;
}

}  // namespace ww::eval
