// SPDX-License-Identifier: Apache-2.0
// `~=` without `within`: what kernels compute rightly passes, in every type and at every magnitude,
// and faults of the usual kinds do not.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/args/array_spec.h"
#include "driver/expect/expect.h"

namespace ww::driver::expect_tolerance_test {
namespace {

using num::DType;
using Values = std::vector<float>;

constexpr std::int64_t kRows = 24;
constexpr std::int64_t kColumns = 24;

// Inputs and a result, by name.
using Arrays = std::map<std::string, Array, std::less<>>;

ExpectResult check(const Arrays& arrays, std::string_view text) {
  const FindArray find = [&](std::string_view name) -> const Array* {
    const auto found = arrays.find(name);
    return found == arrays.end() ? nullptr : &found->second;
  };
  return check_expectation(text, find).value();
}

Array rounded_to(DType type, const Array& like, const Values& values) {
  Array out = *Array::zeros(type, like.shape);
  for (std::size_t i = 0; i < values.size(); ++i) out.set(static_cast<std::int64_t>(i), values[i]);
  return out;
}

Values values_of(const Array& array) {
  Values out;
  for (std::int64_t i = 0; i < array.size(); ++i) out.push_back(static_cast<float>(array.get(i)));
  return out;
}

// What a kernel computes: in float32, rounded to the type of the result at the end.
struct Subject {
  std::string name;
  std::string expectation;
  Arrays inputs;
  Array result;
};

Array scaled(DType type, std::vector<std::int64_t> shape, const char* spec, double factor) {
  Array out = *make_array(type, std::move(shape), spec);
  for (std::int64_t i = 0; i < out.size(); ++i) out.set(i, out.get(i) * factor);
  return out;
}

// Sums in the order of k, as tensor cores have it: 16 products at a time.
Subject product(DType in, DType out, std::int64_t k, double factor) {
  const Array a = scaled(in, {kRows, k}, "randn:1", factor);
  const Array b = scaled(in, {k, kColumns}, "randn:2", 1);
  const Values x = values_of(a);
  const Values y = values_of(b);
  Values d(static_cast<std::size_t>(kRows * kColumns));
  const auto n = static_cast<std::size_t>(kColumns);
  const auto depth = static_cast<std::size_t>(k);
  for (std::size_t i = 0; i < d.size(); ++i)
    for (std::size_t at = 0; at < depth; ++at) d[i] += x[i / n * depth + at] * y[at * n + i % n];
  Array result = *Array::zeros(out, {kRows, kColumns});
  result = rounded_to(out, result, d);
  return {fmt::format("product of {} x {}", k, factor), "D ~= A @ B", {{"A", a}, {"B", b}}, result};
}

// Rows that add up to 1: the more columns, the smaller.
Subject softmax(DType type, std::int64_t columns) {
  const Array a = *make_array(type, {kRows, columns}, "randn:3");
  Values x = values_of(a);
  const auto n = static_cast<std::size_t>(columns);
  for (std::size_t row = 0; row < x.size(); row += n) {
    float sum = 0;
    for (std::size_t i = row; i < row + n; ++i) sum += x[i] = std::exp(x[i]);
    for (std::size_t i = row; i < row + n; ++i) x[i] /= sum;
  }
  return {fmt::format("softmax of {}", columns),
          "D ~= (exp(A).T / sum(exp(A), 1)).T",
          {{"A", a}},
          rounded_to(type, a, x)};
}

// Rows of mean 0 and variance 1; elements near the mean nearly cancel.
Subject normalized(DType type, std::int64_t columns) {
  const Array a = *make_array(type, {kRows, columns}, "rand:1,3,4");
  Values x = values_of(a);
  const auto n = static_cast<std::size_t>(columns);
  for (std::size_t row = 0; row < x.size(); row += n) {
    float mean = 0;
    float square = 0;
    for (std::size_t i = row; i < row + n; ++i) mean += x[i] / static_cast<float>(n);
    for (std::size_t i = row; i < row + n; ++i)
      square += (x[i] - mean) * (x[i] - mean) / static_cast<float>(n);
    for (std::size_t i = row; i < row + n; ++i) x[i] = (x[i] - mean) / std::sqrt(square);
  }
  const std::string centred = fmt::format("(A.T - sum(A, 1)/{})", columns);
  return {fmt::format("normalized {}", columns),
          fmt::format("D ~= ({0} / sqrt(sum(({0} * {0}).T, 1)/{1})).T", centred, columns),
          {{"A", a}},
          rounded_to(type, a, x)};
}

// Half of it exact zeros.
Subject clipped(DType type, double factor) {
  const Array a = scaled(type, {kRows, kColumns}, "randn:5", factor);
  Values x = values_of(a);
  for (float& each : x) each = std::max(each, 0.0F) * 1.7F;
  return {fmt::format("clipped x {}", factor),
          "D ~= max(A, 0) * 1.7",
          {{"A", a}},
          rounded_to(type, a, x)};
}

std::vector<Subject> subjects(DType type) {
  std::vector<Subject> out;
  for (const std::int64_t k : {16, 256, 4096}) out.push_back(product(DType::Float16, type, k, 1));
  out.push_back(product(DType::Float32, type, 64, 1e-3));
  out.push_back(product(DType::Float32, type, 64, 50));
  for (const std::int64_t columns : {64, 4096}) out.push_back(softmax(type, columns));
  out.push_back(normalized(type, 256));
  for (const double factor : {1e-3, 1.0, 1e3}) out.push_back(clipped(type, factor));
  return out;
}

bool holds(const Subject& subject, const Array& result) {
  Arrays arrays = subject.inputs;
  arrays.insert_or_assign("D", result);
  return check(arrays, subject.expectation).holds;
}

class DefaultTolerance : public testing::TestWithParam<DType> {};

TEST_P(DefaultTolerance, RightResultsPass) {
  for (const Subject& subject : subjects(GetParam())) {
    Arrays arrays = subject.inputs;
    arrays.insert_or_assign("D", subject.result);
    const ExpectResult result = check(arrays, subject.expectation);
    EXPECT_TRUE(result.holds) << subject.name << ": " << result.text;
  }
}

TEST_P(DefaultTolerance, FaultsDoNot) {
  const DType type = GetParam();
  for (const Subject& subject : subjects(type)) {
    const Values right = values_of(subject.result);
    const auto is_found = [&](Values values) {
      return !holds(subject, rounded_to(type, subject.result, values));
    };
    EXPECT_TRUE(is_found(Values(right.size()))) << subject.name << ": zeros";
    double mean = 0;
    for (const float each : right) mean += std::fabs(each) / static_cast<double>(right.size());
    Values one = right;
    one[right.size() / 2] += static_cast<float>(mean);
    EXPECT_TRUE(is_found(one)) << subject.name << ": one wrong element";
    Values swapped = right;
    std::swap(swapped[0], swapped[1]);
    const bool differ = std::fabs(right[0] - right[1]) > mean;
    EXPECT_TRUE(!differ || is_found(swapped)) << subject.name << ": two elements exchanged";
    Values larger = right;
    for (float& each : larger) each *= 1.01F;
    EXPECT_TRUE(is_found(larger)) << subject.name << ": scaled by 1.01";
    Values negative = right;
    for (float& each : negative) each = -each;
    EXPECT_TRUE(is_found(negative)) << subject.name << ": the other sign";
    if (subject.result.shape[0] != subject.result.shape[1]) continue;
    Values turned = right;
    for (std::size_t i = 0; i < right.size(); ++i)
      turned[i] = right[i % kColumns * kColumns + i / kColumns];
    EXPECT_TRUE(is_found(turned)) << subject.name << ": transposed";
  }
}

INSTANTIATE_TEST_SUITE_P(Types, DefaultTolerance,
                         testing::Values(DType::Float16, DType::Bfloat16, DType::Float32),
                         [](const auto& each) { return std::string(num::name_of(each.param)); });

// Types in which 1.01 is not a number: zeros and large faults are found all the same.
TEST(NarrowTypes, ZerosNeverPass) {
  for (const DType type : {DType::Float8E4M3fn, DType::Float8E5M2, DType::Float6E2M3fn,
                           DType::Float6E3M2fn, DType::Float4E2M1fn}) {
    for (const char* spec : {"randn", "ones", "full:0.5", "rand"}) {
      Array wanted = *make_array(type, {64}, spec);
      Arrays arrays = {{"W", wanted}, {"D", *Array::zeros(type, {64})}};
      EXPECT_FALSE(check(arrays, "D ~= W").holds) << num::name_of(type) << " " << spec;
      arrays.insert_or_assign("D", wanted);
      EXPECT_TRUE(check(arrays, "D ~= W").holds) << num::name_of(type) << " " << spec;
    }
  }
}

// The smallest numbers of a type are as far apart as they are large: one step is allowed between
// larger ones, and none where there is nothing larger.
TEST(SmallNumbers, OneStepIsAllowed) {
  const double step = 0x1p-24;
  Array wanted = *Array::zeros(DType::Float16, {2});
  wanted.set(0, 1e-3);
  wanted.set(1, 5 * step);
  Array seen = wanted;
  seen.set(1, 6 * step);
  EXPECT_TRUE(check({{"W", wanted}, {"D", seen}}, "D ~= W").holds);
  EXPECT_FALSE(
      check({{"D", *Array::zeros(DType::Float16, {4})}}, fmt::format("D ~= {} + 0*D", step)).holds);
}

TEST(Zeros, AreExact) {
  Array seen = *Array::zeros(DType::Float32, {4});
  EXPECT_TRUE(check({{"D", seen}}, "D ~= 0").holds);
  seen.set(2, 1e-30);
  EXPECT_FALSE(check({{"D", seen}}, "D ~= 0").holds);
  EXPECT_TRUE(check({{"D", seen}}, "D ~= 0 within atol=1e-20").holds);
}

// A value that is not finite has no part in what is allowed for the others.
TEST(DataTolerance, TakesFiniteValuesOnly) {
  Array wanted = *make_array(DType::Float32, {4}, "ones");
  wanted.set(0, std::numeric_limits<double>::infinity());
  wanted.set(1, std::nan(""));
  const Tolerance tolerance = default_tolerance(wanted);
  EXPECT_EQ(tolerance.rtol, 1e-4);
  EXPECT_EQ(tolerance.atol, 0.25e-4);
}

}  // namespace
}  // namespace ww::driver::expect_tolerance_test
