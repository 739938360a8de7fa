// SPDX-License-Identifier: Apache-2.0
// The text of small kernels. What kernels compute is compared with the evaluator elsewhere
// (tests/engines/emit/ptx_test.cpp).
#include "emit/ptx/emit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/test_programs.h"
#include "ptx/parser.h"
#include "ptx/printer.h"

namespace ww::emit::emit_test {
namespace {

using ir::BufferId;
using ir::ExprId;
using ir::ExprOp;
using ir::Intrinsic;
using ir::Scope;
using ir::VarId;
using ir::test::Builder;
using num::DType;
using testing::HasSubstr;

constexpr target::Target kHopper{target::Arch::Sm90a, 86};

std::string text_of(const ir::Function& function, const PtxOptions& options = {kHopper}) {
  const auto module = ptx_module(function, options);
  if (!module) return render(module.error());
  std::string text = ptx::print(*module);
  EXPECT_TRUE(ptx::parse(text).ok()) << text;
  return text;
}

// The statements of the kernel.
std::string body_of(const ir::Function& function) {
  const std::string text = text_of(function);
  const std::size_t first = text.find("{\n");
  return first == std::string::npos ? text : text.substr(first + 2, text.rfind('}') - first - 2);
}

/// A lowered kernel with flat buffers.
struct Kernel : Builder {
  VarId tx;

  Kernel() : Builder("kernel") {
    f.level = ir::Level::Lowered;
    f.has_device_entry = true;
  }
  void start(std::int64_t threads = 32) { tx = launch("tx", "threadIdx.x", threads); }
  BufferId global(const std::string& name, std::int64_t size, DType type, std::int64_t align = 0) {
    ir::Buffer out = flat(name, size, type, Scope::Global);
    out.align = align;
    return matched(name + "_ptr", std::move(out));
  }
  BufferId local(const std::string& name, std::int64_t size, DType type) {
    return alloc(flat(name, size, type, Scope::Local));
  }
  BufferId shared(const std::string& name, std::int64_t size, DType type) {
    return alloc(flat(name, size, type, Scope::Shared));
  }
  void copy(ExprId to, ExprId from, std::int64_t bytes) {
    evaluate(call(Intrinsic::CopyBytes, {to, from, n(bytes)}));
  }

 private:
  ir::Buffer flat(std::string name, std::int64_t size, DType type, Scope scope) {
    ir::Buffer out = buffer(std::move(name), {size}, type, scope);
    out.layout_kind = ir::LayoutKind::None;
    return out;
  }
};

TEST(EmitPtx, LoweredProgram) {
  EXPECT_EQ(text_of(ir::test::lowered_program().done()), R"(.version 8.6
.target sm_90a
.address_size 64

.visible .entry kernel(
	.param .u64 .ptr .global .align 16 B_ptr
)
.reqntid 32, 1, 1
{
	.reg .b32 %r<16>;
	.reg .b64 %rd<4>;
	.shared .align 128 .b8 A_smem[1024];
	ld.param.u64	%rd1, [B_ptr];
	cvta.to.global.u64	%rd2, %rd1;
	mov.u32	%r1, %tid.x;
	mov.b32	%r2, 0;
	shfl.sync.idx.b32	%r3, %r2, 0, 31, 0xFFFFFFFF;
	mov.u32	%r4, A_smem;
	mad.lo.s32	%r5, %r1, 32, %r4;
	ld.shared.v4.b32	{%r6, %r7, %r8, %r9}, [%r5];
	ld.shared.v4.b32	{%r10, %r11, %r12, %r13}, [%r5+16];
	ldmatrix.sync.aligned.m8n8.x2.shared.b16	{%r14, %r15}, [A_smem];
	mad.wide.s32	%rd3, %r1, 4, %rd2;
	st.global.b32	[%rd3], %r6;
	ret;
}

)");
}

// Callers are asked for what the code relies on: 16 bytes, more for wider accesses, and more or less by
// `align=`, but never less than an element.
TEST(EmitPtx, AlignmentOfParameters) {
  Kernel k;
  const BufferId wide = k.global("wide", 256, DType::Float32);
  const BufferId plain = k.global("plain", 256, DType::Float32);
  const BufferId asked = k.global("asked", 256, DType::Float32, 128);
  const BufferId narrow = k.global("narrow", 256, DType::Float32, 8);
  const BufferId element = k.global("element", 256, DType::Float32, 1);
  k.start();
  const BufferId r = k.local("r", 8, DType::Float32);
  k.copy(k.address(r, {k.n(0)}), k.address(wide, {k.mul(k.var(k.tx), k.n(8))}), 32);
  k.copy(k.address(plain, {k.mul(k.var(k.tx), k.n(8))}), k.address(r, {k.n(0)}), 16);
  k.copy(k.address(asked, {k.mul(k.var(k.tx), k.n(8))}), k.address(r, {k.n(0)}), 16);
  k.copy(k.address(narrow, {k.mul(k.var(k.tx), k.n(8))}), k.address(r, {k.n(0)}), 8);
  k.copy(k.address(element, {k.mul(k.var(k.tx), k.n(8))}), k.address(r, {k.n(0)}), 4);
  const std::string text = text_of(k.done(), {{target::Arch::Sm100a, 90}});
  EXPECT_TRUE(text.contains(".align 32 wide_ptr")) << text;
  EXPECT_TRUE(text.contains(".align 16 plain_ptr")) << text;
  EXPECT_TRUE(text.contains(".align 128 asked_ptr")) << text;
  EXPECT_TRUE(text.contains(".align 8 narrow_ptr")) << text;
  EXPECT_TRUE(text.contains(".align 4 element_ptr")) << text;
}

// A single store at an edge needs no branch. Where its address comes from memory it keeps the branch:
// computed ahead of the condition, it could be an undefined number.
std::string guarded_store(bool is_index_loaded) {
  Kernel k;
  const BufferId to = k.global("to", 256, DType::Float32);
  const BufferId from = k.global("from", 256, DType::Int32);
  k.start();
  ExprId index = k.var(k.tx);
  if (is_index_loaded) index = k.var(k.bind("index", k.at(from, {index})));
  k.when(k.op(ir::ExprOp::Lt, k.var(k.tx), k.n(20)));
  k.store(to, {index}, k.real(DType::Float32, 1));
  k.end();
  return body_of(k.done());
}

TEST(EmitPtx, SingleStoresAreGuarded) {
  EXPECT_THAT(guarded_store(false), HasSubstr("@%p1 st.global.b32"));
  EXPECT_THAT(guarded_store(true), HasSubstr("@!%p1 bra"));
}

// Vectors go straight into the registers of the array, and halves that are written one after the
// other are put together once.
TEST(EmitPtx, RegisterArray) {
  Kernel k;
  const BufferId out = k.global("out", 256, DType::Float16);
  k.start();
  const BufferId tile = k.shared("tile", 256, DType::Float16);
  const BufferId r = k.local("r", 8, DType::Float16);
  const auto at = [&](BufferId buffer, std::int64_t i) { return k.at(buffer, {k.n(i)}); };
  k.copy(k.address(r, {k.n(0)}), k.address(tile, {k.mul(k.var(k.tx), k.n(8))}), 16);
  k.store(r, {k.n(0)}, k.add(at(r, 0), at(r, 7)));
  k.store(r, {k.n(1)}, at(r, 6));
  k.copy(k.address(out, {k.mul(k.var(k.tx), k.n(8))}), k.address(r, {k.n(0)}), 16);
  EXPECT_EQ(body_of(k.done()), R"(	.reg .b16 %rs<6>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<4>;
	.shared .align 128 .b8 tile[512];
	ld.param.u64	%rd1, [out_ptr];
	cvta.to.global.u64	%rd2, %rd1;
	mov.u32	%r1, %tid.x;
	mov.u32	%r2, tile;
	mad.lo.s32	%r3, %r1, 16, %r2;
	ld.shared.v4.b32	{%r4, %r5, %r6, %r7}, [%r3];
	mov.b32	{%rs1, %rs2}, %r4;
	mov.b32	{%rs3, %rs4}, %r7;
	add.rn.f16	%rs5, %rs1, %rs4;
	mov.b32	%r4, {%rs5, %rs3};
	mad.wide.s32	%rd3, %r1, 16, %rd2;
	st.global.v4.b32	[%rd3], {%r4, %r5, %r6, %r7};
	ret;
)");
}

// A register that an instruction reads and writes: its halves are put together before.
TEST(EmitPtx, RegisterReadAndWritten) {
  Kernel k;
  const BufferId a = k.global("a", 64, DType::Float16);
  k.start();
  const BufferId r = k.local("r", 2, DType::Float16);
  k.store(r, {k.n(0)}, k.at(a, {k.n(5)}));
  k.store(r, {k.n(1)}, k.real(DType::Float16, 1));
  const ExprId word = k.address(r, {k.n(0)});
  k.ptx("movmatrix.sync.aligned.m8n8.trans.b16", {ir::test::reg_at(word), ir::test::reg_at(word)});
  k.store(a, {k.var(k.tx)}, k.at(r, {k.n(1)}));
  EXPECT_THAT(body_of(k.done()), HasSubstr(R"(	ld.global.b16	%rs1, [%rd2+10];
	mov.b16	%rs2, 15360;
	mov.b32	%r2, {%rs1, %rs2};
	movmatrix.sync.aligned.m8n8.trans.b16	%r2, %r2;
	mov.b32	{%rs3, %rs4}, %r2;
)"));
}

// What does not change in a loop stands before it; constants are in the addresses.
TEST(EmitPtx, Hoisting) {
  Kernel k;
  const BufferId a = k.global("a", 1024, DType::Float32);
  k.start();
  const VarId i = k.loop("i", 4);
  const VarId j = k.loop("j", 2);
  const ExprId index =
      k.add(k.add(k.mul(k.var(k.tx), k.n(16)), k.mul(k.var(i), k.n(4))), k.add(k.var(j), k.n(3)));
  k.store(a, {index}, k.real(DType::Float32, 1.5));
  k.end();
  k.end();
  EXPECT_EQ(body_of(k.done()), R"(	.reg .pred %p<3>;
	.reg .b32 %r<5>;
	.reg .b64 %rd<6>;
	ld.param.u64	%rd1, [a_ptr];
	cvta.to.global.u64	%rd2, %rd1;
	mov.u32	%r1, %tid.x;
	mov.b32	%r2, 0f3FC00000;
	mad.wide.s32	%rd3, %r1, 64, %rd2;
	mov.b32	%r3, 0;
$L_for_1:
	mad.wide.s32	%rd4, %r3, 16, %rd3;
	mov.b32	%r4, 0;
$L_for_2:
	mad.wide.s32	%rd5, %r4, 4, %rd4;
	st.global.b32	[%rd5+12], %r2;
	add.s32	%r4, %r4, 1;
	setp.ne.s32	%p1, %r4, 2;
	@%p1 bra	$L_for_2;
	add.s32	%r3, %r3, 1;
	setp.ne.s32	%p2, %r3, 4;
	@%p2 bra	$L_for_1;
	ret;
)");
}

TEST(EmitPtx, PlacesAndProvenance) {
  const SourceText source("k.py", "first line\n    second line\n");
  Kernel k;
  const BufferId a = k.global("a", 32, DType::Int32);
  k.start();
  ir::Stmt attr{.kind = ir::StmtKind::Attr, .attr = "primitive"};
  attr.setting = std::string("Tx.warp.copy(a) by reg");
  ir::Stmt store{.kind = ir::StmtKind::Store, .span = Span::at(15, 21), .expr = k.n(7)};
  store.buffer = a;
  store.args = {k.var(k.tx)};
  attr.body = {k.f.add(store)};
  k.stmt(std::move(attr));
  const std::string text = text_of(k.done(), {kHopper, &source});
  EXPECT_THAT(text, HasSubstr(".file 1 \"k.py\"\n"));
  EXPECT_THAT(text, HasSubstr("\t// Tx.warp.copy(a) by reg\n\t.loc 1 2 5\n"));
}

TEST(EmitPtx, PlacesInOtherFiles) {
  SourceText source("k.py", "first line\n");
  source.add_file("helpers.py", "\n  second line\n");
  Kernel k;
  const BufferId a = k.global("a", 32, DType::Int32);
  k.start();
  const std::size_t at = source.text().find("second");
  ir::Stmt store{.kind = ir::StmtKind::Store, .span = Span::at(at, at + 6), .expr = k.n(7)};
  store.buffer = a;
  store.args = {k.var(k.tx)};
  k.stmt(std::move(store));
  const std::string text = text_of(k.done(), {kHopper, &source});
  EXPECT_THAT(text, HasSubstr(".file 1 \"k.py\"\n.file 2 \"helpers.py\"\n"));
  EXPECT_THAT(text, HasSubstr("\t.loc 2 2 3\n"));
}

TEST(EmitPtx, NamesAreLegalAndUnique) {
  Kernel k;
  k.f.name = "add";
  const BufferId a = k.global("A.x", 32, DType::Int32);
  const BufferId b = k.global("A x", 32, DType::Int32);
  k.start();
  k.store(a, {k.var(k.tx)}, k.at(b, {k.var(k.tx)}));
  const std::string text = text_of(k.done());
  EXPECT_THAT(text, HasSubstr(".visible .entry add_1("));
  EXPECT_THAT(text, HasSubstr("A_x_ptr,"));
  EXPECT_THAT(text, HasSubstr("A_x_ptr_1"));
}

TEST(EmitPtx, ClustersAreRequired) {
  Kernel k;
  const BufferId a = k.global("a", 64, DType::Int32);
  k.launch("bx", "blockIdx.x", 4);
  const VarId rank = k.launch("rank", "clusterCtaIdx.x", 2);
  k.start();
  k.store(a, {k.var(k.tx)}, k.var(rank));
  const std::string text = text_of(k.done());
  EXPECT_THAT(text, HasSubstr(".reqnctapercluster 2, 1, 1"));
  EXPECT_THAT(text, HasSubstr("%cluster_ctaid.x;"));
}

TEST(EmitPtx, AsksForManyCtasOrFewRegisters) {
  const auto with = [](const char* attribute, std::int64_t value) {
    Kernel k;
    const BufferId a = k.global("a", 64, DType::Int32);
    k.start();
    k.store(a, {k.var(k.tx)}, k.n(1));
    k.f.attrs.emplace_back(attribute, value);
    return text_of(k.done());
  };
  EXPECT_THAT(with("tirx.launch_bounds_min_blocks_per_sm", 4), HasSubstr("\n.minnctapersm 4"));
  EXPECT_THAT(with("tirx.max_registers_per_thread", 40), HasSubstr("\n.maxnreg 40"));
}

TEST(EmitPtx, RefusalsAreLocated) {
  Kernel k;
  const BufferId a = k.global("a", 32, DType::Float64);
  k.start();
  ir::Stmt store{.kind = ir::StmtKind::Store, .span = Span::at(3, 5)};
  store.expr = k.call(Intrinsic::Erf, {k.at(a, {k.n(0)})});
  store.buffer = a;
  store.args = {k.var(k.tx)};
  k.stmt(store);
  const auto refused = ptx_module(k.done(), {kHopper});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, DiagKind::NotEmitted);
  EXPECT_EQ(refused.error().span, Span::at(3, 5));

  Kernel old;
  const BufferId b = old.global("b", 32, DType::Uint32);
  old.start();
  ir::Stmt elect{.kind = ir::StmtKind::Store, .span = Span::at(7, 9)};
  elect.expr = old.call(Intrinsic::ElectSync, {});
  elect.buffer = b;
  elect.args = {old.var(old.tx)};
  old.stmt(elect);
  const auto missing = ptx_module(old.done(), {{target::Arch::Sm80, 80}});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, DiagKind::NotOnTarget);
  EXPECT_EQ(missing.error().span, Span::at(7, 9));
}

}  // namespace
}  // namespace ww::emit::emit_test
