// SPDX-License-Identifier: Apache-2.0
#include "lower/copy_async/box_plan.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "base/join.h"
#include "ir/equal.h"
#include "ir/print/print.h"
#include "ir/tensor_map.h"
#include "lower/as_index.h"

namespace ww::lower {
namespace {

// Of one coordinate, whose places begin with 0.
std::optional<std::vector<Digit>> digits_of(const std::vector<std::int64_t>& places,
                                            std::size_t dim) {
  const auto count = std::ssize(places);
  std::vector<Digit> out;
  for (std::int64_t weight = 1; weight < count;) {
    const std::int64_t distance = places[as_index(weight)];
    std::int64_t run = 1;
    while (weight * run < count && places[as_index(weight * run)] == run * distance) ++run;
    while (run > 1 && count / weight % run != 0) --run;
    if (run == 1) return std::nullopt;
    out.push_back({dim, weight, run, distance});
    weight *= run;
  }
  for (std::int64_t c = 0; c < count; ++c) {
    std::int64_t sum = 0;
    for (const Digit& digit : out) sum += c / digit.weight % digit.extent * digit.distance;
    if (sum != places[as_index(c)]) return std::nullopt;
  }
  return out;
}

}  // namespace

std::optional<std::vector<Digit>> tile_digits(const OperandPlaces& shared,
                                              std::span<const std::int64_t> counts) {
  std::vector<std::vector<std::int64_t>> tables;
  std::vector<Digit> out;
  std::int64_t inner = std::ssize(shared.linear);
  for (std::size_t d = 0; d < counts.size(); ++d) {
    inner /= counts[d];
    std::vector<std::int64_t> table;
    for (std::int64_t c = 0; c < counts[d]; ++c)
      table.push_back(shared.linear[as_index(c * inner)] - shared.linear[0]);
    const auto digits = digits_of(table, d);
    if (!digits) return std::nullopt;
    out.insert(out.end(), digits->begin(), digits->end());
    tables.push_back(std::move(table));
  }
  // The distances of several coordinates add up.
  for (std::size_t x = 0; x < shared.size(); ++x) {
    auto rest = static_cast<std::int64_t>(x);
    std::int64_t sum = shared.linear[0];
    for (std::size_t d = counts.size(); d-- > 0; rest /= counts[d])
      sum += tables[d][as_index(rest % counts[d])];
    if (sum != shared.linear[x]) return std::nullopt;
  }
  std::ranges::sort(out, {}, &Digit::distance);
  return out;
}

std::vector<Digit> cut_digits(std::vector<Digit> digits, std::int64_t longest_row) {
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const std::int64_t limit = i == 0 ? std::min(longest_row, ir::kMaxMapBox) : ir::kMaxMapBox;
    std::int64_t part = std::min(limit, digits[i].extent);
    while (digits[i].extent % part != 0) --part;
    if (part == digits[i].extent) continue;
    Digit upper = digits[i];
    upper.weight *= part;
    upper.distance *= part;
    upper.extent /= part;
    digits[i].extent = part;
    digits.insert(digits.begin() + static_cast<std::ptrdiff_t>(i) + 1, upper);
  }
  return digits;
}

namespace {

using ir::ExprId;
using ir::ExprOp;

constexpr std::int64_t kSharedAlign = 128;  // bytes, of a box
constexpr std::int64_t kChunkBits = 128;    // that stay together

/// A dimension of the region in global memory.
struct GlobalDim {
  ExprId extent, start;
  ExprId stride;  // elements
  std::int64_t count = 1;
  bool has_edge = false;
};

// --- global memory -------------------------------------------------------------------------------

class GlobalSide {
 public:
  GlobalSide(const Call& call, const OperandPlaces& places, std::size_t operand)
      : call_(call),
        places_(places),
        region_(call.region(operand)),
        buffer_(call.f()[region_.buffer]),
        write_(call.f(), call.context.facts, call.span) {}

  Match<std::vector<GlobalDim>> dims() {
    const auto strides = WW_TRY(strides_of());
    std::vector<GlobalDim> out;
    for (std::size_t d = 0; d < region_.ranges.size(); ++d)
      out.push_back({.extent = buffer_.shape[d],
                     .start = write_.simplify(region_.ranges[d].min),
                     .stride = strides[d],
                     .count = *write_.constant(write_.simplify(region_.ranges[d].extent)),
                     .has_edge = has_edge(d)});
    return out;
  }

  // To the first element; the launch must know it.
  Match<ExprId> pointer() {
    const ir::Function& f = call_.f();
    const ir::BufferId storage = ir::storage_of(f, region_.buffer);
    if (f[storage].origin != ir::BufferOrigin::Param)
      return decline("map", "`{}` is not the array of a parameter, which the launch knows",
                     buffer_.name);
    auto bits = constant_offset(f, buffer_, places_.bits);
    const auto moved = layout_offset();
    if (!bits || !moved)
      return decline("map", "`{}` begins at an offset that is known at run time only",
                     buffer_.name);
    *bits += *moved * places_.bits;
    if (*bits % (ir::kMapUnit * 8) != 0)
      return decline("alignment",
                     "`{}` begins {} bytes behind its array, expected a multiple of {}",
                     buffer_.name, *bits / 8, ir::kMapUnit);
    const ExprId data = ir::buffer_data(call_.f(), region_.buffer, call_.span);
    return *bits == 0
               ? data
               : write_.call(ir::Intrinsic::PointerOffset, {data, write_.n(*bits / places_.bits)});
  }

 private:
  Match<std::vector<ExprId>> strides_of() {
    const std::size_t rank = buffer_.shape.size();
    std::vector<ExprId> out(rank);
    if (buffer_.layout_kind != ir::LayoutKind::Explicit) {
      ExprId stride = write_.n(1);
      for (std::size_t d = rank; d-- > 0;) {
        out[d] = stride;
        stride = write_.simplify(wide_mul(write_, stride, buffer_.shape[d]));
      }
      return out;
    }
    const layout::Layout& layout = *buffer_.layout;
    const auto& iters = layout.tile().shard();
    bool is_plain = !layout.is_swizzled() && layout.copies() == 1 && layout_offset().has_value();
    std::size_t next = 0;  // iters of one element belong to any dimension
    for (std::size_t d = 0; is_plain && d < rank; ++d) {
      const auto extent = write_.constant(buffer_.shape[d]);
      while (next < iters.size() && iters[next].extent == 1 && extent != 1) ++next;
      const bool has_iter = next < iters.size() && iters[next].extent == extent;
      is_plain = has_iter || extent == 1;
      out[d] = write_.n(has_iter ? iters[next++].stride : ir::kMapUnit * 8 / places_.bits);
    }
    while (next < iters.size() && iters[next].extent == 1) ++next;
    if (!is_plain || next != iters.size())
      return decline("layout", "`{}` has a layout without one stride for each dimension",
                     buffer_.name);
    return out;
  }

  // Elements by which the layout moves all places.
  [[nodiscard]] std::optional<std::int64_t> layout_offset() const {
    if (buffer_.layout_kind != ir::LayoutKind::Explicit) return 0;
    const layout::Offsets& offset = buffer_.layout->tile().offset();
    const auto axes = offset.axes();
    if (!offset.is_constant() || axes.size() > 1) return std::nullopt;
    return axes.empty() ? 0 : offset.constant_on(axes[0]);
  }

  bool has_edge(std::size_t d) {
    if (places_.edges.empty()) return false;
    return !begins_inside(write_, region_, d) || !ends_inside(write_, region_, d);
  }

  const Call& call_;
  const OperandPlaces& places_;
  const ir::Region& region_;
  const ir::Buffer& buffer_;
  CodeWriter write_;
};

// --- shared memory -------------------------------------------------------------------------------

// Bytes of a row of the swizzle's pattern; 0: none.
Match<std::int64_t> swizzle_of(const Call& call, const OperandPlaces& shared) {
  const layout::Swizzle& own = shared.swizzle;
  if (own.is_none()) return 0;
  const bool is_known = own.inner() && own.atom() == 3 && own.len() <= 3 &&
                        (std::int64_t{shared.bits} << own.per_element()) == kChunkBits;
  if (!is_known)
    return decline("swizzle",
                   "`{}` has a swizzle ({}, {}, {}), expected chunks of 16 bytes exchanged over "
                   "32, 64 or 128 bytes: ({}, 1, 2 or 3, 3)",
                   call.f()[shared.buffer].name, own.per_element(), own.len(), own.atom(),
                   std::countr_zero(static_cast<std::uint64_t>(kChunkBits / shared.bits)));
  return (std::int64_t{1} << own.len()) * (kChunkBits / 8);
}

// --- the map -------------------------------------------------------------------------------------

class MapMaker {
 public:
  MapMaker(const Call& call, const std::vector<GlobalDim>& dims, const std::vector<Digit>& digits,
           int bits, const std::string& name, bool is_load)
      : call_(call),
        is_load_(is_load),
        dims_(dims),
        digits_(digits),
        bits_(bits),
        name_(name),
        write_(call.f(), call.context.facts, call.span) {}

  // With the first `boxed` digits in the box.
  Match<BoxPlan> make(std::size_t boxed) {
    BoxPlan plan;
    for (std::size_t i = boxed; i < digits_.size(); ++i)
      plan.axes.push_back({digits_[i].extent, digits_[i].distance});
    std::vector<std::pair<std::size_t, BoxDim>> found;  // by the number of the digit
    for (std::size_t d = 0; d < dims_.size(); ++d) WW_TRY_VOID(split(d, boxed, found));
    std::ranges::stable_sort(found, {}, [](const auto& each) { return each.first; });
    for (auto& [order, dim] : found) plan.dims.push_back(std::move(dim));
    WW_TRY_VOID(check(plan));
    return plan;
  }

 private:
  // Where dimensions of the map begin in a dimension of the region: at digits of the box, and behind
  // each of them that another one does not follow.
  std::vector<std::int64_t> begins(std::size_t d, std::size_t boxed) const {
    std::vector<const Digit*> own;
    for (std::size_t i = 0; i < boxed; ++i)
      if (digits_[i].dim == d) own.push_back(&digits_[i]);
    std::ranges::sort(own, {}, &Digit::weight);
    std::vector<std::int64_t> out{1};
    for (std::size_t k = 0; k < own.size(); ++k) {
      if (own[k]->weight != out.back()) out.push_back(own[k]->weight);
      if (k + 1 < own.size()) out.push_back(own[k]->weight * own[k]->extent);
    }
    return out;
  }

  Match<void> split(std::size_t d, std::size_t boxed,
                    std::vector<std::pair<std::size_t, BoxDim>>& out) {
    const GlobalDim& dim = dims_[d];
    const std::vector<std::int64_t> parts = begins(d, boxed);
    if (parts.size() > 1) WW_TRY_VOID(check_split(dim, parts.back()));
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const bool is_last = k + 1 == parts.size();
      BoxDim one;
      one.extent =
          is_last ? divided(dim.extent, parts[k], dim.has_edge) : write_.n(parts[k + 1] / parts[k]);
      one.stride = write_.simplify(wide_mul(write_, dim.stride, write_.n(parts[k])));
      one.start = is_last ? write_.simplify(write_.div(dim.start, parts[k])) : write_.n(0);
      std::size_t order = digits_.size();
      for (std::size_t i = 0; i < digits_.size(); ++i) {
        const Digit& digit = digits_[i];
        const bool is_here =
            digit.dim == d && digit.weight >= parts[k] && (is_last || digit.weight < parts[k + 1]);
        if (!is_here) continue;
        if (i < boxed) {
          one.box = digit.extent;
          order = i;
        } else {
          one.steps.emplace_back(i - boxed, digit.weight / parts[k]);
        }
      }
      // Nothing to say about the only element of a dimension.
      if (order == digits_.size() && one.steps.empty() && write_.constant(one.extent) == 1 &&
          write_.constant(one.start) == 0)
        continue;
      out.emplace_back(order, std::move(one));
    }
    return {};
  }

  // Regions consist of whole parts, and so does what they may touch. A map has no extent of 0, even if
  // nothing is copied with it.
  ExprId divided(ExprId extent, std::int64_t by, bool has_edge) {
    if (by == 1) return extent;
    const ExprId whole = write_.div(extent, by);
    return write_.simplify(has_edge ? whole : write_.index(ir::ExprOp::Max, whole, write_.n(1)));
  }

  Match<void> check_split(const GlobalDim& dim, std::int64_t by) {
    if (divisor(dim.start) % by != 0)
      return decline("start",
                     "`{}` starts at `{}`, expected a multiple of {}: shared memory has {} "
                     "elements of the dimension in a row",
                     name_, ir::print(call_.f(), dim.start), by, by);
    if (dim.has_edge && divisor(dim.extent) % by != 0)
      return decline("edge",
                     "the region may leave `{}` in a dimension of `{}` elements, not known to be "
                     "a multiple of {}",
                     name_, ir::print(call_.f(), dim.extent), by);
    return {};
  }

  Match<void> check(const BoxPlan& plan) {
    if (plan.dims.empty() || plan.dims.size() > ir::kMaxMapRank)
      return decline("map", "a tensor map of {} dimensions, expected 1 to {}", plan.dims.size(),
                     ir::kMaxMapRank);
    if (write_.constant(plan.dims[0].stride) != 1)
      return decline("order",
                     "neighbours in shared memory are `{}` elements apart in `{}`, expected 1",
                     ir::print(call_.f(), plan.dims[0].stride), name_);
    const std::int64_t row = plan.dims[0].box * bits_ / 8;
    if (plan.dims[0].box * bits_ % (8 * ir::kMapUnit) != 0)
      return decline("box", "rows of the box have {} bytes, expected a multiple of {}", row,
                     ir::kMapUnit);
    for (std::size_t d = 0; d < plan.dims.size(); ++d) WW_TRY_VOID(check_dim(plan.dims[d], d));
    WW_TRY_VOID(check_units(plan.dims[0]));
    return is_load_ ? Match<void>() : check_store(plan);
  }

  [[nodiscard]] bool is_whole_units(std::int64_t elements) const {
    return elements * bits_ % (8 * ir::kMapUnit) == 0;
  }
  // What an expression is a multiple of; 0: of everything.
  std::int64_t divisor(ExprId expr) {
    if (write_.constant(expr) == 0) return 0;
    return ir::divisor_of(call_.f(), expr, call_.context.facts);
  }

  // The engine starts at whole units in a row.
  Match<void> check_units(const BoxDim& row) {
    bool is_whole = is_whole_units(divisor(row.start));
    for (const auto& [axis, weight] : row.steps) is_whole = is_whole && is_whole_units(weight);
    if (is_whole) return {};
    return decline("start",
                   "rows of `{}` are copied from element `{}` on, not known to be a multiple of {} "
                   "bytes",
                   name_, ir::print(call_.f(), row.start), ir::kMapUnit);
  }

  // A store takes no coordinate below 0, and writes whole units at the end of a row.
  Match<void> check_store(const BoxPlan& plan) {
    for (const GlobalDim& dim : dims_)
      if (ir::range_of(call_.f(), dim.start, call_.context.facts).min < 0)
        return decline("edge", "the region may begin before `{}`, at `{}`: a store cannot", name_,
                       ir::print(call_.f(), dim.start));
    const bool has_edge = std::ranges::any_of(dims_, &GlobalDim::has_edge);
    const ExprId row = plan.dims[0].extent;
    // The launch refuses a pitch of other numbers.
    const bool is_pitch = std::ranges::any_of(
        plan.dims, [&](const BoxDim& dim) { return ir::same(call_.f(), dim.stride, row); });
    if (!has_edge || is_pitch || is_whole_units(divisor(row))) return {};
    return decline("edge",
                   "rows of `{}` have `{}` elements, not known to be a multiple of {} bytes: a "
                   "store would write behind their end",
                   name_, ir::print(call_.f(), row), ir::kMapUnit);
  }

  Match<void> check_dim(const BoxDim& dim, std::size_t d) {
    const auto extent = write_.constant(dim.extent);
    if (extent && (*extent < 1 || *extent > ir::kMaxMapExtent))
      return decline("map", "`{}` has {} elements in a dimension, expected 1 to 2^32", name_,
                     *extent);
    const auto stride = write_.constant(dim.stride);
    if (d == 0 || !stride) return {};
    const std::int64_t bytes = *stride * bits_ / 8;
    if (bytes % ir::kMapUnit != 0 || bytes < 0 || bytes >= ir::kMaxMapStride)
      return decline("stride",
                     "elements of `{}` along a dimension are {} bytes apart, expected a multiple "
                     "of {} below 2^40",
                     name_, bytes, ir::kMapUnit);
    return {};
  }

  const Call& call_;
  bool is_load_;
  const std::vector<GlobalDim>& dims_;
  const std::vector<Digit>& digits_;
  int bits_;
  const std::string& name_;
  CodeWriter write_;
};

// A dimension that the region covers whole, and the next one around it, are one where elements
// follow each other.
bool merge_dims(CodeWriter& write, std::vector<GlobalDim>& dims) {
  for (std::size_t d = dims.size(); d-- > 1;) {
    const GlobalDim& inner = dims[d];
    GlobalDim& outer = dims[d - 1];
    const auto size = write.constant(inner.extent);
    const auto step = write.constant(inner.stride);
    const bool is_whole = size && step && inner.count == *size && write.constant(inner.start) == 0;
    if (!is_whole || write.constant(outer.stride) != *size * *step) continue;
    outer.extent = write.simplify(wide_mul(write, outer.extent, write.n(*size)));
    outer.start = write.simplify(wide_mul(write, outer.start, write.n(*size)));
    outer.stride = inner.stride;
    outer.count *= *size;
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(d));
    return true;
  }
  return false;
}

Match<void> check_alignment(const Call& call, const OperandPlaces& shared, std::int64_t swizzle,
                            const BoxPlan& plan) {
  const std::string& name = call.f()[shared.buffer].name;
  const std::int64_t pattern = swizzle == 0 ? kSharedAlign : swizzle * 8;
  if (shared.align_bytes % pattern != 0)
    return decline("alignment", "`{}` is aligned to {} bytes, expected {}{}", name,
                   shared.align_bytes, pattern,
                   swizzle == 0 ? "" : fmt::format(" for a swizzle of {} bytes", swizzle));
  const auto is_multiple = [&](std::int64_t elements) {
    return elements * shared.bits % (kSharedAlign * 8) == 0;
  };
  if (!is_multiple(shared.base_divisor))
    return decline("alignment", "`{}` begins at `{}`, a multiple of {} bytes, expected one of {}",
                   name, ir::print(call.f(), shared.base), shared.base_divisor * shared.bits / 8,
                   kSharedAlign);
  if (!is_multiple(plan.first))
    return decline("alignment", "the region begins at byte {} of `{}`, expected a multiple of {}",
                   plan.first * shared.bits / 8, name, kSharedAlign);
  for (const IssueAxis& axis : plan.axes)
    if (!is_multiple(axis.distance))
      return decline("alignment",
                     "boxes of {} elements are {} bytes apart in `{}`, expected a multiple of {}",
                     plan.box_text(), axis.distance * shared.bits / 8, name, kSharedAlign);
  return {};
}

class Planner {
 public:
  Planner(const Call& call, const CopyProblem& problem, std::size_t global, std::size_t shared)
      : call_(call),
        global_(global == 0 ? problem.dst : problem.src),
        shared_(shared == 0 ? problem.dst : problem.src),
        operand_(global),
        write_(call.f(), call.context.facts, call.span) {}

  Match<BoxPlan> run() {
    WW_TRY_VOID(check_sides());
    const std::int64_t swizzle = WW_TRY(swizzle_of(call_, shared_));
    GlobalSide side(call_, global_, operand_);
    auto dims = WW_TRY(side.dims());
    Match<BoxPlan> best = decline("map", "no plan");
    bool is_first = true;
    do {
      auto plan = plan_for(dims, swizzle);
      const bool is_better = plan && (!best || plan->issues() < best->issues());
      if (is_better || is_first) best = std::move(plan);
      is_first = false;
    } while (merge_dims(write_, dims));
    if (best) best->pointer = WW_TRY(side.pointer());
    return best;
  }

 private:
  [[nodiscard]] const std::string& name_of(const OperandPlaces& side) const {
    return call_.f()[side.buffer].name;
  }

  Match<void> check_sides() const {
    if (shared_.bits < 8 || shared_.bits > 64)
      return decline("dtype", "elements of {} bits, expected 8, 16, 32 or 64", shared_.bits);
    if (!shared_.strides.empty())
      return decline("layout", "`{}` has extents known at run time only", name_of(shared_));
    WW_TRY_VOID(check_one_place(call_, shared_));
    if (!shared_.edges.empty())
      return decline("edge", "the region may leave `{}`, which is in shared memory",
                     name_of(shared_));
    return {};
  }

  Match<BoxPlan> plan_for(const std::vector<GlobalDim>& dims, std::int64_t swizzle) {
    std::vector<std::int64_t> counts;
    for (const GlobalDim& dim : dims) counts.push_back(dim.count);
    auto digits = tile_digits(shared_, counts);
    if (!digits)
      return decline("layout", "`{}` has no fixed distance in shared memory for each dimension",
                     name_of(shared_));
    const std::int64_t row = swizzle == 0 ? ir::kMaxMapBox : swizzle * 8 / shared_.bits;
    *digits = cut_digits(std::move(*digits), row);
    if (digits->empty()) digits->push_back({.dim = dims.size() - 1});  // one element
    if (digits->front().distance > 1)
      return decline("order", "no two elements of the region are neighbours in `{}`",
                     name_of(shared_));
    MapMaker maker(call_, dims, *digits, shared_.bits, name_of(global_), operand_ == 1);
    Match<BoxPlan> out = decline("map", "no plan");
    for (std::size_t boxed = chain(*digits, swizzle); boxed > 0; --boxed) {
      auto plan = maker.make(boxed);
      if (plan) {
        plan->first = shared_.linear[0];
        plan->swizzle = swizzle;
        if (auto aligned = check_alignment(call_, shared_, swizzle, *plan); !aligned)
          plan = Unexpected(aligned.error());
      }
      if (plan || boxed == chain(*digits, swizzle)) out = std::move(plan);
      if (out) break;
    }
    return out;
  }

  // How many digits follow each other without a gap. Rows with a swizzle are as long as its pattern.
  [[nodiscard]] std::size_t chain(const std::vector<Digit>& digits, std::int64_t swizzle) const {
    std::int64_t next = digits[0].extent;
    if (swizzle != 0) next = std::max(next, swizzle * 8 / shared_.bits);
    std::size_t count = 1;
    for (; count < digits.size() && digits[count].distance == next; ++count)
      next *= digits[count].extent;
    return count;
  }

  const Call& call_;
  const OperandPlaces& global_;
  const OperandPlaces& shared_;
  std::size_t operand_;
  CodeWriter write_;
};

}  // namespace

std::int64_t BoxPlan::issues() const {
  std::int64_t out = 1;
  for (const IssueAxis& axis : axes) out *= axis.extent;
  return out;
}

std::int64_t BoxPlan::box_elements() const {
  std::int64_t out = 1;
  for (const BoxDim& dim : dims) out *= dim.box;
  return out;
}

std::string BoxPlan::box_text() const {
  std::vector<std::int64_t> extents;
  for (const BoxDim& dim : dims) extents.push_back(dim.box);
  return join(extents, " x ");
}

Match<BoxPlan> plan_boxes(const Call& call, const CopyProblem& problem, std::size_t global,
                          std::size_t shared) {
  return Planner(call, problem, global, shared).run();
}

}  // namespace ww::lower
