// SPDX-License-Identifier: Apache-2.0
// Arithmetic on scalars of any type for lower/proof/values.h. A scalar is one number of 64 bits: an
// integer or bool as it is (a uint64 as its bits), a float as the bits of the double that it
// equals. Functions whose results do not matter for a proof (sin, exp, …) give any number, but
// always the same one for the same arguments.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "ir/simplify/fold.h"

namespace ww::lower::scalars {

using Scalar = std::int64_t;

Scalar of(const ir::Constant& constant);
ir::Constant constant_of(num::DType dtype, Scalar value);

/// a op b, both of `type`; nothing for an operator that these types do not have.
std::optional<Scalar> operated(ir::ExprOp op, num::DType type, Scalar a, Scalar b);
/// Neg, Not, BitNot.
Scalar operated(ir::ExprOp op, num::DType type, Scalar a);
Scalar cast(num::DType from, num::DType to, Scalar value);
/// The same bits as another type of the same width.
Scalar reinterpreted(num::DType from, num::DType to, Scalar value);
/// A pure function of numbers, with arguments of `type`. Bool results are 0 or 1.
Scalar called(ir::Intrinsic callee, num::DType type, std::span<const Scalar> args);

/// Some float of the type, 0, infinities and NaN among them: the same for the same `key` and
/// `salt`.
Scalar any_float(num::DType type, std::string_view key, std::uint64_t salt);

}  // namespace ww::lower::scalars
