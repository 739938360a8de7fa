// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "layout/canonical.h"
#include "layout/image.h"
#include "layout/ready_made.h"
#include "layout/text.h"
#include "layout/tile.h"

namespace ww::layout::fragments_test {
namespace {

struct At {
  int row;
  int col;
};

// Row and column of element i in a lane with group g and thread t of it, as the manual writes them
// out for every shape: this list is the witness, so it repeats nothing of the rule in the code.
struct Fragment {
  char operand;
  MmaShape shape;
  int bits;
  int elements;  // per lane
  std::function<At(int g, int t, int i)> at;
};

std::vector<Fragment> manual() {
  const MmaShape k4 = {16, 8, 4};
  const MmaShape k8 = {16, 8, 8};
  const MmaShape k16 = {16, 8, 16};
  const MmaShape k32 = {16, 8, 32};
  const MmaShape k64 = {16, 8, 64};
  const MmaShape k128 = {16, 8, 128};
  const MmaShape k256 = {16, 8, 256};
  const auto sum16 = [](int g, int t, int i) { return At{i < 2 ? g : g + 8, t * 2 + (i & 1)}; };
  const auto sum8 = [](int g, int t, int i) { return At{g, t * 2 + (i & 1)}; };
  return {
      // 16-bit floats
      {'A', k8, 16, 4,
       [](int g, int t, int i) {
         return At{i < 2 ? g : g + 8, t * 2 + (i & 1)};
       }},
      {'B', k8, 16, 2,
       [](int g, int t, int i) {
         return At{t * 2 + i, g};
       }},
      {'A', k16, 16, 8,
       [](int g, int t, int i) {
         const bool upper = (0 <= i && i < 2) || (4 <= i && i < 6);
         return At{upper ? g : g + 8, i < 4 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8};
       }},
      {'B', k16, 16, 4,
       [](int g, int t, int i) {
         return At{i < 2 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8, g};
       }},
      // tf32
      {'A', k4, 32, 2,
       [](int g, int t, int i) {
         return At{i == 0 ? g : g + 8, t};
       }},
      {'B', k4, 32, 1,
       [](int g, int t, int) {
         return At{t, g};
       }},
      {'A', k8, 32, 4,
       [](int g, int t, int i) {
         return At{i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4};
       }},
      {'B', k8, 32, 2,
       [](int g, int t, int i) {
         return At{i == 0 ? t : t + 4, g};
       }},
      // 8-bit
      {'A',
       {8, 8, 16},
       8,
       4,
       [](int g, int t, int i) {
         return At{g, t * 4 + i};
       }},
      {'B',
       {8, 8, 16},
       8,
       4,
       [](int g, int t, int i) {
         return At{t * 4 + i, g};
       }},
      {'A', k16, 8, 8,
       [](int g, int t, int i) {
         return At{i < 4 ? g : g + 8, t * 4 + (i & 3)};
       }},
      {'B', k16, 8, 4,
       [](int g, int t, int i) {
         return At{t * 4 + i, g};
       }},
      {'A', k32, 8, 16,
       [](int g, int t, int i) {
         const bool upper = (0 <= i && i < 4) || (8 <= i && i < 12);
         return At{upper ? g : g + 8, i < 8 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16};
       }},
      {'B', k32, 8, 8,
       [](int g, int t, int i) {
         return At{i < 4 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16, g};
       }},
      // 4-bit
      {'A',
       {8, 8, 32},
       4,
       8,
       [](int g, int t, int i) {
         return At{g, t * 8 + i};
       }},
      {'B',
       {8, 8, 32},
       4,
       8,
       [](int g, int t, int i) {
         return At{t * 8 + i, g};
       }},
      {'A', k32, 4, 16,
       [](int g, int t, int i) {
         return At{i < 8 ? g : g + 8, t * 8 + (i & 7)};
       }},
      {'B', k32, 4, 8,
       [](int g, int t, int i) {
         return At{t * 8 + i, g};
       }},
      {'A', k64, 4, 32,
       [](int g, int t, int i) {
         const bool upper = (0 <= i && i < 8) || (16 <= i && i < 24);
         return At{upper ? g : g + 8, i < 16 ? t * 8 + (i & 7) : t * 8 + (i & 7) + 32};
       }},
      {'B', k64, 4, 16,
       [](int g, int t, int i) {
         return At{i < 8 ? t * 8 + (i & 7) : t * 8 + (i & 7) + 32, g};
       }},
      // single bits
      {'A',
       {8, 8, 128},
       1,
       32,
       [](int g, int t, int i) {
         return At{g, t * 32 + i};
       }},
      {'B',
       {8, 8, 128},
       1,
       32,
       [](int g, int t, int i) {
         return At{t * 32 + i, g};
       }},
      {'A', k128, 1, 64,
       [](int g, int t, int i) {
         return At{i < 32 ? g : g + 8, t * 32 + (i & 31)};
       }},
      {'B', k128, 1, 32,
       [](int g, int t, int i) {
         return At{t * 32 + i, g};
       }},
      {'A', k256, 1, 128,
       [](int g, int t, int i) {
         const bool upper = (0 <= i && i < 32) || (64 <= i && i < 96);
         return At{upper ? g : g + 8, i < 64 ? t * 32 + (i & 31) : t * 32 + (i & 31) + 128};
       }},
      {'B', k256, 1, 64,
       [](int g, int t, int i) {
         return At{i < 32 ? t * 32 + (i & 31) : t * 32 + (i & 31) + 128, g};
       }},
      // f64
      {'A',
       {8, 8, 4},
       64,
       1,
       [](int g, int t, int) {
         return At{g, t};
       }},
      {'B',
       {8, 8, 4},
       64,
       1,
       [](int g, int t, int) {
         return At{t, g};
       }},
      {'C', {8, 8, 4}, 64, 2, sum8},
      {'D', {8, 8, 4}, 64, 2, sum8},
      {'A', k4, 64, 2,
       [](int g, int t, int i) {
         return At{i == 0 ? g : g + 8, t};
       }},
      {'B', k4, 64, 1,
       [](int g, int t, int) {
         return At{t, g};
       }},
      {'A', k8, 64, 4,
       [](int g, int t, int i) {
         return At{i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4};
       }},
      {'B', k8, 64, 2,
       [](int g, int t, int i) {
         return At{i == 0 ? t : t + 4, g};
       }},
      {'A', k16, 64, 8,
       [](int g, int t, int i) {
         return At{i % 2 == 0 ? g : g + 8, t + 4 * (i / 2)};
       }},
      {'B', k16, 64, 4,
       [](int g, int t, int i) {
         return At{t + 4 * i, g};
       }},
      {'C', k16, 64, 4, sum16},
      // accumulators
      {'C', k8, 16, 4, sum16},
      {'D', k16, 16, 4, sum16},
      {'D', k32, 16, 4, sum16},
      {'C', k4, 32, 4, sum16},
      {'D', k8, 32, 4, sum16},
      {'C', k16, 32, 4, sum16},
      {'D', k32, 32, 4, sum16},
      {'D', k64, 32, 4, sum16},
      {'D', k256, 32, 4, sum16},
      {'D', {8, 8, 16}, 32, 2, sum8},
      {'D', {8, 8, 32}, 32, 2, sum8},
      {'D', {8, 8, 128}, 32, 2, sum8},
  };
}

TEST(MmaFragment, EveryElementWhereTheManualPutsIt) {
  for (const Fragment& f : manual()) {
    const auto layout = mma_fragment(f.operand, f.shape, f.bits);
    ASSERT_TRUE(layout) << layout.error().text;
    SCOPED_TRACE(to_text(*layout));
    const int cols = f.operand == 'A' ? f.shape.k : f.shape.n;
    const int rows = f.operand == 'B' ? f.shape.k : f.shape.m;
    ASSERT_EQ(layout->size(), rows * cols);
    ASSERT_EQ(f.elements * 32, rows * cols);
    const Image image = enumerate(*layout).value();
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < f.elements; ++i) {
        const At at = f.at(lane >> 2, lane % 4, i);
        const auto x = static_cast<std::size_t>(at.row * cols + at.col);
        ASSERT_EQ(image.on(axes::laneid())[x], lane) << f.operand << " element " << i;
        // A fragment of one element per lane does not mention registers.
        ASSERT_EQ(f.elements == 1 ? 0 : image.on(axes::m())[x], i) << f.operand << " lane " << lane;
      }
    const ImageFacts facts = image_facts(*layout).value();
    EXPECT_TRUE(facts.is_injective && facts.is_onto_box);
  }
}

TEST(MmaFragment, ShortFormNamesTheUsualShapes) {
  EXPECT_EQ(*mma_fragment('A', 16, 16), *mma_fragment('A', MmaShape{16, 8, 16}, 16));
  EXPECT_EQ(*mma_fragment('A', 4, 64), *mma_fragment('A', MmaShape{8, 8, 4}, 64));
  EXPECT_EQ(*mma_fragment('B', 4, 32), *mma_fragment('B', MmaShape{16, 8, 4}, 32));
  EXPECT_EQ(*mma_fragment('A', 8, 64), *mma_fragment('A', MmaShape{16, 8, 8}, 64));
}

TEST(MmaFragment, AgreesWithHandWrittenOnes) {
  EXPECT_EQ(to_text(*mma_fragment('D', 8, 32)), "S[(2,8,4,2):(2,4@laneid,1@laneid,1)]");
  EXPECT_EQ(to_text(*mma_fragment('A', 8, 16)), "S[(2,8,4,2):(2,4@laneid,1@laneid,1)]");
  EXPECT_EQ(to_text(*mma_fragment('B', 8, 16)), "S[(4,2,8):(1@laneid,1,4@laneid)]");
  // The k16 fragments are those of k8, repeated along k.
  const Layout a = *tile_to(*mma_fragment('A', 8, 16), Shape{16, 16}, Shape{16, 8});
  EXPECT_TRUE(same_places(*mma_fragment('A', 16, 16), a).value());
  const Layout b = *tile_to(*mma_fragment('B', 8, 16), Shape{16, 8}, Shape{8, 8});
  EXPECT_TRUE(same_places(*mma_fragment('B', 16, 16), b).value());
}

TEST(MmaFragment, Refusals) {
  struct Row {
    char operand;
    MmaShape shape;
    int bits;
    std::string_view part;
  };
  const std::vector<Row> rows = {
      {'E', {16, 8, 16}, 16, "operand `E` of mma.sync; there are A, B, C and D"},
      {'a', {16, 8, 16}, 16, "`a`"},
      {'A', {16, 8, 12}, 16, "no shape m16n8k12"},
      {'A', {16, 16, 16}, 16, "no shape m16n16k16"},
      {'A', {0, 0, 0}, 16, "no shape m0n0k0"},
      {'A', {8, 8, 4}, 16, "16-bit elements for operand A of m8n8k4; accepted are 64"},
      {'A', {16, 8, 16}, 32, "accepted are 8, 16, 64"},
      {'B', {16, 8, 32}, 16, "accepted are 4, 8"},
      {'A', {16, 8, 8}, 8, "accepted are 16, 32, 64"},
      {'D', {16, 8, 16}, 8, "accepted are 16, 32, 64"},
      {'D', {16, 8, 64}, 16, "accepted are 32"},
      {'C', {16, 8, 4}, 16, "accepted are 32, 64"},
      {'D', {8, 8, 16}, 16, "accepted are 32"},
  };
  for (const auto& [operand, shape, bits, part] : rows) {
    const auto layout = mma_fragment(operand, shape, bits);
    ASSERT_FALSE(layout) << to_text(*layout);
    EXPECT_EQ(layout.error().kind, DiagKind::BadArgument);
    EXPECT_NE(layout.error().text.find(part), std::string::npos) << layout.error().text;
  }
}

// What a lane finds in half h of register i: row and column of the shared-memory tile.
At ldmatrix_at(bool trans, int lane, int i, int h) {
  const int g = lane >> 2;
  const int t = lane % 4;
  return trans ? At{2 * t + h, 8 * i + g} : At{g, 8 * i + 2 * t + h};
}

TEST(LdmatrixFragment, EveryHalfWhereTheManualPutsIt) {
  for (const bool trans : {false, true})
    for (const int num : {1, 2, 4}) {
      const Layout layout = *ldmatrix_fragment(num, trans);
      const Image image = enumerate(layout).value();
      ASSERT_EQ(image.size, 64 * num);
      for (int lane = 0; lane < 32; ++lane)
        for (int i = 0; i < num; ++i)
          for (int h = 0; h < 2; ++h) {
            const At at = ldmatrix_at(trans, lane, i, h);
            const auto x = static_cast<std::size_t>(at.row * 8 * num + at.col);
            ASSERT_EQ(image.on(axes::laneid())[x], lane);
            ASSERT_EQ(image.on(axes::m())[x], 2 * i + h);
          }
    }
}

TEST(LdmatrixFragment, LoadsTheOperandsOfMma) {
  // Four matrices, down the rows first, are A of m16n8k16; two transposed ones, down k, are B.
  const Image a = enumerate(*mma_fragment('A', 16, 16)).value();
  const Image four = enumerate(*ldmatrix_fragment(4)).value();
  for (std::size_t row = 0; row < 16; ++row)
    for (std::size_t k = 0; k < 16; ++k) {
      const std::size_t matrix = row / 8 + 2 * (k / 8);
      const std::size_t x = row % 8 * 32 + 8 * matrix + k % 8;
      EXPECT_EQ(a.on(axes::laneid())[row * 16 + k], four.on(axes::laneid())[x]);
      EXPECT_EQ(a.on(axes::m())[row * 16 + k], four.on(axes::m())[x]);
    }
  const Image b = enumerate(*mma_fragment('B', 16, 16)).value();
  const Image two = enumerate(*ldmatrix_fragment(2, true)).value();
  for (std::size_t k = 0; k < 16; ++k)
    for (std::size_t n = 0; n < 8; ++n) {
      const std::size_t x = k % 8 * 16 + 8 * (k / 8) + n;
      EXPECT_EQ(b.on(axes::laneid())[k * 8 + n], two.on(axes::laneid())[x]);
      EXPECT_EQ(b.on(axes::m())[k * 8 + n], two.on(axes::m())[x]);
    }
}

TEST(LdmatrixFragment, Refusals) {
  for (const int num : {-1, 0, 3, 8}) {
    const auto layout = ldmatrix_fragment(num);
    EXPECT_EQ(layout.error().kind, DiagKind::BadArgument);
    EXPECT_NE(layout.error().text.find("accepted are 1, 2 and 4"), std::string::npos);
  }
}

}  // namespace
}  // namespace ww::layout::fragments_test
