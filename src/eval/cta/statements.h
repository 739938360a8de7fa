// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "eval/cta/cta.h"

namespace ww::eval {

/// Executes cta.step for a group of threads that stand at it. True when they are still together and
/// can go on.
bool execute(Cta& cta, const Step& step, Threads ts);

}  // namespace ww::eval
