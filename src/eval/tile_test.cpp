// SPDX-License-Identifier: Apache-2.0
// Copies between layouts: fragments, swizzles, replicas, offsets; and the demonstration programs.
#include <chrono>

#include "eval/test_kernel.h"

namespace ww::eval::test::tile_test {
namespace {

using testing::HasSubstr;

// out = in, through a tile of a given scope and layout, moved by `unit`.
Outcome through(Unit unit, std::int64_t threads, Scope scope, std::string_view layout,
                std::vector<std::int64_t> shape, DType type = DType::Float32) {
  TestKernel k;
  std::size_t size = 1;
  for (const std::int64_t extent : shape) size *= static_cast<std::size_t>(extent);
  const BufferId in = k.matched("in", shape, type);
  const BufferId out = k.matched("out", shape, type);
  k.start(threads);
  const BufferId tile = k.alloc("tile", shape, type, scope, layout);
  k.tile(TileOp::Copy, unit, {k.full(tile), k.full(in)});
  k.sync();
  k.tile(TileOp::Copy, unit, {k.full(out), k.full(tile)});
  return k.run({count_to(size, 1), {}});
}

TEST(EvalTile, CopiesThroughEveryLayoutKeepElements) {
  struct Row {
    Unit unit;
    std::int64_t threads;
    Scope scope;
    std::string_view layout;
    std::vector<std::int64_t> shape;
  };
  for (const Row& row : {
           Row{Unit::Warp, 32, Scope::Local, "S[(8,4,2):(4@laneid,1@laneid,1)]", {8, 8}},
           Row{Unit::Warp, 32, Scope::Local, "S[(2,8,2,4,2):(2,4@laneid,4,1@laneid,1)]", {16, 16}},
           Row{Unit::Warpgroup, 128, Scope::Local, "S[(128,4):(1@tid_in_wg,1)]", {128, 4}},
           Row{Unit::Cta, 128, Scope::Local, "S[(4,32,2):(1@warpid,1@laneid,1)]", {128, 2}},
           Row{Unit::Cta, 64, Scope::Local, "S[(64,2):(1@tx,1)]", {64, 2}},
           Row{Unit::Warp, 32, Scope::Local, "S[(8,2):(4@laneid,1)] + R[4:1@laneid]", {8, 2}},
           Row{Unit::Cta, 64, Scope::Local, "S[(32,2):(1@laneid,1)]", {32, 2}},
           Row{Unit::Warp, 32, Scope::Shared, "S[(8,16):(16,1)]", {8, 16}},
           Row{Unit::Cta, 64, Scope::Shared, "ComposeLayout(2,3,3,S[(8,64):(64,1)])", {8, 64}},
           Row{Unit::Thread, 1, Scope::Local, "S[(2,4):(1,2)]", {2, 4}},
       }) {
    const Outcome o = through(row.unit, row.threads, row.scope, row.layout, row.shape);
    EXPECT_EQ(o.checks(), "") << row.layout << "\n" << o.text();
    EXPECT_EQ(o.arrays[1], o.arrays[0]) << row.layout;
  }
}

TEST(EvalTile, AFragmentGivesEachLaneItsElements) {
  TestKernel k;
  const BufferId in = k.matched("in", {8, 8}, DType::Float16);
  const BufferId out = k.matched("out", {32, 2}, DType::Float16);
  k.start(32);
  const BufferId r =
      k.alloc("R", {8, 8}, DType::Float16, Scope::Local, "S[(8,4,2):(4@laneid,1@laneid,1)]");
  k.tile(TileOp::Copy, Unit::Warp, {k.full(r), k.full(in)});
  const BufferId own = k.view("own", r, {2});
  const ir::VarId i = k.loop("i", 2);
  k.store(out, {k.tid(), k.var(i)}, k.at(own, {k.var(i)}));
  k.end();
  const Outcome o = k.run({count_to(64), {}});
  EXPECT_EQ(o.checks(), "");
  EXPECT_EQ(o.arrays[1], o.arrays[0]);  // lane 4·r + c / 2 holds (r, c)
}

TEST(EvalTile, EachWarpExecutesItsOwnInstance) {
  TestKernel k;
  const BufferId in = k.matched("in", {4, 32}, DType::Float32);
  const BufferId out = k.matched("out", {4, 32}, DType::Float32);
  k.start(128);
  const ir::VarId warp = k.id(ir::ScopeIdKind::WarpId, "warp", 4);
  const BufferId r = k.alloc("R", {32}, DType::Float32, Scope::Local, "S[32:1@laneid]");
  k.tile(TileOp::Copy, Unit::Warp, {k.full(r), k.part(in, {{k.var(warp), 1}, {k.n(0), 32}})});
  k.tile(TileOp::Copy, Unit::Warp, {k.part(out, {{k.var(warp), 1}, {k.n(0), 32}}), k.full(r)});
  const Outcome o = k.run({count_to(128), {}});
  EXPECT_EQ(o.checks(), "");
  EXPECT_EQ(o.arrays[1], o.arrays[0]);
}

TEST(EvalTile, ThreadOffsetsNameThreadsOfTheCta) {
  TestKernel k;
  const BufferId out = k.matched("out", {64}, DType::Int32);
  k.start(64);
  const BufferId r = k.alloc("R", {32}, DType::Int32, Scope::Local, "S[32:1@laneid] + 1@warpid");
  const BufferId own = k.view("own", r, {1});
  k.store(own, {k.n(0)}, k.n(0));
  k.tile(TileOp::Fill, Unit::Cta, {k.full(r), k.n(7)});
  k.store(out, {k.tid()}, k.at(own, {k.n(0)}));
  const Outcome o = k.run({{}});
  EXPECT_EQ(o.checks(), "");
  EXPECT_EQ(o.arrays[0][31], 0);
  EXPECT_EQ(o.arrays[0][32], 7);
}

TEST(EvalTile, RegistersOfOtherWarpsCannotBeReached) {
  TestKernel k;
  k.start(64);
  const BufferId r = k.alloc("R", {32}, DType::Int32, Scope::Local, "S[32:1@laneid] + 1@warpid");
  k.tile(TileOp::Zero, Unit::Warp, {k.full(r)});
  const Outcome o = k.run({});
  EXPECT_EQ(o.checks(), "bounds");
  EXPECT_EQ(o.text(), "`R[0]` belongs to thread 32, which is not in warp 0 of CTA (0,0,0)");
}

TEST(EvalTile, CopiesOfAReplicatedElementMustAgree) {
  for (const bool same : {true, false}) {
    TestKernel k;
    const BufferId out = k.matched("out", {8}, DType::Int32);
    k.start(32);
    const BufferId r =
        k.alloc("R", {8}, DType::Int32, Scope::Local, "S[8:4@laneid] + R[4:1@laneid]");
    const BufferId own = k.view("own", r, {1});
    k.store(own, {k.n(0)}, same ? k.div(k.tid(), 4) : k.tid());
    k.tile(TileOp::Copy, Unit::Warp, {k.full(out), k.full(r)});
    const Outcome o = k.run({{}});
    EXPECT_EQ(o.checks(), same ? "" : "replica");
    EXPECT_EQ(o.arrays[0], same ? count_to(8) : count_to(8, 0, 4));
  }
}

TEST(EvalTile, ViewsOfOtherTypesShareBits) {
  TestKernel k;
  const BufferId out = k.matched("out", {2}, DType::Uint32);
  k.start(1);
  const BufferId r = k.alloc("R", {4}, DType::Float16, Scope::Local);
  const ir::VarId i = k.loop("i", 4);
  k.store(r, {k.var(i)}, k.to(DType::Float16, k.var(i)));
  k.end();
  ir::Buffer words = k.buffer("W", {2}, DType::Uint32, Scope::Local);
  words.origin = ir::BufferOrigin::View;
  words.base = r;
  const BufferId w = k.declare(std::move(words));
  k.tile(TileOp::Copy, Unit::Thread, {k.full(out), k.full(w)});
  const Outcome o = k.run({{}});
  EXPECT_EQ(o.checks(), "");
  EXPECT_EQ(o.arrays[0], (Numbers{0x3c000000, 0x42004000}));
}

TEST(EvalTile, RegionsMustLieInside) {
  TestKernel k;
  const BufferId in = k.matched("in", {8}, DType::Float32);
  k.start(4);
  const BufferId r = k.alloc("R", {4}, DType::Float32, Scope::Local);
  k.tile(TileOp::Copy, Unit::Thread, {k.full(r), k.part(in, {{k.mul(k.tid(), k.n(2)), 4}})});
  const Outcome o = k.run({count_to(8)});
  EXPECT_EQ(o.checks(), "bounds");
  EXPECT_EQ(o.text(),
            "region 6:10 of dimension 0 of `in` in thread 3 of CTA (0,0,0) leaves its extent 8");
}

TEST(EvalTile, OperandsMustBeUniform) {
  TestKernel k;
  const BufferId in = k.matched("in", {64}, DType::Float32);
  k.start(32);
  const BufferId r = k.alloc("R", {32}, DType::Float32, Scope::Local, "S[32:1@laneid]");
  k.tile(TileOp::Copy, Unit::Warp, {k.full(r), k.part(in, {{k.tid(), 32}})});
  const Outcome o = k.run({count_to(64)});
  EXPECT_EQ(o.checks(), "operand");
  EXPECT_EQ(
      o.text(),
      "the start of dimension 0 of `in` differs between threads of warp 0 of CTA (0,0,0): 0 in "
      "thread 0, 1 in thread 1");
}

TEST(EvalTile, FourBitElementsArePacked) {
  const Outcome o = through(Unit::Thread, 1, Scope::Local, "S[8:1]", {8}, DType::Int4);
  EXPECT_EQ(o.checks(), "");
  EXPECT_EQ(o.arrays[1], o.arrays[0]);
}

TEST(EvalTile, ParametersMayHaveLayouts) {
  TestKernel k;
  ir::Buffer a = k.buffer("A", {4, 2}, DType::Float32, Scope::Global, "S[(4,2):(1,4)]");
  const BufferId in = k.matched("A_ptr", std::move(a));
  const BufferId out = k.matched("out", {4, 2}, DType::Float32);
  k.start(1);
  k.tile(TileOp::Copy, Unit::Thread, {k.full(out), k.full(in)});
  const Outcome o = k.run({count_to(8), {}});
  EXPECT_EQ(o.arrays[1], count_to(8));
}

// --- demonstration programs ---

Outcome run_program(ir::test::Builder program, const std::vector<Numbers>& inputs) {
  TestKernel k;
  static_cast<ir::test::Builder&>(k) = std::move(program);
  return k.run(inputs);
}

TEST(EvalProgram, MatrixLoad) {
  const Outcome o = run_program(ir::test::ldmatrix_program(), {count_to(128), {}});
  EXPECT_EQ(o.checks(), "") << o.text();
  EXPECT_EQ(o.arrays[1], o.arrays[0]);
}

TEST(EvalProgram, RegisterRoundTrip) {
  const Outcome o = run_program(ir::test::reg_program(), {{}});
  EXPECT_EQ(o.checks(), "") << o.text();
  for (std::size_t i = 0; i < 256; ++i)
    EXPECT_EQ(o.arrays[0][i], static_cast<double>(i / 8 * 100 + i % 8 + 1));
}

TEST(EvalProgram, TensorMemoryRoundTrip) {
  // The program never gives its columns back.
  const Outcome o = run_program(ir::test::tensor_program(), {count_to(1024), {}});
  EXPECT_EQ(o.checks(), "tensor") << o.text();
  EXPECT_EQ(o.arrays[1], o.arrays[0]);
}

TEST(EvalProgram, MatrixProduct) {
  Numbers a;
  Numbers b;
  for (std::size_t i = 0; i < 256; ++i) a.push_back(static_cast<double>(i * 7 % 13) - 6);
  for (std::size_t i = 0; i < 128; ++i) b.push_back(static_cast<double>(i * 5 % 11) / 4);
  const Outcome o = run_program(ir::test::gemm_program(), {a, b, {}});
  EXPECT_EQ(o.checks(), "") << o.text();
  for (std::size_t m = 0; m < 16; ++m)
    for (std::size_t n = 0; n < 8; ++n) {
      double sum = 0;
      for (std::size_t k = 0; k < 16; ++k) sum += a[m * 16 + k] * b[k * 8 + n];
      EXPECT_EQ(o.arrays[2][m * 8 + n], sum);
    }
}

TEST(EvalProgram, LoweredProgramsRunToo) {
  const Outcome o = run_program(ir::test::lowered_program(), {{}});
  // Shared memory is copied, never written: copying it is no use, so nothing is written either.
  EXPECT_EQ(o.report.written[0], std::vector<bool>(256, false));
}

TEST(EvalTile, ALargeProductTakesMilliseconds) {
  TestKernel k;
  const BufferId a = k.matched("A", {64, 64}, DType::Float16);
  const BufferId b = k.matched("B", {64, 64}, DType::Float16);
  const BufferId d = k.matched("D", {64, 64}, DType::Float32);
  k.start(128);
  const BufferId as = k.alloc("As", {64, 64}, DType::Float16, Scope::Shared,
                              "ComposeLayout(3,3,3,S[(64,64):(64,1)])");
  const BufferId bs = k.alloc("Bs", {64, 64}, DType::Float16, Scope::Shared,
                              "ComposeLayout(3,3,3,S[(64,64):(64,1)])");
  const BufferId acc =
      k.alloc("acc", {64, 64}, DType::Float32, Scope::Local, "S[(64,2,32):(2@tx,1@tx,1)]");
  k.tile(TileOp::Copy, Unit::Cta, {k.full(as), k.full(a)});
  k.tile(TileOp::Copy, Unit::Cta, {k.full(bs), k.full(b)});
  k.sync();
  k.tile(TileOp::Gemm, Unit::Cta, {k.full(acc), k.full(as), k.full(bs), k.full(acc)});
  k.tile(TileOp::Copy, Unit::Cta, {k.full(d), k.full(acc)});
  const auto start = std::chrono::steady_clock::now();
  const Outcome o = k.run({Numbers(4096, 2), Numbers(4096, 3), {}});
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(o.checks(), "") << o.text();
  EXPECT_EQ(o.arrays[2], Numbers(4096, 64 * 6));
  EXPECT_LT(took, std::chrono::seconds(2));  // tens of milliseconds, unless sanitized
}

}  // namespace
}  // namespace ww::eval::test::tile_test
