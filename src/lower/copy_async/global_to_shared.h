// SPDX-License-Identifier: Apache-2.0
// What the variants of copy_async from global to shared memory ask of a call.
#pragma once

#include "lower/call.h"

namespace ww::lower {

/// From global to shared memory: declines other memories, and threads that cannot be numbered.
Match<void> check_global_to_shared(const Call& call);

/// `direct=True`: the caller promises that the region is one instruction.
bool is_direct(const Call& call);

}  // namespace ww::lower
