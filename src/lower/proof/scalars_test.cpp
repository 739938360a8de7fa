// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/scalars.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <set>

namespace ww::lower::scalars::proof_scalars_test {
namespace {

using ir::ExprOp;
using ir::Intrinsic;
using num::DType;

Scalar real(double value) { return std::bit_cast<Scalar>(value); }
double number(Scalar value) { return std::bit_cast<double>(value); }
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Scalars, IntegersWrap) {
  EXPECT_EQ(operated(ExprOp::Add, DType::Int8, 127, 1), -128);
  EXPECT_EQ(operated(ExprOp::Mul, DType::Uint16, 300, 300), 90000 - 65536);
  EXPECT_EQ(operated(ExprOp::Neg, DType::Int32, std::int64_t{-2147483648}), -2147483648);
  // A uint64 beyond the signed numbers.
  EXPECT_EQ(operated(ExprOp::Lt, DType::Uint64, -1, 1), 0);
  EXPECT_EQ(operated(ExprOp::Shr, DType::Uint64, -1, 60), 15);
}

TEST(Scalars, DivisionByZeroIsDefined) {
  EXPECT_EQ(operated(ExprOp::FloorDiv, DType::Int32, 5, 0), -1);
  EXPECT_EQ(operated(ExprOp::TruncDiv, DType::Uint8, 5, 0), 255);
  EXPECT_EQ(operated(ExprOp::FloorMod, DType::Int32, 5, 0), 5);
}

TEST(Scalars, FloatsAreRoundedToTheirType) {
  EXPECT_EQ(operated(ExprOp::Add, DType::Float16, real(2048), real(1)), real(2048));
  EXPECT_EQ(operated(ExprOp::Add, DType::Float32, real(2048), real(1)), real(2049));
  EXPECT_EQ(operated(ExprOp::Div, DType::Float32, real(1), real(0)), real(kInfinity));
  EXPECT_EQ(operated(ExprOp::Lt, DType::Float64, real(kNan), real(1)), 0);
  EXPECT_EQ(operated(ExprOp::Ne, DType::Float64, real(kNan), real(kNan)), 1);
  EXPECT_EQ(operated(ExprOp::Eq, DType::Float64, real(0.0), real(-0.0)), 1);
  EXPECT_EQ(operated(ExprOp::Neg, DType::Float32, real(0.0)), real(-0.0));
}

TEST(Scalars, OperatorsThatATypeDoesNotHave) {
  EXPECT_EQ(operated(ExprOp::BitAnd, DType::Float32, real(1), real(1)), std::nullopt);
  EXPECT_EQ(operated(ExprOp::Div, DType::Int32, 1, 1), std::nullopt);
  EXPECT_EQ(operated(ExprOp::Ramp, DType::Int32, 1, 1), std::nullopt);
}

TEST(Scalars, Conversions) {
  EXPECT_EQ(cast(DType::Float32, DType::Int32, real(-2.9)), -2);
  EXPECT_EQ(cast(DType::Float32, DType::Int8, real(kNan)), 0);
  EXPECT_EQ(cast(DType::Float32, DType::Uint8, real(kInfinity)), 255);
  EXPECT_EQ(cast(DType::Uint64, DType::Float64, -1), real(0x1p64));
  EXPECT_EQ(cast(DType::Int32, DType::Bool, 256), 1);
  EXPECT_EQ(reinterpreted(DType::Float32, DType::Int32, real(1)), 0x3F80'0000);
  EXPECT_EQ(reinterpreted(DType::Int32, DType::Float32, 0x4000'0000), real(2));
  EXPECT_EQ(reinterpreted(DType::Int64, DType::Float64, 0x3FF0'0000'0000'0000), real(1));
}

TEST(Scalars, Functions) {
  const auto of_one = [](Intrinsic callee, DType type, Scalar x) {
    return called(callee, type, {&x, 1});
  };
  EXPECT_EQ(of_one(Intrinsic::Isnan, DType::Float32, real(kNan)), 1);
  EXPECT_EQ(of_one(Intrinsic::Floor, DType::Float32, real(-0.5)), real(-1));
  EXPECT_EQ(of_one(Intrinsic::Nearbyint, DType::Float32, real(2.5)), real(2));
  EXPECT_EQ(of_one(Intrinsic::Abs, DType::Int8, -128), -128);
  EXPECT_EQ(of_one(Intrinsic::Popcount, DType::Int8, -1), 8);
  EXPECT_EQ(of_one(Intrinsic::Clz, DType::Uint16, 1), 15);
}

// Any number will do, but it must be the same in the primitive and in its code, and it should vary.
TEST(Scalars, UnknownFunctionsAreFunctions) {
  std::set<Scalar> results;
  for (int i = 0; i < 40; ++i) {
    const Scalar x = real(i);
    const Scalar y = called(Intrinsic::Sin, DType::Float32, {&x, 1});
    EXPECT_EQ(y, called(Intrinsic::Sin, DType::Float32, {&x, 1}));
    results.insert(y);
  }
  EXPECT_GT(results.size(), 8U);
}

TEST(Scalars, AnyFloatIsOneOfItsType) {
  std::set<bool> signs;
  for (std::uint64_t salt = 0; salt < 60; ++salt)
    for (const DType type : {DType::Float16, DType::Float8E4M3fn, DType::Float64}) {
      const double x = number(any_float(type, "a", salt));
      EXPECT_TRUE(std::isnan(x) || ir::round_to(type, x) == x) << x;
      signs.insert(x < 0);
    }
  EXPECT_EQ(signs.size(), 2U);
  EXPECT_EQ(any_float(DType::Float32, "a", 3), any_float(DType::Float32, "a", 3));
}

}  // namespace
}  // namespace ww::lower::scalars::proof_scalars_test
