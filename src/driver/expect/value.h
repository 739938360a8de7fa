// SPDX-License-Identifier: Apache-2.0
// Values of expressions in expectations (driver/expect/expect.h) and the operations on them. A
// value is an array of doubles, or of 64-bit integers when everything it was made from is of
// integer types: so int64 elements stay exact, and sums and products wrap modulo 2^64, which agrees
// with what a kernel computes modulo a smaller power of two. Mixing the two gives doubles.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "driver/args/array.h"
#include "driver/expect/expect.h"
#include "num/dtype.h"

namespace ww::driver {

struct ExprValue {
  std::vector<std::int64_t> shape = {};
  /// The element type of an array, of its transpose and of a cast; arithmetic has none.
  std::optional<num::DType> dtype = {};
  bool is_integer = false;
  bool is_unsigned = false;             // integers, some of them from uint64: they go up to 2^64
  std::vector<double> reals = {};       // the elements, unless is_integer
  std::vector<std::int64_t> ints = {};  // the elements, if is_integer

  [[nodiscard]] std::int64_t size() const {
    return static_cast<std::int64_t>(is_integer ? ints.size() : reals.size());
  }
  [[nodiscard]] double real(std::int64_t index) const;
};

/// `value` as an element of that type, ties to even (bits_from and back).
double rounded(num::DType type, double value);

ExprValue integer_value(std::int64_t value);
ExprValue real_value(double value);
/// The shape that two shapes are broadcast to; nothing when they do not go together.
std::optional<std::vector<std::int64_t>> common_shape(const std::vector<std::int64_t>& a,
                                                      const std::vector<std::int64_t>& b);
/// Elements of a value of that shape; TooLarge beyond `most`.
Result<std::int64_t> value_count(const std::vector<std::int64_t>& shape, std::int64_t most);
/// All elements of an array. TooLarge beyond 2^31.
Result<ExprValue> load_value(const Array& array);

/// Negate, Abs, Sqrt, Exp, Log, Tanh, Erf of each element; all but the first two make doubles.
ExprValue mapped(ExpectOp op, ExprValue value);
/// Each element rounded to a type: to floats to nearest; from doubles to integers toward zero,
/// saturating, NaN to 0; from integers to integers modulo 2^bits. Bool: is it other than 0?
ExprValue cast_value(ExprValue value, num::DType type);
/// The last two dimensions exchanged; fewer than two stay as they are.
ExprValue transposed(ExprValue value);

/// Add, Subtract, Multiply, Divide, Power, Max, Min of elements and comparisons, after broadcasting
/// as NumPy does: dimensions are matched from the last, and 1 or a missing one is repeated. Divide
/// and Power make doubles, but for an integer to the power of one that is not negative; comparisons
/// make 0 and 1, and are false of NaN, but for NotEqual;
/// Max and Min of NaN are NaN. BadArgument when the shapes do not go together, TooLarge when the
/// result has more than `most` elements: two small arrays can be broadcast to a large one.
Result<ExprValue> combined(ExpectOp op, ExprValue a, ExprValue b, std::int64_t most);
/// The value repeated to exactly this shape. BadArgument when broadcasting does not lead there.
Result<ExprValue> broadcast_to(ExprValue value, const std::vector<std::int64_t>& shape);

/// The product of matrices in the last two dimensions, the dimensions before them broadcast. A
/// single dimension is a row on the left and a column on the right, and does not appear in the
/// result. Each element is summed in the order of the inner dimension. BadArgument, TooLarge as
/// above.
Result<ExprValue> matmul(ExprValue a, ExprValue b, std::int64_t most);

/// Where the condition is other than 0 the elements of one value, elsewhere those of another, all
/// three broadcast. BadArgument, TooLarge as above.
Result<ExprValue> chosen(ExprValue condition, ExprValue yes, ExprValue no, std::int64_t most);

/// The elements that the parts take, one part for each dimension from the first; others stay whole.
/// BadArgument for more parts than dimensions, and for an index outside.
Result<ExprValue> sliced(ExprValue value, const std::vector<SlicePart>& parts);

/// Sum, Mean, Max or Min of all elements, or along one dimension, negative counting from the end,
/// which then disappears, or stays with extent 1. BadArgument for a dimension that does not exist,
/// and for the Mean, Max or Min of nothing.
Result<ExprValue> reduced(ExpectOp op, const ExprValue& value,
                          std::optional<std::int64_t> dimension, bool keeps_dims = false);

}  // namespace ww::driver
