// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <vector>

#include "layout/banks.h"
#include "layout/image.h"
#include "layout/ready_made.h"
#include "layout/text.h"

namespace ww::layout::shared_memory_test {
namespace {

constexpr std::array kSwizzled = {SwizzleMode::B32, SwizzleMode::B64, SwizzleMode::B128};
constexpr std::array kBits = {4, 8, 16, 32, 64};

std::int64_t width_bytes(SwizzleMode mode) {
  return mode == SwizzleMode::B128  ? 128
         : mode == SwizzleMode::B64 ? 64
         : mode == SwizzleMode::B32 ? 32
                                    : 16;
}

// The pattern as the TMA describes it, on byte addresses: address bits 4 and up exchange with bits
// 7 and up.
std::int64_t hardware_byte(SwizzleMode mode, std::int64_t byte) {
  switch (mode) {
    case SwizzleMode::None:
      return byte;
    case SwizzleMode::B32:
      return byte ^ ((byte >> 7 & 1) << 4);
    case SwizzleMode::B64:
      return byte ^ ((byte >> 7 & 3) << 4);
    case SwizzleMode::B128:
      return byte ^ ((byte >> 7 & 7) << 4);
  }
  return -1;
}

std::vector<std::int64_t> addresses(const Layout& layout) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(layout.size()));
  enumerate_axis(layout, axes::m(), out);
  return out;
}

TEST(MmaAtom, ShapesAndPeriods) {
  struct Row {
    int bits;
    int per_element;
    std::array<std::int64_t, 3> columns;
    std::array<std::int64_t, 3> periods;
  };
  const std::vector<Row> rows = {
      {4, 5, {64, 128, 256}, {512, 1024, 2048}}, {8, 4, {32, 64, 128}, {256, 512, 1024}},
      {16, 3, {16, 32, 64}, {128, 256, 512}},    {32, 2, {8, 16, 32}, {64, 128, 256}},
      {64, 1, {4, 8, 16}, {32, 64, 128}},
  };
  for (const auto& [bits, per_element, columns, periods] : rows)
    for (std::size_t i = 0; i < kSwizzled.size(); ++i) {
      const Swizzle swizzle = *swizzle_for(kSwizzled[i], bits);
      EXPECT_EQ(swizzle, Swizzle::make(per_element, static_cast<int>(i) + 1, 3).value());
      EXPECT_EQ(swizzle.period(), periods[i]);
      EXPECT_EQ(*mma_atom_shape(kSwizzled[i], bits), (Shape{8, columns[i]}));
      const Layout atom = *mma_atom(kSwizzled[i], bits);
      EXPECT_EQ(atom.size(), periods[i]);
      EXPECT_EQ(atom.size() * bits / 8, 8 * width_bytes(kSwizzled[i]));
      EXPECT_TRUE(image_facts(atom).value().is_onto_box);
    }
}

TEST(MmaAtom, CoreMatrixWithoutSwizzle) {
  EXPECT_TRUE(swizzle_for(SwizzleMode::None, 16).value().is_none());
  EXPECT_EQ(to_text(*mma_atom(SwizzleMode::None, 16)), "S[64:1]");
  EXPECT_EQ(*mma_atom_shape(SwizzleMode::None, 8), (Shape{8, 16}));
}

TEST(SwizzleMode, Names) {
  for (const SwizzleMode mode :
       {SwizzleMode::None, SwizzleMode::B32, SwizzleMode::B64, SwizzleMode::B128})
    EXPECT_EQ(swizzle_mode(name_of(mode)).value(), mode);
  const auto bad = swizzle_mode("256B");
  EXPECT_EQ(bad.error().kind, DiagKind::BadArgument);
  EXPECT_NE(bad.error().text.find("none, 32B, 64B, 128B"), std::string::npos);
}

TEST(MmaShared, Spelling) {
  struct Row {
    Shape shape;
    SwizzleMode mode;
    int bits;
    Layout expected;
  };
  const auto swizzled = [](std::string_view tile, int per_element, int len) {
    const Swizzle swizzle = Swizzle::make(per_element, len, 3).value();
    return Layout::make(parse_layout(tile).value().tile(), swizzle).value();
  };
  const std::vector<Row> rows = {
      {{64, 256}, SwizzleMode::B128, 16, swizzled("S[(64,4,64):(64,4096,1)]", 3, 3)},
      {{3, 64, 256}, SwizzleMode::B64, 16, swizzled("S[(3,64,8,32):(16384,32,2048,1)]", 3, 2)},
      {{3, 64, 256}, SwizzleMode::B128, 8, swizzled("S[(3,64,2,128):(16384,128,8192,1)]", 4, 3)},
      {{3, 64, 256}, SwizzleMode::B128, 32, swizzled("S[(3,64,8,32):(16384,32,2048,1)]", 2, 3)},
      {{3, 64, 256}, SwizzleMode::B128, 4, swizzled("S[49152:1]", 5, 3)},
      {{64, 64}, SwizzleMode::B32, 16, swizzled("S[(64,4,16):(16,1024,1)]", 3, 1)},
      {{64, 256}, SwizzleMode::None, 16, swizzled("S[(64,32,8):(8,512,1)]", 0, 0)},
      {{2, 64, 256}, SwizzleMode::None, 16, swizzled("S[(2,64,32,8):(16384,8,512,1)]", 0, 0)},
      {{64, 4}, SwizzleMode::None, 16, swizzled("S[256:1]", 0, 0)},
      {{2, 3, 8, 16}, SwizzleMode::B128, 64, swizzled("S[768:1]", 1, 3)},
      {{2, 3, 8, 32}, SwizzleMode::B128, 64, swizzled("S[(6,8,2,16):(256,16,128,1)]", 1, 3)},
  };
  for (const auto& [shape, mode, bits, expected] : rows) {
    const auto layout = mma_shared(shape, mode, bits);
    ASSERT_TRUE(layout) << layout.error().text;
    EXPECT_EQ(to_text(*layout), to_text(expected));
  }
}

TEST(MmaShared, HardwareAddresses) {
  // With the byte offsets that a descriptor states for K-major operands: eight rows of one width
  // together, then the rows, then the next width along K; the pattern XORed onto the address.
  for (const SwizzleMode mode :
       {SwizzleMode::None, SwizzleMode::B32, SwizzleMode::B64, SwizzleMode::B128})
    for (const int bits : kBits) {
      const std::int64_t bytes = width_bytes(mode);
      const std::int64_t rows = 24;
      const std::int64_t k = 3 * bytes * 8 / bits;
      const Layout layout = *mma_shared(Shape{2, rows, k}, mode, bits);
      const std::vector<std::int64_t> seen = addresses(layout);
      std::size_t x = 0;
      for (std::int64_t batch = 0; batch < 2; ++batch)
        for (std::int64_t r = 0; r < rows; ++r)
          for (std::int64_t c = 0; c < k; ++c, ++x) {
            const std::int64_t kb = c * bits / 8;
            const std::int64_t byte = batch * rows * 3 * bytes + kb / bytes * (rows * bytes) +
                                      r / 8 * (8 * bytes) + r % 8 * bytes + kb % bytes;
            ASSERT_EQ(seen[x] * bits / 8, hardware_byte(mode, byte))
                << name_of(mode) << " " << bits;
            if (bits == 4) {
              ASSERT_EQ(seen[x] % 2, c % 2);
            }
          }
      const ImageFacts facts = image_facts(layout).value();
      EXPECT_TRUE(facts.is_injective && facts.is_onto_box);
    }
}

TEST(MmaShared, BankExamples) {
  const auto column = [](SwizzleMode mode, std::int64_t k) {
    const std::vector<std::int64_t> all = addresses(*mma_shared(Shape{8, k}, mode, 16));
    std::vector<std::int64_t> out;
    for (std::size_t r = 0; r < 8; ++r) out.push_back(all[r * static_cast<std::size_t>(k)]);
    return out;
  };
  using List = std::vector<std::int64_t>;
  EXPECT_EQ(column(SwizzleMode::B128, 64), (List{0, 72, 144, 216, 288, 360, 432, 504}));
  EXPECT_EQ(column(SwizzleMode::B64, 32), (List{0, 32, 72, 104, 144, 176, 216, 248}));
  EXPECT_EQ(column(SwizzleMode::B32, 16), (List{0, 16, 32, 48, 72, 88, 104, 120}));
  const std::int64_t address =
      addresses(*mma_shared(Shape{8, 64}, SwizzleMode::B128, 16))[3 * 64 + 17];
  EXPECT_EQ(address, 201);
  EXPECT_EQ(bank_place(address, 16).bank, 4);
  EXPECT_EQ(bank_place(address, 16).line, 3);
}

// Banks touched by eight rows of the 16 bytes at column c.
std::size_t banks_of_column(const std::vector<std::int64_t>& all, std::int64_t k, std::int64_t c,
                            int bits) {
  std::set<int> banks;
  for (std::int64_t r = 0; r < 8; ++r)
    for (std::int64_t j = 0; j < 128 / bits; ++j) {
      const int first = bank_place(all[static_cast<std::size_t>(r * k + c + j)], bits).bank;
      banks.insert(first);
      if (bits == 64) banks.insert(first + 1);
    }
  return banks.size();
}

TEST(MmaShared, AnyEightRowsOfSixteenBytesTouchAllBanks) {
  for (const SwizzleMode mode : kSwizzled)
    for (const int bits : kBits) {
      const std::int64_t k = width_bytes(mode) * 8 / bits;
      const std::vector<std::int64_t> all = addresses(*mma_shared(Shape{8, k}, mode, bits));
      for (std::int64_t c = 0; c < k; c += 128 / bits)
        EXPECT_EQ(banks_of_column(all, k, c, bits), 32U) << name_of(mode) << " " << bits;
    }
  // Row-major tiles of these widths do not.
  const std::vector<std::pair<std::int64_t, std::size_t>> plain = {{32, 16}, {64, 8}, {128, 4}};
  for (const auto& [pitch, banks] : plain) {
    const std::vector<std::int64_t> all =
        addresses(TileLayout::row_major(Shape{8, pitch / 2}).value());
    EXPECT_EQ(banks_of_column(all, pitch / 2, 0, 16), banks);
  }
}

TEST(MmaShared, Refusals) {
  struct Row {
    Result<Layout> layout;
    DiagKind kind;
    std::string_view part;
  };
  const std::vector<Row> rows = {
      {mma_shared(Shape{64, 64}, SwizzleMode::B128, 6), DiagKind::BadArgument, "6-bit elements"},
      {mma_atom(SwizzleMode::None, 0), DiagKind::BadArgument, "exist for 4, 8, 16, 32 and 64"},
      {mma_atom(SwizzleMode::B32, -8), DiagKind::BadArgument, "-8-bit"},
      {mma_shared(Shape{64}, SwizzleMode::B128, 16), DiagKind::BadArgument,
       "shape (64) has no rows"},
      {mma_shared(Shape{}, SwizzleMode::None, 16), DiagKind::BadArgument,
       "at least two dimensions"},
      {mma_shared(Shape{12, 64}, SwizzleMode::B128, 16), DiagKind::BadArgument,
       "12 rows; mode 128B"},
      {mma_shared(Shape{64, 96}, SwizzleMode::B128, 16), DiagKind::BadArgument,
       "multiples of 64 for 16-bit"},
      {mma_shared(Shape{64, 0}, SwizzleMode::B128, 16), DiagKind::BadExtent, "(64,0)"},
      {mma_shared(Shape{-8, 64}, SwizzleMode::None, 16), DiagKind::BadExtent, "(-8,64)"},
      {mma_shared(Shape{std::int64_t{1} << 40, 64}, SwizzleMode::None, 16), DiagKind::Overflow,
       "elements"},
  };
  for (const auto& [layout, kind, part] : rows) {
    ASSERT_FALSE(layout) << to_text(*layout);
    EXPECT_EQ(layout.error().kind, kind) << layout.error().text;
    EXPECT_NE(layout.error().text.find(part), std::string::npos) << layout.error().text;
  }
}

}  // namespace
}  // namespace ww::layout::shared_memory_test
