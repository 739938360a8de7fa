// SPDX-License-Identifier: Apache-2.0
// `stage=True` of a gemm call: factors in shared memory are copied into fragments first.
//
//     Tx.warp.gemm(D, A_smem[0:64, 0:16], B_smem[0:16, 0:64], D, beta=1.0, stage=True)
//
// becomes two copies and a gemm, each lowered by the variants of its own. The fragments are those
// that D's layout asks for: lanes that hold rows of D get the same rows of A, lanes that hold
// columns of D such columns of B that an instruction adds to them, all of K in its natural order.
#pragma once

#include <vector>

#include "lower/call.h"

namespace ww::lower {

struct Staged {
  std::vector<ir::BufferId> fragments;  // to be allocated before
  std::vector<ir::TileCall> copies;     // into them
  ir::TileCall gemm;                    // of them
};

/// Does the call ask for it, and has it a factor in shared memory?
bool wants_stage(const Call& call);
/// The calls that it stands for; declines where D is no fragment of matrix instructions.
Match<Staged> stage_gemm(const Call& call);

}  // namespace ww::lower
