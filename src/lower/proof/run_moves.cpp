// SPDX-License-Identifier: Apache-2.0
// Moves of names by cp.async.bulk without a tensor map: so many contiguous bytes, which one thread
// starts. Both addresses and the number of bytes are multiples of 16.
#include "ir/equal.h"
#include "ir/print/print.h"
#include "ir/settings.h"
#include "isa/form.h"
#include "lower/proof/box_moves.h"

namespace ww::lower {
namespace {

constexpr std::int64_t kBulkUnit = 16;           // bytes
constexpr std::int64_t kMaxBulkBytes = 1 << 20;  // one more than the instruction takes

}  // namespace

Try<void> BoxMoves::check_hears(const ir::PtxOperand& operand, std::size_t t) {
  const auto* setting = ir::mbarrier_setting(tile_);
  const auto* wanted = setting == nullptr ? nullptr : std::get_if<ir::ExprId>(setting);
  ir::ExprId mbarrier = operand.expr;
  if (ir::remote_operand(f_, tile_)) {
    const Mapped& mapped = *WW_TRY(mapped_at(operand, t));
    mbarrier = mapped.from;
  }
  if (wanted == nullptr || !ir::same(f_, *wanted, mbarrier))
    return wrong("`{}` hears of the bytes", ir::print(f_, mbarrier));
  return {};
}

Try<void> BoxMoves::run_of_bytes(const ir::PtxCall& call, const Mask& mask) {
  const isa::Binding& binding = call.opcode.binding();
  const bool is_store = binding.word("dst") == "global";
  const bool is_known =
      !binding.has("hint") && !binding.has("multicast") && !binding.has("cp_mask");
  if (!is_known || call.operands.size() != (is_store ? 3U : 4U))
    return unknown("`{}`", call.opcode.text());
  const auto bytes = ir::const_int(f_, call.operands[2].expr);
  if (!bytes) return unknown("a number of bytes that is not a constant");
  if (*bytes < kBulkUnit || *bytes >= kMaxBulkBytes || *bytes % kBulkUnit != 0)
    return wrong("{} bytes are copied, expected a multiple of {}", *bytes, kBulkUnit);
  const auto to = WW_TRY(address_of(call.operands[0], mask));
  const auto from = WW_TRY(values_.pointer(call.operands[1].expr));
  std::int64_t threads = 0;
  for (std::size_t t = 0; t < mask.size(); ++t) {
    if (!mask[t]) continue;
    if (++threads > 1) return wrong("several threads start `{}`", call.opcode.text());
    if (!is_store) WW_TRY_VOID(check_hears(call.operands[3], t));
    for (const PointerValue* side : {&to, &from}) WW_TRY_VOID(check_unit(*side, t));
    WW_TRY_VOID(moves_.move(to, t, to.bit[t], from, t, from.bit[t], *bytes * 8));
    counted_ += *bytes;
  }
  return {};
}

Try<void> BoxMoves::check_unit(const PointerValue& side, std::size_t t) {
  const std::int64_t start =
      ir::is_shared(f_[side.storage].scope) ? values_.window_of(side.storage) : 0;
  const std::int64_t byte = start + side.bit[t] / 8;
  if (byte % kBulkUnit == 0) return {};
  return wrong("a run begins at byte {} of `{}`, expected a multiple of {}", byte,
               f_[side.storage].name, kBulkUnit);
}

}  // namespace ww::lower
