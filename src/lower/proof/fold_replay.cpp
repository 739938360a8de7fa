// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/fold_replay.h"

#include <algorithm>
#include <cmath>

#include "ir/print/print.h"
#include "ir/reduction.h"
#include "isa/form.h"

namespace ww::lower {

using ir::ExprId;
using ir::ExprOp;
using num::DType;

Bags::Bags(ExprOp op, DType type, bool says_elements)
    : op_(op),
      type_(type),
      is_ordered_(ir::is_ordered_fold(op, type)),
      keeps_(says_elements || !is_ordered_) {}

Number Bags::element(Number number) {
  if (!keeps_) return number;
  bags_.put(number, {.count = 1, .sum = mixed(number)});
  return number;
}

Number Bags::cast(DType from, DType to, Number x) {
  if (const ir::Constant* found = constants_.find(x)) {
    const ir::Constant converted = ir::convert(*found, to);
    const Number out = hashes::number_of(converted);
    constants_.put(out, converted);
    return out;
  }
  if (!keeps_) return hashes::cast(from, to, x);
  if (from == to && bags_.find(x) != nullptr) return x;
  const Number out = hashes::cast(from, to, x);
  bags_.put(out, bag(x));
  return out;
}

Number Bags::folded(ExprOp op, DType type, Number a, Number b) {
  if (is_neutral(op, type, a)) return b;
  if (is_neutral(op, type, b)) return a;
  if (!keeps_) return hashes::operated(op, type, std::min(a, b), std::max(a, b));
  const Bag x = bag(a), y = bag(b);
  Bag out{.count = x.count + y.count, .sum = x.sum + y.sum, .by = op};
  const auto is_other = [&](const Bag& each) {
    return each.is_mixed || (each.by && each.by != op);
  };
  out.is_mixed = is_other(x) || is_other(y) || op != op_ || type != type_;
  const Number number = is_ordered_ || out.is_mixed
                            ? hashes::operated(op, type, std::min(a, b), std::max(a, b))
                            : hashes::hashed(hashes::kOperator, static_cast<Number>(op), type,
                                             {out.sum, static_cast<Number>(out.count)});
  bags_.put(number, out);
  return number;
}

Bag Bags::bag(Number x) const {
  const Bag* found = bags_.find(x);
  return found == nullptr ? Bag{.is_mixed = true} : *found;
}

Number Bags::derived(Number number, std::initializer_list<Number> from) {
  if (!keeps_) return number;
  for (const Number each : from)
    if (const Bag* found = bags_.find(each)) {
      const Bag of = *found;  // the table may grow
      if (bags_.find(number) == nullptr) bags_.put(number, of);
      break;
    }
  return number;
}

bool Bags::is_neutral(ExprOp op, DType type, Number x) const {
  const ir::Constant* found = constants_.find(x);
  if (found == nullptr || found->dtype != type) return false;
  const ir::Constant& c = *found;
  if (op == ExprOp::Mul) return is_float(type) ? c.real == 1 : c.integer == 1;
  if (is_float(type))
    return op == ExprOp::Add ? c.real == 0 && std::signbit(c.real) : std::isnan(c.real);
  if (op == ExprOp::Add) return c.integer == 0;
  const bool is_signed = num::kind_of(type) == num::DTypeKind::Int;
  const int bits = num::storage_bits(type);
  const std::uint64_t ones = ~std::uint64_t{0} >> static_cast<unsigned>(64 - bits);
  const auto value = static_cast<std::uint64_t>(c.integer);
  if (!is_signed) return value == (op == ExprOp::Max ? 0 : ones);
  return value == (op == ExprOp::Max ? ~(ones >> 1U) : ones >> 1U);
}

std::string Bags::what_differs(Number wanted, std::optional<Number> number) const {
  if (!number) return "is not written";
  const Bag is = bag(*number), meant = bag(wanted);
  if (is.count != meant.count)
    return fmt::format("has {} elements folded into it, expected {}", is.count, meant.count);
  if (!(is == meant)) return "has other elements folded into it";
  return "is folded in another order, or otherwise";
}

FoldReplay::FoldReplay(const Call& call, ProofValues& values, const RegionElements& dst,
                       Registers& registers, Bags& bags, std::int64_t first_thread)
    : RegisterReplay(call, values, dst, registers),
      has_keys_(ir::gives_index(call.tile.op)),
      is_in_loop_(call.is_in_loop),
      bags_(bags),
      turns_(call.context.turns),
      scratch_(call, values, first_thread) {
  for (const ir::BufferId each : turns_) values_.count(each, 0);
}

Try<ThreadNumbers> FoldReplay::value(ExprId expr, const Mask& mask) {
  const ir::Expr& e = f_[expr];
  if (e.op == ExprOp::FloatImm || e.op == ExprOp::IntImm) {
    const ir::Constant constant{e.type.dtype, e.op == ExprOp::IntImm ? e.integer : 0,
                                e.op == ExprOp::FloatImm ? e.real : 0};
    const Number number = hashes::number_of(constant);
    bags_.constant(constant, number);
    return ThreadNumbers(values_.threads(), number);
  }
  if (e.op == ExprOp::Load && f_[e.buffer].scope == ir::Scope::Local) return loaded(e, mask);
  if (e.op == ExprOp::Load && scratch_.is_scratch(ir::storage_of(f_, e.buffer)))
    return fetched(e, mask);
  if (e.op == ExprOp::Call) return exchanged(expr, e, mask);
  if (has_keys_ && is_of_threads(expr)) return counted(expr);
  const bool is_fold = e.op == ExprOp::Max || e.op == ExprOp::Min ||
                       (!has_keys_ && (e.op == ExprOp::Add || e.op == ExprOp::Mul));
  if (has_keys_ && !is_fold && e.op != ExprOp::Cast) return computed(expr, e, mask);
  if (!is_fold && e.op != ExprOp::Cast) return unknown("`{}`", ir::print(f_, expr));
  const DType type = f_[e.args[0]].type.dtype;
  ThreadNumbers out = WW_TRY(value(e.args[0], mask));
  const ThreadNumbers other = is_fold ? WW_TRY(value(e.args[1], mask)) : ThreadNumbers{};
  for (std::size_t t = 0; t < out.size(); ++t)
    if (mask[t])
      out[t] = is_fold ? bags_.folded(e.op, type, out[t], other[t])
                       : bags_.cast(type, e.type.dtype, out[t]);
  return out;
}

// Made of constants and numbers of threads only.
bool FoldReplay::is_of_threads(ExprId expr) const {
  const ir::Expr& e = f_[expr];
  if (e.op == ExprOp::Load || e.op == ExprOp::Call) return false;
  if (!e.type.is_int() && !e.type.is_bool()) return false;  // conditions choose between numbers
  return std::ranges::all_of(e.args, [&](ExprId arg) { return is_of_threads(arg); });
}

Try<ThreadNumbers> FoldReplay::counted(ExprId expr) {
  const PerUnit& numbers = *WW_TRY(values_.known(expr));
  ThreadNumbers out;
  for (std::size_t t = 0; t < numbers.size(); ++t)
    out.push_back(hashes::number_of(ir::Constant{f_[expr].type.dtype, numbers[t], 0}));
  return out;
}

// What keys of elements and indices are made by.
Try<ThreadNumbers> FoldReplay::computed(ExprId expr, const ir::Expr& e, const Mask& mask) {
  std::vector<ThreadNumbers> args;
  for (const ExprId arg : e.args) args.push_back(WW_TRY(value(arg, mask)));
  const DType type = f_[e.args[0]].type.dtype;
  ThreadNumbers out(values_.threads());
  for (std::size_t t = 0; t < out.size(); ++t) {
    if (!mask[t]) continue;
    if (e.op == ExprOp::Reinterpret && args.size() == 1)
      out[t] = bags_.derived(
          hashes::hashed(hashes::kCast, static_cast<Number>(e.op), e.type.dtype, {args[0][t]}),
          {args[0][t]});
    else if (e.op == ExprOp::Select && args.size() == 3)
      out[t] = bags_.derived(
          hashes::hashed(hashes::kChoice, 0, e.type.dtype, {args[0][t], args[1][t], args[2][t]}),
          {args[1][t], args[2][t]});
    else if (args.size() == 2 && e.op != ExprOp::Load)
      out[t] = bags_.derived(hashes::operated(e.op, type, args[0][t], args[1][t]),
                             {args[0][t], args[1][t]});
    else
      return unknown("`{}`", ir::print(f_, expr));
  }
  return out;
}

// shfl.sync.bfly, .up and .idx with all lanes of a warp. Of `up`, a lane below the distance gets what it
// has.
Try<ThreadNumbers> FoldReplay::exchanged(ExprId expr, const ir::Expr& e, const Mask& mask) {
  const bool is_xor = e.callee == ir::Intrinsic::ShflXor;
  const bool is_up = e.callee == ir::Intrinsic::ShflUp;
  if (!is_xor && !is_up && e.callee != ir::Intrinsic::Shfl)
    return unknown("`{}`", ir::print(f_, expr));
  const auto members = ir::const_int(f_, e.args[0]);
  const auto width = ir::const_int(f_, e.args[3]), all = ir::const_int(f_, e.args[4]);
  if (!members || static_cast<std::uint32_t>(*members) != 0xFFFF'FFFFU || width != 32 || all != 32)
    return unknown("`{}` in parts of a warp", ir::print(f_, expr));
  const ThreadNumbers from = WW_TRY(value(e.args[1], mask));
  const auto by = WW_TRY(values_.of(e.args[2]));
  const auto warps = WW_TRY(whole_warps(mask, "shfl.sync"));
  ThreadNumbers out(values_.threads());
  for (const std::size_t first : warps)
    for (std::size_t lane = 0; lane < kFoldLanes; ++lane) {
      const auto operand = static_cast<std::size_t>(by[first + lane] & 31);
      const std::size_t below = lane < operand ? lane : lane - operand;
      out[first + lane] = from[first + (is_xor ? lane ^ operand : is_up ? below : operand)];
    }
  return out;
}

// From scratch memory, which no thread may be writing.
Try<ThreadNumbers> FoldReplay::fetched(const ir::Expr& e, const Mask& mask) {
  const auto from = WW_TRY(element(e, mask));
  for (std::size_t t = 0; t < mask.size(); ++t)
    if (mask[t]) WW_TRY_VOID(scratch_.read(from.storage, from.bit[t], t, cta_of(t)));
  return loaded(e, mask);
}

// A register that counts, in all threads alike.
Try<void> FoldReplay::count(const ir::Stmt& s, const Mask& mask) {
  const auto come = std::count(mask.begin(), mask.end(), true);
  if (come != std::ssize(mask)) return wrong("{} of {} threads count a turn", come, mask.size());
  values_.count(s.buffer, WW_TRY(values_.uniform(s.expr)));
  return {};
}

Try<void> FoldReplay::store(const ir::Stmt& s, const Mask& mask) {
  if (std::ranges::find(turns_, s.buffer) != turns_.end()) return count(s, mask);
  if (!scratch_.is_scratch(ir::storage_of(f_, s.buffer))) return RegisterReplay::store(s, mask);
  const auto number = WW_TRY(value(s.expr, mask));
  const auto to = WW_TRY(element(s, mask));
  const int bits = num::storage_bits(f_[s.buffer].dtype);
  for (std::size_t t = 0; t < mask.size(); ++t) {
    if (!mask[t]) continue;
    WW_TRY_VOID(scratch_.write(to.storage, to.bit[t], t, cta_of(t)));
    registers_.put(place(to, t, bits), number[t]);
  }
  return {};
}

Try<void> FoldReplay::evaluate(const ir::Stmt& s, const Mask& mask) {
  const ir::Expr& e = f_[s.expr];
  if (e.op == ExprOp::Call && e.callee == ir::Intrinsic::MbarrierWait) return awaited(e, mask);
  const bool is_barrier = e.op == ExprOp::Call && (e.callee == ir::Intrinsic::CtaSync ||
                                                   e.callee == ir::Intrinsic::ClusterSync ||
                                                   e.callee == ir::Intrinsic::WarpgroupSync);
  return is_barrier ? scratch_.barrier(e, mask) : unknown("`{}`", ir::print(f_, s.expr));
}

Try<void> FoldReplay::ptx(const ir::PtxCall& call, const Mask& mask) {
  if (call.opcode.mnemonic() == "mapa") return mapped(call, mask);
  if (call.opcode.mnemonic() == "st") return stored(call, mask);
  if (call.opcode.mnemonic() == "st.async") return sent(call, mask);
  if (call.opcode.mnemonic() == "mbarrier.arrive.expect_tx") return expected(call, mask);
  return reduced(call, mask);
}

// mapa.shared::cluster.u32: the place that an address names, in the memory of another CTA.
Try<void> FoldReplay::mapped(const ir::PtxCall& call, const Mask& mask) {
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
  for (std::size_t t = 0; t < mask.size(); ++t) {
    if (!mask[t]) continue;
    if (ctas[t] < 0 || ctas[t] >= all)
      return wrong("thread {} of the unit writes to CTA {} of the cluster, of {}", t, ctas[t], all);
    const RegisterPlace own = place(to, t, 32);
    if (!is_own(own.storage)) return wrong("`{}` is not a register of its own", call.opcode.text());
    remote_[{own.storage.index, t, own.bit}] = {at.storage, static_cast<std::size_t>(ctas[t]),
                                                at.bit[t]};
  }
  return {};
}

Try<std::vector<FoldReplay::Remote>> FoldReplay::remotes(const ir::PtxOperand& operand,
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

// st.shared::cluster at an address that mapa gave.
Try<void> FoldReplay::stored(const ir::PtxCall& call, const Mask& mask) {
  const bool is_plain = call.opcode.text().starts_with("st.shared::cluster.");
  if (!is_plain || call.predicate.valid()) return unknown("`{}`", call.opcode.text());
  const int bits = call.opcode.binding().word("type").ends_with("64") ? 64 : 32;
  const auto to = WW_TRY(remotes(call.operands[0], mask));
  const auto number = WW_TRY(value(call.operands[1].expr, mask));
  if (num::storage_bits(f_[call.operands[1].expr].type.dtype) != bits)
    return wrong("`{}` of another width than the value", call.opcode.text());
  for (std::size_t t = 0; t < mask.size(); ++t) {
    if (!mask[t]) continue;
    if (!scratch_.is_scratch(to[t].storage))
      return wrong("thread {} of the unit writes into `{}`", t, f_[to[t].storage].name);
    WW_TRY_VOID(scratch_.write(to[t].storage, to[t].bit, t, to[t].cta));
    registers_.put({to[t].storage, to[t].cta, to[t].bit, bits}, number[t]);
  }
  return {};
}

// st.async: the same, and an mbarrier of that CTA counts the bytes.
Try<void> FoldReplay::sent(const ir::PtxCall& call, const Mask& mask) {
  const bool is_known = !call.predicate.valid() && call.operands.size() == 3 &&
                        call.opcode.binding().word("space") == "shared::cluster";
  if (!is_known) return unknown("`{}`", call.opcode.text());
  const int bits = call.opcode.binding().word("type").ends_with("64") ? 64 : 32;
  const auto to = WW_TRY(remotes(call.operands[0], mask));
  const auto mbarrier = WW_TRY(remotes(call.operands[2], mask));
  const auto number = WW_TRY(value(call.operands[1].expr, mask));
  if (num::storage_bits(f_[call.operands[1].expr].type.dtype) != bits)
    return wrong("`{}` of another width than the value", call.opcode.text());
  for (std::size_t t = 0; t < mask.size(); ++t) {
    if (!mask[t]) continue;
    if (mbarrier[t].cta != to[t].cta)
      return wrong("thread {} of the unit sends to CTA {} and signals CTA {}", t, to[t].cta,
                   mbarrier[t].cta);
    if (!scratch_.is_scratch(to[t].storage))
      return wrong("thread {} of the unit writes into `{}`", t, f_[to[t].storage].name);
    WW_TRY_VOID(scratch_.send(to[t].storage, to[t].bit, t, to[t].cta,
                              {mbarrier[t].storage, mbarrier[t].bit}, std::int64_t{bits} / 8));
    registers_.put({to[t].storage, to[t].cta, to[t].bit, bits}, number[t]);
  }
  return {};
}

// mbarrier.arrive.expect_tx at the own CTA's.
Try<void> FoldReplay::expected(const ir::PtxCall& call, const Mask& mask) {
  const bool is_known = call.opcode.text() == "mbarrier.arrive.expect_tx.shared.b64" &&
                        !call.predicate.valid() && call.operands.size() == 3;
  if (!is_known) return unknown("`{}`", call.opcode.text());
  const auto at = WW_TRY(values_.pointer(call.operands[1].expr));
  const auto bytes = WW_TRY(values_.of(call.operands[2].expr));
  for (std::size_t t = 0; t < mask.size(); ++t) {
    if (!mask[t]) continue;
    WW_TRY_VOID(scratch_.expect({at.storage, at.bit[t]}, t, bytes[t]));
  }
  return {};
}

// A phase of an mbarrier of the own CTA, by its parity.
Try<void> FoldReplay::awaited(const ir::Expr& call, const Mask& mask) {
  const auto at = WW_TRY(values_.pointer(call.args[0]));
  const auto parity = WW_TRY(values_.of(call.args[1]));
  for (std::size_t t = 0; t < mask.size(); ++t)
    if (mask[t]) WW_TRY_VOID(scratch_.wait({at.storage, at.bit[t]}, t, parity[t]));
  return {};
}

// redux.sync of integers with all lanes: every lane gets what all of them have.
Try<void> FoldReplay::reduced(const ir::PtxCall& call, const Mask& mask) {
  const isa::Binding& binding = call.opcode.binding();
  const std::string_view op = binding.word("op"), type = binding.word("type");
  const bool is_known = call.opcode.mnemonic() == "redux" && !call.predicate.valid() &&
                        (op == "add" || op == "max" || op == "min") &&
                        (type == "s32" || type == "u32");
  if (!is_known) return unknown("`{}`", call.opcode.text());
  const auto members = ir::const_int(f_, call.operands[2].expr);
  if (!members || static_cast<std::uint32_t>(*members) != 0xFFFF'FFFFU)
    return unknown("`{}` in parts of a warp", call.opcode.text());
  const ExprOp with = op == "add" ? ExprOp::Add : op == "max" ? ExprOp::Max : ExprOp::Min;
  const DType folded = type == "s32" ? DType::Int32 : DType::Uint32;
  const auto to = WW_TRY(register_of(call.operands[0], mask));
  const auto from = WW_TRY(register_of(call.operands[1], mask));
  const auto warps = WW_TRY(whole_warps(mask, call.opcode.text()));
  for (const std::size_t first : warps) {
    std::optional<Number> all;
    for (std::size_t t = first; t < first + kFoldLanes; ++t) {
      const auto number = registers_.at(place(from, t, 32));
      if (!number) return wrong("thread {} of the unit gives a register that is not filled", t);
      all = all ? bags_.folded(with, folded, *all, *number) : *number;
    }
    for (std::size_t t = first; t < first + kFoldLanes; ++t)
      WW_TRY_VOID(put(place(to, t, 32), t, *all));
  }
  return {};
}

}  // namespace ww::lower
