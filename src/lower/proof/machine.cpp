// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/machine.h"

#include "ir/print/print.h"
#include "ir/settings.h"
#include "isa/form.h"

namespace ww::lower {

using ir::ExprId;
using ir::ExprOp;

Machine::Machine(const Call& call, ProofValues& values, std::int64_t first_thread,
                 const RegionElements& dst, Registers& registers)
    : ProofWalk(call, values),
      call_(call),
      dst_(dst),
      registers_(registers),
      scratch_(call, values, first_thread),
      of_cta_(static_cast<std::size_t>(call.context.launch.threads())),
      has_ctas_(call.is_of_cluster()) {}

// --- values --------------------------------------------------------------------------------------

Try<ThreadNumbers> Machine::value(ExprId expr, const Mask& mask) {
  if (const auto number = known(expr)) return ThreadNumbers(values_.threads(), *number);
  const ir::Expr& e = f_[expr];
  if (e.op == ExprOp::Var)
    if (const auto bound = bound_.find(e.var.index); bound != bound_.end()) return bound->second;
  if (e.op == ExprOp::Load)
    return read_all(WW_TRY(element(e, mask)), 0, num::storage_bits(f_[e.buffer].dtype), mask);
  if (!is_shuffle(expr)) return operated(expr, mask);
  const ThreadNumbers from = WW_TRY(value(e.args[1], mask));
  ThreadNumbers out;
  for (const std::size_t giver : WW_TRY(givers(expr, mask))) out.push_back(from[giver]);
  return out;
}

Try<std::vector<ThreadNumbers>> Machine::values_of(const ir::Expr& e, const Mask& mask) {
  std::vector<ThreadNumbers> out;
  for (const ExprId arg : e.args) out.push_back(WW_TRY(value(arg, mask)));
  return out;
}

Try<ThreadNumbers> Machine::operated(ExprId expr, const Mask& /*mask*/) {
  return unknown("`{}`", ir::print(f_, expr));
}

// --- memory and registers ------------------------------------------------------------------------

Try<ThreadNumbers> Machine::read_all(const PointerValue& from, std::int64_t behind, int bits,
                                     const Mask& mask) {
  const ir::Scope scope = f_[from.storage].scope;
  const bool is_scratch = scratch_.is_scratch(from.storage), is_seen = is_watched(from.storage);
  const Registers::Width& width = registers_.width(from.storage, bits);
  const bool is_one = scope == ir::Scope::Local && from.bit.is_uniform();
  const auto one = is_one ? width.place_of(from.bit.front() + behind) : std::nullopt;
  const auto table = width.table();
  ThreadNumbers out(values_.threads());
  for (std::size_t t = 0; t < out.size(); ++t) {
    if (!mask[t]) continue;
    const Number* number = one ? table.find(t, *one) : nullptr;  // most often
    if (number == nullptr) {
      RegisterPlace at = place(from, scope, t, bits);
      at.bit += behind;
      if (is_scratch) WW_TRY_VOID(scratch_.read(at.storage, at.bit, t, at.thread));
      if (is_seen) WW_TRY_VOID(touch(at, t, false));
      number = width.find(at.thread, at.bit);
      if (number == nullptr) return not_held(at, t);
    }
    out[t] = *number;
  }
  return out;
}

Try<void> Machine::put_all(const PointerValue& to, std::int64_t behind, int bits,
                           const ThreadNumbers& numbers, const Mask& mask) {
  has_changed_ = true;
  const ir::Scope scope = f_[to.storage].scope;
  const bool is_scratch = scratch_.is_scratch(to.storage), is_seen = is_watched(to.storage);
  Registers::Width& width = registers_.width(to.storage, bits);
  const auto one = scope == ir::Scope::Local && to.bit.is_uniform()
                       ? width.room_at(to.bit.front() + behind, values_.threads())
                       : std::nullopt;
  if (one)
    return put_in_registers(width, *one, {to.storage, 0, to.bit.front() + behind, bits}, numbers,
                            mask);
  for (std::size_t t = 0; t < mask.size(); ++t) {
    if (!mask[t]) continue;
    RegisterPlace at = place(to, scope, t, bits);
    at.bit += behind;
    if (is_scratch)
      WW_TRY_VOID(scratch_.write(at.storage, at.bit, t, at.thread));
    else if (!may_change(at, t))
      return not_to_write(at, t);
    if (is_seen) WW_TRY_VOID(touch(at, t, true));
    width.put(at.thread, at.bit, numbers[t]);
  }
  return {};
}

// The same register in all threads.
Try<void> Machine::put_in_registers(Registers::Width& width, std::size_t place, RegisterPlace at,
                                    const ThreadNumbers& numbers, const Mask& mask) {
  const bool is_own = is_inside_own(at);
  const bool is_like_dst = at.storage == dst_.storage && at.bits == dst_.bits;
  const std::int64_t granule = granule_at(at.bit, at.bits);
  for (at.thread = 0; at.thread < mask.size(); ++at.thread) {
    if (!mask[at.thread]) continue;
    if (!is_own && !(is_like_dst && dst_.has_granule(at.thread, granule)))
      return not_to_write(at, at.thread);
    width.put_in_table(at.thread, place, numbers[at.thread]);
  }
  return {};
}

Try<void> Machine::put(const RegisterPlace& at, Number number) {
  if (!may_change(at, at.thread)) return not_to_write(at, at.thread);
  registers_.put(at, number);
  return {};
}

Unexpected<Unproven> Machine::not_held(const RegisterPlace& at, std::size_t thread) const {
  return wrong("thread {} of the unit reads byte {} of `{}`, which {}", thread, at.bit / 8,
               f_[at.storage].name, unheld_);
}

Unexpected<Unproven> Machine::not_to_write(const RegisterPlace& at, std::size_t thread) const {
  return wrong("byte {} of `{}` is written by thread {} of the unit", at.bit / 8,
               f_[at.storage].name, thread);
}

// No barrier stands between accesses to the destination, so that what one thread writes there no other
// may read or write.
Try<void> Machine::touch(const RegisterPlace& at, std::size_t thread, bool writes) {
  const auto mine = static_cast<std::int64_t>(thread);
  const auto is_other = [&](std::int64_t each) { return each != kNoThread && each != mine; };
  const std::int64_t last = granule_at(at.bit + at.bits - 1, dst_.bits);
  for (std::int64_t granule = granule_at(at.bit, dst_.bits); granule <= last; ++granule) {
    Users& users = users_[granule];
    if (is_other(users.writer) || (writes && is_other(users.reader)))
      return wrong("byte {} of `{}` changes, and thread {} of the unit is not alone to use it",
                   at.bit / 8, f_[at.storage].name, thread);
    if (writes) users.writer = mine;
    if (!writes) users.reader = is_other(users.reader) ? kSeveral : mine;
  }
  return {};
}

bool Machine::is_inside_own(const RegisterPlace& at) const {
  const auto own = allocated_.find(at.storage.index);
  return own != allocated_.end() && at.bit >= 0 && at.bit + at.bits <= own->second;
}

// --- statements ----------------------------------------------------------------------------------

Try<void> Machine::allocate(const ir::Stmt& s) {
  const ir::Buffer& buffer = f_[s.buffer];
  std::int64_t bits = num::storage_bits(buffer.dtype);
  for (const ExprId each : buffer.shape) bits *= WW_TRY(values_.uniform(each));
  allocated_[s.buffer.index] = bits;
  return {};
}

Try<void> Machine::store(const ir::Stmt& s, const Mask& mask) {
  const auto number = WW_TRY(value(s.expr, mask));
  const auto to = WW_TRY(element(s, mask));
  const num::DType type = f_[s.expr].type.dtype, held = f_[s.buffer].dtype;
  if (type != held) return wrong("{} is stored as {}", num::name_of(type), num::name_of(held));
  return put_all(to, 0, num::storage_bits(held), number, mask);
}

Try<void> Machine::evaluate(const ir::Stmt& s, const Mask& mask) {
  const ir::Expr& e = f_[s.expr];
  if (is_barrier(e)) return scratch_.barrier(e, mask);
  if (e.op == ExprOp::Call && e.callee == ir::Intrinsic::CopyBytes) return copy_bytes(e, mask);
  if (e.op == ExprOp::Call && e.callee == ir::Intrinsic::MbarrierWait) return wait(e, mask);
  return unknown("`{}`", ir::print(f_, s.expr));
}

// Whole elements, as wide as those of the code's own registers.
Try<void> Machine::copy_bytes(const ir::Expr& e, const Mask& mask) {
  const auto to = WW_TRY(values_.pointer(e.args[0])), from = WW_TRY(values_.pointer(e.args[1]));
  const auto bytes = WW_TRY(values_.uniform(e.args[2]));
  const bool is_to_own = is_own(to.storage), is_own_moved = is_to_own || is_own(from.storage);
  const int bits = is_own_moved || copied_bits_ == 0
                       ? num::storage_bits(f_[is_to_own ? to.storage : from.storage].dtype)
                       : copied_bits_;
  if (bytes < 1 || bytes > kMaxBytes || bytes * 8 % bits != 0)
    return wrong("{} bytes are copied", bytes);
  for (std::size_t t = 0; t < mask.size(); ++t) {
    if (!mask[t]) continue;
    for (const PointerValue* each : {&to, &from})
      if (each->bit[t] % (bytes * 8) != 0 && f_[each->storage].scope != ir::Scope::Local)
        return wrong("{} bytes are copied at byte {}", bytes, each->bit[t] / 8);
  }
  for (std::int64_t bit = 0; bit < bytes * 8; bit += bits)
    WW_TRY_VOID(put_all(to, bit, bits, WW_TRY(read_all(from, bit, bits, mask)), mask));
  return {};
}

Try<void> Machine::ptx(const ir::PtxCall& call, const Mask& mask) {
  const isa::Mnemonic called = call.opcode.mnemonic();
  if (called == "mapa") return map_address(call, mask);
  if (called == "st" || called == "st.async") return store_remote(call, mask);
  if (called == "mbarrier.arrive.expect_tx") return expect_bytes(call, mask);
  return instruct(call, mask);
}

Try<void> Machine::instruct(const ir::PtxCall& call, const Mask& /*mask*/) {
  return unknown("`{}`", call.opcode.text());
}

// --- other CTAs ----------------------------------------------------------------------------------

// mapa.shared::cluster.u32: the place that an address names, in the memory of another CTA.
Try<void> Machine::map_address(const ir::PtxCall& call, const Mask& mask) {
  const isa::Binding& binding = call.opcode.binding();
  const ir::Expr& address = f_[call.operands[1].expr];
  const bool is_known = binding.word("space") == "shared::cluster" &&
                        binding.word("type") == "u32" && !call.predicate.valid() &&
                        address.op == ExprOp::Call && address.callee == ir::Intrinsic::CvtaToShared;
  if (!is_known) return unknown("`{}`", call.opcode.text());
  const auto to = WW_TRY(register_of(call.operands[0], mask));
  const auto at = WW_TRY(values_.pointer(address.args[0]));
  const auto ctas = WW_TRY(values_.of(call.operands[2].expr));
  const std::int64_t all = static_cast<std::int64_t>(cta_of(values_.threads() - 1)) + 1;
  if (!is_own(to.storage)) return wrong("`{}` is not a register of its own", call.opcode.text());
  for (std::size_t t = 0; t < mask.size(); ++t) {
    if (!mask[t]) continue;
    if (ctas[t] < 0 || ctas[t] >= all)
      return wrong("thread {} of the unit writes to CTA {} of the cluster, of {}", t, ctas[t], all);
    remote_[{to.storage.index, t, to.bit[t]}] = {at.storage, static_cast<std::size_t>(ctas[t]),
                                                 at.bit[t]};
  }
  return {};
}

// What the register holds that an operand names as an address.
Try<std::vector<Machine::Remote>> Machine::remotes(const ir::PtxOperand& operand,
                                                   const Mask& mask) {
  const ir::Expr& address = f_[operand.expr];
  if (operand.kind != ir::PtxOperandKind::Address || address.op != ExprOp::Load)
    return unknown("address `{}`", ir::print(f_, operand.expr));
  const auto from = WW_TRY(element(address, mask));
  std::vector<Remote> out(mask.size());
  for (std::size_t t = 0; t < mask.size(); ++t) {
    if (!mask[t]) continue;
    const auto found = remote_.find({from.storage.index, t, from.bit[t]});
    if (found == remote_.end())
      return wrong("thread {} of the unit stores at an address that is not known", t);
    out[t] = found->second;
  }
  return out;
}

// st.shared::cluster at an address that mapa gave; st.async: the same, and an mbarrier of that CTA counts
// the bytes.
Try<void> Machine::store_remote(const ir::PtxCall& call, const Mask& mask) {
  const bool is_sent = call.opcode.mnemonic() == "st.async";
  const isa::Binding& binding = call.opcode.binding();
  const bool is_known =
      !call.predicate.valid() &&
      (is_sent ? call.operands.size() == 3 && binding.word("space") == "shared::cluster"
               : call.opcode.text().starts_with("st.shared::cluster."));
  if (!is_known) return unknown("`{}`", call.opcode.text());
  const int bits = binding.word("type").text().ends_with("64") ? 64 : 32;
  const auto to = WW_TRY(remotes(call.operands[0], mask));
  const auto mbarrier = is_sent ? WW_TRY(remotes(call.operands[2], mask)) : to;
  const auto number = WW_TRY(value(call.operands[1].expr, mask));
  if (num::storage_bits(f_[call.operands[1].expr].type.dtype) != bits)
    return wrong("`{}` of another width than the value", call.opcode.text());
  for (std::size_t t = 0; t < mask.size(); ++t) {
    if (!mask[t]) continue;
    const Remote& at = to[t];
    if (mbarrier[t].cta != at.cta)
      return wrong("thread {} of the unit sends to CTA {} and signals CTA {}", t, at.cta,
                   mbarrier[t].cta);
    if (!scratch_.is_scratch(at.storage))
      return wrong("thread {} of the unit writes into `{}`", t, f_[at.storage].name);
    if (is_sent)
      WW_TRY_VOID(scratch_.send(at.storage, at.bit, t, at.cta,
                                {mbarrier[t].storage, mbarrier[t].bit}, std::int64_t{bits} / 8));
    else
      WW_TRY_VOID(scratch_.write(at.storage, at.bit, t, at.cta));
    registers_.put({at.storage, at.cta, at.bit, bits}, number[t]);
  }
  return {};
}

// mbarrier.arrive.expect_tx at the own CTA's.
Try<void> Machine::expect_bytes(const ir::PtxCall& call, const Mask& mask) {
  const bool is_known = call.opcode.text() == "mbarrier.arrive.expect_tx.shared.b64" &&
                        !call.predicate.valid() && call.operands.size() == 3;
  if (!is_known) return unknown("`{}`", call.opcode.text());
  const auto at = WW_TRY(values_.pointer(call.operands[1].expr));
  const auto bytes = WW_TRY(values_.of(call.operands[2].expr));
  for (std::size_t t = 0; t < mask.size(); ++t)
    if (mask[t]) WW_TRY_VOID(scratch_.expect({at.storage, at.bit[t]}, t, bytes[t]));
  return {};
}

// For a phase of an mbarrier of the own CTA, by its parity.
Try<void> Machine::wait(const ir::Expr& call, const Mask& mask) {
  const auto at = WW_TRY(values_.pointer(call.args[0]));
  const auto parity = WW_TRY(values_.of(call.args[1]));
  for (std::size_t t = 0; t < mask.size(); ++t)
    if (mask[t]) WW_TRY_VOID(scratch_.wait({at.storage, at.bit[t]}, t, parity[t]));
  return {};
}

// --- regions -------------------------------------------------------------------------------------

Try<std::optional<RegionRead>> NumberGoal::read(const ir::Region& region) {
  const ir::Buffer& buffer = call_.f()[region.buffer];
  RegionRead out{.elements = {.storage = ir::storage_of(call_.f(), region.buffer),
                              .is_private = buffer.scope == ir::Scope::Local,
                              .bits = num::storage_bits(buffer.dtype)},
                 .extents = WW_TRY(extents_of(values_, region))};
  auto names = WW_TRY(names_of(call_, values_, region, out.elements.bits, trial_.first_thread));
  if (!names) return std::nullopt;
  out.elements.names = std::move(names->granules);
  return out;
}

Try<ProductSizes> product_sizes(const Call& call, ProofValues& values, std::size_t turns) {
  ProductSizes out{.turns_a = ir::is_true(call.tile.args[turns]),
                   .turns_b = ir::is_true(call.tile.args[turns + 1])};
  const auto d = WW_TRY(matrix_extents(values, call.region(0)));
  const auto a = WW_TRY(matrix_extents(values, call.region(1)));
  out.m = d.first;
  out.n = d.second;
  out.k = out.turns_a ? a.first : a.second;
  return out;
}

}  // namespace ww::lower
