// SPDX-License-Identifier: Apache-2.0
// An elementwise primitive with operands in memory as work: which thread computes which elements,
// in vectors of how many, and where it finds them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "lower/code_writer.h"
#include "lower/copy/phase.h"
#include "lower/cost.h"
#include "lower/elementwise/problem.h"
#include "lower/index_formula.h"
#include "lower/lowering_report.h"

namespace ww::lower {

/// Sides of sources are stretched: they have a place for each element of the destination. Declines
/// tensor memory, elements smaller than a byte, operands that all are in registers, and sources that
/// overlap the destination otherwise than element by element.
Match<ElementwiseProblem> mixed_problem(const Call& call);

/// How a side is reached.
struct WorkSide {
  enum class Access : std::uint8_t {
    Register,  // its slots
    Vector,    // as many elements as are computed at a time, by one access
    Single,    // one element, for all that are computed at a time
  };
  Access access = Access::Register;
  bool is_fixed = false;   // a thread reads the same in all rounds, and before all of them
  std::int64_t bytes = 0;  // of an access to memory
  PlaceForm form = {};     // of an access to memory
  std::vector<std::int64_t> places = {};             // by round and thread, before the swizzle
  std::vector<std::int64_t> slots = {};              // by step: round · vec + element
  std::optional<layout::TileLayout> slot_form = {};  // of the slots, where there is one
};

/// What some threads compute in rounds.
struct Work : Rounds {
  std::vector<WorkSide> sides = {};  // as ElementwiseProblem::sides
};

/// The widest vectors that all sides allow: threads that share the tile take them in turns, in the
/// order of the destination's addresses or of a source's in global memory.
Match<std::vector<Work>> mixed_work(const Call& call, const ElementwiseProblem& problem);

// The expressions, loops and costs of work (elementwise/work.h): where a thread finds the elements of
// a side in a round, and the rounds themselves.

/// The register that element i of round k has on that side.
ir::ExprId slot_expr(CodeWriter& code, const Work& work, std::size_t s, const OperandPlaces& side,
                     ir::ExprId k, ir::ExprId i);

/// False: registers follow no formula, and are written one by one.
bool has_formulas(const Work& work);

/// round(k) for each round: a loop where there are formulas.
void write_rounds(CodeWriter& code, const Work& work, ir::ExprId u,
                  const std::function<void(ir::ExprId k)>& round);

/// Adds threads, rounds and the summary; gives how many elements are taken at a time.
std::int64_t add_rounds(PlanReport& out, const std::vector<Work>& works);

}  // namespace ww::lower
