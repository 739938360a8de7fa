// SPDX-License-Identifier: Apache-2.0
#include "driver/timeline/plan.h"

#include <utility>

namespace ww::driver {
namespace {

// More blocks than any grid has; whether the grid has that one shows when it is known.
constexpr sim::Dim3 kAnyGrid{0x7FFF'FFFF, 0xFFFF, 0xFFFF};

Result<std::uint64_t> read_block(const std::string& text, const std::optional<sim::Dim3>& grid) {
  if (grid) return parse_block(text, *grid);
  if (!text.contains(',')) return parse_block(text, kAnyGrid);
  return fail(diag(DiagKind::Syntax,
                   "expected the number of a block, found `{}`: the grid is not known yet", text)
                  .with_span(Span::at(0, text.size())));
}

bool check_path(const std::string& path, FilePlan& files, Refusals& refusals) {
  if (const auto form = timeline_form(path); !form)
    return refusals.add(form.error(), "--timeline", path);
  auto good = files.writes(path, "the timeline");
  if (good) return true;
  return refusals.add(std::move(good).error().with_span(Span::at(0, path.size())), "--timeline",
                      path);
}

}  // namespace

std::optional<TimelinePlan> plan_timeline(const TimelineRequest& request,
                                          const std::optional<sim::Dim3>& grid, FilePlan& files,
                                          Refusals& refusals) {
  TimelinePlan out;
  if (!check_path(request.path, files, refusals)) return std::nullopt;
  if (!request.block.empty() &&
      !refusals.keep(read_block(request.block, grid), out.block, "--timeline-block", request.block))
    return std::nullopt;
  if (!request.steps.empty() &&
      !refusals.keep(parse_steps(request.steps), out.range, "--timeline-steps", request.steps))
    return std::nullopt;
  return out;
}

Result<void> draw_timeline(const TimelineRequest& request, const TimelinePlan& plan,
                           const std::optional<sim::Recording>& recording,
                           const TimelineSource& source) {
  if (plan.block >= source.grid.count())
    return fail(DiagKind::OutOfBounds, "there is no block {} in a grid of {}", plan.block,
                dims_text(source.grid));
  if (!recording)
    return fail(diag(DiagKind::BadArgument,
                     "no timeline of block {}: its cluster did not run to an end", plan.block)
                    .with_note("the run ended before, or another cluster took over its work"));
  return write_timeline(request.path, make_timeline(*recording, source, {.range = plan.range}));
}

}  // namespace ww::driver
