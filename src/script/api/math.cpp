// SPDX-License-Identifier: Apache-2.0
// Expressions by name: conversions, choices, integer arithmetic, logic, limits, vectors, pointers.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/fail_at.h"
#include "ir/tensor_map.h"
#include "num/float_format.h"
#include "script/api/builtins.h"
#include "script/interp/evaluator.h"

namespace ww::script::math_api {
namespace {

using ir::ExprOp;
using num::DType;

template <std::size_t kValue>
Result<Value> cast(Context& in, Args& a) {
  const ir::Type to = WW_TRY(as_type(in, a[1 - kValue], "the type"));
  if (!in.in_kernel()) return typed_constant(in, {a[kValue], a.call}, to, Conversion::Cast);
  return of_expr(cast_as(in, {a[kValue], a.call}, to));
}

// T.FloatImm("float16", 0.5), T.IntImm("int32", 4): a constant of the type.
template <num::DTypeKind kKind>
Result<Value> immediate(Context& in, Args& a) {
  const ir::Type type = WW_TRY(as_type(in, a[0], "the type"));
  constexpr bool kIsFloat = kKind == num::DTypeKind::Float;
  if (!type.is_value() || type.lanes != 1 || type.is_float() != kIsFloat)
    return fail_at(a.span(0), DiagKind::BadType, "`{}` of `{}`, expected {} type", a.row->name,
                   ir::to_text(type), kIsFloat ? "a float" : "an integer");
  const Value constant = WW_TRY(typed_constant(in, a[1], type, Conversion::Exact));
  if (!in.in_kernel() || constant.is(Kind::Opaque)) return constant;
  return of_expr(expression_as(in, {constant, a.call}, type));
}
// const(1.5), const(1, "int8"): without a type, that of a literal.
Result<Value> const_row(Context& in, Args& a) {
  if (!is_number(a[0]) || !a.has(1)) return a[0];
  const ir::Type type = WW_TRY(as_type(in, a[1], "the type"));
  return typed_constant(in, {a[0], a.call}, type, Conversion::Exact);
}

Result<Value> reinterpret(Context& in, Args& a) {
  if (a.has(1) == a.has(2))
    return fail(
        diag_at(a.call, DiagKind::BadArgument, "`T.reinterpret` takes a type and a value")
            .with_note("`T.reinterpret(\"uint32\", x)`, or `T.reinterpret(x, ty=\"uint32\")`"));
  // Three orders are in use: (dtype, value), (value, dtype) and (value, ty=).
  const bool type_first = a[0].is(Kind::Str) || a[0].is(Kind::DType) || a[0].is(Kind::Annotation);
  const std::size_t t = a.has(2) ? 2 : type_first ? 0 : 1;
  const std::size_t v = t == 0 ? 1 : 0;
  const ir::Type type = WW_TRY(as_type(in, a[t], "the type"));
  const ir::ExprId value = WW_TRY(expression(in, a[v]));
  // A tile of tensor memory is at a number, which `B.data` stands for.
  if (const ir::Expr e = in.fn()[value]; e.op == ExprOp::BufferData && type.is_int()) {
    const ir::ExprId address = in.fn()[e.buffer].allocated_addr;
    if (address.valid()) return of_expr(cast_as(in, {of_expr(address), a.call}, type));
  }
  if (!type.is_value() && !in.fn()[value].type.is_pointer())
    return fail(diag_at(a.call, DiagKind::BadType,
                        "a pointer made of `{}`, expected one from a buffer",
                        ir::to_text(in.fn()[value].type))
                    .with_note("`B.ptr_to([i])` is the address of an element"));
  return of_expr(ir::reinterpret(in.fn(), value, type, a.call));
}

template <ExprOp kOp>
Result<Value> choose(Context& in, Args& a) {
  if (!a[0].is(Kind::Ir)) return WW_TRY(truth(in, a[0])) ? a[1] : a[2];
  const ir::Operand yes = WW_TRY(operand(in, a[1]));
  const ir::Operand no = WW_TRY(operand(in, a[2]));
  return of_expr(ir::choose(in.fn(), kOp, a[0].expr(), yes, no, a.call));
}

// --- operators by name ---------------------------------------------------------------------------

template <Op kOp>
Result<Value> by_op(Context& in, Args& a) {
  return binary(in, kOp, a[0], a[1], a.call);
}
template <Op kOp>
Result<Value> by_compare(Context& in, Args& a) {
  return compare(in, kOp, a[0], a[1], a.call);
}
template <Op kOp>
Result<Value> by_unary(Context& in, Args& a) {
  return unary(in, kOp, a[0], a.call);
}

template <ExprOp kOp>
Result<Value> by_ir(Context& in, Args& a) {
  const ir::Operand left = WW_TRY(operand(in, a[0]));
  const ir::Operand right = WW_TRY(operand(in, a[1]));
  return of_expr(ir::binary(in.fn(), kOp, left, right, a.call));
}

template <ExprOp kOp>
Result<Value> extremum(Context& in, Args& a) {
  if (is_kernel_value(a[0]) || is_kernel_value(a[1])) return by_ir<kOp>(in, a);
  const Value less = WW_TRY(compare(in, Op::Lt, a[0], a[1], a.call));
  return less.truth == (kOp == ExprOp::Min) ? a[0] : a[1];
}

// (a + b - 1) // b
Result<Value> ceildiv(Context& in, Args& a) {
  const Value sum = WW_TRY(binary(in, Op::Add, a[0], a[1], a.call));
  const Value less = WW_TRY(binary(in, Op::Sub, sum, of_int(1), a.call));
  return binary(in, Op::FloorDiv, less, a[1], a.call);
}

template <ExprOp kOp>
Result<Value> logic_chain(Context& in, Args& a) {
  if (a.rest.empty())
    return fail_at(a.call, DiagKind::BadArgument, "`{}` without arguments", a.row->name);
  Value out = a.rest[0];
  for (std::size_t i = 1; i < a.rest.size(); ++i) {
    const ir::Operand left = WW_TRY(operand(in, {out, a.rest[0].span}));
    const ir::Operand right = WW_TRY(operand(in, a.rest[i]));
    out = of_expr(WW_TRY(ir::binary(in.fn(), kOp, left, right, a.call)));
  }
  return out;
}

// --- limits --------------------------------------------------------------------------------------

template <bool kMax>
Result<Value> limit(Context& in, Args& a) {
  const ir::Type type = WW_TRY(as_type(in, a[0], "the type"));
  if (type.is_float()) {
    const double most = num::largest(type.dtype);
    if (!in.in_kernel())
      return typed_constant(in, {of_float(kMax ? most : -most), a.call}, type, Conversion::Exact);
    return of_expr(ir::float_imm(in.fn(), type.dtype, kMax ? most : -most, a.call));
  }
  const int bits = num::bits_of(type.dtype);
  const bool is_unsigned = num::kind_of(type.dtype) != num::DTypeKind::Int;
  const std::uint64_t all = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  const std::uint64_t top = is_unsigned ? all : all >> 1;
  const auto value = static_cast<std::int64_t>(kMax ? top : is_unsigned ? 0 : ~top);
  if (!in.in_kernel())
    return typed_constant(
        in, {of_int(is_unsigned ? Wide{static_cast<std::uint64_t>(value)} : Wide{value}), a.call},
        type, Conversion::Exact);
  return of_expr(ir::int_imm(in.fn(), type.dtype, value, a.call));
}
Result<Value> infinity(Context& in, Args& a) {
  const ir::Type type =
      a.has(0) ? WW_TRY(as_type(in, a[0], "the type")) : ir::Type::of(DType::Float32);
  if (!type.is_float())
    return fail_at(a.call, DiagKind::BadType, "infinity of `{}`", ir::to_text(type));
  if (!in.in_kernel())
    return typed_constant(in, {of_float(std::numeric_limits<double>::infinity()), a.call}, type,
                          Conversion::Exact);
  return of_expr(
      ir::float_imm(in.fn(), type.dtype, std::numeric_limits<double>::infinity(), a.call));
}

Result<Value> fabs(Context& in, Args& a) {
  const ir::ExprId value = WW_TRY(expression(in, a[0]));
  return of_expr(ir::call(in.fn(), ir::Intrinsic::Abs, std::span(&value, 1), a.call));
}

// --- pointers and vectors ------------------------------------------------------------------------

Result<Value> address_of(Context& in, Args& a) {
  if (a[0].is(Kind::Buffer)) {
    std::vector<ir::ExprId> zeros;
    const std::size_t rank = in.fn()[a[0].buffer()].shape.size();
    for (std::size_t i = 0; i < rank; ++i)
      zeros.push_back(ir::int_imm(in.fn(), DType::Int32, 0, a.call));
    return of_expr(ir::address_of(in.fn(), a[0].buffer(), zeros, a.call));
  }
  // The name of a tensor map stands for its address.
  if (a[0].is(Kind::Ir) && ir::find_tensor_map(in.fn(), a[0].expr())) return a[0];
  if (a[0].is(Kind::Ir) && in.fn()[a[0].expr()].type.is_pointer())
    return fail_at(a.span(0), DiagKind::BadType,
                   "the address of a pointer is not taken; the name of a tensor map stands for "
                   "its address");
  if (!a[0].is(Kind::Ir) || in.fn()[a[0].expr()].op != ExprOp::Load)
    return fail_at(a.span(0), DiagKind::BadType,
                   "the address of {}, expected an element of a buffer",
                   a[0].is(Kind::Ir) ? "an expression" : type_name(a[0]));
  const ir::Expr& load = in.fn()[a[0].expr()];
  return of_expr(
      ir::address_of(in.fn(), load.buffer, std::span(load.args.data(), load.args.size()), a.call));
}

// What `B.access_ptr(…)` is printed as; the mask and the extent tell passes of TVM what is accessed.
Result<Value> access_ptr(Context& in, Args& a) {
  const ir::ExprId args[] = {WW_TRY(expression(in, a[1])), WW_TRY(index_expr(in, a[2]))};
  if (ir::const_int(in.fn(), args[1]) == 0) return of_expr(args[0]);
  return of_expr(ir::call(in.fn(), ir::Intrinsic::PointerOffset, args, a.call));
}
Result<Value> type_annotation(Context& in, Args& a) {
  return dtype_value(WW_TRY(as_type(in, a[0], "the type")));
}

Result<Value> byte_offset(Context& in, Args& a) {
  ir::Type type = {};
  if (a.values.size() > 2 && a.has(2)) {
    type = WW_TRY(as_type(in, a[2], "the type"));
    if (type.is_value()) type = ir::Type::pointer(type.dtype);
  }
  const ir::ExprId args[] = {WW_TRY(expression(in, a[0])), WW_TRY(index_expr(in, a[1]))};
  return of_expr(ir::call(in.fn(), ir::Intrinsic::ByteOffset, args, a.call, type));
}

Result<Value> ramp(Context& in, Args& a) {
  return of_expr(ir::ramp(in.fn(), WW_TRY(index_expr(in, a[0])), WW_TRY(index_expr(in, a[1])),
                          WW_TRY(as_integer(in, a[2], "the number of lanes")), a.call));
}
Result<Value> broadcast(Context& in, Args& a) {
  const ir::ExprId value = WW_TRY(expression(in, a[0]));
  return of_expr(
      ir::broadcast(in.fn(), value, WW_TRY(as_integer(in, a[1], "the number of lanes")), a.call));
}

// T.Shuffle([vectors], [lanes]): lanes of all vectors, counted through.
Result<Value> shuffle(Context& in, Args& a) {
  ir::Expr e;
  e.op = ExprOp::Shuffle;
  e.span = a.call;
  std::int64_t lanes = 0;
  for (const Value& v : WW_TRY(as_sequence(in, a[0], "the vectors"))) {
    const ir::ExprId part = WW_TRY(expression(in, {v, a.span(0)}));
    const ir::Type type = in.fn()[part].type;
    if (!type.is_value() || (!e.args.empty() && in.fn()[e.args[0]].type.dtype != type.dtype))
      return fail_at(a.span(0), DiagKind::BadType, "a shuffle of `{}`", ir::to_text(type));
    lanes += type.lanes;
    e.args.push_back(part);
  }
  if (e.args.empty()) return fail_at(a.call, DiagKind::BadArgument, "a shuffle of nothing");
  e.integer = static_cast<std::int64_t>(e.args.size());
  const std::vector<Value> picks = WW_TRY(as_sequence(in, a[1], "the lanes"));
  for (const Value& v : picks) {
    const std::int64_t lane = WW_TRY(as_integer(in, {v, a.span(1)}, "a lane"));
    if (lane < 0 || lane >= lanes)
      return fail_at(a.span(1), DiagKind::OutOfBounds, "lane {} of {}", lane, lanes);
    e.args.push_back(ir::int_imm(in.fn(), DType::Int32, lane, a.span(1)));
  }
  if (picks.empty()) return fail_at(a.call, DiagKind::BadArgument, "a shuffle to nothing");
  e.type = ir::Type::of(in.fn()[e.args[0]].type.dtype, static_cast<std::uint16_t>(picks.size()));
  return of_expr(in.fn().add(std::move(e)));
}

constexpr BuiltinRow kRows[] = {
    {"T.cast", "value, dtype", cast<0>},
    {"T.Cast", "dtype, value", cast<1>},
    {"T.FloatImm", "dtype, value", immediate<num::DTypeKind::Float>},
    {"T.IntImm", "dtype, value", immediate<num::DTypeKind::Int>},
    {"tvm.tirx.FloatImm", "dtype, value", immediate<num::DTypeKind::Float>},
    {"tvm.tirx.IntImm", "dtype, value", immediate<num::DTypeKind::Int>},
    {"tvm.tirx.const", "value, dtype?", const_row},
    {"tvm.tirx.Cast", "dtype, value", cast<1>},
    {"T.reinterpret", "dtype, value?, ty?", reinterpret, true},
    {"T.if_then_else", "condition, true_value, false_value", choose<ExprOp::IfThenElse>},
    {"T.select", "condition, true_value, false_value", choose<ExprOp::IfThenElse>},
    {"T.Select", "condition, true_value, false_value", choose<ExprOp::Select>},
    {"T.And", "*conditions", logic_chain<ExprOp::And>, true},
    {"T.Or", "*conditions", logic_chain<ExprOp::Or>, true},
    {"T.all", "*conditions", logic_chain<ExprOp::And>, true},
    {"T.any", "*conditions", logic_chain<ExprOp::Or>, true},
    {"T.logical_and", "*conditions", logic_chain<ExprOp::And>, true},
    {"T.logical_or", "*conditions", logic_chain<ExprOp::Or>, true},
    {"T.Not", "condition", by_unary<Op::Not>},
    {"T.logical_not", "condition", by_unary<Op::Not>},
    {"T.max", "a, b", extremum<ExprOp::Max>},
    {"T.min", "a, b", extremum<ExprOp::Min>},
    {"T.Max", "a, b", extremum<ExprOp::Max>},
    {"T.Min", "a, b", extremum<ExprOp::Min>},
    {"T.ceildiv", "a, b", ceildiv},
    {"T.floordiv", "a, b", by_op<Op::FloorDiv>},
    {"T.floormod", "a, b", by_op<Op::Mod>},
    {"T.truncdiv", "a, b", by_ir<ExprOp::TruncDiv>, true},
    {"T.truncmod", "a, b", by_ir<ExprOp::TruncMod>, true},
    {"T.Div", "a, b", by_ir<ExprOp::TruncDiv>, true},
    {"T.Mod", "a, b", by_ir<ExprOp::TruncMod>, true},
    {"T.bitwise_and", "a, b", by_op<Op::BitAnd>},
    {"T.bitwise_or", "a, b", by_op<Op::BitOr>},
    {"T.bitwise_xor", "a, b", by_op<Op::BitXor>},
    {"T.bitwise_not", "a", by_unary<Op::Invert>},
    {"T.shift_left", "a, b", by_op<Op::Shl>},
    {"T.shift_right", "a, b", by_op<Op::Shr>},
    {"T.FloorDiv", "a, b", by_op<Op::FloorDiv>},
    {"T.FloorMod", "a, b", by_op<Op::Mod>},
    {"T.BitwiseAnd", "a, b", by_op<Op::BitAnd>},
    {"T.BitwiseOr", "a, b", by_op<Op::BitOr>},
    {"T.BitwiseXor", "a, b", by_op<Op::BitXor>},
    {"T.BitwiseNot", "a", by_unary<Op::Invert>},
    {"T.LShift", "a, b", by_op<Op::Shl>},
    {"T.RShift", "a, b", by_op<Op::Shr>},
    {"T.Add", "a, b", by_op<Op::Add>},
    {"T.Sub", "a, b", by_op<Op::Sub>},
    {"T.Mul", "a, b", by_op<Op::Mul>},
    {"T.EQ", "a, b", by_compare<Op::Eq>},
    {"T.NE", "a, b", by_compare<Op::Ne>},
    {"T.LT", "a, b", by_compare<Op::Lt>},
    {"T.LE", "a, b", by_compare<Op::Le>},
    {"T.GT", "a, b", by_compare<Op::Gt>},
    {"T.GE", "a, b", by_compare<Op::Ge>},
    {"T.max_value", "dtype", limit<true>},
    {"T.min_value", "dtype", limit<false>},
    {"T.infinity", "dtype?", infinity},
    {"T.fabs", "value", fabs, true},
    {"T.address_of", "element", address_of, true},
    {"T.tvm_access_ptr", "type, data, offset, extent, rw_mask", access_ptr, true},
    {"T.type_annotation", "dtype", type_annotation, true},
    {"T.ptr_byte_offset", "pointer, bytes, dtype?", byte_offset, true},
    {"T.handle_add_byte_offset", "pointer, bytes", byte_offset, true},
    {"T.Ramp", "base, stride, lanes", ramp, true},
    {"T.ramp", "base, stride, lanes", ramp, true},
    {"T.Broadcast", "value, lanes", broadcast, true},
    {"T.broadcast", "value, lanes", broadcast, true},
    {"T.Shuffle", "vectors, indices", shuffle, true},
};

}  // namespace

constinit const std::span<const BuiltinRow> rows = kRows;

}  // namespace ww::script::math_api
