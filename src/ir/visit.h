// SPDX-License-Identifier: Apache-2.0
// Visitors for the parts of a function: the expressions that a statement itself holds, the nodes
// below an expression, the statements of a block. They skip missing expressions (`ExprId{}`), and
// may visit ids of nonexistent nodes, so that the verifier can look at broken functions.
#pragma once

#include <utility>
#include <variant>
#include <vector>

#include "ir/function.h"

namespace ww::ir {

template <typename Visit>
void for_each_root(const Setting& setting, Visit&& visit) {
  if (const ExprId* id = std::get_if<ExprId>(&setting); id != nullptr && id->valid()) visit(*id);
}

template <typename Visit>
void for_each_root(const Region& region, Visit&& visit) {
  for (const RangeExpr& range : region.ranges) {
    if (range.min.valid()) visit(range.min);
    if (range.extent.valid()) visit(range.extent);
  }
}

/// Shape, address and offsets of a buffer.
template <typename Visit>
void for_each_root(const Buffer& buffer, Visit&& visit) {
  for (const ExprId extent : buffer.shape) {
    if (extent.valid()) visit(extent);
  }
  for (const ExprId id :
       {buffer.pointer, buffer.elem_offset, buffer.byte_offset, buffer.allocated_addr}) {
    if (id.valid()) visit(id);
  }
}

template <typename Visit>
void for_each_root(const TileCall& call, Visit&& visit) {
  for (const TileArg& arg : call.args) {
    if (const auto* region = std::get_if<Region>(&arg)) for_each_root(*region, visit);
    if (const auto* id = std::get_if<ExprId>(&arg); id != nullptr && id->valid()) visit(*id);
    if (const auto* setting = std::get_if<Setting>(&arg)) for_each_root(*setting, visit);
  }
  for (const auto& [key, setting] : call.config) for_each_root(setting, visit);
}

template <typename Visit>
void for_each_root(const PtxCall& call, Visit&& visit) {
  for (const PtxOperand& operand : call.operands) {
    if (operand.expr.valid()) visit(operand.expr);
    if (operand.offset.valid()) visit(operand.offset);
  }
  if (call.predicate.valid()) visit(call.predicate);
}

/// What the statement holds itself: its blocks' statements do not count, the buffer it brings into
/// being does.
template <typename Visit>
void for_each_root(const Function& f, const Stmt& stmt, Visit&& visit) {
  if (stmt.expr.valid()) visit(stmt.expr);
  for (const ExprId arg : stmt.args) {
    if (arg.valid()) visit(arg);
  }
  for_each_root(stmt.setting, visit);
  for (const auto& [key, setting] : stmt.settings) for_each_root(setting, visit);
  if (stmt.kind == StmtKind::Alloc || stmt.kind == StmtKind::Declare)
    for_each_root(f[stmt.buffer], visit);
  if (stmt.kind == StmtKind::Tile) for_each_root(f[stmt.tile], visit);
  if (stmt.kind == StmtKind::Ptx) for_each_root(f[stmt.ptx], visit);
}

/// Every statement of a block, outer ones before those of their blocks.
template <typename Visit>
void for_each_stmt(const Function& f, const Block& block, Visit&& visit) {
  for (const StmtId id : block) {
    visit(id);
    for_each_stmt(f, f[id].body, visit);
    for_each_stmt(f, f[id].other, visit);
  }
}

/// Every expression a function uses, each once, operands before those who use them.
template <typename Visit>
void for_each_expr(const Function& f, Visit&& visit) {
  std::vector<bool> seen(f.expr_count());
  const auto below = [&](auto&& self, ExprId id) -> void {
    if (seen[id.index]) return;
    seen[id.index] = true;
    for (const ExprId arg : f[id].args) self(self, arg);
    visit(id);
  };
  const auto root = [&](ExprId id) { below(below, id); };
  for (const Param& param : f.params) {
    if (param.buffer.valid()) for_each_root(f[param.buffer], root);
  }
  for (const auto& [key, setting] : f.attrs) for_each_root(setting, root);
  for (const Block* block : {&f.host, &f.body}) {
    for_each_stmt(f, *block, [&](StmtId id) { for_each_root(f, f[id], root); });
  }
}

}  // namespace ww::ir
