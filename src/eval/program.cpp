// SPDX-License-Identifier: Apache-2.0
#include "eval/program.h"

#include <string>
#include <utility>

#include "eval/support.h"
#include "ir/launch/launch.h"

namespace ww::eval {
namespace {

using ir::Expr;
using ir::ExprId;
using ir::ExprOp;
using ir::Function;
using ir::Intrinsic;
using ir::Stmt;
using ir::StmtId;
using ir::StmtKind;

class Builder {
 public:
  explicit Builder(const Function& function) : function_(function) {}

  Result<Program> build() {
    WW_TRY_VOID(block(function_.host));
    WW_TRY_VOID(block(function_.body));
    push(OpKind::Exit, {});
    for (Op& op : program_.ops) gather(op);
    return std::move(program_);
  }

 private:
  struct Loop {
    std::vector<std::size_t> breaks;
    std::vector<std::size_t> continues;
  };

  std::size_t push(OpKind kind, StmtId stmt) {
    program_.ops.push_back(Op{.kind = kind, .stmt = stmt});
    return program_.ops.size() - 1;
  }
  [[nodiscard]] std::uint32_t here() const {
    return static_cast<std::uint32_t>(program_.ops.size());
  }
  void land(std::size_t jump) { program_.ops[jump].target = here(); }

  Result<void> block(const ir::Block& stmts) {
    for (const StmtId id : stmts) WW_TRY_VOID(statement(id));
    return {};
  }

  Result<void> statement(StmtId id) {
    const Stmt& stmt = function_[id];
    WW_TRY_VOID(require_evaluated(function_, stmt));
    switch (stmt.kind) {
      case StmtKind::Bind:
        push(OpKind::Bind, id);
        return {};
      case StmtKind::Alloc:
        if (function_[stmt.buffer].scope == ir::Scope::Local) push(OpKind::Forget, id);
        return {};
      case StmtKind::Declare:
        return {};
      case StmtKind::Store:
        push(OpKind::Store, id);
        return {};
      case StmtKind::For:
        return for_loop(id, stmt);
      case StmtKind::While:
        return while_loop(id, stmt);
      case StmtKind::If:
        return branch(id, stmt);
      case StmtKind::Assert:
        push(OpKind::Assert, id);
        return {};
      case StmtKind::Evaluate:
        push(OpKind::Evaluate, id);
        return {};
      case StmtKind::Break:
        loops_.back().breaks.push_back(push(OpKind::Jump, id));
        return {};
      case StmtKind::Continue:
        loops_.back().continues.push_back(push(OpKind::Jump, id));
        return {};
      case StmtKind::Return:
        push(OpKind::Exit, id);
        return {};
      case StmtKind::Attr:
        return block(stmt.body);
      case StmtKind::ScopeIds:
      case StmtKind::LaunchThread:
        push(OpKind::Ids, id);
        return {};
      case StmtKind::Tile:
        push(OpKind::Tile, id);
        return {};
      case StmtKind::Ptx:
        push(OpKind::Ptx, id);
        return {};
    }
    return {};
  }

  Result<void> for_loop(StmtId id, const Stmt& stmt) {
    if (stmt.loop == ir::LoopKind::ThreadBinding) {
      push(OpKind::Ids, id);
      return block(stmt.body);
    }
    const std::uint32_t number = program_.loops++;
    program_.ops[push(OpKind::LoopBegin, id)].loop = number;
    const std::size_t test = push(OpKind::LoopTest, id);
    program_.ops[test].loop = number;
    loops_.emplace_back();
    WW_TRY_VOID(block(stmt.body));
    for (const std::size_t jump : loops_.back().continues) land(jump);
    const std::size_t next = push(OpKind::LoopNext, id);
    program_.ops[next].loop = number;
    program_.ops[next].target = static_cast<std::uint32_t>(test);
    leave_loop(test);
    return {};
  }

  Result<void> while_loop(StmtId id, const Stmt& stmt) {
    const std::size_t test = push(OpKind::While, id);
    loops_.emplace_back();
    WW_TRY_VOID(block(stmt.body));
    for (const std::size_t jump : loops_.back().continues)
      program_.ops[jump].target = static_cast<std::uint32_t>(test);
    program_.ops[push(OpKind::Jump, id)].target = static_cast<std::uint32_t>(test);
    leave_loop(test);
    return {};
  }

  void leave_loop(std::size_t test) {
    land(test);
    for (const std::size_t jump : loops_.back().breaks) land(jump);
    loops_.pop_back();
  }

  Result<void> branch(StmtId id, const Stmt& stmt) {
    const std::size_t test = push(OpKind::Branch, id);
    WW_TRY_VOID(block(stmt.body));
    if (stmt.other.empty()) {
      land(test);
      return {};
    }
    const std::size_t skip = push(OpKind::Jump, id);
    land(test);
    WW_TRY_VOID(block(stmt.other));
    land(skip);
    return {};
  }

  // Lanes that exchange values must be there together; what else is collective says so itself.
  void gather(Op& op) {
    if (!op.stmt.valid()) return;
    const Stmt& stmt = function_[op.stmt];
    if (op.kind == OpKind::Tile) {
      op.gather = gather_of(function_[stmt.tile].scope);
      if (op.gather == Gather::Warpgroup || op.gather == Gather::Cta) want_who_comes(op);
      return;
    }
    if (op.kind == OpKind::Ptx && is_warp_collective(function_[stmt.ptx].opcode)) {
      op.gather = Gather::Warp;
      return;
    }
    if (op.kind == OpKind::Jump || op.kind == OpKind::LoopTest || op.kind == OpKind::LoopNext)
      return;
    bool is_full = false;
    const auto visit = [&](const Expr& expr) { look_at(expr, op, is_full); };
    for_each_expr(function_, stmt.expr, visit);
    for (const ExprId arg : stmt.args) for_each_expr(function_, arg, visit);
    if (is_full) op.masks.clear();
  }

  // A copy between memories may stand where only part of its unit comes (ir/verify/verify.h): the
  // others are not waited for.
  void want_who_comes(Op& op) {
    if (!active_) {
      const auto shape = ir::launch_shape(function_);
      if (!shape) return;
      active_ = ir::ActiveSets::of(function_, *shape);
      threads_ = static_cast<std::size_t>(shape->threads());
    }
    const ir::Threads& may = (*active_)[op.stmt].may;
    if (may.any() && may.count() != threads_) op.wanted = may;
  }

  static void look_at(const Expr& expr, Op& op, bool& is_full) {
    if (expr.op != ExprOp::Call) return;
    const Intrinsic callee = expr.callee;
    if (callee == Intrinsic::CtaReduce) op.gather = Gather::Cta;
    if (ir::facts_of(callee).effect != ir::Effect::Exchange || callee == Intrinsic::ActiveMask)
      return;
    if (op.gather == Gather::None) op.gather = Gather::Lanes;
    if (callee == Intrinsic::ElectSync || callee == Intrinsic::WarpReduce)
      is_full = true;
    else
      op.masks.push_back(expr.args[0]);
  }

  static Gather gather_of(ir::Unit scope) {
    switch (scope) {
      case ir::Unit::Thread:
        return Gather::None;
      case ir::Unit::Warp:
        return Gather::Warp;
      case ir::Unit::Warpgroup:
        return Gather::Warpgroup;
      default:
        return Gather::Cta;
    }
  }

  const Function& function_;
  std::optional<ir::ActiveSets> active_;  // made when asked for
  std::size_t threads_ = 0;
  Program program_;
  std::vector<Loop> loops_;
};

}  // namespace

Result<Program> make_program(const Function& function) { return Builder(function).build(); }

}  // namespace ww::eval
