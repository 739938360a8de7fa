// SPDX-License-Identifier: Apache-2.0
// Structural equality: the same nodes in the same order, whatever their numbers and places in the
// source. Names of buffers, parameters and variables count as far as users see them: parameters
// must agree, others may differ when they correspond one to one. An explicit default equals an
// omitted one: offset 0, step 1, an optional argument of a tile call, flat against row-major in one
// dimension. Attributes and configurations have no order.
#pragma once

#include <optional>
#include <string>

#include "ir/function.h"

namespace ww::ir {

/// Nothing when equal; otherwise the first difference, in words.
std::optional<std::string> difference(const Function& a, const Function& b);
/// The same for two expressions of one function.
bool same(const Function& f, ExprId a, ExprId b);

}  // namespace ww::ir
