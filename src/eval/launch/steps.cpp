// SPDX-License-Identifier: Apache-2.0
#include "eval/launch/steps.h"

#include <string>
#include <utility>

#include "eval/launch/supported.h"
#include "eval/ptx/instruction.h"
#include "eval/ptx/kind.h"
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

/// Calls `visit` for an expression and all below it. Expressions of a buffer that is used (offsets,
/// addresses) are not followed.
template <typename Visit>
void for_each_expr(const Function& function, ExprId root, const Visit& visit) {
  if (!root.valid()) return;
  const Expr& expr = function[root];
  visit(expr);
  for (const ExprId arg : expr.args) for_each_expr(function, arg, visit);
}

class StepBuilder {
 public:
  explicit StepBuilder(const Function& function) : function_(function) {}

  Result<StepList> build() {
    WW_TRY_VOID(block(function_.host));
    WW_TRY_VOID(block(function_.body));
    push(StepKind::Exit, {});
    for (Step& step : list_.steps) gather(step);
    return std::move(list_);
  }

 private:
  struct Loop {
    std::vector<std::size_t> breaks;
    std::vector<std::size_t> continues;
  };

  std::size_t push(StepKind kind, StmtId stmt) {
    list_.steps.push_back(Step{.kind = kind, .stmt = stmt});
    return list_.steps.size() - 1;
  }
  Result<void> add(StepKind kind, StmtId stmt) {
    push(kind, stmt);
    return {};
  }
  [[nodiscard]] std::uint32_t here() const {
    return static_cast<std::uint32_t>(list_.steps.size());
  }
  void land(std::size_t jump) { list_.steps[jump].target = here(); }

  Result<void> block(const ir::Block& stmts) {
    for (const StmtId id : stmts) WW_TRY_VOID(statement(id));
    return {};
  }

  Result<void> statement(StmtId id) {
    const Stmt& stmt = function_[id];
    WW_TRY_VOID(require_evaluated(function_, stmt));
    switch (stmt.kind) {
      case StmtKind::Bind:
        return add(StepKind::Bind, id);
      case StmtKind::Alloc:
        if (function_[stmt.buffer].scope == ir::Scope::Local) push(StepKind::Forget, id);
        return {};
      case StmtKind::Declare:
        return {};
      case StmtKind::Store:
        return add(StepKind::Store, id);
      case StmtKind::For:
        return for_loop(id, stmt);
      case StmtKind::While:
        return while_loop(id, stmt);
      case StmtKind::If:
        return branch(id, stmt);
      case StmtKind::Assert:
        return add(StepKind::Assert, id);
      case StmtKind::Evaluate:
        return add(StepKind::Evaluate, id);
      case StmtKind::Break:
        loops_.back().breaks.push_back(push(StepKind::Jump, id));
        return {};
      case StmtKind::Continue:
        loops_.back().continues.push_back(push(StepKind::Jump, id));
        return {};
      case StmtKind::Return:
        return add(StepKind::Exit, id);
      case StmtKind::Attr:
        return block(stmt.body);
      case StmtKind::ScopeIds:
      case StmtKind::LaunchThread:
        return add(StepKind::Ids, id);
      case StmtKind::Tile:
        return add(StepKind::Tile, id);
      case StmtKind::Ptx:
        return add(StepKind::Ptx, id);
    }
    return {};
  }

  Result<void> for_loop(StmtId id, const Stmt& stmt) {
    if (stmt.loop == ir::LoopKind::ThreadBinding) {
      push(StepKind::Ids, id);
      return block(stmt.body);
    }
    const std::uint32_t number = list_.loops++;
    list_.steps[push(StepKind::LoopBegin, id)].loop = number;
    const std::size_t test = push(StepKind::LoopTest, id);
    list_.steps[test].loop = number;
    loops_.emplace_back();
    WW_TRY_VOID(block(stmt.body));
    for (const std::size_t jump : loops_.back().continues) land(jump);
    const std::size_t next = push(StepKind::LoopNext, id);
    list_.steps[next].loop = number;
    list_.steps[next].target = static_cast<std::uint32_t>(test);
    leave_loop(test);
    return {};
  }

  Result<void> while_loop(StmtId id, const Stmt& stmt) {
    const std::size_t test = push(StepKind::While, id);
    loops_.emplace_back();
    WW_TRY_VOID(block(stmt.body));
    for (const std::size_t jump : loops_.back().continues)
      list_.steps[jump].target = static_cast<std::uint32_t>(test);
    list_.steps[push(StepKind::Jump, id)].target = static_cast<std::uint32_t>(test);
    leave_loop(test);
    return {};
  }

  void leave_loop(std::size_t test) {
    land(test);
    for (const std::size_t jump : loops_.back().breaks) land(jump);
    loops_.pop_back();
  }

  Result<void> branch(StmtId id, const Stmt& stmt) {
    const std::size_t test = push(StepKind::Branch, id);
    WW_TRY_VOID(block(stmt.body));
    if (stmt.other.empty()) {
      land(test);
      return {};
    }
    const std::size_t skip = push(StepKind::Jump, id);
    land(test);
    WW_TRY_VOID(block(stmt.other));
    land(skip);
    return {};
  }

  // Lanes that exchange values must be there together; what else is collective says so itself.
  void gather(Step& step) {
    if (!step.stmt.valid()) return;
    const Stmt& stmt = function_[step.stmt];
    if (step.kind == StepKind::Tile) {
      step.gather = gather_of(function_[stmt.tile].scope);
      if (step.gather == Gather::Warpgroup || step.gather == Gather::Cta) want_who_comes(step);
      return;
    }
    if (step.kind == StepKind::Ptx && is_warp_collective(decode(function_[stmt.ptx]).kind)) {
      step.gather = Gather::Warp;
      return;
    }
    if (step.kind == StepKind::Jump || step.kind == StepKind::LoopTest ||
        step.kind == StepKind::LoopNext)
      return;
    bool is_full = false;
    const auto visit = [&](const Expr& expr) {
      look_at(expr, step, is_full);
      if (!expr.args.empty()) ++step.operations;
    };
    for_each_expr(function_, stmt.expr, visit);
    for (const ExprId arg : stmt.args) for_each_expr(function_, arg, visit);
    if (is_full) step.masks.clear();
  }

  // A copy between memories may stand where only part of its unit comes (ir/verify/verify.h): the
  // others are not waited for.
  void want_who_comes(Step& step) {
    if (!active_) {
      const auto shape = ir::launch_shape(function_);
      if (!shape) return;
      active_ = ir::ActiveSets::of(function_, *shape);
      threads_ = static_cast<std::size_t>(shape->threads());
    }
    const ir::Threads& may = (*active_)[step.stmt].may;
    if (may.any() && may.count() != threads_) step.wanted = may;
  }

  static void look_at(const Expr& expr, Step& step, bool& is_full) {
    if (expr.op != ExprOp::Call) return;
    const Intrinsic callee = expr.callee;
    if (callee == Intrinsic::CtaReduce) step.gather = Gather::Cta;
    if (ir::facts_of(callee).effect != ir::Effect::Exchange || callee == Intrinsic::ActiveMask)
      return;
    if (step.gather == Gather::None) step.gather = Gather::Lanes;
    if (callee == Intrinsic::ElectSync || callee == Intrinsic::WarpReduce)
      is_full = true;
    else
      step.masks.push_back(expr.args[0]);
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
  StepList list_;
  std::vector<Loop> loops_;
};

}  // namespace

Result<StepList> make_steps(const Function& function) { return StepBuilder(function).build(); }

}  // namespace ww::eval
