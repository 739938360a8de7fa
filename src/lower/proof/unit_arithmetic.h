// SPDX-License-Identifier: Apache-2.0
// Arithmetic on integers of all threads of a unit at once, for lower/proof/values.h.
#pragma once

#include <optional>

#include "ir/function.h"
#include "lower/proof/per_unit.h"

namespace ww::lower {

/// What indices are made of, for all threads: a op b, of two operands of `type`. Nothing: something
/// else.
std::optional<PerUnit> unit_operated(ir::ExprOp op, num::DType type, num::DType result,
                                     const PerUnit& a, const PerUnit& b);
/// An integer as another type.
std::optional<PerUnit> unit_cast(num::DType from, num::DType to, const PerUnit& value);

}  // namespace ww::lower
