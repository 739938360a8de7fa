// SPDX-License-Identifier: Apache-2.0
// Which values depend on the thread that computes them. The counterpart of uniformity_among, which
// says "the same" only where that is certain: here a value counts as the same unless the program
// makes it different, from thread ids, lanes or registers of other contents. What is read from
// memory at the same place is the same, because threads that read something else have a race.
//
// So a scalar that is kept in step by all threads, such as the stage of a ring, is the same, and
// one that is loaded at an index of the thread is not.
#pragma once

#include <map>
#include <vector>

#include "ir/launch/active_set.h"
#include "ir/launch/thread_values.h"

namespace ww::ir {

class Dependence {
 public:
  Dependence(const Function& function, const LaunchShape& shape);

  /// How far the value is the same among the threads that evaluate it: Unit::Thread when it
  /// differs from thread to thread, Unit::Warp when it is one value per warp, …
  Unit of(ExprId expr, const Threads& among);

 private:
  Unit value(ExprId expr);
  Unit computed(ExprId expr);
  Unit variable(VarId var);
  Unit loaded(const Expr& e);
  Unit called(const Expr& e);
  template <typename Args>
  Unit all(const Args& args);
  void note(BufferId buffer, Unit unit);
  void visit(const Block& block, Unit around);
  void visit(const TileCall& call, Unit around);

  const Function& f_;
  Definitions definitions_;
  ThreadValues values_;
  std::vector<Unit> written_;  // by BufferId of a private storage: what its elements are
  bool has_changed_ = false;
  Threads among_;
  std::map<std::uint32_t, Unit> done_;
};

}  // namespace ww::ir
