// SPDX-License-Identifier: Apache-2.0
// What the variants of copy_async from global to shared memory ask of a call.
#pragma once

#include "lower/call.h"

namespace ww::lower {

/// Declines other memories, a call that carries an mbarrier, settings of the tensor copies, and
/// threads that cannot be numbered.
Match<void> check_global_to_shared(const Call& call);

/// `prefetch_size=` as a modifier of cp.async, ".L2::128B" or nothing.
Match<std::string> prefetch_modifier(const Call& call);
/// `direct=True`: the caller promises that the region is one instruction.
bool is_direct(const Call& call);

}  // namespace ww::lower
