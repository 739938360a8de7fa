// SPDX-License-Identifier: Apache-2.0
#include "ir/known_words.h"

#include <algorithm>

#include "ir/visit.h"

namespace ww::ir {

KnownWords::KnownWords(const Function& f, target::Target target) : f_(f) {
  const int number = target::info(target.arch).number;
  has_products_ = number >= 90 && number < 120;
  is_used_ = std::ranges::any_of(f.ptx_calls, [&](const PtxCall& call) {
    return !call.opcode.forms().empty() && unpacks(call, call.opcode.binding());
  });
  if (!is_used_) return;
  storage_.emplace(f);
  for (bool is_new = true; is_new;) {
    is_new = false;
    for_each_stmt(f_, f_.body, [&](StmtId id) { is_new |= look_at(f_[id]); });
  }
}

bool KnownWords::unpacks(const PtxCall& call, const isa::Binding& binding) const {
  const isa::Word type = binding.word("atype");
  if (call.opcode.mnemonic() == "cvt") return type.is_one_of({"e4m3x2", "e5m2x2"});
  return has_products_ && call.opcode.mnemonic() == "mma" && type.is_one_of({"e4m3", "e5m2"});
}

bool KnownWords::must_hide(const PtxCall& call, const isa::Binding& binding,
                           const PlacedOperand& operand) const {
  if (!is_used_ || !unpacks(call, binding)) return false;
  if (operand.spec->name != "a" && operand.spec->name != "b") return false;
  const auto words = std::span(call.operands).subspan(operand.first, operand.count);
  return std::ranges::any_of(words, [&](const PtxOperand& word) { return may_be_known(word); });
}

bool KnownWords::may_be_known(const PtxOperand& operand) const {
  if (operand.kind != PtxOperandKind::At) return operand.expr.valid() && may_be_known(operand.expr);
  const BufferId storage = storage_->at(operand.expr);
  return !storage.valid() || known_.contains(storage.index);
}

// What comes out of memory or from other threads is not known, nor what is computed from it.
bool KnownWords::may_be_known(ExprId value) const {
  const Expr& e = f_[value];
  const auto is_known = [&](ExprId arg) { return may_be_known(arg); };
  switch (e.op) {
    case ExprOp::Load: {
      const BufferId storage = storage_->of(e.buffer);
      return storage.valid() && known_.contains(storage.index);
    }
    case ExprOp::Var: {
      const ExprId bound = storage_->value_of(e.var);
      return bound.valid() ? may_be_known(bound) : f_[e.var].kind == VarKind::Loop;
    }
    case ExprOp::Select:
    case ExprOp::IfThenElse:
      return is_known(e.args[1]) || is_known(e.args[2]);
    case ExprOp::Call:
      return facts_of(e.callee).effect == Effect::Pure && std::ranges::all_of(e.args, is_known);
    default:
      return std::ranges::all_of(e.args, is_known);
  }
}

bool KnownWords::add_known(BufferId storage) {
  return storage.valid() && known_.insert(storage.index).second;
}

// Does the statement put something known into an array that held none?
bool KnownWords::look_at(const Stmt& s) {
  if (s.kind == StmtKind::Store) return may_be_known(s.expr) && add_known(storage_->of(s.buffer));
  if (s.kind == StmtKind::Ptx) return look_at(f_[s.ptx]);
  if (!is_call(f_, s, Intrinsic::CopyBytes)) return false;
  const Expr& e = f_[s.expr];
  const BufferId from = storage_->at(e.args[1]);
  return from.valid() && known_.contains(from.index) && add_known(storage_->at(e.args[0]));
}

// What an instruction loads is not known; what it computes is if all that it reads is.
bool KnownWords::look_at(const PtxCall& call) {
  if (call.opcode.forms().empty()) return false;
  bool is_new = false;
  place_operands(call.opcode.binding(), call.operands.size(), [&](const auto& placed) {
    std::vector<const PtxOperand*> written;
    bool is_known = true;
    for (const PlacedOperand& group : placed)
      for (const PtxOperand& one : std::span(call.operands).subspan(group.first, group.count)) {
        if (group.spec->role == isa::Role::Write)
          written.push_back(&one);
        else
          is_known &= one.kind != PtxOperandKind::Address && may_be_known(one);
      }
    for (const PtxOperand* one : written)
      if (is_known && one->expr.valid())
        is_new |= add_known(one->kind == PtxOperandKind::At ? storage_->at(one->expr)
                                                            : storage_->of(f_[one->expr].buffer));
    return true;
  });
  return is_new;
}

}  // namespace ww::ir
