// SPDX-License-Identifier: Apache-2.0
// What a kernel needs around code in which the CTAs of a cluster write into each other's shared memory
// (lower/reduce/cluster.cpp).
#pragma once

#include "lower/call.h"

namespace ww::lower {

/// Which calls are in loops, and of these the calls that may be made twice with no barrier of the cluster
/// between: unless `T.cuda.cluster_sync()` stands in the same block, so that one is executed whenever the
/// other is.
class RepeatedCalls {
 public:
  explicit RepeatedCalls(const ir::Function& function);
  [[nodiscard]] bool may_repeat(ir::StmtId tile) const { return may_repeat_[tile.index]; }
  [[nodiscard]] bool is_in_loop(ir::StmtId tile) const { return is_in_loop_[tile.index]; }

 private:
  void visit(const ir::Function& f, const ir::Block& block, bool is_in_loop);
  bool jumps_ = false;  // `break`, `continue` or `return` may leave a statement out
  std::vector<bool> may_repeat_, is_in_loop_;
};

/// Registers that count turns: allocated, and 0, where the kernel begins.
void begin_turns(Context& context);

/// Shared memory of a CTA may be written once the CTA runs and has made its mbarriers, which one thread
/// does. All arrive at a barrier where the kernel begins, and wait for it in front of the first statement of the body in which CTAs meet, so that
/// what is between hides the wait.
void await_other_ctas(Context& context);

}  // namespace ww::lower
