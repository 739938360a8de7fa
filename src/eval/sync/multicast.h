// SPDX-License-Identifier: Apache-2.0
// Copies of the copy engine that go to several CTAs of a cluster at once.
#pragma once

#include "eval/cta/cta.h"

namespace ww::eval {

inline constexpr int kCtaMaskBits = 16;

/// Starts a copy by a thread (kind Counted) into the same places of each CTA of the cluster that has its
/// bit in `mask`; the bytes complete on the mbarrier of each. CTAs that do not exist, have ended,
/// or have no mbarrier there are findings.
void start_multicast(Cta& cta, const AsyncCopy& copy, Address mbarrier, Thread t, Word mask);

}  // namespace ww::eval
