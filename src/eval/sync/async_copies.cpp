// SPDX-License-Identifier: Apache-2.0
#include "eval/sync/async_copies.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "eval/cta/limits.h"
#include "eval/cta/report.h"
#include "eval/cta/schedule.h"
#include "eval/memory/access.h"
#include "eval/memory/address.h"
#include "eval/sync/barriers.h"
#include "eval/value/arithmetic.h"
#include "ir/box_reduce.h"

namespace ww::eval {
namespace {

// --- reductions ----------------------------------------------------------------------------------
//
// How the copy engine combines an element in memory with an arriving one.

Word reduce_box(ir::BoxReduce op, num::DType type, Word old, Word value) {
  const auto with = [&](ir::ExprOp by) {
    Word out = 0;
    binary(by, type, {&old, 1}, {&value, 1}, {&out, 1});
    return out;
  };
  switch (op) {
    case ir::BoxReduce::Add:
      return with(ir::ExprOp::Add);
    case ir::BoxReduce::Min:
      return with(ir::ExprOp::Min);
    case ir::BoxReduce::Max:
      return with(ir::ExprOp::Max);
    case ir::BoxReduce::Inc:
      return old >= value ? 0 : old + 1;
    case ir::BoxReduce::Dec:
      return old == 0 || old > value ? value : old - 1;
    case ir::BoxReduce::And:
      return old & value;
    case ir::BoxReduce::Or:
      return old | value;
    case ir::BoxReduce::Xor:
      return old ^ value;
  }
  return value;
}

constexpr std::uint64_t kQueuedBytes = 16;  // for each thread that has to wait for a copy
constexpr std::uint64_t kGroupBytes = 32;   // for each thread that commits

ThreadCopies::Groups& groups_of(Cta& cta, AsyncKind kind, Thread t) {
  return cta.async.threads[t].groups[static_cast<std::size_t>(kind)];
}

std::vector<CopyId>& tmem_copies_of(Cta& cta, AsyncKind kind, Thread t) {
  return cta.async.threads[t].tmem[kind == AsyncKind::TmemLoad ? 0 : 1];
}

// What a commit takes of the host.
std::uint64_t commit_bytes(const Order::Knowledge& knowledge) {
  constexpr std::uint64_t kEach = 64;
  return kEach + knowledge.size() * sizeof(knowledge[0]);
}

// What an arrival tells those who wait for the phase.
void learn(Mbarrier& barrier, const Order::Knowledge& knowledge) {
  barrier.gathering.resize(knowledge.size(), 0);
  for (std::size_t t = 0; t < knowledge.size(); ++t)
    barrier.gathering[t] = std::max(barrier.gathering[t], knowledge[t]);
}

// Does an earlier copy of the same thread write there? They are made in order.
// Products have looked at their targets themselves (eval/tile/gemm.cpp).
bool is_own_target(Cta& cta, const Transfer& transfer, const AsyncCopy& copy) {
  if (copy.kind == AsyncKind::Product) return true;
  if (copy.kind != AsyncKind::Tensor) return false;
  for (const auto& [number, id] : cta.async.threads[copy.agent.index].tensor) {
    if (!spend_elements(cta, cta.async.in_flight[id]->transfers.size())) return true;
    for (const Transfer& other : cta.async.in_flight[id]->transfers)
      if (other.to.at.root == transfer.to.at.root &&
          other.to.at.bit < transfer.to.at.bit + transfer.bits &&
          transfer.to.at.bit < other.to.at.bit + other.bits)
        return true;
  }
  return false;
}

// Nothing else is under way where a copy will write.
void check_free(Cta& cta, const Transfer& transfer, const AsyncCopy& copy) {
  Storage& storage = storage_of(cta, transfer.to);
  const std::int64_t bit = bit_of(cta, transfer.to);
  const bool is_target =
      storage.is_target(bit, transfer.bits) && !copy.reduce;  // any order is right
  if (!is_target && !storage.is_source(bit, transfer.bits)) return;
  if (is_own_target(cta, transfer, copy)) return;
  describe(finding(cta, Check::Async, transfer.to),
           "{} of {} starts a copy into {} while {} there is under way", agent_text(copy.agent),
           cta_text(cta), element_text(cta, transfer.to),
           work_on(cta, transfer.to, transfer.bits) == "copy" ? "another copy" : "a product");
}

// Earlier users of the place are done with it.
void check_start(Cta& cta, const Transfer& transfer, const AsyncCopy& copy) {
  const Access by = access_of(cta, copy.agent, copy.reduce.has_value());
  const auto conflict = note_write(cta, transfer.to, transfer.bits, by);
  if (!conflict || conflict->earlier == by) return;
  if (storage_of(cta, transfer.to).is_target(bit_of(cta, transfer.to), transfer.bits)) return;
  report_race(cta, transfer.to, *conflict, by, true);
}

// Notes in storage that a copy is under way: `change` is 1 where it begins, -1 where it ends.
void mark_copy(Cta& cta, const AsyncCopy& copy, int change) {
  for (const Transfer& transfer : copy.transfers)
    storage_of(cta, transfer.to).mark_target(bit_of(cta, transfer.to), transfer.bits, change);
  for (const auto& [element, bits] : copy.sources)
    storage_of(cta, element).mark_source(bit_of(cta, element), bits, change);
}

// What is in memory afterwards.
Content arriving(Cta& cta, const AsyncCopy& copy, const Transfer& transfer) {
  if (!copy.reduce) return transfer.content;
  const Storage& storage = storage_of(cta, transfer.to);
  const std::int64_t bit = bit_of(cta, transfer.to);
  if ((storage.undefined(bit, transfer.bits) | transfer.content.undefined) != 0)
    return {0, low_mask(transfer.bits)};
  return {reduce_box(*copy.reduce, copy.dtype, storage.value(bit, transfer.bits),
                     transfer.content.value),
          0};
}

void deliver(const AsyncCopy& copy) {
  Cta& cta = *copy.cta;
  mark_copy(cta, copy, -1);
  Access by = access_of(cta, copy.agent, copy.reduce.has_value());
  by.step = copy.step;
  // Those who have waited for the mbarrier know of what was done before the start; others have
  // waited themselves.
  if (copy.kind == AsyncKind::Counted) by.time = copy.time;
  // What it may race with was looked at when it started, or was found since.
  for (const Transfer& transfer : copy.transfers)
    put(cta, transfer.to, transfer.bits, arriving(cta, copy, transfer), by);
}

}  // namespace

namespace {

// Copies that an mbarrier waits for too: their thread has waited for groups, and sees them done.
void finish_arriving(Cta& cta, Thread t) {
  for (auto& [at, arrivals] : cta.async.arrivals)
    for (CopyArrival& arrival : arrivals)
      if (arrival.thread == t) finish_waited(cta, arrival.copies);
}

// Kept by the CTA that has to wait for it, until it is made; nothing when the run has stopped.
std::optional<CopyId> begin(Cta& cta, Cta& keeper, AsyncCopy copy, std::size_t waiters) {
  copy.cta = &cta;
  copy.step = cta.step;
  copy.time = cta.order.now();
  copy.missing = waiters;
  copy.bytes = sizeof(copy) + copy.transfers.size() * sizeof(Transfer) +
               copy.sources.size() * sizeof(copy.sources[0]) + waiters * kQueuedBytes;
  keeper.async.bytes += copy.bytes;
  if (!may_take(keeper, 0)) return std::nullopt;
  for (const Transfer& transfer : copy.transfers) check_free(cta, transfer, copy);
  for (const Transfer& transfer : copy.transfers) check_start(cta, transfer, copy);
  mark_copy(cta, copy, 1);
  keeper.async.in_flight.emplace_back(std::move(copy));
  return static_cast<CopyId>(keeper.async.in_flight.size() - 1);
}

// The copy engine must not bring undefined elements to global memory.
void check_written(Cta& cta, const AsyncCopy& copy) {
  if (copy.kind != AsyncKind::Bulk) return;
  const auto bad = std::ranges::find_if(
      copy.transfers, [](const Transfer& each) { return each.content.undefined != 0; });
  if (bad == copy.transfers.end()) return;
  describe(finding(cta, Check::Uninit, bad->to),
           "{} gets its value from shared memory by {} of {}, and nothing has written it there",
           element_text(cta, bad->to), agent_text(copy.agent), cta_text(cta));
}

}  // namespace

void start_copy(Cta& cta, AsyncCopy copy, Threads ts) {
  check_written(cta, copy);
  const AsyncKind kind = copy.kind;
  const auto id = begin(cta, cta, std::move(copy), ts.size());
  if (!id) return;
  for (const Thread t : ts) {
    ThreadCopies& own = cta.async.threads[t];
    if (kind == AsyncKind::Tensor)
      own.tensor.emplace_back(own.tensor_issued++, *id);
    else if (kind == AsyncKind::TmemLoad || kind == AsyncKind::TmemStore)
      tmem_copies_of(cta, kind, t).push_back(*id);
    else
      groups_of(cta, kind, t).open.push_back(*id);
  }
}

void commit(Cta& cta, AsyncKind kind, Threads ts) {
  for (const Thread t : ts) {
    ThreadCopies::Groups& groups = groups_of(cta, kind, t);
    groups.committed.push_back(std::exchange(groups.open, {}));
  }
  cta.async.bytes += ts.size() * kGroupBytes;
}

void wait_group(Cta& cta, AsyncKind kind, std::size_t keep, bool open_too, Threads ts) {
  for (const Thread t : ts) {
    ThreadCopies::Groups& groups = groups_of(cta, kind, t);
    if (groups.committed.size() > keep) {
      const auto end = groups.committed.end() - static_cast<std::ptrdiff_t>(keep);
      for (auto group = groups.committed.begin(); group != end; ++group) {
        finish_waited(cta, *group);
        cta.async.bytes -= kGroupBytes;
      }
      groups.committed.erase(groups.committed.begin(), end);
    }
    if (open_too) finish_waited(cta, groups.open);
    if (kind == AsyncKind::Group) finish_arriving(cta, t);
  }
}

void wait_tmem(Cta& cta, AsyncKind kind, Threads ts) {
  for (const Thread t : ts) finish_waited(cta, tmem_copies_of(cta, kind, t));
}

void finish_waited(Cta& cta, std::vector<CopyId>& ids) {
  for (const CopyId id : ids) {
    std::optional<AsyncCopy>& copy = cta.async.in_flight[id];
    if (--copy->missing != 0) continue;
    deliver(*copy);
    cta.async.bytes -= copy->bytes;
    copy.reset();
  }
  ids.clear();
  while (!cta.async.in_flight.empty() && !cta.async.in_flight.back())
    cta.async.in_flight.pop_back();
}

void commit_tensor(Cta& cta, Address mbarrier, Thread t) {
  if (find_mbarrier(cta, mbarrier, t) == nullptr) return;
  TensorCommit commit{.thread = t, .before = cta.async.threads[t].tensor_issued, .knowledge = {}};
  cta.order.release(t, commit.knowledge);
  cta.async.bytes += commit_bytes(commit.knowledge);
  cta.async.tensor_commits[mbarrier].push_back(std::move(commit));
  wake_mbarrier_waiters(cta);
}

void arrive_when_copied(Cta& cta, Address mbarrier, bool is_extra, Thread t) {
  Mbarrier* barrier = find_mbarrier(cta, mbarrier, t);
  if (barrier == nullptr) return;
  if (is_extra) ++barrier->missing;
  ++barrier->copying;
  CopyArrival arrival{.thread = t, .copies = {}, .knowledge = {}};
  const auto take = [&](std::vector<CopyId>& ids) {
    for (const CopyId id : ids) cta.async.in_flight[id]->kind = AsyncKind::Counted;
    arrival.copies.insert(arrival.copies.end(), ids.begin(), ids.end());
    ids.clear();
  };
  ThreadCopies::Groups& groups = groups_of(cta, AsyncKind::Group, t);
  for (std::vector<CopyId>& group : groups.committed) take(group);
  take(groups.open);
  cta.order.release(t, arrival.knowledge);
  cta.async.bytes += commit_bytes(arrival.knowledge);
  cta.async.arrivals[mbarrier].push_back(std::move(arrival));
  wake_mbarrier_waiters(cta);
}

bool finish_arrival(Cta& cta, Address at, Mbarrier& barrier) {
  const auto found = cta.async.arrivals.find(at);
  if (found == cta.async.arrivals.end() || barrier.missing > barrier.copying) return false;
  CopyArrival arrival = std::move(found->second.front());
  cta.async.bytes -= commit_bytes(arrival.knowledge);
  found->second.pop_front();
  if (found->second.empty()) cta.async.arrivals.erase(found);
  finish_waited(cta, arrival.copies);
  learn(barrier, arrival.knowledge);
  --barrier.copying;
  arrive_mbarrier(cta, barrier, 1);
  return true;
}

void start_counted(Cta& cta, AsyncCopy copy, Address mbarrier, Thread t) {
  if (find_mbarrier(cta, mbarrier, t) == nullptr) return;
  Cta& home = *home_of(cta, mbarrier);
  const auto id = begin(cta, home, std::move(copy), 1);
  if (!id) return;
  CountedCopy counted{.id = *id, .knowledge = {}};
  cta.order.release(t, counted.knowledge);
  home.async.bytes += commit_bytes(counted.knowledge);
  home.async.counted[mbarrier.at_home()].push_back(std::move(counted));
  wake_mbarrier_waiters(home);
}

bool finish_counted(Cta& cta, Address at, Mbarrier& barrier) {
  const auto found = cta.async.counted.find(at);
  if (found == cta.async.counted.end()) return false;
  const CountedCopy counted = std::move(found->second.front());
  cta.async.bytes -= commit_bytes(counted.knowledge);
  found->second.pop_front();
  if (found->second.empty()) cta.async.counted.erase(found);
  const std::int64_t bytes = cta.async.in_flight[counted.id]->counted;
  std::vector<CopyId> due{counted.id};
  finish_waited(cta, due);
  learn(barrier, counted.knowledge);
  count_bytes(cta, barrier, -bytes);
  return true;
}

bool finish_commit(Cta& cta, Address at, Mbarrier& barrier) {
  const auto found = cta.async.tensor_commits.find(at);
  if (found == cta.async.tensor_commits.end()) return false;
  const TensorCommit commit = std::move(found->second.front());
  cta.async.bytes -= commit_bytes(commit.knowledge);
  found->second.pop_front();
  if (found->second.empty()) cta.async.tensor_commits.erase(found);
  auto& work = cta.async.threads[commit.thread].tensor;
  std::vector<CopyId> due;
  auto end = work.begin();
  for (; end != work.end() && end->first < commit.before; ++end) due.push_back(end->second);
  work.erase(work.begin(), end);
  finish_waited(cta, due);
  learn(barrier, commit.knowledge);
  arrive_mbarrier(cta, barrier, 1);
  return true;
}

// --- to several CTAs -----------------------------------------------------------------------------

namespace {

template <typename... Args>
void report(Cta& cta, Check check, Thread t, fmt::format_string<Args...> format, Args&&... args) {
  describe(finding(cta, check), "{} of {} sends a copy to {}", thread_text(t), cta_text(cta),
           fmt::format(format, std::forward<Args>(args)...));
}

// The same copy, to the same places of another CTA, whose mbarrier counts its bytes.
void start_in_peer(Cta& cta, std::size_t rank, AsyncCopy copy, Address mbarrier, Thread t) {
  Cta& other = (*cta.cluster)[rank];
  if (is_done(other)) return report(cta, Check::Async, t, "{}, which has ended", cta_text(other));
  if (!other.mbarriers.contains(mbarrier))
    return report(cta, Check::Barrier, t, "{}, whose mbarrier at {} is not initialised",
                  cta_text(other), element_text(other, element_at(mbarrier, t)));
  const auto there = static_cast<std::int64_t>(rank);
  for (Transfer& transfer : copy.transfers) transfer.to.at = address_in(cta, transfer.to.at, there);
  start_counted(cta, std::move(copy), address_in(cta, mbarrier, there), t);
}

}  // namespace

void start_multicast(Cta& cta, const AsyncCopy& copy, Address mbarrier, Thread t, Word mask) {
  std::deque<Cta>& ctas = *cta.cluster;
  if ((mask & low_mask(kCtaMaskBits)) == 0)
    return report(cta, Check::Bounds, t, "no CTA of the cluster: its mask is 0");
  for (std::size_t rank = 0; rank < kCtaMaskBits && !cta.run.stop; ++rank) {
    if ((mask >> rank & 1) == 0) continue;
    if (rank >= ctas.size())
      report(cta, Check::Bounds, t, "CTA {} of a cluster of {}", rank, ctas.size());
    else if (&ctas[rank] == &cta)
      start_counted(cta, copy, mbarrier, t);
    else
      start_in_peer(cta, rank, copy, mbarrier, t);
  }
}

}  // namespace ww::eval
