// SPDX-License-Identifier: Apache-2.0
// A `gemm` as the `gemm_async` that computes the same.
#pragma once

#include "lower/call.h"

namespace ww::lower {

/// B of `gemm` is (K, N) unless it is transposed, that of `gemm_async` (N, K). Declines an alpha other than
/// 1 and a beta other than 0 and 1 (`factor`), a C that is not D where it counts (`operands`), and
/// an A in the registers of D (`overlap`).
Match<ir::TileCall> async_form(const Call& call);
/// The call that is made in its place.
Call with_tile(const Call& call, const ir::TileCall& tile);

}  // namespace ww::lower
