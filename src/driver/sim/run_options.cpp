// SPDX-License-Identifier: Apache-2.0
#include "driver/sim/run_options.h"

#include "driver/sim/options.h"

namespace ww::driver {

bool read_run_options(const SimRequest& request, Refusals& refusals, sim::RunOptions& options) {
  options.threads = request.threads;
  options.count = request.count;
  options.exact_matrix = request.exact;
  options.in_step = request.in_step;
  options.late_tensor_loads = request.late_tensor_loads;
  options.progress = request.progress;
  LimitChanges limits;
  const bool is_good =
      refusals.keep(sim::parse_checks(request.checks), options.checks, "--check", request.checks) &&
      refusals.keep(parse_schedule(request.schedule_name()), options.schedule, "--schedule",
                    request.schedule) &&
      refusals.keep(parse_limits(request.limits), limits, "--limit", request.limits);
  options.limits = limits.on(options.limits);
  options.allows_rewrites = !options.checks.has(sim::Check::Rewrite);
  return is_good;
}

bool read_break_option(const SimRequest& request, const sim::Program& program, Refusals& refusals,
                       sim::RunOptions& options, ShownLines& shown) {
  if (request.stop_at.empty()) return true;
  if (!refusals.keep(parse_break(request.stop_at), options.stop_at, "--break", request.stop_at))
    return false;
  options.stop_at->write = shown.writer();
  const auto there = check_break(program, options.stop_at->line);
  return there ? true : refusals.add(there.error());
}

}  // namespace ww::driver
