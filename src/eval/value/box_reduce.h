// SPDX-License-Identifier: Apache-2.0
// What the copy engine makes of an element in memory and one that arrives.
#pragma once

#include "eval/value/arithmetic.h"
#include "ir/box_reduce.h"

namespace ww::eval {

Word reduce_box(ir::BoxReduce op, num::DType type, Word old, Word value);

}  // namespace ww::eval
