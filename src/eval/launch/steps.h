// SPDX-License-Identifier: Apache-2.0
// A function as a flat, numbered list of steps, so that each thread can be at its own. The
// statements keep their order, and the code that a structured statement jumps over follows its
// jump: the threads furthest behind have the smallest number.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "ir/function.h"
#include "ir/launch/active_set.h"

namespace ww::eval {

enum class StepKind : std::uint8_t {
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

/// Whom a step needs at once.
enum class Gather : std::uint8_t { None, Lanes, Warp, Warpgroup, Cta };

struct Step {
  StepKind kind{};
  Gather gather = Gather::None;
  ir::StmtId stmt = {};
  std::uint32_t target = 0;
  std::uint32_t loop = 0;
  std::uint64_t operations = 1;  // the step itself, and what its expressions compute
  // Lanes: the masks that name them; none: all lanes of the warp.
  std::vector<ir::ExprId> masks = {};
  std::optional<ir::Threads> wanted = {};  // the only threads that come here, where that is not all
};

struct StepList {
  std::vector<Step> steps;
  std::uint32_t loops = 0;
  [[nodiscard]] const Step& operator[](std::size_t number) const { return steps[number]; }
};

/// Makes the list. Fails with NotEvaluated, with its location, for code that the evaluator does not
/// execute.
Result<StepList> make_steps(const ir::Function& function);

}  // namespace ww::eval
