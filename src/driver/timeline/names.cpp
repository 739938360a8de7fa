// SPDX-License-Identifier: Apache-2.0
#include "driver/timeline/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/fail_at.h"
#include "driver/sim/options.h"
#include "driver/sim/report.h"

namespace ww::driver {

namespace {

std::string index_text(const std::string& name, std::uint64_t at, std::uint64_t bytes,
                       std::uint32_t element) {
  constexpr std::uint64_t kObject = 8;
  constexpr std::uint64_t kMaxBarriers = 64;  // a larger array of bytes is no array of mbarriers
  if (bytes == kObject) return name;
  const bool is_array = element == kObject || (bytes != 0 && bytes <= kMaxBarriers * kObject);
  if (is_array && at % kObject == 0) return fmt::format("{}[{}]", name, at / kObject);
  return at == 0 ? name : fmt::format("{}+0x{:x}", name, at);
}

}  // namespace

std::string TimelineNames::mbarrier(std::uint32_t index) const {
  const std::uint64_t offset = recording_.mbarriers[index].offset;
  for (const SharedName& name : source_.names) {
    if (offset >= name.offset && offset - name.offset < name.bytes)
      return index_text(name.name, offset - name.offset, name.bytes, name.element);
  }
  const auto own = static_cast<std::uint32_t>(source_.kernel - source_.program->functions.data());
  for (const sim::SharedVariable& variable : source_.program->shared) {
    const bool is_here = variable.function == sim::SharedVariable::kAnyFunction ||
                         variable.function == own ||
                         !source_.program->functions[variable.function].is_entry;
    const bool holds = offset >= variable.offset &&
                       (variable.bytes == 0 || offset - variable.offset < variable.bytes);
    if (is_here && holds)
      return index_text(variable.name, offset - variable.offset, variable.bytes, variable.element);
  }
  return fmt::format("0x{:x}", offset);
}

std::optional<std::size_t> TimelineNames::role(std::uint32_t warp) const {
  const std::uint32_t own = warp % recording_.warps_per_cta;
  const auto found = std::ranges::find_if(source_.roles, [&](const WarpRole& role) {
    return std::ranges::find(role.warps, own) != role.warps.end();
  });
  if (found == source_.roles.end()) return std::nullopt;
  return static_cast<std::size_t>(found - source_.roles.begin());
}

std::string TimelineNames::block(std::uint32_t cta) const {
  return block_text(source_.grid, recording_.ctas[cta]);
}

std::string TimelineNames::warp(std::uint32_t warp) const {
  std::string name = fmt::format("warp {}", warp % recording_.warps_per_cta);
  const auto own = role(warp);
  if (own && !source_.roles[*own].name.empty())
    name += fmt::format(" ({})", source_.roles[*own].name);
  if (recording_.ctas.size() == 1) return name;
  return fmt::format("{} of block {}", name, block(warp / recording_.warps_per_cta));
}

std::optional<TimelineParty> TimelineNames::party(const sim::Doer& doer) const {
  if (doer.op == sim::kNoOp || doer.op >= source_.program->infos.size()) return std::nullopt;
  TimelineParty out{.who = warp(doer.warp), .line = source_.program->infos[doer.op].line};
  out.instruction = source_.program->line(out.line);
  std::ranges::replace(out.instruction, '\t', ' ');
  if (const auto at = source_of(*source_.program, doer.op)) {
    const std::size_t slash = at->file.rfind('/');
    out.source = fmt::format("{}:{}", at->file.substr(slash + 1), at->line);
  }
  return out;
}

std::string TimelineNames::opcode(std::uint32_t op) const {
  const std::string_view whole = source_.program->module.text(source_.program->infos[op].opcode);
  constexpr std::string_view kShort[] = {"cp.reduce.async.bulk.tensor",
                                         "cp.async.bulk.tensor",
                                         "cp.reduce.async.bulk",
                                         "cp.async.bulk",
                                         "cp.async.mbarrier.arrive",
                                         "cp.async",
                                         "st.async",
                                         "red.async",
                                         "wgmma.mma_async",
                                         "tcgen05.mma",
                                         "tcgen05.cp",
                                         "tcgen05.shift",
                                         "tcgen05.commit",
                                         "clusterlaunchcontrol.try_cancel"};
  for (const std::string_view name : kShort)
    if (whole.starts_with(name)) return std::string(name);
  return std::string(whole.substr(0, whole.find('.')));
}

std::string TimelineNames::subject(sim::WarpState state, std::uint32_t subject) const {
  switch (state) {
    case sim::WarpState::AtMbarrier:
      return mbarrier(subject);
    case sim::WarpState::AtBarrier:
      return fmt::format("barrier {}", subject);
    case sim::WarpState::AtClusterBarrier:
      return "the cluster's barrier";
    case sim::WarpState::AtWarpgroup:
      return "its warpgroup";
    case sim::WarpState::AtColumns:
      return "columns of tensor memory";
    case sim::WarpState::AtRegisters:
      return "registers";
    case sim::WarpState::AtLanes:
      return "other lanes of the warp";
    case sim::WarpState::Runs:
      return "";
  }
  return "";
}

// --- plan ----------------------------------------------------------------------------------------

namespace {

// More blocks than any grid has; whether the grid has that one shows when it is known.
constexpr sim::Dim3 kAnyGrid{0x7FFF'FFFF, 0xFFFF, 0xFFFF};

Result<std::uint64_t> read_block(const std::string& text, const std::optional<sim::Dim3>& grid) {
  if (grid) return parse_block(text, *grid);
  if (!text.contains(',')) return parse_block(text, kAnyGrid);
  return fail_at(Span::at(0, text.size()), DiagKind::Syntax,
                 "expected the number of a block, found `{}`: the grid is not known yet", text);
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
