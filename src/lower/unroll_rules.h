// SPDX-License-Identifier: Apache-2.0
// What the two halves of unrolling agree on: unroll.cpp decides, expand.cpp does it.
#pragma once

#include <string_view>

#include "ir/function.h"

namespace ww::lower {

/// The annotation of a serial loop that is to be expanded as soon as its bounds are constant.
inline constexpr std::string_view kUnrollNote = "unroll";

/// Is the loop to be expanded, by its kind or by the annotation?
bool asks_unroll(const ir::Stmt& loop);

/// Does a `break` or `continue` in the body belong to the body's own loop? Such a loop stays one.
bool has_jump(const ir::Function& function, const ir::Block& body);

}  // namespace ww::lower
