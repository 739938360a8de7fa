// SPDX-License-Identifier: Apache-2.0
// tcgen05.mma of all kinds, shapes and places of its operands.
#include "sim/ops/test_tensor_product.h"

namespace ww::sim::tcgen05_mma_test {
namespace {

TEST(TensorProduct, MultipliesAllTypesInAllSwizzles) {
  unsigned next = 0;
  for (const Types& types : kTypes) {
    for (const Swizzle& swizzle : kSwizzles) {
      Case c = make_case(types, next % 2 == 0 ? 64 : 128, next % 3 == 0 ? 8 : 16);
      c.swizzle_a = kSwizzles[(next + 1) % 4];
      c.swizzle_b = swizzle;
      c.is.negates_a = types.kind != "i8" && next % 3 == 1;
      c.is.negates_b = types.kind != "i8" && next % 5 == 2;
      c.is.saturates = types.kind == "i8" && next % 2 == 0;
      c.adds = next % 4 != 3;
      c.spec.image_bytes = 32768;
      ++next;
      check(c);
    }
  }
}

TEST(TensorProduct, MultipliesMatricesOfBothMajors) {
  unsigned next = 0;
  for (const Types& types : kTypes) {
    const bool is_tf32 = types.kind == "tf32";
    for (const unsigned majors : {next % 2 + 1, 3U}) {
      Case c = make_case(types, majors == 2 ? 64 : 128, 64);
      c.spec.columns = 64;
      c.spec.image_bytes = 32768;
      c.is.a_is_mn_major = (majors & 1U) != 0;
      c.is.b_is_mn_major = (majors & 2U) != 0;
      c.swizzle_a = c.is.a_is_mn_major && is_tf32 ? kWideAtoms : kSwizzles[next % 4];
      c.swizzle_b = c.is.b_is_mn_major && is_tf32 ? kWideAtoms : kSwizzles[(next + 1) % 4];
      ++next;
      check(c);
    }
  }
}

TEST(TensorProduct, TakesAFromTensorMemory) {
  unsigned next = 0;
  for (const Types& types : kTypes) {
    if (types.a == DType::Float4E2M1fn) continue;
    Case c = make_case(types, next % 2 == 0 ? 128 : 64, 16);
    c.spec.a_in_tensor = true;
    c.spec.a_column = 20;
    c.spec.d_column = 2;
    c.swizzle_b = kSwizzles[next++ % 4];
    check(c);
  }
}

TEST(TensorProduct, IsDoneByPairsOfBlocks) {
  unsigned next = 0;
  for (const Types& types : kTypes) {
    const bool in_tensor = next % 3 == 1 && types.a != DType::Float4E2M1fn;
    Case c = make_case(types, next % 2 == 0 ? 256 : 128, 32);
    c.spec.is_pair = true;
    c.spec.a_in_tensor = in_tensor;
    c.spec.columns = 64;
    c.spec.a_column = 40;
    c.spec.has_mask = next % 2 == 1;
    c.swizzle_a = kSwizzles[next % 4];
    c.swizzle_b = kSwizzles[(next + 2) % 4];
    c.spec.image_bytes = 32768;
    ++next;
    check(c);
  }
}

TEST(TensorProduct, IsWeightStationary) {
  unsigned next = 0;
  for (const unsigned m : {32U, 64U, 128U}) {
    for (const bool in_tensor : {false, true}) {
      Case c = make_case(kTypes[next % 5], m, 64);
      c.spec.is_ws = true;
      c.spec.a_in_tensor = in_tensor;
      c.spec.flags = next % 2 == 0 ? "" : ".collector::b1::fill";
      c.spec.columns = 128;
      c.spec.a_column = 70;
      c.spec.image_bytes = 32768;
      c.swizzle_b = kSwizzles[next++ % 4];
      check(c);
    }
  }
}

TEST(TensorProduct, LeavesLanesAloneAndDividesD) {
  for (const Types& types : {kTypes[0], kTypes[1], kTypes[3]}) {
    Case c = make_case(types, 128, 8);
    c.spec.has_mask = true;
    c.spec.scale_d = 8;
    check(c);
    c.spec.scale_d = 0;
    c.is.m = 64;
    check(c);
  }
}

// A mask makes the simulator add to copies of D, which it else adds to where D lies.
TEST(TensorProduct, AddsToCopiesAsWhereDLies) {
  for (const Types& types : kTypes) {
    if (types.d != kF32) continue;
    for (const bool exact : {true, false}) {
      Case c = make_case(types, exact ? 64 : 128, 32);
      c.adds = exact || types.kind != "tf32";
      const std::vector<std::uint32_t> in_place = ProductUnderTest(c).run(exact);
      c.spec.has_mask = true;
      ProductUnderTest masked(c);
      const std::vector<std::uint32_t> copied = masked.run(exact);
      ASSERT_EQ(in_place.size(), copied.size());
      std::size_t wrong = 0;
      for (std::size_t at = 0; at < copied.size(); ++at)
        wrong += copied[at] != (masked.is_disabled(at) ? masked.before() : in_place)[at] ? 1U : 0U;
      EXPECT_EQ(wrong, 0U) << c.spec.opcode() << (exact ? " exact" : " plain");
      EXPECT_NE(in_place, masked.before());
    }
  }
}

TEST(TensorProduct, MultipliesWideMatrices) {
  Case c = make_case(kTypes[0], 128, 256);
  c.spec.columns = 256;
  c.spec.image_bytes = 65536;
  c.swizzle_a = c.swizzle_b = kSwizzles[1];
  check(c);
}

TEST(TensorProduct, ScalesBlocks) {
  unsigned next = 0;
  for (const ScaledTypes& types : kScaled) {
    const bool is_pair = next % 2 == 1, is_short = next % 4 == 1;
    Case c;
    c.spec.kind = types.kind;
    c.spec.scales = types.scales;
    c.spec.is_pair = is_pair;
    c.spec.a_in_tensor = next % 4 == 3 && (types.a != kFp4 || types.count > 1);
    c.spec.columns = 128;
    c.spec.a_column = 100;
    c.spec.scale_a_column = 110;
    c.spec.scale_b_column = 114;
    c.spec.image_bytes = 32768;
    c.is = {.m = is_pair && !is_short ? 256U : 128U,
            .n = is_pair ? 64U : 40U,
            .a = types.a,
            .b = types.b};
    c.is.scale_type = types.scale;
    c.is.scale_a_id = next % (4 / types.count) * types.count;
    c.is.scale_b_id = (next + 1) % (4 / types.count) * types.count;
    c.is.negates_b = next % 3 == 1;
    c.scale_count = types.count;
    c.swizzle_a = kSwizzles[next % 4];
    c.swizzle_b = kSwizzles[(next + 1) % 4];
    ++next;
    check(c);
  }
}

// With M = 128 by a pair, each half of the lanes has the scales of its columns of B.
TEST(TensorProduct, ScalesOfAHalfAreInBothItsQuarters) {
  Case c;
  c.spec.kind = "mxf4";
  c.spec.scales = ".block_scale";
  c.spec.is_pair = true;
  c.spec.columns = 64;
  c.spec.scale_a_column = 50;
  c.spec.scale_b_column = 54;
  c.is = {.m = 128, .n = 32, .a = kFp4, .b = kFp4};
  c.scale_count = 2;
  check(c);
  const std::string found = ProductUnderTest(c).found_with({1, 96, 54}, 0x8080);
  EXPECT_NE(found.find("the scales of B differ between lanes 64 to 95 and lanes 96 to 127; both "
                       "quarters of a half of tensor memory hold the same ones"),
            std::string::npos)
      << found;
}

}  // namespace
}  // namespace ww::sim::tcgen05_mma_test
