// SPDX-License-Identifier: Apache-2.0
// `layout="auto"`: layouts of tiles in registers and shared memory, inferred from the tile
// primitives that use them. This happens between the script and the verifier: everything after it,
// including the evaluator and the proof, sees layouts as if written by hand.
//
// The rule, which docs/guide/layouts.md states for users:
//
//   1. Products: accumulators are fragments over a grid of warps, operands A and B in registers the
//      fragments that belong to it; shared memory that fragments come from is swizzled.
//   2. What is known spreads: a tile that is combined element by element with one of known layout
//      takes that layout (where it is stretched, without the stretched dimensions), the result of
//      a reduction what the reduction leaves.
//   3. Of the tiles that are left and meet memory, the largest gets vectors side by side, and 2
//      happens again; then the next one.
//
// Each step goes through the calls in the order of the program, so the answer depends on nothing
// else, and tiles that no chain of calls connects do not affect each other.
#pragma once

#include <string>
#include <vector>

#include "base/diag.h"
#include "ir/function.h"

namespace ww::infer {

/// Is the layout of the buffer to be inferred? Such a buffer has an explicit layout that is missing;
/// no function that has passed infer_layouts has one.
inline bool is_auto(const ir::Buffer& buffer) {
  return buffer.layout_kind == ir::LayoutKind::Explicit && !buffer.layout;
}

/// What was chosen for a buffer.
struct Inferred {
  ir::BufferId buffer = {};
  std::string text;    // what can be written in the place of "auto"
  std::string reason;  // "accumulator of `Tx.cta.gemm`"
  Span because = {};   // the call that decided; unknown: no call
};

/// A use needs a tile in threads that do not hold it, so it gets a copy.
struct Conversion {
  std::string buffer;       // the tile
  std::string copy;         // the buffer that the use takes instead
  std::string text;         // its layout
  std::string call;         // the use: "Tx.cta.add"
  Span at = {};             // of the use, and of the copies before and after it
  bool is_written = false;  // copied back after the use, not before it
};

struct Layouts {
  std::vector<Inferred> buffers;        // in the order of the declarations
  std::vector<Conversion> conversions;  // in the order of the program
};

struct Outcome {
  Layouts layouts;
  std::vector<Diag> errors;
};

struct InferOptions {
  /// What `.local()` of a tile counts: registers by place, or in the order of the layout's iters.
  bool locals_by_place = false;
};

/// Gives every buffer with is_auto a layout, or says why there is none. Conversions add buffers and
/// copies to the function. Does nothing where no such buffer exists.
Outcome infer_layouts(ir::Function& function, const InferOptions& options = {});

}  // namespace ww::infer
