// SPDX-License-Identifier: Apache-2.0
// Layouts that the hardware prescribes, against index formulas written from the hardware's side:
// which thread and register, lane and column, or address holds element (row, column).
#include <gtest/gtest.h>

#include "layout/canonical.h"
#include "layout/image.h"
#include "layout/ready_made.h"
#include "layout/threads.h"
#include "property/laws.h"

namespace ww::test::laws_ready_made_test {
namespace {

using layout::Layout;

std::int64_t at(const Place& place, const std::string& axis) {
  return place.contains(axis) ? place.at(axis) : 0;
}

// ---- tcgen05 atoms ------------------------------------------------------------------------------

struct Atom {
  const char* shape;
  std::int64_t factor;  // columns of 32 bits per repetition
};
constexpr std::array<Atom, 3> kAtoms = {{{"16x64b", 2}, {"16x128b", 4}, {"16x256b", 8}}};

/// (row, column) of a register, for 64 rows of 32-bit elements.
std::pair<std::int64_t, std::int64_t> atom_element(std::string_view shape, std::int64_t w,
                                                   std::int64_t lane, std::int64_t r) {
  if (shape == "16x64b") return {16 * w + 8 * (lane & 1) + (lane >> 2), 2 * r + ((lane >> 1) & 1)};
  if (shape == "16x128b") return {16 * w + 8 * (r & 1) + (lane >> 2), 4 * (r >> 1) + (lane & 3)};
  return {16 * w + 8 * ((r >> 1) & 1) + (lane >> 2), 8 * (r >> 2) + 2 * (lane & 3) + (r & 1)};
}

TEST(LawsReadyMade, AtomsFollowTheirFormulas) {
  for (const Atom& atom : kAtoms) {
    for (const std::int64_t rows : {64, 128}) {
      for (const int bits : {8, 16, 32}) {
        for (const std::int64_t n : {1, 2, 8}) {
          const std::int64_t per = 32 / bits;
          const std::int64_t cols = atom.factor * n * per;
          const auto made = layout::tcgen05_atom(atom.shape, rows, cols, bits);
          ASSERT_TRUE(made) << atom.shape << ": " << made.error().text;
          const Table table = table_of(read(*made));
          ASSERT_EQ(table.size(), static_cast<std::size_t>(rows * cols));
          const std::int64_t registers = 64 * (cols / per) / 128;  // per slab
          std::set<std::pair<std::int64_t, std::int64_t>> seen;
          for (std::int64_t t = 0; t < 128; ++t) {
            for (std::int64_t slab = 0; slab < rows / 64; ++slab) {
              for (std::int64_t r = 0; r < registers; ++r) {
                auto [row, col] = atom_element(atom.shape, t / 32, t % 32, r);
                if (rows == 128) row += 16 * (t / 32) + 16 * slab;
                for (std::int64_t h = 0; h < per; ++h) {
                  const std::int64_t flat = row * cols + per * col + h;
                  ASSERT_TRUE(seen.insert({row, per * col + h}).second);
                  const Place place =
                      *on_threads({table[static_cast<std::size_t>(flat)]})[0].begin();
                  ASSERT_EQ(at(place, "thread"), t) << atom.shape << " " << row << "," << col;
                  ASSERT_EQ(at(place, "m"), per * (r + registers * slab) + h)
                      << atom.shape << " " << row << "," << col;
                }
              }
            }
          }
          EXPECT_EQ(seen.size(), table.size());  // every element once
        }
      }
    }
  }
}

TEST(LawsReadyMade, AtomsOfDifferentShapesDiffer) {
  for (const Atom& a : kAtoms) {
    for (const Atom& b : kAtoms) {
      if (&a == &b) continue;
      const Layout la = layout::tcgen05_atom(a.shape, 64, 64, 32).value();
      const Layout lb = layout::tcgen05_atom(b.shape, 64, 64, 32).value();
      EXPECT_FALSE(layout::same_places(la, lb).value()) << a.shape << " " << b.shape;
    }
  }
}

TEST(LawsReadyMade, Atom32x32b) {
  const Table tall = table_of(read(layout::tcgen05_atom("32x32b", 128, 4, 32).value()));
  for (std::int64_t r = 0; r < 128; ++r) {
    for (std::int64_t c = 0; c < 4; ++c) {
      const Place place = *on_threads({tall[static_cast<std::size_t>(4 * r + c)]})[0].begin();
      EXPECT_EQ(at(place, "thread"), r);
      EXPECT_EQ(at(place, "m"), c);
    }
  }
  const Table wide = table_of(read(layout::tcgen05_atom("32x32b", 64, 8, 32).value()));
  for (std::int64_t r = 0; r < 64; ++r) {
    for (std::int64_t c = 0; c < 8; ++c) {
      const Place place = *on_threads({wide[static_cast<std::size_t>(8 * r + c)]})[0].begin();
      EXPECT_EQ(at(place, "thread"), r + 64 * (c / 4));
      EXPECT_EQ(at(place, "m"), c % 4);
    }
  }
}

TEST(LawsReadyMade, AtomParametersAreChecked) {
  EXPECT_FALSE(layout::tcgen05_atom("16x32b", 64, 64, 32));
  EXPECT_FALSE(layout::tcgen05_atom("16x64b", 32, 64, 32));
  EXPECT_FALSE(layout::tcgen05_atom("16x64b", 64, 6, 32));  // three repetitions
  EXPECT_FALSE(layout::tcgen05_atom("16x256b", 64, 64, 64));
  EXPECT_FALSE(layout::tcgen05_atom("16x256b", 64, 512, 32));  // 64 repetitions
  EXPECT_FALSE(layout::tcgen05_atom("32x32b", 64, 8, 16));
}

// ---- Tensor memory ------------------------------------------------------------------------------

TEST(LawsReadyMade, DatapathsFollowTheirFormulas) {
  const std::int64_t n = 32;
  struct Row {
    char letter;
    std::int64_t rows;
    std::function<std::pair<std::int64_t, std::int64_t>(std::int64_t, std::int64_t)> place;
  };
  const auto same = [](std::int64_t r, std::int64_t c) { return std::pair(r, c); };
  const auto halves = [&](std::int64_t r, std::int64_t c) {
    return std::pair(r + 64 * (c / (n / 2)), c % (n / 2));
  };
  const auto slabs = [](std::int64_t r, std::int64_t c) {
    return std::pair(32 * (r / 16) + r % 16, c);
  };
  const auto quarters = [&](std::int64_t r, std::int64_t c) {
    return std::pair(r + 32 * (c / (n / 4)), c % (n / 4));
  };
  const std::vector<Row> rows = {{'A', 128, same},   {'B', 64, halves}, {'C', 64, slabs},
                                 {'D', 128, same},   {'E', 64, halves}, {'F', 64, slabs},
                                 {'G', 32, quarters}};
  for (const Row& row : rows) {
    const auto made = layout::tmem_datapath(row.letter, row.rows, n);
    ASSERT_TRUE(made) << row.letter << ": " << made.error().text;
    const Table table = table_of(read(*made));
    for (std::int64_t r = 0; r < row.rows; ++r) {
      for (std::int64_t c = 0; c < n; ++c) {
        const Place place = *table[static_cast<std::size_t>(r * n + c)].begin();
        ASSERT_EQ(std::pair(at(place, "TLane"), at(place, "TCol")), row.place(r, c)) << row.letter;
      }
    }
    EXPECT_TRUE(layout::is_injective(*made).value());
    EXPECT_LE(range_on(table, "TLane").second, 127);
  }
}

Places footprint(const Layout& l) {
  Places out;
  for (const Places& places : table_of(read(l))) out.insert(places.begin(), places.end());
  return out;
}

TEST(LawsReadyMade, DatapathFootprints) {
  Places both = footprint(layout::tmem_datapath('F', 64, 16, 0).value());
  both.merge(footprint(layout::tmem_datapath('F', 64, 16, 1).value()));
  EXPECT_EQ(both, footprint(layout::tmem_datapath('D', 128, 16).value()));
  EXPECT_EQ(footprint(layout::tmem_datapath('B', 64, 32).value()),
            footprint(layout::tmem_datapath('D', 128, 16).value()));
}

TEST(LawsReadyMade, DatapathParametersAreChecked) {
  EXPECT_FALSE(layout::tmem_datapath('H', 128, 16));
  EXPECT_FALSE(layout::tmem_datapath('A', 64, 16));
  EXPECT_FALSE(layout::tmem_datapath('A', 128, 16, 1));
  EXPECT_FALSE(layout::tmem_datapath('F', 64, 16, 2));
  EXPECT_FALSE(layout::tmem_datapath('B', 64, 15));
  EXPECT_FALSE(layout::tmem_datapath('G', 32, 6));
}

TEST(LawsReadyMade, ScaleFactorStagesNeverAlias) {
  for (const std::int64_t sf_k : {4, 8, 16}) {
    for (const std::int64_t q : {1, 2, 4}) {
      for (const std::int64_t pipe : {1, 2, 3}) {
        const auto made = layout::scale_factor_tmem(128, sf_k, q, 1, pipe);
        ASSERT_TRUE(made) << made.error().text;
        EXPECT_EQ(made->size(), 128 * sf_k * pipe);
        EXPECT_TRUE(layout::is_injective(*made).value()) << sf_k << " " << q << " " << pipe;
      }
    }
  }
}

// ---- Shared memory ------------------------------------------------------------------------------

TEST(LawsReadyMade, SharedTilesFollowTheirFormula) {
  using layout::SwizzleMode;
  for (const int bits : {8, 16, 32}) {
    for (const auto& [mode, width] : std::vector<std::pair<SwizzleMode, std::int64_t>>{
             {SwizzleMode::B32, 32}, {SwizzleMode::B64, 64}, {SwizzleMode::B128, 128}}) {
      const std::int64_t w = width * 8 / bits;
      const std::int64_t rows = 16;
      const std::int64_t k = 2 * w;
      const auto made = layout::mma_shared(Ints{2, rows, k}, mode, bits);
      ASSERT_TRUE(made) << made.error().text;
      const OSwizzle swizzle = read(*made).swizzle;
      for (std::int64_t b = 0; b < 2; ++b) {
        for (std::int64_t r = 0; r < rows; ++r) {
          for (std::int64_t c = 0; c < k; ++c) {
            const std::int64_t plain = b * rows * k + c / w * rows * w + r * w + c % w;
            const Place place = place_at_replica_0(read(*made), (b * rows + r) * k + c);
            ASSERT_EQ(at(place, "m"), swizzled(swizzle, plain));
          }
        }
      }
      // A 16-byte chunk stays together; its number within the row is XORed with the row.
      EXPECT_EQ(std::int64_t{1} << swizzle.per_element, 128 / bits);
      EXPECT_EQ(std::int64_t{1} << swizzle.len, width / 16);
      EXPECT_EQ(swizzle.atom, 3);
    }
  }
}

// ---- mma.sync fragments -------------------------------------------------------------------------

TEST(LawsReadyMade, FragmentsOfM16n8k16) {
  // PTX manual, 16-bit operands: groupID = lane / 4, id in group = lane % 4.
  const auto expect =
      [](char operand, std::int64_t cols,
         const std::function<std::pair<std::int64_t, std::int64_t>(std::int64_t, std::int64_t)>&
             element,
         std::int64_t per_lane, int bits) {
        const auto made = layout::mma_fragment(operand, 16, bits);
        ASSERT_TRUE(made) << operand << ": " << made.error().text;
        for (std::int64_t lane = 0; lane < 32; ++lane) {
          for (std::int64_t i = 0; i < per_lane; ++i) {
            const auto [row, col] = element(lane, i);
            const Place place = place_at_replica_0(read(*made), row * cols + col);
            ASSERT_EQ(at(place, "laneid"), lane) << operand;
            ASSERT_EQ(at(place, "m"), i) << operand;
          }
        }
      };
  expect(
      'A', 16,
      [](std::int64_t lane, std::int64_t i) {
        return std::pair(lane / 4 + (i % 4 < 2 ? 0 : 8), lane % 4 * 2 + (i & 1) + (i < 4 ? 0 : 8));
      },
      8, 16);
  expect(
      'B', 8,
      [](std::int64_t lane, std::int64_t i) {
        return std::pair(lane % 4 * 2 + (i & 1) + (i < 2 ? 0 : 8), lane / 4);
      },
      4, 16);
  expect(
      'C', 8,
      [](std::int64_t lane, std::int64_t i) {
        return std::pair(lane / 4 + (i < 2 ? 0 : 8), lane % 4 * 2 + (i & 1));
      },
      4, 32);
}

}  // namespace
}  // namespace ww::test::laws_ready_made_test
