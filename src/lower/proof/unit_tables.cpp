// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/unit_tables.h"

namespace ww::lower {

using ir::ExprOp;

bool UnitTables::Operation::is_worth_keeping() const {
  const bool has_uniform = a.is_uniform() || b.is_uniform();
  if (a.is_uniform() && b.is_uniform()) return false;
  if (op == ExprOp::Mul) return !has_uniform;
  if (op == ExprOp::Add || op == ExprOp::Sub) return !has_uniform && !a.shares_table(b);
  return true;
}

bool operator==(const UnitTables::Operation& x, const UnitTables::Operation& y) {
  return x.op == y.op && x.type == y.type && x.result == y.result && x.a.is_held_like(y.a) &&
         x.b.is_held_like(y.b);
}

std::size_t UnitTables::Hash::operator()(const Operation& operation) const {
  constexpr std::size_t kOdd = 0x9E37'79B9'7F4A'7C15U;
  std::size_t out = operation.a.identity() * kOdd + operation.b.identity();
  out = (out ^ (out >> 32U)) * kOdd + static_cast<std::size_t>(operation.op);
  return out ^ (out >> 29U);
}

const PerUnit* UnitTables::find(const Operation& operation) const {
  const auto found = known_.find(operation);
  return found == known_.end() ? nullptr : &found->second;
}

void UnitTables::keep(Operation operation, const PerUnit& value) {
  constexpr std::size_t kMaxKept = 1024;  // a loop of many rounds has as many tables
  if (known_.size() < kMaxKept) known_.try_emplace(std::move(operation), value);
}

const PerUnit* UnitTables::find(ir::VarId id) const {
  const auto found = ids_.find(id.index);
  return found == ids_.end() ? nullptr : &found->second;
}

}  // namespace ww::lower
