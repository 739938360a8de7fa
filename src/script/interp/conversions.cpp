// SPDX-License-Identifier: Apache-2.0
#include "script/interp/evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/fail_at.h"
#include "ir/simplify/fold.h"
#include "num/float_format.h"
#include "script/api/builtins.h"

namespace ww::script {
namespace {

constexpr int kDeepestNames = 3;
constexpr std::size_t kMaxNames = 1024;

// Elements of a list get the list's name and their place, fields of an object its name and theirs.
void give_name_to(Context& in, const Value& value, const std::string& name, int depth) {
  ir::Function& f = in.fn();
  if (value.is(Kind::Buffer)) {
    ir::Buffer& buffer = f.at(value.buffer());
    if (buffer.name.empty()) buffer.name = name;
  } else if (value.is(Kind::Ir)) {
    const ir::Expr& e = f[value.expr()];
    if (e.op == ir::ExprOp::Var && f[e.var].name.empty()) f.at(e.var).name = name;
  } else if (value.is(Kind::Pool)) {
    name_pool(f, value.as<PoolObject>(), name);
  } else if (is_sequence(value) && depth < kDeepestNames) {
    const auto& items = value.as<SeqObject>().items;
    for (std::size_t i = 0; i < std::min(items.size(), kMaxNames); ++i)
      give_name_to(in, items[i], fmt::format("{}_{}", name, i), depth + 1);
  } else if (value.is(Kind::Instance) && depth < kDeepestNames) {
    const auto& fields = value.as<InstanceObject>().fields;
    for (std::size_t i = 0; i < std::min(fields.size(), kMaxNames); ++i)
      give_name_to(in, fields[i].second,
                   fmt::format("{}_{}", name, in.symbols.text(fields[i].first)), depth + 1);
  }
}

}  // namespace

Result<ir::Operand> operand(Context& in, const Given& value) {
  using num::DType;
  if (!in.in_kernel())
    return fail_at(value.span, DiagKind::BadType,
                   "{} is a value of run time, but no kernel is being built", type_name(value));
  if (const auto type = typed_as(value)) {
    const ir::ExprId constant =
        value.is(Kind::Float)
            ? ir::float_imm(in.fn(), *type, value.real, value.span)
            : ir::int_imm(in.fn(), *type, static_cast<std::int64_t>(value.integer), value.span);
    return ir::Operand{constant, false};
  }
  switch (value.kind) {
    case Kind::Bool:
      return ir::Operand{ir::bool_imm(in.fn(), value.truth, value.span), true};
    case Kind::Int: {
      const Wide v = value.integer;
      if (v > Wide{std::numeric_limits<std::uint64_t>::max()} ||
          v < Wide{std::numeric_limits<std::int64_t>::min()})
        return fail_at(value.span, DiagKind::Overflow, "the constant {} does not fit 64 bits",
                       repr(value));
      const bool small = v >= std::numeric_limits<std::int32_t>::min() &&
                         v <= std::numeric_limits<std::int32_t>::max();
      const bool fits64 = v <= std::numeric_limits<std::int64_t>::max();
      const DType dtype = small ? DType::Int32 : fits64 ? DType::Int64 : DType::Uint64;
      return ir::Operand{ir::int_imm(in.fn(), dtype, static_cast<std::int64_t>(v), value.span),
                         true};
    }
    // With all its digits: what it meets decides how it is rounded.
    case Kind::Float:
      return ir::Operand{ir::float_imm(in.fn(), DType::Float64, value.real, value.span), true};
    case Kind::Ir:
      return ir::Operand{value.expr(), false};
    case Kind::Buffer: {
      const ir::Buffer& buffer = in.fn()[value.buffer()];
      if (ir::has_one_element(in.fn(), buffer))
        return ir::Operand{WW_TRY(ir::load(in.fn(), value.buffer(), {}, 1, value.span)), false};
      return fail(
          diag_at(value.span, DiagKind::BadType,
                  "`{}` is a buffer, expected a number: give indices for an element, or use "
                  "`Tx` for the whole tile, as in `Tx.cta.exp(y, x)`",
                  buffer.name)
              .with_note("declared here", buffer.span));
    }
    case Kind::Meta:
      return operand(in, {value.as<MetaObject>().value, value.span});
    case Kind::Str:
      return ir::Operand{ir::text_imm(in.fn(), std::string(text_of(value)), value.span), false};
    case Kind::Opaque:
      return fail(needs_opaque(in, value));
    default:
      return fail_at(value.span, DiagKind::BadType,
                     "{} as a value of the kernel, expected a number or an expression",
                     type_name(value));
  }
}

Result<ir::ExprId> expression(Context& in, const Given& value) {
  const ir::Operand out = WW_TRY(operand(in, value));
  return out.is_weak ? ir::settle(in.fn(), out.expr) : out.expr;
}

Result<ir::ExprId> cast_as(Context& in, const Given& value, ir::Type type) {
  if (value.is(Kind::Float) && !typed_as(value) && type.is_value() &&
      num::kind_of(type.dtype) == num::DTypeKind::Float && type.lanes == 1)
    return ir::float_imm(in.fn(), type.dtype, value.real, value.span);  // no detour by float32
  return ir::cast(in.fn(), WW_TRY(expression(in, value)), type, value.span);
}

Result<ir::ExprId> condition_of(Context& in, const Given& value) {
  return ir::condition(in.fn(), WW_TRY(expression(in, value)), value.span);
}

Result<ir::ExprId> index_expr(Context& in, const Given& value) {
  const ir::ExprId e = WW_TRY(expression(in, value));
  if (!in.fn()[e].type.is_int())
    return fail_at(value.span, DiagKind::BadType, "`{}` where an integer is needed",
                   ir::to_text(in.fn()[e].type));
  return e;
}

Result<std::int64_t> as_integer(Context& in, const Given& value, std::string_view what) {
  if (value.is(Kind::Opaque)) return fail(needs_opaque(in, value));
  if (value.is(Kind::Ir) && in.in_kernel())
    if (const auto constant = ir::const_int(in.fn(), value.expr())) return *constant;
  if (!is_intlike(value))
    return fail_at(value.span, DiagKind::BadType,
                   "{} is {}{}, expected an integer that is known at compile time", what,
                   value.is(Kind::Ir) ? "a value of run time" : type_name(value),
                   is_number(value) || value.is(Kind::Str) ? fmt::format(" {}", repr(value)) : "");
  const Wide v = int_of(value);
  if (v > std::numeric_limits<std::int64_t>::max() || v < std::numeric_limits<std::int64_t>::min())
    return fail_at(value.span, DiagKind::Overflow, "{} is {}, which does not fit 64 bits", what,
                   repr(value));
  return static_cast<std::int64_t>(v);
}

Result<double> as_number(Context& in, const Given& value, std::string_view what) {
  if (value.is(Kind::Opaque)) return fail(needs_opaque(in, value));
  if (value.is(Kind::Ir) && in.in_kernel()) {
    const ir::Expr& e = in.fn()[value.expr()];
    if (e.op == ir::ExprOp::FloatImm) return e.real;
    if (e.op == ir::ExprOp::IntImm) return static_cast<double>(e.integer);
  }
  if (!is_number(value))
    return fail_at(value.span, DiagKind::BadType,
                   "{} is {}, expected a number that is known at compile time", what,
                   type_name(value));
  return value.is(Kind::Float) ? value.real : static_cast<double>(int_of(value));
}

Result<bool> as_bool(Context& in, const Given& value, std::string_view what) {
  if (value.is(Kind::Opaque)) return fail(needs_opaque(in, value));
  if (value.is(Kind::Bool) || value.is(Kind::Int)) return int_of(value) != 0;
  if (value.is(Kind::Ir) && in.in_kernel())
    if (const auto constant = ir::const_int(in.fn(), value.expr())) return *constant != 0;
  return fail_at(value.span, DiagKind::BadType, "{} is {}, expected True or False", what,
                 type_name(value));
}

Result<std::string> as_text(Context& in, const Given& value, std::string_view what) {
  if (value.is(Kind::Opaque)) return fail(needs_opaque(in, value));
  if (value.is(Kind::DType)) return std::string(num::name_of(static_cast<num::DType>(value.id)));
  if (value.is(Kind::Ir) && in.in_kernel() && in.fn()[value.expr()].op == ir::ExprOp::TextImm)
    return in.fn().texts[in.fn()[value.expr()].text];
  if (!value.is(Kind::Str))
    return fail_at(value.span, DiagKind::BadType, "{} is {}, expected a text", what,
                   type_name(value));
  return std::string(text_of(value));
}

Result<ir::Type> as_type(Context& in, const Given& value, std::string_view what) {
  if (value.is(Kind::Opaque)) return fail(needs_opaque(in, value));
  if (value.is(Kind::DType)) return type_of(value);
  using What = AnnotationObject::What;
  const What kind = value.is(Kind::Annotation) ? value.as<AnnotationObject>().what : What::Let;
  if (kind == What::Handle) return value.as<AnnotationObject>().type;
  if (kind == What::TensorMap) return ir::Type::handle();
  if (!value.is(Kind::Str))
    return fail_at(value.span, DiagKind::BadType,
                   "{} is {}, expected an element type such as \"float16\"", what,
                   type_name(value));
  if (text_of(value) == "handle") return ir::Type::handle();
  return placed(ir::parse_value_type(text_of(value)), value.span);
}

Result<std::vector<Value>> as_sequence(Context& in, const Given& value, std::string_view what) {
  if (value.is(Kind::Opaque)) return fail(needs_opaque(in, value));
  if (is_intlike(value) || value.is(Kind::Ir)) return std::vector<Value>{value};  // `(8)` is 8
  if (!is_sequence(value) && !value.is(Kind::Range))
    return fail_at(value.span, DiagKind::BadType, "{} is {}, expected a list or a tuple", what,
                   type_name(value));
  return iterate(in, value);
}

Result<layout::Shape> as_int_list(Context& in, const Given& value, std::string_view what) {
  layout::Shape out;
  for (const Value& item : WW_TRY(as_sequence(in, value, what)))
    out.push_back(WW_TRY(as_integer(in, {item, value.span}, what)));
  return out;
}

Result<ir::Setting> as_setting(Context& in, const Given& value, std::string_view what) {
  switch (value.kind) {
    case Kind::Bool:
      return ir::Setting(value.truth);
    case Kind::Int:
      return ir::Setting(WW_TRY(as_integer(in, value, what)));
    case Kind::Float:
      return ir::Setting(value.real);
    case Kind::Str:
      return ir::Setting(std::string(text_of(value)));
    case Kind::DType:
      return ir::Setting(std::string(num::name_of(static_cast<num::DType>(value.id))));
    case Kind::Ir:
      return ir::Setting(value.expr());
    case Kind::Tuple:
    case Kind::List:
      return ir::Setting(repr(value));
    case Kind::Buffer: {
      const ir::ExprId data = ir::buffer_data(in.fn(), value.buffer(), value.span);
      return ir::Setting(data);
    }
    case Kind::Opaque:
      return fail(needs_opaque(in, value));
    default:
      return fail_at(value.span, DiagKind::BadType,
                     "{} is {}, expected a number, a text or an expression", what,
                     type_name(value));
  }
}

Value layout_value(Context& in, layout::Layout layout) {
  return in.heap.wrap(Kind::Layout, LayoutObject{{}, std::move(layout)});
}

Value opaque_value(Context& in, Span where, std::string reason) {
  return in.heap.wrap(Kind::Opaque, OpaqueObject{{}, where, std::move(reason)});
}

Diag needs_opaque(Context& in, const Given& value) {
  const OpaqueObject& origin = value.as<OpaqueObject>();
  in.last_needed = value;
  Diag out = diag_at(value.span, DiagKind::Opaque, "this value is not known at compile time: {}",
                     origin.reason);
  const bool is_here = origin.span.begin == value.span.begin && origin.span.end == value.span.end;
  return is_here ? out : std::move(out).with_note("it comes from here", origin.span);
}

void give_name(Context& in, const Value& value, std::string_view name) {
  if (in.in_kernel()) give_name_to(in, value, std::string(name), 0);
}

// --- numbers with a type -------------------------------------------------------------------------

namespace {

using num::DType;

Value with_type(Value number, DType type) {
  number.id = static_cast<std::uint32_t>(type) + 1;
  return number;
}

// What 64 bits hold; a number from 2^63 on is the bits of an unsigned one.
std::optional<ir::Constant> constant_of(const Value& value) {
  if (value.is(Kind::Float)) return ir::Constant{DType::Float64, 0, value.real};
  const Wide v = int_of(value);
  if (v < Wide{std::numeric_limits<std::int64_t>::min()} ||
      v > Wide{std::numeric_limits<std::uint64_t>::max()})
    return std::nullopt;
  const bool is_large = v > Wide{std::numeric_limits<std::int64_t>::max()};
  const auto bits = static_cast<std::int64_t>(static_cast<std::uint64_t>(v));
  return ir::Constant{is_large ? DType::Uint64 : DType::Int64, bits, 0};
}

Value from_constant(const ir::Constant& constant) {
  if (num::kind_of(constant.dtype) == num::DTypeKind::Bool) return of_bool(constant.integer != 0);
  if (num::is_float(constant.dtype)) return with_type(of_float(constant.real), constant.dtype);
  const bool is_unsigned = num::kind_of(constant.dtype) == num::DTypeKind::Uint;
  return with_type(of_int(is_unsigned ? Wide{static_cast<std::uint64_t>(constant.integer)}
                                      : Wide{constant.integer}),
                   constant.dtype);
}

// As in kernels: the float, or the wider one of a kind; nothing where only a cast can tell.
std::optional<DType> common_type(DType a, DType b) {
  if (a == b) return a;
  if (num::is_float(a) != num::is_float(b)) return num::is_float(a) ? a : b;
  const int width = num::bits_of(a) - num::bits_of(b);
  const int narrower = std::min(num::bits_of(a), num::bits_of(b));
  if (width == 0 || (num::is_float(a) && narrower < 16)) return std::nullopt;
  return width > 0 ? a : b;
}

}  // namespace

std::optional<double> special_float(const Value& value) {
  if (!value.is(Kind::Str)) return std::nullopt;
  const std::string_view word = text_of(value);
  constexpr double kInf = std::numeric_limits<double>::infinity();
  if (word == "inf") return kInf;
  if (word == "-inf") return -kInf;
  if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  return std::nullopt;
}

std::optional<DType> typed_as(const Value& value) {
  if ((!value.is(Kind::Int) && !value.is(Kind::Float)) || value.id == 0) return std::nullopt;
  return static_cast<DType>(value.id - 1);
}

Value untyped(const Value& value) {
  Value out = value;
  if (typed_as(value)) out.id = 0;
  return out;
}

Result<Value> typed_constant(Context&, const Given& value, ir::Type type, Conversion how) {
  if (value.is(Kind::Opaque) || value.is(Kind::Poison)) return value;
  const std::optional<double> special = type.is_float() ? special_float(value) : std::nullopt;
  const Value number = special ? of_float(*special) : Value(value);
  if (!is_number(number) || !type.is_value() || type.lanes != 1)
    return fail_at(value.span, DiagKind::BadType,
                   "{} as `{}` outside of a kernel, expected a number", type_name(value),
                   ir::to_text(type));
  const auto constant = constant_of(number);
  if (!constant || (how == Conversion::Exact && !ir::holds(type.dtype, *constant)))
    return fail_at(value.span, DiagKind::BadType, "the constant {} does not fit `{}`", repr(number),
                   num::name_of(type.dtype));
  return from_constant(ir::convert(*constant, type.dtype));
}

Result<Value> typed_result(Context& in, const Value& a, const Value& b, const Value& result,
                           Span span) {
  const auto left = typed_as(a);
  const auto right = typed_as(b);
  if (!left && !right) return result;
  const auto common = left && right ? common_type(*left, *right) : left ? left : right;
  if (!common)
    return fail(diag_at(span, DiagKind::BadType, "constants of types `{}` and `{}` meet",
                        num::name_of(*left), num::name_of(*right))
                    .with_note(fmt::format("`T.cast(x, \"{}\")` converts one of them",
                                           num::name_of(*left))));
  const DType type = *common;
  // 2.5 · T.int32(3): a fraction is no int32, and not rounded to one behind the program's back.
  if (result.is(Kind::Float) && !num::is_float(type)) return result;
  return typed_constant(in, {result, span}, ir::Type::of(type), Conversion::Cast);
}

// --- conversions that are not written ------------------------------------------------------------

namespace {

std::optional<ir::Constant> constant_of(const ir::Function& f, ir::ExprId id) {
  const ir::Expr& e = f[id];
  if (e.op != ir::ExprOp::IntImm && e.op != ir::ExprOp::FloatImm) return std::nullopt;
  return ir::Constant{e.type.dtype, e.integer, e.real};
}

Diag not_held(const ir::Constant& constant, ir::Type type, Span span) {
  const bool is_real = num::is_float(constant.dtype);
  Diag out = diag_at(
      span, DiagKind::BadType, "the constant {} does not fit `{}`",
      is_real ? fmt::format("{}", constant.real) : ir::int_text(constant.dtype, constant.integer),
      num::name_of(type.dtype));
  if (is_real && type.is_float())
    return std::move(out).with_note(
        fmt::format("the largest `{}` is {}", num::name_of(type.dtype), num::largest(type.dtype)));
  return is_real ? std::move(out).with_note(
                       fmt::format("`T.cast(x, \"{}\")` drops the fraction", ir::to_text(type)))
                 : out;
}

bool drops_fraction(ir::Type from, ir::Type to) { return from.is_float() && !to.is_float(); }

// Has the type no room for all values of the other, which is of its kind?
bool is_narrower(ir::Type to, ir::Type from) {
  if (to.is_float() != from.is_float() || to.is_bool() || from.is_bool()) return false;
  const int room = num::bits_of(to.dtype) - num::bits_of(from.dtype);
  return room < 0 || (room == 0 && to.is_float() && to.dtype != from.dtype);
}

Diag refused(const Assigned& to, ir::Type type, ir::Type from, Span span) {
  const bool is_fraction = drops_fraction(from, type);
  Diag out =
      diag_at(span, DiagKind::BadType, "`{}` {} `{}` and gets `{}`, {}", to.name,
              to.is_name ? "is" : "holds", num::name_of(type.dtype), num::name_of(from.dtype),
              is_fraction ? "whose fraction would be lost" : "which does not fit");
  if (to.is_inferred)
    out.notes.push_back({fmt::format("it has the type of its first value; write `{}: T.{} = …`",
                                     to.name, num::name_of(from.dtype)),
                         to.declared});
  else if (to.declared.known)
    out.notes.push_back({"declared here", to.declared});
  out.notes.push_back(
      {type.is_bool() ? std::string("`x != 0` makes a condition of it")
                      : fmt::format("`T.cast(x, \"{}\")` converts {}", num::name_of(type.dtype),
                                    is_fraction ? "it, toward 0" : "it all the same"),
       {}});
  return out;
}

Result<ir::ExprId> exact(Context& in, ir::ExprId given, ir::Type type, Span span) {
  const auto constant = constant_of(in.fn(), given);
  if (constant && type.is_value() && !ir::holds(type.dtype, *constant))
    return fail(not_held(*constant, type, span));
  return ir::cast(in.fn(), given, type, span);
}

}  // namespace

Result<ir::ExprId> expression_as(Context& in, const Given& value, ir::Type type) {
  const ir::Operand given = WW_TRY(operand(in, value));
  const ir::Type from = in.fn()[given.expr].type;
  if (from.is_value() && type.is_value()) {
    const auto constant = constant_of(in.fn(), given.expr);
    if (constant && !ir::holds_bits(type.dtype, *constant))
      return fail(not_held(*constant, type, value.span));
    if (!constant && drops_fraction(from, type))
      return fail(diag_at(value.span, DiagKind::BadType, "`{}` where `{}` is needed",
                          ir::to_text(from), ir::to_text(type))
                      .with_note(fmt::format("`T.cast(x, \"{}\")` converts it, toward 0",
                                             num::name_of(type.dtype))));
  }
  return ir::cast(in.fn(), given.expr, type, value.span);
}

Result<ir::ExprId> exact_value(Context& in, const Given& value, ir::Type type) {
  return exact(in, WW_TRY(operand(in, value)).expr, type, value.span);
}

Result<ir::ExprId> assigned_value(Context& in, const Given& value, ir::Type type,
                                  const Assigned& to) {
  const ir::ExprId given = WW_TRY(operand(in, value)).expr;
  const ir::Type from = in.fn()[given].type;
  const bool is_computed = !constant_of(in.fn(), given) && from.is_value() && type.is_value();
  if (is_computed && (drops_fraction(from, type) || (to.is_inferred && is_narrower(type, from))))
    return fail(refused(to, type, from, value.span));
  return exact(in, given, type, value.span);
}

}  // namespace ww::script
