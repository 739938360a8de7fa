// SPDX-License-Identifier: Apache-2.0
// Columns of B that count as zero: the examples of the manual, and products with them.
#include "sim/ops/tcgen05_zero_columns.h"

#include "sim/ops/test_tensor_product.h"

namespace ww::sim::tcgen05_mma_test {
namespace {

struct Fields {
  std::array<unsigned, 4> start{};
  std::array<bool, 4> starts_with_zeros{};
  unsigned zeros = 3, used = 4, shift = 0;
  bool has_zeros = true;

  [[nodiscard]] std::uint64_t bits() const {
    std::uint64_t out = std::uint64_t{has_zeros} << 39U | std::uint64_t{zeros - 1} << 40U |
                        std::uint64_t{used - 1} << 48U | std::uint64_t{shift} << 56U;
    for (unsigned i = 0; i < 4; ++i)
      out |= std::uint64_t{start[i]} << (8 * i) | std::uint64_t{starts_with_zeros[i]} << (32 + i);
    return out;
  }
};

/// 1 for each column that is zero, from the first on.
std::string mask_of(const Fields& fields, unsigned m, unsigned n, unsigned part) {
  const std::vector<unsigned> columns = ZeroColumns(fields.bits(), m, n).columns();
  std::string text;
  for (unsigned i = 0; i < 14; ++i)
    text += columns[part * (n * m / 128) + i] == ZeroColumns::kZero ? '1' : '0';
  return text;
}

TEST(ZeroColumns, FollowTheExamplesOfTheManual) {
  EXPECT_EQ(mask_of({.has_zeros = false}, 128, 64, 0), "00000000000000");
  EXPECT_EQ(mask_of({}, 128, 64, 0), "00001110000111");
  const Fields two{.starts_with_zeros = {true, false}};
  EXPECT_EQ(mask_of(two, 64, 64, 0), "11100001110000");
  EXPECT_EQ(mask_of(two, 64, 64, 1), "00001110000111");
  const Fields four{
      .start = {0, 1, 2, 1}, .starts_with_zeros = {true, true, false, false}, .shift = 2};
  EXPECT_EQ(mask_of(four, 32, 128, 0), "11100001110000");
  EXPECT_EQ(mask_of(four, 32, 128, 1), "11000011100001");
  EXPECT_EQ(mask_of(four, 32, 128, 2), "00111000011100");
  EXPECT_EQ(mask_of(four, 32, 128, 3), "00011100001110");
  const std::vector<unsigned> columns = ZeroColumns(four.bits(), 32, 128).columns();
  EXPECT_EQ(columns[3], 5U);
  EXPECT_EQ(columns[126], 128U);
}

// A pattern of columns, from `first` on, for each part.
std::vector<bool> repeated(unsigned n, const std::vector<std::string>& parts) {
  std::vector<bool> out;
  const auto each = n / static_cast<unsigned>(parts.size());
  for (const std::string& part : parts)
    for (unsigned i = 0; i < each; ++i) out.push_back(part[i % part.size()] == '1');
  return out;
}

Case stationary(const Types& types, unsigned m, const Fields& fields) {
  Case c = make_case(types, m, 64);
  c.spec.is_ws = true;
  c.spec.has_zero_columns = true;
  c.spec.columns = 64;
  c.spec.image_bytes = 32768;
  c.zero_columns = fields.bits();
  c.column_shift = fields.shift;
  c.is.max_shift = fields.shift == 0 ? 0 : 1;
  return c;
}

TEST(ZeroColumns, AreLeftOutOfProducts) {
  for (const Types& types : {kTypes[0], kTypes[3], kTypes[4], kTypes[7]}) {
    Case c = stationary(types, 128, {.start = {1}});
    c.is_zero = repeated(64, {"0001110"});
    check(c);
    c = stationary(types, 64, {.start = {2, 0}, .starts_with_zeros = {true, false}, .shift = 8});
    c.is_zero = repeated(64, {"1000011", "0000111"});
    c.swizzle_b = kSwizzles[1];
    check(c);
    c = stationary(types, 32, {.shift = 3, .has_zeros = false});
    c.swizzle_b = kSwizzles[2];
    check(c);
  }
}

TEST(ZeroColumns, AreLeftOutOfSparseProducts) {
  Case c = stationary(kTypes[0], 64, {});
  c.is_zero = repeated(64, {"0000111", "0000111"});
  c.spec.is_sparse = c.is.is_sparse = true;
  c.spec.metadata_column = 40;
  check(c);
}

// --- planted faults ------------------------------------------------------------------------------

void expect_found(const Case& c, std::string_view text) {
  const std::string found = ProductUnderTest(c).found_with({0, 0, 0}, 0);
  EXPECT_NE(found.find(text), std::string::npos) << found;
}

TEST(ZeroColumns, DescriptorsAreChecked) {
  Case c = stationary(kTypes[0], 64, {});
  c.zero_columns |= std::uint64_t{1} << 37U;
  expect_found(c,
               "the descriptor of zero columns is 0x000302a000000000: bits 0x0000002000000000 "
               "are set, which must be 0");
  c = stationary(kTypes[0], 32, {.shift = 17});
  expect_found(c, "a shift by 17; with M = 32 it is at most 16");
  c = stationary(kTypes[0], 64, {.shift = 9});
  expect_found(c, "a shift by 9; the instruction descriptor allows 8");
}

TEST(ZeroColumns, WhatIsNotSettledIsRefused) {
  expect_found(stationary(kTypes[0], 64, {.start = {4}}),
               "a product whose zero columns skip a whole span is not modelled");
  Case c = stationary(kTypes[0], 64, {});
  c.is.b_is_mn_major = true;
  expect_found(c, "a product with zero columns of a B that is MN-major is not modelled");
}

}  // namespace
}  // namespace ww::sim::tcgen05_mma_test
