// SPDX-License-Identifier: Apache-2.0
// A workspace holds nothing any more once a primitive has had it.
#include "eval/test_kernel.h"

namespace ww::eval::test::workspace_test {
namespace {

// What computing with element `at` of a buffer finds, of which the second half was a workspace.
std::string read_after(int at) {
  TestKernel k;
  const BufferId out = k.matched("out", {32}, DType::Float32);
  k.start(32);
  const BufferId all = k.alloc("all", {64}, DType::Float32, Scope::Shared);
  const BufferId given = k.view("given", all, {32});
  k.f.at(given).elem_offset = k.n(32);
  const BufferId r = k.alloc("r", {32}, DType::Float32, Scope::Local, "S[32:1@laneid]");
  const BufferId s = k.alloc("s", {1}, DType::Float32, Scope::Local, "S[1] + R[32:1@laneid]");
  const BufferId mine = k.view("mine", r, {1});
  k.store(mine, {k.n(0)}, k.real(DType::Float32, 1));
  k.store(all, {k.tid()}, k.real(DType::Float32, 2));
  k.store(all, {k.op(ExprOp::Add, k.tid(), k.n(32))}, k.real(DType::Float32, 3));
  k.tile(TileOp::Sum, Unit::Warp, {k.full(s), k.full(r)});
  k.f.tile_calls.back().workspace.emplace_back("scratch", given);
  k.store(out, {k.tid()},
          k.op(ExprOp::Add, k.at(all, {k.op(ExprOp::Add, k.tid(), k.n(at))}),
               k.real(DType::Float32, 1)));
  return k.run({{}}).checks();
}

TEST(EvalWorkspace, IsForgotten) {
  EXPECT_EQ(read_after(0), "");
  EXPECT_EQ(read_after(32), "uninit");
}

}  // namespace
}  // namespace ww::eval::test::workspace_test
