// SPDX-License-Identifier: Apache-2.0
// The part of the recorder that follows asynchronous work: what has become pending is new work, what
// is pending no longer has come to its end.
#include <algorithm>
#include <utility>

#include "sim/run/unit.h"
#include "sim/timeline/recorder.h"

namespace ww::sim {
namespace {

// Keys of records that may grow.
enum class KeyKind : std::uint64_t { CopyGroup, Signalled, BulkGroup, Product, TensorWork };

std::uint64_t key_of(KeyKind kind, std::uint64_t warp, std::uint64_t number) {
  return (static_cast<std::uint64_t>(kind) << 60U) | (warp << 44U) | (number & ((1ULL << 44U) - 1));
}

}  // namespace

// A record of that key that may still grow, or a new one.
AsyncRecord& Recorder::record_for(const AsyncRecord& wanted, std::uint64_t key,
                                  const LiveWork& live) {
  const auto [found, is_new] = open_.try_emplace(key, static_cast<std::uint32_t>(out_.work.size()));
  if (is_new) {
    out_.work.push_back(wanted);
    ++records_;
  }
  std::vector<LiveWork>& list = wanted.kind == AsyncKind::CopyGroup    ? copies_
                                : wanted.kind == AsyncKind::Product    ? products_
                                : wanted.kind == AsyncKind::TensorWork ? tensor_
                                                                       : jobs_;
  list.push_back(live);
  list.back().record = found->second;
  return out_.work[found->second];
}

void Recorder::complete(const LiveWork& live) {
  AsyncRecord& work = out_.work[live.record];
  work.end = now_ + 1;
  work.seen_by = doer_;
  // What is issued from now on is other work.
  std::erase_if(open_, [&](const auto& entry) { return entry.second == live.record; });
}

void Recorder::note_jobs() {
  const std::vector<PendingJob>& jobs = unit_.jobs;
  const bool same = jobs.size() == jobs_.size() && (jobs.empty() || jobs.back().id == last_job_);
  if (same) return;
  std::erase_if(jobs_, [&](const LiveWork& live) {
    if (std::ranges::any_of(jobs, [&](const PendingJob& job) { return job.id == live.job; }))
      return false;
    AsyncRecord& work = out_.work[live.record];
    if (live.number != 0) {  // the reading half of a bulk copy
      if (work.read == 0) work.read = now_ + 1;
      return true;
    }
    complete(live);
    if (work.mbarrier) {
      const RecordedMbarrier& barrier = out_.mbarriers[*work.mbarrier];
      const Cta& cta = *unit_.ctas[barrier.cta];
      arrived_[cta.shared.base + barrier.offset] = work.issued_by;
    }
    return true;
  });
  note_landed();
  for (PendingJob& job : unit_.jobs)
    if (job.id == 0) note_job(job);
  last_job_ = unit_.jobs.empty() ? 0 : unit_.jobs.back().id;
}

void Recorder::note_job(PendingJob& job) {
  static constexpr std::uint32_t kReads = 1;
  job.id = ++unit_.jobs_numbered;
  const unsigned w = job.warp->unit_warp();
  LiveWork live{.warp = job.warp, .job = job.id};
  AsyncRecord wanted{.issued_by = {job.op, w}, .begin = now_, .end = now_};
  if (job.kind != PendingJob::JobKind::Signal) {
    const bool reads = job.kind == PendingJob::JobKind::BulkRead;
    wanted.kind = AsyncKind::BulkGroup;
    wanted.group = job.group;
    live.number = reads ? kReads : 0;
    AsyncRecord& work = record_for(wanted, key_of(KeyKind::BulkGroup, w, job.group), live);
    if (!reads) ++work.count;
    return;
  }
  const std::uint32_t index = mbarrier_index(job.mbarrier);
  if (index != ~std::uint32_t{0}) {
    wanted.mbarrier = index;
    wanted.phase = out_.mbarriers[index].phases.back().number;
  }
  wanted.kind = job.bytes != 0 || !attach_commit(job) ? AsyncKind::Signalled : AsyncKind::Commit;
  AsyncRecord& work = record_for(
      wanted, key_of(KeyKind::Signalled, w, std::uint64_t{job.op} << 20U | (index & 0xF'FFFFU)),
      live);
  ++work.count;
  work.bytes += job.bytes;
}

// The work before a commit, or before an arrival of cp.async, tells this mbarrier and grows no more.
// Whether there is any.
bool Recorder::attach_commit(const PendingJob& job) {
  bool any = false;
  const unsigned w = job.warp->unit_warp();
  const std::uint32_t index = mbarrier_index(job.mbarrier);
  for (const std::vector<LiveWork>* list : {&copies_, &tensor_}) {
    for (const LiveWork& live : *list) {
      AsyncRecord& work = out_.work[live.record];
      if (live.warp->unit_warp() != w) continue;
      any = true;
      if (work.mbarrier) continue;
      if (index != ~std::uint32_t{0}) {
        work.mbarrier = index;
        work.phase = out_.mbarriers[index].phases.back().number;
      }
      std::erase_if(open_, [&](const auto& entry) { return entry.second == live.record; });
    }
  }
  ++notes_[w].tensor_group;
  return any;
}

// What the warp itself has issued.
void Recorder::note_own_work(Warp& warp) {
  const unsigned w = warp.unit_warp();
  WarpNotes& notes = notes_[w];
  PendingWork& pending = warp.pending;
  if (pending.copies_issued != notes.copies) {
    for (const PendingCopy& copy : pending.copies) {
      if (copy.number < notes.copies) continue;
      const std::uint32_t group = copy.group[first_lane(copy.lanes)];
      AsyncRecord& work =
          record_for({.kind = AsyncKind::CopyGroup,
                      .issued_by = doer_,
                      .begin = now_,
                      .end = now_,
                      .group = group},
                     key_of(KeyKind::CopyGroup, w, group), {.warp = &warp, .number = copy.number});
      ++work.count;
      work.bytes += std::uint64_t{copy.bytes} * count_lanes(copy.lanes);
    }
    notes.copies = pending.copies_issued;
  }
  if (pending.tensor_issued != notes.tensor) {
    for (const TensorWork& piece : pending.tensor_work) {
      if (piece.number < notes.tensor) continue;
      ++record_for({.kind = AsyncKind::TensorWork, .issued_by = doer_, .begin = now_, .end = now_},
                   key_of(KeyKind::TensorWork, w, notes.tensor_group),
                   {.warp = &warp, .number = piece.number})
            .count;
    }
    notes.tensor = pending.tensor_issued;
  }
  note_landed();
}

// Copies and tensor work that are no longer pending.
void Recorder::note_landed() {
  std::erase_if(copies_, [&](const LiveWork& live) {
    const auto& copies = live.warp->pending.copies;
    if (std::ranges::find(copies, live.number, &PendingCopy::number) != copies.end()) return false;
    complete(live);
    return true;
  });
  std::erase_if(tensor_, [&](const LiveWork& live) {
    const auto& work = live.warp->pending.tensor_work;
    if (std::ranges::find(work, live.number, &TensorWork::number) != work.end()) return false;
    complete(live);
    return true;
  });
}

// A product is issued by the last warp of the group to come, and is done when all have waited.
void Recorder::note_products(Warp& warp) {
  const std::size_t number = warp.index / kGroupWarps;
  if (warp.cta->warpgroups.size() <= number) return;
  const Warpgroup& group = warp.cta->warpgroups[number];
  const unsigned first = warp.unit_warp() - warp.index % kGroupWarps;
  std::erase_if(products_, [&](const LiveWork& live) {
    if (live.warp->unit_warp() != first) return false;
    const auto& all = group.products;
    if (std::ranges::find(all, live.number, &PendingProduct::number) != all.end()) return false;
    complete(live);
    return true;
  });
  for (const PendingProduct& product : group.products) {
    const bool is_known = std::ranges::any_of(products_, [&](const LiveWork& live) {
      return live.warp->unit_warp() == first && live.number == product.number;
    });
    if (is_known) continue;
    const std::uint32_t in_group = product.parts[warp.index % kGroupWarps].group;
    Warp* const leader = warp.cta->warps[number * kGroupWarps].get();
    ++record_for({.kind = AsyncKind::Product,
                  .issued_by = {product.op, first},
                  .begin = now_,
                  .end = now_,
                  .group = in_group},
                 key_of(KeyKind::Product, first, in_group),
                 {.warp = leader, .number = product.number})
          .count;
  }
}

}  // namespace ww::sim
