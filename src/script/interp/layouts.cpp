// SPDX-License-Identifier: Apache-2.0
#include "script/interp/evaluator.h"

#include <fmt/format.h>

#include "base/fail_at.h"
#include "layout/text.h"

namespace ww::script {
namespace {

using layout::Axis;
using layout::Iter;

bool is_amount(const Value& v) { return v.is(Kind::Int) || v.is(Kind::Bool); }

// A stride: `4`, `4 @ laneid`, `laneid` alone (1 @ laneid).
Result<Iter> stride_of(Context& in, const Value& value, std::int64_t extent, Span span) {
  if (value.is(Kind::AxisTerm)) {
    const auto& term = value.as<AxisTermObject>();
    return Iter{extent, WW_TRY(as_integer(in, {of_int(term.amount), span}, "a stride")), term.axis};
  }
  if (value.is(Kind::Axis)) return Iter{extent, 1, value.as<AxisObject>().axis};
  return Iter{extent, WW_TRY(as_integer(in, {value, span}, "a stride")), Axis()};
}

Result<layout::Iters> row_major(Context& in, const std::vector<Value>& extents, Span span) {
  layout::Shape shape;
  for (const Value& e : extents) {
    if (e.is(Kind::Tuple))
      return fail_at(span, DiagKind::Syntax,
                     "found a comma between two tuples, expected `extents : "
                     "strides`");
    shape.push_back(WW_TRY(as_integer(in, {e, span}, "an extent")));
  }
  Result<layout::TileLayout> tile = layout::TileLayout::row_major(shape);
  if (!tile) return fail(std::move(tile).error().with_span(span));
  return tile->shard();
}

Result<layout::Iters> iters_of(Context& in, const Value& index, Span span) {
  if (!index.is(Kind::Slice))
    return row_major(in, WW_TRY(as_sequence(in, {index, span}, "the extents")), span);
  const auto& slice = index.as<SliceObject>();
  if (!slice.step.is(Kind::None))
    return fail_at(span, DiagKind::Syntax, "found a second `:`, expected `extents : strides`");
  const std::vector<Value> extents = WW_TRY(as_sequence(in, {slice.begin, span}, "the extents"));
  const bool single = slice.end.is(Kind::AxisTerm) || slice.end.is(Kind::Axis);
  const std::vector<Value> strides =
      single ? std::vector<Value>{slice.end}
             : WW_TRY(as_sequence(in, {slice.end, span}, "the strides"));
  if (extents.size() != strides.size())
    return fail_at(span, DiagKind::CountMismatch, "{} extent{} and {} stride{}", extents.size(),
                   extents.size() == 1 ? "" : "s", strides.size(), strides.size() == 1 ? "" : "s");
  layout::Iters out;
  for (std::size_t i = 0; i < extents.size(); ++i)
    out.push_back(WW_TRY(
        stride_of(in, strides[i], WW_TRY(as_integer(in, {extents[i], span}, "an extent")), span)));
  return out;
}

Result<Value> add_specs(Context& in, SpecObject a, const Value& b, Span span) {
  if (b.is(Kind::AxisTerm)) {
    const auto& term = b.as<AxisTermObject>();
    a.offset.add(term.axis, WW_TRY(as_integer(in, {of_int(term.amount), span}, "an offset")));
  } else if (b.is(Kind::Axis)) {
    a.offset.add(b.as<AxisObject>().axis, 1);
  } else if (is_amount(b)) {
    a.offset.add(Axis(), WW_TRY(as_integer(in, {b, span}, "an offset")));
  } else {
    const auto& other = b.as<SpecObject>();
    if (a.has_shard && other.has_shard)
      return fail_at(span, DiagKind::Syntax, "found a second `S[…]`, expected `R[…]` or an offset");
    if (other.has_shard) a.shard = other.shard;
    a.has_shard = a.has_shard || other.has_shard;
    a.replica.append(other.replica);
    a.offset.add(other.offset);
  }
  return in.heap.wrap(Kind::Spec, std::move(a));
}

bool is_spec_part(const Value& v) {
  return v.is(Kind::Spec) || v.is(Kind::AxisTerm) || v.is(Kind::Axis) || is_amount(v);
}

}  // namespace

std::optional<Result<Value>> layout_binary(Context& in, Op op, const Value& a, const Value& b,
                                           Span span) {
  if (op == Op::MatMul && is_amount(a) && b.is(Kind::Axis)) {
    AxisTermObject term;
    term.amount = a.is(Kind::Bool) ? Wide{a.truth} : a.integer;
    term.axis = b.as<AxisObject>().axis;
    return in.heap.wrap(Kind::AxisTerm, term);
  }
  if (op == Op::Add && a.is(Kind::Spec) && is_spec_part(b))
    return add_specs(in, a.as<SpecObject>(), b, span);
  if (op == Op::Add && b.is(Kind::Spec) && is_spec_part(a))
    return add_specs(in, b.as<SpecObject>(), a, span);
  if (op == Op::Add && a.is(Kind::AxisTerm) && is_spec_part(b)) {
    Result<Value> first = add_specs(in, SpecObject{}, a, span);
    return first ? add_specs(in, first->as<SpecObject>(), b, span) : first;
  }
  return std::nullopt;
}

Result<Value> make_spec(Context& in, const Value& maker, const Value& index, Span span) {
  SpecObject spec;
  layout::Iters iters = WW_TRY(iters_of(in, index, span));
  if (maker.id == 'R') {
    spec.replica = std::move(iters);
  } else {
    spec.shard = std::move(iters);
    spec.has_shard = true;
  }
  return in.heap.wrap(Kind::Spec, std::move(spec));
}

Result<Value> layout_result(Context& in, Result<layout::Layout> layout, Span span) {
  return layout_value(in, WW_TRY(placed(std::move(layout), span)));
}

Result<layout::Layout> as_layout(Context& in, const Given& value, std::string_view what) {
  if (value.is(Kind::Opaque)) return fail(needs_opaque(in, value));
  if (value.is(Kind::Layout)) return value.as<LayoutObject>().layout;
  if (value.is(Kind::Spec)) {
    const auto& spec = value.as<SpecObject>();
    Result<layout::TileLayout> tile =
        layout::TileLayout::make(spec.shard, spec.replica, spec.offset);
    if (!tile) return fail(std::move(tile).error().with_span(value.span));
    return layout::Layout(*std::move(tile));
  }
  if (value.is(Kind::Str)) return placed(layout::parse_layout(text_of(value)), value.span);
  return fail_at(value.span, DiagKind::BadType, "{} is {}, expected a layout", what,
                 type_name(value));
}

// --- apply ---------------------------------------------------------------------------------------

namespace {

// Row-major flat index of a coordinate.
Result<Value> flatten(Context& in, const std::vector<Value>& coordinate,
                      const std::vector<Value>& shape, Span span) {
  if (coordinate.size() != shape.size())
    return fail_at(span, DiagKind::RankMismatch, "{} coordinates for a shape of {} dimensions",
                   coordinate.size(), shape.size());
  Value flat = of_int(0);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (d != 0) flat = WW_TRY(binary(in, Op::Mul, flat, shape[d], span));
    const bool is_first = d == 0 || (flat.is(Kind::Int) && flat.integer == 0);
    flat = is_first ? coordinate[d] : WW_TRY(binary(in, Op::Add, flat, coordinate[d], span));
  }
  return flat;
}

Result<Value> add_term(Context& in, const Value& sum, const Value& digit, std::int64_t stride,
                       Span span) {
  if (stride == 0 || (digit.is(Kind::Int) && digit.integer == 0)) return sum;
  const Value term = stride == 1 ? digit : WW_TRY(binary(in, Op::Mul, digit, of_int(stride), span));
  if (sum.is(Kind::Int) && sum.integer == 0) return term;
  return binary(in, Op::Add, sum, term, span);
}

// The swizzled address: q ^ ((q & mask) >> at), in units of 2^per_element.
Result<Value> swizzled(Context& in, const Value& address, const layout::Swizzle& s, Span span) {
  const Value mask = of_int((Wide{1} << s.len()) - 1);
  const Value unit = WW_TRY(binary(in, Op::Shr, address, of_int(s.per_element()), span));
  Value moved = none();
  if (s.inner()) {
    moved = WW_TRY(binary(in, Op::Shr, unit, of_int(s.atom()), span));
    moved = WW_TRY(binary(in, Op::BitAnd, moved, mask, span));
    moved = WW_TRY(binary(in, Op::Shl, moved, of_int(s.per_element()), span));
  } else {
    moved = WW_TRY(binary(in, Op::BitAnd, unit, mask, span));
    moved = WW_TRY(binary(in, Op::Shl, moved, of_int(s.atom() + s.per_element()), span));
  }
  return binary(in, Op::BitXor, address, moved, span);
}

}  // namespace

Result<Value> apply_layout(Context& in, const layout::Layout& layout,
                           const std::vector<Value>& coordinate,
                           const std::optional<std::vector<Value>>& shape, Span span) {
  const layout::Iters& shard = layout.tile().shard();
  Value flat = none();
  if (shape) {
    flat = WW_TRY(flatten(in, coordinate, *shape, span));
  } else if (coordinate.size() == 1) {
    flat = coordinate[0];
  } else {
    std::vector<Value> extents;
    for (const Iter& iter : shard) extents.push_back(of_int(iter.extent));
    flat = WW_TRY(flatten(in, coordinate, extents, span));
  }
  std::vector<std::pair<Axis, Value>> places;
  for (const Axis axis : layout.tile().axes())
    places.emplace_back(axis, of_int(layout.tile().offset().constant_on(axis)));
  std::int64_t inner = layout.tile().size();
  for (std::size_t i = 0; i < shard.size(); ++i) {
    inner /= shard[i].extent;
    Value digit = flat;
    if (inner != 1) digit = WW_TRY(binary(in, Op::FloorDiv, digit, of_int(inner), span));
    if (i != 0) digit = WW_TRY(binary(in, Op::Mod, digit, of_int(shard[i].extent), span));
    for (auto& [axis, place] : places)
      if (axis == shard[i].axis) place = WW_TRY(add_term(in, place, digit, shard[i].stride, span));
  }
  DictObject out;
  for (auto& [axis, place] : places) {
    if (axis == Axis() && layout.is_swizzled())
      place = WW_TRY(swizzled(in, place, layout.swizzle(), span));
    out.items.emplace_back(in.heap.str(std::string(axis.name())), place);
  }
  return in.heap.wrap(Kind::Dict, std::move(out));
}

namespace {

std::optional<Value> swizzle_attribute(const layout::Swizzle& swizzle, std::string_view name) {
  if (name == "per_element") return of_int(swizzle.per_element());
  if (name == "swizzle_len") return of_int(swizzle.len());
  if (name == "atom_len") return of_int(swizzle.atom());
  if (name == "swizzle_inner") return of_bool(swizzle.inner());
  return std::nullopt;
}

Value axis_value(Context& in, Axis axis) { return in.heap.wrap(Kind::Axis, AxisObject{{}, axis}); }

Value iters_value(Context& in, const layout::Iters& iters) {
  std::vector<Value> out;
  for (const Iter& iter : iters) out.push_back(in.heap.wrap(Kind::Iter, IterObject{{}, iter}));
  return in.heap.tuple(std::move(out));
}

Value offset_value(Context& in, const layout::Offsets& offset) {
  DictObject out;
  for (const Axis axis : offset.axes())
    out.items.emplace_back(axis_value(in, axis), of_int(offset.constant_on(axis)));
  return in.heap.wrap(Kind::Dict, std::move(out));
}

std::optional<Value> iter_attribute(Context& in, const Iter& iter, std::string_view name) {
  if (name == "extent") return of_int(iter.extent);
  if (name == "stride") return of_int(iter.stride);
  if (name == "axis") return axis_value(in, iter.axis);
  return std::nullopt;
}

}  // namespace

std::optional<Value> layout_attribute(Context& in, const Value& value, std::string_view name) {
  if (value.is(Kind::Axis))
    return name == "name"
               ? std::optional(in.heap.str(std::string(value.as<AxisObject>().axis.name())))
               : std::nullopt;
  if (value.is(Kind::Iter)) return iter_attribute(in, value.as<IterObject>().iter, name);
  if (value.is(Kind::Swizzle)) return swizzle_attribute(value.as<SwizzleObject>().swizzle, name);
  const layout::Layout& layout = value.as<LayoutObject>().layout;
  if (name == "tile_layout") return layout_value(in, layout.tile());
  if (name == "swizzle") return in.heap.wrap(Kind::Swizzle, SwizzleObject{{}, layout.swizzle()});
  if (layout.is_swizzled()) return swizzle_attribute(layout.swizzle(), name);
  if (name == "shard") return iters_value(in, layout.tile().shard());
  if (name == "replica") return iters_value(in, layout.tile().replica());
  if (name == "offset" && layout.tile().offset().is_constant())
    return offset_value(in, layout.tile().offset());
  return std::nullopt;
}

}  // namespace ww::script
