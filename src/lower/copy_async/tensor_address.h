// SPDX-License-Identifier: Apache-2.0
// Addresses of tensor memory, whose lanes and columns count from where a buffer was allocated.
#pragma once

#include <cstdint>

#include "lower/operand_places.h"

namespace ww::lower {

/// The lane of tensor memory from which the lanes of an operand count: where its address is made of
/// a base and a row.
std::int64_t tensor_base_lane(const Call& call, const OperandPlaces& tensor);
/// The address of a 32-bit column of an operand in tensor memory: `lane` and `column` from where
/// `base` is, which has the buffer's address, and from a run-time start of the region on.
ir::ExprId tensor_address(CodeWriter& code, const OperandPlaces& tensor, ir::ExprId base,
                          ir::ExprId lane, ir::ExprId column);

}  // namespace ww::lower
