// SPDX-License-Identifier: Apache-2.0
#include "eval/cta/schedule.h"

#include <algorithm>

#include "eval/cta/limits.h"
#include "eval/cta/statements.h"
#include "eval/expr/expressions.h"
#include "eval/sync/barriers.h"

namespace ww::eval {
namespace {

constexpr std::uint32_t kFar = ~std::uint32_t{0};

std::uint64_t next_random(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

// Of a thread that can run; there is one.
std::uint32_t random_pc(Cta& cta) {
  std::vector<std::uint32_t> pcs;
  for (std::size_t t = 0; t < cta.thread_count(); ++t)
    if (cta.status[t] == Status::Ready && cta.parked[t] == 0 &&
        std::find(pcs.begin(), pcs.end(), cta.pc[t]) == pcs.end())
      pcs.push_back(cta.pc[t]);
  return pcs[next_random(cta.run.random) % pcs.size()];
}

// The threads of the next turn, and the first step beyond at which others stand. False: none can
// run.
bool pick_group(Cta& cta, std::vector<Thread>& group, std::uint32_t& limit) {
  std::uint32_t pc = kFar;
  const auto lowest = [&] {
    for (std::size_t t = 0; t < cta.thread_count(); ++t)
      if (cta.status[t] == Status::Ready && cta.parked[t] == 0) pc = std::min(pc, cta.pc[t]);
  };
  lowest();
  if (pc == kFar) {  // all have let the others pass
    std::fill(cta.parked.begin(), cta.parked.end(), char{0});
    if (cta.cluster->size() > 1) return false;  // other CTAs, too: a loop may wait for one of them
    lowest();
  }
  if (pc == kFar) return false;
  if (cta.run.options.seed != 0) pc = random_pc(cta);
  group.clear();
  limit = kFar;
  for (std::size_t t = 0; t < cta.thread_count(); ++t) {
    if (cta.status[t] != Status::Ready && cta.status[t] != Status::Gathering) continue;
    if (cta.pc[t] == pc)
      group.push_back(static_cast<Thread>(t));
    else if (cta.parked[t] == 0)
      limit = std::min(limit, cta.pc[t] > pc ? cta.pc[t] : limit);
  }
  for (const Thread t : group) {
    cta.status[t] = Status::Ready;
    cta.parked[t] = 0;
  }
  if (cta.run.options.seed != 0) limit = 0;
  return true;
}

// Are the threads [first, last) that the step needs all here?
bool is_gathered(const Cta& cta, const Step& step, std::size_t first, std::size_t last,
                 std::span<const Word> masks, Threads ts, const std::vector<char>& here) {
  Word mask = low_mask(32);
  if (step.gather == Gather::Lanes && !step.masks.empty()) {
    mask = 0;
    for (std::size_t i = 0; i < ts.size(); ++i)
      if (ts[i] >= first && ts[i] < last) mask |= masks[i];
  }
  for (std::size_t t = first; t < last; ++t) {
    const bool is_wanted = step.wanted
                               ? (*step.wanted)[t]
                               : step.gather != Gather::Lanes || (mask >> (t - first) & 1) != 0;
    if (is_wanted && cta.status[t] != Status::Exited && here[t] == 0) return false;
  }
  return true;
}

// The threads whose unit is complete; the others wait here.
std::vector<Thread> gather_group(Cta& cta, const Step& step, Threads ts) {
  const std::size_t size = step.gather == Gather::Cta         ? cta.thread_count()
                           : step.gather == Gather::Warpgroup ? kWarpgroup
                                                              : kWarp;
  std::vector<char> here(cta.thread_count(), 0);
  for (const Thread t : ts) here[t] = 1;
  std::vector<Word> masks(ts.size(), 0);
  for (const ir::ExprId mask : step.masks) {
    const Words values = evaluate(cta, mask, ts);
    for (std::size_t i = 0; i < ts.size(); ++i) masks[i] |= values[i];
  }
  std::vector<Thread> ready;
  for (std::size_t i = 0; i < ts.size();) {
    const std::size_t first = ts[i] / size * size;
    const std::size_t last = std::min(first + size, cta.thread_count());
    const bool is_here = is_gathered(cta, step, first, last, masks, ts, here);
    for (; i < ts.size() && ts[i] < last; ++i) {
      cta.status[ts[i]] = is_here ? Status::Ready : Status::Gathering;
      if (is_here) ready.push_back(ts[i]);
    }
  }
  return ready;
}

void run_group(Cta& cta, std::vector<Thread>& group, std::uint32_t limit) {
  const bool is_all = group.size() == cta.alive && cta.run.options.seed == 0;
  while (!cta.run.stop) {
    cta.step = cta.pc[group.front()];
    const Step& step = cta.launch.steps[cta.step];
    if (!spend_step(cta, group.size())) return;
    if (step.gather != Gather::None) {
      const std::vector<Thread> ready = gather_group(cta, step, group);
      if (ready.size() != group.size()) {
        if (!ready.empty()) execute(cta, step, ready);
        return;
      }
    }
    if (!execute(cta, step, group)) return;
    const std::uint32_t pc = cta.pc[group.front()];
    // Others may stand where the group has come to, or go on only behind it.
    if (!is_all && (pc >= limit || pc <= cta.step)) return;
  }
}

}  // namespace

void advance(Cta& cta) {
  std::vector<Thread> group;
  std::uint32_t limit = 0;
  while (!cta.run.stop && pick_group(cta, group, limit)) run_group(cta, group, limit);
}

bool can_run(const Cta& cta) {
  return std::ranges::find(cta.status, Status::Ready) != cta.status.end();
}

void end_threads(Cta& cta, Threads ts) {
  for (const Thread t : ts) cta.status[t] = Status::Exited;
  cta.alive -= ts.size();
  // Fewer threads are waited for now.
  for (Status& status : cta.status)
    if (status == Status::Gathering) status = Status::Ready;
  check_barriers(cta);
}

void go_on(Cta& cta, Threads ts) {
  for (const Thread t : ts) cta.pc[t] = cta.step + 1;
}

void wake_mbarrier_waiters(Cta& cta) {
  for (Status& status : cta.status)
    if (status == Status::AtMbarrier) status = Status::Ready;
}

}  // namespace ww::eval
