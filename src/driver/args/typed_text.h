// SPDX-License-Identifier: Apache-2.0
// Element types with shapes, and single values of an element type, from text: `float16[8,16]`, and
// `42` as an int32. Types go by any name of num/dtypes.def: float16, f16, half, i32, bf16, ...
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "driver/args/array.h"
#include "num/dtype.h"

namespace ww::driver {

struct ShapedType {
  num::DType dtype{};
  std::vector<std::int64_t> shape;

  friend bool operator==(const ShapedType&, const ShapedType&) = default;
};

/// `TYPE[EXTENT,...]` with at least one extent, each at least 1. The Diag's span points into
/// `text`: Syntax, UnknownName (with the nearest type), BadExtent, or TooLarge as in byte_size.
Result<ShapedType> parse_shaped_type(std::string_view text);

/// A value of that type, as an array of no dimensions. Integers are decimal or `0x...`, and bools
/// also true and false; floats are decimal numbers, rounded to nearest, inf and nan. BadArgument
/// for what the type does not have: a number beyond its range, a fraction, an infinity, a zero in
/// ue8m0. The Diag's span points into `text`.
Result<Array> parse_scalar(num::DType type, std::string_view text);
/// The same with the type's name. An unknown type is an UnknownName whose span points into `type`.
Result<Array> parse_scalar(std::string_view type, std::string_view text);

/// An integer between -2^63 and 2^64 - 1, decimal or `0x...`. Syntax, or Overflow beyond that.
Result<Wide> parse_wide(std::string_view text);
/// A decimal number, inf or nan, with or without a sign, as a double. Syntax, or Overflow when a
/// finite number is beyond it.
Result<double> parse_real(std::string_view text);

}  // namespace ww::driver
