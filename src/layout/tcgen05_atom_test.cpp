// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "layout/canonical.h"
#include "layout/image.h"
#include "layout/ready_made.h"
#include "layout/text.h"
#include "layout/threads.h"

namespace ww::layout::tcgen05_atom_test {
namespace {

constexpr std::array<std::string_view, 3> kSixteen = {"16x64b", "16x128b", "16x256b"};

struct Call {
  std::string_view shape;
  std::int64_t rows;
  std::int64_t cols;
  int bits;
};

std::int64_t max_repeat(std::string_view shape) {
  return shape == "16x256b" ? 32 : shape == "16x128b" ? 64 : 128;
}

std::int64_t columns_of(std::string_view shape) {
  return shape == "16x256b" ? 8 : shape == "16x128b" ? 4 : shape == "16x64b" ? 2 : 1;
}

// Every legal call.
std::vector<Call> all_calls() {
  std::vector<Call> calls;
  for (const int bits : {8, 16, 32}) {
    for (const std::int64_t rows : {64, 128})
      for (const std::string_view shape : kSixteen)
        for (std::int64_t n = 1; n <= max_repeat(shape); n *= 2)
          calls.push_back({shape, rows, n * columns_of(shape) * 32 / bits, bits});
    for (std::int64_t n = 1; n <= 128; n *= 2)
      calls.push_back({"32x32b", 128, n * 32 / bits, bits});
  }
  for (std::int64_t n = 1; n <= 128; n *= 2) calls.push_back({"32x32b", 64, 2 * n, 32});
  return calls;
}

// Where tcgen05.ld puts the cell at lane `dl`, column `dc` of the warp's half window: the formulas
// of the manual, from (lane, register) to the cell.
struct Cell {
  std::int64_t dl;
  std::int64_t dc;
};
Cell cell_of(std::string_view shape, std::int64_t lane, std::int64_t r) {
  const std::int64_t g = lane >> 2;
  const std::int64_t t = lane & 3;
  if (shape == "16x64b") return {g + 8 * (lane & 1), 2 * r + ((lane >> 1) & 1)};
  if (shape == "16x128b") return {g + 8 * (r & 1), 4 * (r >> 1) + t};
  return {g + 8 * ((r >> 1) & 1), 8 * (r >> 2) + 2 * t + (r & 1)};
}

TEST(Tcgen05Atom, Spelling) {
  struct Row {
    Call call;
    std::string_view text;
    std::int64_t registers;
  };
  const std::vector<Row> rows = {
      {{"16x64b", 64, 64, 32}, "S[(4,2,8,32,2):(1@wid_in_wg,1@laneid,4@laneid,1,2@laneid)]", 32},
      {{"16x64b", 64, 64, 16},
       "S[(4,2,8,16,2,2):(1@wid_in_wg,1@laneid,4@laneid,2,2@laneid,1)]",
       32},
      {{"16x64b", 128, 64, 32},
       "S[(4,2,2,8,32,2):(1@wid_in_wg,32,1@laneid,4@laneid,1,2@laneid)]",
       64},
      {{"16x128b", 64, 64, 32}, "S[(4,2,8,16,4):(1@wid_in_wg,1,4@laneid,2,1@laneid)]", 32},
      {{"16x128b", 64, 256, 16}, "S[(4,2,8,32,4,2):(1@wid_in_wg,2,4@laneid,4,1@laneid,1)]", 128},
      {{"16x128b", 128, 32, 32}, "S[(4,2,2,8,8,4):(1@wid_in_wg,16,1,4@laneid,2,1@laneid)]", 32},
      {{"16x256b", 64, 64, 32}, "S[(4,2,8,8,4,2):(1@wid_in_wg,2,4@laneid,4,1@laneid,1)]", 32},
      {{"16x256b", 64, 64, 16}, "S[(4,2,8,4,4,2,2):(1@wid_in_wg,4,4@laneid,8,1@laneid,2,1)]", 32},
      {{"16x256b", 128, 32, 32}, "S[(4,2,2,8,4,4,2):(1@wid_in_wg,16,2,4@laneid,4,1@laneid,1)]", 32},
      {{"16x256b", 64, 8, 32}, "S[(4,2,8,1,4,2):(1@wid_in_wg,2,4@laneid,4,1@laneid,1)]", 4},
      {{"32x32b", 128, 64, 32}, "S[(128,64):(1@tid_in_wg,1)]", 64},
      {{"32x32b", 128, 8, 16}, "S[(128,8):(1@tid_in_wg,1)]", 8},
      {{"32x32b", 64, 64, 32}, "S[(64,2,32):(1@tid_in_wg,64@tid_in_wg,1)]", 32},
  };
  for (const auto& [call, text, registers] : rows) {
    const auto layout = tcgen05_atom(call.shape, call.rows, call.cols, call.bits);
    ASSERT_TRUE(layout) << layout.error().text;
    EXPECT_EQ(to_text(*layout), text);
    EXPECT_EQ(span_on(*layout, axes::m()).value(), registers) << text;
  }
}

TEST(Tcgen05Atom, ClosedFormulasFromWarpLaneRegister) {
  // Every (warp, lane, register) names one element; as there are as many, this is a bijection, too.
  for (const Call& call : all_calls()) {
    if (call.shape == "32x32b") continue;
    const auto layout = tcgen05_atom(call.shape, call.rows, call.cols, call.bits);
    ASSERT_TRUE(layout) << layout.error().text;
    const Image image = enumerate(*layout).value();
    const auto warps = image.on(axes::wid_in_wg());
    const auto lanes = image.on(axes::laneid());
    const auto slots = image.on(axes::m());
    const std::int64_t p = 32 / call.bits;
    const std::int64_t slabs = call.rows / 64;
    const std::int64_t per_slab = call.rows * call.cols / 128 / p / slabs;  // registers
    std::int64_t wrong = 0;
    for (std::int64_t w = 0; w < 4; ++w)
      for (std::int64_t lane = 0; lane < 32; ++lane)
        for (std::int64_t m = 0; m < slabs * per_slab * p; ++m) {
          const Cell cell = cell_of(call.shape, lane, m / p % per_slab);
          const std::int64_t row = 16 * slabs * w + 16 * (m / p / per_slab) + cell.dl;
          const std::int64_t col = p * cell.dc + m % p;
          const auto x = static_cast<std::size_t>(row * call.cols + col);
          if (x >= slots.size() || warps[x] != w || lanes[x] != lane || slots[x] != m) ++wrong;
        }
    EXPECT_EQ(wrong, 0) << to_text(*layout);
    EXPECT_EQ(image.size, 128 * slabs * per_slab * p);
  }
}

TEST(Tcgen05Atom, BijectionOntoThreadsAndRegisters) {
  for (const Call& call : all_calls()) {
    if (call.cols > 32) continue;
    const auto layout = tcgen05_atom(call.shape, call.rows, call.cols, call.bits);
    ASSERT_TRUE(layout) << layout.error().text;
    const ImageFacts facts = image_facts(*layout).value();
    EXPECT_TRUE(facts.is_injective && facts.is_onto_box) << to_text(*layout);
    EXPECT_EQ(facts.box, call.rows * call.cols);
    EXPECT_EQ(facts.places / span_on(*layout, axes::m()).value(), 128) << to_text(*layout);
  }
}

TEST(Tcgen05Atom, ReadsTheAccumulatorOfItsDatapath) {
  // 64 rows read datapath F, 128 rows datapath D in two goes, 16 lanes apart.
  for (const std::string_view shape : kSixteen)
    for (const std::int64_t rows : {64, 128}) {
      const std::int64_t cols = 32;
      const Image regs = enumerate(*tcgen05_atom(shape, rows, cols, 32)).value();
      const Image cells = enumerate(*tmem_datapath(rows == 64 ? 'F' : 'D', rows, cols)).value();
      const std::int64_t per_slab = 64 * cols / 128;
      for (std::size_t x = 0; x < static_cast<std::size_t>(regs.size); ++x) {
        const std::int64_t r = regs.on(axes::m())[x];
        const Cell cell = cell_of(shape, regs.on(axes::laneid())[x], r % per_slab);
        EXPECT_EQ(cells.on(axes::tlane())[x],
                  32 * regs.on(axes::wid_in_wg())[x] + 16 * (r / per_slab) + cell.dl);
        EXPECT_EQ(cells.on(axes::tcol())[x], cell.dc);
      }
    }
}

TEST(Tcgen05Atom, OneLanePerThreadReadsDatapathsDAndB) {
  for (const auto& [letter, rows] : {std::pair{'D', 128}, std::pair{'B', 64}, std::pair{'E', 64}}) {
    const Image regs = enumerate(*tcgen05_atom("32x32b", rows, 64, 32)).value();
    const Image cells = enumerate(*tmem_datapath(letter, rows, 64)).value();
    for (std::size_t x = 0; x < static_cast<std::size_t>(regs.size); ++x) {
      EXPECT_EQ(cells.on(axes::tlane())[x], regs.on(axes::tid_in_wg())[x]);
      EXPECT_EQ(cells.on(axes::tcol())[x], regs.on(axes::m())[x]);
    }
  }
}

TEST(Tcgen05Atom, FusesToThreadsOfAWarpgroup) {
  const Layout fused = fuse_threads(*tcgen05_atom("16x256b", 64, 8, 32), Machine::Cuda);
  EXPECT_EQ(to_text(fused), "S[(4,2,32,2):(32@tid_in_wg,2,1@tid_in_wg,1)]");
}

TEST(Tcgen05Atom, NoTwoShapesAgree) {
  for (const int bits : {8, 16, 32})
    for (const std::int64_t rows : {64, 128}) {
      std::vector<Layout> layouts;
      for (const std::string_view shape : {"16x64b", "16x128b", "16x256b", "32x32b"}) {
        const auto layout = tcgen05_atom(shape, rows, 64, bits);
        if (layout) layouts.push_back(fuse_threads(*layout, Machine::Cuda));
      }
      for (std::size_t i = 0; i < layouts.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
          EXPECT_FALSE(same_places(layouts[i], layouts[j]).value());
    }
}

TEST(Tcgen05Atom, Refusals) {
  struct Row {
    Call call;
    std::string_view part;
  };
  const std::vector<Row> rows = {
      {{"16x512b", 64, 64, 32}, "there are 32x32b, 16x64b, 16x128b, 16x256b"},
      {{"16x32bx2", 64, 64, 32}, "no tcgen05.ld shape"},
      {{"16x64b", 32, 64, 32}, "32 rows"},
      {{"16x64b", 64, 64, 64}, "64-bit elements"},
      {{"16x64b", 64, 64, 4}, "4-bit elements"},
      {{"16x64b", 64, 0, 32}, "0 columns"},
      {{"16x64b", 64, -2, 32}, "-2 columns"},
      {{"16x64b", 64, 3, 32}, "3 columns of 32 bits"},
      {{"16x64b", 64, 6, 32}, "takes 2·N columns, N a power of two up to 128"},
      {{"16x128b", 64, 512, 32}, "up to 64"},
      {{"16x256b", 64, 512, 32}, "up to 32"},
      {{"16x256b", 64, 12, 32}, "8·N"},
      {{"16x64b", 64, 3, 16}, "do not fill 32-bit columns; multiples of 2 do"},
      {{"32x32b", 128, 3, 32}, "3 columns of 32 bits"},
      {{"32x32b", 128, 256, 32}, "up to 128"},
      {{"32x32b", 64, 64, 16}, "one element to a 32-bit column"},
      {{"32x32b", 64, 63, 32}, "63 columns"},
      {{"32x32b", 64, 6, 32}, "3 columns of 32 bits"},
  };
  for (const auto& [call, part] : rows) {
    const auto layout = tcgen05_atom(call.shape, call.rows, call.cols, call.bits);
    ASSERT_FALSE(layout) << to_text(*layout);
    EXPECT_EQ(layout.error().kind, DiagKind::BadArgument);
    EXPECT_NE(layout.error().text.find(part), std::string::npos) << layout.error().text;
  }
}

TEST(WgLocal, OneRowPerThread) {
  EXPECT_EQ(to_text(*wg_local(32)), "S[(128,32):(1@tid_in_wg,1)]");
  EXPECT_EQ(to_text(*wg_local(8, 64)), "S[(64,8):(1@tid_in_wg,1)]");
  for (const auto& [cols, rows] : {std::pair{0, 128}, std::pair{8, 0}, std::pair{8, 129}})
    EXPECT_EQ(wg_local(cols, rows).error().kind, DiagKind::BadArgument);
}

}  // namespace
}  // namespace ww::layout::tcgen05_atom_test
