// SPDX-License-Identifier: Apache-2.0
// An elementwise primitive with operands in memory as work: which thread computes which elements,
// in vectors of how many, and where it finds them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lower/copy/phase.h"
#include "lower/elementwise/problem.h"

namespace ww::lower {

/// Sides of sources are stretched: they have a place for each element of the destination. Declines
/// tensor memory, elements smaller than a byte, operands that all are in registers, and sources that
/// overlap the destination otherwise than element by element.
Match<ElementwiseProblem> mixed_problem(const Call& call);

/// An element that a thread computes, and the registers of its sides there; 0 for those in memory.
struct Task {
  std::int64_t x = 0;
  std::vector<std::int64_t> slots = {};
};
/// Tasks by thread of the unit, where registers say who works: the threads that hold an element of
/// a destination there, or one that holds all its sources. In the order in which a thread takes
/// them.
Match<std::vector<std::vector<Task>>> register_tasks(const Call& call,
                                                     const ElementwiseProblem& problem);

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

/// Rounds that some threads make, each with `vec` elements.
struct Work {
  std::int64_t vec = 1;
  std::int64_t threads = 1;  // of the unit, or that share the tile
  std::int64_t rounds = 1;
  std::vector<bool> used;  // which threads take part
  std::int64_t count = 0;  // accesses in all, where the last round is not full; 0: it is
  std::vector<std::int32_t> first = {};  // by round and thread
  std::vector<WorkSide> sides = {};      // as ElementwiseProblem::sides
  bool is_unrolled = true;
};

/// The widest vectors that all sides allow: threads that share the tile take them in turns, in the
/// order of the destination's addresses or of a source's in global memory.
Match<std::vector<Work>> mixed_work(const Call& call, const ElementwiseProblem& problem);

}  // namespace ww::lower
