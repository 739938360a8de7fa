// SPDX-License-Identifier: Apache-2.0
// A timeline as text or JSON, and the file that it goes to.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/fail_at.h"
#include "base/file_io.h"
#include "driver/report_json.h"
#include "driver/report_parts.h"
#include "driver/timeline/timeline.h"

namespace ww::driver {

// --- text ----------------------------------------------------------------------------------------
//
// A timeline as text, lane by lane, and the sentences that all its forms share.

namespace {

std::string missing_text(const sim::PhasePoint& point) {
  std::string out = fmt::format("{} to arrive", point.arrivals);
  if (point.bytes > 0) out += fmt::format(", {} bytes to come", point.bytes);
  if (point.bytes < 0) out += fmt::format(", {} bytes too many", -point.bytes);
  return out;
}

std::string work_sentence(const TimelineSpan& span) {
  std::string out = plural(span.count, "instruction");
  if (span.is_merged()) out += fmt::format(" in {} pieces", span.merged);
  if (!span.what.empty()) out += (span.what.starts_with("group") ? " of " : " ") + span.what;
  if (span.phase) out += fmt::format(", phase {}", *span.phase);
  if (span.bytes != 0) out += fmt::format(", {} bytes", span.bytes);
  return out;
}

std::string phase_sentence(const TimelineSpan& span) {
  if (span.is_merged())
    return fmt::format("phases {} to {}", *span.phase, *span.phase + span.merged - 1);
  std::string out = fmt::format("phase {} (parity {})", *span.phase, *span.phase % 2);
  if (!span.points.empty()) out += fmt::format(", {} to arrive", span.points.front().arrivals);
  if (span.bytes > 0) out += fmt::format(", expects {} bytes", span.bytes);
  return out;
}

// Spans of a warp that are one.
std::string merged_sentence(const TimelineSpan& span) {
  const std::uint64_t steps = span.end - span.begin;
  std::string out = fmt::format("{} merged: runs in {} of {}", plural(span.merged, "span"),
                                span.runs, plural(steps, "step"));
  if (span.kind != SpanKind::Runs) out += fmt::format(", waits mostly for {}", span.what);
  return out;
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
  if (part == 0 || whole == 0) return "0 %";
  const std::uint64_t rounded = (100 * part + whole / 2) / whole;
  return rounded == 0 ? "<1 %" : fmt::format("{} %", rounded);
}

// "warps 0-3, 8".
std::string warps_text(const std::vector<std::uint32_t>& warps) {
  std::string out = warps.size() == 1 ? "warp " : "warps ";
  for (std::size_t i = 0; i < warps.size();) {
    std::size_t end = i + 1;
    while (end < warps.size() && warps[end] == warps[end - 1] + 1) ++end;
    if (i != 0) out += ", ";
    out +=
        end == i + 1 ? fmt::format("{}", warps[i]) : fmt::format("{}-{}", warps[i], warps[end - 1]);
    i = end;
  }
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

std::string role_sentence(const WarpRole& role) {
  std::string out = warps_text(role.warps);
  if (!role.name.empty()) out = fmt::format("{}: {}", role.name, out);
  out += fmt::format(", `{}`", role.condition);
  if (!role.source.empty()) out += fmt::format(" ({})", role.source);
  return out;
}

std::string use_sentence(const RoleUse& use) {
  constexpr std::size_t kMaxWaits = 3;
  std::string out = fmt::format("runs {}, waits {}", percent(use.runs, use.steps),
                                percent(use.waited(), use.steps));
  for (std::size_t i = 0; i < std::min(kMaxWaits, use.waits.size()); ++i)
    out += fmt::format("{}{} {}", i == 0 ? " (" : ", ", use.waits[i].what,
                       percent(use.waits[i].steps, use.steps));
  if (!use.waits.empty()) out += use.waits.size() > kMaxWaits ? ", …)" : ")";
  const std::uint64_t rest = use.steps - std::min(use.steps, use.runs + use.waited());
  if (rest != 0) out += fmt::format(", not chosen {}", percent(rest, use.steps));
  if (use.copies != 0)
    out += fmt::format("; copies under way {} of the run", percent(use.copies, use.run_steps));
  if (use.products != 0)
    out += fmt::format("; products under way {} of the run", percent(use.products, use.run_steps));
  return out;
}

std::string span_sentence(const TimelineSpan& span) {
  const bool is_of_warps = span.kind != SpanKind::Work && span.kind != SpanKind::Phase;
  if (span.is_merged() && is_of_warps) return merged_sentence(span);
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
  for (const TimelineRole& each : timeline.roles)
    out += fmt::format("role {}\n  {}\n", role_sentence(each.role), use_sentence(each.use));
  std::string block;
  std::optional<std::size_t> role;
  for (const TimelineLane& lane : timeline.lanes) {
    if (lane.block != block) out += fmt::format("\nblock {}\n", lane.block);
    if (lane.role && (lane.block != block || lane.role != role))
      out += fmt::format("role {}\n", timeline.roles[*lane.role].role.title());
    block = lane.block;
    role = lane.role;
    add_lane(out, lane);
  }
  return out;
}

// --- json ----------------------------------------------------------------------------------------
//
// A timeline as JSON; docs/reference/schema/timeline.json describes it.

namespace {

Json party_json(const std::optional<TimelineParty>& party) {
  if (!party) return nullptr;
  return {{"who", party->who},
          {"line", party->line},
          {"instruction", party->instruction},
          {"source", text_or_null(party->source)}};
}

Json points_json(const TimelineSpan& span) {
  return json_list(span.points, [&](const sim::PhasePoint& point) -> Json {
    return {{"step", point.step}, {"arrivals", point.arrivals}, {"bytes", point.bytes}};
  });
}

Json span_json(const TimelineSpan& span) {
  Json out{{"kind", name_of(span.kind)},
           {"begin", span.begin},
           {"end", span.end},
           {"open", span.is_open}};
  if (span.is_merged()) {
    out["merged"] = span.merged;
    if (span.kind != SpanKind::Work && span.kind != SpanKind::Phase) out["runs"] = span.runs;
  }
  if (span.kind == SpanKind::Runs) return out;
  if (span.kind != SpanKind::Phase) out["what"] = span.what;
  if (span.phase) {
    out["phase"] = *span.phase;
    out["parity"] = *span.phase % 2;
  }
  if (span.kind != SpanKind::Phase) out["at"] = party_json(span.at);
  out["by"] = party_json(span.by);
  out["by_work"] = span.is_by_work;
  if (span.kind == SpanKind::Work) {
    out["instructions"] = span.count;
    out["read"] = span.read == 0 ? Json(nullptr) : Json(span.read);
  }
  if (span.kind == SpanKind::Work || span.kind == SpanKind::Phase) out["bytes"] = span.bytes;
  if (span.kind == SpanKind::Phase) out["points"] = points_json(span);
  return out;
}

Json role_json(const TimelineRole& each) {
  Json waits = json_list(each.use.waits, [&](const RoleUse::Wait& wait) -> Json {
    return {{"what", wait.what}, {"steps", wait.steps}};
  });
  return {{"name", text_or_null(each.role.name)},
          {"condition", each.role.condition},
          {"source", text_or_null(each.role.source)},
          {"warps", each.role.warps},
          {"steps", each.use.steps},
          {"runs", each.use.runs},
          {"waits", std::move(waits)},
          {"run_steps", each.use.run_steps},
          {"copies", each.use.copies},
          {"products", each.use.products},
          {"text", role_sentence(each.role)},
          {"use", use_sentence(each.use)}};
}

Json lane_json(const TimelineLane& lane) {
  Json spans = json_list(lane.spans, span_json);
  Json out{{"kind", name_of(lane.kind)}, {"block", lane.block}, {"name", lane.name}};
  if (lane.kind != LaneKind::Mbarrier)
    out["warps"] = Json::array({lane.first_warp, lane.last_warp});
  if (lane.role) out["role"] = *lane.role;
  out["spans"] = spans;
  return out;
}

}  // namespace

Json timeline_json(const Timeline& timeline) {
  Json lanes = json_list(timeline.lanes, lane_json);
  Json roles = json_list(timeline.roles, role_json);
  Json arrows = json_list(timeline.arrows, [&](const TimelineArrow& arrow) -> Json {
    return {{"from", arrow.from_lane}, {"to", arrow.to_lane}, {"step", arrow.step}};
  });
  const Json keys{{"file", timeline.file},
                  {"kernel", timeline.kernel},
                  {"outcome", timeline.outcome},
                  {"step", timeline.counts_rounds ? "round" : "instruction"},
                  {"steps", timeline.steps},
                  {"from", timeline.from},
                  {"to", timeline.to},
                  {"grain", timeline.grain},
                  {"notes", timeline.notes},
                  {"roles", roles},
                  {"lanes", lanes},
                  {"arrows", arrows}};
  return with_schema("timeline", keys);
}

namespace {

struct FormName {
  std::string_view ending;
  TimelineForm form;
};
constexpr std::array<FormName, 3> kForms{
    {{".svg", TimelineForm::Svg}, {".json", TimelineForm::Json}, {".txt", TimelineForm::Text}}};

}  // namespace

Result<TimelineForm> timeline_form(std::string_view path) {
  const auto found = std::ranges::find_if(
      kForms, [&](const FormName& each) { return path.ends_with(each.ending); });
  if (found != kForms.end()) return found->form;
  return fail_at(Span::at(0, path.size()), DiagKind::BadArgument,
                 "`{}` has none of the endings of a timeline: .svg, .json, .txt", path);
}

Result<void> write_timeline(const std::string& path, const Timeline& timeline) {
  switch (WW_TRY(timeline_form(path))) {
    case TimelineForm::Svg:
      return write_file_atomically(path, timeline_svg(timeline));
    case TimelineForm::Json:
      return write_file_atomically(path, json_text(timeline_json(timeline)));
    case TimelineForm::Text:
      return write_file_atomically(path, timeline_text(timeline));
  }
  return {};
}

}  // namespace ww::driver
