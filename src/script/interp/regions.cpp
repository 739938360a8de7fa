// SPDX-License-Identifier: Apache-2.0
#include "script/interp/evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>

#include "base/fail_at.h"
#include "base/wide.h"
#include "ir/equal.h"
#include "ir/print/print.h"

namespace ww::script {
namespace {

using num::DType;

// One dimension's part of an index.
struct Part {
  bool is_slice = false;
  Value index;  // or
  SliceObject slice;
};

Result<std::vector<Part>> parts_of(Context& in, const Value& index, Span span) {
  std::vector<Value> items;
  if (index.is(Kind::Tuple) || index.is(Kind::List))
    items = index.as<SeqObject>().items;
  else
    items = {index};
  std::vector<Part> out;
  for (const Value& item : items) {
    if (item.is(Kind::Opaque)) return fail(needs_opaque(in, {item, span}));
    Part part;
    part.is_slice = item.is(Kind::Slice);
    if (part.is_slice)
      part.slice = item.as<SliceObject>();
    else
      part.index = item;
    out.push_back(part);
  }
  return out;
}

Diag rank_error(const ir::Function& f, ir::BufferId id, std::size_t count, Span span) {
  const ir::Buffer& b = f[id];
  return diag_at(span, DiagKind::RankMismatch, "{} {} for `{}`, which has {} dimension{}", count,
                 count == 1 ? "index" : "indices", b.name, b.shape.size(),
                 b.shape.size() == 1 ? "" : "s")
      .with_note("declared here", b.span);
}

// The bounds of a slice, as expressions; missing ones are those of the dimension.
struct DimBounds {
  ir::ExprId begin, end;
};
Result<DimBounds> dim_bounds(Context& in, ir::BufferId id, std::size_t dim,
                             const SliceObject& slice, Span span) {
  ir::Function& f = in.fn();
  DimBounds out;
  out.begin = slice.begin.is(Kind::None) ? ir::int_imm(f, DType::Int32, 0, span)
                                         : WW_TRY(index_expr(in, {slice.begin, span}));
  out.end = slice.end.is(Kind::None) ? f[id].shape[dim] : WW_TRY(index_expr(in, {slice.end, span}));
  // Negative constants count from the end, as in Python.
  for (ir::ExprId* bound : {&out.begin, &out.end})
    if (const auto value = ir::const_int(f, *bound); value && *value < 0)
      *bound =
          WW_TRY(ir::binary(f, ir::ExprOp::Add, {f[id].shape[dim], false}, {*bound, true}, span));
  return out;
}

// A range with a constant start and extent must be inside, unless it `may_leave` its buffer.
std::optional<Diag> range_error(const ir::Function& f, ir::BufferId id, std::size_t dim,
                                const ir::RangeExpr& range, bool may_leave, Span span) {
  const auto begin = ir::const_int(f, range.min);
  const auto size = ir::const_int(f, range.extent);
  const auto whole = ir::const_int(f, f[id].shape[dim]);
  const bool is_empty = size && *size <= 0;
  const bool is_beyond = begin && size && whole && *begin + *size > *whole;
  const bool leaves = !may_leave && begin && (*begin < 0 || is_beyond);
  if (!is_empty && !leaves) return std::nullopt;
  Diag out =
      diag_at(span, DiagKind::OutOfBounds, "{}:{} in dimension {} of `{}`, which has extent {}{}",
              begin ? std::to_string(*begin) : "…",
              begin && size ? std::to_string(*begin + *size) : "…", dim, f[id].name,
              whole ? std::to_string(*whole) : "of run time", is_empty ? ", is empty" : "")
          .with_note("declared here", f[id].span);
  if (is_beyond && !is_empty)
    out.notes.push_back(
        {"a copy may read past the end with `fill_value=…`, and leaves it alone with `clip=True`",
         {}});
  return out;
}

// `-2:2` of 64 elements is 62:2, and empty.
bool counts_from_end(const ir::Function& f, const Value& bound) {
  if (bound.is(Kind::Int)) return bound.integer < 0;
  return bound.is(Kind::Ir) && ir::const_int(f, bound.expr()).value_or(0) < 0;
}

Result<ir::RangeExpr> range_of_slice(Context& in, ir::BufferId id, std::size_t dim,
                                     const SliceObject& slice, bool may_leave, Span span) {
  const DimBounds bounds = WW_TRY(dim_bounds(in, id, dim, slice, span));
  const ir::ExprId extent = WW_TRY(region_extent(in, bounds.begin, bounds.end, span));
  const ir::RangeExpr range{bounds.begin, extent};
  const bool is_begin_from_end = counts_from_end(in.fn(), slice.begin);
  std::optional<Diag> problem =
      range_error(in.fn(), id, dim, range, may_leave && !is_begin_from_end, span);
  if (!problem) return range;
  if (is_begin_from_end || counts_from_end(in.fn(), slice.end))
    problem->notes.insert(problem->notes.begin(),
                          {"a negative bound counts from the end of the dimension", {}});
  return fail(std::move(*problem));
}

Diag bad_step(std::int64_t size, std::int64_t step, Span span) {
  return diag_at(span, DiagKind::OutOfBounds,
                 "a slice of {} elements by steps of {}, expected both to be at least 1", size,
                 step);
}

// B[a:b:s]: a vector of elements.
Result<ir::ExprId> ramp_of_slice(Context& in, ir::BufferId id, std::size_t dim,
                                 const SliceObject& slice, Span span) {
  const DimBounds bounds = WW_TRY(dim_bounds(in, id, dim, slice, span));
  const std::int64_t step = WW_TRY(as_integer(in, {slice.step, span}, "the step of a slice"));
  const ir::ExprId extent = WW_TRY(region_extent(in, bounds.begin, bounds.end, span));
  const std::int64_t size =
      WW_TRY(as_integer(in, {of_expr(extent), span}, "the extent of a slice with a step"));
  if (step < 1 || size < 1) return fail(bad_step(size, step, span));
  const ir::ExprId stride = ir::int_imm(in.fn(), in.fn()[bounds.begin].type.dtype, step, span);
  return ir::ramp(in.fn(), bounds.begin, stride, (size + step - 1) / step, span);
}

// A number that divides every value of an index, which does not overflow.
std::int64_t index_divisor(const ir::Function& f, ir::ExprId id, int depth = 0) {
  constexpr int kMaxDepth = 32;
  const ir::Expr& e = f[id];
  if (const auto value = ir::const_int(f, id)) return *value == 0 ? 0 : std::abs(*value);
  if (depth == kMaxDepth) return 1;
  const auto of = [&](std::size_t i) { return index_divisor(f, e.args[i], depth + 1); };
  constexpr std::int64_t kMaxFactor = std::int64_t{1} << 31;
  if (e.op == ir::ExprOp::Cast) return of(0);
  if (e.op == ir::ExprOp::Add || e.op == ir::ExprOp::Sub) return std::gcd(of(0), of(1));
  if (e.op == ir::ExprOp::Mul) {
    const std::int64_t a = of(0), b = of(1);
    return a < kMaxFactor && b < kMaxFactor ? a * b : 1;
  }
  return 1;
}

// Every s-th element of a dimension, and which of them.
struct SteppedRange {
  Every every = {};
  ir::RangeExpr range = {};
};
Result<SteppedRange> stepped_range(Context& in, ir::BufferId id, std::size_t dim, ir::ExprId begin,
                                   std::int64_t count, std::int64_t step, Span span) {
  ir::Function& f = in.fn();
  const auto whole = ir::const_int(f, f[id].shape[dim]);
  if (!whole)
    return fail(
        diag_at(span, DiagKind::NeedsConstant,
                "a step of {} in dimension {} of `{}`, whose extent is known at launch only", step,
                dim, f[id].name)
            .with_note("declared here", f[id].span));
  if (*whole % step != 0)
    return fail(diag_at(span, DiagKind::Indivisible,
                        "a step of {} in dimension {} of `{}`, which has {} elements, expected a "
                        "divisor of that",
                        step, dim, f[id].name, *whole)
                    .with_note("declared here", f[id].span));
  const auto number = [&](std::int64_t value) { return ir::int_imm(f, DType::Int32, value, span); };
  if (const auto first = ir::const_int(f, begin)) {
    const std::int64_t offset = (*first % step + step) % step;
    return SteppedRange{{step, offset}, {number((*first - offset) / step), number(count)}};
  }
  if (index_divisor(f, begin) % step != 0)
    return fail_at(span, DiagKind::Unprovable,
                   "a slice from `{}` on by steps of {}, expected a start that is known to be a "
                   "multiple of {}",
                   ir::print(f, begin), step, step);
  const ir::ExprId start =
      WW_TRY(ir::binary(f, ir::ExprOp::FloorDiv, {begin, false}, {number(step), true}, span));
  return SteppedRange{{step, 0}, {start, number(count)}};
}

Result<SteppedRange> stepped_slice(Context& in, ir::BufferId id, std::size_t dim,
                                   const SliceObject& slice, bool may_leave, Span span) {
  const std::int64_t step = WW_TRY(as_integer(in, {slice.step, span}, "the step of a slice"));
  const ir::RangeExpr all = WW_TRY(range_of_slice(in, id, dim, slice, may_leave, span));
  const std::int64_t size =
      WW_TRY(as_integer(in, {of_expr(all.extent), span}, "the extent of a slice with a step"));
  if (step < 1 || size < 1) return fail(bad_step(size, step, span));
  return stepped_range(in, id, dim, all.min, (size + step - 1) / step, step, span);
}

bool has_step(const Part& part) {
  if (!part.is_slice || part.slice.step.is(Kind::None)) return false;
  return !(part.slice.step.is(Kind::Int) && part.slice.step.integer == 1);
}

Result<BufferIndex> element_index(Context& in, ir::BufferId id, const std::vector<Part>& parts,
                                  Span span) {
  BufferIndex out;
  out.is_element = true;
  for (std::size_t d = 0; d < parts.size(); ++d)
    out.indices.push_back(has_step(parts[d])
                              ? WW_TRY(ramp_of_slice(in, id, d, parts[d].slice, span))
                              : WW_TRY(index_expr(in, {parts[d].index, span})));
  return out;
}

}  // namespace

// end - begin, with the common `i*k : i*k + k` recognised, so that extents are constants where they
// can.
Result<ir::ExprId> region_extent(Context& in, ir::ExprId begin, ir::ExprId end, Span span) {
  constexpr int kMaxStripped = 64;
  ir::Function& f = in.fn();
  for (int stripped = 0; stripped < kMaxStripped; ++stripped) {
    if (ir::const_int(f, begin) == 0) return end;
    if (f[end].op != ir::ExprOp::Add) break;
    const ir::ExprId left = f[end].args[0];
    const ir::ExprId right = f[end].args[1];
    if (ir::same(f, left, begin)) return right;
    if (ir::same(f, right, begin)) return left;
    // (a + b) + k over a + b0 … : strip a common first summand.
    if (f[begin].op != ir::ExprOp::Add || !ir::same(f, left, f[begin].args[0])) break;
    begin = f[begin].args[1];
    end = right;
  }
  return linear_difference(in, end, begin, span);
}

Result<BufferIndex> buffer_index(Context& in, ir::BufferId id, const Value& index, Span span,
                                 bool may_leave) {
  const std::vector<Part> parts = WW_TRY(parts_of(in, index, span));
  const std::size_t rank = in.fn()[id].shape.size();
  if (parts.size() > rank) return fail(rank_error(in.fn(), id, parts.size(), span));
  // An element, or a vector of neighbours in the last dimension.
  const auto is_index = [&](const Part& part) {
    return !part.is_slice || (has_step(part) && &part == &parts.back());
  };
  const bool is_element = parts.size() == rank && std::ranges::all_of(parts, is_index);
  const bool is_unit = parts.empty() && rank <= 1;  // x[()]
  if (is_element || is_unit) return element_index(in, id, parts, span);
  BufferIndex out;
  out.buffer = id;
  std::vector<Every> every(rank);
  for (std::size_t d = 0; d < rank; ++d) {
    if (d >= parts.size()) {
      out.ranges.push_back({ir::int_imm(in.fn(), DType::Int32, 0, span), in.fn()[id].shape[d]});
    } else if (has_step(parts[d])) {
      const SteppedRange one = WW_TRY(stepped_slice(in, id, d, parts[d].slice, may_leave, span));
      every[d] = one.every;
      out.ranges.push_back(one.range);
    } else if (parts[d].is_slice) {
      out.ranges.push_back(WW_TRY(range_of_slice(in, id, d, parts[d].slice, may_leave, span)));
    } else {
      const ir::ExprId one = WW_TRY(index_expr(in, {parts[d].index, span}));
      const auto value = ir::const_int(in.fn(), one);
      const auto whole = ir::const_int(in.fn(), in.fn()[id].shape[d]);
      if (value && (*value < 0 || (whole && *value >= *whole)))
        return fail(diag_at(span, DiagKind::OutOfBounds,
                            "index {} in dimension {} of `{}`, which has extent {}", *value, d,
                            in.fn()[id].name, whole ? std::to_string(*whole) : "of run time")
                        .with_note("declared here", in.fn()[id].span));
      out.ranges.push_back({one, ir::int_imm(in.fn(), DType::Int32, 1, span)});
    }
  }
  if (std::ranges::any_of(every, [](const Every& each) { return each.step != 1; }))
    out.buffer = WW_TRY(every_nth(in, id, every, span));
  return out;
}

namespace {

// One element, or the vector of elements that a slice with a step is.
Result<ir::Region> region_of_load(Context& in, const ir::Expr& load, Span span) {
  ir::Region out{load.buffer, {}, span};
  std::vector<Every> every(load.args.size());
  for (std::size_t d = 0; d < load.args.size(); ++d) {
    const ir::Expr& index = in.fn()[load.args[d]];
    if (index.op != ir::ExprOp::Ramp) {
      out.ranges.push_back({load.args[d], ir::int_imm(in.fn(), DType::Int32, 1, span)});
      continue;
    }
    const std::int64_t step =
        WW_TRY(as_integer(in, {of_expr(index.args[1]), span}, "the step of a slice"));
    const std::int64_t lanes = index.type.lanes;
    const ir::ExprId begin = index.args[0];
    const ir::RangeExpr all{begin,
                            ir::int_imm(in.fn(), DType::Int32, (lanes - 1) * step + 1, span)};
    if (auto problem = range_error(in.fn(), load.buffer, d, all, false, span))
      return fail(std::move(*problem));
    const SteppedRange one = WW_TRY(stepped_range(in, load.buffer, d, begin, lanes, step, span));
    every[d] = one.every;
    out.ranges.push_back(one.range);
  }
  if (std::ranges::any_of(every, [](const Every& each) { return each.step != 1; }))
    out.buffer = WW_TRY(every_nth(in, load.buffer, every, span));
  return out;
}

}  // namespace

Result<Value> index_buffer(Context& in, ir::BufferId id, const Value& index, Span span) {
  if (is_in_error(index)) return poison();
  BufferIndex at = WW_TRY(buffer_index(in, id, index, span, true));
  if (at.is_element) return of_expr(ir::load(in.fn(), id, at.indices, 1, span));
  RegionObject region;
  region.region = {at.buffer, std::move(at.ranges), span};
  return in.heap.wrap(Kind::Region, std::move(region));
}

Result<ir::Region> as_region(Context& in, const Value& value, std::string_view what, Span span,
                             bool may_leave) {
  ir::Function& f = in.fn();
  if (value.is(Kind::Region)) {
    const ir::Region& region = value.as<RegionObject>().region;
    for (std::size_t d = 0; d < region.ranges.size(); ++d)
      if (auto problem = range_error(f, region.buffer, d, region.ranges[d], may_leave, region.span))
        return fail(std::move(*problem));
    return region;
  }
  if (value.is(Kind::Buffer)) {
    ir::Region out{value.buffer(), {}, span};
    for (const ir::ExprId extent : f[value.buffer()].shape)
      out.ranges.push_back({ir::int_imm(f, DType::Int32, 0, span), extent});
    return out;
  }
  if (value.is(Kind::Ir) && f[value.expr()].op == ir::ExprOp::Load) {
    return region_of_load(in, f[value.expr()], span);
  }
  if (value.is(Kind::Opaque)) return fail(needs_opaque(in, {value, span}));
  return fail_at(span, DiagKind::BadTileCall, "{} is {}, expected a buffer or a region of one",
                 what, type_name(value));
}

// --- differences of indices ----------------------------------------------------------------------

namespace {

// A sum of expressions times constants. Shared parts are taken apart once, those made last first:
// what they stand on was made before them.
class Linear {
 public:
  explicit Linear(const ir::Function& f) : f_(f) {}

  void add(ir::ExprId id, std::int64_t factor) { open_[id] += factor; }

  /// The sum when all terms but constants cancel out.
  std::optional<std::int64_t> constant() {
    constexpr int kMaxParts = 512;
    constexpr Wide kMaxFactor = Wide{1} << 40;
    for (int parts = 0; !open_.empty(); ++parts) {
      const auto [id, factor] = *open_.begin();
      open_.erase(open_.begin());
      if (factor == 0) continue;
      const bool is_small = factor > -kMaxFactor && factor < kMaxFactor;
      if (parts >= kMaxParts || !is_small || !take_apart(f_[id], factor)) add_term(id, factor);
    }
    const bool cancels =
        std::ranges::all_of(terms_, [](const auto& term) { return term.second == 0; });
    const auto sum = static_cast<std::int64_t>(constant_);
    return cancels && sum == constant_ ? std::optional(sum) : std::nullopt;
  }

 private:
  bool take_apart(const ir::Expr& e, Wide factor) {
    if (e.op == ir::ExprOp::IntImm) {
      constant_ += factor * e.integer;
      return true;
    }
    if (e.op == ir::ExprOp::Add || e.op == ir::ExprOp::Sub) {
      open_[e.args[0]] += factor;
      open_[e.args[1]] += e.op == ir::ExprOp::Add ? factor : -factor;
      return true;
    }
    if (e.op != ir::ExprOp::Mul) return false;
    for (const std::size_t side : {0U, 1U})
      if (const auto k = ir::const_int(f_, e.args[side]); k && *k > -(1 << 30) && *k < (1 << 30)) {
        open_[e.args[1 - side]] += factor * *k;
        return true;
      }
    return false;
  }

  void add_term(ir::ExprId id, Wide factor) {
    for (auto& [term, count] : terms_)
      if (ir::same(f_, term, id)) {
        count += factor;
        return;
      }
    terms_.emplace_back(id, factor);
  }

  const ir::Function& f_;
  std::map<ir::ExprId, Wide, std::greater<>> open_;
  std::vector<std::pair<ir::ExprId, Wide>> terms_;
  Wide constant_ = 0;
};

}  // namespace

// The difference as a constant where all other terms cancel; else the subtraction as it stands.
Result<ir::ExprId> linear_difference(Context& in, ir::ExprId a, ir::ExprId b, Span span) {
  Linear sum(in.fn());
  sum.add(a, 1);
  sum.add(b, -1);
  if (const auto constant = sum.constant())
    return ir::int_imm(in.fn(), DType::Int32, *constant, span);
  return ir::binary(in.fn(), ir::ExprOp::Sub, {a, false}, {b, false}, span);
}

std::optional<Result<Value>> region_attribute(Context& in, const Value& region,
                                              std::string_view name, Span span) {
  const auto number = [&](ir::ExprId id) {
    const auto constant = ir::const_int(in.fn(), id);
    return constant ? of_int(*constant) : of_expr(id);
  };
  if (region.is(Kind::Slice)) {
    const auto& slice = region.as<SliceObject>();
    if (name == "min") return slice.begin;
    if (name != "extent" || slice.begin.is(Kind::None) || slice.end.is(Kind::None))
      return std::nullopt;
    if (!slice.begin.is(Kind::Ir) && !slice.end.is(Kind::Ir))
      return binary(in, Op::Sub, slice.end, slice.begin, span);
    const Result<ir::ExprId> begin = index_expr(in, {slice.begin, span});
    const Result<ir::ExprId> end = index_expr(in, {slice.end, span});
    if (!begin || !end) return fail(!begin ? begin.error() : end.error());
    const Result<ir::ExprId> extent = linear_difference(in, *end, *begin, span);
    return extent ? Result<Value>(number(*extent)) : fail(extent.error());
  }
  const ir::Region& of = region.as<RegionObject>().region;
  if (name == "buffer" || name == "source") return of_buffer(of.buffer);
  if (name != "region") return std::nullopt;
  std::vector<Value> slices;
  for (const ir::RangeExpr& range : of.ranges) {
    SliceObject slice;
    slice.begin = number(range.min);
    Result<Value> end = binary(in, Op::Add, slice.begin, number(range.extent), span);
    if (!end) return end;
    slice.end = *end;
    slices.push_back(in.heap.wrap(Kind::Slice, slice));
  }
  return in.heap.list(std::move(slices));
}

}  // namespace ww::script
