// SPDX-License-Identifier: Apache-2.0
// Arithmetic on constants of a type: integers wrap at their width, floats are rounded to their
// format after every operation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "ir/function.h"

namespace ww::ir {

/// A constant: `integer` for integers and bool (a uint64 as its bits), `real` for floats.
struct Constant {
  num::DType dtype = num::DType::Int32;
  std::int64_t integer = 0;
  double real = 0;
};

/// The integer modulo 2^bits, as the type reads it; bool: 0 or 1.
std::int64_t wrap(num::DType dtype, std::int64_t value);
/// Rounded to the nearest value of a float type.
double round_to(num::DType dtype, double value);
/// Does the integer type hold a constant of type `from` as it is?
bool fits(num::DType dtype, std::int64_t value, num::DType from);
/// Does the type hold the constant? An integer as it is; a float in its range, where it may be
/// rounded; infinities and NaN go into any float. A bool holds 0 and 1.
bool holds(num::DType dtype, const Constant& value);
/// The same, or one of the 2^bits patterns of an integer type: -1 and 255 for 8 bits.
bool holds_bits(num::DType dtype, const Constant& value);
/// The integer in decimal; uint64 without a sign.
std::string int_text(num::DType dtype, std::int64_t value);

/// Conversion by value: floats to integers drop the fraction and saturate, as PTX does; to bool: !=
/// 0.
Constant convert(const Constant& value, num::DType to);
/// a op b of two integers or bools of one type, before it is cut to the type of the result; nothing
/// for what is no operator on them. By 0: all bits, or the dividend as remainder.
std::optional<std::int64_t> int_result(ExprOp op, std::int64_t a, std::int64_t b, Type type);
/// a op b, both of one type. HostError for a division by zero.
Result<Constant> fold(ExprOp op, const Constant& a, const Constant& b);
Constant fold(ExprOp op, const Constant& a);

}  // namespace ww::ir
