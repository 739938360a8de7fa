// SPDX-License-Identifier: Apache-2.0
#include "sim/timeline/recorder.h"

#include <algorithm>
#include <utility>

#include "sim/run/unit.h"
#include "sim/timeline/detail.h"
#include "sim/timeline/history_writer.h"

namespace ww::sim {
namespace {

// A sleeper that wakes, finds nothing new and sleeps again within so many steps has not stopped
// waiting.
constexpr std::uint64_t kMaxLook = 64;
// Spans of a warp that may still change: a wait that was left for a look, the look, the next wait.
constexpr std::size_t kLiveSpans = 4;
// A phase that is not over, and the one before, for which waits are still to be let go.
constexpr std::size_t kLivePhases = 2;

std::uint64_t mix_path(std::uint64_t digest, std::uint64_t value) {
  return (digest ^ value) * 0x100'0000'01B3ULL;
}

// Whether lanes are still at the op that was executed: they wait there, or will execute it again.
bool is_held(const Warp& warp) {
  const Splits& splits = warp.splits;
  for (std::size_t i = 0; i < splits.list.size(); ++i) {
    const Split& split = splits.list[i];
    if (splits.is_loaded && i == splits.running) continue;
    if (split.pc == warp.current && (split.state != SplitState::Running || split.is_granted))
      return true;
  }
  return false;
}

// Runs that follow on each other are one.
void join_runs(std::vector<WarpSpan>& spans) {
  std::vector<WarpSpan> out;
  for (const WarpSpan& span : spans) {
    const bool goes_on = !out.empty() && out.back().state == WarpState::Runs &&
                         span.state == WarpState::Runs && out.back().end == span.begin &&
                         out.back().merged == 0 && span.merged == 0;
    if (goes_on) {
      out.back().end = span.end;
    } else {
      out.push_back(span);
    }
  }
  spans = std::move(out);
}

// Leaves out what is after that step.
void cut_at(Recording& out, std::uint64_t steps) {
  out.steps = steps;
  for (RecordedWarp& warp : out.warps) {
    for (WarpSpan& span : warp.spans) span.end = std::min(span.end, steps);
    std::erase_if(warp.spans, [](const WarpSpan& span) { return span.begin >= span.end; });
    join_runs(warp.spans);
  }
  for (RecordedMbarrier& barrier : out.mbarriers) {
    barrier.end = std::min(barrier.end, steps);
    for (RecordedPhase& phase : barrier.phases) phase.end = std::min(phase.end, steps);
  }
  for (AsyncRecord& work : out.work) work.end = work.is_open ? steps : std::min(work.end, steps);
}

std::size_t count_records(const Recording& out) {
  std::size_t count = out.work.size();
  for (const RecordedWarp& warp : out.warps) count += warp.spans.size();
  for (const RecordedMbarrier& barrier : out.mbarriers)
    for (const RecordedPhase& phase : barrier.phases) count += 1 + phase.points.size();
  return count;
}

Recording empty_recording(const Unit& unit) {
  Recording out;
  for (const auto& cta : unit.ctas) out.ctas.push_back(cta->linear);
  out.warps_per_cta = static_cast<std::uint32_t>(unit.ctas[0]->warps.size());
  out.counts_rounds = unit.context.options->schedule.is(Turns::Stepwise);
  out.warps.resize(out.ctas.size() * out.warps_per_cta);
  return out;
}

}  // namespace

Recorder::Recorder(Unit& unit)
    : context_{.unit = unit, .out = empty_recording(unit)},
      mbarriers_(context_),
      work_(context_, mbarriers_),
      waits_(context_.out.warps.size()) {
  if (unit.context.options->record->keeps_states) history_ = std::make_unique<HistoryWriter>(unit);
}

Recorder::~Recorder() = default;

Recording Recorder::take() {
  if (history_ != nullptr) context_.out.history = history_->take();
  return std::move(context_.out);
}

void Recorder::op_done(Warp& warp, bool executes) {
  if (is_full()) return;
  const unsigned w = warp.unit_warp();
  context_.doer = {warp.current, w};
  std::uint64_t& path = context_.out.warps[w].path;
  if (executes && !is_held(warp)) path = mix_path(path, warp.current);
  mbarriers_.forget_arrivals();
  note_run(warp);
  work_.op_done(warp);
  if (context_.unit.activity != activity_) mbarriers_.update();
  note_state(warp);
  if (context_.unit.activity != activity_) {
    activity_ = context_.unit.activity;
    last_event_ = context_.now;
  }
  note_released(context_.now + 1);
  if (history_ != nullptr) history_->op_done(warp, executes ? warp.exec : 0, context_.now);
  ran_ = true;
  if (!context_.out.counts_rounds) ++context_.now;
  bound();
}

void Recorder::note_copy(EngineCopy copy) {
  if (history_ != nullptr && !is_full()) history_->note(std::move(copy));
}

void Recorder::note_product(const EngineProduct& product) {
  if (history_ != nullptr && !is_full()) history_->note(product);
}

void Recorder::round_begins() {
  if (is_full()) return;
  catch_up();
  note_released(context_.now);
}

void Recorder::round_done() {
  if (context_.out.counts_rounds && std::exchange(ran_, false)) ++context_.now;
}

void Recorder::catch_up() {
  context_.doer = {};
  mbarriers_.forget_arrivals();
  work_.catch_up();
  if (context_.unit.activity != activity_) mbarriers_.update();
  activity_ = context_.unit.activity;
}

void Recorder::end() {
  if (is_full()) return;
  round_done();
  catch_up();
  // Sleepers look again and again before a run counts as hung; nothing happens in that time.
  std::uint64_t steps = context_.now;
  if (context_.unit.outcome == Outcome::Deadlocked)
    steps = std::min(steps, last_event_ + std::max<std::uint64_t>(16, last_event_ / 8));
  clip(steps);
}

// --- the size of the recording -------------------------------------------------------------------

// When there are too many records, the grain doubles until half of them would do. What is still under
// way is left as it is.
void Recorder::bound() {
  if (context_.records <= kMaxRecords) return;
  while (context_.records > kMaxRecords / 2 && context_.out.grain <= context_.now) coarsen();
  if (context_.records <= kMaxRecords) return;
  context_.out.is_cut = true;
  clip(context_.now);
}

void Recorder::coarsen() {
  constexpr std::uint64_t kFirstGrain = 16;
  Recording& out = context_.out;
  out.grain = out.grain == 0 ? kFirstGrain : out.grain * 2;
  for (RecordedWarp& warp : out.warps) merge_spans(warp.spans, out.grain, kLiveSpans, &warp.merged);
  for (RecordedMbarrier& barrier : out.mbarriers)
    merge_phases(barrier.phases, out.grain, kLivePhases);
  work_.merge_ended();
  context_.records = count_records(out);
}

// Everything ends at that step; what goes on there is open.
void Recorder::clip(std::uint64_t steps) {
  for (std::size_t w = 0; w < waits_.size(); ++w) {
    std::vector<WarpSpan>& spans = context_.out.warps[w].spans;
    if (!waits_[w] || spans.empty()) continue;
    spans.back().end = steps;
    spans.back().is_open = true;
  }
  mbarriers_.end(steps);
  work_.end();
  cut_at(context_.out, steps);
}

// --- warps ---------------------------------------------------------------------------------------

void Recorder::note_run(const Warp& warp) {
  const unsigned w = warp.unit_warp();
  const std::uint64_t now = context_.now;
  std::vector<WarpSpan>& spans = context_.out.warps[w].spans;
  if (waits_[w]) spans.back().end = std::max(spans.back().begin, now);
  waits_[w] = false;
  // A wait that was let go in the step in which it began is dropped, unless this is only a look.
  if (!spans.empty() && spans.back().begin == spans.back().end && !is_going_on(spans.back())) {
    spans.pop_back();
    --context_.records;
  }
  if (!spans.empty() && spans.back().state == WarpState::Runs && spans.back().end >= now) {
    spans.back().end = now + 1;
    return;
  }
  spans.push_back({.begin = now, .end = now + 1, .op = warp.current});
  ++context_.records;
}

bool Recorder::is_going_on(const WarpSpan& wait) const {
  return wait.state == WarpState::AtMbarrier && mbarriers_.phase(wait.subject) == wait.phase;
}

void Recorder::note_state(const Warp& warp) {
  const Split* const wait = wait_of(warp);
  if (wait == nullptr) return;
  WarpSpan span{.state = wait_state(*wait),
                .begin = context_.now + 1,
                .end = context_.now + 1,
                .op = wait->pc,
                .subject = wait->value & 15U};
  if (span.state == WarpState::AtMbarrier) {
    const std::optional<std::uint32_t> found = mbarriers_.find(wait->address);
    if (!found) return;
    span.subject = *found;
    span.phase = mbarriers_.phase(*found);
  }
  open_wait(warp.unit_warp(), span);
}

void Recorder::open_wait(unsigned warp, const WarpSpan& wait) {
  std::vector<WarpSpan>& spans = context_.out.warps[warp].spans;
  waits_[warp] = true;
  if (spans.size() > 1) {
    const WarpSpan& look = spans.back();
    WarpSpan& before = spans[spans.size() - 2];
    const bool is_same = before.state == wait.state && before.op == wait.op &&
                         before.subject == wait.subject && before.phase == wait.phase;
    if (is_same && wait.state == WarpState::AtMbarrier && look.state == WarpState::Runs &&
        look.end - look.begin <= kMaxLook) {
      spans.pop_back();
      --context_.records;
      return;
    }
  }
  spans.push_back(wait);
  ++context_.records;
}

// Waits end when a lane of the warp can run again.
void Recorder::note_released(std::uint64_t end) {
  for (const Warp* warp : context_.unit.warps) {
    const unsigned w = warp->unit_warp();
    if (!waits_[w] || wait_of(*warp) != nullptr) continue;
    waits_[w] = false;
    WarpSpan& span = context_.out.warps[w].spans.back();
    span.end = std::max(span.begin, end);
    span.released_by = context_.doer;
  }
}

}  // namespace ww::sim
