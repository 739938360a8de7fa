// SPDX-License-Identifier: Apache-2.0
// What builtins ask of values: numbers, texts, types, lists, and expressions of the kernel.
#include "script/interp/conversions.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "script/api/pools.h"
#include "script/interp/collections.h"
#include "script/interp/typed.h"
#include "script/syntax/errors.h"

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

Result<ir::Operand> operand(Context& in, const Value& value, Span where) {
  using num::DType;
  if (!in.in_kernel())
    return fail_at(where, DiagKind::BadType,
                   "{} is a value of run time, but no kernel is being built", type_name(value));
  if (const auto type = typed_as(value)) {
    const ir::ExprId constant =
        value.is(Kind::Float)
            ? ir::float_imm(in.fn(), *type, value.real, where)
            : ir::int_imm(in.fn(), *type, static_cast<std::int64_t>(value.integer), where);
    return ir::Operand{constant, false};
  }
  switch (value.kind) {
    case Kind::Bool:
      return ir::Operand{ir::bool_imm(in.fn(), value.truth, where), true};
    case Kind::Int: {
      const Wide v = value.integer;
      if (v > Wide{std::numeric_limits<std::uint64_t>::max()} ||
          v < Wide{std::numeric_limits<std::int64_t>::min()})
        return fail_at(where, DiagKind::Overflow, "the constant {} does not fit 64 bits",
                       repr(value));
      const bool small = v >= std::numeric_limits<std::int32_t>::min() &&
                         v <= std::numeric_limits<std::int32_t>::max();
      const bool fits64 = v <= std::numeric_limits<std::int64_t>::max();
      const DType dtype = small ? DType::Int32 : fits64 ? DType::Int64 : DType::Uint64;
      return ir::Operand{ir::int_imm(in.fn(), dtype, static_cast<std::int64_t>(v), where), true};
    }
    // With all its digits: what it meets decides how it is rounded.
    case Kind::Float:
      return ir::Operand{ir::float_imm(in.fn(), DType::Float64, value.real, where), true};
    case Kind::Ir:
      return ir::Operand{value.expr(), false};
    case Kind::Buffer: {
      const ir::Buffer& buffer = in.fn()[value.buffer()];
      if (ir::has_one_element(in.fn(), buffer))
        return ir::Operand{WW_TRY(ir::load(in.fn(), value.buffer(), {}, 1, where)), false};
      return fail(
          diag_at(where, DiagKind::BadType,
                  "`{}` is a buffer, expected a number: give indices for an element, or use "
                  "`Tx` for the whole tile, as in `Tx.cta.exp(y, x)`",
                  buffer.name)
              .with_note("declared here", buffer.span));
    }
    case Kind::Meta:
      return operand(in, value.as<MetaObject>().value, where);
    case Kind::Str:
      return ir::Operand{ir::text_imm(in.fn(), std::string(text_of(value)), where), false};
    case Kind::Opaque:
      return fail(needs_opaque(in, value, where));
    default:
      return fail_at(where, DiagKind::BadType,
                     "{} as a value of the kernel, expected a number or an expression",
                     type_name(value));
  }
}

Result<ir::ExprId> expression(Context& in, const Value& value, Span where) {
  const ir::Operand out = WW_TRY(operand(in, value, where));
  return out.is_weak ? ir::settle(in.fn(), out.expr) : out.expr;
}

Result<ir::ExprId> cast_as(Context& in, const Value& value, ir::Type type, Span where) {
  if (value.is(Kind::Float) && !typed_as(value) && type.is_value() &&
      num::kind_of(type.dtype) == num::DTypeKind::Float && type.lanes == 1)
    return ir::float_imm(in.fn(), type.dtype, value.real, where);  // no detour by float32
  return ir::cast(in.fn(), WW_TRY(expression(in, value, where)), type, where);
}

Result<ir::ExprId> condition_of(Context& in, const Value& value, Span where) {
  return ir::condition(in.fn(), WW_TRY(expression(in, value, where)), where);
}

Result<ir::ExprId> index_expr(Context& in, const Value& value, Span where) {
  const ir::ExprId e = WW_TRY(expression(in, value, where));
  if (!in.fn()[e].type.is_int())
    return fail_at(where, DiagKind::BadType, "`{}` where an integer is needed",
                   ir::to_text(in.fn()[e].type));
  return e;
}

Result<std::int64_t> as_integer(Context& in, const Value& value, std::string_view what,
                                Span where) {
  if (value.is(Kind::Opaque)) return fail(needs_opaque(in, value, where));
  if (value.is(Kind::Ir) && in.in_kernel())
    if (const auto constant = ir::const_int(in.fn(), value.expr())) return *constant;
  if (!is_intlike(value))
    return fail_at(where, DiagKind::BadType,
                   "{} is {}{}, expected an integer that is known at compile time", what,
                   value.is(Kind::Ir) ? "a value of run time" : type_name(value),
                   is_number(value) || value.is(Kind::Str) ? fmt::format(" {}", repr(value)) : "");
  const Wide v = int_of(value);
  if (v > std::numeric_limits<std::int64_t>::max() || v < std::numeric_limits<std::int64_t>::min())
    return fail_at(where, DiagKind::Overflow, "{} is {}, which does not fit 64 bits", what,
                   repr(value));
  return static_cast<std::int64_t>(v);
}

Result<double> as_number(Context& in, const Value& value, std::string_view what, Span where) {
  if (value.is(Kind::Opaque)) return fail(needs_opaque(in, value, where));
  if (value.is(Kind::Ir) && in.in_kernel()) {
    const ir::Expr& e = in.fn()[value.expr()];
    if (e.op == ir::ExprOp::FloatImm) return e.real;
    if (e.op == ir::ExprOp::IntImm) return static_cast<double>(e.integer);
  }
  if (!is_number(value))
    return fail_at(where, DiagKind::BadType,
                   "{} is {}, expected a number that is known at compile time", what,
                   type_name(value));
  return value.is(Kind::Float) ? value.real : static_cast<double>(int_of(value));
}

Result<bool> as_bool(Context& in, const Value& value, std::string_view what, Span where) {
  if (value.is(Kind::Opaque)) return fail(needs_opaque(in, value, where));
  if (value.is(Kind::Bool) || value.is(Kind::Int)) return int_of(value) != 0;
  if (value.is(Kind::Ir) && in.in_kernel())
    if (const auto constant = ir::const_int(in.fn(), value.expr())) return *constant != 0;
  return fail_at(where, DiagKind::BadType, "{} is {}, expected True or False", what,
                 type_name(value));
}

Result<std::string> as_text(Context& in, const Value& value, std::string_view what, Span where) {
  if (value.is(Kind::Opaque)) return fail(needs_opaque(in, value, where));
  if (value.is(Kind::DType)) return std::string(num::name_of(static_cast<num::DType>(value.id)));
  if (value.is(Kind::Ir) && in.in_kernel() && in.fn()[value.expr()].op == ir::ExprOp::TextImm)
    return in.fn().texts[in.fn()[value.expr()].text];
  if (!value.is(Kind::Str))
    return fail_at(where, DiagKind::BadType, "{} is {}, expected a text", what, type_name(value));
  return std::string(text_of(value));
}

Result<ir::Type> as_type(Context& in, const Value& value, std::string_view what, Span where) {
  if (value.is(Kind::Opaque)) return fail(needs_opaque(in, value, where));
  if (value.is(Kind::DType))
    return ir::Type::of(static_cast<num::DType>(value.id),
                        static_cast<std::uint16_t>(value.integer > 0 ? value.integer : 1));
  if (value.is(Kind::Annotation) &&
      value.as<AnnotationObject>().what == AnnotationObject::What::Handle)
    return value.as<AnnotationObject>().type;
  if (value.is(Kind::Annotation) &&
      value.as<AnnotationObject>().what == AnnotationObject::What::TensorMap)
    return ir::Type::handle();
  if (!value.is(Kind::Str))
    return fail_at(where, DiagKind::BadType,
                   "{} is {}, expected an element type such as \"float16\"", what,
                   type_name(value));
  if (text_of(value) == "handle") return ir::Type::handle();
  return placed(ir::parse_value_type(text_of(value)), where);
}

Result<std::vector<Value>> as_sequence(Context& in, const Value& value, std::string_view what,
                                       Span where) {
  if (value.is(Kind::Opaque)) return fail(needs_opaque(in, value, where));
  if (is_intlike(value) || value.is(Kind::Ir)) return std::vector<Value>{value};  // `(8)` is 8
  if (!is_sequence(value) && !value.is(Kind::Range))
    return fail_at(where, DiagKind::BadType, "{} is {}, expected a list or a tuple", what,
                   type_name(value));
  return iterate(in, value, where);
}

Result<layout::Shape> as_int_list(Context& in, const Value& value, std::string_view what,
                                  Span where) {
  layout::Shape out;
  for (const Value& item : WW_TRY(as_sequence(in, value, what, where)))
    out.push_back(WW_TRY(as_integer(in, item, what, where)));
  return out;
}

Result<ir::Setting> as_setting(Context& in, const Value& value, std::string_view what, Span where) {
  switch (value.kind) {
    case Kind::Bool:
      return ir::Setting(value.truth);
    case Kind::Int:
      return ir::Setting(WW_TRY(as_integer(in, value, what, where)));
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
      const ir::ExprId data = ir::buffer_data(in.fn(), value.buffer(), where);
      return ir::Setting(data);
    }
    case Kind::Opaque:
      return fail(needs_opaque(in, value, where));
    default:
      return fail_at(where, DiagKind::BadType,
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

Diag needs_opaque(Context& in, const Value& value, Span where) {
  const OpaqueObject& origin = value.as<OpaqueObject>();
  in.last_needed = value;
  Diag out = diag_at(where, DiagKind::Opaque, "this value is not known at compile time: {}",
                     origin.reason);
  const bool is_here = origin.span.begin == where.begin && origin.span.end == where.end;
  return is_here ? out : std::move(out).with_note("it comes from here", origin.span);
}

void give_name(Context& in, const Value& value, std::string_view name) {
  if (in.in_kernel()) give_name_to(in, value, std::string(name), 0);
}

}  // namespace ww::script
