// SPDX-License-Identifier: Apache-2.0
#include "sim/checks/fences.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/checks/race_checks.h"
#include "sim/order/async_fences.h"
#include "sim/run/unit.h"

namespace ww::sim {
namespace {

// Calls visit(word) for the words of each lane's bytes.
template <typename Visit>
void for_each_word(const std::uint64_t* address, Mask lanes, unsigned bytes, Visit&& visit) {
  for_each_lane(lanes, [&](unsigned l) {
    const std::uint64_t end = (address[l] + bytes + 3) / 4;
    for (std::uint64_t word = address[l] / 4; word < end; ++word) visit(word, l);
  });
}

std::uint64_t open_key(unsigned unit_warp, std::uint32_t op) {
  return (std::uint64_t{unit_warp} << 32U) | op;
}

}  // namespace

void FenceTracker::reset() {
  pages_ = {};
  reads_ = {};
  open_reads_.clear();
  fenced_.clear();
  acquired_.clear();
  released_.clear();
  tensors_.clear();
}

// --- proxies -------------------------------------------------------------------------------------

void FenceTracker::wrote(const Warp& warp, const Region& region, const std::uint64_t* address,
                         Mask lanes, unsigned bytes) {
  if (!is_watched(region)) return;
  const unsigned unit_warp = warp.unit_warp();
  Write write{order_.now(unit_warp), warp.current, 0};
  for_each_word(address, lanes, bytes, [&](std::uint64_t word, unsigned l) {
    write.thread = unit_warp * kLanes + l;
    pages_.at(word / kPageWords)[word % kPageWords] = write;
  });
}

// By the strict reading any read counts.
void FenceTracker::read(const Warp& warp, const Region& region, const std::uint64_t* address,
                        Mask lanes, unsigned bytes) {
  if (!has_async_proxy_ || region.space != Space::Shared) return;
  if (!order_.fences_are_own && !warp.program->late_reads[warp.current]) return;
  const unsigned unit_warp = warp.unit_warp();
  Read read{{order_.now(unit_warp), warp.current, 0}};
  std::vector<std::uint64_t>* const open =
      order_.fences_are_own ? nullptr : &open_reads_[open_key(unit_warp, warp.current)];
  for_each_word(address, lanes, bytes, [&](std::uint64_t word, unsigned l) {
    read.thread = unit_warp * kLanes + l;
    reads_.at(word / kPageWords)[word % kPageWords] = read;
    if (open != nullptr) open->push_back(word);
  });
}

void FenceTracker::settled(const Warp& warp) {
  if (open_reads_.empty()) return;
  const auto& all = warp.program->settled_reads;
  const unsigned unit_warp = warp.unit_warp();
  for (auto at = std::ranges::lower_bound(all, std::pair{warp.current, 0U});
       at != all.end() && at->first == warp.current; ++at) {
    const auto found = open_reads_.find(open_key(unit_warp, at->second));
    if (found == open_reads_.end()) continue;
    for (const std::uint64_t word : found->second) {
      Read& read = reads_.at(word / kPageWords)[word % kPageWords];
      if (read.op == at->second && read.thread / kLanes == unit_warp)
        read.settled = order_.now(unit_warp);
    }
    open_reads_.erase(found);
  }
}

void FenceTracker::fenced(const Warp& warp, Mask lanes) {
  const unsigned unit_warp = warp.unit_warp();
  for_each_lane(lanes,
                [&](unsigned l) { fenced_[unit_warp * kLanes + l] = order_.now(unit_warp); });
}

// A read that nothing orders is a race, and not looked at here.
void FenceTracker::check_reads(Warp& warp, const std::uint64_t* address, Mask lanes,
                               unsigned bytes) {
  const unsigned unit_warp = warp.unit_warp();
  for_each_word(address, lanes, bytes, [&](std::uint64_t word, unsigned lane) {
    ReadPage* page = reads_.find(word / kPageWords);
    if (page == nullptr) return;
    const Read read = std::exchange((*page)[word % kPageWords], {});
    if (read.clock == 0) return;
    const auto fence = fenced_.find(read.thread);
    if (fence != fenced_.end() && fence->second >= read.clock) return;
    const unsigned other = read.thread / kLanes;
    const unsigned other_lane = read.thread % kLanes;
    if (!order_.ordered(unit_warp, lane, other, other_lane, read.clock)) return;
    if (read.settled != 0 && order_.ordered(unit_warp, lane, other, other_lane, read.settled))
      return;
    if (!warp.is_new(Check::Fence, read.op)) return;
    warp.report_at(
        Check::Fence, lane_bit(lane), std::max(word * 4, address[lane]),
        fmt::format(
            "writes {} in the async proxy, and a read of it in the generic proxy may still be "
            "under way: {}the reading thread executes `fence.proxy.async.shared::cta` before "
            "the barrier",
            place_text(*warp.unit, address[lane], bytes),
            warp.program->late_reads[read.op]
                ? "no instruction needs its value before the barrier; "
                : ""),
        warp.unit->party(read.op, other, lane_bit(other_lane)));
  });
}

void FenceTracker::forget(const Region& region, const std::uint64_t* address, Mask lanes,
                          unsigned bytes) {
  if (!is_watched(region)) return;
  for_each_word(address, lanes, bytes, [&](std::uint64_t word, unsigned) {
    Page* page = pages_.find(word / kPageWords);
    if (page != nullptr) (*page)[word % kPageWords] = {};
  });
}

bool FenceTracker::is_rewritten(const Region& region, std::uint64_t address, unsigned bytes) {
  if (!is_watched(region)) return false;
  bool any = false;
  for_each_word(&address, lane_bit(0), bytes, [&](std::uint64_t word, unsigned) {
    const Page* page = pages_.find(word / kPageWords);
    any = any || (page != nullptr && (*page)[word % kPageWords].clock != 0);
  });
  return any;
}

void FenceTracker::check_async(Warp& warp, const Region& region, const std::uint64_t* address,
                               Mask lanes, unsigned bytes, bool is_write) {
  if (!is_watched(region)) return;
  const bool is_shared = region.space == Space::Shared;
  if (is_write && is_shared) check_reads(warp, address, lanes, bytes);
  const Past what = is_shared ? Past::FencedShared : Past::FencedGlobal;
  const unsigned unit_warp = warp.unit_warp();
  for_each_word(address, lanes, bytes, [&](std::uint64_t word, unsigned lane) {
    const Page* page = pages_.find(word / kPageWords);
    if (page == nullptr) return;
    const Write& write = (*page)[word % kPageWords];
    if (write.clock == 0) return;
    const unsigned other = write.thread / kLanes;
    const unsigned other_lane = write.thread % kLanes;
    if (fenced_for_proxy(order_, unit_warp, lane, other, other_lane, write.clock, what) ||
        !order_.ordered(unit_warp, lane, other, other_lane, write.clock)) {
      return;
    }
    if (!warp.is_new(Check::Fence, write.op)) return;
    warp.report_at(
        Check::Fence, lane_bit(lane), std::max(word * 4, address[lane]),
        fmt::format("{} {} in the async proxy, which was written in the generic proxy with no "
                    "`fence.proxy.async{}` behind the write; the writing thread executes it before "
                    "the barrier",
                    is_write ? "writes" : "reads", place_text(*warp.unit, address[lane], bytes),
                    is_shared ? ".shared::cta" : ".global"),
        warp.unit->party(write.op, other, lane_bit(other_lane)));
  });
}

// --- tensor maps ---------------------------------------------------------------------------------

FenceTracker::MapWrites FenceTracker::writes_of_map(std::uint64_t address) {
  MapWrites writes{};
  for (std::size_t i = 0; i < kMapWords; ++i) {
    const std::uint64_t word = address / 4 + i;
    const Page* page = pages_.find(word / kPageWords);
    if (page != nullptr) writes[i] = (*page)[word % kPageWords];
  }
  return writes;
}

void FenceTracker::release_maps(const Warp& warp, Mask lanes) {
  const unsigned unit_warp = warp.unit_warp();
  for_each_lane(lanes,
                [&](unsigned l) { released_[unit_warp * kLanes + l] = order_.now(unit_warp); });
}

void FenceTracker::acquire_map(const Region& region, std::uint64_t address) {
  if (is_watched(region)) acquired_[address] = writes_of_map(address);
}

void FenceTracker::check_map(Warp& warp, const Region& region, std::uint64_t address,
                             unsigned lane) {
  if (!is_watched(region)) return;
  const MapWrites writes = writes_of_map(address);
  const auto last = std::ranges::max_element(writes, {}, &Write::clock);
  if (last->clock == 0) return;
  const auto seen = acquired_.find(address);
  const bool is_acquired = seen != acquired_.end() && seen->second == writes;
  const auto released = released_.find(last->thread);
  const bool is_released = released != released_.end() && released->second >= last->clock;
  if ((is_acquired && is_released) || !warp.is_new(Check::Fence, last->op)) return;
  const char* missing =
      is_released ? "no `fence.proxy.tensormap::generic.acquire` of it has followed in this CTA"
                  : "the thread that changed it has executed no "
                    "`fence.proxy.tensormap::generic.release` since; `tensormap.cp_fenceproxy` has "
                    "it";
  warp.report_at(
      Check::Fence, lane_bit(lane), address,
      fmt::format("uses the tensor map at 0x{:x}, which this kernel has changed, and {}", address,
                  missing),
      warp.unit->party(last->op, last->thread / kLanes, lane_bit(last->thread % kLanes)));
}

// --- tensor memory -------------------------------------------------------------------------------

std::vector<FenceTracker::TensorCell>& FenceTracker::cells_of(unsigned rank) {
  if (tensors_.size() <= rank) tensors_.resize(rank + 1);
  if (tensors_[rank].empty()) tensors_[rank].resize(std::size_t{kTensorLanes} * kTensorColumns);
  return tensors_[rank];
}

namespace {

const char* verb_of(TensorUse use) {
  switch (use) {
    case TensorUse::Load:
      return "loads";
    case TensorUse::Store:
      return "stores to";
    case TensorUse::Copy:
      return "writes";
    case TensorUse::Fetch:
      return "reads";
  }
  return "";
}

}  // namespace

void FenceTracker::check_pair(Warp& warp, unsigned lane, std::uint32_t cell, TensorUse use,
                              const LastAccess& before, const char* done) {
  if (before.clock == 0) return;
  const unsigned mine = warp.unit_warp();
  const unsigned other = before.warp;
  // In one warp loads and stores are waited for, and the tensor core works in order.
  if (mine == other && (!before.by_tensor_core || is_by_tensor_core(use))) return;
  if (fenced_in_tensor(order_, mine, other, before.clock)) return;
  if (mine != other && !order_.knows(mine, other, before.clock)) return;
  if (!warp.is_new(Check::Fence, before.op)) return;
  const bool is_before = has_before(order_, mine, lane, other, before.clock);
  const bool is_after = has_after(order_, mine, other, before.clock);
  const char* missing = is_before  ? "no `tcgen05.fence::after_thread_sync` behind it"
                        : is_after ? "no `tcgen05.fence::before_thread_sync` before it"
                                   : "neither `tcgen05.fence::before_thread_sync` before it nor "
                                     "`tcgen05.fence::after_thread_sync` behind it";
  const char* who = before.by_tensor_core ? "the tensor core" : "another warp";
  warp.report_at(
      Check::Fence, lane_bit(lane), 0,
      fmt::format("{} {} that {} has {}; there is a barrier between the two, with {}", verb_of(use),
                  tensor_text(address_of_cell(0, cell)), who, done, missing),
      warp.unit->party(before.op, other, 0));
}

void FenceTracker::check_cell(Warp& warp, unsigned lane, unsigned rank, std::uint32_t cell,
                              TensorUse use) {
  const TensorCell& here = cells_of(rank)[cell];
  check_pair(warp, lane, cell, use, here.write, here.write.by_tensor_core ? "written" : "stored");
  if (!is_read(use))
    check_pair(warp, lane, cell, use, here.read, here.read.by_tensor_core ? "read" : "loaded");
}

void FenceTracker::used_cell(const Warp& warp, unsigned rank, std::uint32_t cell, TensorUse use,
                             std::uint32_t count) {
  TensorCell* here = &cells_of(rank)[cell];
  const unsigned unit_warp = warp.unit_warp();
  const LastAccess access{order_.now(unit_warp), warp.current,
                          static_cast<std::uint16_t>(unit_warp), is_by_tensor_core(use)};
  for (TensorCell* end = here + count; here != end; ++here) {
    if (is_read(use)) {
      here->read = access;
    } else {
      *here = {access, {}};
    }
  }
}

bool FenceTracker::are_own(const Warp& warp, unsigned rank, std::uint32_t cell,
                           std::uint32_t count) {
  const TensorCell* here = &cells_of(rank)[cell];
  const unsigned mine = warp.unit_warp();
  return std::all_of(here, here + count, [&](const TensorCell& each) {
    return each.write.clock != 0 && each.write.by_tensor_core && each.read.clock == 0 &&
           each.write.warp == mine;
  });
}

void FenceTracker::forget_columns(unsigned rank, unsigned first, unsigned count) {
  if (tensors_.size() <= rank || tensors_[rank].empty()) return;
  for (unsigned lane = 0; lane < kTensorLanes; ++lane) {
    const auto from = tensors_[rank].begin() + lane * kTensorColumns + first;
    std::fill(from, from + count, TensorCell{});
  }
}

}  // namespace ww::sim
