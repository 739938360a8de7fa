// SPDX-License-Identifier: Apache-2.0
#include "infer/relation.h"

#include <algorithm>

#include "ir/equal.h"
#include "ir/indexed.h"
#include "ir/reduction.h"
#include "layout/image.h"

namespace ww::infer {

std::optional<Holders> holders_of(const layout::Layout& layout) {
  constexpr std::int64_t kMaxPlaces = std::int64_t{1} << 20U;
  if (layout.size() > kMaxPlaces / layout.copies()) return std::nullopt;
  const Result<layout::Image> image = layout::enumerate(layout);
  if (!image) return std::nullopt;
  Holders out(static_cast<std::size_t>(image->size));
  for (std::size_t i = 0; i < out.size() * static_cast<std::size_t>(image->copies); ++i) {
    std::int64_t thread = 0;
    for (std::size_t a = 0; a < image->axes.size(); ++a)
      if (image->axes[a].is_thread())
        thread += image->values[a][i] * image->axes[a].facts().divisor;
    out[i % out.size()].push_back(thread);
  }
  for (std::vector<std::int64_t>& each : out) {
    std::ranges::sort(each);
    each.erase(std::unique(each.begin(), each.end()), each.end());
  }
  return out;
}

bool have(const Holders& held, const Holders& wanted) {
  if (held.size() != wanted.size()) return false;
  for (std::size_t x = 0; x < held.size(); ++x)
    if (!std::ranges::includes(held[x], wanted[x])) return false;
  return true;
}

namespace {

layout::Shape without_ones(const layout::Shape& shape) {
  layout::Shape out;
  for (const std::int64_t extent : shape)
    if (extent != 1) out.push_back(extent);
  return out;
}

const ir::Region& region_of(const State& state, const Use& use, const Operand& operand) {
  return std::get<ir::Region>(state.call(use).args[operand.arg]);
}

bool is_same_number(const ir::Function& f, ir::ExprId a, ir::ExprId b) {
  const auto value = ir::const_int(f, a);
  return value ? value == ir::const_int(f, b) : ir::same(f, a, b);
}

// The same part of two tiles of one shape.
bool is_same_part(const State& state, const Use& use, const Operand& a, const Operand& b) {
  if (a.extents != b.extents || state.shape(a.buffer) != state.shape(b.buffer)) return false;
  const ir::Region& of_a = region_of(state, use, a);
  const ir::Region& of_b = region_of(state, use, b);
  for (std::size_t d = 0; d < of_a.ranges.size(); ++d)
    if (!is_same_number(state.f, of_a.ranges[d].min, of_b.ranges[d].min)) return false;
  return true;
}

bool combines(const Use& use, const Operand& a, const Operand& b) {
  switch (use.kind) {
    case UseKind::Elementwise:
    case UseKind::Copy:
      return true;
    case UseKind::Scan:
      return a.arg <= 1 && b.arg <= 1;
    default:
      return false;
  }
}

std::optional<Named> reduced_or_none(const Named& whole, const layout::Shape& shape,
                                     const layout::Shape& dims) {
  if (dims.empty()) return whole;
  Result<Named> out = reduced_named(whole, shape, dims);
  return out ? std::optional(*std::move(out)) : std::nullopt;
}

// Stretched to the shape of `a`, aligned at the last dimension.
std::optional<Named> stretched(const Operand& a, const Named& of_a, const Operand& b) {
  layout::Shape dims;
  const std::size_t rank = a.extents.size();
  if (b.extents.size() > rank) return std::nullopt;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::size_t missing = rank - b.extents.size();
    const std::int64_t extent = d < missing ? 1 : b.extents[d - missing];
    if (extent != a.extents[d] && extent != 1) return std::nullopt;
    if (extent != a.extents[d]) dims.push_back(static_cast<std::int64_t>(d));
  }
  return reduced_or_none(of_a, a.extents, dims);
}

// The result of a reduction.
std::optional<Named> folded(const State& state, const Use& use, const Operand& a,
                            const Named& of_a) {
  return reduced_or_none(of_a, a.extents, folded_dims(state, use, a));
}

// The index of a gather or scatter: one for each element of the tile, or for each row.
std::optional<Named> index_of(const State& state, const Use& use, const Operand& a,
                              const Named& of_a, const Operand& b) {
  if (without_ones(a.extents) == without_ones(b.extents)) return of_a;
  const auto* setting = std::get_if<ir::Setting>(&state.call(use).args[ir::kAxisArgument]);
  if (setting == nullptr || !std::holds_alternative<std::int64_t>(*setting)) return std::nullopt;
  // The axis is one of the table, which may have further dimensions before it.
  const Operand* table = use.at(ir::table_argument(state.call(use).op));
  const std::size_t of_table = ir::indexed_axis(state.call(use));
  if (table == nullptr || of_table + a.extents.size() < table->extents.size()) return std::nullopt;
  const std::size_t axis = of_table + a.extents.size() - table->extents.size();
  if (axis >= a.extents.size()) return std::nullopt;
  layout::Shape dims;
  for (std::size_t d = 0; d < a.extents.size(); ++d)
    if (d != axis) dims.push_back(static_cast<std::int64_t>(d));
  return reduced_or_none(of_a, a.extents, dims);
}

}  // namespace

// The verifier has not seen the call yet: axes that do not exist are passed over.
layout::Shape folded_dims(const State& state, const Use& use, const Operand& source) {
  layout::Shape dims;
  const std::int64_t rank = std::ssize(source.extents);
  for (const std::int64_t axis : ir::folded_axes(state.call(use))) {
    const std::int64_t dim = axis < 0 ? axis + rank : axis;
    if (dim >= 0 && dim < rank && std::ranges::find(dims, dim) == dims.end()) dims.push_back(dim);
  }
  std::ranges::sort(dims);
  return dims;
}

bool are_alike(const State& state, const Use& use, const Operand& a, const Operand& b) {
  if (!combines(use, a, b) || !state.is_local(a.buffer) || !state.is_local(b.buffer)) return false;
  if (a.is_whole && b.is_whole) return without_ones(a.extents) == without_ones(b.extents);
  return is_same_part(state, use, a, b);
}

namespace {

std::optional<Named> related_shapes(const State& state, const Use& use, const Operand& a,
                                    const Named& of_a, const Operand& b) {
  switch (use.kind) {
    case UseKind::Elementwise:
      return stretched(a, of_a, b);
    case UseKind::Reduction:
      return a.arg == 1 && b.arg == 0 ? folded(state, use, a, of_a) : std::nullopt;
    case UseKind::Indexed:
      if (a.arg != ir::tile_argument(state.call(use).op) || b.arg != ir::kIndexArgument)
        return std::nullopt;
      return index_of(state, use, a, of_a, b);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<Named> related(const State& state, const Use& use, const Operand& a,
                             const Named& of_a, const Operand& b) {
  if (are_alike(state, use, a, b)) return of_a;
  if (!a.is_whole || !b.is_whole) return std::nullopt;
  std::optional<Named> out = related_shapes(state, use, a, of_a, b);
  // The verifier has not seen the call: its shapes need not go together.
  const Result<std::int64_t> elements = layout::element_count(b.extents);
  const bool fits = out && elements && out->layout.size() == *elements;
  return fits ? out : std::nullopt;
}

}  // namespace ww::infer
