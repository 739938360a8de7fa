// SPDX-License-Identifier: Apache-2.0
// A function as text in TVMScript style. The text parses back (script/compile.h) to an equal
// function (ir/equal.h). Names are those of the source, with `_1`, `_2` … where two would clash in
// one scope.
//
// Ends of ranges are printed as one number when it is known, and otherwise as `start + extent`,
// that sum exactly: `B[k * 8:k * 8 + 4]`, `range(n, n + 4)`. A loop with a step ends at start +
// times·step.
#pragma once

#include <string>
#include <vector>

#include "ir/function.h"

namespace ww::ir {

struct PrintOptions {
  bool header = true;  // the import lines above the function
};

/// The whole function, ending with a line break.
std::string print(const Function& function, PrintOptions options = {});
/// The same, with the place in the source that each of its lines comes from.
struct PrintedLines {
  std::string text;
  std::vector<Span> spans;  // one per line
};
PrintedLines print_lines(const Function& function, PrintOptions options = {});
/// One expression, statement (with its blocks, ending with a line break) or region, as it stands in
/// the whole. The function must be sound (invariant `nodes` of ir/verify/verify.h).
std::string print(const Function& function, ExprId expr);
std::string print(const Function& function, StmtId stmt);
std::string print(const Function& function, const Region& region);

/// A tile primitive as programs call it: "Tx.wg.copy".
std::string tile_name(const TileCall& call);

}  // namespace ww::ir
