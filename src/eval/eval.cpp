// SPDX-License-Identifier: Apache-2.0
#include "eval/eval.h"

#include <deque>
#include <memory>
#include <utility>

#include "eval/arguments.h"
#include "eval/cta.h"

namespace ww::eval {
namespace {

using Coordinates = std::array<std::int64_t, 3>;

Coordinates unflatten(std::int64_t number, const Coordinates& extents) {
  return {number % extents[0], number / extents[0] % extents[1],
          number / (extents[0] * extents[1])};
}

std::int64_t volume(const Coordinates& extents) { return extents[0] * extents[1] * extents[2]; }

// The CTAs of a cluster take turns until all have ended or none can go on. False: the run ends.
bool run_cluster(Run& run, std::deque<Cta>& ctas, Clock& clock) {
  while (!run.stop) {
    bool is_done = true;
    bool all_wait = true;
    for (Cta& cta : ctas) {
      cta.advance();
      is_done = is_done && cta.is_done();
      all_wait = all_wait && (cta.is_done() || cta.waits_for_cluster());
    }
    if (is_done) break;
    if (!all_wait) {
      for (Cta& cta : ctas)
        if (!cta.is_done() && !run.stop) cta.report_stuck();
      return false;
    }
    for (Cta& cta : ctas) cta.release_cluster();
    clock.cluster_floor = clock.now++;
  }
  if (run.stop) return false;
  for (Cta& cta : ctas) cta.report_leftovers();
  return true;
}

void run_grid(Run& run) {
  const Kernel& kernel = run.kernel;
  const Coordinates cluster = kernel.shape.cluster;
  Coordinates clusters{};
  for (std::size_t d = 0; d < 3; ++d) clusters[d] = kernel.grid[d] / cluster[d];
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
    if (!run_cluster(run, ctas, clock)) return;
  }
}

}  // namespace

Result<Report> run(const ir::Function& function, std::vector<Argument> arguments,
                   const Options& options) {
  const Kernel kernel = WW_TRY(make_kernel(function, arguments, options));
  Run state(kernel, options);
  state.globals.resize(kernel.roots.size());
  for (std::size_t r = 0; r < kernel.roots.size(); ++r)
    if (kernel.roots[r].scope == ir::Scope::Global)
      state.globals[r] = load_argument(kernel, kernel.roots[r],
                                       std::get<BufferArg>(arguments[kernel.roots[r].param]));
  run_grid(state);
  if (state.stop) return fail(*std::move(state.stop));
  Report report;
  state.findings.move_to(report);
  report.grid = kernel.grid;
  report.steps = state.steps;
  report.printed = std::move(state.printed);
  report.written.resize(function.params.size());
  for (std::size_t r = 0; r < kernel.roots.size(); ++r) {
    const Root& root = kernel.roots[r];
    if (root.scope != ir::Scope::Global) continue;
    store_argument(kernel, root, state.globals[r], std::get<BufferArg>(arguments[root.param]),
                   report.written[root.param]);
  }
  return report;
}

}  // namespace ww::eval
