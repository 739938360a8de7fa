// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/box_moves.h"

#include "ir/equal.h"
#include "ir/print/print.h"
#include "ir/settings.h"
#include "isa/form.h"

namespace ww::lower {
namespace {

constexpr std::int64_t kBoxAlign = 128;  // bytes, in shared memory

}  // namespace

/// A tensor map with the numbers of a trial.
struct BoxMoves::Map {
  ir::BufferId storage = {};
  std::int64_t first_bit = 0;
  int bits = 8;
  std::vector<std::int64_t> dims = {}, box = {};
  std::vector<std::int64_t> steps = {};  // bits from one element to the next
  std::int64_t swizzle = 0;
  bool fills_nan = false;
};

/// One row of a box: its elements follow each other in both memories.
struct BoxMoves::Row {
  bool is_inside = true;   // in the outer dimensions
  std::int64_t first = 0;  // coordinate of the first element in dimension 0
  std::int64_t bit = 0;    // of coordinate 0, in global memory
  std::int64_t byte = 0;   // in the shared window, before the swizzle
};

std::string BoxMoves::count_fault(std::int64_t bytes) const {
  if (ir::mbarrier_setting(tile_) == nullptr || counted_ == bytes) return {};
  return fmt::format("the mbarrier hears of {} bytes, expected {}", counted_, bytes);
}

Try<BoxMoves::Map> BoxMoves::read_map(ir::ExprId expr) {
  const auto found = ir::find_tensor_map(f_, expr);
  if (!found) return unknown("a tensor map `{}`", ir::print(f_, expr));
  Map out{.bits = num::storage_bits(ir::map_dtype(f_, *found)), .box = found->box};
  out.swizzle = found->swizzle;
  out.fills_nan = found->fill == ir::MapFill::Nan;
  ir::ExprId pointer = found->pointer;
  if (f_[pointer].op == ir::ExprOp::Call && f_[pointer].callee == ir::Intrinsic::PointerOffset) {
    const auto elements = WW_TRY(values_.uniform(f_[pointer].args[1]));
    out.first_bit = elements * num::storage_bits(f_[pointer].type.dtype);
    pointer = f_[pointer].args[0];
  }
  if (f_[pointer].op != ir::ExprOp::BufferData)
    return unknown("a tensor map of `{}`", ir::print(f_, pointer));
  out.storage = ir::storage_of(f_, f_[pointer].buffer);
  for (const ir::ExprId dim : found->dims) out.dims.push_back(WW_TRY(values_.uniform(dim)));
  out.steps.push_back(out.bits);
  for (const ir::ExprId stride : found->strides) {
    const auto elements = WW_TRY(values_.uniform(stride));
    out.steps.push_back(elements * out.bits);
  }
  return out;
}

Try<void> BoxMoves::box(const ir::PtxCall& call, const Mask& mask) {
  const bool is_load = call.opcode.binding().word("dst") != "global";
  const std::size_t at = is_load ? 1 : 0;
  const auto map = WW_TRY(read_map(call.operands[at].expr));
  const std::size_t rank = map.dims.size();
  const bool is_multicast = call.opcode.binding().has("multicast");
  const bool has_hint = call.opcode.binding().has("hint");
  if (call.operands.size() !=
      rank + (is_load ? 3 : 2) + (is_multicast ? 1 : 0) + (has_hint ? 1 : 0))
    return unknown("`{}` with {} operands", call.opcode.text(), call.operands.size());
  std::vector<PerUnit> corner;
  for (std::size_t d = 0; d < rank; ++d)
    corner.push_back(WW_TRY(values_.of(call.operands[at + 1 + d].expr)));
  const auto shared = WW_TRY(values_.pointer(call.operands[is_load ? 0 : rank + 1].expr));
  WW_TRY_VOID(check_reduction(call));
  if (is_load) WW_TRY_VOID(check_mbarrier(call.operands[rank + 2].expr));
  if (is_load)
    WW_TRY_VOID(check_receivers(is_multicast ? call.operands[rank + 3].expr : ir::ExprId{}));
  std::int64_t threads = 0;
  for (std::size_t t = 0; t < mask.size(); ++t) {
    if (!mask[t]) continue;
    if (++threads > 1) return wrong("several threads start `{}`", call.opcode.text());
    WW_TRY_VOID(box_of_thread(map, is_load, corner, shared, t));
  }
  return {};
}

// The same operation on each box. The names that arrive are those of the elements combined.
Try<void> BoxMoves::check_reduction(const ir::PtxCall& call) {
  const bool reduces = call.opcode.mnemonic().starts_with("cp.reduce.");
  const auto done = reduces ? ir::find_box_reduce(call.opcode.binding().word("op")) : std::nullopt;
  const auto meant = ir::box_reduce(tile_);
  const auto text = [](std::optional<ir::BoxReduce> op) {
    return op ? fmt::format("`{}`", ir::name_of(*op)) : std::string("replaced");
  };
  if (done == meant) return {};
  return wrong("elements are {}, expected {}", text(done), text(meant));
}

Try<void> BoxMoves::check_mbarrier(ir::ExprId hears) {
  const auto* wanted = ir::mbarrier_setting(tile_);
  const auto* mbarrier = wanted == nullptr ? nullptr : std::get_if<ir::ExprId>(wanted);
  if (mbarrier != nullptr && ir::same(f_, *mbarrier, hears)) return {};
  return wrong("`{}` hears of the bytes", ir::print(f_, hears));
}

// The names arrive at the same places of each CTA of the mask, so the places are looked at once: every
// box must go to just the CTAs that the call names.
Try<void> BoxMoves::check_receivers(ir::ExprId mask) {
  const ir::Setting* setting = ir::cta_mask_setting(tile_);
  if (setting == nullptr && !mask.valid()) return {};
  if (setting == nullptr) return wrong("a box goes to the CTAs `{}`", ir::print(f_, mask));
  std::int64_t meant = 0;
  if (const auto* number = std::get_if<std::int64_t>(setting))
    meant = *number;
  else
    meant = WW_TRY(values_.uniform(std::get<ir::ExprId>(*setting)));
  constexpr std::int64_t kAll = 0xffff;
  if (!mask.valid() && launch_.cluster_ctas() == 1 && meant == 1) return {};
  if (!mask.valid()) return wrong("a box goes to one CTA, expected the CTAs {:#x}", meant);
  const std::int64_t sent = WW_TRY(values_.uniform(mask));
  if ((sent & kAll) == (meant & kAll)) return {};
  return wrong("a box goes to the CTAs {:#x}, expected {:#x}", sent & kAll, meant & kAll);
}

Try<void> BoxMoves::box_of_thread(const Map& map, bool is_load, const std::vector<PerUnit>& corner,
                                  const PointerValue& shared, std::size_t t) {
  const std::int64_t window = values_.window_of(shared.storage) + shared.bit[t] / 8;
  if (window % kBoxAlign != 0)
    return wrong("a box begins at byte {} of the shared window, expected a multiple of {}", window,
                 kBoxAlign);
  const std::int64_t row_bytes = map.box[0] * map.bits / 8;
  const std::int64_t pitch = std::max(row_bytes, map.swizzle);
  std::vector<std::int64_t> index(map.box.size(), 0);
  for (Row row{.first = corner[0][t], .byte = window};; row.byte += pitch) {
    row.is_inside = true;
    row.bit = map.first_bit;
    for (std::size_t d = 1; d < index.size(); ++d) {
      const std::int64_t at = corner[d][t] + index[d];
      row.is_inside = row.is_inside && at >= 0 && at < map.dims[d];
      row.bit += at * map.steps[d];
    }
    WW_TRY_VOID(row_of_box(map, row, shared, is_load, t));
    counted_ += row_bytes;
    std::size_t d = 1;
    while (d < index.size() && ++index[d] == map.box[d]) index[d++] = 0;
    if (d == index.size()) return {};
  }
}

Try<void> BoxMoves::row_of_box(const Map& map, const Row& row, const PointerValue& shared,
                               bool is_load, std::size_t t) {
  const std::int64_t elements = std::max<std::int64_t>(1, granule_ / map.bits);
  const std::int64_t bits = elements * map.bits;
  const PointerValue global{.storage = map.storage, .bit = {}};
  const std::int64_t base = values_.window_of(shared.storage);
  for (std::int64_t i = 0; i < map.box[0]; i += elements) {
    std::int64_t inside = 0;
    for (std::int64_t k = 0; k < elements; ++k) {
      const std::int64_t at = row.first + i + k;
      inside += row.is_inside && at >= 0 && at < map.dims[0] ? 1 : 0;
    }
    const std::int64_t from = row.bit + (row.first + i) * map.bits;
    if ((inside != 0 && inside != elements) || from % granule_ != 0)
      return unknown("part of a granule");
    // Chunk c of a 128-byte line of shared memory changes places by the line's number.
    const std::int64_t byte = row.byte + i * map.bits / 8;
    const std::int64_t chunks = std::max<std::int64_t>(map.swizzle / 16, 1);
    const std::int64_t chunk = (byte / 16) ^ (byte / 128 & (chunks - 1));
    const std::int64_t to = (chunk * 16 + byte % 16 - base) * 8;
    if (inside == 0) {
      if (is_load) WW_TRY_VOID(moves_.fill(shared, t, to, bits, map.fills_nan ? kFill : kZero));
      continue;
    }
    // Twice would be combined twice.
    if (!is_load && ir::box_reduce(tile_) && !reduced_.insert(from).second)
      return wrong("byte {} of the array is combined twice", from / 8);
    WW_TRY_VOID(is_load ? moves_.move(shared, t, to, global, t, from, bits)
                        : moves_.move(global, t, from, shared, t, to, bits));
  }
  return {};
}

}  // namespace ww::lower
