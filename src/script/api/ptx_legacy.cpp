// SPDX-License-Identifier: Apache-2.0
// The oldest spelling of PTX instructions in TVM: pointers with offsets in elements beside them, and
// an accumulator that is read and written.
//
//   T.ptx_legacy.mma("m16n8k16", "row", "col", "fp16", "fp16", "fp32", a, 0, b, 0, c, 0, False)
//
// Also as `T.ptx.mma.legacy` and `T.ptx_mma`, and with a `dtype=` that says what the types say. Each
// becomes a call of the function of `T.ptx` with one pointer for each register.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/fail_at.h"
#include "script/api/builtins.h"
#include "script/interp/evaluator.h"

namespace ww::script::ptx_legacy_api {
namespace {

struct ElementName {
  std::string_view older, name;
  int bits;
};
constexpr ElementName kElements[] = {
    {"fp16", "float16", 16},  {"fp32", "float32", 32}, {"fp64", "float64", 64},
    {"bf16", "bfloat16", 16}, {"tf32", "tf32", 32},    {"int32", "int32", 32},
    {"int8", "int8", 8},      {"uint8", "uint8", 8},   {"int4", "int4", 4},
    {"uint4", "uint4", 4},    {"e4m3", "e4m3", 8},     {"e5m2", "e5m2", 8},
};
Result<ElementName> element_of(Context& in, const Args& a, std::size_t i) {
  const std::string text = WW_TRY(as_text(in, a[i], "an element type"));
  for (const ElementName& row : kElements)
    if (text == row.older || text == row.name) return row;
  return fail_at(a.span(i), DiagKind::BadType,
                 "`{}` of \"{}\", expected fp16, bf16, tf32, fp32, "
                 "fp64, e4m3, e5m2, int8, uint8, int4, uint4 or int32",
                 a.row->name, text);
}

// "m16n8k16"
Result<std::array<std::int64_t, 3>> shape_of(Context& in, const Args& a) {
  const std::string text = WW_TRY(as_text(in, a[0], "the shape"));
  std::array<std::int64_t, 3> out{};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t d = 0; d < out.size(); ++d) {
    if (at == end || *at != "mnk"[d]) break;
    const auto [stop, error] = std::from_chars(at + 1, end, out[d]);
    if (error != std::errc() || out[d] < 1 || out[d] > 1024) break;
    at = stop;
    if (d + 1 == out.size() && at == end) return out;
  }
  return fail_at(a.span(0), DiagKind::BadArgument,
                 "`{}` of the shape \"{}\", expected one such as "
                 "\"m16n8k16\"",
                 a.row->name, text);
}

// The pointer `elements` behind the offset that stands beside it.
Result<Value> pointer_at(Context& in, const Given& pointer, const Given& offset,
                         std::int64_t elements) {
  const ir::ExprId base = pointer.is(Kind::Buffer)
                              ? WW_TRY(first_address(in, pointer.buffer(), pointer.span))
                              : WW_TRY(expression(in, pointer));
  if (!in.fn()[base].type.is_pointer())
    return fail_at(pointer.span, DiagKind::BadType, "{}, expected a pointer such as `B.data`",
                   type_name(pointer));
  ir::ExprId distance = WW_TRY(index_expr(in, offset));
  if (elements != 0)
    distance = ir::index_binary(in.fn(), ir::ExprOp::Add, distance,
                                ir::int_imm(in.fn(), num::DType::Int32, elements, offset.span),
                                offset.span);
  if (ir::const_int(in.fn(), distance) == 0) return of_expr(base);
  const ir::ExprId given[] = {base, distance};
  return of_expr(WW_TRY(ir::call(in.fn(), ir::Intrinsic::PointerOffset, given, pointer.span)));
}

// The registers of an array, one pointer each.
Result<std::vector<Value>> registers_at(Context& in, const Given& pointer, const Given& offset,
                                        std::int64_t count, std::int64_t bits) {
  const ir::ExprId base = pointer.is(Kind::Buffer) ? ir::ExprId{} : WW_TRY(expression(in, pointer));
  const ir::Type type =
      base.valid() ? in.fn()[base].type : ir::Type::pointer(in.fn()[pointer.buffer()].dtype);
  if (!type.is_pointer() || type.opaque || bits % num::storage_bits(type.dtype) != 0)
    return fail_at(pointer.span, DiagKind::BadType,
                   "registers of {} bits in an array given by `{}`, expected a pointer to elements "
                   "that fill them",
                   bits, ir::to_text(type));
  std::vector<Value> out;
  for (std::int64_t i = 0; i < count; ++i)
    out.push_back(
        WW_TRY(pointer_at(in, pointer, offset, i * bits / num::storage_bits(type.dtype))));
  return out;
}

Result<Value> call_function(Context& in, std::string_view name, const Args& a,
                            const std::vector<Value>& values) {
  CallArgs args = CallArgs::at(a.call, values);
  return call_ptx_function(in, *find_ptx_function(name), args);
}

Result<Value> mma(Context& in, Args& a) {
  enum : std::size_t { Shape, AOrder, BOrder, AType, BType, CType, AData, BData = 8, CData = 10 };
  constexpr std::size_t kSaturate = 12, kOperator = 13;
  const auto [m, n, k] = WW_TRY(shape_of(in, a));
  const ElementName types[] = {WW_TRY(element_of(in, a, AType)), WW_TRY(element_of(in, a, BType)),
                               WW_TRY(element_of(in, a, CType))};
  if (WW_TRY(as_bool(in, a[kSaturate], "`saturate`")) || a.given(kOperator))
    return fail_at(a.call, DiagKind::BadArgument,
                   "`{}` that saturates or has an operator; the opcode has it, as in "
                   "`T.ptx[\"mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32\"](…)`",
                   a.row->name);
  // Each quarter of the warp has a product of its own.
  const bool has_quarters = k == 4 && m == 8 && types[0].bits == 16;
  const std::int64_t lanes = has_quarters ? 8 : 32;
  const std::int64_t elements[] = {m * k / lanes, k * n / lanes, m * n / lanes};
  const std::size_t data[] = {AData, BData, CData};
  Value pointers[3];
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t bits = std::max(32, types[i].bits);
    pointers[i] = in.heap.list(WW_TRY(
        registers_at(in, a[data[i]], a[data[i] + 1], elements[i] * types[i].bits / bits, bits)));
  }
  const auto name = [&](std::size_t i) { return in.heap.str(std::string(types[i].name)); };
  return call_function(in, "mma", a,
                       {a[Shape], a[AOrder], a[BOrder], name(2), name(0), name(1), name(2),
                        pointers[2], pointers[0], pointers[1], pointers[2]});
}

Result<Value> ldmatrix(Context& in, Args& a) {
  enum : std::size_t { Trans, Number, Type, Local, LocalOffset, Shared, SharedOffset };
  const std::int64_t number = WW_TRY(as_integer(in, a[Number], "`num`"));
  const std::vector<Value> registers = WW_TRY(
      registers_at(in, a[Local], a[LocalOffset], std::clamp<std::int64_t>(number, 0, 4), 32));
  const Value from = WW_TRY(pointer_at(in, a[Shared], a[SharedOffset], 0));
  const bool has_bytes = num::storage_bits(in.fn()[from.expr()].type.dtype) == 8;
  if (has_bytes && WW_TRY(as_bool(in, a[Trans], "`trans`")))
    return fail_at(
        a.call, DiagKind::BadArgument,
        "`{}` transposes elements of 16 bits, and these have 8; `Tx.warp.copy` moves them",
        a.row->name);
  std::vector<Value> values = {a[Trans], a[Number], a[Type], from};
  values.insert(values.end(), registers.begin(), registers.end());
  return call_function(in, "ldmatrix", a, values);
}

Result<Value> cp_async(Context& in, Args& a) {
  return call_function(
      in, "cp_async", a,
      {WW_TRY(pointer_at(in, a[0], a[1], 0)), WW_TRY(pointer_at(in, a[2], a[3], 0)), a[4]});
}

constexpr std::string_view kMma =
    "shape, a_layout, b_layout, a_type, b_type, c_type, a, a_offset, b, b_offset, c, c_offset, "
    "saturate, operator?, dtype?";
constexpr std::string_view kLdmatrix =
    "trans, num, type, local, local_offset, shared, shared_offset, dtype?";
constexpr std::string_view kCpAsync = "dst, dst_offset, src, src_offset, bytes, dtype?";
constexpr BuiltinRow kRows[] = {
    {"T.ptx_legacy.mma", kMma, mma, true},
    {"T.ptx_mma", kMma, mma, true},
    {"T.ptx_legacy.ldmatrix", kLdmatrix, ldmatrix, true},
    {"T.ptx_ldmatrix", kLdmatrix, ldmatrix, true},
    {"T.ptx_legacy.cp_async", kCpAsync, cp_async, true},
    {"T.ptx_cp_async", kCpAsync, cp_async, true},
};

}  // namespace

constinit const std::span<const BuiltinRow> rows = kRows;

}  // namespace ww::script::ptx_legacy_api
