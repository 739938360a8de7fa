// SPDX-License-Identifier: Apache-2.0
// In which unit a load gives the same value to all threads that execute it together.
//
// Private memory holds what is stored there: it is the same in a unit as long as whole units store
// the same values, together.
//
// Other memory can change while it is read. A load at one address is trusted to give one value
//   - in global memory, when the kernel writes nothing to the memory of that parameter and takes
//     no address in it. Other CTAs are in no order with this one, so a barrier does not help;
//   - in shared memory, within a unit, when barriers keep the writes apart (shared_order.h).
//
// All of this depends on active sets, and these on how far conditions are the same. Everything
// starts as the same everywhere and is brought down until nothing changes (ActiveSets::of).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "ir/launch/active_set.h"
#include "ir/launch/thread_values.h"

namespace ww::ir {

class MemoryUnits {
 public:
  /// A unit, and the statement that keeps it from being a larger one, if it is known: a store, or
  /// the write that can happen beside a load.
  struct Known {
    Unit unit = Unit::Kernel;
    StmtId why = {};
  };

  /// Looks only at the values that conditions and trip counts depend on, and at `more`: the rest
  /// stays Unit::Thread.
  MemoryUnits(const Function& function, const Definitions& definitions, ExprId more = {});

  /// Lowers the units to those that follow from these sets. Did any change?
  bool refine(const std::vector<ActiveSet>& sets, ThreadValues& values);
  /// Trusts only global memory: for programs that take too many rounds.
  void give_up();

  /// What the load gives, if its address is one.
  [[nodiscard]] Known of(ExprId load) const;

 private:
  void look_at(ExprId expr);
  void want_stores(BufferId storage);
  void find_leaks();
  static bool lower(Known& known, Unit unit, StmtId why);
  Unit stored_by(const Stmt& store, const ActiveSet& set, ThreadValues& values) const;

  const Function& f_;
  const Definitions& definitions_;
  std::vector<ExprId> left_;                 // wanted, still to be looked at
  std::vector<bool> seen_;                   // by ExprId
  std::vector<bool> is_written_;             // by number of the parameter
  std::vector<std::vector<StmtId>> stores_;  // by BufferId of a private storage
  std::map<std::uint32_t, Known> stored_;    // by BufferId of a private storage
  std::map<std::uint32_t, Known> loaded_;    // by ExprId: loads of other memory
  std::vector<ExprId> shared_;               // those of them that barriers decide
};

}  // namespace ww::ir
