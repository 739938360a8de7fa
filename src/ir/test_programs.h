// SPDX-License-Identifier: Apache-2.0
// Programs for the tests of this folder: a small builder over ir/build.h, and the kernels of the
// demonstration programs, made by hand.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/build.h"
#include "ir/function.h"
#include "layout/text.h"

namespace ww::ir::test {

using num::DType;

/// Builds a function statement by statement; blocks are opened and closed with `end`. What a test
/// gets wrong throws.
class Builder {
 public:
  using Indices = std::initializer_list<ExprId>;
  Function f;

  explicit Builder(std::string name = "main") {
    f.name = std::move(name);
    open_.push_back({});
  }
  /// The function with everything up to here as its body.
  Function done() {
    f.body = open_.front().block;
    return f;
  }

  // --- expressions ---
  ExprId n(std::int64_t value) { return int_imm(f, DType::Int32, value); }
  ExprId u32(std::int64_t value) { return int_imm(f, DType::Uint32, value); }
  ExprId real(DType dtype, double value) { return float_imm(f, dtype, value); }
  ExprId var(VarId id) { return var_ref(f, id); }
  ExprId op(ExprOp kind, ExprId a, ExprId b) {
    return binary(f, kind, {.expr = a}, {.expr = b}).value();
  }
  ExprId add(ExprId a, ExprId b) { return op(ExprOp::Add, a, b); }
  ExprId mul(ExprId a, ExprId b) { return op(ExprOp::Mul, a, b); }
  ExprId div(ExprId a, std::int64_t b) { return op(ExprOp::FloorDiv, a, n(b)); }
  ExprId mod(ExprId a, std::int64_t b) { return op(ExprOp::FloorMod, a, n(b)); }
  ExprId at(BufferId buffer, Indices indices, int lanes = 1) {
    return load(f, buffer, indices, lanes).value();
  }
  ExprId address(BufferId buffer, Indices indices) {
    return address_of(f, buffer, indices).value();
  }
  ExprId call(Intrinsic callee, Indices args, Type declared = {}) {
    return ir::call(f, callee, args, {}, declared).value();
  }

  // --- parameters and buffers ---
  VarId param(std::string name, Type type) {
    const VarId id = f.add(Var{.name = std::move(name), .type = type, .kind = VarKind::Param});
    f.params.push_back({.var = id});
    return id;
  }
  Buffer buffer(std::string name, std::vector<std::int64_t> shape, DType dtype, Scope scope,
                std::string_view layout = "") {
    Buffer b;
    b.name = std::move(name);
    b.dtype = dtype;
    b.scope = scope;
    for (const std::int64_t extent : shape) b.shape.push_back(n(extent));
    if (layout.empty()) return b;
    b.layout_kind = LayoutKind::Explicit;
    b.layout = layout::parse_layout(layout).value();
    return b;
  }
  /// A handle parameter `<name>_ptr` with a buffer matched to it.
  BufferId matched(const std::string& name, std::vector<std::int64_t> shape, DType dtype) {
    Buffer b = buffer(name, std::move(shape), dtype, Scope::Global);
    return matched(name + "_ptr", std::move(b));
  }
  BufferId matched(std::string handle, Buffer b) {
    b.origin = BufferOrigin::Param;
    b.param = param(std::move(handle), Type::handle());
    const BufferId id = f.add(std::move(b));
    f.host.push_back(f.add(Stmt{.kind = StmtKind::Declare, .buffer = id}));
    return id;
  }
  BufferId alloc(Buffer b) {
    const BufferId id = f.add(std::move(b));
    stmt({.kind = StmtKind::Alloc, .buffer = id});
    return id;
  }
  BufferId alloc(std::string name, std::vector<std::int64_t> shape, DType dtype, Scope scope,
                 std::string_view layout = "") {
    return alloc(buffer(std::move(name), std::move(shape), dtype, scope, layout));
  }
  BufferId declare(Buffer b) {
    const BufferId id = f.add(std::move(b));
    stmt({.kind = StmtKind::Declare, .buffer = id});
    return id;
  }
  BufferId view(std::string name, BufferId base, std::vector<std::int64_t> shape,
                std::string_view layout = "") {
    Buffer b = buffer(std::move(name), std::move(shape), f[base].dtype, f[base].scope, layout);
    b.origin = BufferOrigin::View;
    b.base = base;
    return declare(std::move(b));
  }
  /// `name: T.dtype = value`
  BufferId scalar(std::string name, DType dtype, ExprId value) {
    Buffer b = buffer(std::move(name), {1}, dtype, Scope::Local);
    b.is_scalar = true;
    const BufferId id = alloc(std::move(b));
    store(id, {n(0)}, value);
    return id;
  }
  Region full(BufferId buffer) {
    Region region;
    region.buffer = buffer;
    for (const ExprId extent : f[buffer].shape) region.ranges.push_back({n(0), extent});
    return region;
  }

  // --- statements ---
  StmtId stmt(Stmt s) {
    const StmtId id = f.add(std::move(s));
    open_.back().block.push_back(id);
    return id;
  }
  void store(BufferId buffer, Indices indices, ExprId value) {
    Stmt s{.kind = StmtKind::Store, .expr = value, .buffer = buffer};
    s.args = indices;
    stmt(std::move(s));
  }
  void evaluate(ExprId expr) { stmt({.kind = StmtKind::Evaluate, .expr = expr}); }
  void sync() { evaluate(call(Intrinsic::CtaSync, {})); }
  VarId bind(std::string name, ExprId value) {
    const VarId id = f.add(Var{.name = std::move(name), .type = f[value].type});
    stmt({.kind = StmtKind::Bind, .expr = value, .var = id});
    return id;
  }
  /// extent 0: left out
  VarId id(ScopeIdKind kind, std::string name, std::int64_t extent) {
    const VarId var = f.add(
        Var{.name = std::move(name), .type = Type::of(DType::Int32), .kind = VarKind::ScopeId});
    Stmt s{.kind = StmtKind::ScopeIds, .scope_id = kind, .vars = {var}};
    if (extent != 0) s.args = {n(extent)};
    stmt(std::move(s));
    return var;
  }
  VarId launch(std::string name, std::string_view hardware, std::int64_t extent) {
    const VarId var = f.add(
        Var{.name = std::move(name), .type = Type::of(DType::Int32), .kind = VarKind::Launch});
    Stmt s{.kind = StmtKind::LaunchThread,
           .var = var,
           .hardware = parse_hardware_id(hardware).value()};
    s.args = {n(extent)};
    stmt(std::move(s));
    return var;
  }
  VarId loop(std::string name, std::int64_t extent, LoopKind kind = LoopKind::Serial) {
    const VarId var =
        f.add(Var{.name = std::move(name), .type = Type::of(DType::Int32), .kind = VarKind::Loop});
    Stmt s{.kind = StmtKind::For, .var = var, .loop = kind};
    s.args = {n(0), n(extent)};
    open_.push_back({std::move(s), {}});
    return var;
  }
  void when(ExprId condition) { open_.push_back({{.kind = StmtKind::If, .expr = condition}, {}}); }
  StmtId end() {
    Open closed = std::move(open_.back());
    open_.pop_back();
    closed.owner.body = std::move(closed.block);
    return stmt(std::move(closed.owner));
  }
  TileCallId tile(TileOp kind, Unit unit, std::vector<TileArg> args) {
    args.resize(params_of(kind).size());
    TileCall call;
    call.op = kind;
    call.scope = unit;
    call.args = std::move(args);
    const TileCallId id = f.add(std::move(call));
    stmt({.kind = StmtKind::Tile, .tile = id});
    return id;
  }
  PtxCallId ptx(std::string_view opcode, std::vector<PtxOperand> operands) {
    const PtxCallId id =
        f.add(PtxCall{.opcode = isa::opcode_of(opcode), .operands = std::move(operands)});
    stmt({.kind = StmtKind::Ptx, .ptx = id});
    return id;
  }

 private:
  struct Open {
    Stmt owner = {};
    Block block = {};
  };
  std::vector<Open> open_;
};

inline PtxOperand value(ExprId expr) { return {.expr = expr}; }
inline PtxOperand reg_at(ExprId pointer) { return {.kind = PtxOperandKind::At, .expr = pointer}; }
inline PtxOperand mem(ExprId pointer) { return {.kind = PtxOperandKind::Address, .expr = pointer}; }

/// One warp copies an 8x16 tile from shared memory into the fragment of `ldmatrix`.
inline Builder ldmatrix_program() {
  Builder b("kernel");
  const BufferId a = b.matched("A", {8, 16}, DType::Float16);
  const BufferId out = b.matched("B", {8, 16}, DType::Float16);
  b.f.has_device_entry = true;
  b.id(ScopeIdKind::CtaId, "", 1);
  b.id(ScopeIdKind::LaneId, "", 32);
  const VarId tid = b.id(ScopeIdKind::ThreadId, "tid", 32);
  const BufferId tile =
      b.alloc("A_smem", {8, 4, 2, 2}, DType::Float16, Scope::Shared, "S[(8,4,2,2):(16,2,8,1)]");
  const BufferId row = b.scalar("row", DType::Int32, b.div(b.var(tid), 4));
  const BufferId pair = b.scalar("cp", DType::Int32, b.mod(b.var(tid), 4));
  const auto r = [&] { return b.at(row, {b.n(0)}); };
  const auto p = [&] { return b.at(pair, {b.n(0)}); };
  const auto column = [&](VarId t, VarId w) {
    return b.add(b.add(b.mul(b.var(t), b.n(8)), b.mul(p(), b.n(2))), b.var(w));
  };
  VarId t = b.loop("t", 2);
  VarId w = b.loop("w", 2);
  b.store(tile, {r(), p(), b.var(t), b.var(w)}, b.at(a, {r(), column(t, w)}));
  b.end();
  b.end();
  b.sync();
  const BufferId reg = b.alloc("R", {8, 4, 2, 2}, DType::Float16, Scope::Local,
                               "S[(8,4,2,2):(4@laneid,1@laneid,2,1)]");
  b.tile(TileOp::Copy, Unit::Warp, {b.full(reg), b.full(tile)});
  const BufferId own = b.view("R_local", reg, {4});
  t = b.loop("t", 2);
  w = b.loop("w", 2);
  b.store(out, {r(), column(t, w)}, b.at(own, {b.add(b.mul(b.var(t), b.n(2)), b.var(w))}));
  b.end();
  b.end();
  return b;
}

/// One warp copies a 32x8 tile from shared memory to registers and back.
inline Builder reg_program() {
  Builder b("kernel");
  const BufferId out = b.matched("B", {32, 8}, DType::Float32);
  b.f.has_device_entry = true;
  b.id(ScopeIdKind::CtaId, "", 1);
  b.id(ScopeIdKind::LaneId, "", 32);
  const VarId tid = b.id(ScopeIdKind::ThreadId, "tid", 32);
  const BufferId tile =
      b.alloc("A_smem", {32, 8}, DType::Float32, Scope::Shared, "S[(32,8):(8,1)]");
  VarId k = b.loop("kk", 8);
  const ExprId number = b.add(b.add(b.mul(b.var(tid), b.n(100)), b.var(k)), b.n(1));
  b.store(tile, {b.var(tid), b.var(k)}, cast(b.f, number, Type::of(DType::Float32)).value());
  b.end();
  b.sync();
  const BufferId reg =
      b.alloc("R", {32, 8}, DType::Float32, Scope::Local, "S[(32,8):(1@laneid,1)]");
  b.tile(TileOp::Copy, Unit::Warp, {b.full(reg), b.full(tile)});
  k = b.loop("kk", 8);
  b.store(tile, {b.var(tid), b.var(k)}, b.real(DType::Float32, 0));
  b.end();
  b.sync();
  b.tile(TileOp::Copy, Unit::Warp, {b.full(tile), b.full(reg)});
  b.sync();
  k = b.loop("kk", 8);
  b.store(out, {b.var(tid), b.var(k)}, b.at(tile, {b.var(tid), b.var(k)}));
  b.end();
  return b;
}

/// A warpgroup sends a 128x8 tile through tensor memory.
inline Builder tensor_program() {
  Builder b("copy_async_test");
  const BufferId a = b.matched("A", {128, 8}, DType::Float16);
  const BufferId out = b.matched("B", {128, 8}, DType::Float16);
  b.f.has_device_entry = true;
  const VarId warp = b.id(ScopeIdKind::WarpId, "warp_id", 4);
  const VarId group = b.id(ScopeIdKind::WarpgroupId, "wg_id", 1);
  const VarId tid = b.id(ScopeIdKind::ThreadId, "tid", 128);
  const BufferId addr = b.alloc("tmem_addr", {1}, DType::Uint32, Scope::Shared);
  const auto is_zero = [&](VarId id) { return b.op(ExprOp::Eq, b.var(id), b.n(0)); };
  b.when(is_zero(group));
  b.when(is_zero(warp));
  b.ptx("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32",
        {mem(b.address(addr, {b.n(0)})), value(b.u32(32))});
  b.end();
  b.evaluate(b.call(Intrinsic::StorageSync, {text_imm(b.f, "shared")}));
  Buffer tile =
      b.buffer("tmem", {128, 8}, DType::Float16, Scope::Tmem, "S[(128,8):(1@TLane,1@TCol)]");
  tile.allocated_addr = b.at(addr, {b.n(0)});
  const BufferId tmem = b.declare(std::move(tile));
  const BufferId a_reg = b.alloc("A_reg", {8}, DType::Float16, Scope::Local);
  const BufferId b_reg = b.alloc("B_reg", {8}, DType::Float16, Scope::Local);
  const BufferId a_all = b.view("A_local", a_reg, {128, 8}, "S[(128,8):(1@tid_in_wg,1)]");
  const BufferId b_all = b.view("B_local", b_reg, {128, 8}, "S[(128,8):(1@tid_in_wg,1)]");
  VarId i = b.loop("i", 8);
  b.store(a_reg, {b.var(i)}, b.at(a, {b.var(tid), b.var(i)}));
  b.store(b_reg, {b.var(i)}, b.real(DType::Float16, 0));
  b.end();
  b.sync();
  b.tile(TileOp::CopyAsync, Unit::Warpgroup, {b.full(tmem), b.full(a_all)});
  b.ptx("tcgen05.wait::st.sync.aligned", {});
  b.sync();
  b.tile(TileOp::CopyAsync, Unit::Warpgroup, {b.full(b_all), b.full(tmem)});
  b.ptx("tcgen05.wait::ld.sync.aligned", {});
  i = b.loop("i", 8);
  b.store(out, {b.var(tid), b.var(i)}, b.at(b_reg, {b.var(i)}));
  b.end();
  b.end();
  return b;
}

/// One warp multiplies 16x16 by 16x8.
inline Builder gemm_program() {
  Builder b("gemm");
  const BufferId a_g = b.matched("A_g", {16, 16}, DType::Float16);
  const BufferId b_g = b.matched("B_g", {16, 8}, DType::Float16);
  const BufferId d_g = b.matched("D_g", {16, 8}, DType::Float32);
  b.f.has_device_entry = true;
  b.id(ScopeIdKind::CtaId, "", 1);
  b.id(ScopeIdKind::WarpId, "", 1);
  const VarId lane = b.id(ScopeIdKind::LaneId, "lane", 32);
  const BufferId a = b.alloc("A_f", {16, 16}, DType::Float16, Scope::Local,
                             "S[(2,8,2,4,2):(2,4@laneid,4,1@laneid,1)]");
  const BufferId w =
      b.alloc("B_f", {16, 8}, DType::Float16, Scope::Local, "S[(2,4,2,8):(2,1@laneid,1,4@laneid)]");
  const BufferId d =
      b.alloc("D_f", {16, 8}, DType::Float32, Scope::Local, "S[(2,8,4,2):(2,4@laneid,1@laneid,1)]");
  const auto row = [&](ExprId half) { return b.add(b.div(b.var(lane), 4), b.mul(b.n(8), half)); };
  const auto pair = [&](ExprId low) { return b.add(b.mul(b.n(2), b.mod(b.var(lane), 4)), low); };
  const BufferId a_reg = b.view("A_reg", a, {8}, "S[(2,2,2):(2,4,1)]");
  VarId s = b.loop("s", 8, LoopKind::Unroll);
  b.store(a_reg, {b.var(s)},
          b.at(a_g, {row(b.div(b.var(s), 4)), b.add(pair(b.mod(b.var(s), 2)),
                                                    b.mul(b.n(8), b.mod(b.div(b.var(s), 2), 2)))}));
  b.end();
  const BufferId b_reg = b.view("B_reg", w, {4}, "S[(2,2):(2,1)]");
  s = b.loop("s", 4, LoopKind::Unroll);
  b.store(b_reg, {b.var(s)},
          b.at(b_g, {b.add(pair(b.mod(b.var(s), 2)), b.mul(b.n(8), b.div(b.var(s), 2))),
                     b.div(b.var(lane), 4)}));
  b.end();
  b.tile(TileOp::Gemm, Unit::Warp,
         {b.full(d), b.full(a), b.full(w), b.full(d), Setting(false), Setting(false), Setting(1.0),
          Setting(0.0)});
  const BufferId d_reg = b.view("D_reg", d, {4}, "S[(2,2):(2,1)]");
  s = b.loop("s", 4, LoopKind::Unroll);
  b.store(d_g, {row(b.div(b.var(s), 2)), pair(b.mod(b.var(s), 2))}, b.at(d_reg, {b.var(s)}));
  b.end();
  return b;
}

/// The copies of `reg_program` as they come out of lowering: flat buffers, pointers, a PTX matrix
/// load beside them.
inline Builder lowered_program() {
  Builder b("kernel");
  b.f.level = Level::Lowered;
  Buffer out = b.buffer("B", {32, 8}, DType::Float32, Scope::Global);
  out.layout_kind = LayoutKind::None;
  const BufferId matched = b.matched("B_ptr", std::move(out));
  b.f.has_device_entry = true;
  const auto flat = [&](std::string name, std::int64_t size, DType dtype, Scope scope) {
    Buffer buffer = b.buffer(std::move(name), {size}, dtype, scope);
    buffer.layout_kind = LayoutKind::None;
    return buffer;
  };
  Buffer view = flat("B_1", 256, DType::Float32, Scope::Global);
  view.origin = BufferOrigin::View;
  view.base = matched;
  const BufferId b_1 = b.declare(std::move(view));
  b.launch("blockIdx_x", "blockIdx.x", 1);
  const VarId tx = b.launch("threadIdx_x", "threadIdx.x", 32);
  const ExprId warp =
      b.call(Intrinsic::Shfl, {b.u32(0xffffffff), b.div(b.var(tx), 32), b.n(0), b.n(32), b.n(32)});
  b.bind("warp_id_in_cta", warp);
  const BufferId tile = b.alloc(flat("A_smem", 256, DType::Float32, Scope::Shared));
  const BufferId reg = b.alloc(flat("r_local", 8, DType::Float32, Scope::Local));
  VarId f = b.loop("f", 2);
  const ExprId offset = b.add(b.mul(b.mod(b.var(tx), 32), b.n(8)), b.mul(b.var(f), b.n(4)));
  const VarId from =
      b.bind("s_ptr", b.call(Intrinsic::PointerOffset, {b.address(tile, {b.n(0)}), offset}));
  const VarId to = b.bind("r_ptr", b.call(Intrinsic::PointerOffset,
                                          {b.address(reg, {b.n(0)}), b.mul(b.var(f), b.n(4))}));
  b.evaluate(b.call(Intrinsic::CopyBytes, {b.var(to), b.var(from), b.n(16)}));
  b.end();
  const BufferId words = b.alloc(flat("w", 4, DType::Float16, Scope::Local));
  const VarId m = b.loop("mm", 1, LoopKind::Unroll);
  b.ptx("ldmatrix.sync.aligned.m8n8.x2.shared.b16",
        {reg_at(b.address(words, {b.mul(b.var(m), b.n(4))})), reg_at(b.address(words, {b.n(2)})),
         mem(b.address(tile, {b.n(0)}))});
  b.end();
  b.store(b_1, {b.var(tx)}, b.at(reg, {b.n(0)}));
  return b;
}

}  // namespace ww::ir::test
