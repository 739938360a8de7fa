// SPDX-License-Identifier: Apache-2.0
// tcgen05.mma.sp: rows that keep half of their elements, and where their metadata lies.
#include "sim/ops/test_tensor_product.h"

namespace ww::sim::tcgen05_mma_test {
namespace {

// Of the swizzles the one of 32 bytes is too short for the columns of B.
const Swizzle& long_swizzle(unsigned next) {
  std::vector<const Swizzle*> all;
  for (const Swizzle& swizzle : kSwizzles)
    if (swizzle.chunks != 2) all.push_back(&swizzle);
  return *all[next % all.size()];
}

Case sparse_case(const Types& types, unsigned m, unsigned n, unsigned next) {
  Case c = make_case(types, m, n);
  c.spec.is_sparse = true;
  c.is.is_sparse = true;
  c.is.selector = types.kind == "f16" || types.kind == "tf32" ? next % 2 : 0;
  c.spec.columns = 64;
  c.spec.metadata_column = 60;
  c.spec.image_bytes = 32768;
  c.swizzle_a = kSwizzles[next % 4];
  c.swizzle_b = long_swizzle(next);
  c.adds = next % 4 != 3;
  return c;
}

TEST(SparseTensorProduct, MultipliesAllTypes) {
  unsigned next = 0;
  for (const Types& types : kTypes) {
    for (const unsigned m : {64U, 128U}) {
      Case c = sparse_case(types, m, 16, next);
      c.is.negates_a = types.kind != "i8" && next % 3 == 1;
      c.is.saturates = types.kind == "i8" && next % 2 == 0;
      c.spec.a_in_tensor = next % 3 == 2 && types.a != kFp4;
      c.spec.a_column = 40;
      ++next;
      check(c);
    }
  }
}

TEST(SparseTensorProduct, IsDoneByPairsOfBlocks) {
  unsigned next = 0;
  for (const Types& types : kTypes) {
    for (const unsigned m : {128U, 256U}) {
      Case c = sparse_case(types, m, 32, next);
      c.spec.is_pair = true;
      c.spec.a_in_tensor = next % 3 == 1 && types.a != kFp4;
      c.spec.a_column = 40;
      c.spec.has_mask = next % 2 == 1;
      ++next;
      check(c);
    }
  }
}

TEST(SparseTensorProduct, IsWeightStationary) {
  unsigned next = 0;
  for (const unsigned m : {32U, 64U, 128U}) {
    for (const Types& types : {kTypes[0], kTypes[3], kTypes[4], kTypes[7]}) {
      Case c = sparse_case(types, m, 64, next);
      c.spec.is_ws = true;
      c.spec.a_in_tensor = next % 2 == 1;
      c.spec.columns = 128;
      c.spec.a_column = 70;
      c.spec.metadata_column = 100;
      ++next;
      check(c);
    }
  }
}

TEST(SparseTensorProduct, MultipliesMatricesOfBothMajors) {
  unsigned next = 0;
  for (const Types& types : kTypes) {
    const bool is_tf32 = types.kind == "tf32";
    Case c = sparse_case(types, 128, 32, next);
    c.is.a_is_mn_major = c.is.b_is_mn_major = true;
    c.swizzle_a = is_tf32 ? kWideAtoms : kSwizzles[next % 4];
    c.swizzle_b = is_tf32 ? kWideAtoms : kSwizzles[(next + 1) % 4];
    ++next;
    check(c);
  }
}

TEST(SparseTensorProduct, ScalesBlocks) {
  unsigned next = 0;
  for (const ScaledTypes& types : kScaled) {
    const bool is_pair = next % 2 == 1;
    Case c = sparse_case({types.kind, types.a, types.b, kF32}, is_pair ? 256 : 128,
                         is_pair ? 64 : 40, next);
    c.spec.scales = types.scales;
    c.spec.is_pair = is_pair;
    c.spec.columns = 128;
    c.spec.metadata_column = 98;
    c.spec.scale_a_column = 110;
    c.spec.scale_b_column = 114;
    c.is.scale_type = types.scale;
    c.is.scale_a_id = next % (4 / types.count) * types.count;
    c.scale_count = types.count;
    ++next;
    check(c);
  }
}

// --- planted faults ------------------------------------------------------------------------------

void expect_found(ProductUnderTest& product, const Cell& cell, std::uint32_t word,
                  std::string_view text) {
  const std::string found = product.found_with(cell, word);
  EXPECT_NE(found.find(text), std::string::npos) << found;
}

TEST(SparseTensorProduct, MetadataIsChecked) {
  ProductUnderTest halves(sparse_case(kTypes[0], 128, 16, 0));
  expect_found(halves, {0, 26, 60}, 0x4444'5444,
               "row 18 of A has metadata 0b0101 for elements 28 to 31; it has two places "
               "in ascending order, or is 0b0110");
  ProductUnderTest bytes(sparse_case(kTypes[7], 128, 16, 0));
  expect_found(bytes, {0, 77, 61}, 0x4444'4441,
               "row 77 of A has metadata 0b0001 for elements 32 to 35");
}

TEST(SparseTensorProduct, MetadataStartsInAnEvenColumnOfTheLanesOfD) {
  Case c = sparse_case(kTypes[0], 128, 16, 0);
  c.spec.metadata_column = 61;
  ProductUnderTest product(c);
  expect_found(product, {0, 0, 0}, 0, "the metadata starts in column 61; it starts in an even one");
}

TEST(SparseTensorProduct, TheDescriptorSaysSo) {
  Case c = sparse_case(kTypes[0], 128, 16, 0);
  c.is.is_sparse = false;
  ProductUnderTest dense(c);
  expect_found(dense, {0, 0, 0}, 0, "the sparsity bit is not set, and the instruction has `.sp`");
  c.is.is_sparse = true;
  c.is.selector = 2;
  ProductUnderTest selector(c);
  expect_found(selector, {0, 0, 0}, 0,
               "sparsity selector 2; `tcgen05.mma.sp.cta_group::1.kind::f16` has 0 and 1");
  c = sparse_case(kTypes[7], 128, 16, 0);
  c.is.selector = 1;
  ProductUnderTest bytes(c);
  expect_found(bytes, {0, 0, 0}, 0, "`tcgen05.mma.sp.cta_group::1.kind::i8` has 0 alone");
}

TEST(SparseTensorProduct, ShortSwizzlesOfBAreRefused) {
  Case c = sparse_case(kTypes[0], 128, 16, 0);
  for (const Swizzle& swizzle : kSwizzles)
    if (swizzle.chunks == 2) c.swizzle_b = swizzle;
  ProductUnderTest product(c);
  expect_found(product, {0, 0, 0}, 0,
               "a sparse product with a K-major B in the swizzle of 32 bytes is not modelled");
}

TEST(SparseTensorProduct, ScalesOfHalvesAreRefused) {
  Case c = sparse_case({"mxf4", kFp4, kFp4, kF32}, 128, 32, 0);
  c.spec.scales = ".block_scale";
  c.spec.is_pair = true;
  c.spec.scale_a_column = 50;
  c.spec.scale_b_column = 54;
  c.scale_count = 2;
  ProductUnderTest product(c);
  expect_found(product, {0, 0, 0}, 0,
               "a sparse product with scales of M = 128 by a pair of CTAs is not modelled");
}

}  // namespace
}  // namespace ww::sim::tcgen05_mma_test
