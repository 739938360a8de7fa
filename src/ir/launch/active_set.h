// SPDX-License-Identifier: Apache-2.0
// Which threads execute a statement. Collective instructions hang or misbehave when part of a warp
// is elsewhere, so lowering checks the active set before it picks one.
//
// The answer is two facts. `may` is a set of threads of the CTA, exact, that holds every thread
// that can arrive. `granule` says how they arrive: whenever one thread of an aligned granule
// arrives, all threads of `may` in that granule do, together. So at granule Cta the set is exact as
// soon as the statement is reached at all; at granule Warp whole warps may be missing, but no part
// of a warp; at granule Thread nothing is known beyond `may`.
//
// A condition narrows: one over thread ids and constants is evaluated for every thread, both arms
// exactly; one over values that are the same for a whole granule (CTA ids, parameters, loop
// variables with such bounds, memory as ir/launch/memory_units.h says) keeps `may` and coarsens
// nothing; anything else drops the granule to what its variation allows. Names derived from ids count like ids: `wid = tid // 32` as T.let or
// as a scalar that is assigned once.
//
// "Together" is per execution: in the same round of every loop around the statement. `break`,
// `continue` and `return` take threads out of what follows; all loops are taken to end.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/function.h"
#include "ir/launch/launch.h"

namespace ww::ir {

inline constexpr std::size_t kMaxThreads = 1024;
using Threads = std::bitset<kMaxThreads>;

/// As many as that, from 0 on.
inline Threads first_threads(std::size_t count) { return Threads().set() >> (kMaxThreads - count); }

struct ActiveSet {
  Threads may;
  Unit granule = Unit::Kernel;
  /// Under elect_sync: of each warp at most one lane of `may`, whichever. At granule Warp or
  /// coarser exactly one, of every warp that `may` has in a granule that arrives.
  bool one_lane_per_warp = false;

  /// Do all threads of `may` arrive together, within each unit of that size?
  [[nodiscard]] bool together(Unit unit) const { return granule >= unit && !one_lane_per_warp; }
  friend bool operator==(const ActiveSet&, const ActiveSet&) = default;
};

/// "all 128 threads", "warps 0-3 of 8", "threads 0, 4, 8 … (32 of 128)", "some threads of …".
std::string to_text(const ActiveSet& set, const LaunchShape& shape);
/// "0-3, 8, 12-15": what the first uses.
std::string to_text(const Threads& threads, std::size_t count);

/// The active set of every statement of the device body, by StmtId index (statements that are not
/// in the body have an empty set).
class ActiveSets {
 public:
  static ActiveSets of(const Function& function, const LaunchShape& shape);
  [[nodiscard]] const ActiveSet& operator[](StmtId stmt) const { return sets_[stmt.index]; }
  /// Does the condition of an If decide by thread, so that no thread may go both ways?
  [[nodiscard]] bool parts(const Stmt& branch, StmtId id) const;

 private:
  std::vector<ActiveSet> sets_;
};

/// How far the value of an expression is the same: Unit::Thread when it may differ between any two
/// threads, Unit::Warp when it is one value per warp, … Unit::Kernel when it is one value in all.
Unit uniformity(const Function& function, const LaunchShape& shape, ExprId expr);

}  // namespace ww::ir
