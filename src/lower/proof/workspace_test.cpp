// SPDX-License-Identifier: Apache-2.0
// The proof of code that uses the caller's workspace: it holds, and faults are caught as they are in the
// compiler's own scratch memory.
#include <gtest/gtest.h>

#include "lower/proof/test_reductions.h"

namespace ww::lower::proof_workspace_test {
namespace {

using ir::StmtId;
using ir::StmtKind;
using ir::Unit;
using test::all_of;

// A sum over 128 threads through 16 bytes in the middle of a buffer.
ir::Function function() {
  test::Builder b("k");
  b.f.has_device_entry = true;
  b.id(ir::ScopeIdKind::CtaId, "", 1);
  b.id(ir::ScopeIdKind::ThreadId, "tid", 128);
  const ir::BufferId memory = b.alloc("P", {64}, num::DType::Float32, ir::Scope::Shared, "");
  const ir::BufferId given = b.view("W", memory, {4});
  b.f.at(given).elem_offset = ir::int_imm(b.f, num::DType::Int32, 16);
  std::vector<ir::TileArg> args;
  args.emplace_back(
      b.full(b.alloc("D", {1}, num::DType::Float32, ir::Scope::Local, "S[1] + R[128:1@tx]")));
  args.emplace_back(
      b.full(b.alloc("A", {128}, num::DType::Float32, ir::Scope::Local, "S[128:1@tx]")));
  args.emplace_back(ir::Setting(std::int64_t{-1}));
  args.emplace_back(ir::Setting(false));
  b.tile(ir::TileOp::Sum, Unit::Cta, std::move(args));
  b.f.tile_calls.back().workspace.emplace_back("scratch", given);
  return b.done();
}

class Under : public test::CallUnderTest {
 public:
  Under()
      : CallUnderTest(function(), test::variant_named(ir::TileOp::Sum, "warps"), prove_reduction,
                      {.arch = target::Arch::Sm90a, .ptx = 90}) {}
};

// The views through which the code reaches the workspace.
std::vector<ir::BufferId> views(const Under& under) {
  std::vector<ir::BufferId> out;
  for (const StmtId id : all_of(under, StmtKind::Declare))
    if (under.f[under.f[id].buffer].name == "between") out.push_back(under.f[id].buffer);
  return out;
}

TEST(ProofWorkspace, Holds) {
  const Under under;
  ASSERT_EQ(under.reason, "");
  const Proof proof = under.prove();
  EXPECT_TRUE(proof.holds()) << proof.difference << proof.could_not;
}

TEST(ProofWorkspace, MissingBarriers) {
  for (const std::size_t n : {0U, 1U}) {
    Under under;
    const std::vector<StmtId> barriers = all_of(under, StmtKind::Evaluate);
    ASSERT_EQ(barriers.size(), 2U);
    under.code.erase(std::ranges::find(under.code, barriers[n]));
    EXPECT_NE(under.prove().difference, "") << n;
  }
}

// Memory of the same buffer that is not the workspace's.
TEST(ProofWorkspace, BesideIt) {
  Under under;
  ASSERT_EQ(views(under).size(), 1U);
  const ir::BufferId view = views(under)[0];
  const auto with_offset = [&](std::int64_t bytes) {
    under.f.at(view).byte_offset = ir::int_imm(under.f, num::DType::Int32, bytes);
    return under.prove().difference;
  };
  EXPECT_EQ(with_offset(64), "");
  EXPECT_EQ(with_offset(68), "thread 96 of the unit uses byte 16 of scratch memory, of 16");
  EXPECT_EQ(with_offset(60), "thread 0 of the unit uses byte -4 of scratch memory, of 16");
}

}  // namespace
}  // namespace ww::lower::proof_workspace_test
