// SPDX-License-Identifier: Apache-2.0
// Moves of names to and from the shared memory of another CTA: mapa makes an address of the other CTA
// from one of the own, and ld, st and st.async use it.
#include "ir/print/print.h"
#include "ir/settings.h"
#include "isa/form.h"
#include "lower/proof/box_moves.h"

namespace ww::lower {

// d, a, rank: d is where a is, in CTA `rank`.
Try<void> BoxMoves::map_address(const ir::PtxCall& call, const Mask& mask) {
  const isa::Binding& binding = call.opcode.binding();
  if (binding.word("space") != "shared::cluster" || binding.word("type") != "u32")
    return unknown("`{}`", call.opcode.text());
  const auto to = WW_TRY(register_of(call.operands[0], mask));
  const ir::Expr& given = f_[call.operands[1].expr];
  const bool is_pointer =
      given.op == ir::ExprOp::Call && given.callee == ir::Intrinsic::CvtaToShared;
  Mapped mapped{.from = is_pointer ? given.args[0] : call.operands[1].expr};
  // A pointer to something else than an operand is the mbarrier's.
  if (is_pointer)
    if (const auto pointer = values_.pointer(given.args[0])) mapped.at = *pointer;
  const auto rank = WW_TRY(values_.of(call.operands[2].expr));
  const auto wanted = WW_TRY(remote_rank());
  for (std::size_t t = 0; t < mask.size(); ++t) {
    if (!mask[t]) continue;
    if (rank[t] != wanted[t])
      return wrong("CTA {} of the cluster is reached, expected {}", rank[t], wanted[t]);
    mapped_[{to.storage.index, to.bit[t], t}] = mapped;
  }
  return {};
}

Try<PerUnit> BoxMoves::remote_rank() {
  const ir::Setting* setting = ir::find_setting(tile_, "remote_cta_id");
  if (setting == nullptr) return wrong("an address in another CTA");
  if (const auto* number = std::get_if<std::int64_t>(setting))
    return PerUnit(values_.threads(), *number);
  return values_.of(std::get<ir::ExprId>(*setting));
}

Try<const BoxMoves::Mapped*> BoxMoves::mapped_at(const ir::PtxOperand& operand, std::size_t t) {
  Mask one(values_.threads());
  one[t] = true;
  if (f_[operand.expr].op != ir::ExprOp::Load || operand.offset.valid())
    return unknown("an address `{}` of another CTA", ir::print(f_, operand.expr));
  const auto at = WW_TRY(element(f_[operand.expr], one));
  const auto found = mapped_.find({at.storage.index, at.bit[t], t});
  if (found == mapped_.end())
    return wrong("`{}` is no address of another CTA", ir::print(f_, operand.expr));
  return &found->second;
}

// Of the own CTA as a pointer, of another as a register that mapa has written.
Try<PointerValue> BoxMoves::address_of(const ir::PtxOperand& operand, const Mask& mask) {
  if (f_[operand.expr].op != ir::ExprOp::Load) return values_.pointer(operand.expr);
  PointerValue out{.storage = {}, .bit = {}, .is_remote = true};
  std::vector<std::int64_t> bit(mask.size());
  for (std::size_t t = 0; t < mask.size(); ++t) {
    if (!mask[t]) continue;
    const Mapped& mapped = *WW_TRY(mapped_at(operand, t));
    if (!mapped.at) return unknown("an address of `{}`", ir::print(f_, mapped.from));
    out.storage = mapped.at->storage;
    bit[t] = mapped.at->bit[t];
  }
  out.bit = PerUnit(std::move(bit));
  return out;
}

// st and st.async with registers given as elements of a view: [to], values, and the mbarrier that hears
// of the bytes.
Try<void> BoxMoves::store_registers(const ir::PtxCall& call, const Mask& mask) {
  const bool is_counted = call.opcode.mnemonic() == "st.async";
  const auto to = WW_TRY(address_of(call.operands[0], mask));
  const std::size_t values = call.operands.size() - (is_counted ? 2 : 1);
  std::int64_t offset = 0;
  for (std::size_t i = 1; i <= values; ++i) {
    const ir::Expr& value = f_[call.operands[i].expr];
    if (value.op != ir::ExprOp::Load)
      return unknown("a store of `{}`", ir::print(f_, call.operands[i].expr));
    const auto from = WW_TRY(element(value, mask));
    const int bits = num::storage_bits(f_[value.buffer].dtype);
    for (std::size_t t = 0; t < mask.size(); ++t)
      if (mask[t]) WW_TRY_VOID(moves_.move(to, t, to.bit[t] + offset, from, t, from.bit[t], bits));
    offset += bits;
  }
  for (std::size_t t = 0; t < mask.size(); ++t) {
    if (!mask[t]) continue;
    if (to.bit[t] % offset != 0)
      return wrong("thread {} stores {} bytes at byte {}", t, offset / 8, to.bit[t] / 8);
    if (!is_counted) continue;
    WW_TRY_VOID(check_hears(call.operands.back(), t));
    counted_ += offset / 8;
  }
  return {};
}

}  // namespace ww::lower
