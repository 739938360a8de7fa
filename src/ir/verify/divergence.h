// SPDX-License-Identifier: Apache-2.0
// Why not all threads of a unit reach a statement: the condition, and the value in it that differs.
#pragma once

#include <vector>

#include "base/diag.h"
#include "ir/launch/thread_flow.h"

namespace ww::ir::verifying {

/// Notes for an error about a statement that threads of such a unit do not reach together: the
/// condition that separates them, and where its value comes from.
std::vector<Note> why_apart(const Function& function, const LaunchShape& shape, ThreadFlow& flow,
                            StmtId stmt, Unit unit);

}  // namespace ww::ir::verifying
