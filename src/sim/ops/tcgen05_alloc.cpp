// SPDX-License-Identifier: Apache-2.0
// Tensor memory itself: how it is handed out and taken back, and what all instructions on it share.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "sim/checks/undefined.h"
#include "sim/decode/function_decoder.h"
#include "sim/memory/access.h"
#include "sim/ops/async_ops.h"
#include "sim/ops/tcgen05_ops.h"
#include "sim/run/meet.h"

namespace ww::sim {
namespace {

bool is_legal_count(std::uint32_t columns) {
  return std::has_single_bit(columns) && columns >= 32 && columns <= kTensorColumns;
}

// All others wait, too: the columns will never be free.
void give_up(Warp& warp, const TensorMemory& tensor, std::uint32_t columns) {
  std::uint32_t held = 0;
  for (const TensorMemory::Allocation& a : tensor.allocations()) held += a.count;
  const std::string text = fmt::format(
      "waits for {} columns of tensor memory and can never have them: {} of {} are allocated",
      columns, held, kTensorColumns);
  report_tensor(warp, warp.exec, text);
  warp.unit->stop(Outcome::Deadlocked,
                  fmt::format("{}, warp {}: {}", warp.unit->describe(*warp.cta), warp.index, text));
}

void run_alloc(Warp& warp, const Op& op) {
  // A grant that is not for meeting the other lanes: all wait, so this one waits in vain.
  const bool in_vain = warp.grant.is_open && !is_meeting_grant(warp) && take_grant(warp);
  if (!meet_all(warp)) return;
  use_value(warp, op.p[0], warp.exec);
  TensorMemory& tensor = tensor_of(*warp.cta);
  const unsigned first = first_lane(warp.exec);
  std::uint32_t columns = warp.source<std::uint32_t>(op.p[0])[first];
  if (tensor.relinquished) {
    report_tensor(warp, warp.exec, "allocates after `tcgen05.relinquish_alloc_permit`");
  }
  if (!is_legal_count(columns)) {
    report_tensor(
        warp, warp.exec,
        fmt::format("allocates {} columns; 32, 64, 128, 256 and 512 are possible", columns));
    columns = std::bit_ceil(std::clamp<std::uint32_t>(columns, 32, kTensorColumns));
  }
  const auto column = tensor.allocate(columns, warp.current, warp.index);
  if (column && warp.unit->order != nullptr) {
    acquire(*warp.unit->order, actor_of(warp, warp.exec), tensor.freed_clock);
  }
  if (!column && in_vain) {
    give_up(warp, tensor, columns);
    return;
  }
  if (!column) {
    wait_in(warp, SplitState::AtAlloc);
    return;
  }
  const LaneAddresses to = used_addresses(warp, op);
  act(warp);
  visit_regions(warp, to.data(), lane_bit(first), sizeof *column, AccessKind::Write,
                warp.program->addresses[op.address].space, [&](Region& region, Mask group) {
                  access_checks(warp, region, to.data(), group, sizeof *column, Touched::Write);
                  const std::uint64_t at = region.offset(to[first], first);
                  std::memcpy(region.data + at, &*column, sizeof *column);
                  mark_bytes(region, at, sizeof *column);
                });
}

// Nothing orders work that still goes on in the columns before this.
void touch_freed(Warp& warp, const TensorMemory::Allocation& freed) {
  RaceTracker* races = warp.unit->races.get();
  if (races == nullptr) return;
  TouchedCells touched{.lanes = warp.exec};
  for (unsigned lane = 0; lane < kTensorLanes; lane += kLanes)
    for (unsigned c = 0; c < freed.count; ++c) {
      for (unsigned l = 0; l < kLanes; ++l)
        touched.cell[l] = (lane + l) * kTensorColumns + freed.column + c;
      races->touch_tensor(warp, warp.cta->rank, touched.cell.data(), touched.lanes, Touched::Free);
    }
}

void run_dealloc(Warp& warp, const Op& op) {
  if (!meet_all(warp)) return;
  use_value(warp, op.p[0], warp.exec);
  use_value(warp, op.p[1], warp.exec);
  const unsigned first = first_lane(warp.exec);
  const TensorAddress at = tensor_address(warp.source<std::uint32_t>(op.p[0])[first]);
  const std::uint32_t columns = warp.source<std::uint32_t>(op.p[1])[first];
  TensorMemory& tensor = tensor_of(*warp.cta);
  const TensorMemory::Allocation* found = at.lane == 0 ? tensor.find(at.column) : nullptr;
  if (found == nullptr) {
    report_tensor(
        warp, warp.exec,
        fmt::format("frees tensor memory at lane {}, column {}, where no allocation starts",
                    at.lane, at.column));
    return;
  }
  if (found->count != columns) {
    report_tensor(warp, warp.exec,
                  fmt::format("frees {} columns of an allocation of {}", columns, found->count));
  }
  touch_freed(warp, *found);
  if (warp.unit->order != nullptr)
    release(*warp.unit->order, actor_of(warp, warp.exec), tensor.freed_clock);
  if (warp.unit->fences != nullptr)
    warp.unit->fences->forget_columns(warp.cta->rank, found->column, found->count);
  tensor.release(at.column);
  act(warp);
  for (const auto& other : warp.cta->warps) wake(*other, SplitState::AtAlloc, false);
}

void run_relinquish(Warp& warp, const Op&) {
  if (!meet_all(warp)) return;
  tensor_of(*warp.cta).relinquished = true;
}

}  // namespace

bool decode_tensor_alloc(Decode& in) {
  in.op.flags = kTracksItself;
  in.function().program().uses_tensor_memory = true;
  in.op.address = cluster_address(in, 0);
  return in.runs(run_alloc, {in.source(1)});
}
bool decode_tensor_dealloc(Decode& in) {
  in.op.flags = kTracksItself;
  return in.runs(run_dealloc, {in.source(0), in.source(1)});
}
bool decode_tensor_relinquish(Decode& in) { return decode_bare<run_relinquish>(in); }

// --- shared --------------------------------------------------------------------------------------

TensorMemory& tensor_of(Cta& cta) {
  if (cta.tensor == nullptr) cta.tensor = std::make_unique<TensorMemory>();
  return *cta.tensor;
}

namespace {

std::uint64_t address_of(const Cta& cta, TensorAddress at) {
  return address_of_cell(cta.rank, at.lane * kTensorColumns + at.column);
}

}  // namespace

OriginId origin_in_tensor(Warp& warp, const Cta& cta, TensorAddress at) {
  Origins& origins = warp.unit->origins;
  const std::uint64_t address = address_of(cta, at);
  const OriginId id = origins.stored_at(address);
  return id != 0 ? id : origins.from({.op = warp.current, .address = address});
}

void set_origin_in_tensor(Warp& warp, const Cta& cta, TensorAddress at, OriginId before) {
  Origins& origins = warp.unit->origins;
  origins.stored(address_of(cta, at), origins.through(before, warp.current));
}

void report_tensor(Warp& warp, Mask who, const std::string& text) {
  if (!warp.is_new(Check::Tensor, kNoOp, count_lanes(who))) return;
  warp.report(Check::Tensor, who, text);
}

bool is_cell(const TensorMemory& tensor, TensorAddress at, std::string& why) {
  if (at.lane >= kTensorLanes || at.column >= kTensorColumns) {
    why = fmt::format("lane {}, column {} is outside of tensor memory", at.lane, at.column);
    return false;
  }
  if (tensor.is_allocated(at.column)) return true;
  why = fmt::format("column {} of tensor memory is not allocated", at.column);
  return false;
}

std::vector<Cta*> cta_group(Warp& warp, bool is_pair) {
  std::vector<Cta*> ctas{warp.cta};
  const unsigned peer = warp.cta->rank ^ 1U;
  if (is_pair && peer < warp.unit->ctas.size()) {
    ctas.push_back(warp.unit->ctas[peer].get());
  } else if (is_pair) {
    report_tensor(warp, warp.exec, "`.cta_group::2` in a CTA that has no peer in its cluster");
  }
  return ctas;
}

TensorAddress tensor_address_in(Warp& warp, std::uint32_t address, unsigned lane) {
  const Address& at = warp.program->addresses[address];
  use_base(warp, at, lane_bit(lane));
  std::uint64_t all[kLanes];
  lane_addresses(warp, at, all);
  return tensor_address(static_cast<std::uint32_t>(all[lane]));
}

void add_tensor_work(Warp& warp, unsigned lane, std::uint64_t held, std::function<void()> deliver) {
  warp.pending.tensor_work.push_back({.op = warp.current,
                                      .number = warp.pending.tensor_issued++,
                                      .lane = lane,
                                      .held = held,
                                      .deliver = std::move(deliver)});
}

void mark_cells(Warp& warp, TensorMemory& tensor, const TensorCells& cells) {
  for (const PendingStore::StoredCell& cell : cells) {
    TensorMemory::Pending& pending = tensor.pending_at(cell.lane, cell.column);
    ++pending.count;
    pending.op = warp.current;
    pending.warp = static_cast<std::uint16_t>(warp.index);
  }
}

void write_cells(TensorMemory& tensor, const TensorCells& cells) {
  for (const PendingStore::StoredCell& cell : cells) {
    std::uint32_t mask = 0;
    for (unsigned b = 0; b < 4; ++b) mask |= ((cell.bytes >> b) & 1U) != 0 ? 0xFFU << (8 * b) : 0U;
    std::uint32_t& value = tensor.at(cell.lane, cell.column);
    value = (value & ~mask) | (cell.value & mask);
    std::uint8_t& undefined = tensor.undefined_at(cell.lane, cell.column);
    undefined = static_cast<std::uint8_t>((undefined & ~cell.bytes) | cell.undefined);
    TensorMemory::Pending& pending = tensor.pending_at(cell.lane, cell.column);
    if (pending.count != 0) --pending.count;  // zero if the columns were freed before
  }
}

}  // namespace ww::sim
