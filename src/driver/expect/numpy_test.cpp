// SPDX-License-Identifier: Apache-2.0
// What expectations have of NumPy: slices, reductions along a dimension, choices, powers, and the
// values before the run.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "driver/expect/expect.h"

namespace ww::driver::expect_numpy_test {
namespace {

using num::DType;

Array array_of(DType type, std::vector<std::int64_t> shape, const std::vector<double>& values) {
  Array out = *Array::zeros(type, std::move(shape));
  for (std::size_t i = 0; i < values.size(); ++i) out.set(static_cast<std::int64_t>(i), values[i]);
  return out;
}

using Arrays = std::map<std::string, Array, std::less<>>;

Arrays after_run() {
  Arrays out;
  out.emplace("A", array_of(DType::Float32, {2, 3}, {1, -2, 3, -4, 5, -6}));
  out.emplace("I", array_of(DType::Int32, {4}, {0, 1, 2, 3}));
  out.emplace("U", array_of(DType::Uint32, {3}, {7, 8, 9}));
  out.emplace("s", array_of(DType::Float32, {2}, {3, 5}));
  out.emplace("axis", array_of(DType::Float32, {2}, {1, 2}));
  return out;
}
Arrays before_run() {
  Arrays out;
  out.emplace("A", array_of(DType::Float32, {2, 3}, {0, -3, 2, -5, 4, -7}));
  return out;
}

Result<ExpectResult> check(std::string_view text) {
  static const Arrays after = after_run();
  static const Arrays before = before_run();
  const auto in = [](const Arrays& arrays) {
    return [&arrays](std::string_view name) {
      const auto found = arrays.find(name);
      return found == arrays.end() ? nullptr : &found->second;
    };
  };
  return check_expectation(WW_TRY(parse_expectation(text)), in(after), {}, {}, in(before));
}

TEST(ExpectNumpy, Holds) {
  for (const std::string_view text : {
           "A[0] == f32(A[0, :])",
           "A[1, 2] == -6",
           "A[-1, -1] == -6",
           "A[:, 1:] == A[0:2, -2:]",
           "A[:, ::2] == f32(where(A[:, ::2] > 0, A[:, ::2], A[:, ::2]))",
           "I[1::2] == I[:2] * 2 + 1",
           "I[3:1] == I[9:]",  // both are empty
           "A[0][1] == -2",
           "A.T[2] == A[:, 2]",
           "s == max(A, axis=1)",
           "s == max(A, axis=-1)",
           "max(A, axis=1, keepdims=True) ~= max(A, axis=1, keepdims=True) within 0",
           "s ~= max(A, axis=1)[:]",
           "f32(A - mean(A, axis=1, keepdims=True)) ~= A - mean(A.T, axis=0, keepdims=True).T",
           "f64(mean(A)) == -0.5",
           "f64(mean(I, axis=0)) == 1.5",
           "f64(min(A, axis=0, keepdims=True)[0]) == min(A, axis=0)",
           "I == where(I > 1, I, I ** 1)",
           "I == where(I != 2, I, 2)",
           "f32(where(A >= 0, A, 0)) == max(A, 0)",
           "f32((A < 0) + (A > 0)) == 1",
           "I ** 2 ~= I * I within 0",
           "f64(2 ** 3 ** 2) == 512",
           "f64(-2 ** 2) == -4",
           "f64(2 ** -1) == 0.5",
           "f32(tanh(A)) ~= (exp(2 * A) - 1) / (exp(2 * A) + 1)",
           "f32(erf(A * 0)) == 0",
           "f64(erf(0.5)) ~= 0.5204998778130465",
           "A == before(A) + 1",
           "f32(before(A)[0, 1]) == -3",
           "axis == axis",
           "f32(where(axis == 1, 1, 2)) == axis",
           "f64(I[2] ** 63 + I[2] ** 63) == 0",  // modulo 2^64
       }) {
    const auto result = check(text);
    EXPECT_TRUE(result) << text << ": " << result.error().text;
    if (!result) continue;
    EXPECT_TRUE(result->holds) << text << ": " << result->text;
  }
}

TEST(ExpectNumpy, DoesNotHold) {
  for (const std::string_view text :
       {"A == before(A)", "A[0] == A[1]", "s == max(A, 1)[:, 0]", "I == where(I < 1, I, 0)"}) {
    const auto result = check(text);
    ASSERT_TRUE(result) << text << ": " << result.error().text;
    EXPECT_FALSE(result->holds) << text;
  }
}

TEST(ExpectNumpy, Refuses) {
  struct Row {
    std::string_view text;
    Span span;
    std::string_view message;
  };
  for (const Row& row : {
           Row{"A == A[0, 1, 2]", Span::at(5, 15),
               "3 indices into the shape [2,3], which has 2 dimensions"},
           Row{"A == A[2]", Span::at(5, 9), "index 2 in a dimension of 2 elements"},
           Row{"A == A[-3]", Span::at(5, 10), "index -3 in a dimension of 2 elements"},
           Row{"A == A[::0]", Span::at(9, 10), "the step is 0; it must be at least 1"},
           Row{"A == A[::-1]", Span::at(9, 11), "the step is -1; it must be at least 1"},
           Row{"A == A[x]", Span::at(7, 8), "found `x`, expected an integer"},
           Row{"A == A[1.5]", Span::at(7, 10), "found `1.5`, expected an integer"},
           Row{"A == A[0", Span::at(8, 8), "found the end of the text, expected `]`"},
           Row{"A == A[99999999999999999999]", Span::at(7, 27),
               "`99999999999999999999` is too large for an integer, which is at most "
               "18446744073709551615"},
           Row{"s == max(A, axis=2)", Span::at(5, 19), "the shape [2,3] has no dimension 2"},
           Row{"s == max(A, axis=-3)", Span::at(5, 20), "the shape [2,3] has no dimension -3"},
           Row{"s == max(A, axis=)", Span::at(17, 18), "found `)`, expected an expression"},
           Row{"s == max(A, 1, axis=0)", Span::at(5, 22), "`max` of two arguments has no axis"},
           Row{"s == exp(A, axis=0)", Span::at(12, 18), "`exp` has no `axis`"},
           Row{"s == sum(A, keepdims=yes)", Span::at(21, 24),
               "found `yes`, expected `True` or `False`"},
           Row{"A == where(A, A)", Span::at(5, 16), "`where` has 2 arguments; it takes three"},
           Row{"I == where(A > 0, A, I)", Span::at(5, 23),
               "the shapes [2,3] and [4] do not go together"},
           Row{"I == before(I)", Span::at(5, 14), "`I` has no value before the run"},
           Row{"I == before(I + 1)", Span::at(12, 17),
               "found `I + 1`, expected the name of an array"},
           Row{"I == before(Q)", Span::at(5, 14), "no array is called `Q`"},
           Row{"A == A < 1", Span::at(5, 10), "found a comparison, expected it in parentheses"},
           Row{"A == mean(I[2:2])", Span::at(5, 17), "the shape [0] has no mean"},
       }) {
    const auto result = check(row.text);
    ASSERT_FALSE(result) << row.text;
    EXPECT_EQ(result.error().text, row.message) << row.text;
    EXPECT_EQ(result.error().span, row.span)
        << row.text << ": " << result.error().span.begin << " " << result.error().span.end;
  }
}

TEST(ExpectNumpy, NamesWhatItNeedsOfBefore) {
  const Expectation read = *parse_expectation("A == before(A) + before($1) + B");
  EXPECT_EQ(read.names(), (std::vector<std::string>{"A", "$1", "B"}));
  EXPECT_EQ(read.names_before(), (std::vector<std::string>{"A", "$1"}));
}

}  // namespace
}  // namespace ww::driver::expect_numpy_test
