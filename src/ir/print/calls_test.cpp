// SPDX-License-Identifier: Apache-2.0
// Buffers, layouts, tile calls, PTX, names and the head of a function.
#include <gtest/gtest.h>

#include "ir/print/print.h"
#include "ir/test_programs.h"

namespace ww::ir::print_calls_test {
namespace {

using test::Builder;
using test::DType;
using test::mem;
using test::reg_at;
using test::value;

/// The last line of a function.
std::string last_line(Builder& b) {
  std::string text = print(b.done());
  text.pop_back();
  return text.substr(text.find_last_of('\n') + 5);
}

std::string layout_of_text(std::string_view notation) {
  Builder b;
  Buffer buffer = b.buffer("A", {}, DType::Float32, Scope::Global, notation);
  b.declare(std::move(buffer));
  const std::string line = last_line(b);
  const std::size_t at = line.find("layout=") + 7;
  return line.substr(at, line.size() - at - 1);
}

TEST(PrintLayout, Parts) {
  EXPECT_EQ(layout_of_text("S[8:1]"), "TileLayout(S[8 : 1])");
  EXPECT_EQ(
      layout_of_text("S[(8,4,2):(4@laneid,1@laneid,1)] + R[2:4@warpid] + 5@warpid"),
      "TileLayout(S[(8, 4, 2) : (4 @ laneid, 1 @ laneid, 1)] + R[2 : 4 @ warpid] + 5 @ warpid)");
  EXPECT_EQ(layout_of_text("S[8:1] + 5"), "TileLayout(S[8 : 1] + 5)");
  EXPECT_EQ(layout_of_text("S[8:1] - 5@laneid"), "TileLayout(S[8 : 1] + -5 @ laneid)");
  EXPECT_EQ(layout_of_text("ComposeLayout(3, 3, 3, S[(8,64):(64,1)])"),
            "ComposeLayout(3, 3, 3, TileLayout(S[(8, 64) : (64, 1)]))");
  EXPECT_EQ(layout_of_text("ComposeLayout(3, 3, 3, S[(8,64):(64,1)], swizzle_inner=False)"),
            "ComposeLayout(3, 3, 3, TileLayout(S[(8, 64) : (64, 1)]), swizzle_inner=False)");
  EXPECT_EQ(layout_of_text("S[8:4@mine]"), "TileLayout(S[8 : 4 @ Axis.get(\"mine\")])");
}

TEST(PrintLayout, OffsetsOfRunTime) {
  layout::Offsets offset;
  const layout::Sym k = layout::Sym::make("k", {0, 63}).value();
  offset.add(layout::Axis(), layout::Expr(k) * 16 + layout::Expr(8));
  Builder b;
  Buffer buffer = b.buffer("A", {8}, DType::Float32, Scope::Global);
  buffer.layout_kind = LayoutKind::Explicit;
  buffer.layout = layout::TileLayout::make({{8, 1, {}}}, {}, offset).value();
  b.declare(std::move(buffer));
  EXPECT_EQ(print(b.done()),
            "from tvm.script import tirx as T\n"
            "from tvm.script.tirx import tile as Tx\n"
            "from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, m\n"
            "\n"
            "@T.prim_func\n"
            "def main():\n"
            "    A = T.decl_buffer((8,), layout=TileLayout(S[8 : 1] + (16 * k + 8) @ m))\n");
}

TEST(PrintBuffer, Fields) {
  Builder b;
  Buffer base = b.buffer("A", {64}, DType::Uint8, Scope::SharedDyn);
  base.align = 128;
  const BufferId a = b.alloc(std::move(base));
  EXPECT_EQ(last_line(b), "A = T.alloc_buffer((64,), \"uint8\", scope=\"shared.dyn\", align=128)");
  Buffer view = b.buffer("V", {4, 2}, DType::Float32, Scope::SharedDyn);
  view.layout_kind = LayoutKind::None;
  view.origin = BufferOrigin::View;
  view.base = a;
  view.elem_offset = b.n(8);
  b.declare(std::move(view));
  EXPECT_EQ(
      last_line(b),
      "V = T.decl_buffer((4, 2), data=A.data, elem_offset=8, scope=\"shared.dyn\", layout=None)");
  Buffer at = b.buffer("P", {4}, DType::Float32, Scope::SharedDyn);
  at.origin = BufferOrigin::Pointer;
  at.pointer =
      b.call(Intrinsic::ByteOffset, {buffer_data(b.f, a), b.n(16)}, Type::pointer(DType::Float32));
  at.byte_offset = b.n(4);
  b.declare(std::move(at));
  EXPECT_EQ(last_line(b),
            "P = T.decl_buffer((4,), data=T.ptr_byte_offset(A.data, 16, \"float32\"), "
            "byte_offset=4, scope=\"shared.dyn\")");
}

TEST(PrintTile, ArgumentsAndKeywords) {
  Builder b;
  const BufferId d = b.alloc("D", {8, 8}, DType::Float32, Scope::Local);
  const VarId k = b.bind("k", b.n(0));
  Region part = b.full(d);
  part.ranges[0] = {b.var(k), b.n(1)};
  part.ranges[1] = {b.mul(b.var(k), b.n(2)), b.n(4)};
  b.tile(TileOp::Zero, Unit::Thread, {part});
  EXPECT_EQ(last_line(b), "Tx.zero(D[k:k + 1, k * 2:k * 2 + 4])");
  b.tile(TileOp::Fill, Unit::Cta, {b.full(d), b.real(DType::Float32, 2)});
  EXPECT_EQ(last_line(b), "Tx.cta.fill(D[0:8, 0:8], T.float32(2.0))");
  b.tile(TileOp::Exp, Unit::Warpgroup, {b.full(d), {}, {}, b.real(DType::Float32, 0.5)});
  EXPECT_EQ(last_line(b), "Tx.wg.exp(D[0:8, 0:8], scale=T.float32(0.5))");
  b.tile(TileOp::Sum, Unit::Cluster,
         {b.full(d), b.full(d), Setting(std::int64_t{0}), Setting(true)});
  EXPECT_EQ(last_line(b), "Tx.cluster.sum(D[0:8, 0:8], D[0:8, 0:8], axes=0, accum=True)");
  const TileCallId call = b.tile(TileOp::Copy, Unit::Warp, {b.full(d), b.full(d)});
  TileCall& full = b.f.tile_calls[call.index];
  full.dispatch = "reg";
  full.config = {{"vec", Setting(std::int64_t{4})}, {"hint", Setting(std::string("x"))}};
  full.workspace = {{"tmp", d}};
  EXPECT_EQ(last_line(b),
            "Tx.warp.copy(D[0:8, 0:8], D[0:8, 0:8], vec=4, hint=\"x\", dispatch=\"reg\", "
            "workspace={\"tmp\": D})");
}

class PrintPtx : public ::testing::Test {
 protected:
  Builder b;
  BufferId r = b.alloc("r", {8}, DType::Uint32, Scope::Local);
  BufferId s = b.alloc("s", {64}, DType::Float16, Scope::Shared);

  PtxOperand reg(int i) { return reg_at(b.address(r, {b.n(i)})); }
  PtxOperand word(int i) { return value(b.at(r, {b.n(i)})); }
  PtxOperand shared() { return mem(b.address(s, {b.n(0)})); }
  std::string text(std::string opcode, std::vector<PtxOperand> operands) {
    b.ptx(std::move(opcode), std::move(operands));
    return last_line(b);
  }
};

TEST_F(PrintPtx, MatrixCopies) {
  EXPECT_EQ(text("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16", {reg(0), reg(1), shared()}),
            "T.ptx.ldmatrix(T.bool(True), 2, \".b16\", T.address_of(s[0]), T.address_of(r[0]), "
            "T.address_of(r[1]))");
  EXPECT_EQ(text("stmatrix.sync.aligned.m8n8.x1.shared.b16", {shared(), reg(3)}),
            "T.ptx.stmatrix(T.bool(False), 1, \".b16\", T.address_of(s[0]), T.address_of(r[3]))");
  EXPECT_EQ(text("ldmatrix.sync.aligned.m8n8.x1.shared.b16", {word(0), shared()}),
            "T.ptx[\"ldmatrix.sync.aligned.m8n8.x1.shared.b16\"](r[0], T.address_of(s[0]))");
  EXPECT_EQ(
      text("ldmatrix.sync.aligned.m8n8.x1.shared::cta.b16", {reg(0), shared()}),
      "T.ptx[\"ldmatrix.sync.aligned.m8n8.x1.shared::cta.b16\"](T.ptx.at(T.address_of(r[0])), "
      "T.address_of(s[0]))");
}

TEST_F(PrintPtx, Mma) {
  std::vector<PtxOperand> registers;
  for (const int i : {0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3}) registers.push_back(reg(i));
  std::string pointers;
  for (const int i : {0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3})
    pointers += ", T.address_of(r[" + std::to_string(i) + "])";
  EXPECT_EQ(text("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", registers),
            "T.ptx.mma(\"m16n8k8\", \"row\", \"col\", \"float32\", \"bfloat16\", \"bfloat16\", "
            "\"float32\", 4, 2, 1, 4, False" +
                pointers + ")");
  registers.pop_back();  // one too few: printed as it is
  EXPECT_EQ(text("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", registers).substr(0, 8),
            "T.ptx[\"m");
}

TEST_F(PrintPtx, TensorMemory) {
  const ExprId base = b.at(r, {b.n(7)});
  const auto address = [&] { return mem(b.call(Intrinsic::TmemAddr, {base, b.n(0), b.n(4)})); };
  EXPECT_EQ(text("tcgen05.ld.sync.aligned.32x32b.x2.b32", {word(0), word(1), address()}),
            "T.ptx.tcgen05.ld(r[7], 0, 4, \"32x32b\", 2, False, r[0], r[1])");
  EXPECT_EQ(text("tcgen05.st.sync.aligned.16x64b.x1.unpack::16b.b32", {address(), word(0)}),
            "T.ptx.tcgen05.st(r[7], 0, 4, \"16x64b\", 1, True, r[0])");
  EXPECT_EQ(text("tcgen05.ld.sync.aligned.32x32b.x1.b32", {word(0), mem(base)}),
            "T.ptx[\"tcgen05.ld.sync.aligned.32x32b.x1.b32\"](r[0], r[7])");
}

TEST_F(PrintPtx, OperandsOfEveryKind) {
  PtxOperand far = shared();
  far.offset = b.n(16);
  const PtxCallId id = b.ptx("x.y", {{.kind = PtxOperandKind::Sink},
                                     far,
                                     {.kind = PtxOperandKind::Predicate, .expr = b.n(1)},
                                     reg(2)});
  b.f.ptx_calls[id.index].predicate = bool_imm(b.f, true);
  b.f.ptx_calls[id.index].keep = true;
  EXPECT_EQ(last_line(b),
            "T.ptx[\"x.y\"](T.ptx.SINK, T.ptx.addr(T.address_of(s[0]), 16), T.ptx.pred(1), "
            "T.ptx.at(T.address_of(r[2])), pred=T.bool(True), keep=True)");
}

TEST(PrintFunction, ParametersAndAttributes) {
  Builder b("f");
  b.param("p", Type::pointer(DType::Float16));
  b.param("n", Type::of(DType::Int32));
  const VarId rows =
      b.f.add(Var{.name = "rows", .type = Type::of(DType::Int32), .kind = VarKind::Extent});
  Buffer annotated = b.buffer("C", {8, 16}, DType::Float16, Scope::Global);
  annotated.shape[0] = b.var(rows);
  annotated.origin = BufferOrigin::Param;
  annotated.is_annotation = true;
  annotated.param = b.param("C", Type::handle());
  b.f.params.back().buffer = b.f.add(std::move(annotated));
  const VarId m =
      b.f.add(Var{.name = "m", .type = Type::of(DType::Int32), .kind = VarKind::Extent});
  Buffer late = b.buffer("A", {1}, DType::Float32, Scope::Global);
  late.shape[0] = b.var(m);
  b.matched("A_ptr", std::move(late));
  b.f.attrs = {{"private", Setting(true)}, {"tir.noalias", Setting(true)}};
  b.f.has_device_entry = true;
  b.evaluate(b.var(rows));
  EXPECT_EQ(print(b.done(), {.header = false}),
            "@T.prim_func(private=True)\n"
            "def f(p: T.handle(\"float16\"), n: T.int32, C: T.Buffer((\"rows\", 16), \"float16\"), "
            "A_ptr: T.handle):\n"
            "    T.func_attr({\"tir.noalias\": True})\n"
            "    m = T.int32()\n"
            "    A = T.match_buffer(A_ptr, (m,))\n"
            "    T.device_entry()\n"
            "    T.evaluate(rows)\n");
}

TEST(PrintFunction, EmptyBody) {
  EXPECT_EQ(print(Builder("f").done(), {.header = false}), "@T.prim_func\ndef f():\n    pass\n");
}

TEST(PrintNames, AreIdentifiersAndDoNotClash) {
  Builder b;
  for (const char* name : {"x", "x", "x_1", "", "", "class", "a-b", "1st", "T", "range", "R"})
    b.bind(name, b.n(0));
  std::string names;
  const std::string text = print(b.done(), {.header = false});
  for (std::size_t at = text.find(":\n") + 2; at < text.size(); at = text.find('\n', at) + 1)
    names += text.substr(at + 4, text.find(':', at) - at - 4) + " ";
  EXPECT_EQ(names, "x x_1 x_1_1 v v_1 class_ a_b _1st T_1 range_1 R_1 ");
}

TEST(PrintNames, AreFreeAgainBehindTheirBlock) {
  Builder b;
  for (int i = 0; i < 2; ++i) {
    b.loop("i", 2);
    b.loop("i", 2);
    b.end();
    b.end();
  }
  EXPECT_EQ(print(b.done(), {.header = false}),
            "@T.prim_func\ndef main():\n"
            "    for i in range(2):\n        for i_1 in range(2):\n            pass\n"
            "    for i in range(2):\n        for i_1 in range(2):\n            pass\n");
}

TEST(PrintNames, LeaveTheAxesAlone) {
  Builder b;
  b.alloc("laneid", {32}, DType::Float32, Scope::Local, "S[32:1@laneid]");
  EXPECT_EQ(last_line(b),
            "laneid_1 = T.alloc_buffer((32,), scope=\"local\", "
            "layout=TileLayout(S[32 : 1 @ laneid]))");
}

TEST(PrintParts, StandAsInTheWhole) {
  Builder b;
  b.bind("x", b.n(1));
  const BufferId a = b.alloc("x", {4}, DType::Int32, Scope::Local);
  b.store(a, {b.n(0)}, b.n(2));
  b.done();
  EXPECT_EQ(print(b.f, b.f.body[2]), "x_1[0] = 2\n");
  EXPECT_EQ(print(b.f, b.full(a)), "x_1[0:4]");
}

}  // namespace
}  // namespace ww::ir::print_calls_test
