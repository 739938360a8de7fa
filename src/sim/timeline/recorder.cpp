// SPDX-License-Identifier: Apache-2.0
#include "sim/timeline/recorder.h"

#include <algorithm>
#include <utility>

#include "sim/run/unit.h"
#include "sim/timeline/history_writer.h"

namespace ww::sim {
namespace {

// A sleeper that wakes, finds nothing new and sleeps again within so many steps has not stopped
// waiting.
constexpr std::uint64_t kMaxLook = 64;

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

}  // namespace

Recorder::Recorder(Unit& unit) : unit_(unit) {
  for (const auto& cta : unit.ctas) out_.ctas.push_back(cta->linear);
  out_.warps_per_cta = static_cast<std::uint32_t>(unit.ctas[0]->warps.size());
  out_.counts_rounds = unit.context.options->schedule.is_stepwise;
  out_.warps.resize(out_.ctas.size() * out_.warps_per_cta);
  notes_.resize(out_.warps.size());
  if (unit.context.options->record->keeps_states) history_ = std::make_unique<HistoryWriter>(unit);
}

Recorder::~Recorder() = default;

Recording Recorder::take() {
  if (history_ != nullptr) out_.history = history_->take();
  return std::move(out_);
}

void Recorder::op_done(Warp& warp, bool executes) {
  if (out_.is_cut) return;
  doer_ = {warp.current, warp.unit_warp()};
  std::uint64_t& path = out_.warps[doer_.warp].path;
  if (executes && !is_held(warp)) path = mix_path(path, warp.current);
  arrived_.clear();
  note_run(warp);
  note_jobs();
  note_own_work(warp);
  note_products(warp);
  if (unit_.activity != activity_ || mbarriers_ != by_address_.size()) note_mbarriers();
  note_state(warp);
  if (unit_.activity != activity_) {
    activity_ = unit_.activity;
    last_event_ = now_;
  }
  note_released(now_ + 1);
  if (history_ != nullptr) history_->op_done(warp, executes ? warp.exec : 0, now_);
  ran_ = true;
  if (!out_.counts_rounds) ++now_;
  bound();
}

void Recorder::note_copy(EngineCopy copy) {
  if (history_ != nullptr && !out_.is_cut) history_->note(std::move(copy));
}

void Recorder::note_product(const EngineProduct& product) {
  if (history_ != nullptr && !out_.is_cut) history_->note(product);
}

void Recorder::round_begins() {
  if (out_.is_cut) return;
  catch_up();
  note_released(now_);
}

void Recorder::round_done() {
  if (out_.counts_rounds && std::exchange(ran_, false)) ++now_;
}

void Recorder::catch_up() {
  doer_ = {};
  arrived_.clear();
  note_jobs();
  note_landed();
  if (unit_.activity != activity_) note_mbarriers();
  activity_ = unit_.activity;
}

void Recorder::end() {
  if (out_.is_cut) return;
  doer_ = {};
  round_done();
  catch_up();
  // Sleepers look again and again before a run counts as hung; nothing happens in that time.
  std::uint64_t steps = now_;
  if (unit_.outcome == Outcome::Deadlocked)
    steps = std::min(now_, last_event_ + std::max<std::uint64_t>(16, last_event_ / 8));
  clip(steps);
}

namespace {

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

}  // namespace

// Everything ends at that step; what goes on there is open.
void Recorder::clip(std::uint64_t steps) {
  out_.steps = steps;
  for (std::size_t w = 0; w < out_.warps.size(); ++w) {
    std::vector<WarpSpan>& spans = out_.warps[w].spans;
    if (notes_[w].waits && !spans.empty()) {
      spans.back().end = steps;
      spans.back().is_open = true;
    }
    std::erase_if(spans, [&](const WarpSpan& span) { return span.begin >= steps; });
    for (WarpSpan& span : spans) span.end = std::min(span.end, steps);
    std::erase_if(spans, [](const WarpSpan& span) { return span.begin == span.end; });
    join_runs(spans);
  }
  for (RecordedMbarrier& barrier : out_.mbarriers) {
    barrier.end = std::min(barrier.end, steps);
    for (RecordedPhase& phase : barrier.phases) phase.end = std::min(phase.end, steps);
  }
  for (const auto& [address, index] : by_address_) {
    out_.mbarriers[index].end = steps;
    out_.mbarriers[index].phases.back().end = steps;
  }
  for (const auto* live : {&jobs_, &copies_, &tensor_, &products_})
    for (const LiveWork& each : *live) out_.work[each.record].is_open = true;
  for (AsyncRecord& work : out_.work) {
    if (work.is_open) work.end = steps;
    work.end = std::min(work.end, steps);
  }
}

// --- warps ---------------------------------------------------------------------------------------

void Recorder::note_run(const Warp& warp) {
  RecordedWarp& record = out_.warps[doer_.warp];
  WarpNotes& notes = notes_[doer_.warp];
  if (notes.waits) record.spans.back().end = std::max(record.spans.back().begin, now_);
  notes.waits = false;
  // A wait that was let go in the step in which it began is dropped, unless this is only a look.
  if (!record.spans.empty() && record.spans.back().begin == record.spans.back().end &&
      !is_going_on(record.spans.back())) {
    record.spans.pop_back();
    --records_;
  }
  if (!record.spans.empty() && record.spans.back().state == WarpState::Runs &&
      record.spans.back().end >= now_) {
    record.spans.back().end = now_ + 1;
    return;
  }
  record.spans.push_back({.begin = now_, .end = now_ + 1, .op = warp.current});
  ++records_;
}

bool Recorder::is_going_on(const WarpSpan& wait) const {
  return wait.state == WarpState::AtMbarrier &&
         out_.mbarriers[wait.subject].phases.back().number == wait.phase;
}

void Recorder::note_state(Warp& warp) {
  const Split* const wait = wait_of(warp);
  if (wait == nullptr) return;
  WarpSpan span{.state = wait_state(*wait),
                .begin = now_ + 1,
                .end = now_ + 1,
                .op = wait->pc,
                .subject = wait->value & 15U};
  if (span.state == WarpState::AtMbarrier) {
    const auto found = by_address_.find(wait->address);
    if (found == by_address_.end()) return;
    span.subject = found->second;
    span.phase = out_.mbarriers[span.subject].phases.back().number;
  }
  open_wait(warp, span);
}

void Recorder::open_wait(Warp& warp, const WarpSpan& wait) {
  const unsigned w = warp.unit_warp();
  std::vector<WarpSpan>& spans = out_.warps[w].spans;
  notes_[w] = {.waits = true,
               .was_released = false,
               .copies = notes_[w].copies,
               .tensor = notes_[w].tensor,
               .tensor_group = notes_[w].tensor_group};
  if (spans.size() > 1) {
    const WarpSpan& look = spans.back();
    WarpSpan& before = spans[spans.size() - 2];
    const bool is_same = before.state == wait.state && before.op == wait.op &&
                         before.subject == wait.subject && before.phase == wait.phase;
    if (is_same && wait.state == WarpState::AtMbarrier && look.state == WarpState::Runs &&
        look.end - look.begin <= kMaxLook) {
      spans.pop_back();
      --records_;
      return;
    }
  }
  spans.push_back(wait);
  ++records_;
}

// Waits end when a lane of the warp can run again.
void Recorder::note_released(std::uint64_t end) {
  for (Warp* warp : unit_.warps) {
    WarpNotes& notes = notes_[warp->unit_warp()];
    if (!notes.waits || notes.was_released || wait_of(*warp) != nullptr) continue;
    notes.was_released = true;
    notes.waits = false;
    WarpSpan& span = out_.warps[warp->unit_warp()].spans.back();
    span.end = std::max(span.begin, end);
    span.released_by = doer_;
  }
}

// --- mbarriers -----------------------------------------------------------------------------------

void Recorder::note_mbarriers() {
  std::size_t alive = 0;
  for (const auto& cta : unit_.ctas) {
    std::vector<std::uint32_t> offsets;  // in order, so that new ones are numbered alike each time
    for (const auto& [offset, barrier] : cta->mbarriers) offsets.push_back(offset);
    std::ranges::sort(offsets);
    alive += offsets.size();
    for (const std::uint32_t offset : offsets)
      note_mbarrier(*cta, offset, cta->mbarriers.find(offset)->second);
  }
  mbarriers_ = alive;
  if (alive == by_address_.size()) return;
  std::erase_if(by_address_, [&](const auto& entry) {
    if (find_mbarrier(unit_, entry.first) != nullptr) return false;
    out_.mbarriers[entry.second].end = out_.mbarriers[entry.second].phases.back().end = now_ + 1;
    return true;
  });
}

void Recorder::note_mbarrier(const Cta& cta, std::uint32_t offset, const Mbarrier& barrier) {
  const std::uint64_t address = cta.shared.base + offset;
  const auto [found, is_new] =
      by_address_.try_emplace(address, static_cast<std::uint32_t>(out_.mbarriers.size()));
  if (is_new) {
    out_.mbarriers.push_back(
        {.cta = cta.rank, .offset = offset, .op = barrier.op, .end = 0, .phases = {}});
    out_.mbarriers.back().phases.push_back(
        {.number = 0, .begin = now_, .end = now_, .points = {{now_, barrier.expected, 0}}});
    ++records_;
  }
  RecordedMbarrier& record = out_.mbarriers[found->second];
  if (record.phases.back().number != barrier.phase) {
    RecordedPhase& over = record.phases.back();
    over.end = now_ + 1;
    over.is_over = true;
    const auto work = arrived_.find(address);
    over.is_by_work = work != arrived_.end();
    over.completed_by = over.is_by_work ? work->second : doer_;
    record.phases.push_back({.number = barrier.phase,
                             .begin = now_ + 1,
                             .end = now_ + 1,
                             .points = {{now_ + 1, barrier.pending, barrier.tx}}});
    ++records_;
  }
  RecordedPhase& phase = record.phases.back();
  phase.bytes = std::max(phase.bytes, barrier.tx);
  PhasePoint& last = phase.points.back();
  if (last.arrivals == barrier.pending && last.bytes == barrier.tx) return;
  if (last.step >= now_ + 1) {
    last.arrivals = barrier.pending;
    last.bytes = barrier.tx;
    return;
  }
  phase.points.push_back({now_ + 1, barrier.pending, barrier.tx});
  ++records_;
}

std::uint32_t Recorder::mbarrier_index(std::uint64_t address) {
  if (!by_address_.contains(address)) note_mbarriers();
  const auto found = by_address_.find(address);
  return found == by_address_.end() ? ~std::uint32_t{0} : found->second;
}

}  // namespace ww::sim
