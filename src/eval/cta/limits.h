// SPDX-License-Identifier: Apache-2.0
// The limits of a run. Each function returns false when it reaches a limit, and the run stops.
#pragma once

#include "eval/cta/cta.h"

namespace ww::eval {

/// The step that so many threads are about to execute.
bool spend_step(Cta& cta, std::size_t threads);
/// Elements of an operand that a tile primitive touches.
bool spend_elements(Cta& cta, std::uint64_t elements);
bool spend_products(Cta& cta, std::uint64_t products);
/// Whether so many bytes may be taken for a moment.
bool may_take(Cta& cta, std::uint64_t bytes);

}  // namespace ww::eval
