// SPDX-License-Identifier: Apache-2.0
// Buffers on their way to flat ones: what accesses to them become, and how large they are.
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "ir/function.h"
#include "ir/simplify/simplify.h"
#include "lower/index_expr.h"

namespace ww::lower {

/// A buffer as accesses see it.
struct FlatAccess {
  FlatPlan plan;
  ir::BufferId buffer;  // the flat one: its own, or the base of a view
};

class FlatBuffers {
 public:
  /// `facts` may learn more while buffers are planned.
  FlatBuffers(ir::Function& function, const ir::Facts& facts)
      : f_(function), facts_(facts), planned_(function.buffer_count()) {}

  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(planned_.size()); }
  [[nodiscard]] bool is_planned(ir::BufferId id) const { return planned_[id.index].has_value(); }
  /// Accesses to a buffer whose offsets are those of the flat program already.
  Result<const FlatAccess*> plan(ir::BufferId id);
  /// At the very end: takes the layouts away, whose places are in the indices by now.
  Result<void> make_flat();

 private:
  Result<ir::ExprId> flat_size(ir::BufferId id);
  Result<ir::ExprId> view_size(const ir::Buffer& b, bool is_moved);
  [[nodiscard]] bool keeps_bytes(ir::BufferId id) const;

  ir::Function& f_;
  const ir::Facts& facts_;
  std::vector<std::optional<FlatAccess>> planned_;  // by BufferId
};

}  // namespace ww::lower
