// SPDX-License-Identifier: Apache-2.0
// How far values are the same, within a set of threads; and the sets that units cut out of a CTA.
#pragma once

#include <map>

#include "ir/launch/thread_values.h"

namespace ww::ir {

/// The coarsest unit, at most `at_most`, of which `part` holds all threads of `whole` or none.
Unit coarsest(const Threads& part, const Threads& whole, Unit at_most);

/// How far known values are the same among some threads. What is computed from thread ids alone is
/// the same in every CTA: one value in a CTA is one in all.
Unit unit_of(const PerThread& values, const Threads& among);

/// How far the value is the same, between the threads of `among` that evaluate it together.
Unit uniformity_among(const Function& function, const Definitions& definitions,
                      ThreadValues& values, ExprId expr, const Threads& among);

}  // namespace ww::ir
