// SPDX-License-Identifier: Apache-2.0
// What the variants of copy_async share: checks of a call's memories and settings, and addresses of
// tensor memory.
#pragma once

#include "lower/copy/problem.h"

namespace ww::lower {

/// From global to shared memory: declines other memories, and threads that cannot be numbered.
Match<void> check_global_to_shared(const Call& call);

/// `prefetch_size=` as a modifier of cp.async, ".L2::128B" or nothing.
std::string prefetch_modifier(const Call& call);
/// `direct=True`: the caller promises that the region is one instruction.
bool is_direct(const Call& call);

/// The lane of tensor memory from which the lanes of a side count: where its address is made of a
/// base and a row.
std::int64_t tensor_base_lane(const Call& call, const Side& tensor);
/// The address of a 32-bit column of a side in tensor memory: `lane` and `column` from where `base`
/// is, which has the buffer's address, and from a run-time start of the region on.
ir::ExprId tensor_address(const Call& call, Code& code, const Side& tensor, ir::ExprId base,
                          ir::ExprId lane, ir::ExprId column);

}  // namespace ww::lower
