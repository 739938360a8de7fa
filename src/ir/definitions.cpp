// SPDX-License-Identifier: Apache-2.0
// Which names and scalars stand for one expression.
#include "ir/below.h"
#include "ir/launch/thread_values.h"
#include "ir/visit.h"

namespace ww::ir {
namespace {

// Scalars written once. The walk goes in program order and knows at each place which of them are
// certainly written: those stored to earlier in an enclosing block. A use anywhere else, or
// anything that could write behind our back, takes a scalar off the list.
class Scalars {
 public:
  explicit Scalars(const Function& f)
      : f_(f), stores_(f.buffer_count()), bad_(f.buffer_count()), written_(f.buffer_count()) {}

  std::vector<Definition> all() {
    for (std::uint32_t i = 0; i < f_.buffer_count(); ++i) {
      const Buffer& b = f_[BufferId{i}];
      if (b.base.valid()) bad_[b.base.index] = true;
      if (b.scope != Scope::Local || b.origin != BufferOrigin::Alloc || !is_single(b))
        bad_[i] = true;
    }
    walk(f_.body);
    for (std::size_t i = 0; i < stores_.size(); ++i)
      if (bad_[i]) stores_[i] = {};
    return std::move(stores_);
  }

 private:
  [[nodiscard]] bool is_single(const Buffer& b) const {
    for (const ExprId extent : b.shape)
      if (const_int(f_, extent) != 1) return false;
    return true;
  }

  void walk(const Block& block) {
    std::vector<std::uint32_t> here;
    for (const StmtId id : block) {
      const Stmt& stmt = f_[id];
      for_each_root(f_, stmt, [&](ExprId root) { look_at(root); });
      if (stmt.kind == StmtKind::Tile) touch(f_[stmt.tile]);
      if (stmt.kind == StmtKind::Ptx) touch(f_[stmt.ptx]);
      walk(stmt.body);
      walk(stmt.other);
      if (stmt.kind == StmtKind::Store && store(id, stmt)) here.push_back(stmt.buffer.index);
    }
    for (const std::uint32_t i : here) written_[i] = false;
  }

  bool store(StmtId id, const Stmt& stmt) {
    Definition& only = stores_[stmt.buffer.index];
    if (only.stmt.valid() || f_[stmt.expr].type != Type::of(f_[stmt.buffer].dtype)) {
      bad_[stmt.buffer.index] = true;
      return false;
    }
    only = {stmt.expr, id};
    written_[stmt.buffer.index] = true;
    return true;
  }

  void look_at(ExprId root) {
    any_below(f_, root, [&](const Expr& e) {
      const bool takes_address = e.op == ExprOp::AddressOf || e.op == ExprOp::BufferData;
      if (takes_address || (e.op == ExprOp::Load && !written_[e.buffer.index]))
        bad_[e.buffer.index] = true;
      return false;
    });
  }

  void touch(const TileCall& call) {
    for (const TileArg& arg : call.args)
      if (const auto* region = std::get_if<Region>(&arg)) bad_[region->buffer.index] = true;
    for (const auto& [name, buffer] : call.workspace) bad_[buffer.index] = true;
  }

  // An operand that is a load may be a destination.
  void touch(const PtxCall& call) {
    for (const PtxOperand& operand : call.operands)
      if (operand.expr.valid() && f_[operand.expr].op == ExprOp::Load)
        bad_[f_[operand.expr].buffer.index] = true;
  }

  const Function& f_;
  std::vector<Definition> stores_;
  std::vector<bool> bad_;
  std::vector<bool> written_;
};

}  // namespace

Definitions definitions_of(const Function& function) {
  Definitions out;
  out.lets.resize(function.var_count());
  out.loops.resize(function.var_count());
  out.ids = id_bindings(function);
  for (const Block* block : {&function.host, &function.body}) {
    for_each_stmt(function, *block, [&](StmtId id) {
      const Stmt& stmt = function[id];
      if (stmt.kind == StmtKind::Bind) out.lets[stmt.var.index] = {stmt.expr, id};
      if (stmt.kind == StmtKind::For) out.loops[stmt.var.index] = id;
    });
  }
  out.scalars = Scalars(function).all();
  return out;
}

Definition definition_of(const Function& function, const Definitions& definitions, ExprId expr) {
  const Expr& e = function[expr];
  if (e.op == ExprOp::Var) return definitions.lets[e.var.index];
  if (e.op == ExprOp::Load && e.type.is_scalar()) return definitions.scalars[e.buffer.index];
  return {};
}

std::optional<Unit> given_unit(const Function& function, const Definitions& definitions,
                               VarId var) {
  const auto bound_unit = [&](StmtId stmt) {
    return function[stmt].hardware.kind == HardwareId::Kind::ThreadIdx ? Unit::Thread : Unit::Cta;
  };
  const StmtId id = definitions.ids[var.index].stmt, loop = definitions.loops[var.index];
  switch (function[var].kind) {
    case VarKind::Param:
    case VarKind::Extent:
      return Unit::Kernel;
    case VarKind::Launch:
      return id.valid() ? bound_unit(id) : Unit::Thread;
    case VarKind::ScopeId: {
      const Unit child = id.valid() ? facts_of(function[id].scope_id).child : Unit::Thread;
      return child == Unit::Cluster || child == Unit::Cta ? child : Unit::Thread;
    }
    case VarKind::Loop:
      if (loop.valid() && function[loop].loop == LoopKind::ThreadBinding) return bound_unit(loop);
      return std::nullopt;
    case VarKind::Let:
      break;
  }
  return std::nullopt;
}

}  // namespace ww::ir
