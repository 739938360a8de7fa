// SPDX-License-Identifier: Apache-2.0
#include "lower/unused_names.h"

#include <utility>
#include <vector>

#include "ir/effects.h"
#include "ir/visit.h"

namespace ww::lower {

using ir::Block;
using ir::Expr;
using ir::ExprId;
using ir::ExprOp;
using ir::Function;
using ir::Stmt;
using ir::StmtId;
using ir::StmtKind;

namespace {

void drop_bindings(Function& f, Block& block, const std::vector<ExprId>& values) {
  std::erase_if(block, [&](StmtId id) {
    return f[id].kind == StmtKind::Bind && values[f[id].var.index].valid();
  });
  for (const StmtId id : block)
    for (Block Stmt::*part : {&Stmt::body, &Stmt::other}) drop_bindings(f, f.at(id).*part, values);
}

}  // namespace

// Only what is kept, or stands for a name that is, counts as a mention.
void drop_unused_names(Function& f) {
  std::vector<ExprId> values(f.var_count());  // of names that may go
  std::vector<ExprId> left;
  const auto add = [&](ExprId id) { left.push_back(id); };
  for (const ir::Param& param : f.params)
    if (param.buffer.valid()) ir::for_each_root(f[param.buffer], add);
  for (const auto& [key, setting] : f.attrs) ir::for_each_root(setting, add);
  ir::for_each_stmt(f, f.host, [&](StmtId id) { ir::for_each_root(f, f[id], add); });
  ir::for_each_stmt(f, f.body, [&](StmtId id) {
    const Stmt& s = f[id];
    if (s.kind == StmtKind::Bind && !ir::reads_memory(f, s.expr))
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
    const Expr& e = f[id];
    for (const ExprId arg : e.args) left.push_back(arg);
    if (e.op == ExprOp::Var && values[e.var.index].valid())
      left.push_back(std::exchange(values[e.var.index], ExprId{}));
  }
  drop_bindings(f, f.body, values);
}

}  // namespace ww::lower
