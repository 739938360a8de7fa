// SPDX-License-Identifier: Apache-2.0
#include "lower/unused_names.h"

#include <utility>
#include <vector>

#include "ir/visit.h"

namespace ww::lower {

using ir::ExprId;

namespace {

void drop_bindings(ir::Function& f, ir::Block& block, const std::vector<ExprId>& values) {
  std::erase_if(block, [&](ir::StmtId id) {
    return f[id].kind == ir::StmtKind::Bind && values[f[id].var.index].valid();
  });
  for (const ir::StmtId id : block)
    for (ir::Block ir::Stmt::*part : {&ir::Stmt::body, &ir::Stmt::other})
      drop_bindings(f, f.at(id).*part, values);
}

}  // namespace

// Only what is kept, or stands for a name that is, counts as a mention.
void drop_unused_names(ir::Function& f) {
  std::vector<ExprId> values(f.var_count());  // of names that may go
  std::vector<ExprId> left;
  const auto add = [&](ExprId id) { left.push_back(id); };
  for (const ir::Param& param : f.params)
    if (param.buffer.valid()) ir::for_each_root(f[param.buffer], add);
  for (const auto& [key, setting] : f.attrs) ir::for_each_root(setting, add);
  ir::for_each_stmt(f, f.host, [&](ir::StmtId id) { ir::for_each_root(f, f[id], add); });
  ir::for_each_stmt(f, f.body, [&](ir::StmtId id) {
    const ir::Stmt& s = f[id];
    if (s.kind == ir::StmtKind::Bind && !f[s.expr].reads_memory)
      values[s.var.index] = s.expr;
    else
      ir::for_each_root(f, s, add);
  });
  std::vector<bool> seen(f.expr_count());
  while (!left.empty()) {
    const ExprId id = left.back();
    left.pop_back();
    if (seen[id.index]) continue;
    seen[id.index] = true;
    const ir::Expr& e = f[id];
    for (const ExprId arg : e.args) left.push_back(arg);
    if (e.op == ir::ExprOp::Var && values[e.var.index].valid())
      left.push_back(std::exchange(values[e.var.index], ExprId{}));
  }
  drop_bindings(f, f.body, values);
}

}  // namespace ww::lower
