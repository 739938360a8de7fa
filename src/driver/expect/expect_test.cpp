// SPDX-License-Identifier: Apache-2.0
#include "driver/expect/expect.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "driver/args/array_spec.h"

namespace ww::driver::expect_expect_test {
namespace {

using num::DType;
using Shape = std::vector<std::int64_t>;

Array array_of(DType type, Shape shape, const std::vector<double>& values) {
  Array out = *Array::zeros(type, std::move(shape));
  for (std::size_t i = 0; i < values.size(); ++i) out.set(static_cast<std::int64_t>(i), values[i]);
  return out;
}

// A few small arrays by name.
class Arrays {
 public:
  Arrays& add(std::string name, Array array) {
    arrays_.insert_or_assign(std::move(name), std::move(array));
    return *this;
  }
  Arrays& add(const std::string& name, Array array, std::vector<bool> written) {
    written_[name] = std::move(written);
    return add(name, std::move(array));
  }
  Result<ExpectResult> check_written(std::string_view text) const {
    const FindArray find = [&](std::string_view name) { return &arrays_.find(name)->second; };
    const FindWritten written = [&](std::string_view name) {
      const auto found = written_.find(name);
      return found == written_.end() ? nullptr : &found->second;
    };
    return check_expectation(parse_expectation(text).value(), find, {}, written);
  }
  Result<ExpectResult> check(std::string_view text) const {
    std::vector<std::string_view> known;
    for (const auto& [name, array] : arrays_) known.push_back(name);
    const FindArray find = [&](std::string_view name) {
      const auto found = arrays_.find(name);
      return found == arrays_.end() ? nullptr : &found->second;
    };
    return check_expectation(text, find, known);
  }

 private:
  std::map<std::string, Array, std::less<>> arrays_;
  std::map<std::string, std::vector<bool>, std::less<>> written_;
};

Arrays small_arrays() {
  Arrays out;
  out.add("A", array_of(DType::Float32, {2, 3}, {1, 2, 3, 4, 5, 6}));
  out.add("B", array_of(DType::Float32, {3, 2}, {1, 0, -1, 2, 0, 1}));
  out.add("T", array_of(DType::Float32, {3, 2}, {1, 4, 2, 5, 3, 6}));
  out.add("P", array_of(DType::Float32, {2, 2}, {-1, 7, -1, 16}));  // A @ B
  out.add("v", array_of(DType::Float32, {3}, {1, 1, 2}));
  out.add("Av", array_of(DType::Float32, {2}, {9, 21}));
  out.add("vB", array_of(DType::Float32, {2}, {0, 4}));
  out.add("x", array_of(DType::Float32, {}, {2}));
  out.add("I", array_of(DType::Int8, {2, 2}, {100, -3, 7, -128}));
  out.add("J", array_of(DType::Int8, {2, 2}, {100, 2, -7, -128}));
  out.add("$0", array_of(DType::Int32, {2}, {-5, 5}));
  out.add("$1", array_of(DType::Int32, {2}, {0, 5}));
  out.add("h", array_of(DType::Float16, {2}, {0.1, 2048}));
  return out;
}

TEST(Expect, TrueExpectations) {
  const Arrays arrays = small_arrays();
  for (const char* text : {
           "A == A",
           "T == A.T",
           "A == T.T",
           "A == A.T.T",
           "P ~= A @ B",
           "P == A @ B",
           "P.T == B.T @ A.T",
           "Av == A @ v",
           "vB == v @ B",
           "f32(v @ v) == 6",
           "f32(2*A - A) == A",
           "A == 1*A + 0*A",
           "A == (A + A)/2",
           "A == 2 - (2 - A)",
           "A == --A",
           "A == x * A / x",
           "f32(A + v) == v + A",  // trailing dimension
           "A == A + 0*v",         // broadcast of the right side
           "f64(v - 1) == max(v - 1, 0)",
           "f32(A*0) == 0",
           "f32(abs(-A)) == A",
           "f32(sum(A)) == 21",
           "f32(sum(A, 0)) == sum(A.T, 1)",
           "f32(max(A)) == 6",
           "f32(0*A + min(A)) == min(A, 100) - A + 1",
           "f32(sqrt(A*A)) == A",
           "f64(exp(0*A)) == 1",
           "A ~= exp(log(A))",
           "$1 == max($0, 0)",
           "h == f16(h)",
           "h == 0.1 + 0*h + 2047.9*i32(h/2048)",  // rounded to float16
           "f16(2049*f32(x)/x) == 2048",           // ties to even
           "I == I",
           "int8(I + J) == I + J",
           "i8(I * J) == int64(I) * J",  // modulo 256
           "int32(f32(I)) == I",
           "int32(-2.75) == -2",  // toward zero
           "bool(0.5) == 1",
           "int32(2.6) == 1.5",  // == rounds, casts cut off
           "A + 1 ~= A within 1",
           "f32(1e-2) ~= .01 within 1E-9",
           "A + 1 ~= A within atol=1",
           "A ~= 1.5*A within rtol=0.4",
           "A ~= 1.5*A within rtol = 0.3 , atol = 1",
           "A ~= 1.5*A within atol=1,rtol=0.3",
       }) {
    const auto result = arrays.check(text);
    ASSERT_TRUE(result) << text << ": " << result.error().text;
    EXPECT_TRUE(result->holds) << result->text;
    EXPECT_EQ(result->mismatches, 0);
  }
}

TEST(Expect, FalseExpectations) {
  const Arrays arrays = small_arrays();
  for (const char* text :
       {"A == A + 1", "A ~= A * 1.001", "P == B.T @ A.T", "I == J", "I ~= J", "A == -A", "$1 == $0",
        "int32(2.4) == 2.6", "A ~= A + 0.5 within 0.01", "A ~= A + 0.5 within atol=0.4",
        "A ~= 1.5*A within rtol=0.2", "A ~= 1.5*A within atol=0.2", "bool(1) == 0", "f32(0) == 1/0",
        "f32(0/0) ~= 1 within 1e9"}) {
    const auto result = arrays.check(text);
    ASSERT_TRUE(result) << text << ": " << result.error().text;
    EXPECT_FALSE(result->holds) << text;
    EXPECT_GT(result->mismatches, 0);
  }
}

TEST(Expect, ReportNamesPlacesAndValues) {
  Arrays arrays = small_arrays();
  arrays.add("C", array_of(DType::Float16, {2, 3}, {1, 2, 3.5, 4, 5, 8}));
  const auto result = arrays.check("C == A");
  ASSERT_TRUE(result) << result.error().text;
  EXPECT_EQ(result->elements, 6);
  EXPECT_EQ(result->mismatches, 2);
  EXPECT_EQ(result->max_error, 2);
  EXPECT_EQ(result->first[0].index, (Shape{0, 2}));
  EXPECT_EQ(result->text,
            "`C == A` fails for 2 of 6 elements, largest error 2 at [1,2]\n"
            "  [0,2]: seen 3.5, wanted 3\n"
            "  [1,2]: seen 8, wanted 6");
  EXPECT_EQ(arrays.check("A == A")->text, "`A == A` holds for 6 elements");
  EXPECT_EQ(
      arrays.check("A ~= A + 1e-5")->text,
      "`A ~= A + 1e-5` holds for 6 elements, largest error 1e-05 (rtol 0.0001, atol 8.75e-05)");
  EXPECT_TRUE(
      arrays.check("A ~= 2*A within rtol=1e-3, atol=0.5")
          ->text.starts_with("`A ~= 2*A within rtol=1e-3, atol=0.5` fails for 6 of 6 elements, "
                             "largest error 6 at [1,2] (rtol 0.001, atol 0.5)\n"));
}

TEST(Expect, ReportShowsTheFirstMismatchesOnly) {
  Arrays arrays;
  arrays.add("A", *make_array(DType::Int32, {100}, "arange"));
  const auto result = arrays.check("A == -1");
  EXPECT_EQ(result->mismatches, 100);
  EXPECT_EQ(result->first.size(), kShownMismatches);
  EXPECT_EQ(result->max_error, 100);
}

TEST(Expect, SpecialValues) {
  const double nan = std::nan("");
  const double inf = std::numeric_limits<double>::infinity();
  Arrays arrays;
  arrays.add("A", array_of(DType::Float32, {4}, {nan, inf, -inf, -0.0}));
  arrays.add("B", array_of(DType::Float32, {4}, {nan, inf, -inf, 0.0}));
  arrays.add("C", array_of(DType::Float32, {4}, {nan, -inf, 1, nan}));
  for (const char* op : {"==", "~="}) {
    const auto same = arrays.check(fmt::format("A {} B", op));
    EXPECT_TRUE(same->holds) << same->text;
    EXPECT_EQ(arrays.check(fmt::format("C {} B", op))->mismatches, 3);
  }
  EXPECT_EQ(arrays.check("C ~= B")->max_error, inf);
  // What overflows the type is infinite in it.
  EXPECT_TRUE(arrays.check("f16(1/0) ~= 70000")->holds);
  // The larger of NaN and a number is NaN.
  arrays.add("N", array_of(DType::Float32, {1}, {nan}));
  EXPECT_TRUE(arrays.check("N == max(N, 1)")->holds);
}

TEST(Expect, LongIntegersAreExact) {
  Array big = *Array::zeros(DType::Int64, {1});
  big.set_int(0, (std::int64_t{1} << 53) + 1);
  Array next = big;
  next.set_int(0, (std::int64_t{1} << 53) + 2);
  Array top = *Array::zeros(DType::Uint64, {1});
  top.set_bits(0, ~std::uint64_t{0});
  Arrays arrays;
  arrays.add("a", big).add("b", next).add("t", top);
  EXPECT_TRUE(arrays.check("b == a + 1")->holds);
  EXPECT_FALSE(arrays.check("b == a")->holds);
  EXPECT_FALSE(arrays.check("b ~= a")->holds);
  EXPECT_TRUE(arrays.check("t == max(t, 1)")->holds);
  EXPECT_TRUE(arrays.check("t == 0 - 1")->holds);  // modulo 2^64
  EXPECT_EQ(arrays.check("t == 0")->first[0].seen, "18446744073709551615");
  EXPECT_EQ(arrays.check("t == 0")->max_error, 0x1p64);
}

TEST(Expect, IntegerProductsWrapLikeTheDevice) {
  Arrays arrays;
  arrays.add("A", *make_array(DType::Int8, {5, 70}, "randint:-128,128,1"));
  arrays.add("B", *make_array(DType::Int8, {70, 3}, "randint:-128,128,2"));
  Array product = *Array::zeros(DType::Int8, {5, 3});
  const Array a = *make_array(DType::Int8, {5, 70}, "randint:-128,128,1");
  const Array b = *make_array(DType::Int8, {70, 3}, "randint:-128,128,2");
  for (std::int64_t i = 0; i < 5; ++i)
    for (std::int64_t j = 0; j < 3; ++j) {
      std::int64_t sum = 0;
      for (std::int64_t k = 0; k < 70; ++k) sum += a.get_int(i * 70 + k) * b.get_int(k * 3 + j);
      product.set_int(i * 3 + j, sum);
    }
  arrays.add("C", product);
  EXPECT_TRUE(arrays.check("C == A @ B")->holds);
  EXPECT_TRUE(arrays.check("C ~= A @ B")->holds);
}

TEST(Expect, ProductsOfAllSmallShapes) {
  for (const std::int64_t m : {1, 2, 7})
    for (const std::int64_t n : {1, 5, 300})
      for (const std::int64_t k : {1, 3, 66}) {
        Arrays arrays;
        const Array a = *make_array(DType::Float16, {m, k}, "randint:-8,8,1");
        const Array b = *make_array(DType::Float16, {k, n}, "randint:-8,8,2");
        Array c = *Array::zeros(DType::Float32, {m, n});
        for (std::int64_t i = 0; i < m * n; ++i) {
          double sum = 0;
          for (std::int64_t l = 0; l < k; ++l) sum += a.get(i / n * k + l) * b.get(l * n + i % n);
          c.set(i, sum);
        }
        arrays.add("A", a).add("B", b).add("C", c);
        const auto result = arrays.check("C == A @ B");
        EXPECT_TRUE(result && result->holds) << m << " " << n << " " << k;
      }
}

TEST(Expect, BatchedProductsBroadcastTheirBatches) {
  Arrays arrays = small_arrays();
  arrays.add("S", array_of(DType::Float32, {2, 2, 3}, {1, 2, 3, 4, 5, 6, 2, 4, 6, 8, 10, 12}));
  arrays.add("SB", array_of(DType::Float32, {2, 2, 2}, {-1, 7, -1, 16, -2, 14, -2, 32}));
  arrays.add("ST", array_of(DType::Float32, {2, 3, 2}, {1, 4, 2, 5, 3, 6, 2, 8, 4, 10, 6, 12}));
  for (const char* text : {"SB == S @ B", "ST == S.T", "SB == (B.T @ ST).T"}) {
    const auto result = arrays.check(text);
    ASSERT_TRUE(result) << text << ": " << result.error().text;
    EXPECT_TRUE(result->holds) << result->text;
  }
}

TEST(DefaultTolerance, FollowsTheMantissa) {
  EXPECT_EQ(default_rtol(DType::Float64), 1e-9);
  EXPECT_EQ(default_rtol(DType::Float32), 1e-4);
  EXPECT_EQ(default_rtol(DType::Float16), 0x1p-10);
  EXPECT_EQ(default_rtol(DType::Tfloat32), 0x1p-10);
  EXPECT_EQ(default_rtol(DType::Bfloat16), 0x1p-7);
  EXPECT_EQ(default_rtol(DType::Float8E4M3fn), 0x1p-3);
  EXPECT_EQ(default_rtol(DType::Float6E3M2fn), 0x1p-2);
  EXPECT_EQ(default_rtol(DType::Float4E2M1fn), 0.5);
  EXPECT_EQ(default_rtol(DType::Float8E8M0), 0.5);
  EXPECT_EQ(default_rtol(DType::Int32), 0);
}

TEST(Expectation, NamesItsArraysOnce) {
  const auto expectation = parse_expectation("D ~= max(A, $1) @ B + A - D");
  ASSERT_TRUE(expectation) << expectation.error().text;
  EXPECT_EQ(expectation->names(), (std::vector<std::string>{"D", "A", "$1", "B"}));
  // Parameters of a PTX kernel have any names.
  const auto words = parse_expectation("out == in[:4] + lambda * before(not)");
  ASSERT_TRUE(words) << words.error().text;
  EXPECT_EQ(words->names(), (std::vector<std::string>{"out", "in", "lambda", "not"}));
}

struct BadCase {
  std::string text;
  DiagKind kind;
  Span span;
  std::string message;
};

void expect_refused(const std::vector<BadCase>& cases) {
  const Arrays arrays = small_arrays();
  for (const auto& [text, kind, span, message] : cases) {
    const auto result = arrays.check(text);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().text, message) << text;
    EXPECT_EQ(result.error().kind, kind) << text;
    EXPECT_EQ(result.error().span, span)
        << text << ": " << result.error().span.begin << " " << result.error().span.end;
  }
}

TEST(Expect, BadNotation) {
  expect_refused({
      {"", DiagKind::Syntax, Span::at(0, 0), "found the end of the text, expected an expression"},
      {"A", DiagKind::Syntax, Span::at(1, 1), "found the end of the text, expected `==` or `~=`"},
      {"A = B", DiagKind::Syntax, Span::at(2, 3), "found `=`, expected `==` or `~=`"},
      {"A == ", DiagKind::Syntax, Span::at(5, 5),
       "found the end of the text, expected an expression"},
      {"A == B C", DiagKind::Syntax, Span::at(7, 8),
       "found `C`, expected an operator or the end of the text"},
      {"A == (B", DiagKind::Syntax, Span::at(7, 7), "found the end of the text, expected `)`"},
      {"A == B.x", DiagKind::Syntax, Span::at(7, 8), "found `x`, expected `T` after the dot"},
      {"A == $", DiagKind::Syntax, Span::at(5, 6),
       "found `$`, which has no meaning outside a string"},
      {"A == \xC3\xA9", DiagKind::UnknownName, Span::at(5, 7), "no array is called `\xC3\xA9`"},
      {"A == 1.2.3", DiagKind::Syntax, Span::at(8, 10),
       "found `.3`, expected an operator or the end of the text"},
      {"A == 2x", DiagKind::Syntax, Span::at(5, 7),
       "found `2x`, which is neither a number nor a name"},
      {"A == max(A", DiagKind::Syntax, Span::at(10, 10), "found the end of the text, expected `)`"},
      {"A == max()", DiagKind::BadArgument, Span::at(5, 10),
       "`max` has 0 arguments; it takes one or two"},
      {"A == f16(A, B)", DiagKind::BadArgument, Span::at(5, 14),
       "`f16` has 2 arguments; it takes one"},
      {"A == asb(A)", DiagKind::UnknownName, Span::at(5, 8),
       "`asb` is neither a function nor an element type; did you mean `abs`?"},
      {"A ~= A within", DiagKind::Syntax, Span::at(13, 13), "`` is not a number"},
      {"A ~= A within -1", DiagKind::BadArgument, Span::at(14, 16),
       "the tolerance is -1; it must be at least 0"},
      {"A == A within 1", DiagKind::BadArgument, Span::at(14, 15),
       "`==` allows no difference; a tolerance needs `~=`"},
      {"A == A within rtol=1", DiagKind::BadArgument, Span::at(14, 20),
       "`==` allows no difference; a tolerance needs `~=`"},
      {"A ~= A within rtol=1, rtol=2", DiagKind::BadArgument, Span::at(22, 26),
       "`rtol` is given twice"},
      {"A ~= A within rtol 1", DiagKind::Syntax, Span::at(14, 20),
       "found `rtol 1`, expected `rtol=X` or `atol=X`"},
      {"A ~= A within rtol=1, 2", DiagKind::Syntax, Span::at(22, 23),
       "found `2`, expected `rtol=X` or `atol=X`"},
      {"A ~= A within atol=x", DiagKind::Syntax, Span::at(19, 20), "`x` is not a number"},
      {"A ~= A within atol=-1", DiagKind::BadArgument, Span::at(19, 21),
       "the tolerance is -1; it must be at least 0"},
      {"A == " + std::string(300, '('), DiagKind::TooLarge, Span::at(206, 207),
       "the expression is nested deeper than 200 levels"},
      {"A == " + std::string(300, '-') + "A", DiagKind::TooLarge, Span::at(205, 206),
       "the expression is nested deeper than 200 levels"},
  });
}

TEST(Expect, BadValues) {
  expect_refused({
      {"A == a", DiagKind::UnknownName, Span::at(5, 6),
       "no array is called `a`; did you mean `A`?"},
      {"A == Avv", DiagKind::UnknownName, Span::at(5, 8),
       "no array is called `Avv`; did you mean `Av`?"},
      {"A == $7", DiagKind::UnknownName, Span::at(5, 7),
       "no array is called `$7`; did you mean `$0`?"},
      {"A == A + B", DiagKind::BadArgument, Span::at(5, 10),
       "the shapes [2,3] and [3,2] do not go together"},
      {"A == B", DiagKind::BadArgument, Span::at(5, 6),
       "the shape [3,2] cannot be broadcast to [2,3]"},
      {"v == A", DiagKind::BadArgument, Span::at(5, 6),
       "the shape [2,3] cannot be broadcast to [3]"},
      {"P == 1 + A @ A", DiagKind::BadArgument, Span::at(9, 14),
       "the shapes [2,3] and [2,3] have no matrix product: the inner extents are 3 and 2"},
      {"P == A @ 2", DiagKind::BadArgument, Span::at(5, 10),
       "the shapes [2,3] and [] have no matrix product: a number is not a matrix"},
      {"A + B.T == A", DiagKind::BadArgument, Span::at(0, 7),
       "the left side `A + B.T` has no element type to compare in"},
      {"1 == A", DiagKind::BadArgument, Span::at(0, 1),
       "the left side `1` has no element type to compare in"},
      {"v == sum(A, 2)", DiagKind::BadArgument, Span::at(5, 14),
       "the shape [2,3] has no dimension 2"},
      {"v == sum(A, v)", DiagKind::BadArgument, Span::at(12, 13),
       "the dimension is `v`; expected 0, 1, ..."},
  });
}

TEST(Expect, BadBatchesAndSizes) {
  Arrays arrays = small_arrays();
  arrays.add("E", *Array::zeros(DType::Float32, {0}));
  arrays.add("R", *Array::zeros(DType::Int8, {1, 65536}));
  arrays.add("S", *Array::zeros(DType::Float32, {2, 3, 3}));
  arrays.add("U", *Array::zeros(DType::Float32, {4, 3, 3}));
  EXPECT_TRUE(arrays.check("E == E + 1")->holds);
  EXPECT_EQ(arrays.check("E == max(E)").error().text,
            "the shape [0] has no largest or smallest element");
  EXPECT_EQ(arrays.check("S == S @ U").error().text,
            "the shapes [2,3,3] and [4,3,3] have no matrix product: their leading dimensions "
            "differ");
  for (const char* text : {"R == R + R.T", "R == R.T @ R"}) {
    const auto result = arrays.check(text);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().kind, DiagKind::TooLarge);
    EXPECT_EQ(result.error().text,
              "a value of shape [65536,65536] has 4294967296 elements; there may be at most "
              "8388608");
  }
}

// Small arrays, large values: each could stay, all of them together do not.
TEST(Expect, ValuesThatWaitAreBounded) {
  Arrays arrays;
  arrays.add("R", *Array::zeros(DType::Int8, {1, 2048}));
  arrays.add("C", *Array::zeros(DType::Int8, {2048, 1}));
  std::string text = "R == sum(R";
  for (int i = 0; i < 20; ++i) text += " + (R * C";
  text += std::string(21, ')');
  const auto result = arrays.check(text);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, DiagKind::TooLarge);
  EXPECT_THAT(result.error().text, testing::HasSubstr("the values that wait"));
  EXPECT_TRUE(arrays.check("R == sum(R * C + R * C + R * C + R * C, 0)")->holds);
}

// What happens to lie there is no value, not even the right one.
TEST(ExpectUnwritten, EqualsNothing) {
  Arrays arrays;
  arrays.add("A", array_of(DType::Int32, {4}, {1, 2, 3, 4}));
  arrays.add("B", array_of(DType::Int32, {4}, {1, 2, 3, 4}), {true, false, true, true});
  const ExpectResult left = arrays.check_written("B == A").value();
  EXPECT_FALSE(left.holds);
  EXPECT_EQ(left.mismatches, 1);
  EXPECT_EQ(left.unwritten, 1);
  EXPECT_EQ(left.text,
            "`B == A` fails for 1 of 4 elements, all of them never written\n"
            "  [1]: never written, wanted 2");
  EXPECT_EQ(arrays.check_written("A == B").value().text,
            "`A == B` fails for 1 of 4 elements, all of them never written\n"
            "  [1]: seen 2, wanted what was never written");
  EXPECT_EQ(arrays.check_written("B == 2 * A").value().text,
            "`B == 2 * A` fails for 4 of 4 elements, 1 of them never written, largest error 4 at "
            "[3]\n"
            "  [0]: seen 1, wanted 2\n"
            "  [1]: never written, wanted 4\n"
            "  [2]: seen 3, wanted 6\n"
            "  [3]: seen 4, wanted 8");
  arrays.add("B", array_of(DType::Int32, {4}, {1, 2, 3, 4}), {true, true, true, true});
  EXPECT_TRUE(arrays.check_written("B == A").value().holds);
}

}  // namespace
}  // namespace ww::driver::expect_expect_test
