// SPDX-License-Identifier: Apache-2.0
#include "operands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test_products.h"

namespace ww::bench::operands_test {
namespace {

using num::DType;
using testing::HasSubstr;

TEST(Operands, AreNormalAndEndWithNoPeriodOfATile) {
  const Operand operand(DType::Float16, 1);
  double sum = 0;
  double squares = 0;
  for (const double value : operand.block()) {
    sum += value;
    squares += value * value;
  }
  const auto count = static_cast<double>(operand.block().size());
  EXPECT_NEAR(sum / count, 0, 0.01);
  EXPECT_NEAR(squares / count, 1, 0.01);
  EXPECT_EQ(operand.bytes().size(), 2 * operand.block().size());
  EXPECT_EQ(operand.block().size() % 2, 1U);
  EXPECT_EQ(operand.at(operand.block().size() + 7), operand.at(7));
}

// The sum of an element written the plain way, from where A and B are stored.
double plain_element(const Problem& problem, const Operands& operands, const Element& at) {
  const auto [m, n, k] = std::tuple(problem.m, problem.n, problem.k);
  double sum = 0;
  for (std::int64_t i = 0; i < k; ++i) {
    const std::int64_t a = at.batch * m * k + (problem.trans_a ? i * m + at.row : at.row * k + i);
    const std::int64_t b = at.batch * k * n + (problem.trans_b ? at.col * k + i : i * n + at.col);
    sum += operands.a.at(static_cast<std::size_t>(a)) * operands.b.at(static_cast<std::size_t>(b));
  }
  return sum;
}

TEST(Operands, GiveTheElementsOfEveryProduct) {
  for (const bool trans_a : {false, true}) {
    for (const bool trans_b : {false, true}) {
      const Problem problem{
          .m = 700, .n = 900, .k = 2000, .batch = 3, .trans_a = trans_a, .trans_b = trans_b};
      const Operands operands(problem);
      for (const Element& at : {Element{0, 0, 0}, Element{2, 699, 899}, Element{1, 17, 401}})
        EXPECT_DOUBLE_EQ(exact_element(problem, operands, at),
                         plain_element(problem, operands, at));
    }
  }
}

TEST(Operands, AddTheBiasAndTakeGelu) {
  const Problem plain{.m = 4, .n = 64, .k = 16};
  Problem problem = plain;
  problem.epilogue = Epilogue::BiasGelu;
  const Operands operands(problem);
  for (std::int64_t col = 0; col < 64; ++col) {
    const double x = plain_element(plain, operands, {0, 3, col}) +
                     operands.bias.at(static_cast<std::size_t>(col));
    // By the approximation with tanh.
    const double want = 0.5 * x * (1 + std::tanh(0.7978845608 * (x + 0.044715 * x * x * x)));
    EXPECT_NEAR(exact_element(problem, operands, {0, 3, col}), want, 1e-3);
  }
}

TEST(Operands, AddTheBiasAndTakeWhatIsPositive) {
  Problem problem{.m = 4, .n = 64, .k = 16};
  const Operands operands(problem);
  problem.epilogue = Epilogue::BiasRelu;
  int zeros = 0;
  for (std::int64_t col = 0; col < 64; ++col) {
    const double with = plain_element(problem, operands, {0, 3, col}) +
                        operands.bias.at(static_cast<std::size_t>(col));
    EXPECT_DOUBLE_EQ(exact_element(problem, operands, {0, 3, col}), std::max(with, 0.0));
    zeros += with < 0 ? 1 : 0;
  }
  EXPECT_GT(zeros, 10);
}

struct Case {
  DType dtype, out;
};
class Products : public testing::TestWithParam<Case> {
 protected:
  Problem problem_{
      .m = 24, .n = 40, .k = 256, .batch = 2, .dtype = GetParam().dtype, .out = GetParam().out};
  Operands operands_{problem_};
  std::vector<std::byte> d_ = right_product(problem_, operands_);
};

TEST_P(Products, ThatAreRightPass) {
  const Checked checked = check_product(problem_, operands_, d_);
  ASSERT_TRUE(checked) << checked.error().text;
  EXPECT_EQ(*checked, 2U * 24 * 40);
  EXPECT_EQ(*check_same(problem_, d_, d_, "itself"), 2U * 24 * 40);
}

// One of the 256 summands is left out, in one element.
TEST_P(Products, WithoutASummandDoNotPass) {
  const Element at{1, 23, 39};
  const std::size_t place = problem_.d_elements() - 1;
  std::size_t k = 0;
  const auto summand = [&] {
    const std::size_t a = (24 + 23) * 256 + k;
    const std::size_t b = 256 * 40 + k * 40 + 39;
    return operands_.a.at(a) * operands_.b.at(b);
  };
  while (std::abs(summand()) < 0.5) ++k;
  const double exact = exact_element(problem_, operands_, at);
  put(problem_.out, d_.data(), place, exact - summand());
  const Checked checked = check_product(problem_, operands_, d_);
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().text, HasSubstr("wrong result: element (23, 39) of product 1 is "));
}

TEST_P(Products, ThatDifferFromOthersDoNotPass) {
  std::vector<std::byte> other = d_;
  put(problem_.out, other.data(), 41, 1000);
  const Checked same = check_same(problem_, d_, other, "cuBLAS");
  ASSERT_FALSE(same);
  EXPECT_THAT(same.error().text, HasSubstr("wrong result: element (1, 1) of product 0 is "));
  EXPECT_EQ(same.error().notes.at(0).text, "that is what cuBLAS has there");
}

INSTANTIATE_TEST_SUITE_P(Types, Products,
                         testing::Values(Case{DType::Float16, DType::Float16},
                                         Case{DType::Float16, DType::Float32},
                                         Case{DType::Int8, DType::Int32}));

TEST(Product, ThatWasNotWrittenDoesNotPass) {
  const Problem problem{.m = 16, .n = 16, .k = 16};
  const std::vector<std::byte> nans(bytes_of(problem.out, 256), std::byte{0xFF});
  const Checked checked = check_product(problem, Operands(problem), nans);
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().text, HasSubstr("element (0, 0) is not a number in place of "));
}

// 4096 elements and the corners where all would take long.
TEST(Product, ThatIsLargeIsChecked) {
  const Problem problem{.m = 1024, .n = 1024, .k = 1024};
  const Operands operands(problem);
  std::vector<std::byte> d(bytes_of(problem.out, problem.d_elements()));
  const Checked wrong = check_product(problem, operands, d);
  ASSERT_FALSE(wrong);
  for (const Element& corner :
       {Element{0, 0, 0}, Element{0, 0, 1023}, Element{0, 1023, 0}, Element{0, 1023, 1023}}) {
    const Checked checked = check_product(problem, operands, d);
    EXPECT_THAT(checked.error().text,
                HasSubstr(fmt::format("element ({}, {})", corner.row, corner.col)));
    put(problem.out, d.data(), static_cast<std::size_t>(corner.row * 1024 + corner.col),
        exact_element(problem, operands, corner));
  }
  EXPECT_EQ(size_text(problem), "1024x1024x1024");
  EXPECT_EQ(size_text({.m = 1, .n = 2, .k = 3, .batch = 4, .trans_a = true, .trans_b = true}),
            "4x1x2x3 A' B'");
}

TEST(Tolerance, GrowsWithTheElementAndTheDepth) {
  const Problem half{.m = 1, .n = 1, .k = 16384};
  EXPECT_DOUBLE_EQ(tolerance(half, 0), 0.0625);
  EXPECT_DOUBLE_EQ(tolerance(half, -128), 0.1875);
  const Problem brain{.k = 16384, .dtype = DType::Bfloat16, .out = DType::Bfloat16};
  EXPECT_DOUBLE_EQ(tolerance(brain, 128), 1.0625);
  const Problem whole{.k = 4096, .dtype = DType::Int8, .out = DType::Int32};
  EXPECT_EQ(tolerance(whole, 1e6), 0);
}

}  // namespace
}  // namespace ww::bench::operands_test
