// SPDX-License-Identifier: Apache-2.0
// T.tensor_map: a tensor map that the launch makes, bound to a name before T.device_entry().
//
//     A_map = T.tensor_map(A, box=(128, 64), swizzle=128)
//
// Lists are in the order of the array's extents, the innermost dimension last. A buffer brings its
// extents and strides along; a pointer, which printed programs have, needs them.
//
// TVM's host code takes space on the stack and has the driver fill it, innermost dimension first and
// strides in bytes:
//
//     A_map: T.let[T.handle("tensormap")] = T.tvm_stack_alloca("tensormap", 1)
//     T.call_packed("runtime.cuTensorMapEncodeTiled", A_map, "float16", 2, A.data, K, M, K * 2, 64, 128,
//                   1, 1, 0, 3, 2, 0)  # extents, strides, box, steps; interleaving, swizzle, cache, fill
#include <fmt/format.h>

#include <algorithm>

#include "base/fail_at.h"
#include "ir/build.h"
#include "ir/tensor_map.h"
#include "script/api/builtins.h"
#include "script/interp/evaluator.h"

namespace ww::script::tensor_maps_api {
namespace {

enum Field : std::size_t { Array, Box, Extents, StrideList, Swizzle, Promotion, Fill };

Result<std::vector<ir::ExprId>> expr_list(Context& in, const Args& a, Field field) {
  std::vector<ir::ExprId> out;
  const std::string_view name = field == Extents ? "`dims`" : "`strides`";
  for (const Value& each : WW_TRY(as_sequence(in, a[field], name)))
    out.push_back(WW_TRY(index_expr(in, {each, a.span(field)})));
  std::ranges::reverse(out);
  return out;
}

// Extents of a buffer, and strides as far as its layout is a plain one.
Result<void> take_shape(Context& in, const Args& a, ir::BufferId id, ir::TensorMap& map) {
  const ir::Buffer& buffer = in.fn()[id];
  if (buffer.layout_kind == ir::LayoutKind::Explicit)
    return fail_at(a.span(Array), DiagKind::BadArgument,
                   "`{}` has a layout of its own, expected `dims=` and `strides=` with it",
                   buffer.name);
  map.dims.assign(buffer.shape.rbegin(), buffer.shape.rend());
  ir::ExprId stride = map.dims[0];
  for (std::size_t d = 1; d < map.dims.size(); ++d) {
    map.strides.push_back(stride);
    stride = ir::index_binary(in.fn(), ir::ExprOp::Mul, stride, map.dims[d], a.call);
  }
  return {};
}

Result<ir::TensorMap> read_array(Context& in, const Args& a) {
  ir::TensorMap map;
  if (a[Array].is(Kind::Buffer)) {
    const ir::BufferId id = a[Array].buffer();
    map.pointer = ir::buffer_data(in.fn(), id, a.span(Array));
    if (!a.has(Extents)) WW_TRY_VOID(take_shape(in, a, id, map));
    return map;
  }
  map.pointer = WW_TRY(expression(in, a[Array]));
  if (!in.fn()[map.pointer].type.is_pointer())
    return fail_at(a.span(Array), DiagKind::BadType,
                   "`T.tensor_map` of {}, expected a buffer in global memory or a pointer to one",
                   type_name(a[Array]));
  if (!a.has(Extents))
    return fail_at(a.call, DiagKind::BadArgument, "`T.tensor_map` of a pointer without `dims=`");
  return map;
}

Result<ir::MapFill> fill_of(Context& in, const Args& a) {
  if (!a.has(Fill)) return ir::MapFill::Zero;
  const std::string word = WW_TRY(as_text(in, a[Fill], "`fill`"));
  if (const auto fill = ir::find_map_fill(word)) return *fill;
  return fail_at(a.span(Fill), DiagKind::BadArgument,
                 "`fill` of a tensor map is \"{}\", expected \"zero\", \"nan\" or \"none\"", word);
}

Result<void> require_host(const Context& in, const Args& a) {
  if (!in.kernel->in_device) return {};
  return fail(diag_at(a.call, DiagKind::BadArgument, "`{}` behind `T.device_entry()`", a.row->name)
                  .with_note("the launch makes tensor maps: bind them before it"));
}

Result<Value> tensor_map(Context& in, Args& a) {
  WW_TRY_VOID(require_host(in, a));
  ir::TensorMap map = WW_TRY(read_array(in, a));
  if (a.has(Extents)) map.dims = WW_TRY(expr_list(in, a, Extents));
  if (a.has(StrideList)) map.strides = WW_TRY(expr_list(in, a, StrideList));
  const layout::Shape box = WW_TRY(as_int_list(in, a[Box], "`box`"));
  map.box.assign(box.begin(), box.end());
  std::ranges::reverse(map.box);
  if (map.box.size() != map.dims.size() || map.strides.size() + 1 != map.dims.size())
    return fail_at(a.call, DiagKind::BadArgument,
                   "a tensor map of {} extents, {} strides and a box of {}, expected one stride "
                   "less than extents, and as many of the box",
                   map.dims.size(), map.strides.size(), map.box.size());
  map.swizzle = WW_TRY(integer_or(in, a, Swizzle, "`swizzle`", 0));
  map.promotion = WW_TRY(integer_or(in, a, Promotion, "`promotion`", 256));
  map.fill = WW_TRY(fill_of(in, a));
  const ir::ExprId call = ir::make_tensor_map(in.fn(), map, a.call);
  if (auto fault = ir::fault_of_tensor_map(in.fn(), in.fn()[call])) return fail(*std::move(fault));
  return of_expr(call);
}

// --- as TVM's host code makes them ---------------------------------------------------------------

// A name without a value, which the call that encodes the map gives it.
Result<Value> stack_alloca(Context& in, Args& a) {
  const bool is_map = a[0].is(Kind::Str) && text_of(a[0]) == "tensormap";
  if (!is_map || WW_TRY(as_integer(in, a[1], "the number")) != 1)
    return fail_at(a.call, DiagKind::BadArgument,
                   "`{}` is taken of one tensor map, `{}(\"tensormap\", 1)`", a.row->name,
                   a.row->name);
  WW_TRY_VOID(require_host(in, a));
  const ir::VarId var = new_var(in, ir::VarKind::Let, ir::Type::handle(), a.call);
  in.kernel->open_maps.insert(var.index);
  return of_expr(ir::var_ref(in.fn(), var, a.call));
}

// The numbers behind the pointer, one after the other.
struct Encoding {
  Context& in;
  std::span<const Given> numbers;
  std::size_t rank = 0;

  Given next() {
    const Given out = numbers.front();
    numbers = numbers.subspan(1);
    return out;
  }
  Result<std::vector<ir::ExprId>> extents(std::size_t count) {
    std::vector<ir::ExprId> out;
    while (out.size() < count) out.push_back(WW_TRY(index_expr(in, next())));
    return out;
  }
  Result<std::int64_t> word(std::string_view name, std::span<const std::int64_t> meanings) {
    const Given given = next();
    const std::int64_t value = WW_TRY(as_integer(in, given, name));
    if (value >= 0 && value < std::ssize(meanings))
      return meanings[static_cast<std::size_t>(value)];
    return fail_at(given.span, DiagKind::BadArgument, "{} of a tensor map is {}, expected {}", name,
                   value, meanings.size() == 1 ? "0" : fmt::format("0 to {}", meanings.size() - 1));
  }
};

Result<void> read_numbers(Encoding& from, std::int64_t bytes, ir::TensorMap& map) {
  constexpr std::int64_t kNone[] = {0}, kSwizzles[] = {0, 32, 64, 128};
  constexpr std::int64_t kPromotions[] = {0, 64, 128, 256}, kFills[] = {0, 1};
  Context& in = from.in;
  map.dims = WW_TRY(from.extents(from.rank));
  for (std::size_t d = 1; d < from.rank; ++d) {
    const Given given = from.next();
    const ir::ExprId stride = WW_TRY(index_expr(in, given));
    if (const auto value = ir::const_int(in.fn(), stride); value && *value % bytes != 0)
      return fail_at(given.span, DiagKind::BadArgument,
                     "a stride of {} bytes of a tensor map, expected a multiple of the {} of an "
                     "element",
                     *value, bytes);
    const ir::ExprId width = ir::int_imm(in.fn(), num::DType::Int32, bytes, given.span);
    map.strides.push_back(
        ir::index_binary(in.fn(), ir::ExprOp::FloorDiv, stride, width, given.span));
  }
  for (std::size_t d = 0; d < from.rank; ++d)
    map.box.push_back(WW_TRY(as_integer(in, from.next(), "an extent of the box")));
  for (std::size_t d = 0; d < from.rank; ++d) {
    const Given step = from.next();
    if (WW_TRY(as_integer(in, step, "a step between elements")) != 1)
      return fail_at(step.span, DiagKind::BadArgument,
                     "a step of {} between the elements of a tensor map, expected 1", repr(step));
  }
  WW_TRY_VOID(from.word("the interleaving", kNone));
  map.swizzle = WW_TRY(from.word("the swizzle", kSwizzles));
  map.promotion = WW_TRY(from.word("the promotion", kPromotions));
  map.fill = WW_TRY(from.word("the fill", kFills)) == 0 ? ir::MapFill::Zero : ir::MapFill::Nan;
  return {};
}

// map, type, rank, pointer, numbers
Result<Value> encode(Context& in, const Args& a, std::span<const Given> given) {
  WW_TRY_VOID(require_host(in, a));
  const std::int64_t rank = given.size() < 4 ? 0 : WW_TRY(as_integer(in, given[2], "the rank"));
  if (rank < 1 || rank > static_cast<std::int64_t>(ir::kMaxMapRank) ||
      std::ssize(given) != 4 * rank + 7)
    return fail_at(
        a.call, DiagKind::BadArgument,
        "`{}` with {} values for a tensor map of rank {}, expected a rank of 1 to {}, and "
        "{} values: map, type, rank, pointer, extents, strides of all dimensions but the "
        "first, box, steps, interleaving, swizzle, promotion, fill",
        a.row->name, given.size(), rank, ir::kMaxMapRank,
        rank < 1 ? "4 * rank + 7" : std::to_string(4 * rank + 7));
  const ir::ExprId name = given[0].is(Kind::Ir) ? given[0].expr() : ir::ExprId{};
  const bool is_open = name.valid() && in.fn()[name].op == ir::ExprOp::Var &&
                       in.kernel->open_maps.erase(in.fn()[name].var.index) == 1;
  if (!is_open)
    return fail_at(given[0].span, DiagKind::BadArgument,
                   "`{}` into something else than the name of a "
                   "`T.tvm_stack_alloca(\"tensormap\", 1)` that is not encoded yet",
                   a.row->name);
  ir::TensorMap map;
  map.pointer = WW_TRY(expression(in, given[3]));
  const ir::Type pointer = in.fn()[map.pointer].type;
  const ir::Type wanted = WW_TRY(as_type(in, given[1], "the element type"));
  if (!pointer.is_pointer() || pointer.opaque || pointer.dtype != wanted.dtype)
    return fail_at(given[3].span, DiagKind::BadType,
                   "a tensor map with elements of `{}` over `{}`, expected a pointer to such "
                   "elements",
                   ir::to_text(wanted), ir::to_text(pointer));
  Encoding from{in, given.subspan(4), static_cast<std::size_t>(rank)};
  WW_TRY_VOID(read_numbers(from, num::storage_bits(pointer.dtype) / 8, map));
  const ir::ExprId call = ir::make_tensor_map(in.fn(), map, a.call);
  if (auto fault = ir::fault_of_tensor_map(in.fn(), in.fn()[call])) return fail(*std::move(fault));
  ir::Stmt out = stmt_node(ir::StmtKind::Bind, a.call);
  out.var = in.fn()[name].var;
  out.expr = call;
  in.fn().at(out.var).type = in.fn().at(name).type = pointer;
  emit(in, std::move(out));
  return none();
}

Result<Value> call_packed(Context& in, Args& a) {
  if (!a[0].is(Kind::Str) || text_of(a[0]) != "runtime.cuTensorMapEncodeTiled")
    return fail_at(a.span(0), DiagKind::UnknownName,
                   "`{}` calls the host, and kernels run without one; of its functions, "
                   "\"runtime.cuTensorMapEncodeTiled\" is taken",
                   a.row->name);
  return encode(in, a, a.rest);
}

// The same with names for what is not an operand.
Result<Value> encode_tiled(Context& in, Args& a) {
  constexpr std::string_view kWords[] = {"interleave", "swizzle", "l2_promotion", "oob_fill"};
  std::vector<Given> given(a.rest.begin(), a.rest.end());
  given.insert(given.begin(), a[0]);
  std::vector<Given> words(std::size(kWords), Given{of_int(0), a.call});
  Given dtype{none(), a.call}, rank = dtype;
  for (const CallArgs::Named& named : a.extra) {
    const auto* const word = std::ranges::find(kWords, named.name);
    if (word != std::end(kWords))
      words[static_cast<std::size_t>(word - kWords)] = named;
    else if (named.name == "descriptor_dtype")
      dtype = named;
    else if (named.name == "rank")
      rank = named;
    else if (named.name != "force_cu_dtype" || !named.is(Kind::Int) || int_of(named) != -1)
      return fail(no_parameter(a.row->name, named));
  }
  given.insert(given.begin() + 1, {dtype, rank});
  given.insert(given.end(), words.begin(), words.end());
  return encode(in, a, given);
}

constexpr BuiltinRow kRows[] = {
    {"T.tensor_map", "array, box, dims?, strides?, swizzle?, promotion?, fill?", tensor_map, true},
    {"T.tvm_stack_alloca", "dtype, number", stack_alloca, true},
    {"T.stack_alloca", "dtype, number", stack_alloca, true},
    {"T.call_packed", "function, *values", call_packed, true},
    {"T.tvm_call_packed", "function, *values", call_packed, true},
    {"T.tensormap_encode_tiled", "map, *values, **settings", encode_tiled, true},
};

}  // namespace

constinit const std::span<const BuiltinRow> rows = kRows;

}  // namespace ww::script::tensor_maps_api
