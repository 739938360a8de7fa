// SPDX-License-Identifier: Apache-2.0
// The selector against its published table, row by row, and every refusal.
#include "isa/matrix_copy.h"

#include <gtest/gtest.h>

#include <set>

#include "isa/check.h"

namespace ww::isa::matrix_copy_test {
namespace {

struct PublishedRow {
  MatrixCopyProps props;
  int id;
  std::string_view mnemonic;
};

MatrixCopyProps ld(int num, int shape, int sz, int trans, int layout) {
  return {
      .family = "ldmatrix", .num = num, .shape = shape, .sz = sz, .trans = trans, .layout = layout};
}
MatrixCopyProps st(int num, int shape, int trans) {
  return {.family = "stmatrix", .num = num, .shape = shape, .trans = trans};
}

// Typed from the published table, not from ours.
const std::vector<PublishedRow>& published() {
  static const std::vector<PublishedRow> rows = {
      {ld(1, 0, 0, 0, 0), 9165, "ldmatrix.sync.aligned.m8n8.x1.b16"},
      {ld(1, 0, 0, 1, 0), 9166, "ldmatrix.sync.aligned.m8n8.x1.trans.b16"},
      {ld(2, 0, 0, 0, 0), 9167, "ldmatrix.sync.aligned.m8n8.x2.b16"},
      {ld(2, 0, 0, 1, 0), 9168, "ldmatrix.sync.aligned.m8n8.x2.trans.b16"},
      {ld(4, 0, 0, 0, 0), 9169, "ldmatrix.sync.aligned.m8n8.x4.b16"},
      {ld(4, 0, 0, 1, 0), 9170, "ldmatrix.sync.aligned.m8n8.x4.trans.b16"},
      {ld(1, 1, 0, 0, 0), 9160, "ldmatrix.sync.aligned.m8n16.x1.b8"},
      {ld(1, 1, 1, 0, 0), 9159, "ldmatrix.sync.aligned.m8n16.x1.b8x16.b6x16_p32"},
      {ld(2, 1, 0, 0, 0), 9162, "ldmatrix.sync.aligned.m8n16.x2.b8"},
      {ld(2, 1, 1, 0, 0), 9161, "ldmatrix.sync.aligned.m8n16.x2.b8x16.b6x16_p32"},
      {ld(4, 1, 0, 0, 0), 9164, "ldmatrix.sync.aligned.m8n16.x4.b8"},
      {ld(4, 1, 1, 0, 0), 9163, "ldmatrix.sync.aligned.m8n16.x4.b8x16.b6x16_p32"},
      {ld(2, 3, 0, 0, 1), 9155, "ldmatrix.sync.aligned.m16n16.x2.b8"},
      {ld(2, 3, 1, 0, 1), 9154, "ldmatrix.sync.aligned.m16n16.x2.b8x16.b6x16_p32"},
      {ld(2, 3, 2, 0, 1), 9153, "ldmatrix.sync.aligned.m16n16.x2.b8x16.b6x16_p64"},
      {ld(4, 3, 0, 0, 1), 9158, "ldmatrix.sync.aligned.m16n16.x4.b8"},
      {ld(4, 3, 1, 0, 1), 9157, "ldmatrix.sync.aligned.m16n16.x4.b8x16.b6x16_p32"},
      {ld(4, 3, 2, 0, 1), 9156, "ldmatrix.sync.aligned.m16n16.x4.b8x16.b6x16_p64"},
      {st(1, 0, 0), 9862, "stmatrix.sync.aligned.m8n8.x1.b16"},
      {st(1, 0, 1), 9861, "stmatrix.sync.aligned.m8n8.x1.trans.b16"},
      {st(2, 0, 0), 9864, "stmatrix.sync.aligned.m8n8.x2.b16"},
      {st(2, 0, 1), 9863, "stmatrix.sync.aligned.m8n8.x2.trans.b16"},
      {st(4, 0, 0), 9866, "stmatrix.sync.aligned.m8n8.x4.b16"},
      {st(4, 0, 1), 9865, "stmatrix.sync.aligned.m8n8.x4.trans.b16"},
      {st(1, 2, 1), 9858, "stmatrix.sync.aligned.m8n16.x1.trans.b8"},
      {st(2, 2, 1), 9859, "stmatrix.sync.aligned.m8n16.x2.trans.b8"},
      {st(4, 2, 1), 9860, "stmatrix.sync.aligned.m8n16.x4.trans.b8"},
  };
  return rows;
}

TEST(MatrixCopy, EveryPublishedRowIsSelected) {
  for (const PublishedRow& row : published()) {
    const auto copy = select_matrix_copy(row.props);
    ASSERT_TRUE(copy) << row.mnemonic << ": " << copy.error().text;
    EXPECT_EQ(copy->id, row.id) << row.mnemonic;
    EXPECT_EQ(copy->document_mnemonic, row.mnemonic);
  }
}

TEST(MatrixCopy, SiblingRowsAreSelected) {
  const auto mov = select_matrix_copy({.family = "movmatrix", .trans = 1});
  ASSERT_TRUE(mov);
  EXPECT_EQ(mov->id, std::nullopt);
  EXPECT_EQ(mov->ptx, "movmatrix.sync.aligned.m8n8.trans.b16");
  EXPECT_EQ(mov->registers, 1);
  const int alt[2][2] = {{10379, 10380}, {10381, 10382}};
  for (const int shape : {0, 3}) {
    for (const int attr : {0, 1}) {
      const auto copy =
          select_matrix_copy({.family = "stmatrix_alt", .shape = shape, .attr = attr});
      ASSERT_TRUE(copy);
      EXPECT_EQ(copy->id, alt[shape / 3][attr]);
      EXPECT_EQ(copy->ptx, "");
    }
  }
  EXPECT_EQ(select_matrix_copy({.family = "ldmatrix_sibling"})->id, 8366);
}

// Twelve of the published spellings are not PTX, and the catalogue knows which.
TEST(MatrixCopy, TwelvePublishedMnemonicsAreNotPtx) {
  int refused = 0;
  for (const PublishedRow& row : published())
    refused += bind_opcode(row.mnemonic).fits.empty() ? 1 : 0;
  EXPECT_EQ(refused, 12);
}

TEST(MatrixCopy, WhatIsEmittedIsInTheCatalogue) {
  for (const MatrixCopy& copy : matrix_copies()) {
    if (copy.ptx.empty()) {
      EXPECT_TRUE(copy.targets.empty());
      EXPECT_EQ(copy.min_arch(), std::nullopt);
      continue;
    }
    const Bindings bindings = bind_opcode(copy.ptx);
    ASSERT_EQ(bindings.fits.size(), 1U) << copy.ptx;
    EXPECT_EQ(archs_of(bindings.fits[0]), copy.targets);
  }
}

TEST(MatrixCopy, RegistersAndTargets) {
  const auto b16 = select_matrix_copy(ld(4, 0, 0, 1, 0));
  EXPECT_EQ(b16->registers, 4);
  EXPECT_EQ(b16->min_arch(), target::Arch::Sm75);
  const auto b8 = select_matrix_copy(ld(2, 3, 0, 0, 1));
  EXPECT_EQ(b8->ptx, "ldmatrix.sync.aligned.m16n16.x1.trans.b8");
  EXPECT_EQ(b8->registers, 2);  // num counts registers on this shape
  EXPECT_EQ(b8->min_arch(), target::Arch::Sm100a);
  EXPECT_EQ(select_matrix_copy(st(2, 0, 0))->min_arch(), target::Arch::Sm90);
  EXPECT_EQ(select_matrix_copy(st(4, 2, 1))->ptx, "stmatrix.sync.aligned.m16n8.x4.trans.b8");
}

// The ids, sorted, are LLVM's sorted names: each stands for another instruction.
TEST(MatrixCopy, IdsStandForDifferentInstructions) {
  std::set<std::string> seen;
  for (const MatrixCopy& copy : matrix_copies()) {
    if (copy.id_stands_for.empty()) continue;
    EXPECT_TRUE(seen.insert(copy.id_stands_for).second) << copy.id_stands_for;
  }
  EXPECT_EQ(seen.size(), 27U);
}

struct Refused {
  MatrixCopyProps props;
  std::string_view message;
};

TEST(MatrixCopy, RefusesWhatIsIllegal) {
  const Refused cases[] = {
      {ld(1, 1, 0, 1, 0), "Transposed layout is not supported for m8n16 shape for nvvm.ldmatrix"},
      {ld(1, 3, 0, 0, 1), "m16n16 ldmatrix requires num=2 or num=4"},
      {{.family = "ldmatix"}, "unknown matrix-copy family `ldmatix`; did you mean `ldmatrix`?"},
      {ld(3, 0, 0, 0, 0), "num is 3; ldmatrix takes 1, 2, 4"},
      {ld(0, 0, 0, 0, 0), "num is 0; ldmatrix takes 1, 2, 4"},
      {ld(1, 2, 0, 0, 0), "shape 2 is reserved for ldmatrix"},
      {ld(1, 7, 0, 0, 0), "shape is 7; ldmatrix takes 0, 1, 3"},
      {ld(1, 0, 1, 0, 0), "sz is 1; m8n8 ldmatrix is b16 only, sz=0"},
      {ld(1, 1, 2, 0, 0), "sz is 2; m8n16 ldmatrix takes 0, 1"},
      {ld(2, 3, 3, 0, 1), "sz is 3; m16n16 ldmatrix takes 0, 1, 2"},
      {ld(2, 3, 0, 0, 0), "layout is 0; m16n16 ldmatrix requires column layout, layout=1"},
      {ld(2, 3, 0, 1, 1),
       "trans is 1; m16n16 ldmatrix is transposed by its column layout, with trans=0"},
      {ld(1, 0, 0, 0, 1), "layout is 1; m8n8 ldmatrix requires row layout, layout=0"},
      {ld(1, 1, 0, 0, 1), "layout is 1; m8n16 ldmatrix requires row layout, layout=0"},
      {ld(1, 0, 0, 2, 0), "trans is 2; ldmatrix takes 0, 1"},
      {st(1, 2, 0), "m8n16 stmatrix requires trans=1"},
      {st(8, 0, 0), "num is 8; stmatrix takes 1, 2, 4"},
      {st(1, 1, 0), "shape is 1; stmatrix takes 0, 2"},
      {st(1, 3, 0), "shape is 3; stmatrix takes 0, 2"},
      {{.family = "stmatrix", .sz = 1}, "stmatrix has the properties num, shape and trans only"},
      {{.family = "movmatrix", .trans = 0}, "trans is 0; movmatrix takes 1"},
      {{.family = "stmatrix_alt", .shape = 1}, "shape is 1; stmatrix_alt takes 0, 3"},
      {{.family = "stmatrix_alt", .attr = 2}, "attr is 2; stmatrix_alt takes 0, 1"},
  };
  for (const Refused& refused : cases) {
    const auto copy = select_matrix_copy(refused.props);
    ASSERT_FALSE(copy) << refused.message;
    EXPECT_EQ(copy.error().text, refused.message);
  }
}

// No combination outside the table gets an id, whatever the numbers are.
TEST(MatrixCopy, AcceptsExactlyTheTable) {
  int accepted = 0;
  for (int num = -1; num <= 9; ++num) {
    for (int shape = -1; shape <= 4; ++shape) {
      for (int sz = -1; sz <= 4; ++sz) {
        for (int trans = -1; trans <= 2; ++trans) {
          for (int layout = -1; layout <= 2; ++layout) {
            accepted += select_matrix_copy(ld(num, shape, sz, trans, layout)) ? 1 : 0;
            MatrixCopyProps store = ld(num, shape, sz, trans, layout);
            store.family = "stmatrix";
            accepted += select_matrix_copy(store) ? 1 : 0;
          }
        }
      }
    }
  }
  EXPECT_EQ(accepted, 27);
}

// The document's code against its table: of ldmatrix they agree, of stmatrix they do not.
TEST(MatrixCopy, IdsOfTheDocumentsCode) {
  for (const PublishedRow& row : published()) {
    const auto copy = select_matrix_copy(row.props);
    ASSERT_TRUE(copy);
    const MatrixCopyProps& p = row.props;
    const int code = p.family == "ldmatrix" ? row.id
                     : p.shape == 2         ? 9857 + p.num
                     : p.trans == 1         ? row.id + 1
                                            : row.id - 1;
    EXPECT_EQ(copy->id_by_code, code) << row.mnemonic;
  }
}

// LLVM numbers names in alphabetical order: that supports the code's ids of m8n8 and the table's of
// m16n8, num 4.
TEST(MatrixCopy, TheOrderOfNamesDecidesBetweenTableAndCode) {
  for (const int num : {1, 2, 4}) {
    for (const int trans : {0, 1}) {
      const auto copy = select_matrix_copy(st(num, 0, trans));
      EXPECT_EQ(copy->id_by_order(), copy->id_by_code);
      EXPECT_NE(copy->id_by_order(), copy->id);
    }
  }
  const auto four = select_matrix_copy(st(4, 2, 1));
  EXPECT_EQ(four->id_by_order(), four->id);
  EXPECT_NE(four->id_by_order(), four->id_by_code);
}

TEST(MatrixCopy, AnIdIsLookedUpInTableAndCode) {
  const auto found = matrix_copies_of(9861);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0]->document_mnemonic, "stmatrix.sync.aligned.m8n8.x1.trans.b16");
  EXPECT_EQ(found[1]->document_mnemonic, "stmatrix.sync.aligned.m8n8.x1.b16");
  EXPECT_EQ(found[2]->document_mnemonic, "stmatrix.sync.aligned.m8n16.x4.trans.b8");
  EXPECT_EQ(matrix_copies_of(9168).size(), 1U);
  EXPECT_EQ(matrix_copies_of(8366).size(), 1U);
  EXPECT_TRUE(matrix_copies_of(9171).empty());
}

// With sz 0 = b6x16_p32, 1 = b4x16_p64, 2 = b8 all 18 rows are different instructions that exist.
TEST(MatrixCopy, InTheOtherReadingEveryLoadExists) {
  std::set<std::string_view> seen;
  int without = 0;
  for (const MatrixCopy& copy : matrix_copies()) {
    if (copy.props.family != "ldmatrix") {
      EXPECT_EQ(copy.other_reading(), "");
      continue;
    }
    EXPECT_EQ(bind_opcode(copy.other_reading()).fits.size(), 1U) << copy.other_reading();
    EXPECT_TRUE(seen.insert(copy.other_reading()).second) << copy.other_reading();
    without += copy.ptx.empty() ? 1 : 0;
  }
  EXPECT_EQ(seen.size(), 18U);
  EXPECT_EQ(without, 5);
}

TEST(MatrixCopy, StateSpaceGoesBeforeTheFormat) {
  EXPECT_EQ(with_space("ldmatrix.sync.aligned.m8n8.x4.trans.b16", Space::Shared),
            "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16");
  EXPECT_EQ(with_space("ldmatrix.sync.aligned.m8n16.x1.b8x16.b6x16_p32", Space::Shared),
            "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32");
  EXPECT_EQ(with_space("stmatrix.sync.aligned.m8n8.x1.b16", Space::Generic),
            "stmatrix.sync.aligned.m8n8.x1.b16");
  for (const MatrixCopy& copy : matrix_copies()) {
    if (copy.ptx.empty() || copy.props.family == "movmatrix") continue;
    EXPECT_EQ(bind_opcode(with_space(copy.ptx, Space::Shared)).fits.size(), 1U) << copy.ptx;
  }
}

}  // namespace
}  // namespace ww::isa::matrix_copy_test
