// SPDX-License-Identifier: Apache-2.0
// Layouts that the hardware prescribes, by the names that TVM's modules give them: those of
// tvm.tirx.layout, and of `tma_utils` and `gemm_async` among its tile primitives, in all releases
// that have them (`tma_…` before `mma_…`).
#include <fmt/format.h>

#include <array>

#include "script/api/builtins.h"
#include "script/interp/conversions.h"
#include "script/interp/layouts.h"
#include "script/syntax/errors.h"

namespace ww::script::ready_layouts_api {
namespace {

using layout::Layout;
using layout::SwizzleMode;

Result<int> bits_arg(Context& in, const Args& a, std::size_t i, int missing) {
  if (!a.has(i)) return missing;
  if (a[i].is(Kind::Int))
    return static_cast<int>(WW_TRY(as_integer(in, a[i], "the width", a.spans[i])));
  return num::bits_of(WW_TRY(as_type(in, a[i], "`dtype`", a.spans[i])).dtype);
}

// An operand or a datapath.
Result<char> letter_arg(Context& in, const Args& a, std::string_view what,
                        std::string_view expected, std::string_view letters = {}) {
  const std::string text = WW_TRY(as_text(in, a[0], fmt::format("the {}", what), a.spans[0]));
  if (text.size() == 1 && (letters.empty() || letters.contains(text[0]))) return text[0];
  return fail_at(a.spans[0], DiagKind::BadArgument, "{} \"{}\", expected {}", what, text, expected);
}

// --- register tiles of warps and threads ---------------------------------------------------------

// mma_tile_layout(operand, shape, dtype, warps=(1, 1), transposed=False)
Result<Value> mma_tile_layout(Context& in, Args& a) {
  enum : std::size_t { Operand, Shape, Dtype, Warps, Transposed };
  const char letter = WW_TRY(letter_arg(in, a, "operand", "\"A\", \"B\", \"C\" or \"D\""));
  const layout::Shape shape = WW_TRY(as_int_list(in, a[Shape], "the shape", a.spans[Shape]));
  const int bits = WW_TRY(bits_arg(in, a, Dtype, 16));
  layout::WarpGrid warps;
  if (a.has(Warps)) {
    const layout::Shape grid = WW_TRY(as_int_list(in, a[Warps], "`warps`", a.spans[Warps]));
    if (grid.size() != 2)
      return fail_at(a.spans[Warps], DiagKind::RankMismatch,
                     "{} numbers of warps, expected (along M, along N)", grid.size());
    warps = {grid[0], grid[1]};
  }
  const bool is_transposed =
      a.has(Transposed) && WW_TRY(as_bool(in, a[Transposed], "`transposed`", a.spans[Transposed]));
  return layout_result(in, layout::mma_tile(letter, shape, bits, warps, is_transposed), a.call);
}

// wgmma_tile_layout(operand, shape, dtype, warpgroups=1)
Result<Value> wgmma_tile_layout(Context& in, Args& a) {
  const char letter = WW_TRY(letter_arg(in, a, "operand", "\"A\", \"C\" or \"D\""));
  const layout::Shape shape = WW_TRY(as_int_list(in, a[1], "the shape", a.spans[1]));
  const int bits = WW_TRY(bits_arg(in, a, 2, 32));
  const std::int64_t groups = WW_TRY(integer_or(in, a, 3, "`warpgroups`", 1));
  return layout_result(in, layout::wgmma_tile(letter, shape, bits, groups), a.call);
}

Result<layout::Axis> axis_arg(Context& in, const Args& a, std::size_t i) {
  if (!a.has(i)) return layout::axes::tx();
  if (!a[i].is(Kind::Axis))
    return layout::Axis::builtin(WW_TRY(as_text(in, a[i], "`axis`", a.spans[i])));
  return a[i].as<AxisObject>().axis;
}

// coalesced_layout(shape, threads, dtype, axis=tx)
Result<Value> coalesced_layout(Context& in, Args& a) {
  const layout::Shape shape = WW_TRY(as_int_list(in, a[0], "the shape", a.spans[0]));
  const std::int64_t threads = WW_TRY(as_integer(in, a[1], "`threads`", a.spans[1]));
  const int bits = WW_TRY(bits_arg(in, a, 2, 32));
  return layout_result(in, layout::coalesced(shape, threads, bits, WW_TRY(axis_arg(in, a, 3))),
                       a.call);
}

// row_layout(shape, threads, axis=tx), and of columns.
template <auto kMake>
Result<Value> owned_layout(Context& in, Args& a) {
  const layout::Shape shape = WW_TRY(as_int_list(in, a[0], "the shape", a.spans[0]));
  const std::int64_t threads = WW_TRY(as_integer(in, a[1], "`threads`", a.spans[1]));
  return layout_result(in, kMake(shape, threads, WW_TRY(axis_arg(in, a, 2))), a.call);
}

// reduced_layout(layout, shape, axes): one axis, or several.
Result<Value> reduced_layout(Context& in, Args& a) {
  const Layout layout = WW_TRY(as_layout(in, a[0], "the layout", a.spans[0]));
  const layout::Shape shape = WW_TRY(as_int_list(in, a[1], "the shape", a.spans[1]));
  layout::Shape axes;
  if (a[2].is(Kind::Int))
    axes.push_back(WW_TRY(as_integer(in, a[2], "`axes`", a.spans[2])));
  else
    axes = WW_TRY(as_int_list(in, a[2], "`axes`", a.spans[2]));
  for (std::int64_t& each : axes)
    if (each < 0) each += static_cast<std::int64_t>(shape.size());
  return layout_result(in, layout::reduced(layout, shape, axes), a.call);
}

// --- registers and tensor memory -----------------------------------------------------------------

Result<Value> wg_local_layout(Context& in, Args& a) {
  const std::int64_t cols = WW_TRY(as_integer(in, a[0], "`cols`", a.spans[0]));
  return layout_result(in, layout::wg_local(cols, WW_TRY(integer_or(in, a, 1, "`rows`", 128))),
                       a.call);
}

Result<Value> tcgen05_atom_layout(Context& in, Args& a) {
  const std::string shape = WW_TRY(as_text(in, a[0], "the shape", a.spans[0]));
  const layout::Shape size = WW_TRY(as_int_list(in, a[1], "(rows, cols)", a.spans[1]));
  if (size.size() != 2)
    return fail_at(a.spans[1], DiagKind::RankMismatch, "{} extents, expected (rows, cols)",
                   size.size());
  return layout_result(
      in, layout::tcgen05_atom(shape, size[0], size[1], WW_TRY(bits_arg(in, a, 2, 32))), a.call);
}

Result<Value> tmem_datapath_layout(Context& in, Args& a) {
  const char letter = WW_TRY(letter_arg(in, a, "datapath", "A to G"));
  const std::int64_t rows = WW_TRY(as_integer(in, a[1], "`rows`", a.spans[1]));
  const std::int64_t cols = WW_TRY(as_integer(in, a[2], "`cols`", a.spans[2]));
  const std::int64_t slab = WW_TRY(integer_or(in, a, 3, "`sub_slab`", 0));
  return layout_result(in, layout::tmem_datapath(letter, rows, cols, static_cast<int>(slab)),
                       a.call);
}

// tmem_mma_operand_layout(operand, shape, dtype, M=, cta_group=, ws=, sparse=, group=)
Result<Value> tmem_mma_operand_layout(Context& in, Args& a) {
  enum : std::size_t { Operand, Shape, Dtype, M, CtaGroup, Ws, Sparse, Group };
  layout::TmemOperand operand;
  operand.operand = WW_TRY(letter_arg(in, a, "operand", "\"A\" or \"D\"", "AD"));
  operand.m = static_cast<int>(WW_TRY(as_integer(in, a[M], "`M`", a.spans[M])));
  operand.cta_group =
      static_cast<int>(WW_TRY(as_integer(in, a[CtaGroup], "`cta_group`", a.spans[CtaGroup])));
  if (a.has(Ws)) operand.ws = WW_TRY(as_bool(in, a[Ws], "`ws`", a.spans[Ws]));
  if (a.has(Sparse)) operand.sparse = WW_TRY(as_bool(in, a[Sparse], "`sparse`", a.spans[Sparse]));
  if (a.given(Group))
    for (const std::int64_t extent : WW_TRY(as_int_list(in, a[Group], "`group`", a.spans[Group])))
      operand.group.push_back(extent);
  const layout::Shape shape = WW_TRY(as_int_list(in, a[Shape], "the shape", a.spans[Shape]));
  return layout_result(in, layout::tmem_mma_operand(shape, operand), a.call);
}

// sf_tmem_layout(rows, SF_K, sf_per_mma, sf_reuse=1, pipe_depth=None), and in shared memory.
template <auto kMake>
Result<Value> scale_factors(Context& in, Args& a) {
  const std::int64_t rows = WW_TRY(as_integer(in, a[0], "`rows`", a.spans[0]));
  const std::int64_t factors = WW_TRY(as_integer(in, a[1], "`SF_K`", a.spans[1]));
  const std::int64_t per_mma = WW_TRY(as_integer(in, a[2], "`sf_per_mma`", a.spans[2]));
  const std::int64_t reuse = WW_TRY(integer_or(in, a, 3, "`sf_reuse`", 1));
  const std::int64_t depth = WW_TRY(integer_or(in, a, 4, "`pipe_depth`", 1));
  return layout_result(in, kMake(rows, factors, per_mma, reuse, depth), a.call);
}

// --- shared memory -------------------------------------------------------------------------------

constexpr std::array<std::string_view, 4> kModes = {"SWIZZLE_NONE", "SWIZZLE_32B_ATOM",
                                                    "SWIZZLE_64B_ATOM", "SWIZZLE_128B_ATOM"};

Result<Value> mma_shared_layout(Context& in, Args& a) {
  const int bits = WW_TRY(bits_arg(in, a, 0, 16));
  const layout::Shape shape = WW_TRY(as_int_list(in, a[2], "the shape", a.spans[2]));
  const SwizzleMode mode = WW_TRY(tile_swizzle_arg(in, a[1], a.spans[1], shape, bits));
  return layout_result(in, layout::mma_shared(shape, mode, bits), a.call);
}

Result<Value> mma_atom_layout(Context& in, Args& a) {
  const int bits = WW_TRY(bits_arg(in, a, 0, 16));
  return layout_result(in, layout::mma_atom(WW_TRY(swizzle_mode_arg(in, a[1], a.spans[1])), bits),
                       a.call);
}

// With a shape, as many dimensions as it has.
Result<Value> mma_atom_shape(Context& in, Args& a) {
  const int bits = WW_TRY(bits_arg(in, a, 0, 16));
  const SwizzleMode mode = WW_TRY(swizzle_mode_arg(in, a[1], a.spans[1]));
  const layout::Shape atom = WW_TRY(layout::mma_atom_shape(mode, bits));
  const std::size_t rank =
      a.given(2) ? WW_TRY(as_int_list(in, a[2], "the shape", a.spans[2])).size() : atom.size();
  if (rank < atom.size())
    return fail_at(a.spans[2], DiagKind::RankMismatch,
                   "a shape of {} dimensions, expected {} or more", rank, atom.size());
  std::vector<Value> out(rank - atom.size(), of_int(1));
  for (const std::int64_t extent : atom) out.push_back(of_int(extent));
  return in.heap.list(std::move(out));
}

// SwizzleMode(3): modes are their numbers.
Result<Value> swizzle_mode(Context& in, Args& a) {
  const SwizzleMode mode = WW_TRY(swizzle_mode_arg(in, a[0], a.spans[0]));
  return of_int(static_cast<int>(mode));
}

Result<Value> mode_of_layout(Context& in, Args& a) {
  const Layout layout = WW_TRY(as_layout(in, a[0], "the layout", a.spans[0]));
  if (!layout.is_swizzled()) return of_int(0);
  const layout::Swizzle& swizzle = layout.swizzle();
  if (!swizzle.inner() || swizzle.atom() != 3 || swizzle.len() > 3)
    return fail_at(a.spans[0], DiagKind::BadSwizzle,
                   "Swizzle({},{},{}) is not a mode of the hardware, expected `atom_len` 3 and "
                   "`swizzle_len` 1 to 3",
                   swizzle.per_element(), swizzle.len(), swizzle.atom());
  return of_int(swizzle.len());
}

constexpr std::string_view kScaleFactors = "rows, SF_K, sf_per_mma, sf_reuse?, pipe_depth?";

constexpr BuiltinRow kRows[] = {
    {"layout.mma_tile_layout", "operand, shape, dtype, warps?, transposed?", mma_tile_layout},
    {"layout.wgmma_tile_layout", "operand, shape, dtype, warpgroups?", wgmma_tile_layout},
    {"layout.coalesced_layout", "shape, threads, dtype, axis?", coalesced_layout},
    {"layout.row_layout", "shape, threads, axis?", owned_layout<layout::row_owned>},
    {"layout.column_layout", "shape, threads, axis?", owned_layout<layout::column_owned>},
    {"layout.reduced_layout", "layout, shape, axes", reduced_layout},
    {"layout.wg_local_layout", "cols, rows?", wg_local_layout},
    {"layout.tcgen05_atom_layout", "instr_shape, tensor_shape, dtype?", tcgen05_atom_layout},
    {"layout.tmem_datapath_layout", "datapath, rows, cols, sub_slab?", tmem_datapath_layout},
    {"layout.tmem_mma_operand_layout", "operand, shape, dtype, M, cta_group, ws?, sparse?, group?",
     tmem_mma_operand_layout},
    {"layout.sf_tmem_layout", kScaleFactors, scale_factors<layout::scale_factor_tmem>},
    {"layout.sf_smem_layout", kScaleFactors, scale_factors<layout::scale_factor_smem>},
    {"layout.mma_shared_layout", "dtype, swizzle_mode, shape", mma_shared_layout},
    {"layout.mma_atom_layout", "dtype, swizzle_mode", mma_atom_layout},
    {"layout.mma_atom_shape", "dtype, swizzle_mode, shape?", mma_atom_shape},
    {"layout.tma_shared_layout", "dtype, swizzle_mode, shape", mma_shared_layout},
    {"layout.tma_atom_layout", "dtype, swizzle_mode", mma_atom_layout},
    {"layout.tma_atom_shape", "dtype, swizzle_mode, shape?", mma_atom_shape},
    {"layout.get_swizzle_mode_from_layout", "layout", mode_of_layout},
    {"layout.SwizzleMode", "value", swizzle_mode},
};

}  // namespace

constinit const std::span<const BuiltinRow> rows = kRows;

}  // namespace ww::script::ready_layouts_api

namespace ww::script {

std::optional<Value> swizzle_mode_member(std::string_view name) {
  for (std::size_t i = 0; i < ready_layouts_api::kModes.size(); ++i)
    if (ready_layouts_api::kModes[i] == name) return of_int(static_cast<Wide>(i));
  return std::nullopt;
}

Result<layout::SwizzleMode> tile_swizzle_arg(Context& in, const Value& value, Span span,
                                             const layout::Shape& shape, int bits) {
  if (value.is(Kind::Str) && text_of(value) == "auto") return layout::widest_swizzle(shape, bits);
  return swizzle_mode_arg(in, value, span);
}

Result<layout::SwizzleMode> swizzle_mode_arg(Context& in, const Value& value, Span span) {
  if (value.is(Kind::Int)) {
    const std::int64_t n = WW_TRY(as_integer(in, value, "the swizzle", span));
    if (n < 0 || n > 3)
      return fail_at(span, DiagKind::BadSwizzle, "swizzle mode {}, expected 0 to 3", n);
    return static_cast<layout::SwizzleMode>(n);
  }
  return layout::swizzle_mode(WW_TRY(as_text(in, value, "the swizzle", span)));
}

}  // namespace ww::script
