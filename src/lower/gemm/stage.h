// SPDX-License-Identifier: Apache-2.0
// `stage=True` of a gemm call: factors in shared memory are copied into fragments first.
//
//     Tx.warp.gemm(D, A_smem[0:64, 0:16], B_smem[0:16, 0:64], D, beta=1.0, stage=True)
//
// becomes two copies and a gemm, each lowered by the variants of its own. The fragments are those
// that D's layout asks for: lanes that hold rows of D get the same rows of A, lanes that hold
// columns of D such columns of B that an instruction adds to them, all of K in its natural order.
#pragma once

#include <optional>

#include "lower/lowered_op.h"

namespace ww::lower {

/// The copies and the gemm; nothing where the call does not ask for them, or has no factor in
/// shared memory. Declines where D is no fragment of matrix instructions.
Match<std::optional<Expansion>> staged_gemm(const Call& call);

}  // namespace ww::lower
