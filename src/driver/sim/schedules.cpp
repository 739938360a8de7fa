// SPDX-License-Identifier: Apache-2.0
#include "driver/sim/schedules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/diag.h"
#include "base/join.h"
#include "base/source.h"
#include "driver/sim/tool.h"

namespace ww::driver {
namespace {

// Where the results of two runs differ first; empty: nowhere.
std::string difference(const SimReport& first, const SimReport& later) {
  for (std::size_t b = 0; b < first.results.size(); ++b) {
    const std::vector<std::byte>& here = first.results[b].data;
    const std::vector<std::byte>& there = later.results[b].data;
    const auto [at, other] = std::ranges::mismatch(here, there);
    if (at == here.end()) continue;
    const BufferReport& buffer = first.buffers[b];
    const auto bits = static_cast<std::size_t>(num::storage_bits(buffer.dtype));
    const auto element = (at - here.begin()) * 8 / static_cast<std::ptrdiff_t>(bits);
    return fmt::format("leaves other values than `rr` in ${} {}, from [{}] on", buffer.param,
                       buffer.name, join(index_of(buffer.shape, element), ","));
  }
  if (first.run.printed != later.run.printed) return "prints other text than `rr`";
  return "";
}

std::string problem_of(const SimReport& first, const SimReport& later) {
  if (later.run.outcome != sim::Outcome::Finished)
    return fmt::format("did not finish: {}", name_of(later.run.outcome));
  if (!later.run.findings.empty())
    return fmt::format("has {}, `rr` has none",
                       plural(later.run.findings.list().size(), "finding"));
  return difference(first, later);
}

}  // namespace

std::string schedule_name(unsigned number) {
  if (number == 0) return "rr";
  return number == 1 ? "reverse" : fmt::format("random:{}", number - 1);
}

SimOutcome run_schedules(const SimRequest& request,
                         const std::function<SimOutcome(const SimRequest&)>& run) {
  if (request.device != WhichGpu::Virtual)
    return {.errors =
                render(diag(DiagKind::BadArgument, "`--schedules` is for the virtual GPU alone"))};
  if (request.timeline.is_wanted())
    return {.errors = render(diag(DiagKind::BadArgument,
                                  "`--timeline` beside `--schedules {}`: expected one of them",
                                  request.schedules))};
  if (!request.schedule.empty() && request.schedule != schedule_name(0))
    return {.errors = render(diag(DiagKind::BadArgument,
                                  "`--schedule {}` beside `--schedules {}`: expected one of them",
                                  request.schedule, request.schedules))};
  SimRequest one = request;
  one.schedule = schedule_name(0);
  SimOutcome first = run(one);
  if (!first.report || !first.errors.empty()) return first;
  SchedulesReport report{.run = {one.schedule}, .differs = {}};
  const bool is_good = first.report->run.ok();
  one.outs.clear();  // the first run has written them
  for (unsigned i = 1; i < request.schedules && is_good; ++i) {
    one.schedule = schedule_name(i);
    report.run.push_back(one.schedule);
    SimOutcome later = run(one);
    if (!later.report) return later;
    report.differs = problem_of(*first.report, *later.report);
    if (report.differs.empty()) continue;
    later.report->schedules = std::move(report);
    return later;
  }
  first.report->schedules = std::move(report);
  return first;
}

}  // namespace ww::driver
