// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk and cp.reduce.async.bulk: runs of bytes, multiples of 16, that the copy engine
// moves or combines. Into shared memory (of any CTA of the cluster, or of several at once) the
// bytes are counted by an mbarrier there, and land when somebody waits for it. Into global memory
// they belong to a group of the thread, and land when it waits for that; with `.read` it waits only
// until it may write to the source again. st.async and red.async are the same for single elements.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "sim/checks/undefined.h"
#include "sim/decode/function_decoder.h"
#include "sim/memory/access.h"
#include "sim/ops/async_ops.h"
#include "sim/ops/families.h"
#include "sim/run/mbarriers.h"

namespace ww::sim::bulk_copy_ops {
namespace {

constexpr std::uint32_t kUnit = 16;  // bytes: sizes and addresses are multiples of it
constexpr std::uint32_t kMaxBytes = (1U << 20U) - kUnit;  // what one phase can count

Effect effect_of(const Op& op) {
  return {.combine = op.as<Combine>(), .element = std::max(1U, unsigned{op.bytes})};
}

// --- issuing -------------------------------------------------------------------------------------

// Addresses: destination, source, mbarrier.
Space space_of(const Warp& warp, const Op& op, unsigned i) {
  return warp.program->addresses[op.address + i].space;
}

// The size that a lane gives, as far as it makes sense.
std::uint32_t size_in(Warp& warp, const Op& op, unsigned lane) {
  const std::uint32_t size = warp.source<std::uint32_t>(op.p[0])[lane];
  if (size % kUnit == 0 && size <= kMaxBytes) return size;
  if (warp.is_new(Check::Align)) {
    warp.report(Check::Align, lane_bit(lane),
                fmt::format("a size of {} bytes; multiples of {} up to {} are possible", size,
                            kUnit, kMaxBytes));
  }
  return std::min(size, kMaxBytes);
}

/// What one lane sends: the bytes, where they were, what becomes of them.
struct Parcel {
  ByteRun from;
  Bytes bytes;
  Effect effect;
  std::uint32_t size = 0;
  bool is_async_proxy = true;

  [[nodiscard]] WriteMode mode() const { return {effect.combine != nullptr, is_async_proxy}; }
  void land_at(Warp& warp, unsigned lane, const ByteRun& to) const {
    land(warp, lane, to, bytes.data.data(),
         bytes.undefined.empty() ? nullptr : bytes.undefined.data(), effect);
  }
};

// The engine reads shared memory for another CTA, whose mbarrier alone tells when it is done.
std::optional<Neighbours::ReadId> begin_read(Warp& warp, unsigned lane, const ByteRun& from,
                                             std::uint64_t mbarrier) {
  if (from.region == nullptr) return std::nullopt;
  mark_shared(warp, *from.region, from.address, from.bytes, lane, AsyncUse::Read);
  const bool is_for_other =
      from.region->space == Space::Shared && shared_rank(mbarrier) != from.region->owner;
  if (!is_for_other || warp.unit->neighbours == nullptr) return std::nullopt;
  return warp.unit->neighbours->read_begins(warp, lane, from.address, from.bytes, mbarrier);
}

void end_read(Warp& warp, const ByteRun& from, std::uint64_t mbarrier,
              std::optional<Neighbours::ReadId> read) {
  if (from.region == nullptr) return;
  unmark_shared(warp, *from.region, from.address, from.bytes, AsyncUse::Read);
  const Mbarrier* barrier = find_mbarrier(*warp.unit, mbarrier);
  if (read && barrier != nullptr) warp.unit->neighbours->read_ends(*read, barrier->phase);
}

// Starts the write of a parcel to one CTA; its mbarrier hears of it when it lands.
void send(Warp& warp, unsigned lane, const std::shared_ptr<const Parcel>& parcel, const ByteRun& to,
          std::uint64_t mbarrier) {
  check_signalled(warp, mbarrier, lane_bit(lane), parcel->is_async_proxy);
  begin_write(warp, to, lane, parcel->mode());
  const auto read = begin_read(warp, lane, parcel->from, mbarrier);
  start_job(warp, lane, {.mbarrier = mbarrier, .bytes = parcel->size, .deliver = [=, &warp] {
                           end_read(warp, parcel->from, mbarrier, read);
                           parcel->land_at(warp, lane, to);
                           complete_tx(warp, mbarrier, lane, parcel->size);
                         }});
}

std::shared_ptr<Parcel> take(Warp& warp, const Op& op, unsigned lane, std::uint64_t from) {
  auto parcel = std::make_shared<Parcel>();
  parcel->size = size_in(warp, op, lane);
  parcel->from = find_run(warp, from, lane, parcel->size, AccessKind::Read, space_of(warp, op, 1));
  parcel->bytes = read_run(warp, parcel->from, lane, parcel->size);
  parcel->effect = effect_of(op);
  return parcel;
}

void note_bulk(const Warp& warp, unsigned lane, std::uint32_t bytes, std::uint64_t from,
               std::vector<CopyTarget> to) {
  if (warp.unit->recorder == nullptr) return;
  warp.unit->recorder->note_copy({.lane = lane, .bytes = bytes, .from = from, .to = std::move(to)});
}

// p: size, and with multicast the mask of CTAs.
void run_to_shared(Warp& warp, const Op& op) {
  const LaneAddresses to = used_addresses(warp, op), from = used_addresses(warp, op, 1);
  const LaneAddresses mbarrier = used_addresses(warp, op, 2);
  const Space space = space_of(warp, op, 0);
  use_value(warp, op.p[0], warp.exec);
  if (op.p[1].present()) use_value(warp, op.p[1], warp.exec);
  for_each_lane(warp.exec, [&](unsigned l) {
    const std::shared_ptr<Parcel> parcel = take(warp, op, l, from[l]);
    std::vector<CopyTarget> targets = copy_targets(warp, l, op.p[1], {to[l], mbarrier[l]});
    for (const CopyTarget& target : targets) {
      const ByteRun run = find_run(warp, target.address, l, parcel->size, AccessKind::Write, space);
      send(warp, l, parcel, run, target.mbarrier);
    }
    note_bulk(warp, l, parcel->size, from[l], std::move(targets));
  });
}

// --- groups of the thread ------------------------------------------------------------------------

void check_written(Warp& warp, unsigned lane, const Parcel& parcel) {
  if (parcel.bytes.undefined.empty()) return;
  Unwritten found;
  for (std::uint32_t i = 0; i < parcel.from.bytes; ++i)
    if (((unsigned{parcel.effect.mask} >> (i % kUnit)) & 1U) != 0)
      found.look(parcel.bytes.undefined.data(), i, parcel.from.address + i);
  report_unwritten(warp, lane, found);
}

// p: size, and with cp_mask the bytes of every 16 that are written.
void run_to_global(Warp& warp, const Op& op) {
  const LaneAddresses at = used_addresses(warp, op), from = used_addresses(warp, op, 1);
  const Space space = space_of(warp, op, 0);
  use_value(warp, op.p[0], warp.exec);
  if (op.p[1].present()) use_value(warp, op.p[1], warp.exec);
  for_each_lane(warp.exec, [&](unsigned l) {
    const std::shared_ptr<Parcel> parcel = take(warp, op, l, from[l]);
    if (op.p[1].present()) parcel->effect.mask = warp.source<std::uint16_t>(op.p[1])[l];
    check_written(warp, l, *parcel);
    const ByteRun to = find_run(warp, at[l], l, parcel->size, AccessKind::Write, space);
    note_bulk(warp, l, parcel->size, from[l], {{at[l], 0}});
    begin_write(warp, to, l, parcel->mode());
    if (parcel->from.region != nullptr) start_group_read(warp, l, {parcel->from});
    start_job(warp, l, {.kind = PendingJob::JobKind::BulkWrite, .deliver = [&warp, parcel, to, l] {
                          parcel->land_at(warp, l, to);
                        }});
  });
}

void run_commit(Warp& warp, const Op&) {
  for_each_lane(warp.exec, [&](unsigned l) { ++warp.pending.bulk_committed[l]; });
}

struct WaitGroup {
  std::uint32_t newest;  // so many groups may stay
  bool reads_only;       // sources are enough
};

void run_wait_group(Warp& warp, const Op& op) {
  const auto [newest, reads_only] = op.as<WaitGroup>();
  std::vector<PendingJob>& jobs = warp.unit->jobs;
  const auto is_due = [&, newest = newest, reads_only = reads_only](const PendingJob& job) {
    if (job.kind == PendingJob::JobKind::Signal || job.warp != &warp) return false;
    if (!has_lane(warp.exec, job.lane)) return false;
    if (reads_only && job.kind != PendingJob::JobKind::BulkRead) return false;
    const std::uint32_t committed = warp.pending.bulk_committed[job.lane];
    return job.group < committed && committed - job.group > newest;
  };
  std::vector<PendingJob> due;
  for (PendingJob& job : jobs) {
    if (!is_due(job)) continue;
    due.push_back(job);
    job.deliver = nullptr;
  }
  std::erase_if(jobs, [](const PendingJob& job) { return job.deliver == nullptr; });
  for (const PendingJob& job : due) job.deliver();
}

// --- single elements -----------------------------------------------------------------------------

// The further places, op.bytes of each.
void run_store_async(Warp& warp, const Op& op) {
  const LaneAddresses to = used_addresses(warp, op), mbarrier = used_addresses(warp, op, 1);
  const std::span<const Place> places = warp.places(op);
  const std::uint32_t total = op.bytes * static_cast<std::uint32_t>(places.size());
  const auto send_lane = [&](Region* region, unsigned l) {
    auto parcel = std::make_shared<Parcel>();
    parcel->size = total;
    parcel->effect.combine = op.as<Combine>();
    parcel->effect.element = op.bytes;
    parcel->is_async_proxy = false;
    parcel->bytes.data.resize(total);
    if (warp.undefined.are_kept()) parcel->bytes.undefined.resize(total);
    for (unsigned i = 0; i < places.size(); ++i) {
      std::memcpy(&parcel->bytes.data[i * op.bytes],
                  warp.source<std::byte>(places[i]) + std::size_t{l} * op.bytes, op.bytes);
      if (!warp.undefined.are_kept() || places[i].is_constant()) continue;
      const std::uint8_t bits = warp.undefined.of(places[i])[l];
      for (unsigned b = 0; b < op.bytes; ++b) {
        parcel->bytes.undefined[i * op.bytes + b] = ((bits >> b) & 1U) != 0 ? 0xFF : 0;
      }
    }
    check_same_cta(warp, l, to[l], mbarrier[l]);
    send(warp, l, parcel, ByteRun{region, to[l], region != nullptr ? total : 0}, mbarrier[l]);
  };
  Mask missing = warp.exec;
  visit_regions(warp, to.data(), warp.exec, total, AccessKind::Write, space_of(warp, op, 0),
                [&](Region& region, Mask group) {
                  missing &= ~group;
                  for_each_lane(group, [&](unsigned l) { send_lane(&region, l); });
                });
  for_each_lane(missing, [&](unsigned l) { send_lane(nullptr, l); });
}

bool decode_element(Decode& in, Combine combine) {
  in.tracks_itself(run_store_async);
  in.op.set(combine);
  in.op.bytes = static_cast<std::uint8_t>(isa::info(in.type("type")).bits / 8);
  in.op.address = cluster_address(in, 0);
  in.further(in.sources(1));
  cluster_address(in, 2);
  return true;
}

// --- decoding ------------------------------------------------------------------------------------

bool decode_bulk(Decode& in) {
  const bool to_global = in.word("dst") == "global";
  in.tracks_itself(to_global ? run_to_global : run_to_shared);
  in.function().program().uses_async_proxy = true;
  in.op.address = in.address(0);
  in.address(1);
  in.op.p[0] = in.source(2);
  if (!to_global) in.address(3);
  if (const std::size_t mask = in.find("mask"); mask < in.count()) in.op.p[1] = in.source(mask);
  return true;
}

bool decode_bulk_reduce(Decode& in) {
  const isa::Type type = in.type("type");
  const Combine combine = pick_combine(in.has("op") ? in.word("op") : Word("add"), type);
  decode_bulk(in);
  in.op.set(combine);
  in.op.bytes = static_cast<std::uint8_t>(isa::info(type).bits / 8);
  return combine != nullptr;
}

bool decode_wait_group(Decode& in) {
  in.op.run = run_wait_group;
  in.op.set(WaitGroup{static_cast<std::uint32_t>(in.immediate(0)), in.has("read")});
  return true;
}

constexpr OpRow kRows[] = {
    {"cp.async.bulk", decode_bulk},
    {"cp.reduce.async.bulk", decode_bulk_reduce},
    {"cp.async.bulk.prefetch", decode_bare<run_nothing>},
    {"cp.async.bulk.commit_group", decode_bare<run_commit>},
    {"cp.async.bulk.wait_group", decode_wait_group},
};

}  // namespace

constinit const OpFamily family{"bulk_copy", kRows};

}  // namespace ww::sim::bulk_copy_ops

namespace ww::sim {

bool decode_st_async(Decode& in) { return bulk_copy_ops::decode_element(in, nullptr); }

bool decode_red_async(Decode& in) {
  const Combine combine = pick_combine(in.word("op"), in.type("type"));
  return combine != nullptr && bulk_copy_ops::decode_element(in, combine);
}

}  // namespace ww::sim
