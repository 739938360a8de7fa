// SPDX-License-Identifier: Apache-2.0
#include "lower/cluster_code.h"

#include <algorithm>

#include "ir/reduction.h"
#include "ir/visit.h"

namespace ww::lower {
namespace cluster_calls {
namespace {

using ir::StmtKind;

bool is_cluster_sync(const ir::Function& f, const ir::Stmt& s) {
  if (s.kind == StmtKind::Ptx)
    return f[s.ptx].opcode.text().starts_with("barrier.cluster.") ||
           f[s.ptx].opcode.mnemonic() == "mapa";
  return s.kind == StmtKind::Evaluate && f[s.expr].op == ir::ExprOp::Call &&
         f[s.expr].callee == ir::Intrinsic::ClusterSync;
}

bool is_reduction(const ir::Function& f, const ir::Stmt& s) {
  return s.kind == StmtKind::Tile && f[s.tile].scope == ir::Unit::Cluster &&
         ir::is_reduction(f[s.tile].op);
}

bool meets_in(const ir::Function& f, ir::StmtId id) {
  bool out = false;
  ir::for_each_stmt(f, {id}, [&](ir::StmtId each) { out = out || is_cluster_sync(f, f[each]); });
  return out;
}

ir::StmtId ptx_statement(Context& context, std::string_view opcode) {
  CodeWriter code(context.f, context.facts, {});
  code.ptx(opcode, {});
  return code.take()[0];
}

// By thread 0; the fence and the barrier behind it show them to the other CTAs.
ir::Block made_mbarriers(Context& context) {
  if (std::ranges::none_of(context.scratch, &ScratchBuffer::is_mbarrier)) return {};
  CodeWriter code(context.f, context.facts, {});
  const ir::ExprId is_first =
      code.index(ir::ExprOp::Eq, code.var(context.ids.linear_thread), code.n(0));
  code.guarded(is_first, [&] {
    for (const ScratchBuffer& row : context.scratch) {
      if (!row.is_mbarrier) continue;
      const ir::ExprId one = ir::int_imm(context.f, num::DType::Uint32, 1);
      for (std::int64_t i = 0; i < row.elements; ++i)
        code.ptx("mbarrier.init.shared.b64",
                 {address_operand(code.address(row.buffer, code.n(i))), {.expr = one}});
    }
    code.ptx("fence.mbarrier_init.release.cluster", {});
  });
  return code.take();
}

}  // namespace
}  // namespace cluster_calls

RepeatedCalls::RepeatedCalls(const ir::Function& function)
    : may_repeat_(function.stmt_count()), is_in_loop_(function.stmt_count()) {
  ir::for_each_stmt(function, function.body, [&](ir::StmtId id) {
    const ir::StmtKind kind = function[id].kind;
    jumps_ = jumps_ || kind == ir::StmtKind::Break || kind == ir::StmtKind::Continue ||
             kind == ir::StmtKind::Return;
  });
  visit(function, function.body, false);
}

void RepeatedCalls::visit(const ir::Function& f, const ir::Block& block, bool is_in_loop) {
  using namespace cluster_calls;
  const bool meets = std::ranges::any_of(block, [&](ir::StmtId id) {
    // Of instructions, a barrier's two halves are two statements.
    return f[id].kind != ir::StmtKind::Ptx && is_cluster_sync(f, f[id]);
  });
  for (const ir::StmtId id : block) {
    const ir::Stmt& s = f[id];
    if (is_reduction(f, s)) {
      is_in_loop_[id.index] = is_in_loop;
      may_repeat_[id.index] = is_in_loop && (!meets || jumps_);
    }
    const bool is_loop = s.kind == ir::StmtKind::For || s.kind == ir::StmtKind::While;
    visit(f, s.body, is_in_loop || is_loop);
    visit(f, s.other, is_in_loop);
  }
}

namespace cluster_calls {
namespace {

// Behind what only declares something.
ir::Block::iterator first_action(ir::Function& f, ir::Block::iterator end) {
  return std::find_if(f.body.begin(), end, [&](ir::StmtId id) {
    const ir::StmtKind kind = f[id].kind;
    return kind != ir::StmtKind::Alloc && kind != ir::StmtKind::LaunchThread &&
           kind != ir::StmtKind::Bind;
  });
}

}  // namespace
}  // namespace cluster_calls

void begin_turns(Context& context) {
  using namespace cluster_calls;
  if (context.turns.empty()) return;
  CodeWriter code(context.f, context.facts, {});
  for (const ir::BufferId each : context.turns) {
    code.allocate(each);
    code.store(each, code.n(0), code.n(0));
  }
  const ir::Block made = code.take();
  ir::Block& body = context.f.body;
  body.insert(first_action(context.f, body.end()), made.begin(), made.end());
}

void await_other_ctas(Context& context) {
  using namespace cluster_calls;
  ir::Function& f = context.f;
  const auto first = std::ranges::find_if(f.body, [&](ir::StmtId id) { return meets_in(f, id); });
  const auto at = first - f.body.begin();
  f.body.insert(first, ptx_statement(context, "barrier.cluster.wait.aligned"));
  const auto begin = first_action(f, f.body.begin() + at);
  const ir::Block made = made_mbarriers(context);
  const auto behind = f.body.insert(begin, made.begin(), made.end()) + std::ssize(made);
  f.body.insert(behind, ptx_statement(context, "barrier.cluster.arrive.relaxed.aligned"));
}

}  // namespace ww::lower
