// SPDX-License-Identifier: Apache-2.0
// The proof must hold for what variants write, and must not hold for anything near it: every number
// in the written code is changed in turn, statements are dropped, doubled or guarded, instructions
// are exchanged.
#include "lower/proof/proof.h"

#include <gtest/gtest.h>

#include "ir/build.h"
#include "ir/print/print.h"
#include "lower/test_calls.h"

namespace ww::lower::proof_copy_test {
namespace {

using ir::BufferId;
using ir::ExprId;
using ir::ExprOp;
using ir::Scope;
using ir::StmtId;
using ir::StmtKind;
using ir::TileOp;
using ir::Unit;
using ir::test::Builder;
using num::DType;
using test::changed;

/// One copy: dst and src in the scopes and layouts given, all of both.
struct Case {
  std::string variant;
  Unit unit = Unit::Warp;
  DType dtype = DType::Float16;
  std::vector<std::int64_t> shape;
  Scope dst_scope = Scope::Local;
  std::string dst;
  Scope src_scope = Scope::Shared;
  std::string src;
  std::int64_t threads = 32;
  // Copies under conditions: of `copy_async`, from global memory with other extents, which are
  // parameters where they are 0; zeros fill up what is missing; `p < 3` is the predicate.
  bool is_async = false;
  std::vector<std::int64_t> src_shape = {};
  bool fills = false, has_predicate = false;
  bool has_start =
      false;  // the region in global memory begins at a parameter, which may be below 0
  bool is_cached = false;  // cache="nc"
};

/// From global to shared memory by ld.global.nc, through registers of the copy's own.
Case cached_case() {
  return {.variant = "gmem_smem",
          .unit = Unit::Cta,
          .dtype = DType::Float16,
          .shape = {33, 8},
          .dst_scope = Scope::Shared,
          .dst = "S[(33,8):(16,1)]",
          .src_scope = Scope::Global,
          .src = "S[(33,8):(8,1)]",
          .threads = 64,
          .src_shape = {33, 8},
          .is_cached = true};
}

Case async_case(std::vector<std::int64_t> shape, std::vector<std::int64_t> src_shape, DType dtype,
                bool fills, bool has_predicate = false) {
  return {.variant = "ldgsts",
          .unit = Unit::Cta,
          .dtype = dtype,
          .shape = std::move(shape),
          .dst_scope = Scope::Shared,
          .dst = "",
          .src_scope = Scope::Global,
          .src = "",
          .threads = 32,
          .is_async = true,
          .src_shape = std::move(src_shape),
          .fills = fills,
          .has_predicate = has_predicate};
}

/// Between shared memory and a buffer of global memory that the region sticks out of.
Case sticking_out(std::string variant, DType dtype, bool is_load) {
  Case out = async_case({4, 8}, {10, 12}, dtype, true);
  out.variant = std::move(variant);
  out.is_async = out.variant != "gmem_smem";
  out.has_start = true;
  if (is_load) return out;
  std::swap(out.dst_scope, out.src_scope);
  return out;
}

/// Between registers and tensor memory, by a warpgroup.
Case tensor_case(std::vector<std::int64_t> shape, DType dtype, bool is_load, std::string registers,
                 std::string tensor, std::int64_t threads = 128) {
  return {.variant = "tcgen05_ldst",
          .unit = Unit::Warpgroup,
          .dtype = dtype,
          .shape = std::move(shape),
          .dst_scope = is_load ? Scope::Local : Scope::Tmem,
          .dst = is_load ? registers : tensor,
          .src_scope = is_load ? Scope::Tmem : Scope::Local,
          .src = is_load ? tensor : registers,
          .threads = threads,
          .is_async = true};
}

/// From shared to tensor memory, by one thread.
Case matrix_case(std::vector<std::int64_t> shape, DType dtype, std::string tensor,
                 std::string shared) {
  return {.variant = "tcgen05_cp",
          .unit = Unit::Thread,
          .dtype = dtype,
          .shape = std::move(shape),
          .dst_scope = Scope::Tmem,
          .dst = std::move(tensor),
          .src_scope = Scope::Shared,
          .src = std::move(shared),
          .threads = 1,
          .is_async = true};
}

std::vector<Case> cases() {
  const std::string fragment = "S[(8,4,4,2):(4@laneid,1@laneid,2,1)]";
  const std::string rows = "S[(8,4,4,2):(32,2,8,1)]";
  const std::string columns = "S[(8,4,4,2):(1,64,8,32)]";
  const std::string swizzled = "ComposeLayout(3, 3, 3, S[(8,4,4,2):(64,2,8,1)])";
  const std::vector<std::int64_t> shape{8, 4, 4, 2};
  return {
      {"ldstmatrix", Unit::Warp, DType::Float16, shape, Scope::Local, fragment, Scope::Shared,
       rows},
      {"ldstmatrix", Unit::Warp, DType::Float16, shape, Scope::Local, fragment, Scope::Shared,
       columns},
      {"ldstmatrix", Unit::Warp, DType::Float16, shape, Scope::Local, fragment, Scope::Shared,
       swizzled},
      {"ldstmatrix", Unit::Warp, DType::Float16, shape, Scope::Shared, swizzled, Scope::Local,
       fragment},
      {"reg",
       Unit::Warp,
       DType::Float32,
       {32, 8},
       Scope::Local,
       "S[(32,8):(1@laneid,1)]",
       Scope::Shared,
       "S[(32,8):(8,1)]"},
      {"reg",
       Unit::Warp,
       DType::Float32,
       {8, 8},
       Scope::Shared,
       "S[(8,8):(12,1)]",
       Scope::Local,
       "S[(8,8):(4@laneid,1)] + R[4:1@laneid]"},
      {"gmem_smem",
       Unit::Cta,
       DType::Float16,
       {33, 8},
       Scope::Shared,
       "S[(33,8):(16,1)]",
       Scope::Shared,
       "S[(33,8):(8,1)]",
       64},
      cached_case(),
      {"fallback",
       Unit::Warp,
       DType::Float32,
       {5, 7},
       Scope::Shared,
       "S[(5,7):(7,1)]",
       Scope::Shared,
       "S[(5,7):(1,5)]"},
      async_case({16, 32}, {16, 32}, DType::Float16, false),
      async_case({16, 32}, {16, 32}, DType::Float16, false, true),
      async_case({16, 32}, {16, 32}, DType::Float16, true, true),
      async_case({16, 32}, {13, 24}, DType::Float16, true),
      async_case({16, 32}, {13, 22}, DType::Float16, true),
      async_case({16, 32}, {13, 25}, DType::Float32, true, true),
      async_case({16, 32}, {0, 0}, DType::Float32, true),
      // 32x32b; 16x64b; 16x128b in two slabs; 16x256b; 16x32bx2; pairs of columns
      tensor_case({128, 6}, DType::Float16, true, "S[(128,6):(1@tid_in_wg,1)]",
                  "S[(128,6):(1@TLane,1@TCol)] + 4@TCol", 256),
      tensor_case({64, 4}, DType::Float32, true,
                  "S[(4,2,8,2,2):(1@wid_in_wg,1@laneid,4@laneid,1,2@laneid)]",
                  "S[(4,16,4):(32@TLane,1@TLane,1@TCol)]"),
      tensor_case({128, 8}, DType::Float32, false,
                  "S[(4,2,2,8,2,4):(1@wid_in_wg,4,1,4@laneid,2,1@laneid)]",
                  "S[(128,8):(1@TLane,1@TCol)]"),
      tensor_case({64, 16}, DType::Float16, false,
                  "S[(4,2,8,1,4,2,2):(1@wid_in_wg,4,4@laneid,8,1@laneid,2,1)]",
                  "S[(4,16,16):(32@TLane,1@TLane,1@TCol)] + 16@TLane"),
      tensor_case({4, 16, 2, 3}, DType::Float32, true,
                  "S[(4,16,2,3):(1@wid_in_wg,1@laneid,16@laneid,1)]",
                  "S[(4,16,2,3):(32@TLane,1@TLane,8@TCol,1@TCol)]"),
      tensor_case({128, 8}, DType::Float16, true, "S[(128,8):(1@tid_in_wg,1)]",
                  "S[(128,8):(1@TLane,2@TCol)]"),
      tensor_case({128, 8}, DType::Bfloat16, false, "S[(128,8):(1@tid_in_wg,1)]",
                  "S[(128,8):(1@TLane,2@TCol)]"),
      // 128x256b with and without swizzle; 128x128b; 64x128b both ways; 32x128b; 4x256b
      matrix_case({128, 16}, DType::Float16, "S[(128,16):(1@TLane,1@TCol)]",
                  "S[(128,2,8):(8,1024,1)]"),
      matrix_case({128, 64}, DType::Float16, "S[(128,64):(1@TLane,1@TCol)] + 8@TCol",
                  "ComposeLayout(3, 3, 3, S[(128,64):(64,1)])"),
      matrix_case({128, 4}, DType::Float32, "S[(128,4):(1@TLane,1@TCol)]", "S[(16,8,4):(64,4,1)]"),
      matrix_case({64, 16}, DType::Uint8, "S[(64,16):(1@TLane,1@TCol)] + R[2:64@TLane]",
                  "S[(64,16):(16,1)]"),
      matrix_case({64, 16}, DType::Uint8, "S[(2,32,16):(64@TLane,1@TLane,1@TCol)] + R[2:32@TLane]",
                  "ComposeLayout(4, 1, 3, S[(64,16):(32,1)])"),
      matrix_case({4, 32, 4}, DType::Uint8, "S[(4,32,4):(4@TCol,1@TLane,1@TCol)] + R[4:32@TLane]",
                  "S[(4,32,4):(4,16,1)]"),
      matrix_case({4, 16}, DType::Float16, "S[(4,16):(32@TLane,1@TCol)] + 5@TLane",
                  "ComposeLayout(3, 2, 3, S[(4,16):(32,1)])"),
  };
}

// --- the program of a case ---

BufferId tensor(Builder& b, const std::string& name, const Case& c, const std::string& layout) {
  const BufferId address = b.alloc("address", {1}, DType::Uint32, Scope::Shared);
  ir::Buffer out = b.buffer(name, c.shape, c.dtype, Scope::Tmem, layout);
  out.allocated_addr = b.at(address, {b.n(0)});
  return b.declare(std::move(out));
}

BufferId source(Builder& b, const Case& c) {
  if (c.src_scope == Scope::Tmem) return tensor(b, "A", c, c.src);
  if (c.is_async && c.src_scope == Scope::Shared) {
    ir::Buffer out = b.buffer("A", c.shape, c.dtype, c.src_scope, c.src);
    out.align = 1024;
    return b.alloc(std::move(out));
  }
  const bool is_plain = !c.is_async && c.src_scope != Scope::Global;
  if (is_plain || c.src_scope == Scope::Local)
    return b.alloc("A", c.shape, c.dtype, c.src_scope, c.src);
  ir::Buffer out = b.buffer("A", c.src_shape, c.dtype, c.src_scope);
  for (std::size_t d = 0; d < c.src_shape.size(); ++d)
    if (c.src_shape[d] == 0)
      out.shape[d] = b.var(b.param(fmt::format("n{}", d), ir::Type::of(DType::Int32)));
  return b.matched("A_ptr", std::move(out));
}

TileOp op_of(const Case& c) { return c.is_async ? TileOp::CopyAsync : TileOp::Copy; }

ir::Function function_of(const Case& c) {
  Builder b("k");
  b.f.has_device_entry = true;
  b.id(ir::ScopeIdKind::CtaId, "", 1);
  b.id(ir::ScopeIdKind::ThreadId, "tid", c.threads);
  const BufferId dst = c.dst_scope == Scope::Tmem ? tensor(b, "D", c, c.dst)
                       : c.dst_scope == Scope::Global
                           ? b.matched("D_ptr", b.buffer("D", c.src_shape, c.dtype, c.dst_scope))
                           : b.alloc("D", c.shape, c.dtype, c.dst_scope, c.dst);
  const BufferId src = source(b, c);
  ir::Region from = b.full(src), to = b.full(dst);
  for (std::size_t d = 0; d < c.shape.size(); ++d)
    for (ir::Region* region : {&from, &to}) region->ranges[d].extent = b.n(c.shape[d]);
  if (c.has_start)
    (c.dst_scope == Scope::Global ? to : from).ranges[0].min =
        b.var(b.param("start", ir::Type::of(DType::Int32)));
  const auto id = b.tile(op_of(c), c.unit, {to, from});
  auto& config = b.f.tile_calls[id.index].config;
  if (c.fills) config.emplace_back("fill_mode", std::string("zero"));
  if (c.is_cached) config.emplace_back("cache", std::string("nc"));
  if (c.has_predicate) {
    const ExprId p = b.var(b.param("p", ir::Type::of(DType::Int32)));
    config.emplace_back("predicate", b.op(ExprOp::Lt, p, b.n(3)));
  }
  return b.done();
}

const Variant& variant_of(const Case& c) {
  for (const Variant* each : variants_of(op_of(c)))
    if (each->name == c.variant) return *each;
  WW_CHECK(false, "no variant `{}`", c.variant);
}

target::Target target_of(const Case& c) {
  const bool has_tensor = c.dst_scope == Scope::Tmem || c.src_scope == Scope::Tmem;
  return {.arch = has_tensor ? target::Arch::Sm100a : target::Arch::Sm90a, .ptx = 90};
}

/// A copy, its variant's answer and its code.
class Written : public test::CallUnderTest {
 public:
  explicit Written(const Case& c)
      : CallUnderTest(function_of(c), variant_of(c), prove_copy, target_of(c)) {}
};

std::string name_of(const Case& c) { return c.variant + " " + c.dst + " <- " + c.src; }

TEST(Proof, HoldsForWhatVariantsWrite) {
  for (const Case& c : cases()) {
    const Written w(c);
    ASSERT_EQ(w.reason, "") << name_of(c);
    const Proof proof = w.prove();
    EXPECT_TRUE(proof.holds()) << name_of(c) << ": " << proof.difference << proof.could_not;
  }
}

// --- planted faults ---

/// Every place in the code where an expression stands.
void for_each_place(ir::Function& f, const ir::Block& block,
                    const std::function<void(StmtId, std::size_t)>& visit) {
  for (const StmtId id : block) {
    const ir::Stmt s = f[id];
    if (s.expr.valid()) visit(id, 0);
    if (s.ptx.valid())
      for (std::size_t i = 0; i < f[s.ptx].operands.size(); ++i) visit(id, i + 1);
    if (s.kind == StmtKind::For) visit(id, 100);
    for_each_place(f, s.body, visit);
  }
}

ExprId& place(ir::Function& f, StmtId id, std::size_t which) {
  ir::Stmt& s = f.at(id);
  if (which == 0) return s.expr;
  if (which == 100) return s.args[1];
  return f.ptx_calls[s.ptx.index].operands[which - 1].expr;
}

TEST(Proof, EveryChangedNumberIsCaught) {
  int planted = 0, caught = 0;
  for (const Case& c : cases()) {
    Written w(c);
    std::vector<std::pair<StmtId, std::size_t>> places;
    for_each_place(w.f, w.code, [&](StmtId id, std::size_t i) { places.emplace_back(id, i); });
    for (const auto& at : places)
      test::for_each_change(
          w.f, [&]() -> ExprId& { return place(w.f, at.first, at.second); },
          [&](ExprId, ExprId after) {
            ++planted;
            const Proof proof = w.prove();
            caught += proof.holds() ? 0 : 1;
            // `x % 33` for x below 32, for instance, is no fault: the changed code is right, too.
            if (proof.holds()) std::printf("  not a fault: %s\n", ir::print(w.f, after).c_str());
          });
  }
  std::printf("  %d of %d changed numbers are caught\n", caught, planted);
  EXPECT_GT(planted, 60);
  EXPECT_GT(caught * 10, planted * 8);
}

TEST(Proof, DroppedDoubledAndGuardedStatements) {
  for (const Case& c : cases()) {
    Written w(c);
    const ir::Block whole = w.code;
    // Dropped: the last statement is what moves something, or the loop around it.
    w.code.pop_back();
    EXPECT_FALSE(w.prove().holds()) << name_of(c);
    // Guarded: half of the threads do nothing.
    w.code = whole;
    const ExprId half = ir::binary(w.f, ExprOp::Lt, {.expr = ir::int_imm(w.f, DType::Int32, 1)},
                                   {.expr = ir::int_imm(w.f, DType::Int32, 0)})
                            .value();
    ir::Stmt guard{.kind = StmtKind::If, .expr = half};
    guard.body = {w.code.back()};
    w.code.back() = w.f.add(std::move(guard));
    EXPECT_FALSE(w.prove().holds()) << name_of(c);
  }
}

/// Every statement that does something under a condition.
void for_each_guard(ir::Function& f, const ir::Block& block,
                    const std::function<void(StmtId)>& visit) {
  for (const StmtId id : block) {
    const ir::Stmt s = f[id];
    const bool is_guarded = s.kind == StmtKind::If ||
                            (s.kind == StmtKind::Store && f[s.expr].op == ExprOp::IfThenElse) ||
                            (s.kind == StmtKind::Ptx && f[s.ptx].predicate.valid());
    if (is_guarded) visit(id);
    for_each_guard(f, s.body, visit);
  }
}

// What is before the start or behind the end of a buffer is neither read nor written.
TEST(Proof, RegionsThatStickOutNeedTheirGuards) {
  int guards = 0;
  for (const Case& c :
       {sticking_out("ldgsts", DType::Float32, true), sticking_out("sync", DType::Float32, true),
        sticking_out("gmem_smem", DType::Float16, true),
        sticking_out("gmem_smem", DType::Float32, false)}) {
    Written w(c);
    ASSERT_EQ(w.reason, "") << c.variant;
    ASSERT_TRUE(w.prove().holds()) << c.variant << w.prove().difference << w.prove().could_not;
    std::vector<StmtId> all;
    for_each_guard(w.f, w.code, [&](StmtId id) { all.push_back(id); });
    for (const StmtId id : all) {
      const ir::Stmt before = w.f[id];
      if (before.kind == StmtKind::If) w.f.at(id).expr = ir::bool_imm(w.f, true);
      if (before.kind == StmtKind::Store) w.f.at(id).expr = w.f[before.expr].args[1];
      if (before.kind == StmtKind::Ptx) w.f.ptx_calls[before.ptx.index].predicate = {};
      EXPECT_FALSE(w.prove().holds()) << c.variant;
      w.f.at(id) = before;
      ++guards;
    }
  }
  EXPECT_GE(guards, 3);
}

// To whoever simplifies, the index into a single element is 0.
TEST(Proof, ViewsOfASingleElement) {
  int caught = 0;
  for (const Case& c : cases()) {
    Written w(c);
    for (std::uint32_t i = 0; i < w.f.buffer_count(); ++i)
      if (w.f.at(ir::BufferId{i}).origin == ir::BufferOrigin::View)
        w.f.at(ir::BufferId{i}).shape = {ir::int_imm(w.f, DType::Int32, 1)};
    // Those that only point into the view and go on from there do not notice.
    caught += w.prove().difference.find("into the single element of") != std::string::npos ? 1 : 0;
  }
  EXPECT_GT(caught, 5);
}

TEST(Proof, ExchangedInstructions) {
  for (const Case& c : cases()) {
    if (c.variant != "ldstmatrix") continue;
    Written w(c);
    ASSERT_FALSE(w.f.ptx_calls.empty());
    std::string& opcode = w.f.ptx_calls.back().opcode;
    const std::string before = opcode;
    const auto trans = opcode.find(".trans");
    if (trans != std::string::npos)
      opcode.erase(trans, 6);
    else
      opcode.insert(opcode.find(".shared"), ".trans");
    EXPECT_FALSE(w.prove().holds()) << opcode;
    opcode = before;
    auto& operands = w.f.ptx_calls.back().operands;
    const std::size_t first = before.starts_with("st") ? 1 : 0;
    std::swap(operands[first], operands[first + 1]);
    EXPECT_FALSE(w.prove().holds()) << "exchanged registers";
  }
}

/// The cp.async of the written code, one call or several.
std::vector<ir::PtxCall*> copies_in(ir::Function& f) {
  std::vector<ir::PtxCall*> out;
  for (ir::PtxCall& call : f.ptx_calls)
    if (call.opcode.starts_with("cp.async")) out.push_back(&call);
  return out;
}

TEST(Proof, AsynchronousCopiesWithFaults) {
  int planted = 0;
  for (const Case& c : cases()) {
    if (c.variant != "ldgsts") continue;
    Written w(c);
    ASSERT_EQ(w.reason, "");
    ASSERT_EQ(copies_in(w.f).size(), 1U);
    ir::PtxCall& call = *copies_in(w.f)[0];
    const ir::PtxCall before = call;
    const auto number = [&](std::int64_t n) { return ir::int_imm(w.f, DType::Int32, n); };
    const auto expect_wrong = [&](const std::string& what, const std::string& why = {}) {
      const Proof proof = w.prove();
      EXPECT_NE(proof.difference, "") << what << " in " << name_of(c) << proof.could_not;
      if (!why.empty()) {
        EXPECT_NE(proof.difference.find(why), std::string::npos)
            << what << ": " << proof.difference;
      }
      call = before;
      ++planted;
    };
    const std::int64_t bytes = *ir::const_int(w.f, before.operands[2].expr);
    call.operands[2].expr = number(bytes / 2);
    expect_wrong("half the size");
    std::swap(call.operands[0], call.operands[1]);
    expect_wrong("the other direction");
    call.operands[1].expr =
        ir::call(w.f, ir::Intrinsic::PointerOffset,
                 std::vector{before.operands[1].expr, number(bytes / (num::bits_of(c.dtype) / 8))})
            .value();
    expect_wrong("another address");
    if (before.predicate.valid()) {
      call.predicate = {};
      expect_wrong("no predicate", "is written and must not be");
    }
    if (before.operands.size() < 4) continue;
    call.operands.pop_back();
    expect_wrong("no source size", c.has_predicate && c.shape == c.src_shape
                                       ? "expected zero"
                                       : "is read, outside the source");
    call.operands[3].expr = number(0);
    expect_wrong("only zeros", "gets zero");
    call.operands[3].expr = number(bytes + 1);
    expect_wrong("a source size beyond the size", fmt::format("reads {} of {}", bytes + 1, bytes));
  }
  EXPECT_GT(planted, 30);
}

TEST(Proof, TensorCopiesWithFaults) {
  for (const Case& c : cases()) {
    if (c.variant != "tcgen05_ldst") continue;
    Written w(c);
    ASSERT_EQ(w.reason, "") << name_of(c);
    ASSERT_FALSE(w.f.ptx_calls.empty());
    ir::PtxCall& call = w.f.ptx_calls.back();
    const ir::PtxCall before = call;
    const auto expect_wrong = [&](const std::string& what) {
      EXPECT_FALSE(w.prove().holds()) << what << " in " << call.opcode;
      call = before;
    };
    const bool is_load = c.dst_scope == Scope::Local;
    const std::size_t first = is_load ? 0 : before.operands.size() - 2;
    std::swap(call.operands[first], call.operands[first + 1]);
    if (before.operands.size() > 3) expect_wrong("exchanged registers");
    for (ir::PtxOperand& operand : call.operands)
      if (operand.kind == ir::PtxOperand::Kind::Address)
        operand.expr = w.f[operand.expr].args[0];  // no lane, no column
    expect_wrong("lane 0 in every warp");
    for (ir::PtxOperand& operand : call.operands)
      if (operand.kind == ir::PtxOperand::Kind::Address) {
        int which = 0;
        operand.expr = changed(w.f, operand.expr, which);
      }
    expect_wrong("another address");
    const auto packing = call.opcode.find(is_load ? ".pack::16b" : ".unpack::16b");
    if (packing != std::string::npos)
      call.opcode.erase(packing, is_load ? 10 : 12);
    else
      call.opcode.insert(call.opcode.rfind(".b32"), is_load ? ".pack::16b" : ".unpack::16b");
    expect_wrong("the other packing");
  }
}

TEST(Proof, EveryBitOfADescriptorCounts) {
  int planted = 0;
  for (const Case& c : cases()) {
    if (c.variant != "tcgen05_cp") continue;
    Written w(c);
    ASSERT_EQ(w.reason, "") << name_of(c);
    const std::string& opcode = w.f.ptx_calls.back().opcode;
    for (const StmtId id : w.code) {
      if (w.f[id].kind != StmtKind::Bind || w.f[w.f[id].var].name != "desc") continue;
      const ExprId before = w.f[id].expr;
      const auto bits = static_cast<std::uint64_t>(*ir::const_int(w.f, w.f[before].args[1]));
      const bool has_halves = opcode.ends_with("x256b") && bits >> 61U == 0;
      const bool has_groups = !opcode.ends_with(".4x256b");
      for (unsigned bit = 0; bit < 64; ++bit) {
        const bool is_unused =
            (bit >= 16 && bit < 30 && !has_halves) || (bit >= 32 && bit < 46 && !has_groups);
        if (is_unused) continue;
        ir::Expr descriptor = w.f[before];
        descriptor.args[1] = ir::int_imm(w.f, DType::Uint64,
                                         static_cast<std::int64_t>(bits ^ std::uint64_t{1} << bit));
        w.f.at(id).expr = w.f.add(std::move(descriptor));
        EXPECT_FALSE(w.prove().holds()) << "bit " << bit << " of " << opcode;
        ++planted;
      }
      w.f.at(id).expr = before;
    }
    EXPECT_TRUE(w.prove().holds());
  }
  EXPECT_GT(planted, 300);
}

TEST(Proof, ExchangedShapesOfTensorCopies) {
  for (const Case& c : cases()) {
    if (c.variant != "tcgen05_cp") continue;
    Written w(c);
    std::string& opcode = w.f.ptx_calls.back().opcode;
    const std::string before = opcode;
    for (const std::string shape : {"128x256b", "128x128b", "64x128b.warpx2::02_13",
                                    "64x128b.warpx2::01_23", "32x128b.warpx4", "4x256b"}) {
      opcode = "tcgen05.cp.cta_group::1." + shape;
      EXPECT_EQ(w.prove().holds(), opcode == before) << opcode << " instead of " << before;
    }
    opcode = before;
  }
}

/// The instruction of the code, wherever it stands.
ir::PtxCall* first_ptx(ir::Function& f, const ir::Block& block) {
  for (const StmtId id : block) {
    if (f[id].ptx.valid()) return &f.ptx_calls[f[id].ptx.index];
    if (ir::PtxCall* const found = first_ptx(f, f[id].body)) return found;
  }
  return nullptr;
}

// What is stored from registers of its own is what was loaded into them.
TEST(Proof, RegistersOnTheWay) {
  Written exchanged(cached_case());
  ir::PtxCall* call = first_ptx(exchanged.f, exchanged.code);
  ASSERT_NE(call, nullptr);
  ASSERT_EQ(call->opcode, "ld.global.nc.v4.b32");
  std::swap(call->operands[0], call->operands[1]);
  EXPECT_FALSE(exchanged.prove().holds());

  Written fewer(cached_case());
  call = first_ptx(fewer.f, fewer.code);
  call->opcode = "ld.global.nc.v2.b32";
  call->operands.erase(call->operands.begin() + 2, call->operands.begin() + 4);
  const std::string found = fewer.prove().difference;  // not that it is element 0
  EXPECT_TRUE(found.contains("is read, outside the source")) << found;
}

TEST(Proof, CodeThatIsNotUnderstoodIsNoProof) {
  Written w(cases()[4]);
  ir::Stmt stop{.kind = StmtKind::Return};
  w.code.push_back(w.f.add(std::move(stop)));
  const Proof proof = w.prove();
  EXPECT_FALSE(proof.holds());
  EXPECT_EQ(proof.could_not, "a statement `Return`");
}

}  // namespace
}  // namespace ww::lower::proof_copy_test
