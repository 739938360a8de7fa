// SPDX-License-Identifier: Apache-2.0
// cp.async: copies of 4, 8 or 16 bytes from global to shared memory, a lane at a time, in groups.
// The source is read at once; what was read lands in shared memory when its lane waits for the
// group, or when somebody waits for the mbarrier that the lane arrives on with
// cp.async.mbarrier.arrive. Copies without a wait never land, and are found at the end.
#include <fmt/format.h>

#include <algorithm>

#include "sim/checks/undefined.h"
#include "sim/memory/access.h"
#include "sim/ops/async_ops.h"
#include "sim/ops/families.h"
#include "sim/ops/pred_source.h"
#include "sim/run/mbarriers.h"

namespace ww::sim::cp_async_ops {
namespace {

enum class Source : std::uint8_t { Whole, Size, IgnoreIf };  // what operand 3 is
struct Arrival {
  bool increments;
};

// --- issuing -------------------------------------------------------------------------------------

// How many bytes of its source each lane reads; the rest of the copy is zeros.
void source_sizes(Warp& warp, const Op& op, std::uint32_t* sizes) {
  std::fill_n(sizes, kLanes, std::uint32_t{op.bytes});
  const auto source = op.as<Source>();
  if (source == Source::IgnoreIf) {
    use_value(warp, op.p[0], warp.exec, 0, true);
    const Mask ignored = source_pred(warp, op, 0);
    for_each_lane(ignored, [&](unsigned l) { sizes[l] = 0; });
  }
  if (source != Source::Size) return;
  use_value(warp, op.p[0], warp.exec);
  std::copy_n(warp.source<std::uint32_t>(op.p[0]), kLanes, sizes);
  for_each_lane(warp.exec, [&](unsigned l) {
    if (sizes[l] <= op.bytes) return;
    if (warp.checks(Check::Bounds)) {
      warp.report(Check::Bounds, lane_bit(l),
                  fmt::format("copies {} bytes of the source into {}", sizes[l], op.bytes));
    }
    sizes[l] = op.bytes;
  });
}

// The source is aligned to the whole copy, however little of it is read.
Mask aligned_lanes(Warp& warp, const std::uint64_t* address, Mask who, unsigned bytes) {
  Mask bad = 0;
  for_each_lane(who, [&](unsigned l) {
    if (address[l] % bytes != 0) bad |= lane_bit(l);
  });
  if (bad == 0 || !warp.checks(Check::Align)) return who;
  const unsigned lane = first_lane(bad);
  if (warp.is_new(Check::Align, kNoOp, count_lanes(bad))) {
    warp.report_at(Check::Align, bad, address[lane],
                   fmt::format("address 0x{:x} of lane {} is not a multiple of {}", address[lane],
                               lane, bytes));
  }
  return who & ~bad;
}

void read_sources(Warp& warp, const Op& op, const Address& from, PendingCopy& copy) {
  std::uint32_t sizes[kLanes];
  source_sizes(warp, op, sizes);
  std::uint64_t address[kLanes];
  lane_addresses(warp, from, address);
  Mask left = 0;
  for_each_lane(copy.lanes, [&](unsigned l) {
    if (sizes[l] != 0) left |= lane_bit(l);
  });
  left = aligned_lanes(warp, address, left, op.bytes);
  while (left != 0) {  // lanes that read equally much at a time
    const std::uint32_t size = sizes[first_lane(left)];
    Mask same = 0;
    for_each_lane(left, [&](unsigned l) {
      if (sizes[l] == size) same |= lane_bit(l);
    });
    left &= ~same;
    visit_regions(warp, address, same, size, AccessKind::Read, from.space,
                  [&](Region& region, Mask group) {
                    note_access(warp, region, address, group, size, Touched::Read);
                    count_access(warp, region, address, group, size, Touched::Read);
                    for_each_lane(group, [&](unsigned l) {
                      const std::uint64_t at = region.offset(address[l], l);
                      std::memcpy(copy.data[l], region.data + at, size);
                      if (region.undefined == nullptr) return;
                      std::memcpy(copy.undefined[l], region.undefined + at, size);
                    });
                  });
  }
}

void run_copy(Warp& warp, const Op& op) {
  const Address* addresses = &warp.program->addresses[op.address];
  for (unsigned i = 0; i < 2; ++i) {
    use_base(warp, addresses[i], warp.exec);
  }
  warp.pending.copies.emplace_back();
  PendingCopy& copy = warp.pending.copies.back();
  copy.op = warp.current;
  copy.number = warp.pending.copies_issued++;
  copy.bytes = op.bytes;
  lane_addresses(warp, addresses[0], copy.to);
  visit_regions(warp, copy.to, warp.exec, op.bytes, AccessKind::Write, addresses[0].space,
                [&](Region& region, Mask group) {
                  copy.lanes |= group;
                  access_checks(warp, region, copy.to, group, op.bytes, Touched::Write);
                  for_each_lane(group, [&](unsigned l) {
                    copy.group[l] = warp.pending.committed[l];
                    std::memset(copy.data[l], 0, sizeof copy.data[l]);
                    std::memset(copy.undefined[l], 0, sizeof copy.undefined[l]);
                    mark_shared(warp, region, copy.to[l], op.bytes, l, AsyncUse::Write);
                  });
                });
  read_sources(warp, op, addresses[1], copy);
  if (copy.lanes == 0) warp.pending.copies.pop_back();
}

// --- landing -------------------------------------------------------------------------------------

void land(Warp& warp, PendingCopy& copy, Mask lanes) {
  const ActingFor acting(warp, copy.op);
  const Region& region = warp.cta->shared;
  note_access(warp, region, copy.to, lanes, copy.bytes, Touched::AsyncWrite);
  for_each_lane(lanes, [&](unsigned l) {
    const std::uint64_t at = region.offset(copy.to[l], 0);
    std::memcpy(region.data + at, copy.data[l], copy.bytes);
    if (region.undefined != nullptr) {
      std::memcpy(region.undefined + at, copy.undefined[l], copy.bytes);
    }
    unmark_shared(warp, region, copy.to[l], copy.bytes, AsyncUse::Write);
  });
  copy.lanes &= ~lanes;
}

// Lets those copies of the lanes land for which is_due(copy, lane) holds, in the order of issue.
template <typename IsDue>
void land_if(Warp& warp, Mask who, IsDue&& is_due) {
  for (PendingCopy& copy : warp.pending.copies) {
    Mask due = 0;
    for_each_lane(copy.lanes & who, [&](unsigned l) {
      if (is_due(copy, l)) due |= lane_bit(l);
    });
    if (due != 0) land(warp, copy, due);
  }
  std::erase_if(warp.pending.copies, [](const PendingCopy& copy) { return copy.lanes == 0; });
}

void run_commit(Warp& warp, const Op&) {
  for_each_lane(warp.exec, [&](unsigned l) { ++warp.pending.committed[l]; });
}

void run_wait_group(Warp& warp, const Op& op) {
  const auto newest = static_cast<std::uint64_t>(op.as<Constant>().value);
  land_if(warp, warp.exec, [&](const PendingCopy& copy, unsigned l) {
    return copy.group[l] < warp.pending.committed[l] &&
           warp.pending.committed[l] - copy.group[l] > newest;
  });
}

void run_wait_all(Warp& warp, const Op&) {
  land_if(warp, warp.exec, [](const PendingCopy&, unsigned) { return true; });
}

// --- arriving on an mbarrier when copies have landed ---------------------------------------------

// One job for all lanes that name the same mbarrier.
void arrive_later(Warp& warp, std::uint64_t address, Mask lanes) {
  const std::uint32_t before = warp.pending.copies_issued;
  start_job(warp, first_lane(lanes),
            {.mbarrier = address, .deliver = [&warp, address, lanes, before] {
               deliver_copies(warp, lanes, before);
               for_each_lane(lanes, [&](unsigned l) {
                 Mbarrier* barrier = find_mbarrier(*warp.unit, address);
                 const bool is_first = l == first_lane(lanes);
                 if (barrier != nullptr)
                   arrive_on(warp, *barrier, address, l, {.lanes = is_first ? lanes : 0});
               });
             }});
}

void run_arrive(Warp& warp, const Op& op) {
  const LaneAddresses address = used_addresses(warp, op);
  Mask found = 0;
  visit_regions(warp, address.data(), warp.exec, 8, AccessKind::Atomic,
                warp.program->addresses[op.address].space,
                [&](Region&, Mask group) { found |= group; });
  for_each_address(address.data(), found, [&](std::uint64_t here, Mask same) {
    Mbarrier* barrier = mbarrier_at(warp, here, same);
    if (barrier == nullptr) return;
    if (op.as<Arrival>().increments) barrier->pending += count_lanes(same);
    arrive_later(warp, here, same);
  });
}

// --- decoding ------------------------------------------------------------------------------------

bool decode_copy(Decode& in) {
  in.tracks_itself(run_copy);
  in.op.bytes = static_cast<std::uint8_t>(in.immediate(2));
  in.op.address = in.address(0);
  in.address(1);
  if (!in.given(3)) return true;
  const bool is_pred = in.form.form().operands[3].name == "ignore_src";
  in.op.set(is_pred ? Source::IgnoreIf : Source::Size);
  take_pred(in, 3, 0);
  return true;
}
bool decode_wait_group(Decode& in) {
  in.op.run = run_wait_group;
  in.op.set(Constant{in.immediate(0)});
  return true;
}
bool decode_arrive(Decode& in) {
  in.tracks_itself(run_arrive);
  in.op.set(Arrival{.increments = !in.has("noinc")});
  in.op.address = in.address(0);
  return true;
}

constexpr OpRow kRows[] = {
    {"cp.async", decode_copy},
    {"cp.async.commit_group", decode_bare<run_commit>},
    {"cp.async.wait_group", decode_wait_group},
    {"cp.async.wait_all", decode_bare<run_wait_all>},
    {"cp.async.mbarrier.arrive", decode_arrive},
};

}  // namespace

constinit const OpFamily family{"cp_async", kRows};

}  // namespace ww::sim::cp_async_ops

namespace ww::sim {

void deliver_copies(Warp& warp, Mask lanes, std::uint32_t before) {
  cp_async_ops::land_if(warp, lanes,
                        [&](const PendingCopy& copy, unsigned) { return copy.number < before; });
}

}  // namespace ww::sim
