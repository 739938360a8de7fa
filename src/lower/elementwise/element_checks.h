// SPDX-License-Identifier: Apache-2.0
// What the variants of elementwise primitives check and report alike.
#pragma once

#include <span>

#include "lower/elementwise/problem.h"
#include "lower/lowering_report.h"

namespace ww::lower {

/// Declines types without a meaning, calls of scalars alone, and, where the destination is in
/// registers, scalars that differ between threads that hold the same element.
Match<void> check_elements(const Call& call, const OperandPlaces& dst,
                           std::span<const ElementwiseSource> sources);

/// How near a function comes, in which type the primitive computes, and the instructions of a fast
/// form for `each` elements of a thread.
void add_value_notes(PlanReport& report, const Call& call, num::DType type, std::int64_t each);

}  // namespace ww::lower
