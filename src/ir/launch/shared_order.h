// SPDX-License-Identifier: Apache-2.0
// Loads of shared memory that no thread writes at the same time.
//
// A load at one address gives one value within a unit when a barrier of that unit or a larger one,
// which whole units reach, stands on every way from a write to the load and from the load to a
// write. No address of the memory may be taken, except by atomics, reductions and waits, which
// count as writes where they stand; and nothing may arrive there by an asynchronous copy.
//
// Why that is enough, for a CTA: its threads execute the load, and every barrier that counts, in
// the same rounds. So a thread that wrote between two of these barriers would execute the load
// between them, too: a way without a barrier. For smaller units the same holds for their own
// writes; those of other units are ordered by barriers, or they race with the load, which the
// evaluator and the virtual GPU report.
#pragma once

#include <vector>

#include "ir/launch/active_set.h"

namespace ww::ir {

/// The unit whose threads a barrier waits for; empty for other statements.
std::optional<Unit> barrier_unit(const Function& function, const Expr& call);

struct SharedLoad {
  Unit unit = Unit::Cta;
  StmtId write = {};  // what no larger unit has a barrier for, if it is a statement
};

/// For each load of shared memory the largest unit in which it gives one value, if its address is
/// one. `sets` has the active sets by StmtId, of a CTA of so many threads.
std::vector<SharedLoad> shared_order(const Function& function, const std::vector<ExprId>& loads,
                                     const std::vector<ActiveSet>& sets, std::size_t threads);

}  // namespace ww::ir
