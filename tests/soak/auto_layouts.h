// SPDX-License-Identifier: Apache-2.0
// A tile program in which some tiles have `layout="auto"` instead of the layout that was drawn for
// them. It means the same as before, so all engines must leave the same as without.
#pragma once

#include "soak/whole_programs.h"

namespace ww::test {

/// The program with inferred layouts, by chance of each tile; what it was in `written`. Tiles whose
/// registers are used by number keep their layouts, and so do those with views.
WholeProgram with_auto_layouts(WholeProgram made, Tape& tape);

}  // namespace ww::test
