// SPDX-License-Identifier: Apache-2.0
#include "sim/timeline/live_work.h"

#include <algorithm>
#include <utility>

#include "sim/run/unit.h"
#include "sim/timeline/detail.h"
#include "sim/timeline/watched_mbarriers.h"

namespace ww::sim {
namespace {

// Tells records that may grow apart. Commits and signals of one instruction share theirs.
std::uint64_t key_of(const AsyncRecord& work, std::uint64_t number) {
  const AsyncKind kind = work.kind == AsyncKind::Commit ? AsyncKind::Signalled : work.kind;
  return (static_cast<std::uint64_t>(kind) << 60U) | (std::uint64_t{work.issued_by.warp} << 44U) |
         (number & ((1ULL << 44U) - 1));
}

template <typename Works>
bool has_number(const Works& works, std::uint32_t number) {
  return std::ranges::any_of(works, [&](const auto& work) { return work.number == number; });
}

}  // namespace

void LiveWork::op_done(const Warp& warp) {
  note_jobs();
  note_copies(warp);
  note_tensor_work(warp);
  note_landed();
  note_products(warp);
}

void LiveWork::catch_up() {
  note_jobs();
  note_landed();
}

void LiveWork::end() {
  for_each_piece([&](const Piece& piece) { context_.out.work[piece.record].is_open = true; });
}

void LiveWork::merge_ended() {
  std::vector<bool> is_live(context_.out.work.size());
  for_each_piece([&](const Piece& piece) { is_live[piece.record] = true; });
  for (const auto& [key, record] : open_) is_live[record] = true;
  const std::vector<std::uint32_t> place =
      merge_all_work(context_.out.work, context_.out.grain, is_live);
  for_each_piece([&](Piece& piece) { piece.record = place[piece.record]; });
  for (auto& [key, record] : open_) record = place[record];
}

// Adds a piece to the list, and to the open record of its kind, warp and number or to a new one.
AsyncRecord& LiveWork::add(std::vector<Piece>& list, const AsyncRecord& wanted,
                           std::uint64_t number, Piece piece) {
  std::vector<AsyncRecord>& all = context_.out.work;
  const auto [found, is_new] =
      open_.try_emplace(key_of(wanted, number), static_cast<std::uint32_t>(all.size()));
  piece.record = found->second;
  list.push_back(piece);
  if (is_new) {
    all.push_back(wanted);
    all.back().begin = all.back().end = context_.now;
    ++context_.records;
  }
  return all[piece.record];
}

void LiveWork::complete(const Piece& piece) {
  AsyncRecord& work = context_.out.work[piece.record];
  work.end = context_.now + 1;
  work.seen_by = context_.doer;
  close(piece.record);
}

template <typename IsPending>
void LiveWork::complete_others(std::vector<Piece>& pieces, IsPending is_pending) {
  std::erase_if(pieces, [&](const Piece& piece) {
    if (is_pending(piece)) return false;
    complete(piece);
    return true;
  });
}

// What is issued from now on is other work.
void LiveWork::close(std::uint32_t record) {
  std::erase_if(open_, [&](const auto& entry) { return entry.second == record; });
}

// --- jobs: work that tells an mbarrier or belongs to a bulk group ---------------------------------

void LiveWork::note_jobs() {
  std::vector<PendingJob>& jobs = context_.unit.jobs;
  const bool same = jobs.size() == jobs_.size() && (jobs.empty() || jobs.back().id == last_job_);
  if (same) return;
  std::erase_if(jobs_, [&](const Piece& piece) {
    if (std::ranges::any_of(jobs, [&](const PendingJob& job) { return job.id == piece.job; }))
      return false;
    end_job(piece);
    return true;
  });
  note_landed();
  for (PendingJob& job : jobs)
    if (job.id == 0) note_job(job);
  last_job_ = jobs.empty() ? 0 : jobs.back().id;
}

void LiveWork::end_job(const Piece& piece) {
  AsyncRecord& work = context_.out.work[piece.record];
  if (piece.only_reads) {
    if (work.read == 0) work.read = context_.now + 1;
    return;
  }
  complete(piece);
  if (work.mbarrier) mbarriers_.note_arrival(*work.mbarrier, work.issued_by);
}

void LiveWork::note_job(PendingJob& job) {
  job.id = ++context_.unit.jobs_numbered;
  Piece piece{.warp = job.warp, .job = job.id};
  AsyncRecord wanted{.issued_by = {job.op, job.warp->unit_warp()}};
  if (job.kind != PendingJob::JobKind::Signal) {
    piece.only_reads = job.kind == PendingJob::JobKind::BulkRead;
    wanted.kind = AsyncKind::BulkGroup;
    wanted.group = job.group;
    AsyncRecord& work = add(jobs_, wanted, job.group, piece);
    if (!piece.only_reads) ++work.count;
    return;
  }
  const std::optional<std::uint32_t> mbarrier = mbarriers_.look_up(job.mbarrier);
  tell(wanted, mbarrier);
  const bool is_commit = job.bytes == 0 && attach_commit(wanted.issued_by.warp, mbarrier);
  wanted.kind = is_commit ? AsyncKind::Commit : AsyncKind::Signalled;
  const std::uint64_t place = mbarrier.value_or(~0U) & 0xF'FFFFU;
  AsyncRecord& work = add(jobs_, wanted, std::uint64_t{job.op} << 20U | place, piece);
  ++work.count;
  work.bytes += job.bytes;
}

// The warp's work before a commit, or before an arrival of cp.async, tells this mbarrier and grows no
// more. Whether there is any.
bool LiveWork::attach_commit(unsigned warp, std::optional<std::uint32_t> mbarrier) {
  bool any = false;
  for (const std::vector<Piece>* list : {&copies_, &tensor_}) {
    for (const Piece& piece : *list) {
      if (piece.warp->unit_warp() != warp) continue;
      any = true;
      AsyncRecord& work = context_.out.work[piece.record];
      if (work.mbarrier) continue;
      tell(work, mbarrier);
      close(piece.record);
    }
  }
  ++issued_[warp].tensor_group;
  return any;
}

void LiveWork::tell(AsyncRecord& work, std::optional<std::uint32_t> mbarrier) const {
  work.mbarrier = mbarrier;
  if (mbarrier) work.phase = mbarriers_.phase(*mbarrier);
}

// --- what the warp itself has issued -------------------------------------------------------------

void LiveWork::note_copies(const Warp& warp) {
  const std::uint32_t issued = warp.pending.copies_issued;
  const std::uint32_t known = std::exchange(issued_[warp.unit_warp()].copies, issued);
  if (known == issued) return;
  for (const PendingCopy& copy : warp.pending.copies) {
    if (copy.number < known) continue;
    const std::uint32_t group = copy.group[first_lane(copy.lanes)];
    AsyncRecord& work =
        add(copies_, {.kind = AsyncKind::CopyGroup, .issued_by = context_.doer, .group = group},
            group, {.warp = &warp, .number = copy.number});
    ++work.count;
    work.bytes += std::uint64_t{copy.bytes} * count_lanes(copy.lanes);
  }
}

void LiveWork::note_tensor_work(const Warp& warp) {
  Issued& notes = issued_[warp.unit_warp()];
  const std::uint32_t known = std::exchange(notes.tensor, warp.pending.tensor_issued);
  if (known == notes.tensor) return;
  for (const TensorWork& each : warp.pending.tensor_work) {
    if (each.number < known) continue;
    AsyncRecord& work = add(tensor_, {.kind = AsyncKind::TensorWork, .issued_by = context_.doer},
                            notes.tensor_group, {.warp = &warp, .number = each.number});
    ++work.count;
  }
}

// Copies and tensor work that are no longer pending.
void LiveWork::note_landed() {
  complete_others(copies_, [](const Piece& piece) {
    return has_number(piece.warp->pending.copies, piece.number);
  });
  complete_others(tensor_, [](const Piece& piece) {
    return has_number(piece.warp->pending.tensor_work, piece.number);
  });
}

// A product is issued by the last warp of the group to come, and is done when all have waited.
void LiveWork::note_products(const Warp& warp) {
  const std::size_t number = warp.index / kGroupWarps;
  if (warp.cta->warpgroups.size() <= number) return;
  const Warpgroup& group = warp.cta->warpgroups[number];
  const Warp* const leader = warp.cta->warps[number * kGroupWarps].get();
  complete_others(products_, [&](const Piece& piece) {
    return piece.warp != leader || has_number(group.products, piece.number);
  });
  for (const PendingProduct& product : group.products) {
    const bool is_known = std::ranges::any_of(products_, [&](const Piece& piece) {
      return piece.warp == leader && piece.number == product.number;
    });
    if (is_known) continue;
    const std::uint32_t in_group = product.parts[warp.index % kGroupWarps].group;
    AsyncRecord& work = add(products_,
                            {.kind = AsyncKind::Product,
                             .issued_by = {product.op, leader->unit_warp()},
                             .group = in_group},
                            in_group, {.warp = leader, .number = product.number});
    ++work.count;
  }
}

}  // namespace ww::sim
