// SPDX-License-Identifier: Apache-2.0
// Solves for two things that depend on each other: who executes a statement, and in which units
// values are the same. The implementation of ir/launch/active_set.h, for callers that also need the
// reasons.
#pragma once

#include <utility>
#include <vector>

#include "ir/launch/active_set.h"
#include "ir/launch/memory_units.h"
#include "ir/launch/thread_values.h"

namespace ww::ir {

/// The conditions that shaped an active set, for messages.
struct Blame {
  ExprId splits = {};      // the last that threads of a granule may answer differently
  ExprId leaves_out = {};  // the last one that excludes known threads
};

class ThreadFlow {
 public:
  /// Knows how far conditions are the same and what they stand on, and `more`. The function and the
  /// shape must outlive it.
  ThreadFlow(const Function& function, const LaunchShape& shape, ExprId more = {});
  ThreadFlow(const ThreadFlow&) = delete;
  ThreadFlow& operator=(const ThreadFlow&) = delete;

  [[nodiscard]] const ActiveSet& operator[](StmtId stmt) const { return sets_[stmt.index]; }
  [[nodiscard]] std::vector<ActiveSet> take_sets() { return std::move(sets_); }
  /// The conditions that shaped the statement's set.
  [[nodiscard]] const Blame& blame(StmtId stmt) const { return blames_[stmt.index]; }
  [[nodiscard]] Unit uniformity(ExprId expr, const Threads& among);
  [[nodiscard]] const Definitions& definitions() const { return definitions_; }
  [[nodiscard]] const MemoryUnits& memory() const { return memory_; }

 private:
  void walk();

  const Function& f_;
  const LaunchShape& shape_;
  Definitions definitions_;
  ThreadValues values_;
  MemoryUnits memory_;
  std::vector<ActiveSet> sets_;  // by StmtId
  std::vector<Blame> blames_;    // by StmtId
};

}  // namespace ww::ir
