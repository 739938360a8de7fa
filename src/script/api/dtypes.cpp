// SPDX-License-Identifier: Apache-2.0
// Element types as values: `tvm.DataType("float16")` and what can be asked of one.
#include "script/api/builtins.h"

#include "base/fail_at.h"
#include "script/interp/evaluator.h"

namespace ww::script::dtypes_api {
namespace {

using num::DType;

// DLPack's and TVM's number of a kind of type; nothing for a kind they lack.
std::optional<int> type_code(DType type) {
  constexpr std::pair<num::DTypeKind, int> kKinds[] = {
      {num::DTypeKind::Int, 0}, {num::DTypeKind::Uint, 1}, {num::DTypeKind::Bool, 6}};
  for (const auto& [kind, code] : kKinds)
    if (num::kind_of(type) == kind) return code;
  constexpr std::pair<DType, int> kFloats[] = {
      {DType::Float64, 2},      {DType::Float32, 2},       {DType::Float16, 2},
      {DType::Bfloat16, 4},     {DType::Float8E4M3fn, 10}, {DType::Float8E5M2, 12},
      {DType::Float8E8M0, 14},  {DType::Float6E2M3fn, 15}, {DType::Float6E3M2fn, 16},
      {DType::Float4E2M1fn, 17}};
  for (const auto& [each, code] : kFloats)
    if (type == each) return code;
  return std::nullopt;
}

ir::Type self(const Args& a) { return type_of(a.self); }

Result<Value> data_type(Context& in, Args& a) {
  if (a[0].is(Kind::Opaque)) return a[0];
  const ir::Type type = WW_TRY(as_type(in, a[0], "the type"));
  if (type.is_value()) return dtype_value(type);
  AnnotationObject handle;
  handle.type = type;
  return in.heap.wrap(Kind::Annotation, std::move(handle));
}

Result<Value> with_lanes(Context& in, Args& a) {
  const std::int64_t lanes = WW_TRY(as_integer(in, a[0], "the number of lanes"));
  if (lanes < 1 || lanes > 64)
    return fail_at(a.span(0), DiagKind::BadArgument, "{} lanes, expected 1 to 64", lanes);
  return dtype_value(ir::Type::of(self(a).dtype, static_cast<std::uint16_t>(lanes)));
}

Result<Value> is_float(Context&, Args& a) { return of_bool(num::is_float(self(a).dtype)); }
Result<Value> is_integer(Context&, Args& a) {
  const num::DTypeKind kind = num::kind_of(self(a).dtype);
  return of_bool(kind == num::DTypeKind::Int || kind == num::DTypeKind::Uint);
}
Result<Value> is_bool(Context&, Args& a) {
  return of_bool(num::kind_of(self(a).dtype) == num::DTypeKind::Bool);
}
Result<Value> is_handle(Context&, Args&) { return of_bool(false); }

constexpr BuiltinRow kRows[] = {
    {"tvm.DataType", "dtype", data_type},    {"tvm.runtime.DataType", "dtype", data_type},
    {"tvm.ir.PrimType", "dtype", data_type}, {"dtype.with_lanes", "lanes", with_lanes},
    {"dtype.is_float", "", is_float},        {"dtype.is_integer", "", is_integer},
    {"dtype.is_bool", "", is_bool},          {"dtype.is_handle", "", is_handle},
};

}  // namespace

constinit const std::span<const BuiltinRow> rows = kRows;

}  // namespace ww::script::dtypes_api

namespace ww::script {

Value dtype_value(ir::Type type) {
  return {.kind = Kind::DType, .id = static_cast<std::uint32_t>(type.dtype), .integer = type.lanes};
}

ir::Type type_of(const Value& dtype) {
  const auto lanes = static_cast<std::uint16_t>(dtype.integer > 0 ? dtype.integer : 1);
  return ir::Type::of(static_cast<num::DType>(dtype.id), lanes);
}

std::optional<Value> dtype_attribute(Context& in, const Value& dtype, std::string_view name) {
  const ir::Type type = type_of(dtype);
  const int bits = num::bits_of(type.dtype);
  if (name == "bits") return of_int(bits);
  if (name == "lanes") return of_int(type.lanes);
  if (name == "itemsize") return of_int((bits * type.lanes + 7) / 8);
  if (name == "dtype") return in.heap.str(ir::to_text(type));
  if (name == "type_code")
    if (const auto code = dtypes_api::type_code(type.dtype)) return of_int(*code);
  return std::nullopt;
}

// `T.float32(x)` converts; `T.float32()` declares an extent or value of run time.
Result<Value> call_dtype(Context& in, const Value& dtype, CallArgs& args) {
  const ir::Type type = WW_TRY(as_type(in, {dtype, args.callee}, "the type"));
  if (args.plain.size() + args.named.size() > 1)
    return fail_at(args.call, DiagKind::BadArgument, "`{}` with {} arguments, expected one at most",
                   ir::to_text(type), args.plain.size());
  if (!in.in_kernel()) {
    if (args.plain.empty()) {
      const Value out = opaque_value(in, args.call, "a value of run time");
      out.as<OpaqueObject>().extent = type;
      return out;
    }
    return typed_constant(in, {args.plain[0], args.call}, type, Conversion::Exact);
  }
  if (args.plain.empty()) return of_expr(new_extent(in, type, "", args.call));
  const Value& value = args.plain[0];
  if (value.is(Kind::Str)) {
    if (const auto real = special_float(value); real && type.is_float())
      return of_expr(ir::float_imm(in.fn(), type.dtype, *real, args.call));
    return fail_at(args.plain[0].span, DiagKind::BadType, "\"{}\" as `{}`", text_of(value),
                   ir::to_text(type));
  }
  return of_expr(exact_value(in, {value, args.call}, type));
}

}  // namespace ww::script
