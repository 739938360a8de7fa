// SPDX-License-Identifier: Apache-2.0
// Primitives that the CTAs of a cluster execute together: all of them reach the call and wait.
#pragma once

#include <deque>

#include "eval/cta/cta.h"

namespace ww::eval {

/// Does a CTA that waits for its cluster wait for a primitive, not at a barrier?
bool is_at_cluster_call(const Cta& cta);
/// Executes the primitive for which they wait, and lets them continue. All must have reached the
/// same one; otherwise false, and a finding.
bool run_cluster_call(std::deque<Cta>& ctas);

}  // namespace ww::eval
