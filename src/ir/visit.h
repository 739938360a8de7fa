// SPDX-License-Identifier: Apache-2.0
// Visitors for the parts of a function: the expressions that a statement itself holds, the nodes
// below an expression, the statements of a block. They skip missing expressions (`ExprId{}`), and
// may visit ids of nonexistent nodes, so that the verifier can look at broken functions.
//
// Of a node that may be changed, `visit` of for_each_root gets references to the expressions, and may
// put others there. It may take a second argument: is the expression an index (ir/indices.h)?
#pragma once

#include <algorithm>
#include <concepts>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "ir/function.h"

namespace ww::ir {

/// A node of that type, which may be const.
template <typename T, typename Node>
concept Some = std::same_as<std::remove_const_t<T>, Node>;

template <Some<ExprId> Root, typename Visit>
void visit_root(Root& root, Visit& visit, bool is_index = false) {
  if (!root.valid()) return;
  if constexpr (std::invocable<Visit&, Root&, bool>)
    visit(root, is_index);
  else
    visit(root);
}

template <Some<Setting> Node, typename Visit>
void for_each_root(Node& setting, Visit&& visit) {
  if (auto* id = std::get_if<ExprId>(&setting)) visit_root(*id, visit);
}

template <Some<Region> Node, typename Visit>
void for_each_root(Node& region, Visit&& visit) {
  for (auto& range : region.ranges) {
    visit_root(range.min, visit, true);
    visit_root(range.extent, visit, true);
  }
}

/// Shape, address and offsets of a buffer.
template <Some<Buffer> Node, typename Visit>
void for_each_root(Node& buffer, Visit&& visit) {
  for (auto& extent : buffer.shape) visit_root(extent, visit);
  visit_root(buffer.pointer, visit);
  visit_root(buffer.elem_offset, visit, true);
  visit_root(buffer.byte_offset, visit, true);
  visit_root(buffer.allocated_addr, visit);
}

template <Some<TileCall> Node, typename Visit>
void for_each_root(Node& call, Visit&& visit) {
  for (auto& arg : call.args) {
    if (auto* region = std::get_if<Region>(&arg)) for_each_root(*region, visit);
    if (auto* id = std::get_if<ExprId>(&arg)) visit_root(*id, visit);
    if (auto* setting = std::get_if<Setting>(&arg)) for_each_root(*setting, visit);
  }
  for (auto& [key, setting] : call.config) for_each_root(setting, visit);
}

template <Some<PtxCall> Node, typename Visit>
void for_each_root(Node& call, Visit&& visit) {
  for (auto& operand : call.operands) {
    visit_root(operand.expr, visit);
    visit_root(operand.offset, visit, true);
  }
  visit_root(call.predicate, visit);
}

/// Without those of the buffer or call that it names.
template <Some<Stmt> Node, typename Visit>
void for_each_root(Node& stmt, Visit&& visit) {
  visit_root(stmt.expr, visit);
  const bool has_indices = stmt.kind == StmtKind::Store || stmt.kind == StmtKind::For;
  for (auto& arg : stmt.args) visit_root(arg, visit, has_indices);
  for_each_root(stmt.setting, visit);
  for (auto& [key, setting] : stmt.settings) for_each_root(setting, visit);
}

/// What the statement holds itself: its blocks' statements do not count, the buffer it brings into
/// being and the call it makes do.
template <Some<Function> F, Some<Stmt> Node, typename Visit>
void for_each_root(F& f, Node& stmt, Visit&& visit) {
  const auto inside = [&](auto id) {
    if constexpr (std::is_const_v<Node>)
      for_each_root(f[id], visit);
    else
      for_each_root(f.at(id), visit);
  };
  for_each_root(stmt, visit);
  if (stmt.kind == StmtKind::Alloc || stmt.kind == StmtKind::Declare) inside(stmt.buffer);
  if (stmt.kind == StmtKind::Tile) inside(stmt.tile);
  if (stmt.kind == StmtKind::Ptx) inside(stmt.ptx);
}

/// Puts `map(root)` in the place of each of them; `map` may add nodes to the function.
template <typename Map>
void map_roots(Function& f, StmtId id, Map&& map) {
  for_each_root(f, f.at(id), [&](ExprId& root) { root = map(root); });
}

/// The node with `map(operand)` in the place of each operand: itself where all stay.
template <typename Map>
ExprId with_operands(Function& f, ExprId id, Map&& map) {
  Expr e = f[id];
  bool is_same = true;
  for (ExprId& arg : e.args) {
    const ExprId next = map(arg);
    is_same = is_same && next == arg;
    arg = next;
  }
  return is_same ? id : f.add(std::move(e));
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
/// The same, of the host's part and then of the kernel.
template <typename Visit>
void for_each_stmt(const Function& f, Visit&& visit) {
  for_each_stmt(f, f.host, visit);
  for_each_stmt(f, f.body, visit);
}

/// Does `holds(stmt)` hold for some statement of the block, or inside one?
template <typename Holds>
bool any_stmt(const Function& f, const Block& block, Holds&& holds) {
  return std::ranges::any_of(block, [&](StmtId id) {
    const Stmt& s = f[id];
    return holds(s) || any_stmt(f, s.body, holds) || any_stmt(f, s.other, holds);
  });
}

/// Takes out the statements for which `is_gone(stmt)` holds, in all blocks.
template <typename IsGone>
void erase_stmts(Function& f, Block& block, const IsGone& is_gone) {
  std::erase_if(block, [&](StmtId id) { return is_gone(f[id]); });
  for (const StmtId id : block)
    for (Block* part : {&f.at(id).body, &f.at(id).other}) erase_stmts(f, *part, is_gone);
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
  for (const Param& param : f.params)
    if (param.buffer.valid()) for_each_root(f[param.buffer], root);
  for (const auto& [key, setting] : f.attrs) for_each_root(setting, root);
  for_each_stmt(f, [&](StmtId id) { for_each_root(f, f[id], root); });
}

}  // namespace ww::ir
