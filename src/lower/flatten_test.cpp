// SPDX-License-Identifier: Apache-2.0
// Single accesses and single refusals; whole programs are in tests/property/lowering_test.cpp.
#include "lower/flatten.h"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/print/print.h"
#include "ir/test_programs.h"
#include "ir/verify/verify.h"
#include "layout/apply.h"
#include "lower/index_expr.h"

namespace ww::lower::flatten_test {
namespace {

using ir::BufferId;
using ir::ExprId;
using ir::Scope;
using ir::VarId;
using ir::test::Builder;
using num::DType;

struct Access {
  std::vector<std::int64_t> shape;
  std::string_view layout;
  std::string_view index;  // expected, for indices i (0 to 31), j (0 to 7), k (anything) …
};

/// The place of an element in the buffer's storage.
Result<ExprId> flat_index(ir::Function& f, BufferId buffer, std::span<const ExprId> indices,
                          const ir::Facts& facts) {
  const FlatPlan plan = WW_TRY(flat_plan(f, buffer, facts));
  ir::Simplifier simplifier(f, facts);
  return place_of(f, plan, indices, simplifier, facts);
}

/// Loop variables with their ranges.
struct Names {
  Builder b;
  VarId i = b.loop("i", 32);
  VarId j = b.loop("j", 8);
  VarId k = b.param("k", ir::Type::of(DType::Int32));

  ir::Facts facts() {
    ir::Facts out;
    out.set_range(i, {0, 31});
    out.set_range(j, {0, 7});
    return out;
  }
  /// Of the operators that indices are made of.
  std::int64_t value(ExprId id, std::int64_t i_value, std::int64_t j_value) {
    const ir::Expr& e = b.f[id];
    if (e.op == ir::ExprOp::IntImm) return e.integer;
    if (e.op == ir::ExprOp::Var) return e.var == i ? i_value : j_value;
    const std::int64_t x = value(e.args[0], i_value, j_value);
    const std::int64_t y = value(e.args[1], i_value, j_value);
    switch (e.op) {
      case ir::ExprOp::Add:
        return x + y;
      case ir::ExprOp::Mul:
        return x * y;
      case ir::ExprOp::FloorDiv:
        return x / y;
      case ir::ExprOp::FloorMod:
        return x % y;
      case ir::ExprOp::BitXor:
        return x ^ y;
      default:
        return -1;
    }
  }
  std::string index(BufferId buffer, std::vector<ExprId> indices) {
    const auto found = flat_index(b.f, buffer, indices, facts());
    return found ? ir::print(b.f, *found) : found.error().text;
  }
};

TEST(FlatIndex, LayoutsBecomeShortSums) {
  const Access rows[] = {
      {{32, 8}, "", "i * 8 + j"},
      {{32, 8}, "S[(32,8):(9,1)]", "i * 9 + j"},
      {{32, 8}, "S[(32,8):(1,32)]", "j * 32 + i"},
      {{32, 8}, "S[(4,8,8):(64,8,1)]", "i * 8 + j"},
      {{32, 8}, "S[(8,4,8):(32,1,4)]", "i // 4 * 32 + j * 4 + i % 4"},
      {{32, 8}, "S[(2,16,2,4):(128,4,64,1)]", "i // 16 * 128 + j // 4 * 64 + i % 16 * 4 + j % 4"},
      {{32, 8}, "S[(32,8):(8,1)] + 5@m", "i * 8 + j + 5"},
      {{32, 8}, "S[(32,8):(8,1)] + R[2:256]", "i * 8 + j"},
      {{32, 8}, "S[(32,8):(0,1)]", "j"},
      {{32, 8}, "S[(4,64):(1,4)]", "i % 8 * 32 + j * 4 + i // 8"},
      {{32, 8}, "ComposeLayout(0,3,3,S[(32,8):(8,1)])", "i * 8 + j ^ i % 8"},
      {{32, 8}, "ComposeLayout(1,2,2,S[(32,8):(8,1)])", "i * 8 + j ^ i % 4 * 2"},
  };
  for (const Access& row : rows) {
    Names n;
    const BufferId buffer =
        n.b.f.add(n.b.buffer("A", row.shape, DType::Float32, Scope::Shared, row.layout));
    EXPECT_EQ(n.index(buffer, {n.b.var(n.i), n.b.var(n.j)}), row.index) << row.layout;
  }
}

// The same places as the layout itself says, for every element.
TEST(FlatIndex, IndicesAgreeWithLayouts) {
  const std::string_view layouts[] = {
      "S[(32,8):(8,1)]",
      "S[(8,4,2,4):(32,1,16,4)]",
      "S[(2,16,2,4):(128,4,64,1)] + 3@m",
      "S[(4,8,8):(1,32,4)]",
      "ComposeLayout(0,3,3,S[(32,8):(8,1)])",
      "ComposeLayout(2,1,2,S[(32,2,4):(4,128,1)])",
      "ComposeLayout(1,2,3,S[(4,8,8):(64,1,8)])",
      "ComposeLayout(0,2,2,S[(32,8):(8,1)],swizzle_inner=False)",
      "S[(2,2,2,2,2,2,2,2):(1,16,2,32,4,64,8,128)]",
  };
  for (const std::string_view text : layouts) {
    Names n;
    const BufferId id = n.b.f.add(n.b.buffer("A", {32, 8}, DType::Int32, Scope::Shared, text));
    const ExprId indices[] = {n.b.var(n.i), n.b.var(n.j)};
    const ExprId index = flat_index(n.b.f, id, indices, n.facts()).value();
    for (std::int64_t flat = 0; flat < 256; ++flat) {
      const layout::Place place = layout::apply(*n.b.f[id].layout, flat).value();
      ASSERT_EQ(n.value(index, flat / 8, flat % 8), place[0].value) << text << " at " << flat;
    }
  }
}

TEST(FlatIndex, ShapesThatTheLayoutDoesNotFollowAreCountedThrough) {
  Names n;
  const BufferId a =
      n.b.f.add(n.b.buffer("A", {4, 6}, DType::Int32, Scope::Shared, "S[(3,8):(1,3)]"));
  EXPECT_EQ(n.index(a, {n.b.n(3), n.b.n(1)}), "11");
  EXPECT_EQ(n.index(a, {n.b.n(2), n.b.var(n.k)}), "(k + 12) % 8 * 3 + (k + 12) // 8");
}

TEST(FlatIndex, LargeArraysAreCountedInSixtyFourBits) {
  Names n;
  Builder& b = n.b;
  const BufferId constant = b.f.add(b.buffer("A", {1 << 20, 1 << 12}, DType::Int8, Scope::Global));
  EXPECT_EQ(n.index(constant, {b.var(n.i), b.var(n.j)}), "i * 4096 + j");
  EXPECT_EQ(n.index(constant, {b.var(n.k), b.var(n.j)}),
            "T.Cast(\"int64\", k) * T.int64(4096) + T.Cast(\"int64\", j)");
  ir::Buffer open = b.buffer("B", {1, 64}, DType::Int8, Scope::Global);
  open.shape[0] = b.var(n.k);
  const BufferId runtime = b.f.add(open);
  EXPECT_EQ(n.index(runtime, {b.var(n.i), b.var(n.j)}), "i * 64 + j");
  open.shape = {b.var(n.k)};
  const BufferId row = b.f.add(open);
  EXPECT_EQ(n.index(row, {b.var(n.k)}), "k");
  open.shape = {b.n(4), b.var(n.k)};
  const BufferId columns = b.f.add(open);
  EXPECT_EQ(n.index(columns, {b.n(2), b.var(n.j)}),
            "T.Cast(\"int64\", k) * T.int64(2) + T.Cast(\"int64\", j)");
}

TEST(FlatIndex, OffsetsCount) {
  Names n;
  Builder& b = n.b;
  const BufferId base = b.f.add(b.buffer("A", {512}, DType::Float32, Scope::Shared));
  ir::Buffer view = b.buffer("B", {8}, DType::Float16, Scope::Shared);
  view.origin = ir::BufferOrigin::View;
  view.base = base;
  view.elem_offset = b.mul(b.var(n.i), b.n(16));
  view.byte_offset = b.n(6);
  EXPECT_EQ(n.index(b.f.add(view), {b.var(n.j)}), "i * 16 + j + 3");
  view.dtype = DType::Int4;
  EXPECT_EQ(n.index(b.f.add(view), {b.var(n.j)}), "i * 16 + j + 12");
  view.dtype = DType::Float32;  // six bytes are no whole elements: the buffer keeps them
  EXPECT_EQ(n.index(b.f.add(view), {b.var(n.j)}), "i * 16 + j");
}

TEST(FlatIndex, BadBuffers) {
  Names n;
  Builder& b = n.b;
  const auto index = [&](std::string_view layout, Scope scope) {
    const BufferId id = b.f.add(b.buffer("A", {32, 8}, DType::Float32, scope, layout));
    return n.index(id, {b.n(0), b.n(0)});
  };
  EXPECT_EQ(index("S[(32,8):(1@laneid,1)]", Scope::Local),
            "an element of `A` has no place in one memory: its layout goes along `laneid`");
  EXPECT_EQ(index("S[(32,8):(1@TLane,1@TCol)]", Scope::Tmem),
            "an element of `A` has no address: it is in tensor memory");
  ir::Buffer moved = b.buffer("A", {8}, DType::Float32, Scope::Shared);
  layout::Offsets offset;
  offset.add(layout::axes::m(), layout::Expr(layout::Sym::make("t", {0, 3}, 1).value()));
  moved.layout = layout::TileLayout::make({{8, 1, {}}}, {}, offset).value();
  moved.layout_kind = ir::LayoutKind::Explicit;
  EXPECT_EQ(n.index(b.f.add(moved), {b.n(0)}),
            "the layout of `A` has an offset that is known at run time only");
}

// --- whole functions -----------------------------------------------------------------------------

std::string flattened(Builder& b) {
  ir::Function f = b.done();
  const auto done = flatten(f);
  if (!done) {
    EXPECT_EQ(done.error().kind, DiagKind::NotLowered);
    return done.error().text;
  }
  for (const Diag& d : ir::verify(f)) ADD_FAILURE() << d.text << "\n" << ir::print(f);
  return ir::print(f, {.header = false});
}

TEST(Flatten, NamesAndConditions) {
  Builder b("kernel");
  const BufferId out = b.matched("out", {8, 8}, DType::Int32);
  const VarId tx = b.launch("threadIdx_x", "threadIdx.x", 32);
  const VarId row = b.bind("row", b.div(b.var(tx), 4));
  const VarId column = b.bind("column", b.mod(b.var(tx), 4));
  b.bind("unused", b.add(b.var(column), b.n(1)));
  const BufferId sum = b.scalar("sum", DType::Int32, b.n(0));
  b.store(sum, {b.n(0)}, b.add(b.at(sum, {b.n(0)}), b.var(row)));
  b.when(b.op(ir::ExprOp::Lt, b.var(row), b.n(8)));  // always
  b.store(out, {b.var(row), b.n(3)}, b.at(sum, {b.n(0)}));
  b.end();
  b.when(b.op(ir::ExprOp::Lt, b.var(tx), b.n(0)));  // never
  b.store(out, {b.n(0), b.n(0)}, b.n(0));
  b.end();
  EXPECT_EQ(flattened(b), R"(@T.prim_func
def kernel(out_ptr: T.handle):
    out = T.match_buffer(out_ptr, (64,), "int32", layout=None)
    threadIdx_x = T.launch_thread("threadIdx.x", 32)
    row: T.let[T.int32] = threadIdx_x // 4
    sum: T.int32 = 0
    sum = sum + row
    out[row * 8 + 3] = sum
)");
}

TEST(Flatten, ViewsGoAndOtherTypesStay) {
  Builder b("kernel");
  const BufferId out = b.matched("out", {64}, DType::Float16);
  const VarId tx = b.launch("threadIdx_x", "threadIdx.x", 32);
  const BufferId tile =
      b.alloc("tile", {32, 4}, DType::Float16, Scope::Local, "S[(32,4):(1@laneid,1)]");
  const BufferId own = b.view("own", tile, {2, 2}, "S[(2,2):(1,2)]");
  ir::Buffer words = b.buffer("words", {2}, DType::Uint32, Scope::Local);
  words.origin = ir::BufferOrigin::View;
  words.base = tile;
  const BufferId pairs = b.declare(std::move(words));
  b.store(own, {b.n(1), b.n(0)}, b.real(DType::Float16, 1));
  b.store(pairs, {b.n(1)}, b.u32(7));
  b.store(out, {b.var(tx)}, b.at(own, {b.n(0), b.n(1)}));
  EXPECT_EQ(flattened(b), R"(@T.prim_func
def kernel(out_ptr: T.handle):
    out = T.match_buffer(out_ptr, (64,), "float16", layout=None)
    threadIdx_x = T.launch_thread("threadIdx.x", 32)
    tile = T.alloc_local((4,), "float16")
    words = T.decl_buffer((2,), "uint32", data=tile.data, scope="local", layout=None)
    tile[1] = T.float16(1.0)
    words[1] = T.uint32(7)
    out[threadIdx_x] = tile[2]
)");
}

TEST(Flatten, PointersBecomeIndices) {
  Builder b("kernel");
  const VarId tx = b.launch("threadIdx_x", "threadIdx.x", 32);
  const BufferId s = b.alloc("s", {32, 8}, DType::Float32, Scope::Shared, "S[(32,8):(12,1)]");
  const BufferId r = b.alloc("r", {8}, DType::Float32, Scope::Local);
  const VarId k = b.loop("k", 2, ir::LoopKind::Vectorized);
  const ExprId to =
      b.call(ir::Intrinsic::PointerOffset, {b.address(r, {b.n(0)}), b.mul(b.var(k), b.n(4))});
  const ExprId from = b.address(s, {b.var(tx), b.mul(b.var(k), b.n(4))});
  b.evaluate(b.call(ir::Intrinsic::CopyBytes, {to, from, b.n(16)}));
  b.end();
  const ExprId third = b.call(ir::Intrinsic::PointerOffset, {ir::buffer_data(b.f, r), b.n(2)});
  b.evaluate(b.call(ir::Intrinsic::CopyBytes, {third, b.address(s, {b.n(1), b.n(0)}), b.n(4)}));
  const ExprId end = b.call(ir::Intrinsic::PointerOffset, {b.address(r, {b.n(0)}), b.n(8)});
  b.evaluate(b.call(ir::Intrinsic::CopyBytes, {end, b.address(s, {b.n(0), b.n(0)}), b.n(4)}));
  EXPECT_EQ(flattened(b), R"(@T.prim_func
def kernel():
    threadIdx_x = T.launch_thread("threadIdx.x", 32)
    s = T.alloc_shared((380,))
    r = T.alloc_local((8,))
    for k in T.vectorized(2):
        T.cuda.copy_bytes(T.pointer_offset(T.address_of(r[0]), k * 4), T.address_of(s[threadIdx_x * 12 + k * 4]), 16)
    T.cuda.copy_bytes(T.address_of(r[2]), T.address_of(s[12]), 4)
    T.cuda.copy_bytes(T.pointer_offset(T.address_of(r[0]), 8), T.address_of(s[0]), 4)
)");
}

TEST(Flatten, Refusals) {
  {
    Builder b = ir::test::reg_program();
    EXPECT_EQ(flattened(b), "`copy` is left as a tile primitive");
  }
  {
    Builder b;
    ir::Buffer a = b.buffer("A", {8}, DType::Float32, Scope::Global);
    a.byte_offset = b.n(6);
    const BufferId id = b.matched("A_ptr", std::move(a));
    b.store(id, {b.n(0)}, b.real(DType::Float32, 0));
    EXPECT_EQ(flattened(b),
              "`A` begins 6 bytes behind its storage, expected a multiple of the 4 bytes of an "
              "element");
  }
  {
    Builder b;
    ir::Buffer t =
        b.buffer("t", {128, 8}, DType::Float32, Scope::Tmem, "S[(128,8):(1@TLane,1@TCol)]");
    t.allocated_addr = b.u32(0);
    const BufferId id = b.declare(std::move(t));
    b.evaluate(ir::buffer_data(b.f, id));
    EXPECT_EQ(flattened(b), "`t` is in tensor memory, which no pointer leads to");
  }
  {
    Builder b;
    const BufferId s = b.alloc("s", {8, 2}, DType::Uint16, Scope::Shared, "S[(8,2):(1,8)]");
    b.ptx("mov.b32", {ir::test::value(b.at(s, {b.n(0), b.n(0)}, 2)), ir::test::value(b.u32(1))});
    EXPECT_EQ(flattened(b),
              "an operand of `mov.b32` is a vector whose elements do not follow each other");
  }
}

}  // namespace
}  // namespace ww::lower::flatten_test
