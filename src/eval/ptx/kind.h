// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ww::eval {

enum class PtxKind : std::uint8_t {
  Unknown,
#define WW_EVAL_PTX(kind, together, handler) kind,
#include "eval/ptx/kinds.def"
#undef WW_EVAL_PTX
};

/// All lanes of a warp execute it together.
bool is_warp_collective(PtxKind kind);

}  // namespace ww::eval
