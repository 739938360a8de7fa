// SPDX-License-Identifier: Apache-2.0
// How the copy engine combines an element in memory with an arriving one.
#pragma once

#include "eval/value/arithmetic.h"
#include "ir/box_reduce.h"

namespace ww::eval {

Word reduce_box(ir::BoxReduce op, num::DType type, Word old, Word value);

}  // namespace ww::eval
