// SPDX-License-Identifier: Apache-2.0
// tcgen05 between registers and tensor memory. Each warp reaches only the 32 lanes of its quarter,
// warp % 4; an address in quarter 0 stands for the same lanes of the warp's own one. With L0 and C0
// the lane and column of the address, register r of lane l (g = l / 4, t = l % 4) is the cell in
//
//              lane                     column
//   32x32b     L0 + l                   C0 + r
//   16x64b     L0 + g + 8 * (l % 2)     C0 + 2r + (l / 2) % 2
//   16x128b    L0 + g + 8 * (r % 2)     C0 + 4 * (r / 2) + t
//   16x256b    L0 + g + 8 * (r/2 % 2)   C0 + 8 * (r / 4) + 2t + r % 2
//   16x32bx2   L0 + l % 16              C0 + r; lanes from 16 on add a constant to the address
//
// With .pack::16b and .unpack::16b a register holds the lower halves of two columns, and there are
// twice as many. Cells get their values at tcgen05.wait::st, as late as possible. Registers get theirs at
// once: ptxas waits for a load before it uses its registers, whatever stands between. By the manual they
// may not be used before tcgen05.wait::ld (checks/tensor_loads.h), and with RunOptions::late_tensor_loads
// they hold their old values until then.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "sim/decode/function_decoder.h"
#include "sim/memory/access.h"
#include "sim/ops/async_ops.h"
#include "sim/ops/atomic_values.h"
#include "sim/ops/families.h"
#include "sim/ops/tcgen05_ops.h"
#include "sim/order/async_fences.h"
#include "sim/run/meet.h"

namespace ww::sim::tcgen05_ops {
namespace {

enum class TensorShape : std::uint8_t { S32x32b, S16x64b, S16x128b, S16x256b, S16x32bx2 };
struct TensorOp {
  std::uint32_t half_split;  // of 16x32bx2
  TensorShape shape;
  bool is_packed : 1;
  bool reduces : 1, takes_max : 1, takes_abs : 1, keeps_nan : 1;  // tcgen05.ld.red
  bool is_float : 1, is_signed : 1;
};
constexpr unsigned kQuarter = 32;

// --- cells ---------------------------------------------------------------------------------------

TensorAddress offset_of(TensorShape shape, unsigned lane, unsigned reg) {
  const unsigned g = lane / 4;
  const unsigned t = lane % 4;
  switch (shape) {
    case TensorShape::S32x32b:
      return {lane, reg};
    case TensorShape::S16x64b:
      return {g + 8 * (lane % 2), 2 * reg + lane / 2 % 2};
    case TensorShape::S16x128b:
      return {g + 8 * (reg % 2), 4 * (reg / 2) + t};
    case TensorShape::S16x256b:
      return {g + 8 * (reg / 2 % 2), 8 * (reg / 4) + 2 * t + reg % 2};
    case TensorShape::S16x32bx2:
      return {lane % 16, reg};
  }
  return {};
}

/// The cells of a load or store: where they are, and whether a lane may touch them.
class TensorAccess {
 public:
  TensorAccess(Warp& warp, const Op& op)
      : warp_(warp),
        tensor_(tensor_of(*warp.cta)),
        shape_(op.as<TensorOp>().shape),
        half_split_(op.as<TensorOp>().half_split),
        first_(warp.index % 4 * kQuarter) {
    const Address& address = warp.program->addresses[op.address];
    use_base(warp, address, warp.exec);
    std::uint64_t all[kLanes];
    lane_addresses(warp, address, all);
    base_ = static_cast<std::uint32_t>(all[first_lane(warp.exec)]);
    check_address(all);
    if (tensor_address(base_).lane < kQuarter) moved_ = first_;
  }

  /// Cell `part` (0 or, when packed, 1) of a register of a lane; false: it is not to be touched.
  bool find(unsigned lane, unsigned reg, unsigned part, bool packed, TensorAddress& cell) {
    const bool is_upper = shape_ == TensorShape::S16x32bx2 && lane >= kLanes / 2;
    const TensorAddress base = tensor_address(base_ + (is_upper ? half_split_ : 0));
    const TensorAddress offset = offset_of(shape_, lane, reg);
    const std::uint32_t column = packed ? 2 * offset.column + part : offset.column;
    cell = {base.lane + moved_ + offset.lane, base.column + column};
    std::string why;
    if (cell.lane - first_ >= kQuarter) {
      why = fmt::format("lane {} of tensor memory is none of the lanes {} to {} of warp {}",
                        cell.lane, first_, first_ + kQuarter - 1, warp_.index);
    } else if (is_cell(tensor_, cell, why)) {
      note(lane, reg * 2 + part, cell);
      return true;
    }
    if (bad_ == 0) why_ = why;
    bad_ |= lane_bit(lane);
    return false;
  }
  /// Reports what was found wrong.
  void finish() {
    if (bad_ != 0) report_tensor(warp_, bad_, why_);
  }
  TensorMemory& tensor() { return tensor_; }
  /// The cells that were found, by register and part, where races or fences are looked for.
  std::vector<TouchedCells> touched;

 private:
  void note(unsigned lane, unsigned row, TensorAddress cell) {
    if (warp_.unit->order == nullptr) return;
    if (touched.size() <= row) touched.resize(row + 1);
    touched[row].lanes |= lane_bit(lane);
    touched[row].cell[lane] = cell.lane * kTensorColumns + cell.column;
  }
  void check_address(const std::uint64_t* all) {
    for_each_lane(warp_.exec, [&](unsigned l) {
      if (static_cast<std::uint32_t>(all[l]) == base_) return;
      if (bad_ == 0) why_ = "the lanes of the warp name different addresses";
      bad_ |= lane_bit(l);
    });
    const std::uint32_t step = shape_ == TensorShape::S32x32b ? 32 : 16;
    const std::uint32_t lane = tensor_address(base_).lane;
    if (lane % step == 0 || bad_ != 0) return;
    bad_ = warp_.exec;
    why_ = fmt::format("lane {} of the address is not a multiple of {}", lane, step);
  }

  Warp& warp_;
  TensorMemory& tensor_;
  TensorShape shape_;
  std::uint32_t half_split_;
  std::uint32_t first_;      // lane of the warp's quarter
  std::uint32_t moved_ = 0;  // lanes that the address does not say
  std::uint32_t base_ = 0;
  Mask bad_ = 0;
  std::string why_;
};

// Races are looked for when an access is issued and when it is waited for: it lasts so long.
void touch_cells(Warp& warp, const std::vector<TouchedCells>& all, Touched how) {
  if (warp.unit->races == nullptr) return;
  for (const TouchedCells& cells : all)
    if (cells.lanes != 0)
      warp.unit->races->touch_tensor(warp, warp.cta->rank, cells.cell.data(), cells.lanes, how);
}

// Fences are looked for when it is issued; what comes next is behind its end.
void check_fences(Warp& warp, const std::vector<TouchedCells>& all, TensorUse use) {
  FenceTracker* fences = warp.unit->fences.get();
  if (fences == nullptr) return;
  for (const TouchedCells& cells : all)
    for_each_lane(cells.lanes, [&](unsigned l) {
      fences->check_cell(warp, l, warp.cta->rank, cells.cell[l], use);
    });
}
void note_fences(Warp& warp, const std::vector<TouchedCells>& all, std::uint32_t op,
                 TensorUse use) {
  FenceTracker* fences = warp.unit->fences.get();
  if (fences == nullptr) return;
  const ActingFor acting(warp, op);
  for (const TouchedCells& cells : all)
    for_each_lane(cells.lanes,
                  [&](unsigned l) { fences->used_cell(warp, warp.cta->rank, cells.cell[l], use); });
}

// --- loads ---------------------------------------------------------------------------------------

void check_pending(Warp& warp, const TensorMemory::Pending& pending, TensorAddress cell,
                   unsigned lane) {
  if (pending.count == 0) return;
  if (!warp.is_new(Check::Async, pending.op)) return;
  warp.report_at(Check::Async, lane_bit(lane), 0,
                 fmt::format("loads lane {}, column {} of tensor memory, which an earlier "
                             "instruction is still to write",
                             cell.lane, cell.column),
                 Party{pending.op, warp.cta->linear, pending.warp, 0});
}

struct LoadedRegister {
  std::uint32_t bits = 0;
  std::uint8_t undefined = 0;
  OriginId origin = 0;  // of undefined bytes
};

LoadedRegister load_register(Warp& warp, TensorAccess& access, unsigned lane, unsigned reg,
                             bool packed) {
  LoadedRegister value;
  for (unsigned part = 0; part < (packed ? 2U : 1U); ++part) {
    TensorAddress cell;
    if (!access.find(lane, reg, part, packed, cell)) continue;
    check_pending(warp, access.tensor().pending_at(cell.lane, cell.column), cell, lane);
    const std::uint32_t bits = access.tensor().at(cell.lane, cell.column);
    const std::uint8_t undefined = access.tensor().undefined_at(cell.lane, cell.column);
    const OriginId origin = undefined != 0 && warp.undefined.are_kept()
                                ? origin_in_tensor(warp, *warp.cta, cell)
                                : OriginId{0};
    if (!packed) return {bits, undefined, origin};
    value.bits |= (bits & 0xFFFFU) << (16 * part);
    value.undefined |= static_cast<std::uint8_t>((undefined & 3U) << (2 * part));
    if (value.origin == 0 && (undefined & 3U) != 0) value.origin = origin;
  }
  return value;
}

// The least or greatest of what a lane has loaded.
std::uint32_t reduced(const TensorOp& it, std::uint32_t a, std::uint32_t b) {
  if (it.is_float) {
    const auto is_nan = [](std::uint32_t bits) { return (bits & 0x7FFF'FFFFU) > 0x7F80'0000U; };
    if (it.keeps_nan && (is_nan(a) || is_nan(b))) return 0x7FFF'FFFFU;
    return it.takes_max ? max_f32(a, b) : min_f32(a, b);
  }
  const std::uint32_t flip = it.is_signed ? 0x8000'0000U : 0;
  return ((a ^ flip) > (b ^ flip)) == it.takes_max ? a : b;
}

LoadedRegister reduce_lane(const PendingLoad& load, const TensorOp& it, unsigned count,
                           unsigned lane) {
  LoadedRegister value;
  for (unsigned r = 0; r < count; ++r) {
    std::uint32_t bits = load.values[r * kLanes + lane];
    if (it.takes_abs) bits &= 0x7FFF'FFFFU;
    value.bits = r == 0 ? reduced(it, bits, bits) : reduced(it, value.bits, bits);
    if (load.undefined[r * kLanes + lane] == 0) continue;
    value.undefined = 0x0F;
    if (!load.origins.empty()) value.origin = load.origins[r * kLanes + lane];
  }
  return value;
}

// Fills the registers in these lanes, unless their function has returned.
void fill_registers(Warp& warp, const PendingLoad& load, Mask lanes) {
  if (load.frame > warp.here.frame) return;
  const Op& op = warp.program->ops[load.op];
  for (unsigned r = 0; r < op.place_count; ++r) {
    const std::uint32_t at = load.frame + warp.places(op)[r].offset();
    if (!warp.undefined.known.empty()) warp.undefined.known.drop(at, kAllLanes);
    std::uint8_t* flags = warp.stack.undefined_at(at);
    if (flags != nullptr && std::exchange(*warp.stack.suspect_at(at), 1) == 0)
      warp.undefined.suspect_anew();
    Mask open = 0;
    for_each_lane(lanes, [&](unsigned l) {
      std::memcpy(warp.stack.frames.get() + at + std::size_t{l} * 4, &load.values[r * kLanes + l],
                  4);
      if (flags == nullptr) return;
      flags[l] = load.undefined[r * kLanes + l];
      if (flags[l] != 0) open |= lane_bit(l);
    });
    if (open == 0) continue;
    if (!load.origins.empty())
      warp.undefined.origins.set(at, &load.origins[std::size_t{r} * kLanes], open);
  }
}

// Places: the registers, and behind them the result of the reduction.
void run_load(Warp& warp, const Op& op) {
  if (!meet_all(warp)) return;
  TensorAccess access(warp, op);
  const auto& it = op.as<TensorOp>();
  const unsigned count = op.place_count - (it.reduces ? 1U : 0U);
  PendingLoad load;
  load.op = warp.current;
  load.lanes = warp.exec;
  load.frame = warp.here.frame;
  load.values.resize(std::size_t{op.place_count} * kLanes);
  load.undefined.resize(load.values.size());
  const auto keep = [&](unsigned reg, unsigned lane, const LoadedRegister& value) {
    load.values[reg * kLanes + lane] = value.bits;
    load.undefined[reg * kLanes + lane] = value.undefined;
    if (value.origin == 0) return;
    load.origins.resize(load.values.size());
    load.origins[reg * kLanes + lane] = value.origin;
  };
  for (unsigned r = 0; r < count; ++r) {
    for_each_lane(warp.exec,
                  [&](unsigned l) { keep(r, l, load_register(warp, access, l, r, it.is_packed)); });
  }
  access.finish();
  touch_cells(warp, access.touched, Touched::Read);
  check_fences(warp, access.touched, TensorUse::Load);
  load.cells = std::move(access.touched);
  if (it.reduces) {
    for_each_lane(warp.exec, [&](unsigned l) { keep(count, l, reduce_lane(load, it, count, l)); });
  }
  if (warp.checks(Check::Async)) load.waiting.assign(op.place_count, warp.exec);
  if (!warp.unit->context.options->late_tensor_loads) {
    fill_registers(warp, load, warp.exec);
    load.values.clear();
    load.undefined.clear();
    load.origins.clear();
  }
  warp.pending.loads.push_back(std::move(load));
}

void run_wait_load(Warp& warp, const Op&) {
  if (!meet_all(warp)) return;
  for (PendingLoad& load : warp.pending.loads) {
    touch_cells(warp, load.cells, Touched::Read);
    note_fences(warp, load.cells, load.op, TensorUse::Load);
    const Mask lanes = load.lanes & warp.exec;
    load.lanes &= ~lanes;
    for (Mask& waiting : load.waiting) waiting &= ~lanes;
    if (!load.values.empty()) fill_registers(warp, load, lanes);
  }
  std::erase_if(warp.pending.loads, [](const PendingLoad& load) { return load.lanes == 0; });
}

// --- stores --------------------------------------------------------------------------------------

void run_store(Warp& warp, const Op& op) {
  if (!meet_all(warp)) return;
  TensorAccess access(warp, op);
  const bool packed = op.as<TensorOp>().is_packed;
  PendingStore store{.op = warp.current, .cells = {}, .touched = {}};
  for (unsigned r = 0; r < op.place_count; ++r) {
    const Place place = warp.places(op)[r];
    const auto* values = warp.source<std::uint32_t>(place);
    const bool tracks = warp.undefined.are_kept() && !place.is_constant();
    for_each_lane(warp.exec, [&](unsigned l) {
      const unsigned undefined = tracks ? warp.undefined.of(place)[l] & 0x0FU : 0U;
      for (unsigned part = 0; part < (packed ? 2U : 1U); ++part) {
        TensorAddress cell;
        if (!access.find(l, r, part, packed, cell)) continue;
        if (undefined != 0) set_origin_in_tensor(warp, *warp.cta, cell, origin_of(warp, place, l));
        const std::uint32_t half = (values[l] >> (16 * part)) & 0xFFFFU;
        store.cells.push_back({.value = packed ? half : values[l],
                               .lane = static_cast<std::uint16_t>(cell.lane),
                               .column = static_cast<std::uint16_t>(cell.column),
                               .bytes = static_cast<std::uint8_t>(packed ? 0x03 : 0x0F),
                               .undefined = static_cast<std::uint8_t>(
                                   packed ? (undefined >> (2 * part)) & 3U : undefined)});
      }
    });
  }
  access.finish();
  touch_cells(warp, access.touched, Touched::Write);
  check_fences(warp, access.touched, TensorUse::Store);
  store.touched = std::move(access.touched);
  mark_cells(warp, access.tensor(), store.cells);
  warp.pending.stores.push_back(std::move(store));
}

void run_wait_store(Warp& warp, const Op&) {
  if (!meet_all(warp)) return;
  for (const PendingStore& store : warp.pending.stores) {
    touch_cells(warp, store.touched, Touched::AsyncWrite);
    note_fences(warp, store.touched, store.op, TensorUse::Store);
    write_cells(tensor_of(*warp.cta), store.cells);
  }
  warp.pending.stores.clear();
}

// --- fences --------------------------------------------------------------------------------------

// Nothing overtakes here, so there is nothing to hold back; but that they are there is checked.
void run_fence_before(Warp& warp, const Op&) {
  if (warp.unit->order != nullptr) fence_tensor_before(*warp.unit->order, warp.unit_warp());
}
void run_fence_after(Warp& warp, const Op&) {
  if (warp.unit->order != nullptr) fence_tensor_after(*warp.unit->order, actor_of(warp, warp.exec));
}

// --- decoding ------------------------------------------------------------------------------------

TensorShape shape_in(const Decode& in) {
  return in.word("shape")
      .as<TensorShape>({{"32x32b", TensorShape::S32x32b},
                        {"16x64b", TensorShape::S16x64b},
                        {"16x128b", TensorShape::S16x128b},
                        {"16x256b", TensorShape::S16x256b}})
      .value_or(TensorShape::S16x32bx2);
}

// `base`: the operand with the address.
void decode_move(Decode& in, RunOp run, std::size_t base) {
  const TensorShape shape = shape_in(in);
  const bool has_split = shape == TensorShape::S16x32bx2;
  in.tracks_itself(run);
  in.op.set(
      TensorOp{.half_split = has_split ? static_cast<std::uint32_t>(in.immediate(base + 1)) : 0,
               .shape = shape,
               .is_packed = in.has("pack") || in.has("unpack"),
               .reduces = in.has("op"),
               .takes_max = in.word("op") == "max",
               .takes_abs = in.has("abs"),
               .keeps_nan = in.has("NaN"),
               .is_float = in.word("type") == "f32",
               .is_signed = in.word("type") == "s32"});
  in.op.address = in.address(base);
}

bool decode_load(Decode& in) {
  in.further(in.results(0));
  decode_move(in, run_load, 1);
  return true;
}

bool decode_load_reduced(Decode& in) {
  std::vector<Place> places = in.results(0);
  places.push_back(in.result(1));
  in.further(places);
  decode_move(in, run_load, 2);
  return true;
}

bool decode_store(Decode& in) {
  decode_move(in, run_store, 0);
  in.further(in.sources(shape_in(in) == TensorShape::S16x32bx2 ? 2 : 1));
  return true;
}

constexpr OpRow kRows[] = {
    {"tcgen05.alloc", decode_tensor_alloc},
    {"tcgen05.dealloc", decode_tensor_dealloc},
    {"tcgen05.relinquish_alloc_permit", decode_tensor_relinquish},
    {"tcgen05.fence::before_thread_sync", decode_bare<run_fence_before>},
    {"tcgen05.fence::after_thread_sync", decode_bare<run_fence_after>},
    {"tcgen05.ld", decode_load},
    {"tcgen05.ld.red", decode_load_reduced},
    {"tcgen05.st", decode_store},
    {"tcgen05.wait::ld", decode_bare<run_wait_load>},
    {"tcgen05.wait::st", decode_bare<run_wait_store>},
    {"tcgen05.cp", decode_tensor_copy},
    {"tcgen05.shift", decode_tensor_shift},
    {"tcgen05.commit", decode_tensor_commit},
};

}  // namespace

constinit const OpFamily family{"tcgen05", kRows};

}  // namespace ww::sim::tcgen05_ops
