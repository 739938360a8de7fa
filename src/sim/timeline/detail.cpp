// SPDX-License-Identifier: Apache-2.0
#include "sim/timeline/detail.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace ww::sim {
namespace {

std::uint64_t run_steps(const WarpSpan& span) {
  if (span.merged != 0) return span.runs;
  return span.state == WarpState::Runs ? span.end - span.begin : 0;
}

// What took longest in some spans; a merged one counts with its steps of waiting and of running.
WarpSpan merged_span(std::span<const WarpSpan> spans) {
  WarpSpan out{.begin = spans.front().begin, .end = spans.back().end};
  std::vector<StateSteps> sums;
  std::vector<const WarpSpan*> firsts;  // of each sum
  const auto add = [&](const WarpSpan& span, const StateSteps& more) {
    if (more.steps == 0) return;
    add_steps(sums, more);
    if (sums.size() > firsts.size()) firsts.push_back(&span);
  };
  for (const WarpSpan& span : spans) {
    const std::uint64_t runs = run_steps(span);
    out.runs += runs;
    out.merged += std::max(1U, span.merged);
    add(span, {WarpState::Runs, 0, runs});
    if (span.state != WarpState::Runs)
      add(span, {span.state, span.subject, span.end - span.begin - runs});
  }
  const auto longest = std::ranges::max_element(sums, {}, &StateSteps::steps);
  if (longest == sums.end() || longest->state == WarpState::Runs) return out;
  const WarpSpan& first = *firsts[static_cast<std::size_t>(longest - sums.begin())];
  out.state = first.state;
  out.op = first.op;
  out.subject = first.subject;
  out.phase = first.phase;
  return out;
}

RecordedPhase merged_phase(std::span<const RecordedPhase> phases) {
  RecordedPhase out{.number = phases.front().number,
                    .begin = phases.front().begin,
                    .end = phases.back().end,
                    .is_over = phases.back().is_over};
  for (const RecordedPhase& phase : phases) {
    out.bytes = std::max(out.bytes, phase.bytes);
    out.merged += std::max(1U, phase.merged);
  }
  return out;
}

void add_work(AsyncRecord& into, const AsyncRecord& more) {
  into.merged = std::max(1U, into.merged) + std::max(1U, more.merged);
  into.end = std::max(into.end, more.end);
  into.count += more.count;
  into.bytes += more.bytes;
  into.read = 0;
  into.seen_by = {};
  if (into.mbarrier != more.mbarrier) into.mbarrier.reset();
}

AsyncRecord merged_work(std::span<const AsyncRecord> work) {
  AsyncRecord out = work.front();
  for (const AsyncRecord& each : work.subspan(1)) add_work(out, each);
  return out;
}

// What goes on at the end is never hidden among others.
bool goes_on(const WarpSpan& span) { return span.is_open; }
bool goes_on(const RecordedPhase& phase) { return !phase.is_over; }
bool goes_on(const AsyncRecord& work) { return work.is_open; }

// Puts `merged` of each group of neighbours that are short, and together not much longer than a
// grain, in its place.
template <typename Record, typename Merged>
void merge_row(std::vector<Record>& row, std::uint64_t grain, std::size_t keep,
               const Merged& merged) {
  const std::size_t count = row.size() - std::min(keep, row.size());
  const auto is_short = [&](const Record& r) { return r.end - r.begin < grain && !goes_on(r); };
  std::size_t to = 0;
  for (std::size_t i = 0; i < count;) {
    std::size_t end = i + 1;
    if (is_short(row[i]))
      while (end < count && is_short(row[end]) && row[end].end - row[i].begin <= grain) ++end;
    Record one = end == i + 1 ? std::move(row[i]) : merged(std::span(row).subspan(i, end - i));
    row[to++] = std::move(one);
    i = end;
  }
  if (to == count) return;
  const auto first = row.begin() + static_cast<std::ptrdiff_t>(to);
  row.erase(first, row.begin() + static_cast<std::ptrdiff_t>(count));
}

}  // namespace

void add_steps(std::vector<StateSteps>& sums, const StateSteps& more) {
  const auto same = std::ranges::find_if(sums, [&](const StateSteps& each) {
    return each.state == more.state && each.subject == more.subject;
  });
  if (same == sums.end())
    sums.push_back(more);
  else
    same->steps += more.steps;
}

void merge_spans(std::vector<WarpSpan>& spans, std::uint64_t grain, std::size_t keep,
                 std::vector<StateSteps>* sums) {
  merge_row(spans, grain, keep, [&](std::span<const WarpSpan> group) {
    for (const WarpSpan& span : group)
      if (sums != nullptr && span.merged == 0)
        add_steps(*sums, {span.state, span.subject, span.end - span.begin});
    return merged_span(group);
  });
}

void merge_phases(std::vector<RecordedPhase>& phases, std::uint64_t grain, std::size_t keep) {
  merge_row(phases, grain, keep, merged_phase);
}

void merge_work(std::vector<AsyncRecord>& row, std::uint64_t grain) {
  merge_row(row, grain, 0, merged_work);
}

std::vector<std::uint32_t> merge_all_work(std::vector<AsyncRecord>& work, std::uint64_t grain,
                                          const std::vector<bool>& is_live) {
  using Key = std::tuple<AsyncKind, std::uint32_t, std::uint32_t>;
  std::map<Key, std::uint32_t> last;  // that may grow
  std::vector<std::uint32_t> place(work.size());
  std::uint32_t to = 0;
  for (std::size_t i = 0; i < work.size(); ++i) {
    const AsyncRecord one = work[i];
    const bool stays = is_live[i] || goes_on(one) || one.end - one.begin >= grain;
    const Key key{one.kind, one.issued_by.warp, one.issued_by.op};
    const auto found = last.find(key);
    if (!stays && found != last.end() && one.begin < work[found->second].begin + grain) {
      add_work(work[found->second], one);
      place[i] = found->second;
      continue;
    }
    if (!stays) last[key] = to;
    place[i] = to;
    work[to++] = one;
  }
  work.resize(to);
  return place;
}

}  // namespace ww::sim
