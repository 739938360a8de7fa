// SPDX-License-Identifier: Apache-2.0
// Scope ids become hardware ids: `warp_id` is `threadIdx.x // 32`.
#pragma once

#include <array>

#include "ir/function.h"
#include "ir/launch/launch.h"

namespace ww::lower {

/// The launch variables of a function; none for dimensions that do not exist in its launch.
struct LaunchVars {
  std::array<ir::VarId, 3> block;   // blockIdx
  std::array<ir::VarId, 3> thread;  // threadIdx
  std::array<ir::VarId, 3> cta_in_cluster;
  /// A variable that holds the linear id of the thread in its CTA: threadIdx.x itself when the
  /// block has one dimension.
  ir::VarId linear_thread;
};

/// Puts LaunchThread statements at the start of the body and replaces every ScopeIds statement by
/// T.let bindings of its variables, under their names and in their places; nothing is bound that is
/// not used. Extents known at launch become parameters. The function is then neither at one level
/// nor at the other until `flatten` is done with it. Statements keep their ids.
LaunchVars resolve_scope_ids(ir::Function& function, const ir::LaunchShape& shape);

}  // namespace ww::lower
