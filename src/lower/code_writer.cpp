// SPDX-License-Identifier: Apache-2.0
#include "lower/code_writer.h"

#include <limits>
#include <utility>

#include "base/check.h"

namespace ww::lower {

using ir::ExprId;
using ir::ExprOp;
using num::DType;

namespace {

template <typename T>
T sure(Result<T>&& result) {
  WW_CHECK(result.has_value(), "lowering wrote what has no type: {}", result.error().text);
  return *std::move(result);
}

bool fits_int32(ir::Range range) {
  return range.min >= std::numeric_limits<std::int32_t>::min() &&
         range.max <= std::numeric_limits<std::int32_t>::max();
}

}  // namespace

ExprId CodeWriter::n(std::int64_t value) {
  const bool is_small = fits_int32({value, value});
  return ir::int_imm(f_, is_small ? DType::Int32 : DType::Int64, value, span_);
}

ExprId CodeWriter::var(ir::VarId id) { return ir::var_ref(f_, id, span_); }

std::optional<std::int64_t> CodeWriter::constant(ExprId expr) const {
  return ir::const_int(f_, expr);
}

ExprId CodeWriter::simplify(ExprId expr) { return ir::simplify(f_, expr, facts_); }

ExprId CodeWriter::binary(ExprOp op, ExprId a, ExprId b) {
  // A small constant takes the type of the other side; one beyond int32 makes both int64.
  const auto is_weak = [&](ExprId id) {
    const auto value = constant(id);
    return value && fits_int32({*value, *value});
  };
  return sure(ir::binary(f_, op, {.expr = a, .is_weak = is_weak(a)},
                         {.expr = b, .is_weak = is_weak(b)}, span_));
}

ExprId CodeWriter::index(ExprOp op, ExprId a, ExprId b) {
  const ExprId made = binary(op, a, b);
  if (f_[made].op == op) f_.set_no_wrap(made);
  return made;
}

ExprId CodeWriter::as(DType dtype, ExprId value) {
  if (f_[value].type == ir::Type::of(dtype)) return value;
  return sure(ir::cast(f_, value, ir::Type::of(dtype), span_));
}

ExprId CodeWriter::add(ExprId a, ExprId b) {
  if (constant(a) == 0) return b;
  if (constant(b) == 0) return a;
  return index(ExprOp::Add, a, b);
}

ExprId CodeWriter::mul(ExprId a, std::int64_t b) {
  if (b == 1) return a;
  if (b == 0 || constant(a) == 0) return n(0);
  return index(ExprOp::Mul, a, n(b));
}

ExprId wide_add(CodeWriter& write, ExprId a, ExprId b) {
  const ir::Ranges ranges(write.f(), write.facts());
  const auto x = ranges.range(a);
  const auto y = ranges.range(b);
  const bool is_wide = !fits_int32({x.min + y.min, x.max + y.max});
  return write.simplify(is_wide ? write.add(write.as_int64(a), write.as_int64(b))
                                : write.add(a, b));
}

ExprId wide_mul(CodeWriter& write, ExprId a, ExprId b) {
  const ir::Ranges ranges(write.f(), write.facts());
  const auto x = ranges.range(a);
  const auto y = ranges.range(b);
  const auto most = [](std::int64_t v) { return static_cast<double>(v < 0 ? -v : v); };
  const double product = std::max(most(x.min), most(x.max)) * std::max(most(y.min), most(y.max));
  if (product > static_cast<double>(std::numeric_limits<std::int32_t>::max())) {
    a = write.as_int64(a);
    b = write.as_int64(b);
  }
  return write.simplify(write.index(ExprOp::Mul, a, b));
}

ExprId multiply_add(CodeWriter& write, ExprId a, ExprId b, ExprId c) {
  if (write.f()[a].type.is_float()) return write.call(ir::Intrinsic::Fma, {a, b, c});
  return write.binary(ExprOp::Add, write.binary(ExprOp::Mul, a, b), c);
}

ExprId CodeWriter::div(ExprId a, std::int64_t b) {
  return b == 1 ? a : index(ExprOp::FloorDiv, a, n(b));
}
ExprId CodeWriter::mod(ExprId a, std::int64_t b) { return index(ExprOp::FloorMod, a, n(b)); }
ExprId CodeWriter::bit_xor(ExprId a, ExprId b) {
  if (constant(b) == 0) return a;
  if (constant(a) == 0) return b;
  return index(ExprOp::BitXor, a, b);
}
ExprId CodeWriter::less(ExprId a, std::int64_t b) { return index(ExprOp::Lt, a, n(b)); }

ExprId CodeWriter::both(ExprId a, ExprId b) {
  if (!a.valid()) return b;
  if (!b.valid()) return a;
  return sure(ir::binary(f_, ExprOp::And, {.expr = a}, {.expr = b}, span_));
}

ExprId CodeWriter::literal(const ir::Constant& value) {
  return is_float(value.dtype) ? ir::float_imm(f_, value.dtype, value.real, span_)
                               : ir::int_imm(f_, value.dtype, value.integer, span_);
}
ExprId CodeWriter::number(DType dtype, double value) {
  return ir::Type::of(dtype).is_float()
             ? ir::float_imm(f_, dtype, value, span_)
             : ir::int_imm(f_, dtype, static_cast<std::int64_t>(value), span_);
}

ExprId CodeWriter::choose(ExprOp op, ExprId condition, ExprId yes, ExprId no) {
  return sure(ir::choose(f_, op, condition, {.expr = yes}, {.expr = no}, span_));
}

ExprId CodeWriter::call(ir::Intrinsic callee, std::initializer_list<ExprId> args) {
  return sure(ir::call(f_, callee, std::span(args.begin(), args.size()), span_));
}

ExprId CodeWriter::pointer(ir::BufferId flat, ExprId offset) {
  offset = simplify(offset);
  const ExprId zero = n(0);
  const ExprId start = sure(ir::address_of(f_, flat, std::span(&zero, 1), span_));
  return call(ir::Intrinsic::PointerOffset, {start, offset});
}

ExprId CodeWriter::address(ir::BufferId flat, ExprId index) {
  index = simplify(index);
  return sure(ir::address_of(f_, flat, std::span(&index, 1), span_, ir::Bounds::Guarded));
}

ExprId CodeWriter::load(ir::BufferId buffer, std::initializer_list<ExprId> indices) {
  return sure(ir::load(f_, buffer, std::span(indices.begin(), indices.size()), 1, span_,
                       ir::Bounds::Guarded));
}

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
