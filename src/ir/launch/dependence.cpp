// SPDX-License-Identifier: Apache-2.0
#include "ir/launch/dependence.h"

#include <algorithm>

#include "ir/launch/uniformity.h"
#include "ir/visit.h"

namespace ww::ir {

// What private memory holds depends on what is stored there, which may depend on private memory:
// all of it starts as the same everywhere, and is brought down until nothing changes.
Dependence::Dependence(const Function& function, const LaunchShape& shape)
    : f_(function),
      definitions_(definitions_of(function)),
      values_(function, shape, definitions_),
      written_(function.buffer_count(), Unit::Kernel) {
  for (std::size_t t = 0; t < values_.count(); ++t) among_.set(t);
  do {
    has_changed_ = false;
    done_.clear();
    visit(f_.body, Unit::Kernel);
  } while (has_changed_);
  done_.clear();
}

Unit Dependence::of(ExprId expr, const Threads& among) {
  if (among_ != among) {
    among_ = among;
    done_.clear();
  }
  return value(expr);
}

Unit Dependence::value(ExprId expr) {
  if (const auto found = done_.find(expr.index); found != done_.end()) return found->second;
  const PerThread& known = values_.of(expr);
  const bool is_known = (among_ & ~known.known).none();
  const Unit unit = is_known ? unit_of(known, among_) : computed(expr);
  done_.emplace(expr.index, unit);
  return unit;
}

template <typename Args>
Unit Dependence::all(const Args& args) {
  Unit unit = Unit::Kernel;
  for (const ExprId arg : args) unit = std::min(unit, value(arg));
  return unit;
}

Unit Dependence::computed(ExprId expr) {
  const Expr& e = f_[expr];
  switch (e.op) {
    case ExprOp::Var:
      return variable(e.var);
    case ExprOp::Load:
      return loaded(e);
    case ExprOp::AddressOf:
    case ExprOp::BufferData:
      return std::min(all(e.args), f_[e.buffer].scope == Scope::Global ? Unit::Kernel : Unit::Cta);
    case ExprOp::Call:
      return called(e);
    default:
      return all(e.args);
  }
}

Unit Dependence::variable(VarId var) {
  if (const auto given = given_unit(f_, definitions_, var)) return *given;
  if (f_[var].kind == VarKind::Let) {
    const ExprId bound = definitions_.lets[var.index].value;
    return bound.valid() ? value(bound) : Unit::Kernel;
  }
  const StmtId loop = definitions_.loops[var.index];
  return loop.valid() ? all(f_[loop].args) : Unit::Kernel;
}

Unit Dependence::loaded(const Expr& e) {
  const Buffer& buffer = f_[e.buffer];
  const Unit index = all(e.args);
  if (buffer.scope == Scope::Local)
    return std::min(index, written_[storage_of(f_, e.buffer).index]);
  return std::min(index, buffer.scope == Scope::Global ? Unit::Kernel : Unit::Cta);
}

Unit Dependence::called(const Expr& e) {
  switch (e.callee) {
    case Intrinsic::Uniform:
      return std::max(Unit::Cta, all(e.args));
    case Intrinsic::WarpUniform:
      return std::max(Unit::Warp, all(e.args));
    case Intrinsic::Ballot:
    case Intrinsic::AnySync:
    case Intrinsic::AllSync:
    case Intrinsic::ActiveMask:
      return Unit::Warp;
    case Intrinsic::Shfl:
      return const_int(f_, e.args[3]) == 32 ? std::min(Unit::Warp, value(e.args[2])) : Unit::Thread;
    case Intrinsic::WarpReduce:
      return const_int(f_, e.args[2]) == 32 ? Unit::Warp : std::min(Unit::Warp, value(e.args[0]));
    case Intrinsic::CtaReduce:
      return Unit::Cta;
    case Intrinsic::ElectSync:
      return Unit::Thread;
    default:
      break;
  }
  const Effect effect = facts_of(e.callee).effect;
  const bool is_atomic = effect == Effect::Writes && e.callee != Intrinsic::FuncCall;
  return is_atomic ? Unit::Thread : all(e.args);
}

// --- what is written -----------------------------------------------------------------------------

void Dependence::note(BufferId buffer, Unit unit) {
  if (!buffer.valid() || f_[buffer].scope != Scope::Local) return;
  Unit& known = written_[storage_of(f_, buffer).index];
  if (unit >= known) return;
  known = unit;
  has_changed_ = true;
}

void Dependence::visit(const TileCall& call, Unit around) {
  const auto* dst = std::get_if<Region>(&call.args[0]);
  if (dst == nullptr) return;
  Unit unit = has_thread_axes(f_[dst->buffer]) ? Unit::Thread : around;
  for (const TileArg& arg : call.args)
    if (const auto* scalar = std::get_if<ExprId>(&arg)) unit = std::min(unit, value(*scalar));
  note(dst->buffer, unit);
}

// `around`: how far the threads that are here are all that could be.
void Dependence::visit(const Block& block, Unit around) {
  for (const StmtId id : block) {
    const Stmt& s = f_[id];
    Unit inside = around;
    switch (s.kind) {
      case StmtKind::Store:
        note(s.buffer, std::min({around, value(s.expr), all(s.args)}));
        break;
      case StmtKind::Tile:
        visit(f_[s.tile], around);
        break;
      case StmtKind::If:
      case StmtKind::While:
        inside = std::min(around, value(s.expr));
        break;
      case StmtKind::For:
        inside = std::min(around, all(s.args));
        break;
      default:
        break;
    }
    visit(s.body, inside);
    visit(s.other, inside);
  }
}

}  // namespace ww::ir
