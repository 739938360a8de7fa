// SPDX-License-Identifier: Apache-2.0
// Constants of 8 bits, all pairs of them, against arithmetic in doubles, which is exact for them.
#include "ir/simplify/fold.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <utility>

namespace ww::ir::fold_test {
namespace {

using num::DType;

using Exact = std::function<double(double, double)>;
const std::pair<ExprOp, Exact> kOps[] = {
    {ExprOp::Add, std::plus()},
    {ExprOp::Sub, std::minus()},
    {ExprOp::Mul, std::multiplies()},
    {ExprOp::FloorDiv, [](double a, double b) { return std::floor(a / b); }},
    {ExprOp::FloorMod, [](double a, double b) { return a - b * std::floor(a / b); }},
    {ExprOp::TruncDiv, [](double a, double b) { return std::trunc(a / b); }},
    {ExprOp::TruncMod, [](double a, double b) { return std::fmod(a, b); }},
    {ExprOp::Min, [](double a, double b) { return std::fmin(a, b); }},
    {ExprOp::Max, [](double a, double b) { return std::fmax(a, b); }},
    {ExprOp::Shl, [](double a, double b) { return b < 0 || b > 7 ? 0 : std::ldexp(a, int(b)); }},
    {ExprOp::Shr,
     [](double a, double b) { return std::floor(std::ldexp(a, b < 0 || b > 7 ? -8 : -int(b))); }},
    {ExprOp::Eq, std::equal_to()},
    {ExprOp::Ne, std::not_equal_to()},
    {ExprOp::Lt, std::less()},
    {ExprOp::Le, std::less_equal()},
    {ExprOp::Gt, std::greater()},
    {ExprOp::Ge, std::greater_equal()},
};

bool divides(ExprOp op) {
  return op == ExprOp::FloorDiv || op == ExprOp::FloorMod || op == ExprOp::TruncDiv ||
         op == ExprOp::TruncMod;
}

// The number of the type that is left of `value`.
std::int64_t cut(double value, int least) {
  return static_cast<std::int64_t>(value - 256 * std::floor((value - least) / 256));
}

TEST(FoldedIntegers, EveryPairOfEightBits) {
  for (const auto& [dtype, least] : {std::pair{DType::Int8, -128}, std::pair{DType::Uint8, 0}})
    for (const auto& [op, exact] : kOps)
      for (int a = least; a < least + 256; ++a)
        for (int b = least; b < least + 256; ++b) {
          const auto result = fold(op, Constant{dtype, a}, Constant{dtype, b});
          ASSERT_EQ(result.has_value(), !divides(op) || b != 0);
          if (!result) continue;
          const double wanted = exact(a, b);
          const bool is_right = result->integer == cut(wanted, least);
          ASSERT_TRUE(is_right) << a << ' ' << spelling_of(op) << ' ' << b << " is "
                                << result->integer;
        }
}

// On the device there is no error: all bits, or the dividend.
TEST(FoldedIntegers, ByZeroAndTheLeastNumber) {
  const Type types[] = {Type::of(DType::Int8), Type::of(DType::Int64), Type::of(DType::Uint64)};
  for (const Type type : types) {
    EXPECT_EQ(int_result(ExprOp::FloorDiv, 7, 0, type), -1);
    EXPECT_EQ(int_result(ExprOp::TruncDiv, 7, 0, type), -1);
    EXPECT_EQ(int_result(ExprOp::FloorMod, 7, 0, type), 7);
    EXPECT_EQ(int_result(ExprOp::TruncMod, 7, 0, type), 7);
  }
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(int_result(ExprOp::FloorDiv, least, -1, types[1]), least);
  EXPECT_EQ(int_result(ExprOp::FloorMod, least, -1, types[1]), 0);
  EXPECT_EQ(int_result(ExprOp::FloorDiv, least, -1, types[2]), 0);  // 2^63 by 2^64 - 1
  EXPECT_EQ(int_result(ExprOp::FloorMod, least, -1, types[2]), least);
  EXPECT_EQ(int_result(ExprOp::Max, 1, -1, types[2]), -1);
  EXPECT_EQ(int_result(ExprOp::Div, 1, 1, types[0]), std::nullopt);
}

}  // namespace
}  // namespace ww::ir::fold_test
