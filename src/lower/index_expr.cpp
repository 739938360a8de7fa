// SPDX-License-Identifier: Apache-2.0
#include "lower/index_expr.h"

#include <algorithm>
#include <limits>

#include "base/wide.h"
#include "ir/build.h"
#include "layout/canonical.h"
#include "layout/group.h"
#include "layout/views.h"

namespace ww::lower {
namespace {

using ir::Buffer;
using ir::ExprId;
using ir::ExprOp;
using ir::Function;
using num::DType;

constexpr std::int64_t kMaxInt32 = std::numeric_limits<std::int32_t>::max();

// --- plans ---------------------------------------------------------------------------------------

Result<void> require_flat(const Buffer& buffer) {
  if (!buffer.layout) return {};
  const layout::TileLayout& tile = buffer.layout->tile();
  if (!tile.offset().is_constant())
    return fail(diag(DiagKind::NotLowered,
                     "the layout of `{}` has an offset that is known at run time only", buffer.name)
                    .with_span(buffer.span));
  if (tile.has_unknown_extent()) return {};
  for (const layout::Axis axis : layout::moving_axes(tile)) {
    if (axis == layout::axes::m()) continue;
    return fail(diag(DiagKind::BadBuffer,
                     "an element of `{}` has no place in one memory: its layout goes along `{}`",
                     buffer.name, axis.name())
                    .with_span(buffer.span));
  }
  return {};
}

// The shape as the layout sees it: an outermost extent of run time is `?`.
std::optional<layout::Shape> shape_for(const Function& f, const Buffer& buffer,
                                       const layout::Layout& layout) {
  layout::Shape out;
  for (std::size_t d = 0; d < buffer.shape.size(); ++d) {
    const bool is_open = d == 0 && layout.tile().has_unknown_extent();
    const auto extent = is_open ? layout::kUnknownExtent : ir::const_int(f, buffer.shape[d]);
    if (!extent) return std::nullopt;
    out.push_back(*extent);
  }
  return out;
}

void take_layout(const Function& f, const Buffer& buffer, const layout::Layout& layout,
                 FlatPlan& plan) {
  plan.swizzle = layout.swizzle();
  plan.tile_offset = layout.tile().offset().constant_on(layout::axes::m());
  const std::optional<layout::Shape> shape = shape_for(f, buffer, layout);
  const Result<layout::Grouped> grouped = shape && !shape->empty()
                                              ? layout::group(layout, *shape)
                                              : fail(DiagKind::NotGroupable, "no constant shape");
  plan.is_grouped = grouped.has_value();
  const std::size_t dims = plan.is_grouped ? buffer.shape.size() : 1;
  for (std::size_t d = 0; d < dims; ++d) {
    layout::Iters iters = plan.is_grouped ? layout::Iters(grouped->dim(d)) : layout.tile().shard();
    layout::merge_iters(iters);
    plan.dims.push_back(iters);
  }
}

void add_offset(Function& f, ExprId amount, FlatPlan& plan) {
  if (const auto constant = ir::const_int(f, amount)) {
    plan.offset += *constant;
    return;
  }
  // Both are integers: types meet.
  plan.runtime_offset = plan.runtime_offset.valid()
                            ? ir::index_binary(f, ExprOp::Add, plan.runtime_offset, amount)
                            : amount;
}

void take_offsets(Function& f, const Buffer& buffer, const ir::Facts& facts, FlatPlan& plan) {
  if (buffer.elem_offset.valid()) add_offset(f, buffer.elem_offset, plan);
  if (!buffer.byte_offset.valid()) return;
  const int bits = storage_bits(buffer.dtype);
  if (bits < 8) {
    const ExprId two = ir::int_imm(f, f[buffer.byte_offset].type.dtype, 8 / bits);
    add_offset(f, ir::index_binary(f, ExprOp::Mul, buffer.byte_offset, two), plan);
  } else if (ir::divisor_of(f, buffer.byte_offset, facts) % (bits / 8) == 0) {
    const ExprId size = ir::int_imm(f, f[buffer.byte_offset].type.dtype, bits / 8);
    const ExprId whole = ir::index_binary(f, ExprOp::FloorDiv, buffer.byte_offset, size);
    add_offset(f, ir::simplify(f, whole, facts), plan);
  } else {
    plan.rest_bytes = buffer.byte_offset;
  }
}

// One past the last place that the buffer can touch.
Result<std::optional<std::int64_t>> reach_of(const Function& f, ir::BufferId id) {
  const Buffer& buffer = f[id];
  if (buffer.origin != ir::BufferOrigin::View) return storage_size(f, buffer);
  const Buffer& base = f[buffer.base];
  const auto elements = WW_TRY(storage_size(f, base));
  if (!elements) return elements;
  const auto bits = checked_mul(*elements, storage_bits(base.dtype));
  return bits ? std::optional(*bits / storage_bits(buffer.dtype)) : std::nullopt;
}

// --- expressions ---------------------------------------------------------------------------------

/// Arithmetic in one integer type; nothing can fail.
class Arithmetic {
 public:
  Arithmetic(Function& f, DType dtype) : f_(f), dtype_(dtype) {}

  ExprId number(std::int64_t value) { return ir::int_imm(f_, dtype_, value); }
  ExprId of(ExprId value) { return ir::cast(f_, value, ir::Type::of(dtype_)).value(); }
  ExprId op(ExprOp kind, ExprId a, ExprId b) { return ir::index_binary(f_, kind, a, b); }
  ExprId sum(ExprId a, ExprId b) { return a.valid() ? op(ExprOp::Add, a, b) : b; }
  ExprId scaled(ExprId a, std::int64_t by) { return by == 1 ? a : op(ExprOp::Mul, a, number(by)); }
  ExprId divided(ExprId a, std::int64_t by) {
    return by == 1 ? a : op(ExprOp::FloorDiv, a, number(by));
  }
  ExprId reduced(ExprId a, std::int64_t by) { return op(ExprOp::FloorMod, a, number(by)); }

  /// Σ digit · stride of an index over some iters, added to `so_far`.
  ExprId spread(ExprId so_far, ExprId index, const layout::Iters& iters) {
    std::int64_t inside = 1;
    for (std::size_t i = iters.size(); i-- > 0;) {
      const layout::Iter& iter = iters[i];
      if (iter.stride != 0 && iter.extent != 1) {
        ExprId digit = divided(index, inside);
        if (i != 0) digit = reduced(digit, iter.extent);
        so_far = sum(so_far, scaled(digit, iter.stride));
      }
      inside *= iter.extent;
    }
    return so_far;
  }

  /// The row-major number of an element, by extents that may be runtime values.
  ExprId row_major(std::span<const ExprId> indices, const std::vector<ExprId>& shape) {
    ExprId out;
    for (std::size_t d = 0; d < indices.size(); ++d) {
      if (out.valid()) out = op(ExprOp::Mul, out, of(shape[d]));
      out = sum(out, of(indices[d]));
    }
    return out.valid() ? out : number(0);
  }

  ExprId swizzled(ExprId place, const layout::Swizzle& s) {
    const std::int64_t unit = std::int64_t{1} << s.per_element();
    const std::int64_t atom = std::int64_t{1} << s.atom();
    const std::int64_t from = s.inner() ? unit * atom : unit;
    const std::int64_t to = s.inner() ? unit : unit * atom;
    const ExprId bits = reduced(divided(place, from), std::int64_t{1} << s.len());
    return op(ExprOp::BitXor, place, scaled(bits, to));
  }

 private:
  Function& f_;
  DType dtype_;
};

// The place before the swizzle.
ExprId plain_place(Function& f, const FlatPlan& plan, std::span<const ExprId> indices,
                   DType dtype) {
  Arithmetic in(f, dtype);
  if (plan.is_row_major) return in.row_major(indices, plan.shape);
  ExprId out;
  if (plan.is_grouped) {
    for (std::size_t d = 0; d < indices.size(); ++d)
      out = in.spread(out, in.of(indices[d]), plan.dims[d]);
  } else {
    out = in.spread(out, in.row_major(indices, plan.shape), plan.dims[0]);
  }
  if (plan.tile_offset != 0) out = in.sum(out, in.number(plan.tile_offset));
  return out.valid() ? out : in.number(0);
}

ExprId whole_place(Function& f, const FlatPlan& plan, std::span<const ExprId> indices, DType dtype,
                   ir::Simplifier& simplifier) {
  Arithmetic in(f, dtype);
  ExprId out = plain_place(f, plan, indices, dtype);
  if (!plan.swizzle.is_none()) out = in.swizzled(simplifier.simplify(out), plan.swizzle);
  if (plan.runtime_offset.valid()) out = in.sum(out, in.of(plan.runtime_offset));
  if (plan.offset != 0) out = in.sum(out, in.number(plan.offset));
  return simplifier.simplify(out);
}

}  // namespace

Result<std::optional<std::int64_t>> storage_size(const Function& function, const Buffer& buffer) {
  std::int64_t offset = 0;
  for (const ExprId amount : {buffer.elem_offset, buffer.byte_offset}) {
    if (!amount.valid()) continue;
    const auto value = ir::const_int(function, amount);
    if (!value) return std::nullopt;
    const int bits = storage_bits(buffer.dtype);
    offset += amount == buffer.elem_offset ? *value : (*value * 8 + bits - 1) / bits;
  }
  const std::optional<layout::Layout> all = ir::layout_of(function, buffer);
  if (!all || all->tile().has_unknown_extent() || !all->tile().offset().is_constant())
    return std::nullopt;
  const Result<layout::Layout> own = layout::storage(*all);
  const Result<std::int64_t> span =
      own ? layout::memory_span(*own) : Result<std::int64_t>(fail(own.error()));
  if (!span) return fail(Diag(span.error()).with_span(buffer.span));
  return std::max<std::int64_t>(1, *span + offset);
}

Result<FlatPlan> flat_plan(Function& function, ir::BufferId id, const ir::Facts& facts) {
  const Buffer& buffer = function[id];
  if (buffer.scope == ir::Scope::Tmem)
    return fail(diag(DiagKind::BadBuffer,
                     "an element of `{}` has no address: it is in tensor memory", buffer.name)
                    .with_span(buffer.span));
  WW_TRY_VOID(require_flat(buffer));
  FlatPlan plan;
  plan.shape = buffer.shape;
  plan.reach = WW_TRY(reach_of(function, id));
  const std::optional<layout::Layout> layout = ir::layout_of(function, buffer);
  plan.is_row_major = !layout;
  if (layout) take_layout(function, buffer, *layout, plan);
  take_offsets(function, buffer, facts, plan);
  return plan;
}

ExprId place_of(Function& function, const FlatPlan& plan, std::span<const ExprId> indices,
                ir::Simplifier& simplifier, const ir::Facts& facts) {
  if (plan.reach && *plan.reach <= kMaxInt32)
    return whole_place(function, plan, indices, DType::Int32, simplifier);
  const ExprId wide = whole_place(function, plan, indices, DType::Int64, simplifier);
  const ir::Range all = ir::range_of(function, wide, facts);
  if (all.min < -kMaxInt32 - 1 || all.max > kMaxInt32) return wide;
  return whole_place(function, plan, indices, DType::Int32, simplifier);
}

bool is_contiguous(Function& function, const FlatPlan& plan, std::span<const ExprId> indices,
                   int lanes, const ir::Facts& facts) {
  if (plan.is_row_major) return true;
  if (!plan.is_grouped || plan.dims.empty() || plan.dims.back().empty()) return false;
  const layout::Iters& last = plan.dims.back();
  if (last.back().stride != 1) return false;
  const auto divides = [&](std::int64_t n) { return n % lanes == 0; };
  if (last.size() > 1 &&
      !(divides(last.back().extent) && divides(ir::divisor_of(function, indices.back(), facts))))
    return false;
  if (plan.swizzle.is_none()) return true;
  // Units of the swizzle stay together.
  if ((std::int64_t{1} << plan.swizzle.per_element()) % lanes != 0) return false;
  const ExprId place = plain_place(function, plan, indices, DType::Int64);
  return divides(ir::divisor_of(function, place, facts));
}

}  // namespace ww::lower
