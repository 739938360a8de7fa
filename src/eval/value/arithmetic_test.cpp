// SPDX-License-Identifier: Apache-2.0
#include "eval/value/arithmetic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ww::eval::number_test::value_arithmetic_test {
namespace {

using ir::ExprOp;
using num::DType;

Word op(ExprOp kind, DType type, Word a, Word b) {
  Word out = 0;
  binary(kind, type, {&a, 1}, {&b, 1}, {&out, 1});
  return out;
}
std::int64_t ints(ExprOp kind, DType type, std::int64_t a, std::int64_t b) {
  return as_int(type, op(kind, type, from_int(type, a), from_int(type, b)));
}
double reals(ExprOp kind, DType type, double a, double b) {
  return as_real(type, op(kind, type, from_real(type, a), from_real(type, b)));
}

TEST(EvalArithmetic, IntegersWrapAtTheirWidth) {
  EXPECT_EQ(ints(ExprOp::Add, DType::Int8, 127, 1), -128);
  EXPECT_EQ(ints(ExprOp::Sub, DType::Uint16, 0, 1), 65535);
  EXPECT_EQ(ints(ExprOp::Mul, DType::Int32, 65536, 65536), 0);
  EXPECT_EQ(ints(ExprOp::Add, DType::Int64, std::numeric_limits<std::int64_t>::max(), 1),
            std::numeric_limits<std::int64_t>::min());
}

TEST(EvalArithmetic, DivisionRoundsDownOrToZero) {
  struct Row {
    std::int64_t a, b, floor_div, floor_mod, trunc_div, trunc_mod;
  };
  for (const Row& row :
       {Row{7, 2, 3, 1, 3, 1}, Row{-7, 2, -4, 1, -3, -1}, Row{7, -2, -4, -1, -3, 1},
        Row{-7, -2, 3, -1, 3, -1}, Row{-8, 2, -4, 0, -4, 0}}) {
    EXPECT_EQ(ints(ExprOp::FloorDiv, DType::Int32, row.a, row.b), row.floor_div);
    EXPECT_EQ(ints(ExprOp::FloorMod, DType::Int32, row.a, row.b), row.floor_mod);
    EXPECT_EQ(ints(ExprOp::TruncDiv, DType::Int32, row.a, row.b), row.trunc_div);
    EXPECT_EQ(ints(ExprOp::TruncMod, DType::Int32, row.a, row.b), row.trunc_mod);
  }
}

TEST(EvalArithmetic, DivisionWithoutAResultStillHasAValue) {
  EXPECT_EQ(ints(ExprOp::FloorDiv, DType::Int32, 5, 0), -1);
  EXPECT_EQ(ints(ExprOp::FloorMod, DType::Int32, 5, 0), 5);
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(ints(ExprOp::FloorDiv, DType::Int64, least, -1), least);
  EXPECT_EQ(ints(ExprOp::TruncMod, DType::Int64, least, -1), 0);
}

TEST(EvalArithmetic, ShiftsBeyondTheWidth) {
  EXPECT_EQ(ints(ExprOp::Shl, DType::Int32, 1, 31), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(ints(ExprOp::Shl, DType::Int32, 1, 32), 0);
  EXPECT_EQ(ints(ExprOp::Shr, DType::Int32, -8, 1), -4);
  EXPECT_EQ(ints(ExprOp::Shr, DType::Int32, -8, 40), -1);
  EXPECT_EQ(ints(ExprOp::Shr, DType::Uint32, 8, 40), 0);
}

TEST(EvalArithmetic, ComparisonsKnowSigns) {
  EXPECT_EQ(op(ExprOp::Lt, DType::Int32, from_int(DType::Int32, -1), 1), 1U);
  EXPECT_EQ(op(ExprOp::Lt, DType::Uint32, 0xffffffffU, 1), 0U);
  const Word nan = from_real(DType::Float32, std::nan(""));
  EXPECT_EQ(op(ExprOp::Eq, DType::Float32, nan, nan), 0U);
  EXPECT_EQ(op(ExprOp::Ne, DType::Float32, nan, nan), 1U);
}

TEST(EvalArithmetic, EveryHalfOperationIsRounded) {
  EXPECT_EQ(reals(ExprOp::Add, DType::Float16, 2048, 1), 2048);  // a tie, to even
  EXPECT_EQ(reals(ExprOp::Add, DType::Float16, 2048, 3), 2052);
  EXPECT_EQ(reals(ExprOp::Add, DType::Bfloat16, 256, 1), 256);
  EXPECT_EQ(reals(ExprOp::Mul, DType::Float16, 60000, 2), std::numeric_limits<double>::infinity());
  EXPECT_EQ(reals(ExprOp::Add, DType::Float32, 16777216, 1), 16777216);
  EXPECT_EQ(reals(ExprOp::Div, DType::Float32, 1, 3), static_cast<double>(1.0F / 3.0F));
}

TEST(EvalArithmetic, MinAndMaxPreferNumbers) {
  EXPECT_EQ(reals(ExprOp::Max, DType::Float32, std::nan(""), 2), 2);
  EXPECT_EQ(reals(ExprOp::Min, DType::Float16, 3, std::nan("")), 3);
  EXPECT_FALSE(std::signbit(reals(ExprOp::Max, DType::Float32, -0.0, 0.0)));
}

TEST(EvalArithmetic, ConversionsSaturateOrWrap) {
  EXPECT_EQ(as_int(DType::Int8, convert(DType::Int32, DType::Int8, from_int(DType::Int32, 300))),
            44);
  EXPECT_EQ(as_int(DType::Int8, from_real(DType::Int8, 300.7)), 127);
  EXPECT_EQ(as_int(DType::Int32, from_real(DType::Int32, -2.9)), -2);
  EXPECT_EQ(as_int(DType::Uint8, from_real(DType::Uint8, -2.9)), 0);
  EXPECT_EQ(as_int(DType::Int32, from_real(DType::Int32, std::nan(""))), 0);
  EXPECT_EQ(as_real(DType::Float8E4M3fn, from_real(DType::Float8E4M3fn, 1e6)), 448);
  EXPECT_EQ(from_real(DType::Bool, 0.5), 1U);
}

TEST(EvalArithmetic, WideIntegersAreRoundedOnce) {
  const std::int64_t value = (std::int64_t{1} << 60) + (std::int64_t{1} << 36) + 1;
  const auto expected = static_cast<double>(static_cast<float>(value));
  EXPECT_EQ(
      as_real(DType::Float32, convert(DType::Int64, DType::Float32, static_cast<Word>(value))),
      expected);
}

TEST(EvalArithmetic, FusedMultiplyAddRoundsOnce) {
  const auto f16 = [](double x) { return from_real(DType::Float16, x); };
  // 1.0009765625² = 1.00195407867…; minus 1.001953125 leaves what a rounded product would lose.
  const double x = 1 + std::ldexp(1, -10);
  EXPECT_EQ(
      as_real(DType::Float16, fused(DType::Float16, f16(x), f16(x), f16(-(1 + std::ldexp(1, -9))))),
      std::ldexp(1, -20));
  EXPECT_EQ(fused(DType::Int32, 0x10000, 0x10000, 7), 7U);
}

}  // namespace
}  // namespace ww::eval::number_test::value_arithmetic_test
