// SPDX-License-Identifier: Apache-2.0
// T.tensor_map: a tensor map that the launch makes, bound to a name before T.device_entry().
//
//     A_map = T.tensor_map(A, box=(128, 64), swizzle=128)
//
// Lists are in the order of the array's extents, the innermost dimension last. A buffer brings its
// extents and strides along; a pointer, which printed programs have, needs them.
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

Result<Value> tensor_map(Context& in, Args& a) {
  if (in.kernel->in_device)
    return fail(diag_at(a.call, DiagKind::BadArgument, "`T.tensor_map` behind `T.device_entry()`")
                    .with_note("the launch makes tensor maps: bind them before it"));
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

constexpr BuiltinRow kRows[] = {
    {"T.tensor_map", "array, box, dims?, strides?, swizzle?, promotion?, fill?", tensor_map, true},
};

}  // namespace

constinit const std::span<const BuiltinRow> rows = kRows;

}  // namespace ww::script::tensor_maps_api
