// SPDX-License-Identifier: Apache-2.0
// The proof of permute_layout: it holds for what the variant writes; wrong places and, in place,
// missing barriers are caught.
#include <gtest/gtest.h>

#include <functional>

#include "lower/test_calls.h"

namespace ww::lower::proof_permute_test {
namespace {

using ir::ExprId;
using ir::StmtId;
using ir::StmtKind;
using test::all_of;
using test::Builder;
using test::Scope;

ir::Function function_of(bool is_in_place, num::DType type) {
  Builder b("k");
  b.f.has_device_entry = true;
  b.id(ir::ScopeIdKind::CtaId, "", 1);
  b.id(ir::ScopeIdKind::ThreadId, "tid", 64);
  const auto rows = b.alloc("rows", {32, 8}, type, Scope::Shared, "S[(32,8):(8,1)]");
  const std::string turned = "S[(32,8):(1,32)]";
  const auto to = is_in_place ? b.view("turned", rows, {32, 8}, turned)
                              : b.alloc("turned", {32, 8}, type, Scope::Shared, turned);
  b.tile(ir::TileOp::PermuteLayout, ir::Unit::Warp, {b.full(to), b.full(rows)});
  return b.done();
}

class Under : public test::CallUnderTest {
 public:
  explicit Under(bool is_in_place, num::DType type = num::DType::Float32)
      : CallUnderTest(function_of(is_in_place, type),
                      test::variant_named(ir::TileOp::PermuteLayout, "swizzled"), prove_copy,
                      {.arch = target::Arch::Sm90a, .ptx = 90}) {}
};

TEST(ProofPermute, HoldsForWhatIsWritten) {
  for (const bool is_in_place : {false, true}) {
    const Under under(is_in_place);
    ASSERT_EQ(under.reason, "");
    const Proof proof = under.prove();
    EXPECT_TRUE(proof.holds()) << proof.difference << proof.could_not;
  }
}

TEST(ProofPermute, EveryChangedNumberIsCaught) {
  Under under(true);
  std::vector<std::function<ExprId&()>> places;
  for (const StmtId id : all_of(under, StmtKind::Store)) {
    places.emplace_back([&under, id]() -> ExprId& { return under.f.at(id).expr; });
    places.emplace_back([&under, id]() -> ExprId& { return under.f.at(id).args[0]; });
  }
  for (const StmtId id : all_of(under, StmtKind::Bind))
    places.emplace_back([&under, id]() -> ExprId& { return under.f.at(id).expr; });
  int planted = 0;
  for (const auto& place : places)
    test::for_each_change(under.f, place, [&](ExprId, ExprId) {
      ++planted;
      EXPECT_FALSE(under.prove().holds());
    });
  EXPECT_GT(planted, 20);
}

TEST(ProofPermute, MissingBarrier) {
  Under under(true);
  const std::vector<StmtId> barriers = all_of(under, StmtKind::Evaluate);
  ASSERT_EQ(barriers.size(), 2U);
  under.code.erase(std::ranges::find(under.code, barriers[0]));
  EXPECT_EQ(under.prove().difference,
            "no barrier stands between the elements that are read and written");
}

TEST(ProofPermute, ReadsBehindWrites) {
  Under under(true);
  const std::vector<StmtId> barriers = all_of(under, StmtKind::Evaluate);
  const auto at = std::ranges::find(under.code, barriers[0]);
  // The last read goes behind the first write.
  std::rotate(at - 1, at, at + 3);
  EXPECT_NE(under.prove().difference, "");
}

}  // namespace
}  // namespace ww::lower::proof_permute_test
