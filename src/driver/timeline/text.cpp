// SPDX-License-Identifier: Apache-2.0
// A timeline as text, lane by lane, and the sentences that all its forms share.
#include "driver/timeline/sentences.h"

#include <fmt/format.h>

#include "driver/report_parts.h"
#include "driver/timeline/timeline.h"

namespace ww::driver {
namespace {

std::string missing_text(const sim::PhasePoint& point) {
  std::string out = fmt::format("{} to arrive", point.arrivals);
  if (point.bytes > 0) out += fmt::format(", {} bytes to come", point.bytes);
  if (point.bytes < 0) out += fmt::format(", {} bytes too many", -point.bytes);
  return out;
}

std::string work_sentence(const TimelineSpan& span) {
  std::string out = plural(span.count, "instruction");
  if (!span.what.empty()) out += (span.what.starts_with("group") ? " of " : " ") + span.what;
  if (span.phase) out += fmt::format(", phase {}", *span.phase);
  if (span.bytes != 0) out += fmt::format(", {} bytes", span.bytes);
  return out;
}

std::string phase_sentence(const TimelineSpan& span) {
  std::string out = fmt::format("phase {} (parity {})", *span.phase, *span.phase % 2);
  if (!span.points.empty()) out += fmt::format(", {} to arrive", span.points.front().arrivals);
  if (span.bytes > 0) out += fmt::format(", expects {} bytes", span.bytes);
  return out;
}

void add_lane(std::string& out, const TimelineLane& lane) {
  out += fmt::format("{}{}\n", lane.kind == LaneKind::Mbarrier ? "mbarrier " : "",
                     lane.name.empty() ? "  (beside it)" : lane.name);
  for (const TimelineSpan& span : lane.spans) {
    const std::string steps = fmt::format("{}-{}", span.begin, span.end);
    out += fmt::format("  {:<11} {}", steps, span_sentence(span));
    const std::string end = end_sentence(span);
    if (!end.empty()) out += "; " + end;
    out += '\n';
  }
}

}  // namespace

std::string party_sentence(const TimelineParty& party) {
  std::string out = fmt::format("{}, line {}", party.who, party.line);
  if (!party.source.empty()) out += fmt::format(" ({})", party.source);
  return out;
}

std::string span_sentence(const TimelineSpan& span) {
  switch (span.kind) {
    case SpanKind::Runs:
      return "runs";
    case SpanKind::AtMbarrier:
      return fmt::format("waits for {}, phase {} (parity {}), at line {}", span.what, *span.phase,
                         *span.phase % 2, span.at ? span.at->line : 0);
    case SpanKind::AtBarrier:
    case SpanKind::AtClusterBarrier:
    case SpanKind::AtOther:
      return fmt::format("waits for {}, at line {}", span.what, span.at ? span.at->line : 0);
    case SpanKind::Work:
      return work_sentence(span);
    case SpanKind::Phase:
      return phase_sentence(span);
  }
  return "";
}

std::string end_sentence(const TimelineSpan& span) {
  if (span.is_open && span.kind == SpanKind::Phase && !span.points.empty())
    return "not over: " + missing_text(span.points.back());
  if (span.is_open) return span.kind == SpanKind::Work ? "nobody has waited for it" : "to the end";
  if (!span.by) return "";
  const std::string who = party_sentence(*span.by);
  if (span.kind == SpanKind::Work) return "seen by " + who;
  if (span.is_by_work) return "ended by the work of " + who;
  return "ended by " + who;
}

std::string axis_sentence(const Timeline& timeline) {
  return timeline.counts_rounds
             ? "a step is a round in which every warp that can run executes one instruction; "
               "time is not simulated"
             : "a step is one instruction of one warp; time is not simulated";
}

std::string timeline_text(const Timeline& timeline) {
  std::string out =
      fmt::format("timeline of `{}` in {}: {}\n", timeline.kernel, timeline.file, timeline.outcome);
  out += fmt::format("steps {} to {} of {}; {}\n", timeline.from, timeline.to, timeline.steps,
                     axis_sentence(timeline));
  for (const std::string& note : timeline.notes) out += fmt::format("note: {}\n", note);
  std::string block;
  for (const TimelineLane& lane : timeline.lanes) {
    if (lane.block != block) out += fmt::format("\nblock {}\n", lane.block);
    block = lane.block;
    add_lane(out, lane);
  }
  return out;
}

}  // namespace ww::driver
