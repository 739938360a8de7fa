// SPDX-License-Identifier: Apache-2.0
// From a recording to lanes of spans with words.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "driver/report_parts.h"
#include "driver/timeline/names.h"
#include "driver/timeline/role_use.h"
#include "driver/timeline/rows.h"
#include "driver/timeline/timeline.h"

namespace ww::driver {
namespace {

constexpr std::size_t kMaxArrows = 120;

SpanKind kind_of(sim::WarpState state) {
  switch (state) {
    case sim::WarpState::Runs:
      return SpanKind::Runs;
    case sim::WarpState::AtMbarrier:
      return SpanKind::AtMbarrier;
    case sim::WarpState::AtBarrier:
      return SpanKind::AtBarrier;
    case sim::WarpState::AtClusterBarrier:
      return SpanKind::AtClusterBarrier;
    case sim::WarpState::AtWarpgroup:
    case sim::WarpState::AtColumns:
    case sim::WarpState::AtRegisters:
    case sim::WarpState::AtLanes:
      return SpanKind::AtOther;
  }
  return SpanKind::Runs;
}

class Maker {
 public:
  Maker(const sim::Recording& recording, const TimelineNames& names)
      : recording_(recording), names_(names) {}

  [[nodiscard]] TimelineLane lane(const TimelineRow& row) const;

 private:
  [[nodiscard]] TimelineSpan warp_span(const sim::WarpSpan& span, std::uint32_t warp) const;
  [[nodiscard]] TimelineSpan work_span(const sim::AsyncRecord& work) const;
  [[nodiscard]] TimelineSpan phase_span(const sim::RecordedMbarrier& barrier,
                                        const sim::RecordedPhase& phase) const;
  [[nodiscard]] std::string work_text(const sim::AsyncRecord& work) const;

  const sim::Recording& recording_;
  const TimelineNames& names_;
};

TimelineLane Maker::lane(const TimelineRow& row) const {
  TimelineLane out{.kind = row.kind,
                   .block = names_.block(row.cta),
                   .name = row.name,
                   .first_warp = row.first,
                   .last_warp = row.last,
                   .role = row.role,
                   .spans = {}};
  for (const sim::WarpSpan& span : row.spans) out.spans.push_back(warp_span(span, row.first));
  for (const sim::AsyncRecord& work : row.work) out.spans.push_back(work_span(work));
  for (const sim::RecordedPhase& phase : row.phases)
    out.spans.push_back(phase_span(recording_.mbarriers[row.mbarrier], phase));
  return out;
}

TimelineSpan Maker::warp_span(const sim::WarpSpan& span, std::uint32_t warp) const {
  TimelineSpan out{.kind = kind_of(span.state),
                   .begin = span.begin,
                   .end = span.end,
                   .is_open = span.is_open,
                   .what = names_.subject(span.state, span.subject)};
  out.merged = span.merged;
  out.runs = span.runs;
  if (span.state == sim::WarpState::AtMbarrier) out.phase = span.phase;
  out.at = names_.party({span.op, warp});
  if (span.state == sim::WarpState::Runs || out.is_merged()) return out;
  if (span.state != sim::WarpState::AtMbarrier) {
    if (!span.is_open) out.by = names_.party(span.released_by);
    return out;
  }
  const sim::RecordedPhase* const phase =
      find_phase(recording_.mbarriers[span.subject], span.phase);
  if (phase != nullptr && phase->is_over) {
    out.by = names_.party(phase->completed_by);
    out.is_by_work = phase->is_by_work;
  }
  return out;
}

std::string Maker::work_text(const sim::AsyncRecord& work) const {
  if (work.mbarrier) return fmt::format("for {}", names_.mbarrier(*work.mbarrier));
  if (work.kind == sim::AsyncKind::TensorWork || work.kind == sim::AsyncKind::Signalled) return "";
  return work.merged > 1 ? "" : fmt::format("group {}", work.group);
}

TimelineSpan Maker::work_span(const sim::AsyncRecord& work) const {
  TimelineSpan out{.kind = SpanKind::Work,
                   .begin = work.begin,
                   .end = work.end,
                   .is_open = work.is_open,
                   .what = work_text(work)};
  out.merged = work.merged;
  if (work.mbarrier && !out.is_merged()) out.phase = work.phase;
  out.at = names_.party(work.issued_by);
  if (!work.is_open) out.by = names_.party(work.seen_by);
  out.count = work.count;
  out.bytes = static_cast<std::int64_t>(work.bytes);
  out.read = work.read;
  return out;
}

TimelineSpan Maker::phase_span(const sim::RecordedMbarrier& barrier,
                               const sim::RecordedPhase& phase) const {
  TimelineSpan out{.kind = SpanKind::Phase, .begin = phase.begin, .end = phase.end};
  out.is_open = !phase.is_over && barrier.end == recording_.steps;
  out.merged = phase.merged;
  out.phase = phase.number;
  out.bytes = phase.bytes;
  out.points = phase.points;
  if (phase.is_over && !out.is_merged()) {
    out.by = names_.party(phase.completed_by);
    out.is_by_work = phase.is_by_work;
  }
  return out;
}

// --- arrows --------------------------------------------------------------------------------------

std::size_t lane_of(const Timeline& timeline, std::uint32_t warp) {
  for (std::size_t i = 0; i < timeline.lanes.size(); ++i) {
    const TimelineLane& each = timeline.lanes[i];
    if (each.kind == LaneKind::Warps && each.first_warp <= warp && warp <= each.last_warp) return i;
  }
  return 0;
}

// From the warp that completed a phase to the warps that waited. Too many would hide the rest.
void add_arrows(Timeline& timeline, const sim::Recording& recording) {
  for (std::size_t i = 0; i < timeline.lanes.size(); ++i) {
    if (timeline.lanes[i].kind != LaneKind::Warps) continue;
    for (const sim::WarpSpan& span : recording.warps[timeline.lanes[i].first_warp].spans) {
      const bool is_wait = span.state == sim::WarpState::AtMbarrier && span.merged == 0;
      if (!is_wait || span.is_open) continue;
      const sim::RecordedPhase* const phase =
          find_phase(recording.mbarriers[span.subject], span.phase);
      if (phase == nullptr || !phase->is_over || phase->is_by_work) continue;
      if (phase->end <= timeline.from || phase->end > timeline.to) continue;
      const std::size_t from = lane_of(timeline, phase->completed_by.warp);
      if (phase->completed_by.op != sim::kNoOp && from != i)
        timeline.arrows.push_back({from, i, phase->end});
    }
  }
  if (timeline.arrows.size() <= kMaxArrows) return;
  timeline.notes.push_back(fmt::format(
      "{} arrows are left out: hover over a wait to see who ended it", timeline.arrows.size()));
  timeline.arrows.clear();
}

// Lanes of work that is not shown.
void drop_empty_work(Timeline& timeline) {
  std::vector<TimelineLane> left;
  std::string name;  // of a lane that is dropped, for the one beside it
  for (TimelineLane& lane : timeline.lanes) {
    if (!lane.name.empty()) name.clear();
    if (lane.kind == LaneKind::Work && lane.spans.empty()) {
      if (!lane.name.empty()) name = lane.name;
      continue;
    }
    if (lane.name.empty()) lane.name = std::exchange(name, "");
    left.push_back(std::move(lane));
  }
  timeline.lanes = std::move(left);
}

// `hint`: what shows more.
void add_notes(Timeline& timeline, const sim::Recording& recording, std::uint64_t merged,
               std::string_view hint) {
  if (recording.is_cut)
    timeline.notes.push_back(
        fmt::format("the recording ends at step {}: no more than that is kept", recording.steps));
  if (merged != 0)
    timeline.notes.push_back(
        fmt::format("neighbours of fewer than {} are merged: a timeline shows {} spans{}",
                    plural(merged, "step"), kMaxTimelineSpans, hint));
  if (recording.grain != 0)
    timeline.notes.push_back(
        fmt::format("the run is long: neighbours of fewer than {} are recorded as one",
                    plural(recording.grain, "step")));
}

}  // namespace

std::string_view name_of(SpanKind kind) {
  switch (kind) {
    case SpanKind::Runs:
      return "runs";
    case SpanKind::AtMbarrier:
      return "mbarrier";
    case SpanKind::AtBarrier:
      return "barrier";
    case SpanKind::AtClusterBarrier:
      return "cluster barrier";
    case SpanKind::AtOther:
      return "other";
    case SpanKind::Work:
      return "work";
    case SpanKind::Phase:
      return "phase";
  }
  return "";
}

std::string_view name_of(LaneKind kind) {
  switch (kind) {
    case LaneKind::Warps:
      return "warps";
    case LaneKind::Work:
      return "work";
    case LaneKind::Mbarrier:
      return "mbarrier";
  }
  return "";
}

Timeline make_timeline(const sim::Recording& recording, const TimelineSource& source,
                       const TimelinePart& part) {
  Timeline out{.file = source.file, .kernel = source.kernel->name, .outcome = source.outcome};
  out.steps = recording.steps;
  out.counts_rounds = recording.counts_rounds;
  out.from = part.range ? std::min(part.range->first, out.steps) : 0;
  out.to = part.range ? std::min(part.range->last, out.steps) : out.steps;
  const TimelineNames names(recording, source);
  for (const WarpRole& role : source.roles)
    out.roles.push_back({role, role_use(recording, names, role)});
  std::vector<TimelineRow> rows = timeline_rows(recording, names);
  cut_rows(rows, out.from, out.to);
  const std::uint64_t merged = merge_rows(rows, kMaxTimelineSpans);
  out.grain = std::max(recording.grain, merged);
  const Maker maker(recording, names);
  for (const TimelineRow& row : rows) out.lanes.push_back(maker.lane(row));
  if (!part.keeps_lanes) drop_empty_work(out);
  add_notes(out, recording, merged,
            part.keeps_lanes ? "" : "; `--timeline-steps A:B` shows a part in detail");
  add_arrows(out, recording);
  return out;
}

}  // namespace ww::driver
