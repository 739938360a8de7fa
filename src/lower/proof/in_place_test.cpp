// SPDX-License-Identifier: Apache-2.0
// A copy that writes what an earlier copy of the same primitive has read: the proof asks whether others may
// still read it.
#include <gtest/gtest.h>

#include "lower/test_calls.h"

namespace ww::lower::proof_in_place_test {
namespace {

/// Elements of shared memory go to registers, and from there back.
struct Case {
  std::vector<std::int64_t> shape;
  num::DType type;
  std::string registers;
  std::string_view reader;  // the variant
};
// One result, which all threads hold; and columns, which `ldmatrix` reads for other lanes.
const Case kResult{{1}, num::DType::Float64, "S[1] + R[128:1@tx]", "reg"};
const Case kColumns{{8, 128}, num::DType::Int32, "S[(8,128):(1,1@tx)]", "ldstmatrix"};

ir::Function function_of(const Case& c) {
  test::Builder b("k");
  b.f.has_device_entry = true;
  b.id(ir::ScopeIdKind::CtaId, "", 1);
  b.id(ir::ScopeIdKind::ThreadId, "tid", 128);
  const auto memory = b.alloc("memory", c.shape, c.type, test::Scope::Shared, "");
  const auto held = b.alloc("held", c.shape, c.type, test::Scope::Local, c.registers);
  b.tile(ir::TileOp::Copy, ir::Unit::Cta, {b.full(held), b.full(memory)});
  b.tile(ir::TileOp::Copy, ir::Unit::Cta, {b.full(memory), b.full(held)});
  return b.done();
}

class Under : public test::CallUnderTest {
 public:
  explicit Under(const Case& c)
      : CallUnderTest(function_of(c), test::variant_named(ir::TileOp::Copy, "reg"), prove_copy,
                      {.arch = target::Arch::Sm80, .ptx = 80}),
        read_{.tile = f.tile_calls[0]} {
    const Call reading = with_tile(call(), read_.tile);
    const Variant& variant = test::variant_named(ir::TileOp::Copy, c.reader);
    const auto plan = variant.match(reading);
    if (!plan) {
      reason += plan.error().reason;
      return;
    }
    CodeWriter out(f, call().context.facts, {});
    variant.emit(*plan, reading, out);
    read_.code = out.take();
  }

  /// Behind a barrier of such a unit.
  [[nodiscard]] Proof prove_behind(ir::Unit unit) {
    read_.ordered = unit;
    return prove_in_place(call(), code, read_);
  }

 private:
  EarlierRead read_;
};

TEST(ProofInPlace, AllThreadsReadWhatOneWrites) {
  Under under(kResult);
  ASSERT_EQ(under.reason, "");
  ASSERT_TRUE(under.prove().holds());
  const std::string raced = "thread 0 of the unit writes byte 0, which others may still read";
  EXPECT_EQ(under.prove_behind(ir::Unit::Thread).difference, raced);
  EXPECT_EQ(under.prove_behind(ir::Unit::Warp).difference, raced);
  const Proof proof = under.prove_behind(ir::Unit::Cta);
  EXPECT_TRUE(proof.holds()) << proof.difference << proof.could_not;
}

TEST(ProofInPlace, LanesReadRowsForEachOther) {
  Under under(kColumns);
  ASSERT_EQ(under.reason, "");
  ASSERT_TRUE(under.prove().holds());
  EXPECT_NE(under.prove_behind(ir::Unit::Thread).difference, "");
  const Proof proof = under.prove_behind(ir::Unit::Warp);
  EXPECT_TRUE(proof.holds()) << proof.difference << proof.could_not;
}

}  // namespace
}  // namespace ww::lower::proof_in_place_test
