// SPDX-License-Identifier: Apache-2.0
// From a recording to lanes of spans with words.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "driver/report_parts.h"
#include "driver/timeline/names.h"
#include "driver/timeline/timeline.h"
#include "sim/timeline/detail.h"

namespace ww::driver {

// --- rows ----------------------------------------------------------------------------------------
//
// The rows of a timeline before they have words: warps that did the same share one, work that overlaps
// gets rows of its own, each mbarrier has one. They are those of the whole recording, so that they stay
// where they are when another part of it is shown.

namespace {

struct TimelineRow {
  LaneKind kind = LaneKind::Warps;
  std::uint32_t cta = 0;
  std::string name = {};              // empty: more work beside that of the row before
  std::uint32_t first = 0, last = 0;  // warps of the cluster; of Warps and Work
  std::optional<std::size_t> role = {};
  std::uint32_t mbarrier = 0;  // index into Recording::mbarriers
  // One of these, by kind; in the order of steps
  std::vector<sim::WarpSpan> spans = {};
  std::vector<sim::AsyncRecord> work = {};
  std::vector<sim::RecordedPhase> phases = {};

  [[nodiscard]] std::size_t size() const { return spans.size() + work.size() + phases.size(); }
};

constexpr std::size_t kMaxWorkRows = 8;  // for the work of one warp, side by side

// Neighbouring warps of one CTA that did the same in the same steps.
struct WarpGroup {
  std::uint32_t first = 0, last = 0;  // of the cluster
  std::optional<std::size_t> role = {};
};

// The last of some warps to come to an instruction that all must reach is a step ahead.
bool is_near(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t kMaxShift = 2;
  return std::max(a, b) - std::min(a, b) <= kMaxShift;
}

bool do_the_same(const sim::RecordedWarp& a, const sim::RecordedWarp& b) {
  return a.path == b.path &&
         std::ranges::equal(a.spans, b.spans, [](const sim::WarpSpan& x, const sim::WarpSpan& y) {
           return x.state == y.state && is_near(x.begin, y.begin) && is_near(x.end, y.end) &&
                  x.subject == y.subject && x.phase == y.phase && x.merged == y.merged;
         });
}

class RowMaker {
 public:
  RowMaker(const sim::Recording& recording, const TimelineNames& names)
      : recording_(recording), names_(names), per_cta_(recording.warps_per_cta) {}

  std::vector<TimelineRow> make() {
    for (std::uint32_t cta = 0; cta < recording_.ctas.size(); ++cta) {
      add_groups(cta);
      add_mbarriers(cta);
    }
    return std::move(rows_);
  }

 private:
  void add_groups(std::uint32_t cta);
  void add_warps(std::uint32_t cta, const WarpGroup& group);
  void add_work(std::uint32_t cta, const WarpGroup& group);
  void add_mbarriers(std::uint32_t cta);
  [[nodiscard]] std::vector<WarpGroup> groups_of(std::uint32_t cta) const;
  [[nodiscard]] std::vector<sim::AsyncRecord> work_of(const WarpGroup& group) const;
  [[nodiscard]] std::string work_name(const std::string& opcode, const WarpGroup& group) const;

  const sim::Recording& recording_;
  const TimelineNames& names_;
  std::uint32_t per_cta_;
  std::vector<TimelineRow> rows_;
};

std::vector<WarpGroup> RowMaker::groups_of(std::uint32_t cta) const {
  std::vector<WarpGroup> out;
  const std::uint32_t end = (cta + 1) * per_cta_;
  for (std::uint32_t first = cta * per_cta_; first < end;) {
    std::uint32_t last = first;
    while (last + 1 < end && names_.role(first) == names_.role(last + 1) &&
           do_the_same(recording_.warps[first], recording_.warps[last + 1]))
      ++last;
    out.push_back({first, last, names_.role(first)});
    first = last + 1;
  }
  return out;
}

// Without roles: all warps, then all work. With them: the warps and the work of each, in the order of
// their first warps; warps without a role come last.
void RowMaker::add_groups(std::uint32_t cta) {
  const std::vector<WarpGroup> groups = groups_of(cta);
  std::vector<std::optional<std::size_t>> order;
  for (const WarpGroup& group : groups)
    if (group.role && std::ranges::find(order, group.role) == order.end())
      order.push_back(group.role);
  order.emplace_back();
  for (const auto& role : order) {
    for (const WarpGroup& group : groups)
      if (group.role == role) add_warps(cta, group);
    for (const WarpGroup& group : groups)
      if (group.role == role) add_work(cta, group);
  }
}

void RowMaker::add_warps(std::uint32_t cta, const WarpGroup& group) {
  const std::uint32_t first = group.first % per_cta_;
  const std::uint32_t last = group.last % per_cta_;
  rows_.push_back({.kind = LaneKind::Warps,
                   .cta = cta,
                   .name = first == last ? fmt::format("warp {}", first)
                                         : fmt::format("warps {}-{}", first, last),
                   .first = group.first,
                   .last = group.last,
                   .role = group.role,
                   .spans = recording_.warps[group.first].spans});
}

std::string RowMaker::work_name(const std::string& opcode, const WarpGroup& group) const {
  const std::uint32_t first = group.first % per_cta_;
  const std::uint32_t last = group.last % per_cta_;
  if (opcode == "wgmma.mma_async") return fmt::format("{}, warpgroup {}", opcode, first / 4);
  return first == last ? fmt::format("{}, warp {}", opcode, first)
                       : fmt::format("{}, warps {}-{}", opcode, first, last);
}

// The work of some warps; what they did alike is one, with all their instructions and bytes.
std::vector<sim::AsyncRecord> RowMaker::work_of(const WarpGroup& group) const {
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint32_t, std::uint32_t,
                         std::uint64_t, bool>;
  std::map<Key, sim::AsyncRecord> merged;
  for (const sim::AsyncRecord& work : recording_.work) {
    if (work.kind == sim::AsyncKind::Commit || work.count == 0) continue;
    if (work.issued_by.warp < group.first || work.issued_by.warp > group.last) continue;
    const Key key{work.begin,        work.end,   work.read,
                  work.issued_by.op, work.group, work.mbarrier ? *work.mbarrier + 1ULL : 0,
                  work.is_open};
    const auto [found, is_new] = merged.try_emplace(key, work);
    if (is_new) continue;
    found->second.count += work.count;
    found->second.bytes += work.bytes;
  }
  std::vector<sim::AsyncRecord> out;
  for (auto& [key, work] : merged) out.push_back(work);
  return out;
}

// Work that overlaps stands in several rows, each with work that follows on each other.
void RowMaker::add_work(std::uint32_t cta, const WarpGroup& group) {
  std::map<std::string, std::vector<sim::AsyncRecord>> by_opcode;
  for (sim::AsyncRecord& work : work_of(group))
    by_opcode[names_.opcode(work.issued_by.op)].push_back(work);
  for (const auto& [opcode, all] : by_opcode) {
    const std::size_t first = rows_.size();
    for (const sim::AsyncRecord& work : all) {
      std::size_t row = first;
      while (row < rows_.size() && rows_[row].work.back().end > work.begin) ++row;
      row = std::min(row, first + kMaxWorkRows - 1);
      if (row == rows_.size())
        rows_.push_back({.kind = LaneKind::Work,
                         .cta = cta,
                         .name = row == first ? work_name(opcode, group) : "",
                         .first = group.first,
                         .last = group.last,
                         .role = group.role});
      rows_[row].work.push_back(work);
    }
  }
}

void RowMaker::add_mbarriers(std::uint32_t cta) {
  for (std::uint32_t i = 0; i < recording_.mbarriers.size(); ++i) {
    const sim::RecordedMbarrier& barrier = recording_.mbarriers[i];
    if (barrier.cta != cta) continue;
    TimelineRow row{
        .kind = LaneKind::Mbarrier, .cta = cta, .name = names_.mbarrier(i), .mbarrier = i};
    for (const sim::RecordedPhase& phase : barrier.phases)
      if (phase.begin < phase.end) row.phases.push_back(phase);
    if (!row.phases.empty()) rows_.push_back(std::move(row));
  }
}

std::size_t count_all(const std::vector<TimelineRow>& rows) {
  std::size_t sum = 0;
  for (const TimelineRow& row : rows) sum += row.size();
  return sum;
}

std::vector<TimelineRow> timeline_rows(const sim::Recording& recording,
                                       const TimelineNames& names) {
  return RowMaker(recording, names).make();
}

// Keeps what is between the two steps.
void cut_rows(std::vector<TimelineRow>& rows, std::uint64_t from, std::uint64_t to) {
  const auto is_out = [&](const auto& each) { return each.end <= from || each.begin >= to; };
  for (TimelineRow& row : rows) {
    std::erase_if(row.spans, is_out);
    std::erase_if(row.work, is_out);
    std::erase_if(row.phases, is_out);
  }
}

// Merges what is short until no more than so many are left. The grain; 0: nothing was merged.
std::uint64_t merge_rows(std::vector<TimelineRow>& rows, std::size_t most) {
  constexpr std::uint64_t kMaxGrain = std::uint64_t{1} << 40U;
  std::uint64_t grain = 0;
  while (count_all(rows) > most && grain < kMaxGrain) {
    grain = grain == 0 ? 2 : grain * 2;
    for (TimelineRow& row : rows) {
      sim::merge_spans(row.spans, grain, 0);
      sim::merge_phases(row.phases, grain, 0);
      sim::merge_work(row.work, grain);
    }
  }
  return grain;
}

// The phase of that number, unless it was merged with others; nullptr: there is none.
const sim::RecordedPhase* find_phase(const sim::RecordedMbarrier& barrier, std::uint64_t number) {
  const auto found =
      std::ranges::lower_bound(barrier.phases, number, {}, &sim::RecordedPhase::number);
  const bool is_it = found != barrier.phases.end() && found->number == number && found->merged == 0;
  return is_it ? &*found : nullptr;
}

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
  static constexpr std::string_view kTexts[] = {"runs",  "mbarrier", "barrier", "cluster barrier",
                                                "other", "work",     "phase"};
  return kTexts[std::to_underlying(kind)];
}

std::string_view name_of(LaneKind kind) {
  static constexpr std::string_view kTexts[] = {"warps", "work", "mbarrier"};
  return kTexts[std::to_underlying(kind)];
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
