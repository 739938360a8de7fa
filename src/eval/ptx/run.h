// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "eval/cta/cta.h"

namespace ww::eval {

/// Executes an instruction where its predicate holds. True when the threads are still together and
/// can go on.
bool run_ptx(Cta& cta, const PtxInstruction& ptx, Threads ts);

#define WW_EVAL_PTX(kind, together, handler) \
  void handler(Cta& cta, const PtxInstruction& ptx, Threads ts);
#include "eval/ptx/kinds.def"
#undef WW_EVAL_PTX

}  // namespace ww::eval
