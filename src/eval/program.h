// SPDX-License-Identifier: Apache-2.0
// A function as a flat list of operations with numbers, so that each thread can stand at its own.
// The statements keep their order, and what a structured statement jumps over comes after its jump:
// the threads furthest behind are those with the smallest number.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "ir/function.h"
#include "ir/launch/active_set.h"

namespace ww::eval {

enum class OpKind : std::uint8_t {
  Bind,       // var = expr
  Forget,     // the thread's part of a local buffer is not written
  Store,      // buffer[args] = expr
  Evaluate,   // expr, for its effect
  Assert,     // expr must hold
  Branch,     // to `target` where expr does not hold
  While,      // the same; a thread that comes back often lets others pass
  Jump,       // to `target`
  LoopBegin,  // loop number `loop` begins
  LoopTest,   // to `target` when no trip is left
  LoopNext,   // next trip, at `target`
  Ids,        // scope ids or launch variables get their values
  Tile,
  Ptx,
  Exit,
};

/// Whom an operation needs at once.
enum class Gather : std::uint8_t { None, Lanes, Warp, Warpgroup, Cta };

struct Op {
  OpKind kind{};
  Gather gather = Gather::None;
  ir::StmtId stmt = {};
  std::uint32_t target = 0;
  std::uint32_t loop = 0;
  std::vector<ir::ExprId> masks =
      {};  // Lanes: the masks that name them; none: all lanes of the warp
  std::optional<ir::Threads> wanted = {};  // the only threads that come here, where that is not all
};

struct Program {
  std::vector<Op> ops;
  std::uint32_t loops = 0;
};

/// Makes the list. Fails with NotEvaluated, at its place, for everything that the evaluator does
/// not execute.
Result<Program> make_program(const ir::Function& function);

/// Calls `visit` for an expression and all below it. Expressions of a buffer that is used (offsets,
/// addresses) are not followed.
template <typename Visit>
void for_each_expr(const ir::Function& function, ir::ExprId root, const Visit& visit) {
  if (!root.valid()) return;
  const ir::Expr& expr = function[root];
  visit(expr);
  for (const ir::ExprId arg : expr.args) for_each_expr(function, arg, visit);
}

}  // namespace ww::eval
