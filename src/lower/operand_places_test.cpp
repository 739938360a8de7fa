// SPDX-License-Identifier: Apache-2.0
// How wide the places of a region are counted, and that they are the same when they were asked for
// before (lower/operand_places.cpp).
#include "lower/operand_places.h"

#include <gtest/gtest.h>

#include "layout/text.h"
#include "lower/proof/test_copies.h"
#include "lower/test_calls.h"

namespace ww::lower::operand_places_test {
namespace {

/// Row `start` of a matrix of 2^20 columns, zeros where it is none of the 1000 that are there.
bool needs_64_bits(ir::ExprId (*start)(test::Builder&)) {
  test::Builder b("k");
  b.f.has_device_entry = true;
  const ir::ExprId row = start(b);
  b.id(ir::ScopeIdKind::ThreadId, "tid", 32);
  const ir::BufferId d = b.alloc("D", {1, 8}, num::DType::Float16, ir::Scope::Shared);
  const ir::BufferId a =
      b.matched("A_ptr", b.buffer("A", {1000, 1 << 20}, num::DType::Float16, ir::Scope::Global));
  ir::Region from = b.full(a);
  from.ranges = {{row, b.n(1)}, {b.n(0), b.n(8)}};
  const ir::TileCallId call = b.tile(ir::TileOp::Copy, ir::Unit::Cta, {b.full(d), from});
  b.f.tile_calls[call.index].config.emplace_back("fill_mode", std::string("zero"));
  const test::CallUnderTest w(b.done(), test::variant_named(ir::TileOp::Copy, "gmem_smem"),
                              prove_copy, {.arch = target::Arch::Sm90a, .ptx = 90});
  EXPECT_EQ(w.reason, "");
  EXPECT_TRUE(w.prove().holds());
  for (std::uint32_t i = 0; i < w.f.expr_count(); ++i)
    if (w.f[ir::ExprId{i}].type.dtype == num::DType::Int64) return true;
  return false;
}

template <std::int64_t kCtas>
ir::ExprId cta(test::Builder& b) {
  return b.var(b.id(ir::ScopeIdKind::CtaId, "bx", kCtas));
}

TEST(OperandPlaces, PlacesBeyond32BitsAreCountedIn64) {
  EXPECT_FALSE(needs_64_bits(cta<2047>));
  EXPECT_TRUE(needs_64_bits(cta<2048>));  // 2047 * 2^20 + 2^20 is 2^31
}

TEST(OperandPlaces, FollowEachOtherInStorage) {
  OperandPlaces side;
  side.linear = {4, 5, 7, 8};
  EXPECT_TRUE(side.follows(0, 1));
  EXPECT_FALSE(side.follows(1, 2));
  side.strides = {{.stride = {}, .coef = {0, 1, 1, 1}}};
  EXPECT_FALSE(side.follows(0, 1));
  EXPECT_TRUE(side.follows(2, 3));
  side.strides.clear();
  side.swizzle =
      layout::Swizzle::make(1, 1, 1).value();  // units of two, swapped in every other row
  EXPECT_TRUE(side.follows(0, 1));             // 4 and 5 are 6 and 7 now
  EXPECT_FALSE(side.follows(2, 3));            // 7 is 5, 8 stays
  side.base_divisor = 1;                       // which of them are swapped is not known
  EXPECT_TRUE(side.follows(0, 1));
  EXPECT_FALSE(side.follows(2, 3));
}

// --- places that were asked for before -----------------------------------------------------------

class KnownOperandPlaces : public testing::Test {
 protected:
  static constexpr std::int64_t kColumns = 24;

  // Columns `first` to `first + count - 1` of the registers that a copy goes to.
  void compare(std::int64_t first, std::int64_t count) {
    ir::TileCall tile = copy_.call().tile;
    auto& columns = std::get<ir::Region>(tile.args[0]).ranges[1];
    columns = {ir::int_imm(copy_.f, num::DType::Int32, first),
               ir::int_imm(copy_.f, num::DType::Int32, count)};
    const Call call{copy_.call().context, tile, copy_.call().span, copy_.call().active};
    const auto known = operand_places(call, 0);
    const auto enumerated = enumerated_places(call, 0);
    ASSERT_TRUE(known && enumerated);
    EXPECT_EQ(known->buffer, enumerated->buffer);
    EXPECT_EQ(known->bits, enumerated->bits);
    EXPECT_EQ(known->base.valid(), enumerated->base.valid());
    EXPECT_TRUE(held_alike(*known, *enumerated)) << first << ", " << count;
  }
  // More regions than are kept, some again soon and some late.
  void compare_many() {
    for (const std::int64_t stride : {1, 7, 5, 1})
      for (std::int64_t i = 0; i < kColumns; ++i) {
        const std::int64_t first = i * stride % kColumns;
        compare(first, kColumns - first);
        compare(first, 1 + i % 3 % (kColumns - first));
      }
  }

  test::WrittenCopy copy_{{.variant = "reg",
                           .dtype = num::DType::Float32,
                           .shape = {32, kColumns},
                           .dst = "S[(32,24):(1@laneid,1)]",
                           .src = "S[(32,24):(24,1)]"}};
};

TEST_F(KnownOperandPlaces, AreThoseOfTheRegion) {
  ASSERT_EQ(copy_.reason, "");
  compare_many();
}

TEST_F(KnownOperandPlaces, AreForgottenWithTheLayout) {
  compare_many();
  const ir::BufferId buffer = copy_.call().region(0).buffer;
  copy_.f.at(buffer).layout = layout::parse_layout("S[(4,8,24):(8@laneid,1@laneid,2)]").value();
  compare_many();
  copy_.f.at(buffer).layout = layout::parse_layout("S[(8,4,24):(1@laneid,8@laneid,1)]").value();
  compare_many();
}

}  // namespace
}  // namespace ww::lower::operand_places_test
