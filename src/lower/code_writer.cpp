// SPDX-License-Identifier: Apache-2.0
#include "lower/code_writer.h"

#include <utility>

#include "base/check.h"

namespace ww::lower {

using ir::ExprId;
using ir::ExprOp;
using num::DType;

ir::BufferId CodeWriter::flat_view(ir::BufferId buffer, DType dtype, std::int64_t elements,
                                   std::string_view name) {
  const ir::Buffer& of = f()[buffer];
  ir::Buffer view;
  view.name = name;
  view.dtype = dtype;
  view.scope = of.scope;
  view.span = of.span;
  view.layout_kind = ir::LayoutKind::None;
  view.origin = ir::BufferOrigin::View;
  view.base = of.origin == ir::BufferOrigin::View ? of.base : buffer;
  view.align = of.align;
  if (of.origin == ir::BufferOrigin::View) {
    const bool is_same = of.dtype == dtype;
    view.elem_offset = is_same ? of.elem_offset : ExprId{};
    view.byte_offset = of.byte_offset;
    WW_CHECK(is_same || !of.elem_offset.valid() || constant(of.elem_offset) == 0,
             "a view of other elements of a view with an offset");
  }
  const ExprId extent = n(elements);
  view.shape = {extent};
  const ir::BufferId id = f().add(std::move(view));
  declare(id);
  return id;
}

void CodeWriter::declare(ir::BufferId view) {
  ir::Stmt stmt{.kind = ir::StmtKind::Declare};
  stmt.buffer = view;
  add(std::move(stmt));
}

void CodeWriter::add(ir::Stmt stmt) {
  stmt.span = span();
  block_.push_back(f().add(std::move(stmt)));
}

ExprId CodeWriter::let(std::string_view name, ExprId value) {
  if (f()[value].type.is_int()) value = simplify(value);
  const ir::Expr& e = f()[value];
  if (e.op == ExprOp::Var || e.op == ExprOp::IntImm) return value;
  ir::Var made{.name = std::string(name), .type = e.type, .kind = ir::VarKind::Let, .span = span()};
  const bool is_integer = e.type.is_int();
  const ir::VarId id = f().add(std::move(made));
  if (is_integer) {
    const ir::Ranges ranges(f(), facts());
    facts().set_range(id, ranges.range(value));
    facts().set_divisor(id, std::max<std::int64_t>(1, ranges.divisor(value)));
  }
  ir::Stmt bind{.kind = ir::StmtKind::Bind, .expr = value};
  bind.var = id;
  add(std::move(bind));
  return var(id);
}

void CodeWriter::allocate(ir::BufferId buffer) {
  ir::Stmt stmt{.kind = ir::StmtKind::Alloc};
  stmt.buffer = buffer;
  add(std::move(stmt));
}

ir::BufferId CodeWriter::new_registers(std::string_view name, DType dtype, std::int64_t elements) {
  ir::Buffer made;
  made.name = name;
  made.dtype = dtype;
  made.scope = ir::Scope::Local;
  made.span = span();
  made.layout_kind = ir::LayoutKind::None;
  made.origin = ir::BufferOrigin::Alloc;
  made.shape = {n(elements)};
  return f().add(std::move(made));
}

ir::BufferId CodeWriter::registers(std::string_view name, DType dtype, std::int64_t elements) {
  const ir::BufferId id = new_registers(name, dtype, elements);
  allocate(id);
  return id;
}

void CodeWriter::evaluate(ir::Intrinsic callee, std::initializer_list<ExprId> args) {
  add(ir::Stmt{.kind = ir::StmtKind::Evaluate, .expr = call(callee, args)});
}

void CodeWriter::copy_bytes(ExprId to, ExprId from, std::int64_t bytes) {
  const ExprId dst = let("dst_ptr", to), src = let("src_ptr", from);
  evaluate(ir::Intrinsic::CopyBytes, {dst, src, n(bytes)});
}

void CodeWriter::ptx(std::string_view opcode, std::vector<ir::PtxOperand> operands,
                     ExprId predicate) {
  const isa::Opcode bound = isa::opcode_of(opcode);
  WW_CHECK(!bound.forms().empty(), "no form of the catalogue takes `{}`", opcode);
  const ir::PtxCallId call = f().add(
      ir::PtxCall{.opcode = bound, .operands = std::move(operands), .predicate = predicate});
  ir::Stmt stmt{.kind = ir::StmtKind::Ptx};
  stmt.ptx = call;
  add(std::move(stmt));
}

void CodeWriter::store(ir::BufferId buffer, std::span<const ExprId> indices, ExprId value) {
  ir::Stmt stmt{.kind = ir::StmtKind::Store, .expr = value};
  for (const ExprId index : indices) stmt.args.push_back(index);
  stmt.buffer = buffer;
  add(std::move(stmt));
}

ir::VarId CodeWriter::loop_var(std::string_view name, std::int64_t last, DType type) {
  const ir::VarId id = f().add(ir::Var{.name = std::string(name),
                                       .type = ir::Type::of(type),
                                       .kind = ir::VarKind::Loop,
                                       .span = span()});
  facts().set_range(id, {0, last});
  return id;
}

void CodeWriter::finish_loop(ir::VarId var, ExprId trips, ir::LoopKind kind, ir::Block outer) {
  ir::Stmt stmt{.kind = ir::StmtKind::For};
  stmt.loop = kind;
  stmt.var = var;
  const ExprId zero = ir::int_imm(f(), f()[var].type.dtype, 0, span());
  stmt.args = {zero, trips};
  stmt.body = std::exchange(block_, std::move(outer));
  add(std::move(stmt));
}

void CodeWriter::finish_if(ExprId condition, ir::Block outer) {
  ir::Stmt stmt{.kind = ir::StmtKind::If, .expr = condition};
  stmt.body = std::exchange(block_, std::move(outer));
  add(std::move(stmt));
}

void CodeWriter::finish_either(ExprId condition, ir::Block yes, ir::Block no) {
  ir::Stmt stmt{.kind = ir::StmtKind::If, .expr = condition};
  stmt.body = std::move(yes);
  stmt.other = std::move(no);
  add(std::move(stmt));
}

}  // namespace ww::lower
