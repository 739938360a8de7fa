// SPDX-License-Identifier: Apache-2.0
// Shapes, layouts, threads, scopes, tensor memory: one fault per test.
#include <gtest/gtest.h>

#include "ir/verify/test_findings.h"
#include "ir/verify/verify.h"

namespace ww::ir::verify_buffers_test {
namespace {

using test::Builder;
using test::DType;
using test::findings;

// --- shapes --------------------------------------------------------------------------------------

TEST(VerifyShapes, ExtentBelowOne) {
  Builder b;
  b.alloc("A", {4, 0}, DType::Int32, Scope::Local);
  EXPECT_EQ(findings(b), "extent 1 of `A` is 0, expected at least 1 [BadBuffer]");
}

TEST(VerifyShapes, ExtentThatIsNoInteger) {
  Builder b;
  Buffer buffer = b.buffer("A", {4}, DType::Int32, Scope::Global);
  buffer.shape[0] = b.real(DType::Float32, 4);
  b.matched("A_ptr", std::move(buffer));
  EXPECT_EQ(findings(b), "extent 0 of `A` has type `float32`, expected an integer [BadType]");
}

TEST(VerifyShapes, RankOfAnAccess) {
  Builder b;
  const BufferId a = b.alloc("A", {4, 4}, DType::Int32, Scope::Local);
  b.store(a, {b.n(0)}, b.n(1));
  EXPECT_EQ(findings(b), "1 index for `A`, which has 2 dimensions [RankMismatch]");
}

TEST(VerifyShapes, IndexOutside) {
  Builder b;
  const BufferId a = b.alloc("A", {4, 8}, DType::Int32, Scope::Local);
  b.store(a, {b.n(4), b.n(0)}, b.n(1));
  EXPECT_EQ(findings(b), "index 4 in dimension 0 of `A`, which has extent 4 [OutOfBounds]");
}

TEST(VerifyShapes, VectorsThatReachOutside) {
  Builder b;
  const BufferId a = b.alloc("A", {8}, DType::Int32, Scope::Local);
  b.store(a, {b.n(6)}, b.at(a, {b.n(0)}, 4));
  EXPECT_EQ(findings(b), "index 9 in dimension 0 of `A`, which has extent 8 [OutOfBounds]");
  Builder c;
  const BufferId r = c.alloc("A", {8}, DType::Int32, Scope::Local);
  c.store(r, {ramp(c.f, c.n(2), c.n(-1), 4).value()}, c.at(r, {c.n(0)}, 4));
  EXPECT_EQ(findings(c), "index -1 in dimension 0 of `A`, which has extent 8 [OutOfBounds]");
}

TEST(VerifyShapes, RegionOutside) {
  Builder b;
  const BufferId a = b.alloc("A", {8}, DType::Int32, Scope::Local);
  Region region = b.full(a);
  region.ranges[0] = {b.n(6), b.n(4)};
  b.tile(TileOp::Zero, Unit::Thread, {region});
  EXPECT_EQ(findings(b),
            "a region takes 4 from 6 in dimension 0 of `A`, which has extent 8 [OutOfBounds]");
}

TEST(VerifyShapes, RegionOfFloats) {
  Builder b;
  const BufferId a = b.alloc("A", {8, 8}, DType::Int32, Scope::Local);
  Region region = b.full(a);
  for (RangeExpr& range : region.ranges) range.min = b.real(DType::Float32, 1);
  b.tile(TileOp::Zero, Unit::Thread, {region});
  EXPECT_EQ(findings(b),
            "dimension 0 of a region of `A` has type `float32`, expected an integer [BadType]\n"
            "dimension 1 of a region of `A` has type `float32`, expected an integer [BadType]");
}

TEST(VerifyShapes, RankOfARegion) {
  Builder b;
  const BufferId a = b.alloc("A", {8, 8}, DType::Int32, Scope::Local);
  Region region = b.full(a);
  region.ranges.pop_back();
  b.tile(TileOp::Zero, Unit::Thread, {region});
  EXPECT_EQ(findings(b), "a region with 1 range of `A`, which has 2 dimensions [RankMismatch]");
}

TEST(VerifyShapes, ScalarOfSeveralElements) {
  Builder b;
  Buffer buffer = b.buffer("x", {2}, DType::Int32, Scope::Local);
  buffer.is_scalar = true;
  b.alloc(std::move(buffer));
  EXPECT_EQ(findings(b), "scalar `x` has shape (2), expected (1) [BadBuffer]");
}

TEST(VerifyShapes, OffsetThatIsNoInteger) {
  Builder b;
  const BufferId a = b.alloc("A", {8}, DType::Int32, Scope::Local);
  const BufferId v = b.view("V", a, {4});
  b.f.at(v).elem_offset = b.real(DType::Float32, 1);
  EXPECT_EQ(findings(b), "an offset of `V` has type `float32`, expected an integer [BadType]");
}

// --- layouts -------------------------------------------------------------------------------------

TEST(VerifyLayouts, NumberOfElements) {
  Builder b;
  b.alloc("A", {8, 16}, DType::Int32, Scope::Shared, "S[(8,8):(8,1)]");
  EXPECT_EQ(findings(b),
            "the layout of `A` has 64 elements, its shape (8, 16) has 128 [BadBuffer]");
}

TEST(VerifyLayouts, NegativeAddress) {
  Builder b;
  b.alloc("A", {8}, DType::Int32, Scope::Shared, "S[8:1] - 2");
  EXPECT_EQ(findings(b), "an element of `A` lies at m -2, expected 0 or more [BadBuffer]");
}

TEST(VerifyLayouts, OffsetOfAViewCounts) {
  Builder b;
  const BufferId a = b.alloc("A", {8}, DType::Int32, Scope::Shared);
  const BufferId v = b.view("V", a, {4}, "S[4:-1]");
  b.f.at(v).elem_offset = b.n(3);
  EXPECT_EQ(findings(b), "");
  b.f.at(v).elem_offset = b.n(2);
  EXPECT_EQ(findings(b), "an element of `V` lies at m -1, expected 0 or more [BadBuffer]");
}

TEST(VerifyLayouts, ViewsBeginAtWholeElements) {
  Builder b;
  const BufferId a = b.alloc("A", {64}, DType::Uint8, Scope::Shared);
  const BufferId v = b.view("V", a, {4});
  b.f.at(v).dtype = DType::Uint32;
  b.f.at(v).byte_offset = b.n(12);
  EXPECT_EQ(findings(b), "");
  b.f.at(v).byte_offset = b.n(3);
  EXPECT_EQ(findings(b),
            "`V` begins at byte 3 of `A`, expected a multiple of 4, the bytes of an element; where "
            "it is allocated, `align=4` makes it one [BadBuffer]");
}

TEST(VerifyLayouts, TwoElementsAtOnePlace) {
  Builder b;
  b.alloc("A", {4, 2}, DType::Int32, Scope::Local, "S[(4,2):(1,2)]");
  EXPECT_EQ(findings(b),
            "elements 1 and 4 of `A` share one place in the layout `S[(4,2):(1,2)]` [BadBuffer]");
  Builder c;  // a view may
  const BufferId a = c.alloc("A", {8}, DType::Int32, Scope::Local);
  c.view("V", a, {4, 2}, "S[(4,2):(1,2)]");
  EXPECT_EQ(findings(c), "");
}

TEST(VerifyLayouts, AxesOfTheMemory) {
  Builder b = test::reg_program();
  b.alloc("A", {32, 8}, DType::Int32, Scope::Shared, "S[(32,8):(1@laneid,1)]");
  EXPECT_EQ(findings(b),
            "the layout of `A` places elements along `laneid`, expected `m` only: it is one memory "
            "[BadBuffer]");
  Builder c;
  c.alloc("A", {8}, DType::Int32, Scope::Shared, "S[8:1@TCol]");
  EXPECT_EQ(findings(c),
            "the layout of `A` places elements along `TCol`, expected `m` only: it is one memory "
            "[BadBuffer]");
  Builder d;
  d.alloc("R", {8, 4}, DType::Int32, Scope::Local, "S[(8,4):(1@TLane,1)]");
  EXPECT_EQ(findings(d),
            "the layout of `R` places elements along `TLane`, expected threads and `m`, as "
            "registers have [BadBuffer]");
}

TEST(VerifyLayouts, AxesThatReadTheSameThreads) {
  const auto found = [](std::string_view layout, std::vector<std::int64_t> shape) {
    Builder b;
    b.alloc("R", std::move(shape), DType::Int32, Scope::Local, layout);
    return findings(b);
  };
  EXPECT_EQ(found("S[(2,2):(1@laneid,1@tx)]", {2, 2}),
            "element 1 of `R` lies at `laneid` 0 and `tx` 1, which is no thread: both count the "
            "threads of a CTA [BadBuffer]");
  EXPECT_EQ(found("S[(2,2):(1@warpid,1@wid_in_wg)]", {2, 2}),
            "element 1 of `R` lies at `warpid` 0 and `wid_in_wg` 1, which is no thread: both count "
            "the threads of a CTA [BadBuffer]");
  // Different digits, or digits of which the other axis keeps clear.
  EXPECT_EQ(found("S[(4,32):(1@warpid,1@laneid)]", {4, 32}), "");
  EXPECT_EQ(found("S[(2,32):(4@warpid,1@tid_in_wg)]", {2, 32}), "");
}

TEST(VerifyLayouts, TooManyElements) {
  Builder b;
  b.alloc("A", {1 << 20, 1 << 20}, DType::Uint8, Scope::Shared);
  EXPECT_EQ(findings(b),
            "`A` of shape (1048576, 1048576) has more than the 274877906944 elements that a buffer "
            "may have [BadBuffer]");
}

// --- threads -------------------------------------------------------------------------------------

TEST(VerifyThreads, ElementOfASpreadBuffer) {
  Builder b = test::reg_program();
  const BufferId r = b.alloc("S", {32, 8}, DType::Float32, Scope::Local, "S[(32,8):(1@laneid,1)]");
  b.store(r, {b.n(0), b.n(0)}, b.real(DType::Float32, 1));
  EXPECT_EQ(findings(b),
            "an element of `S` is accessed, which is spread over `laneid`; a thread's part is "
            "`S.local()` [BadBuffer]");
}

TEST(VerifyThreads, MoreThreadsThanLaunched) {
  Builder b = test::reg_program();
  b.alloc("W", {4, 32}, DType::Float32, Scope::Local, "S[(4,32):(1@warpid,1@laneid)]");
  EXPECT_EQ(findings(b), "`W` has elements at warpid 3, the launch goes from 0 to 0 [BadBuffer]");
  Builder c = test::reg_program();
  c.alloc("L", {64}, DType::Float32, Scope::Local, "S[64:1@laneid]");
  EXPECT_EQ(findings(c), "`L` has elements at laneid 63, the launch goes from 0 to 31 [BadBuffer]");
}

// --- scopes --------------------------------------------------------------------------------------

TEST(VerifyScopes, GlobalAllocation) {
  Builder b;
  b.alloc("A", {4}, DType::Int32, Scope::Global);
  EXPECT_EQ(findings(b),
            "`A` is allocated in global memory, which a kernel cannot allocate; give a `scope` "
            "[BadBuffer]");
}

TEST(VerifyScopes, SecondDynamicAllocation) {
  Builder b;
  b.alloc("A", {4}, DType::Int32, Scope::SharedDyn);
  b.alloc("B", {4}, DType::Int32, Scope::SharedDyn);
  EXPECT_EQ(
      findings(b),
      "`B` is a second allocation of shared.dyn; `A` is the only one there can be [BadBuffer]");
}

TEST(VerifyScopes, AllocationOfRunTimeSize) {
  Builder b;
  const VarId n = b.param("n", Type::of(DType::Int32));
  Buffer buffer = b.buffer("A", {4, 4}, DType::Int32, Scope::Shared);
  buffer.shape[1] = b.var(n);
  b.alloc(std::move(buffer));
  EXPECT_EQ(findings(b),
            "`A` is allocated in shared memory with shape (4, ?), expected constant extents "
            "[BadBuffer]");
}

TEST(VerifyScopes, StaticSharedMemory) {
  Builder b;
  b.alloc("A", {40 * 1024}, DType::Uint8, Scope::Shared);
  b.alloc("B", {8 * 1024}, DType::Uint8, Scope::Shared);
  const VerifyOptions sm80{.target = target::Target{.arch = target::Arch::Sm80}};
  EXPECT_EQ(findings(b, sm80), "");
  b.alloc("C", {1}, DType::Uint8, Scope::Shared);
  EXPECT_EQ(findings(b, sm80),
            "`C` brings static shared memory to 49153 bytes; sm_80 has 49152 [BadBuffer]");
  EXPECT_EQ(findings(b), "");
  b.alloc("D", {256 * 1024}, DType::Uint8, Scope::Shared);
  EXPECT_EQ(findings(b),
            "`D` brings static shared memory to 311360 bytes; no architecture has more than 232448 "
            "[BadBuffer]");
}

TEST(VerifyScopes, DynamicSharedMemory) {
  Builder b;
  b.alloc("A", {232448}, DType::Uint8, Scope::SharedDyn);
  EXPECT_EQ(findings(b), "");
  Builder c;
  c.alloc("A", {232449}, DType::Uint8, Scope::SharedDyn);
  EXPECT_EQ(findings(c),
            "`A` takes 232449 bytes of dynamic shared memory; no architecture has more than 232448 "
            "[BadBuffer]");
}

TEST(VerifyScopes, BytesOfAThread) {
  Builder b;
  b.alloc("R", {1 << 17}, DType::Float32, Scope::Local);
  EXPECT_EQ(findings(b), "");
  b.alloc("S", {(1 << 17) + 1}, DType::Float32, Scope::Local);
  EXPECT_EQ(findings(b), "`S` takes 524292 bytes of each thread; a thread has 524288 [BadBuffer]");
}

TEST(VerifyScopes, ViewInAnotherScope) {
  Builder b;
  const BufferId a = b.alloc("A", {4}, DType::Int32, Scope::Shared);
  b.f.at(b.view("V", a, {4})).scope = Scope::Local;
  EXPECT_EQ(findings(b), "`V` is in local, the buffer `A` that it views in shared [BadBuffer]");
}

// --- tensor memory -------------------------------------------------------------------------------

/// What is found of a tensor memory tile; `change` breaks it.
template <typename Change>
std::string of_tile(std::vector<std::int64_t> shape, std::string_view layout, Change change) {
  Builder b;
  const BufferId addr = b.alloc("addr", {1}, DType::Uint32, Scope::Shared);
  Buffer tile = b.buffer("D", std::move(shape), DType::Float32, Scope::Tmem, layout);
  tile.allocated_addr = b.at(addr, {b.n(0)});
  change(b, tile);
  b.declare(std::move(tile));
  return findings(b);
}
constexpr auto kAsItIs = [](Builder&, Buffer&) {};

TEST(VerifyTensor, GoodTile) {
  EXPECT_EQ(of_tile({128, 512}, "S[(128,512):(1@TLane,1@TCol)]", kAsItIs), "");
}

TEST(VerifyTensor, NoAddress) {
  EXPECT_EQ(of_tile({128, 8}, "S[(128,8):(1@TLane,1@TCol)]",
                    [](Builder&, Buffer& tile) { tile.allocated_addr = {}; }),
            "`D` is in tensor memory and has no address, expected `allocated_addr=` [BadBuffer]");
}

TEST(VerifyTensor, AddressOfAnotherType) {
  EXPECT_EQ(of_tile({128, 8}, "S[(128,8):(1@TLane,1@TCol)]",
                    [](Builder& b, Buffer& tile) { tile.allocated_addr = b.n(0); }),
            "`allocated_addr` of `D` has type `int32`, expected `uint32` [BadType]");
}

TEST(VerifyTensor, NoLayout) {
  EXPECT_EQ(of_tile({128, 8}, "", kAsItIs),
            "`D` is in tensor memory and has no layout over `TLane` and `TCol` [BadBuffer]");
}

TEST(VerifyTensor, OtherAxis) {
  EXPECT_EQ(of_tile({128, 8}, "S[(128,8):(1@TLane,1)]", kAsItIs),
            "the layout of `D` uses axis `m`, expected `TLane` and `TCol` only [BadBuffer]");
}

TEST(VerifyTensor, TooManyLanes) {
  EXPECT_EQ(of_tile({256, 8}, "S[(256,8):(1@TLane,1@TCol)]", kAsItIs),
            "`D` takes 256 lanes of tensor memory, which has 128 [BadBuffer]");
}

TEST(VerifyTensor, TooManyColumns) {
  EXPECT_EQ(of_tile({128, 1024}, "S[(128,1024):(1@TLane,1@TCol)]", kAsItIs),
            "`D` takes 1024 columns of tensor memory, which has 512 [BadBuffer]");
  // Two halves share a column.
  EXPECT_EQ(of_tile({128, 1024}, "S[(128,1024):(1@TLane,1@TCol)]",
                    [](Builder&, Buffer& tile) { tile.dtype = DType::Float16; }),
            "");
}

TEST(VerifyTensor, Allocation) {
  Builder b;
  Buffer tile = b.buffer("D", {128, 8}, DType::Float32, Scope::Tmem, "S[(128,8):(1@TLane,1@TCol)]");
  tile.allocated_addr = b.u32(0);
  b.alloc(std::move(tile));
  EXPECT_EQ(
      findings(b),
      "`D` is allocated in tensor memory, which a kernel cannot allocate; use `T.decl_buffer` "
      "with `allocated_addr` [BadBuffer]");
}

TEST(VerifyTensor, ElementAccess) {
  Builder b = test::tensor_program();
  Buffer tile = b.buffer("D", {128, 8}, DType::Float32, Scope::Tmem, "S[(128,8):(1@TLane,1@TCol)]");
  tile.allocated_addr = b.u32(0);
  const BufferId d = b.declare(std::move(tile));
  b.store(d, {b.n(0), b.n(0)}, b.real(DType::Float32, 1));
  EXPECT_EQ(findings(b),
            "an element of `D` is accessed, which is in tensor memory; only tcgen05 reaches it "
            "[BadBuffer]");
}

}  // namespace
}  // namespace ww::ir::verify_buffers_test
