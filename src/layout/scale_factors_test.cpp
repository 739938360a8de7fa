// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "layout/apply.h"
#include "layout/image.h"
#include "layout/ready_made.h"
#include "layout/text.h"

namespace ww::layout::scale_factors_test {
namespace {

TEST(ScaleFactorTmem, Spelling) {
  struct Row {
    std::int64_t rows, sf_k, q, reuse, pipe;
    std::string_view text;
  };
  const std::string_view four = "S[(4,32,4):(4@TCol,1@TLane,1@TCol)] + R[4:32@TLane]";
  const std::vector<Row> rows = {
      {128, 4, 4, 1, 1, four},
      {128, 4, 2, 1, 1, four},
      {128, 4, 1, 1, 1, four},
      {128, 8, 4, 1, 1, "S[(4,32,2,4):(4@TCol,1@TLane,16@TCol,1@TCol)] + R[4:32@TLane]"},
      {256, 16, 4, 1, 1, "S[(8,32,4,4):(4@TCol,1@TLane,32@TCol,1@TCol)] + R[4:32@TLane]"},
      {128, 4, 1, 4, 1, "S[(4,32,4,4):(4@TCol,1@TLane,1@TCol,0@TCol)] + R[4:32@TLane]"},
      {128, 4, 4, 1, 2, "S[(8,32,4):(4@TCol,1@TLane,1@TCol)] + R[4:32@TLane]"},
      {128, 8, 4, 1, 2, "S[(2,4,32,2,4):(32@TCol,4@TCol,1@TLane,16@TCol,1@TCol)] + R[4:32@TLane]"},
      // Factors that do not fill columns evenly: each MMA step in a column of its own.
      {128, 2, 2, 1, 1, "S[(4,32,2):(4@TCol,1@TLane,1@TCol)] + R[4:32@TLane]"},
      {128, 6, 2, 1, 1, "S[(4,32,3,2):(4@TCol,1@TLane,16@TCol,1@TCol)] + R[4:32@TLane]"},
      {128, 6, 1, 1, 1, "S[(4,32,3,2):(4@TCol,1@TLane,16@TCol,1@TCol)] + R[4:32@TLane]"},
      {128, 3, 1, 1, 1, "S[(4,32,3):(4@TCol,1@TLane,16@TCol)] + R[4:32@TLane]"},
  };
  for (const auto& [r, sf_k, q, reuse, pipe, text] : rows) {
    const auto layout = scale_factor_tmem(r, sf_k, q, reuse, pipe);
    ASSERT_TRUE(layout) << layout.error().text;
    EXPECT_EQ(to_text(*layout), text);
  }
}

TEST(ScaleFactorTmem, RowsInEveryWindowAndStepsInOneColumn) {
  for (const std::int64_t rows : {32, 128, 192, 256})
    for (const std::int64_t q : {1, 2, 4})
      for (const std::int64_t steps : {1, 2, 3, 4, 6, 8}) {
        const std::int64_t sf_k = q * steps;
        const Image image = enumerate(*scale_factor_tmem(rows, sf_k, q)).value();
        ASSERT_EQ(image.copies, 4);
        const auto column = [&](std::int64_t row, std::int64_t s) -> std::int64_t {
          const auto all = image.on(axes::tcol());  // absent when everything is in column 0
          return all.empty() ? 0 : all[static_cast<std::size_t>(row * sf_k + s)];
        };
        for (std::int64_t row = 0; row < rows; ++row)
          for (std::int64_t s = 0; s < sf_k; ++s) {
            const auto x = static_cast<std::size_t>(row * sf_k + s);
            ASSERT_EQ(image.on(axes::tlane())[x], row % 32);
            // The groups of 32 rows that one MMA reads lie in consecutive columns, at one byte,
            ASSERT_EQ(column(row, s), column(row % 32, s) + 4 * (row / 32));
            // and the factors of an MMA are consecutive bytes of a column.
            ASSERT_EQ(column(row, s), column(row, s - s % q) + s % q);
            ASSERT_EQ(column(row, s) / 4, column(row, s - s % q) / 4);
          }
      }
}

TEST(ScaleFactorTmem, StagesDoNotOverlap) {
  for (const std::int64_t sf_k : {2, 3, 4, 8, 16}) {
    const std::int64_t q = sf_k % 4 == 0 ? 4 : 1;
    const Layout one = *scale_factor_tmem(128, sf_k, q);
    const Layout staged = *scale_factor_tmem(128, sf_k, q, 1, 3);
    const ImageFacts facts = image_facts(staged).value();
    EXPECT_TRUE(facts.is_injective) << to_text(staged);
    EXPECT_EQ(facts.places, 3 * 128 * sf_k * 4);
    // A stage is the first one moved by whole columns.
    const Image image = enumerate(staged).value();
    const auto size = static_cast<std::size_t>(one.size());
    const std::int64_t stride = image.on(axes::tcol())[size];
    EXPECT_EQ(stride % 4, 0);
    EXPECT_EQ(stride, (span_on(one, axes::tcol()).value() + 3) / 4 * 4);
  }
}

TEST(ScaleFactorTmem, ReuseRepeatsEachFactor) {
  const Image plain = enumerate(*scale_factor_tmem(128, 8, 1)).value();
  const Image reused = enumerate(*scale_factor_tmem(128, 8, 1, 4)).value();
  for (std::size_t x = 0; x < static_cast<std::size_t>(reused.size); ++x)
    EXPECT_EQ(reused.on(axes::tcol())[x], plain.on(axes::tcol())[x / 4]);
}

TEST(ScaleFactorSmem, Spelling) {
  EXPECT_EQ(to_text(*scale_factor_smem(128, 4, 4)), "S[(4,32,4):(4,16,1)]");
  EXPECT_EQ(to_text(*scale_factor_smem(128, 4, 1)), "S[(4,32,4):(4,16,1)]");
  EXPECT_EQ(to_text(*scale_factor_smem(256, 8, 2)), "S[(2,4,32,2,4):(1024,4,16,512,1)]");
  EXPECT_EQ(to_text(*scale_factor_smem(128, 8, 4, 1, 3)), "S[(3,4,32,2,4):(1024,4,16,512,1)]");
  EXPECT_EQ(to_text(*scale_factor_smem(128, 4, 1, 4)), "S[(4,32,4,4):(4,16,1,0)]");
  const ImageFacts facts = image_facts(*scale_factor_smem(256, 8, 2, 1, 2)).value();
  EXPECT_TRUE(facts.is_injective && facts.is_onto_box);
}

TEST(ScaleFactorSmem, CopiesAsItLies) {
  // tcgen05.cp.32x128b.warpx4 moves 32 rows of 16 bytes to 32 lanes of four columns: byte b of a
  // block goes to lane b/16, and all bytes of a block shift by the same number of columns.
  const std::int64_t rows = 256;
  const std::int64_t sf_k = 12;
  const Image smem = enumerate(*scale_factor_smem(rows, sf_k, 4)).value();
  const Image tmem = enumerate(*scale_factor_tmem(rows, sf_k, 4)).value();
  std::vector<std::int64_t> base(static_cast<std::size_t>(rows / 128 * sf_k / 4), -1);
  for (std::size_t x = 0; x < static_cast<std::size_t>(smem.size); ++x) {
    const std::int64_t byte = smem.on(axes::m())[x];
    EXPECT_EQ(tmem.on(axes::tlane())[x], byte % 512 / 16);
    const std::int64_t column = tmem.on(axes::tcol())[x] - byte % 16;
    std::int64_t& seen = base[static_cast<std::size_t>(byte / 512)];
    if (seen < 0) seen = column;
    EXPECT_EQ(column, seen);
    EXPECT_EQ(column % 4, 0);
  }
}

TEST(ScaleFactor, Refusals) {
  struct Row {
    Result<Layout> layout;
    std::string_view part;
  };
  const std::int64_t huge = std::int64_t{1} << 60;
  const std::vector<Row> rows = {
      {scale_factor_tmem(128, 4, 3), "3 scale factors per MMA; accepted are 1, 2 and 4"},
      {scale_factor_tmem(128, 8, 8), "8 scale factors per MMA"},
      {scale_factor_tmem(100, 4, 4),
       "100 rows of scale factors; accepted are positive multiples of 32"},
      {scale_factor_tmem(0, 4, 4), "0 rows"},
      {scale_factor_tmem(-32, 4, 4), "-32 rows"},
      {scale_factor_tmem(128, 6, 4),
       "6 scale factors along K; accepted are positive multiples of 4"},
      {scale_factor_tmem(128, 0, 1), "0 scale factors along K"},
      {scale_factor_tmem(128, 4, 4, 0), "reuse 0"},
      {scale_factor_tmem(128, 4, 4, 1, 0), "pipe 0"},
      {scale_factor_tmem(128, 4, 4, 1, 129), "tensor memory has 512"},
      {scale_factor_tmem(huge, 4, 4), "tensor memory has 512"},
      {scale_factor_tmem(128, huge, 4), "tensor memory has 512"},
      {scale_factor_smem(64, 4, 4),
       "64 rows of scale factors; accepted are positive multiples of 128"},
      {scale_factor_smem(128, 2, 2), "positive multiples of 4"},
      {scale_factor_smem(128, 4, 0), "0 scale factors per MMA"},
      {scale_factor_smem(huge, huge, 4), "fit a layout"},
      {scale_factor_smem(128, 4, 4, 1, huge), "fit a layout"},
      {scale_factor_smem(128, 4, 4, -1), "reuse -1"},
  };
  for (const auto& [layout, part] : rows) {
    ASSERT_FALSE(layout) << to_text(*layout);
    EXPECT_EQ(layout.error().kind, DiagKind::BadArgument);
    EXPECT_NE(layout.error().text.find(part), std::string::npos) << layout.error().text;
  }
}

}  // namespace
}  // namespace ww::layout::scale_factors_test
