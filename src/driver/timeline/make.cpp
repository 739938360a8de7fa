// SPDX-License-Identifier: Apache-2.0
// From a recording to lanes of spans: warps that did the same share a lane, work that overlaps gets
// lanes of its own, mbarriers get names.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "driver/sim/options.h"
#include "driver/sim/report.h"
#include "driver/timeline/timeline.h"

namespace ww::driver {
namespace {

constexpr std::size_t kMaxArrows = 120;
constexpr std::size_t kMaxWorkRows = 8;  // for the work of one warp, side by side

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

std::string subject_of(const sim::WarpSpan& span) {
  switch (span.state) {
    case sim::WarpState::AtBarrier:
      return fmt::format("barrier {}", span.subject);
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
    case sim::WarpState::AtMbarrier:
      return "";
  }
  return "";
}

// Warps of one CTA that did the same in the same steps.
struct WarpGroup {
  std::uint32_t first = 0, last = 0;  // of the cluster
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
                  x.subject == y.subject && x.phase == y.phase;
         });
}

class Maker {
 public:
  Maker(const sim::Recording& recording, const TimelineSource& source, Timeline& out)
      : recording_(recording), source_(source), out_(out) {}

  void go() {
    for (std::uint32_t cta = 0; cta < recording_.ctas.size(); ++cta) {
      add_warps(cta);
      add_work(cta);
      add_mbarriers(cta);
    }
    add_arrows();
  }

 private:
  void add_warps(std::uint32_t cta);
  void add_work(std::uint32_t cta);
  void add_mbarriers(std::uint32_t cta);
  void add_arrows();

  [[nodiscard]] TimelineLane lane(LaneKind kind, std::uint32_t cta, std::string name,
                                  WarpGroup group) const;
  [[nodiscard]] TimelineSpan warp_span(const sim::WarpSpan& span, std::uint32_t warp) const;
  [[nodiscard]] TimelineSpan work_span(const sim::AsyncRecord& work) const;
  [[nodiscard]] TimelineSpan phase_span(const sim::RecordedMbarrier& barrier,
                                        const sim::RecordedPhase& phase) const;
  [[nodiscard]] std::vector<sim::AsyncRecord> work_of(WarpGroup group) const;
  [[nodiscard]] std::string work_text(const sim::AsyncRecord& work) const;
  [[nodiscard]] std::string work_lane_name(const std::string& opcode, WarpGroup group) const;
  [[nodiscard]] std::string opcode_of(std::uint32_t op) const;
  [[nodiscard]] std::string mbarrier_name(std::uint32_t index) const;
  [[nodiscard]] std::string warp_name(std::uint32_t warp) const;
  [[nodiscard]] std::optional<TimelineParty> party(const sim::Doer& doer) const;
  [[nodiscard]] std::size_t lane_of(std::uint32_t warp) const;

  const sim::Recording& recording_;
  const TimelineSource& source_;
  Timeline& out_;
  std::vector<WarpGroup> groups_;
};

// --- names ---------------------------------------------------------------------------------------

std::string index_text(const std::string& name, std::uint64_t at, std::uint64_t bytes,
                       std::uint32_t element) {
  constexpr std::uint64_t kObject = 8;
  constexpr std::uint64_t kMaxBarriers = 64;  // a larger array of bytes is no array of mbarriers
  if (bytes == kObject) return name;
  const bool is_array = element == kObject || (bytes != 0 && bytes <= kMaxBarriers * kObject);
  if (is_array && at % kObject == 0) return fmt::format("{}[{}]", name, at / kObject);
  return at == 0 ? name : fmt::format("{}+0x{:x}", name, at);
}

std::string Maker::mbarrier_name(std::uint32_t index) const {
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

std::string Maker::warp_name(std::uint32_t warp) const {
  const std::uint32_t cta = warp / recording_.warps_per_cta;
  const std::string name = fmt::format("warp {}", warp % recording_.warps_per_cta);
  if (recording_.ctas.size() == 1) return name;
  return fmt::format("{} of block {}", name, block_text(source_.grid, recording_.ctas[cta]));
}

std::optional<TimelineParty> Maker::party(const sim::Doer& doer) const {
  if (doer.op == sim::kNoOp || doer.op >= source_.program->infos.size()) return std::nullopt;
  TimelineParty out{.who = warp_name(doer.warp), .line = source_.program->infos[doer.op].line};
  out.instruction = source_.program->line(out.line);
  std::ranges::replace(out.instruction, '\t', ' ');
  if (const auto at = source_of(*source_.program, doer.op)) {
    const std::size_t slash = at->file.rfind('/');
    out.source = fmt::format("{}:{}", at->file.substr(slash + 1), at->line);
  }
  return out;
}

// The first parts of an opcode, enough to know it by.
std::string Maker::opcode_of(std::uint32_t op) const {
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

TimelineLane Maker::lane(LaneKind kind, std::uint32_t cta, std::string name,
                         WarpGroup group) const {
  return {.kind = kind,
          .block = block_text(source_.grid, recording_.ctas[cta]),
          .name = std::move(name),
          .first_warp = group.first,
          .last_warp = group.last,
          .spans = {}};
}

// --- warps ---------------------------------------------------------------------------------------

TimelineSpan Maker::warp_span(const sim::WarpSpan& span, std::uint32_t warp) const {
  TimelineSpan out{.kind = kind_of(span.state),
                   .begin = span.begin,
                   .end = span.end,
                   .is_open = span.is_open,
                   .what = subject_of(span)};
  out.at = party({span.op, warp});
  if (span.state == sim::WarpState::Runs) return out;
  if (span.state != sim::WarpState::AtMbarrier) {
    if (!span.is_open) out.by = party(span.released_by);
    return out;
  }
  out.what = mbarrier_name(span.subject);
  out.phase = span.phase;
  const auto& phases = recording_.mbarriers[span.subject].phases;
  const auto phase = std::ranges::find(phases, span.phase, &sim::RecordedPhase::number);
  if (phase != phases.end() && phase->is_over) {
    out.by = party(phase->completed_by);
    out.is_by_work = phase->is_by_work;
  }
  return out;
}

void Maker::add_warps(std::uint32_t cta) {
  const std::uint32_t per_cta = recording_.warps_per_cta;
  const std::uint32_t end = (cta + 1) * per_cta;
  for (std::uint32_t first = cta * per_cta; first < end;) {
    std::uint32_t last = first;
    while (last + 1 < end && do_the_same(recording_.warps[first], recording_.warps[last + 1]))
      ++last;
    const std::uint32_t local = first % per_cta;
    groups_.push_back({first, last});
    TimelineLane row = lane(LaneKind::Warps, cta,
                            first == last ? fmt::format("warp {}", local)
                                          : fmt::format("warps {}-{}", local, last % per_cta),
                            groups_.back());
    for (const sim::WarpSpan& span : recording_.warps[first].spans)
      row.spans.push_back(warp_span(span, first));
    out_.lanes.push_back(std::move(row));
    first = last + 1;
  }
}

// --- asynchronous work ---------------------------------------------------------------------------

std::string Maker::work_text(const sim::AsyncRecord& work) const {
  if (work.mbarrier) return fmt::format("for {}", mbarrier_name(*work.mbarrier));
  if (work.kind == sim::AsyncKind::TensorWork || work.kind == sim::AsyncKind::Signalled) return "";
  return fmt::format("group {}", work.group);
}

std::string Maker::work_lane_name(const std::string& opcode, WarpGroup group) const {
  const std::uint32_t first = group.first % recording_.warps_per_cta;
  const std::uint32_t last = group.last % recording_.warps_per_cta;
  if (opcode == "wgmma.mma_async") return fmt::format("{}, warpgroup {}", opcode, first / 4);
  return first == last ? fmt::format("{}, warp {}", opcode, first)
                       : fmt::format("{}, warps {}-{}", opcode, first, last);
}

TimelineSpan Maker::work_span(const sim::AsyncRecord& work) const {
  TimelineSpan out{.kind = SpanKind::Work,
                   .begin = work.begin,
                   .end = work.end,
                   .is_open = work.is_open,
                   .what = work_text(work)};
  if (work.mbarrier) out.phase = work.phase;
  out.at = party(work.issued_by);
  if (!work.is_open) out.by = party(work.seen_by);
  out.count = work.count;
  out.bytes = static_cast<std::int64_t>(work.bytes);
  out.read = work.read;
  return out;
}

// The work of some warps; what they did alike is one, with all their instructions and bytes.
std::vector<sim::AsyncRecord> Maker::work_of(WarpGroup group) const {
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
void Maker::add_work(std::uint32_t cta) {
  const std::uint32_t per_cta = recording_.warps_per_cta;
  for (const WarpGroup group : groups_) {
    if (group.first / per_cta != cta) continue;
    std::map<std::string, std::vector<sim::AsyncRecord>> by_opcode;
    for (sim::AsyncRecord& work : work_of(group))
      by_opcode[opcode_of(work.issued_by.op)].push_back(work);
    for (const auto& [opcode, all] : by_opcode) {
      const std::size_t first = out_.lanes.size();
      const std::string name = work_lane_name(opcode, group);
      for (const sim::AsyncRecord& work : all) {
        std::size_t row = first;
        while (row < out_.lanes.size() && out_.lanes[row].spans.back().end > work.begin) ++row;
        row = std::min(row, first + kMaxWorkRows - 1);
        if (row == out_.lanes.size())
          out_.lanes.push_back(lane(LaneKind::Work, cta, row == first ? name : "", group));
        out_.lanes[row].spans.push_back(work_span(work));
      }
    }
  }
}

// --- mbarriers -----------------------------------------------------------------------------------

TimelineSpan Maker::phase_span(const sim::RecordedMbarrier& barrier,
                               const sim::RecordedPhase& phase) const {
  TimelineSpan out{.kind = SpanKind::Phase, .begin = phase.begin, .end = phase.end};
  out.is_open = !phase.is_over && barrier.end == recording_.steps;
  out.phase = phase.number;
  out.bytes = phase.bytes;
  out.points = phase.points;
  if (phase.is_over) {
    out.by = party(phase.completed_by);
    out.is_by_work = phase.is_by_work;
  }
  return out;
}

void Maker::add_mbarriers(std::uint32_t cta) {
  for (std::uint32_t i = 0; i < recording_.mbarriers.size(); ++i) {
    const sim::RecordedMbarrier& barrier = recording_.mbarriers[i];
    if (barrier.cta != cta) continue;
    TimelineLane row = lane(LaneKind::Mbarrier, cta, mbarrier_name(i), {});
    for (const sim::RecordedPhase& phase : barrier.phases)
      if (phase.begin < phase.end) row.spans.push_back(phase_span(barrier, phase));
    if (!row.spans.empty()) out_.lanes.push_back(std::move(row));
  }
}

// --- arrows --------------------------------------------------------------------------------------

std::size_t Maker::lane_of(std::uint32_t warp) const {
  for (std::size_t i = 0; i < out_.lanes.size(); ++i) {
    const TimelineLane& each = out_.lanes[i];
    if (each.kind == LaneKind::Warps && each.first_warp <= warp && warp <= each.last_warp) return i;
  }
  return 0;
}

// Arrows from the warp that completed a phase to the warps that waited. Too many would hide the rest.
void Maker::add_arrows() {
  for (std::size_t i = 0; i < out_.lanes.size(); ++i) {
    if (out_.lanes[i].kind != LaneKind::Warps) continue;
    for (const sim::WarpSpan& span : recording_.warps[out_.lanes[i].first_warp].spans) {
      if (span.state != sim::WarpState::AtMbarrier || span.is_open) continue;
      const auto& phases = recording_.mbarriers[span.subject].phases;
      const auto phase = std::ranges::find(phases, span.phase, &sim::RecordedPhase::number);
      if (phase == phases.end() || !phase->is_over || phase->is_by_work) continue;
      const std::size_t from = lane_of(phase->completed_by.warp);
      if (phase->completed_by.op != sim::kNoOp && from != i)
        out_.arrows.push_back({from, i, phase->end});
    }
  }
}

// --- bounds --------------------------------------------------------------------------------------

std::size_t spans_before(const Timeline& timeline, std::uint64_t from, std::uint64_t to) {
  std::size_t count = 0;
  for (const TimelineLane& lane : timeline.lanes)
    for (const TimelineSpan& span : lane.spans)
      if (span.begin < to && span.end > from) ++count;
  return count;
}

// The most steps from `from` on that have no more spans than are shown.
std::uint64_t last_shown(const Timeline& timeline, std::uint64_t from, std::uint64_t to) {
  if (spans_before(timeline, from, to) <= kMaxTimelineSpans) return to;
  std::uint64_t low = from + 1;
  std::uint64_t high = to;
  while (low < high) {
    const std::uint64_t middle = low + (high - low + 1) / 2;
    if (spans_before(timeline, from, middle) <= kMaxTimelineSpans) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

// Lanes of work that is not shown.
void drop_empty_work(Timeline& timeline) {
  std::vector<std::size_t> place;  // of each lane
  std::vector<TimelineLane> left;
  std::string name;  // of a lane that is dropped, for the one beside it
  for (TimelineLane& lane : timeline.lanes) {
    place.push_back(left.size());
    if (!lane.name.empty()) name.clear();
    if (lane.kind == LaneKind::Work && lane.spans.empty()) {
      if (!lane.name.empty()) name = lane.name;
      continue;
    }
    if (lane.name.empty()) lane.name = std::exchange(name, "");
    left.push_back(std::move(lane));
  }
  timeline.lanes = std::move(left);
  for (TimelineArrow& arrow : timeline.arrows)
    arrow = {place[arrow.from_lane], place[arrow.to_lane], arrow.step};
}

// Keeps what is between `from` and `to`.
void cut_to_range(Timeline& timeline) {
  for (TimelineLane& lane : timeline.lanes)
    std::erase_if(lane.spans, [&](const TimelineSpan& span) {
      return span.end <= timeline.from || span.begin >= timeline.to;
    });
  drop_empty_work(timeline);
  std::erase_if(timeline.arrows, [&](const TimelineArrow& arrow) {
    return arrow.step <= timeline.from || arrow.step > timeline.to;
  });
  if (timeline.arrows.size() <= kMaxArrows) return;
  timeline.notes.push_back(fmt::format(
      "{} arrows are left out: hover over a wait to see who ended it", timeline.arrows.size()));
  timeline.arrows.clear();
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
                       const std::optional<StepRange>& range) {
  Timeline out{.file = source.file, .kernel = source.kernel->name, .outcome = source.outcome};
  out.steps = recording.steps;
  out.counts_rounds = recording.counts_rounds;
  Maker(recording, source, out).go();
  out.from = range ? std::min(range->first, out.steps) : 0;
  const std::uint64_t wanted = range ? std::min(range->last, out.steps) : out.steps;
  out.to = last_shown(out, out.from, wanted);
  if (recording.is_cut)
    out.notes.push_back(
        fmt::format("the recording ends at step {}: no more than that is kept", recording.steps));
  if (out.to < wanted)
    out.notes.push_back(fmt::format(
        "steps {} to {} of {}: a timeline shows {} spans; `--timeline-steps A:B` shows others",
        out.from, out.to, out.steps, kMaxTimelineSpans));
  cut_to_range(out);
  return out;
}

}  // namespace ww::driver
