// SPDX-License-Identifier: Apache-2.0
// Vector expressions.
#pragma once

#include "emit/cuda/context.h"

namespace ww::emit::cuda {

std::string vector_text(Context& c, ExprId id);
Text lane(Context& c, ExprId id, const Lane& lane);
/// Lane `lane` of a shuffle: which of the vectors' lanes it takes.
Text shuffled(Context& c, const Expr& expr, const Lane& lane);
void vector_store(Context& c, const Stmt& stmt);

}  // namespace ww::emit::cuda
