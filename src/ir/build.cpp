// SPDX-License-Identifier: Apache-2.0
#include "ir/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/wide.h"
#include "ir/signatures.h"
#include "ir/simplify/fold.h"

namespace ww::ir {
namespace {

using num::DType;
using num::DTypeKind;

Expr node(ExprOp op, Type type, std::initializer_list<ExprId> args, Span span) {
  Expr expr;
  expr.op = op;
  expr.type = type;
  expr.span = span;
  for (const ExprId arg : args) expr.args.push_back(arg);
  return expr;
}

bool is_const(const Function& f, ExprId id) {
  return f[id].op == ExprOp::IntImm || f[id].op == ExprOp::FloatImm;
}

ExprId constant(Function& f, const Constant& value, Span span) {
  if (num::kind_of(value.dtype) == DTypeKind::Float)
    return float_imm(f, value.dtype, value.real, span);
  return int_imm(f, value.dtype, value.integer, span);
}

Constant constant_of(const Function& f, ExprId id) {
  const Expr& e = f[id];
  return {e.type.dtype, e.integer, e.real};
}

bool is_narrow_float(DType dtype) {
  return num::kind_of(dtype) == DTypeKind::Float && num::bits_of(dtype) <= 8;
}

DType signed_of_width(int bits) {
  return bits <= 8    ? DType::Int8
         : bits <= 16 ? DType::Int16
         : bits <= 32 ? DType::Int32
                      : DType::Int64;
}

// The type at which two element types meet, or nothing.
std::optional<DType> common(DType a, DType b) {
  if (a == b) return a;
  const DTypeKind ka = num::kind_of(a);
  const DTypeKind kb = num::kind_of(b);
  if (ka == DTypeKind::Bool || kb == DTypeKind::Bool) return std::nullopt;
  if (ka == DTypeKind::Float && kb == DTypeKind::Float) {
    if (is_narrow_float(a) || is_narrow_float(b)) return std::nullopt;
    if (num::bits_of(a) == num::bits_of(b)) return std::nullopt;
    return num::bits_of(a) > num::bits_of(b) ? a : b;
  }
  if (ka == DTypeKind::Float) return is_narrow_float(a) ? std::nullopt : std::optional(a);
  if (kb == DTypeKind::Float) return is_narrow_float(b) ? std::nullopt : std::optional(b);
  const int bits = std::max(num::bits_of(a), num::bits_of(b));
  if (ka == kb) return num::bits_of(a) == bits ? a : b;
  return signed_of_width(bits);
}

Diag mixed(std::string_view what, Type a, Type b, Span span) {
  Diag d = diag(DiagKind::BadType, "`{}` of `{}` and `{}`", what, to_text(a), to_text(b));
  if (a.is_pointer() || b.is_pointer())
    d.notes.push_back({"`B.ptr_to([i])` and `T.ptr_byte_offset(p, bytes)` give addresses", {}});
  if (a.is_value() && b.is_value() && (a.lanes == b.lanes || a.lanes == 1 || b.lanes == 1))
    d.notes.push_back({"convert one side: `T.cast(x, dtype)`", {}});
  return std::move(d).with_span(span);
}

// A literal takes the type of the other side, if it can say the same there.
Result<ExprId> adopt(Function& f, ExprId literal, DType to, std::string_view what, Span span) {
  const Expr& e = f[literal];
  if (e.type.dtype == to) return literal;
  const bool to_float = num::kind_of(to) == DTypeKind::Float;
  if (e.op == ExprOp::FloatImm && !to_float)
    return settle(f, literal);  // the other side becomes a float
  if (const Constant value = constant_of(f, literal); !holds(to, value))
    return fail(diag(DiagKind::BadType,
                     "`{}` of `{}` and the constant {}, which `{}` does not hold", what,
                     num::name_of(to),
                     e.op == ExprOp::FloatImm ? fmt::format("{}", e.real)
                                              : int_text(e.type.dtype, e.integer),
                     num::name_of(to))
                    .with_span(span));
  return cast(f, literal, Type::of(to), span);
}

Diag not_taken(ExprOp op, Type type, Span span) {
  Diag d = diag(DiagKind::BadType, "`{}` of `{}`", spelling_of(op), to_text(type)).with_span(span);
  if (op == ExprOp::Div && type.is_int())
    return std::move(d).with_note("`/` divides floats; `//` is integer division, rounding down");
  if (type.is_bool())
    return std::move(d).with_note("a condition as a number: `T.cast(x, \"int32\")`");
  if ((op == ExprOp::FloorDiv || op == ExprOp::FloorMod) && type.is_float())
    return std::move(d).with_note("`//` and `%` are for integers");
  return d;
}

bool is_comparison(ExprOp op) { return group_of(op) == ExprGroup::Compare; }

}  // namespace

// --- leaves --------------------------------------------------------------------------------------

ExprId int_imm(Function& f, DType dtype, std::int64_t value, Span span) {
  Expr e = node(ExprOp::IntImm, Type::of(dtype), {}, span);
  e.integer = wrap(dtype, value);
  return f.add(std::move(e));
}
ExprId float_imm(Function& f, DType dtype, double value, Span span) {
  Expr e = node(ExprOp::FloatImm, Type::of(dtype), {}, span);
  e.real = round_to(dtype, value);
  return f.add(std::move(e));
}
ExprId bool_imm(Function& f, bool value, Span span) {
  return int_imm(f, DType::Bool, value ? 1 : 0, span);
}
ExprId text_imm(Function& f, std::string text, Span span) {
  Expr e = node(ExprOp::TextImm, Type::text(), {}, span);
  e.text = f.add_text(std::move(text));
  return f.add(std::move(e));
}
ExprId var_ref(Function& f, VarId var, Span span) {
  Expr e = node(ExprOp::Var, f[var].type, {}, span);
  e.var = var;
  return f.add(std::move(e));
}

// --- operators -----------------------------------------------------------------------------------

ExprId settle(Function& f, ExprId literal) {
  const Expr& e = f[literal];
  if (e.op != ExprOp::FloatImm) return literal;
  return float_imm(f, DType::Float32, e.real, e.span);
}

Result<std::pair<ExprId, ExprId>> meet(Function& f, Operand a, Operand b, std::string_view what,
                                       Span span) {
  if (a.is_weak && b.is_weak) {
    a.expr = settle(f, a.expr);
    b.expr = settle(f, b.expr);
  }
  const Type ta = f[a.expr].type;
  const Type tb = f[b.expr].type;
  if (ta == tb) return std::pair(a.expr, b.expr);
  if (!ta.is_value() || !tb.is_value()) return fail(mixed(what, ta, tb, span));
  // Literals first: both may be literals, and then the usual rules decide.
  if (a.is_weak != b.is_weak) {
    ExprId& literal = a.is_weak ? a.expr : b.expr;
    const DType other = a.is_weak ? tb.dtype : ta.dtype;
    literal = WW_TRY(adopt(f, literal, other, what, span));
  }
  const Type sa = f[a.expr].type;
  const Type sb = f[b.expr].type;
  const std::optional<DType> dtype = common(sa.dtype, sb.dtype);
  if (!dtype) return fail(mixed(what, ta, tb, span));
  const std::uint16_t lanes = std::max(sa.lanes, sb.lanes);
  if ((sa.lanes != 1 && sa.lanes != lanes) || (sb.lanes != 1 && sb.lanes != lanes))
    return fail(mixed(what, ta, tb, span));
  const auto bring = [&](ExprId id) -> Result<ExprId> {
    ExprId out = WW_TRY(cast(f, id, Type::of(*dtype, f[id].type.lanes), f[id].span));
    if (f[out].type.lanes != lanes) out = WW_TRY(broadcast(f, out, lanes, f[id].span));
    return out;
  };
  const ExprId left = WW_TRY(bring(a.expr));
  return std::pair(left, WW_TRY(bring(b.expr)));
}

Result<ExprId> binary(Function& f, ExprOp op, Operand a, Operand b, Span span) {
  if (taken_by(op) == Takes::Bool) {
    const ExprId left = WW_TRY(condition(f, a.expr, f[a.expr].span));
    const ExprId right = WW_TRY(condition(f, b.expr, f[b.expr].span));
    a = {left, false};
    b = {right, false};
  }
  // Two literals of integers that are divided mean a float, as in Python.
  if (op == ExprOp::Div && a.is_weak && b.is_weak)
    a.expr = WW_TRY(cast(f, a.expr, Type::of(DType::Float32), span));
  const auto [left, right] = WW_TRY(meet(f, a, b, spelling_of(op), span));
  const Type type = f[left].type;
  if (!takes(op, type)) return fail(not_taken(op, type, span));
  if (is_const(f, left) && is_const(f, right)) {
    Result<Constant> folded = fold(op, constant_of(f, left), constant_of(f, right));
    if (!folded) return fail(std::move(folded).error().with_span(span));
    return constant(f, *folded, span);
  }
  const bool divides = taken_by(op) == Takes::Integer && op != ExprOp::Shl && op != ExprOp::Shr;
  if (divides && const_int(f, right) == 0)
    return fail(diag(DiagKind::BadArgument, "`{}` by 0", spelling_of(op)).with_span(span));
  const Type result = is_comparison(op)
                          ? Type::of(DType::Bool, type.is_pointer() ? std::uint16_t{1} : type.lanes)
                          : type;
  return f.add(node(op, result, {left, right}, span));
}

ExprId index_binary(Function& f, ExprOp op, ExprId a, ExprId b, Span span) {
  const Result<ExprId> made = binary(f, op, {a, false}, {b, false}, span);
  WW_CHECK(made.has_value(), "an index that has no type: {}", made.error().text);
  if (!is_const(f, *made)) f.set_no_wrap(*made);
  return *made;
}

Result<ExprId> binary_like(Function& f, const Expr& old, ExprId a, ExprId b) {
  const bool no_wrap = old.no_wrap;  // `old` may be a node of `f`, which grows
  const ExprId made = WW_TRY(binary(f, old.op, {a, false}, {b, false}, old.span));
  if (no_wrap && !is_const(f, made)) f.set_no_wrap(made);
  return made;
}

Result<ExprId> unary(Function& f, ExprOp op, Operand a, Span span) {
  ExprId value = a.expr;
  if (op == ExprOp::Not) value = WW_TRY(condition(f, value, span));
  const Type type = f[value].type;
  if (!takes(op, type)) return fail(not_taken(op, type, span));
  if (is_const(f, value)) return constant(f, fold(op, constant_of(f, value)), span);
  return f.add(node(op, type, {value}, span));
}

Result<ExprId> cast(Function& f, ExprId value, Type to, Span span) {
  const Type from = f[value].type;
  if (from == to) return value;
  if (!from.is_value() || !to.is_value())
    return fail(diag(DiagKind::BadType, "cannot convert `{}` to `{}`", to_text(from), to_text(to))
                    .with_span(span));
  if (from.lanes != to.lanes) {
    if (from.lanes != 1)
      return fail(diag(DiagKind::BadType, "cannot convert `{}` to `{}`: {} lanes, not {}",
                       to_text(from), to_text(to), from.lanes, to.lanes)
                      .with_span(span));
    const ExprId one = WW_TRY(cast(f, value, Type::of(to.dtype), span));
    return broadcast(f, one, to.lanes, span);
  }
  if (is_const(f, value)) return constant(f, convert(constant_of(f, value), to.dtype), span);
  return f.add(node(ExprOp::Cast, to, {value}, span));
}

Result<ExprId> reinterpret(Function& f, ExprId value, Type to, Span span) {
  const Type from = f[value].type;
  if (from == to) return value;
  const bool fits_bits =
      from.is_value() && to.is_value() &&
      num::storage_bits(from.dtype) * from.lanes == num::storage_bits(to.dtype) * to.lanes;
  const bool pointers = from.is_pointer() && (to.is_pointer() || to == Type::of(DType::Uint64));
  if (!fits_bits && !pointers)
    return fail(diag(DiagKind::BadType, "cannot read the bits of `{}` as `{}`: the widths differ",
                     to_text(from), to_text(to))
                    .with_span(span));
  return f.add(node(ExprOp::Reinterpret, to, {value}, span));
}

Result<ExprId> condition(Function& f, ExprId value, Span span) {
  const Type type = f[value].type;
  if (type.is_bool()) return value;
  if (type.is_int())
    return binary(f, ExprOp::Ne, {value, false}, {int_imm(f, type.dtype, 0, span), false}, span);
  return fail(diag(DiagKind::BadType, "a condition of type `{}`, expected `bool` or an integer",
                   to_text(type))
                  .with_span(span));
}

Result<ExprId> choose(Function& f, ExprOp op, ExprId when, Operand a, Operand b, Span span) {
  const ExprId test = WW_TRY(condition(f, when, span));
  const auto [left, right] = WW_TRY(meet(f, a, b, spelling_of(op), span));
  if (f[test].op == ExprOp::IntImm) return f[test].integer != 0 ? left : right;
  return f.add(node(op, f[left].type, {test, left, right}, span));
}

// --- vectors -------------------------------------------------------------------------------------

namespace {
Result<std::uint16_t> lane_count(std::int64_t lanes, Span span) {
  if (lanes < 1 || lanes > kMaxLanes)
    return fail(diag(DiagKind::BadType, "a vector of {} lanes, expected 1 to {}", lanes, kMaxLanes)
                    .with_span(span));
  return static_cast<std::uint16_t>(lanes);
}
}  // namespace

Result<ExprId> ramp(Function& f, ExprId base, ExprId stride, std::int64_t lanes, Span span) {
  const std::uint16_t n = WW_TRY(lane_count(lanes, span));
  const auto [b, s] = WW_TRY(meet(f, {base, false}, {stride, true}, "Ramp", span));
  if (!f[b].type.is_int() || f[b].type.lanes != 1)
    return fail(diag(DiagKind::BadType, "a ramp from `{}`, expected an integer", to_text(f[b].type))
                    .with_span(span));
  return f.add(node(ExprOp::Ramp, Type::of(f[b].type.dtype, n), {b, s}, span));
}

Result<ExprId> broadcast(Function& f, ExprId value, std::int64_t lanes, Span span) {
  const std::uint16_t n = WW_TRY(lane_count(lanes, span));
  if (!f[value].type.is_scalar())
    return fail(
        diag(DiagKind::BadType, "cannot broadcast `{}`, expected one value", to_text(f[value].type))
            .with_span(span));
  return f.add(node(ExprOp::Broadcast, Type::of(f[value].type.dtype, n), {value}, span));
}

// --- memory --------------------------------------------------------------------------------------

namespace {

// Integers of 32 bits or more stay what they are; others become int32.
Result<ExprId> as_index(Function& f, ExprId index) {
  const Type type = f[index].type;
  if (!type.is_int())
    return fail(diag(DiagKind::BadType, "an index of type `{}`, expected an integer", to_text(type))
                    .with_span(f[index].span));
  if (num::bits_of(type.dtype) >= 32) return index;
  return cast(f, index, Type::of(DType::Int32, type.lanes), f[index].span);
}

Result<void> check_bound(const Function& f, const Buffer& buffer, std::size_t dim, ExprId index,
                         int lanes) {
  const std::optional<std::int64_t> value = const_int(f, index);
  const std::optional<std::int64_t> extent = const_int(f, buffer.shape[dim]);
  if (!value) return {};
  const std::int64_t last = *value + (dim + 1 == buffer.shape.size() ? lanes - 1 : 0);
  if (*value >= 0 && (!extent || last < *extent)) return {};
  return fail(diag(DiagKind::OutOfBounds, "index {} in dimension {} of `{}`, which has extent {}",
                   last, dim, buffer.name, extent ? std::to_string(*extent) : "of run time")
                  .with_note("declared here", buffer.span)
                  .with_span(f[index].span));
}

Result<SmallVec<ExprId, 3>> check_indices(Function& f, BufferId id, std::span<const ExprId> indices,
                                          int lanes, Span span, Bounds bounds) {
  const std::size_t rank = f[id].shape.size();
  const bool is_unit = indices.empty() && has_one_element(f, f[id]);
  if (indices.size() != rank && !is_unit)
    return fail(diag(DiagKind::RankMismatch, "{} {} for `{}`, which has {} dimension{}",
                     indices.size(), indices.size() == 1 ? "index" : "indices", f[id].name, rank,
                     rank == 1 ? "" : "s")
                    .with_note("declared here", f[id].span)
                    .with_span(span));
  SmallVec<ExprId, 3> out;
  if (is_unit) out.push_back(int_imm(f, DType::Int32, 0, span));
  for (std::size_t dim = 0; dim < indices.size(); ++dim) {
    const ExprId index = WW_TRY(as_index(f, indices[dim]));
    if (f[index].type.lanes != 1 && dim + 1 != indices.size())
      return fail(diag(DiagKind::BadType,
                       "a vector as index of dimension {} of `{}`; only the last takes one", dim,
                       f[id].name)
                      .with_span(f[index].span));
    if (bounds == Bounds::Checked) WW_TRY_VOID(check_bound(f, f[id], dim, index, lanes));
    out.push_back(index);
  }
  return out;
}

}  // namespace

Result<ExprId> load(Function& f, BufferId buffer, std::span<const ExprId> indices, int lanes,
                    Span span, Bounds bounds) {
  Expr e =
      node(ExprOp::Load, Type::of(f[buffer].dtype, static_cast<std::uint16_t>(lanes)), {}, span);
  e.args = WW_TRY(check_indices(f, buffer, indices, lanes, span, bounds));
  e.buffer = buffer;
  if (!e.args.empty() && f[e.args.back()].type.lanes != 1)
    e.type.lanes = f[e.args.back()].type.lanes;
  return f.add(std::move(e));
}

Result<ExprId> address_of(Function& f, BufferId buffer, std::span<const ExprId> indices, Span span,
                          Bounds bounds) {
  Expr e = node(ExprOp::AddressOf, Type::pointer(f[buffer].dtype), {}, span);
  e.args = WW_TRY(check_indices(f, buffer, indices, 1, span, bounds));
  e.buffer = buffer;
  return f.add(std::move(e));
}

ExprId buffer_data(Function& f, BufferId buffer, Span span) {
  Expr e = node(ExprOp::BufferData, Type::pointer(f[buffer].dtype), {}, span);
  e.buffer = buffer;
  return f.add(std::move(e));
}

// --- calls ---------------------------------------------------------------------------------------
//
// Calls of the functions of intrinsics.def: how many arguments, of which types, and what comes out.

namespace {

bool is_math(Intrinsic callee) { return callee <= Intrinsic::Isfinite; }
Diag bad_argument_type(const Function& f, const IntrinsicFacts& facts, ExprId arg,
                       std::string_view wanted) {
  return diag(DiagKind::BadType, "`T.{}` of `{}`, expected {}", facts.name, to_text(f[arg].type),
              wanted)
      .with_span(f[arg].span);
}

// Operands of mathematics are floats of one type; integers given to them become float32.
Result<SmallVec<ExprId, 3>> math_args(Function& f, const IntrinsicFacts& facts,
                                      std::span<const ExprId> args) {
  SmallVec<ExprId, 3> out;
  for (const ExprId arg : args) {
    ExprId value = arg;
    if (f[arg].op == ExprOp::IntImm && f[arg].type.is_int())
      value = WW_TRY(
          cast(f, arg, Type::of(out.empty() ? DType::Float32 : f[out[0]].type.dtype), f[arg].span));
    if (!f[value].type.is_float()) return fail(bad_argument_type(f, facts, arg, "a float"));
    if (!out.empty() && f[value].type != f[out[0]].type)
      value = WW_TRY(meet(f, {out[0], false}, {value, f[value].op == ExprOp::FloatImm}, facts.name,
                          f[arg].span))
                  .second;
    out.push_back(value);
  }
  return out;
}

Result<Type> result_type(const Function& f, const IntrinsicFacts& facts,
                         std::span<const ExprId> args, Type declared) {
  switch (facts.result) {
    case ResultRule::Same:
      return f[args[0]].type;
    case ResultRule::Value:
      return f[args[1]].type;
    case ResultRule::Bool:
      return Type::of(DType::Bool,
                      facts.effect == Effect::Pure ? f[args[0]].type.lanes : std::uint16_t{1});
    case ResultRule::Int32:
      return Type::of(DType::Int32);
    case ResultRule::Uint32:
      return Type::of(DType::Uint32);
    case ResultRule::Void:
      return Type::none();
    case ResultRule::Pointer:
      return declared.is_pointer() ? declared : f[args[0]].type;
    case ResultRule::Pointee:
      return Type::of(f[args[0]].type.dtype);
    case ResultRule::Declared:
      return declared;
  }
  return declared;
}

}  // namespace

Result<ExprId> call(Function& f, Intrinsic callee, std::span<const ExprId> args, Span span,
                    Type declared) {
  const IntrinsicFacts& facts = facts_of(callee);
  const auto count = static_cast<int>(args.size());
  if (count < facts.min_args || (facts.max_args >= 0 && count > facts.max_args))
    return fail(diag(DiagKind::BadArgument, "`T.{}` with {} argument{}, expected {}", facts.name,
                     count, count == 1 ? "" : "s",
                     facts.min_args == facts.max_args ? std::to_string(facts.min_args)
                                                      : fmt::format("{} or more", facts.min_args))
                    .with_note(fmt::format("it takes `{}`", signature_text(callee)))
                    .with_span(span));
  Expr e;
  e.op = ExprOp::Call;
  e.span = span;
  e.callee = callee;
  if (is_math(callee))
    e.args = WW_TRY(math_args(f, facts, args));
  else
    e.args.append(args);
  if (std::optional<Diag> fault = fault_of_call(f, e)) return fail(std::move(*fault));
  e.type = WW_TRY(result_type(f, facts, e.args, declared));
  return f.add(std::move(e));
}

}  // namespace ww::ir
