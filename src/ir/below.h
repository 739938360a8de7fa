// SPDX-License-Identifier: Apache-2.0
// Walks over expressions that take no more of the stack for deep ones, and visit shared parts once.
#pragma once

#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/function.h"

namespace ww::ir {

/// Does `holds(expr)` hold for the expression or one below it? Calls it at most once for each node
/// with operands.
template <typename Holds>
bool any_below(const Function& f, ExprId root, Holds&& holds) {
  std::vector<ExprId> left = {root};
  std::unordered_set<std::uint32_t> seen;
  while (!left.empty()) {
    const Expr& e = f[left.back()];
    left.pop_back();
    if (holds(e)) return true;
    for (const ExprId arg : e.args)
      if (f[arg].args.empty() || seen.insert(arg.index).second) left.push_back(arg);
  }
  return false;
}

/// Calls `visit(id)` for everything that `root` depends on, then for `root`: `for_each_part(id,
/// add)` calls `add(part)` for each node that a node depends on, which may be more than its
/// operands. Skips nodes for which `is_done(id)` holds; it must hold once a node is visited.
template <typename Parts, typename IsDone, typename Visit>
void bottom_up(ExprId root, Parts&& for_each_part, IsDone&& is_done, Visit&& visit) {
  std::vector<std::pair<ExprId, bool>> left = {{root, false}};
  while (!left.empty()) {
    auto& [id, is_open] = left.back();
    const ExprId node = id;
    if (is_done(node) || is_open) {
      if (!is_done(node)) visit(node);
      left.pop_back();
      continue;
    }
    is_open = true;
    for_each_part(node, [&](ExprId part) {
      if (part.valid() && !is_done(part)) left.emplace_back(part, false);
    });
  }
}

}  // namespace ww::ir
