// SPDX-License-Identifier: Apache-2.0
// A short cut through ir/simplify/simplify.h. Most index expressions are sums of names with
// different factors, `row * 16 + t * 8 + w`, in which nothing can be cancelled or joined: there the
// order of the terms is all that simplifying changes, and that is found in a fraction of the time.
#pragma once

#include "ir/function.h"
#include "ir/simplify/simplify.h"

namespace ww::lower {

/// The expression as ir::simplify makes it.
ir::ExprId simpler(ir::Function& function, ir::ExprId expr, const ir::Facts& facts);

}  // namespace ww::lower
