// SPDX-License-Identifier: Apache-2.0
// A reduction between registers as parts: what each thread can fold of which elements of the
// destination. Found from the places of elements, so that two spellings of a layout are alike.
#pragma once

#include <cstdint>
#include <vector>

#include "lower/operand_places.h"

namespace ww::lower {

/// A thread's share of the elements that go into one element of the destination.
struct ReducePart {
  std::int64_t into = -1;                  // element of the destination; -1: the thread has nothing
  std::vector<std::int64_t> slots = {};    // its registers, in the order of the elements
  std::vector<std::int64_t> indices = {};  // of the elements along the folded axes
  std::int64_t set = -1;  // the same number for the same elements; other numbers share none
};

struct ReduceProblem {
  num::DType type = num::DType::Float32;  // in which it folds
  ir::ExprOp by = ir::ExprOp::Add;        // what folds two of them
  std::int64_t threads = 1;               // of the unit
  std::int64_t elements = 0;              // of the source
  std::int64_t folded = 0;                // that go into one of the destination
  bool accumulates = false;
  OperandPlaces dst, src;
  /// Part `row` of each thread. A thread's parts are in the order of the destination.
  std::vector<std::vector<ReducePart>> rows;
  std::vector<std::int64_t> set_sizes;  // by set

  /// Elements of the destination.
  [[nodiscard]] std::int64_t results() const { return elements / folded; }
};

/// The extents of the source; declines those of run time.
Match<std::vector<std::int64_t>> source_extents(const Call& call);

/// Declines what is not in registers, and elements that threads share in ways that no tree of lanes
/// can follow.
Match<ReduceProblem> reduce_problem(const Call& call);

}  // namespace ww::lower
