// SPDX-License-Identifier: Apache-2.0
// A timeline as JSON; docs/reference/schema/timeline.json describes it.
#include "driver/report_json.h"
#include "driver/timeline/sentences.h"
#include "driver/timeline/timeline.h"

namespace ww::driver {
namespace {

Json party_json(const std::optional<TimelineParty>& party) {
  if (!party) return nullptr;
  return {{"who", party->who},
          {"line", party->line},
          {"instruction", party->instruction},
          {"source", text_or_null(party->source)}};
}

Json points_json(const TimelineSpan& span) {
  Json out = Json::array();
  for (const sim::PhasePoint& point : span.points)
    out.push_back({{"step", point.step}, {"arrivals", point.arrivals}, {"bytes", point.bytes}});
  return out;
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
  Json waits = Json::array();
  for (const RoleUse::Wait& wait : each.use.waits)
    waits.push_back({{"what", wait.what}, {"steps", wait.steps}});
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
  Json spans = Json::array();
  for (const TimelineSpan& span : lane.spans) spans.push_back(span_json(span));
  Json out{{"kind", name_of(lane.kind)}, {"block", lane.block}, {"name", lane.name}};
  if (lane.kind != LaneKind::Mbarrier)
    out["warps"] = Json::array({lane.first_warp, lane.last_warp});
  if (lane.role) out["role"] = *lane.role;
  out["spans"] = spans;
  return out;
}

}  // namespace

Json timeline_json(const Timeline& timeline) {
  Json lanes = Json::array();
  for (const TimelineLane& lane : timeline.lanes) lanes.push_back(lane_json(lane));
  Json roles = Json::array();
  for (const TimelineRole& role : timeline.roles) roles.push_back(role_json(role));
  Json arrows = Json::array();
  for (const TimelineArrow& arrow : timeline.arrows)
    arrows.push_back({{"from", arrow.from_lane}, {"to", arrow.to_lane}, {"step", arrow.step}});
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

}  // namespace ww::driver
