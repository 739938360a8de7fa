// SPDX-License-Identifier: Apache-2.0
#include "lower/operand_places.h"

#include <fmt/format.h>
#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <tuple>

#include "base/wide.h"
#include "ir/equal.h"
#include "ir/print/print.h"
#include "ir/settings.h"
#include "ir/simplify/simplify.h"
#include "layout/apply.h"
#include "layout/image.h"
#include "layout/slice.h"
#include "lower/as_index.h"
#include "lower/index_formula.h"

namespace ww::lower {
namespace {

// --- whose registers -----------------------------------------------------------------------------

// Whose registers hold an operand. A layout counts along thread axes (`laneid`, `wid_in_wg`, `tx`),
// each of them some digits of the thread's number in the CTA; a primitive wants the thread of its
// unit. What is between the digits that a layout uses does not tell threads apart: they hold the
// same elements. Digits above the unit must be those of the unit that executes the primitive.

/// Digits [begin, end) of a thread's number in the CTA, or in the cluster for calls of that scope.
struct ThreadDigits {
  std::int64_t begin = 1, end = 0;  // end 0: all above
};

/// Where the elements of an operand are on the thread axes of its layout.
struct ThreadPlaces {
  std::vector<std::int64_t> owner;                          // by element, as `digits_of` counts
  std::vector<std::pair<layout::Axis, ir::ExprId>> starts;  // of the region, where not constant
};

// The digits that a thread axis counts; nothing: an axis beyond the unit of the call.
std::optional<ThreadDigits> digits_of(const Call& call, layout::Axis axis) {
  const layout::AxisFacts& facts = axis.facts();
  const std::int64_t threads = call.context.launch.threads();
  if (facts.counter == layout::Counter::CtaThread) {
    if (facts.modulus != 0) return ThreadDigits{facts.divisor, facts.divisor * facts.modulus};
    return ThreadDigits{facts.divisor, call.is_of_cluster() ? threads : 0};
  }
  if (!call.is_of_cluster()) return std::nullopt;
  std::int64_t below = threads;
  const layout::Counter counters[] = {layout::Counter::ClusterX, layout::Counter::ClusterY,
                                      layout::Counter::ClusterZ};
  for (std::size_t d = 0; d < std::size(counters); ++d) {
    const std::int64_t above = below * call.context.launch.cluster[d];
    if (facts.counter == counters[d]) return ThreadDigits{below, above};
    below = above;
  }
  return std::nullopt;
}

// By how much a thread's number grows with one step on a thread axis.
std::int64_t threads_per_step(const Call& call, layout::Axis axis) {
  const auto digits = digits_of(call, axis);
  return digits ? digits->begin : axis.facts().divisor;
}

class Owners {
 public:
  Owners(const Call& call, const ThreadPlaces& places, OperandPlaces& side)
      : call_(call), name_(call.f()[side.buffer].name), places_(places), side_(side) {}

  Match<void> run(const layout::TileLayout& whole) {
    std::vector<ThreadDigits> covered;
    for (const layout::Axis axis : layout::moving_axes(whole)) {
      if (!axis.is_thread()) {
        if (axis == layout::axes::m()) continue;
        return decline("axes", "`{}` in registers has a layout over `{}`", name_, axis.name());
      }
      const auto digits = digits_of(call_, axis);
      if (!digits)
        return decline("axes", "`{}` is spread over `{}`, beyond the {}", name_, axis.name(),
                       call_.is_of_cluster() ? "cluster" : "CTA");
      covered.push_back(*digits);
    }
    std::ranges::sort(covered, {}, &ThreadDigits::begin);
    spread_over(covered);
    return place_in_units(covered);
  }

 private:
  // Threads of the unit that the layout does not tell apart hold the same elements.
  void spread_over(const std::vector<ThreadDigits>& covered) {
    const std::int64_t unit = call_.unit_threads();
    std::int64_t open = 1;
    const auto take = [&](std::int64_t begin, std::int64_t end) {
      if (begin >= end) return;
      const std::vector<std::int64_t> before = std::exchange(side_.spread, {});
      for (std::int64_t k = 0; k * begin < end; ++k)
        for (const std::int64_t shift : before) side_.spread.push_back(shift + k * begin);
    };
    for (const ThreadDigits& digits : covered) {
      take(open, std::min(digits.begin, unit));
      open = digits.end == 0 ? unit : std::max(open, digits.end);
    }
    take(open, unit);
    std::ranges::sort(side_.spread);
  }

  Match<void> place_in_units(const std::vector<ThreadDigits>& covered) {
    const std::int64_t unit = call_.unit_threads();
    std::vector<std::int64_t> first_seen, starts = call_.unit_starts();
    if (starts.empty()) starts.push_back(0);  // no thread comes here: anything is right
    for (const std::int64_t first : starts) {
      const std::int64_t start = WW_TRY(start_in_unit(first));
      // The layout's own digits above the unit must be those of the unit.
      std::int64_t above = 0;
      for (const ThreadDigits& d : covered) {
        const std::int64_t digit = first / d.begin * d.begin;
        above += d.end == 0 ? digit : digit % d.end;
      }
      above -= above % unit;
      std::vector<std::int64_t> here(places_.owner.size());
      for (std::size_t x = 0; x < places_.owner.size(); ++x) {
        here[x] = places_.owner[x] + start - above;
        const std::int64_t low = side_.replicas.front().thread;
        const std::int64_t high = side_.replicas.back().thread;
        const bool is_below = here[x] + low < 0;
        if (is_below || here[x] + high >= unit) {
          // The first of the holders that is outside.
          const std::int64_t replica = is_below ? low : here[x] >= unit ? 0 : high;
          return decline(
              "owner",
              "an element of `{}` belongs to thread {}, which is not in the {} of thread {}", name_,
              places_.owner[x] + start + replica, ir::name_of(call_.tile.scope), first);
        }
      }
      if (first_seen.empty()) first_seen = here;
      if (first_seen != here)
        return decline("owner", "the threads that hold `{}` differ from {} to {}", name_,
                       ir::name_of(call_.tile.scope), ir::name_of(call_.tile.scope));
      if (places_.starts.empty() && is_inside(covered, unit)) break;
    }
    side_.owner = std::move(first_seen);
    return {};
  }

  // Do the layout's digits count threads within the unit only, so that all units are alike?
  [[nodiscard]] bool is_inside(const std::vector<ThreadDigits>& covered, std::int64_t unit) const {
    const bool is_all = unit >= call_.context.launch.threads();
    return std::ranges::all_of(covered, [&](const ThreadDigits& d) {
      return d.begin < unit && (d.end == 0 ? is_all : d.end <= unit);
    });
  }

  // What the runtime starts add on thread axes, in one unit: it must be the same for all its
  // threads.
  Match<std::int64_t> start_in_unit(std::int64_t first) {
    std::int64_t sum = 0;
    for (const auto& [axis, expr] : places_.starts) {
      const ir::PerThread& value = call_.context.values.of(expr);
      const auto at = as_index(first);
      const auto end = std::min(at + as_index(call_.unit_threads()), value.value.size());
      for (std::size_t t = at; t < end; ++t)
        if (!value.known[t] || value.value[t] != value.value[at])
          return decline("owner",
                         "which thread holds `{}` depends on `{}`, not known at compile time",
                         name_, ir::print(call_.f(), expr));
      sum += value.value[at] * threads_per_step(call_, axis);
    }
    return sum;
  }

  const Call& call_;
  const std::string& name_;
  const ThreadPlaces& places_;
  OperandPlaces& side_;
};

// Fills in `owner` and `spread` of an operand in registers, whose replicas are there already.
// Declines axes other than registers' and those of threads in a CTA (for calls of a cluster, of CTAs
// in it), and elements that are not in the unit, or not in the same thread of every unit that comes to the call.
Match<void> set_owners(const Call& call, const layout::TileLayout& whole,
                       const ThreadPlaces& places, OperandPlaces& side) {
  return Owners(call, places, side).run(whole);
}

}  // namespace

// The storage that the places of an operand are in: its alignment, flat views of it, bits from its
// start.

using ir::ExprId;

std::int64_t storage_alignment(const Context& context, ir::BufferId id) {
  const ir::Buffer& buffer = context.f[id];
  const std::int64_t element = std::max<std::int64_t>(1, num::storage_bits(buffer.dtype) / 8);
  const auto divisor = [&](ExprId expr, std::int64_t scale) {
    return expr.valid() ? ir::divisor_of(context.f, expr, context.facts) * scale : 0;
  };
  constexpr std::int64_t kDefault = 64;
  constexpr std::int64_t kShared = 128;  // one row of the banks
  switch (buffer.origin) {
    case ir::BufferOrigin::Param:
      return std::gcd(buffer.align > 0 ? buffer.align : kDefault,
                      divisor(buffer.elem_offset, element));
    case ir::BufferOrigin::Alloc:
      return std::max(buffer.align,
                      ir::is_shared(buffer.scope) && buffer.align == 0 ? kShared : kDefault);
    case ir::BufferOrigin::View: {
      const std::int64_t own =
          std::gcd(divisor(buffer.elem_offset, element), divisor(buffer.byte_offset, 1));
      return std::gcd(storage_alignment(context, buffer.base), own);
    }
    case ir::BufferOrigin::Pointer:
      break;
  }
  return std::gcd(buffer.align > 0 ? buffer.align : element, divisor(buffer.elem_offset, element));
}

std::int64_t view_elements(const Call& call, const OperandPlaces& side) {
  const ir::Buffer& buffer = call.f()[side.buffer];
  // The simplifier takes the index into a single element for 0.
  std::int64_t most = side.base.valid() || !side.strides.empty() ? 2 : 1;
  if (const auto whole = ir::layout_of(call.f(), buffer))
    if (const auto span = layout::span_on(*whole, layout::axes::m())) {
      most = std::max(most, *span);
      if (side.edges.empty()) return most;
    }
  for (std::size_t x = 0; x < side.size(); ++x)
    most = std::max(most, side.swizzle(side.linear[x]) + 1);
  return most;
}

ir::BufferId flat_view(const Call& call, CodeWriter& code, const OperandPlaces& side) {
  return code.flat_view(side.buffer, side.dtype, view_elements(call, side),
                        call.f()[side.buffer].name);
}

std::optional<std::int64_t> constant_offset(const ir::Function& f, const ir::Buffer& buffer,
                                            int element_bits) {
  const auto number = [&](ExprId expr) {
    return expr.valid() ? ir::const_int(f, expr) : std::optional<std::int64_t>(0);
  };
  const auto elements = number(buffer.elem_offset), bytes = number(buffer.byte_offset);
  if (!elements || !bytes) return std::nullopt;
  return *elements * element_bits + *bytes * 8;
}

std::optional<std::vector<std::int64_t>> bit_places(const Call& call, const OperandPlaces& side) {
  const auto start = constant_offset(call.f(), call.f()[side.buffer], side.bits);
  if (side.base.valid() || !side.strides.empty() || !start) return std::nullopt;
  std::vector<std::int64_t> out;
  for (std::size_t x = 0; x < side.size(); ++x)
    out.push_back(side.swizzle(side.linear[x]) * side.bits + *start);
  return out;
}

bool are_same_places(const ir::Function& f, const OperandPlaces& a, const OperandPlaces& b) {
  if (a.buffer != b.buffer || a.base.valid() != b.base.valid()) return false;
  if (a.base.valid() && !ir::same(f, a.base, b.base)) return false;
  if (a.linear != b.linear || a.owner != b.owner || a.strides.size() != b.strides.size())
    return false;
  for (std::size_t i = 0; i < a.strides.size(); ++i)
    if (a.strides[i].coef != b.strides[i].coef ||
        !ir::same(f, a.strides[i].stride, b.strides[i].stride))
      return false;
  return !a.is_register() || a.replicas.size() == 1;
}

using ir::ExprId;
using ir::ExprOp;
using layout::Axis;

// --- questions -----------------------------------------------------------------------------------

bool OperandPlaces::follows_swizzled(std::size_t x, std::size_t y) const {
  if (base_commutes()) return swizzle(linear[y]) == swizzle(linear[x]) + 1;
  return linear[y] == linear[x] + 1 && linear[x] / longest_run() == linear[y] / longest_run();
}

bool OperandPlaces::base_is_aligned(std::int64_t bytes) const {
  const auto is_multiple = [&](std::int64_t elements) {
    return elements * bits % (bytes * 8) == 0;
  };
  if (align_bytes % bytes != 0 || !is_multiple(base_divisor)) return false;
  return std::ranges::all_of(strides, [&](const RuntimeStride& s) {
    const bool is_used = std::ranges::any_of(s.coef, [](std::int64_t c) { return c != 0; });
    return !is_used || is_multiple(s.divisor);
  });
}

bool OperandPlaces::is_aligned(std::size_t x, std::int64_t bytes) const {
  return place(x) * bits % (bytes * 8) == 0;
}

bool begins_inside(CodeWriter& code, const ir::Region& region, std::size_t d) {
  return ir::range_of(code.f(), code.simplify(region.ranges[d].min), code.facts()).min >= 0;
}

bool ends_inside(CodeWriter& code, const ir::Region& region, std::size_t d) {
  const ir::RangeExpr& range = region.ranges[d];
  const ExprId end = wide_add(code, code.simplify(range.min), code.simplify(range.extent));
  const ExprId whole = code.f()[region.buffer].shape[d];
  return code.constant(code.simplify(code.index(ExprOp::Le, end, whole))) == 1;
}

namespace {

// --- region starts -------------------------------------------------------------------------------

// Starts of a region as the layout algebra takes them: symbols stand for what is not constant.
class Starts {
 public:
  Starts(CodeWriter& code) : code_(code) {}

  // A start that keeps `extent` elements inside `whole` of them (0: unknown); programs whose
  // regions leave their buffer have no meaning.
  Match<layout::Expr> start(ExprId min, std::int64_t extent, std::int64_t whole) {
    min = code_.simplify(min);
    if (const auto number = code_.constant(min)) return layout::Expr(*number);
    const auto [rest, constant] = split(min);
    const ir::Function& f = code_.f();
    const std::int64_t divisor = std::max<std::int64_t>(1, ir::divisor_of(f, rest, code_.facts()));
    ir::Range range = ir::range_of(f, rest, code_.facts());
    range.min = std::max(range.min, -constant);
    range.max = std::min(range.max, whole > 0 ? whole - extent - constant : std::int64_t{1} << 40);
    if (range.min > range.max) return decline("bounds", "a region starts outside its buffer");
    const std::string name = fmt::format("s{}", symbols_.size());
    auto symbol = layout::Sym::make(name, range, divisor);
    if (!symbol) return decline("start", "{}", symbol.error().text);
    symbols_.emplace(name, rest);
    return layout::Expr(*symbol) + layout::Expr(constant);
  }

  // An expression of the algebra as one of ours; none when it is constant 0 but for `constant`.
  ExprId expr(const layout::Expr& value) {
    ExprId sum = {};
    for (const layout::Term& term : value.terms()) {
      ExprId part = symbols_.at(std::string(term.atom.var.name()));
      part = code_.div(part, term.atom.div);
      if (term.atom.mod != 0) part = code_.mod(part, term.atom.mod);
      part = wide_mul(code_, part, code_.n(term.coef));
      sum = sum.valid() ? wide_add(code_, sum, part) : part;
    }
    return sum;
  }

 private:
  // e + c, as far as the simplified expression shows it.
  std::pair<ExprId, std::int64_t> split(ExprId expr) {
    const ir::Expr& e = code_.f()[expr];
    if (e.op == ExprOp::Add)
      if (const auto c = code_.constant(e.args[1])) return {e.args[0], *c};
    if (e.op == ExprOp::Sub)
      if (const auto c = code_.constant(e.args[1])) return {e.args[0], -*c};
    return {expr, 0};
  }

  CodeWriter& code_;
  std::map<std::string, ExprId> symbols_;
};

// --- sides ---------------------------------------------------------------------------------------

class PlacesMaker {
 public:
  PlacesMaker(const Call& call, std::size_t operand)
      : call_(call),
        may_leave_(ir::copy_settings(call.tile).may_leave(operand)),
        f_(call.f()),
        region_(call.region(operand)),
        buffer_(call.f()[region_.buffer]),
        code_(call.f(), call.context.facts, call.span),
        starts_(code_) {}

  Match<OperandPlaces> make() {
    side_.buffer = region_.buffer;
    side_.scope = buffer_.scope;
    side_.dtype = buffer_.dtype;
    side_.bits = num::storage_bits(buffer_.dtype);
    side_.align_bytes = storage_alignment(call_.context, region_.buffer);
    WW_TRY_VOID(read_extents());
    if (may_leave_) add_edges();
    const std::optional<layout::Layout> whole = ir::layout_of(f_, buffer_);
    auto placed = whole && side_.edges.empty() ? place_by_layout(*whole) : place_row_major();
    WW_TRY_VOID(placed);
    return std::move(side_);
  }

 private:
  Match<void> read_extents() {
    std::int64_t count = 1;
    for (const ir::RangeExpr& range : region_.ranges) {
      const auto extent = code_.constant(code_.simplify(range.extent));
      if (!extent)
        return decline("extents", "the extent of `{}` is `{}`, known at run time only",
                       buffer_.name, ir::print(f_, range.extent));
      extents_.push_back(*extent);
      count = std::min(kMaxElements + 1, count * *extent);
    }
    if (count > kMaxElements || count < 1)
      return decline("size", "the region of `{}` has {}{} elements, of {} that are enumerated",
                     buffer_.name, count > kMaxElements ? "more than " : "",
                     std::min(count, kMaxElements), kMaxElements);
    count_ = count;
    return {};
  }

  void add_edges() {
    std::int64_t inner = count_;
    for (std::size_t d = 0; d < extents_.size(); ++d) {
      inner /= extents_[d];
      Edge edge;
      const ExprId start = code_.simplify(region_.ranges[d].min);
      if (!ends_inside(code_, region_, d)) add_room(edge, start, buffer_.shape[d]);
      if (!begins_inside(code_, region_, d)) {
        edge.start = start;
        edge.start_divisor = ir::divisor_of(f_, start, code_.facts());
      }
      if (!edge.room.valid() && !edge.start.valid()) continue;
      for (std::int64_t x = 0; x < count_; ++x) edge.coordinate.push_back(x / inner % extents_[d]);
      side_.edges.push_back(std::move(edge));
    }
  }

  void add_room(Edge& edge, ExprId start, ExprId whole) {
    edge.room = code_.simplify(code_.index(ExprOp::Sub, whole, start));
    // Far beyond the end is as good as at the end, and does not leave int32.
    constexpr std::int64_t kFarOutside = std::int64_t{1} << 30;
    if (ir::range_of(f_, start, code_.facts()).max > kFarOutside)
      edge.room = code_.simplify(code_.index(ExprOp::Max, edge.room, code_.n(0)));
    edge.divisor = ir::divisor_of(f_, edge.room, code_.facts());
  }

  // --- constant layouts ---

  [[nodiscard]] Match<layout::Shape> constant_shape() const {
    const std::optional<layout::Shape> shape = ir::const_shape(f_, buffer_);
    if (!shape) return decline("layout", "the layout of `{}` has no constant shape", buffer_.name);
    return *shape;
  }

  Match<void> place_by_layout(const layout::Layout& whole) {
    const layout::Shape shape = WW_TRY(constant_shape());
    std::vector<layout::Slice1> slices;
    bool is_constant = true;
    for (std::size_t d = 0; d < extents_.size(); ++d) {
      const auto begin = WW_TRY(starts_.start(region_.ranges[d].min, extents_[d], shape[d]));
      is_constant = is_constant && begin.is_constant();
      slices.push_back({.begin = begin, .extent = extents_[d]});
    }
    side_.swizzle = whole.swizzle();
    const auto sliced = layout::slice(whole, shape, slices);
    if (sliced) {
      WW_TRY_VOID(set_base(sliced->tile()));
      enumerate(sliced->tile());
      move_into_base();
    } else if (is_constant) {
      enumerate_region(whole.tile(), shape, slices);
    } else {
      return decline("start", "`{}` at a runtime start: {}", buffer_.name, sliced.error().text);
    }
    add_replicas(whole.tile());
    WW_TRY_VOID(settle_registers());
    WW_TRY_VOID(add_tensor_offset());
    return side_.is_register() ? set_owners(call_, whole.tile(), threads_, side_)
                               : no_threads(whole.tile());
  }

  // The axis along which places are counted.
  [[nodiscard]] Axis place_axis() const {
    return side_.is_tensor() ? layout::axes::tcol() : layout::axes::m();
  }

  // Other buffers have views that begin at their offset; tensor memory has addresses only.
  Match<void> add_tensor_offset() {
    if (!side_.is_tensor()) return {};
    const auto is_zero = [&](ExprId e) { return !e.valid() || code_.constant(e) == 0; };
    if (!is_zero(buffer_.byte_offset) || !is_zero(buffer_.elem_offset))
      return decline("offset", "`{}` in tensor memory has an offset beside its address",
                     buffer_.name);
    return {};
  }

  // Registers are numbered at compile time, so that a swizzle of theirs is only another order of
  // them.
  Match<void> settle_registers() {
    if (!side_.is_register() || side_.swizzle.is_none()) return {};
    if (!side_.base_commutes())
      return decline("swizzle", "the registers of `{}` are swizzled, and begin at `{}`",
                     buffer_.name, ir::print(f_, side_.base));
    for (const Shift& shift : side_.replicas)
      if (shift.place != 0)
        return decline("swizzle", "the registers of `{}` are swizzled and replicated",
                       buffer_.name);
    for (std::int64_t& place : side_.linear) place = side_.swizzle(place);
    side_.swizzle = {};
    return {};
  }

  Match<void> set_base(const layout::TileLayout& tile) {
    for (const Axis axis : tile.offset().axes()) {
      const ExprId runtime = starts_.expr(tile.offset().on(axis));
      if (!runtime.valid()) continue;
      if (side_.is_tensor() && axis == layout::axes::tlane())
        return decline("start", "the lanes of `{}` begin at `{}`, known at run time only",
                       buffer_.name, ir::print(f_, runtime));
      if (axis == place_axis()) {
        const bool is_wide = tile.range_on(axis).max >= kInt32End - tile.size();
        side_.base = is_wide ? code_.as_int64(runtime) : runtime;
        side_.base_divisor = ir::divisor_of(f_, runtime, code_.facts());
      } else {
        threads_.starts.emplace_back(axis, runtime);
      }
    }
    return {};
  }

  // A start such as (w - 1) * 16 gives negative places beside a base that makes up for them. Places
  // are counted from 0, and the base stays a multiple of what it was.
  void move_into_base() {
    if (!side_.base.valid() || side_.base_divisor < 1) return;
    const std::int64_t least = *std::ranges::min_element(side_.linear);
    if (least >= 0) return;
    const std::int64_t by = floor_div(least, side_.base_divisor) * side_.base_divisor;
    side_.base = wide_add(code_, side_.base, code_.n(by));
    for (std::int64_t& place : side_.linear) place -= by;
  }

  void enumerate(const layout::TileLayout& tile) {
    layout::Offsets constant;
    for (const layout::OffsetTerm& term : tile.offset().terms())
      if (!term.is_symbolic) constant.add(term.axis, term.coef);
    const auto plain = layout::TileLayout::make(tile.shard(), {}, std::move(constant));
    WW_CHECK(plain.has_value(), "a slice is not a layout");
    side_.linear.resize(as_index(count_));
    layout::enumerate_axis(*plain, place_axis(), side_.linear);
    if (side_.is_tensor()) {
      side_.lane.resize(side_.linear.size());
      layout::enumerate_axis(*plain, layout::axes::tlane(), side_.lane);
    }
    threads_.owner.assign(side_.linear.size(), 0);
    std::vector<std::int64_t> on_axis(side_.linear.size());
    for (const Axis axis : plain->axes()) {
      if (!axis.is_thread()) continue;
      layout::enumerate_axis(*plain, axis, on_axis);
      const std::int64_t step = threads_per_step(call_, axis);
      for (std::size_t x = 0; x < threads_.owner.size(); ++x)
        threads_.owner[x] += on_axis[x] * step;
    }
  }

  // A region that no tile layout expresses, element by element.
  void enumerate_region(const layout::TileLayout& tile, const layout::Shape& shape,
                        const std::vector<layout::Slice1>& slices) {
    for (std::int64_t x = 0; x < count_; ++x) {
      layout::Shape at = layout::unflatten(x, extents_);
      std::int64_t flat = 0;
      for (std::size_t d = 0; d < at.size(); ++d)
        flat = flat * shape[d] + at[d] + slices[d].begin.constant();
      const layout::Shape digits = layout::split_digits(tile, flat);
      std::int64_t linear = tile.offset().constant_on(place_axis());
      std::int64_t lane = tile.offset().constant_on(layout::axes::tlane());
      std::int64_t owner = 0;
      for (const Axis axis : tile.offset().axes())
        if (axis.is_thread())
          owner += tile.offset().constant_on(axis) * threads_per_step(call_, axis);
      for (std::size_t i = 0; i < digits.size(); ++i) {
        const layout::Iter& iter = tile.shard()[i];
        if (iter.axis == place_axis()) linear += digits[i] * iter.stride;
        if (iter.axis == layout::axes::tlane()) lane += digits[i] * iter.stride;
        if (iter.axis.is_thread())
          owner += digits[i] * iter.stride * threads_per_step(call_, iter.axis);
      }
      side_.linear.push_back(linear);
      if (side_.is_tensor()) side_.lane.push_back(lane);
      threads_.owner.push_back(owner);
    }
  }

  void add_replicas(const layout::TileLayout& whole) {
    for (const layout::Iter& iter : whole.replica()) {
      std::vector<Shift> next;
      for (const Shift& shift : side_.replicas)
        for (std::int64_t k = 0; k < iter.extent; ++k) {
          Shift moved = shift;
          const std::int64_t by = k * iter.stride;
          if (iter.axis == place_axis()) moved.place += by;
          if (iter.axis == layout::axes::tlane()) moved.lane += by;
          if (iter.axis.is_thread()) moved.thread += by * threads_per_step(call_, iter.axis);
          next.push_back(moved);
        }
      side_.replicas = std::move(next);
    }
    const auto key = [](const Shift& s) { return std::tuple(s.thread, s.lane, s.place); };
    auto& all = side_.replicas;
    std::ranges::sort(all, {}, key);
    const auto same = [&](const Shift& a, const Shift& b) { return key(a) == key(b); };
    all.erase(std::unique(all.begin(), all.end(), same), all.end());
  }

  Match<void> no_threads(const layout::TileLayout& whole) {
    for (const Axis axis : layout::moving_axes(whole))
      if (axis != place_axis() && !(side_.is_tensor() && axis == layout::axes::tlane()))
        return decline("axes", "`{}` in {} memory has a layout over `{}`", buffer_.name,
                       ir::name_of(buffer_.scope), axis.name());
    return {};
  }

  // --- row-major, with extents known at launch or regions that leave the buffer ---

  // A layout with one stride for each dimension goes on beyond its buffer; others do not.
  Match<std::vector<std::int64_t>> own_strides() {
    const layout::Shape shape = WW_TRY(constant_shape());
    const layout::Layout& whole = *buffer_.layout;
    const layout::TileLayout& tile = whole.tile();
    const auto is_plain = [&](std::size_t d) {
      const layout::Iter& iter = tile.shard()[d];
      return iter.extent == shape[d] && iter.axis == layout::axes::m() && iter.stride >= 0;
    };
    bool is_strided = whole.swizzle().is_none() && tile.replica().empty() &&
                      tile.offset().terms().empty() && tile.shard().size() == shape.size();
    for (std::size_t d = 0; is_strided && d < shape.size(); ++d) is_strided = is_plain(d);
    if (!is_strided)
      return decline("layout", "`{}` has a layout of its own, and the region may leave it",
                     buffer_.name);
    std::vector<std::int64_t> out;
    for (const layout::Iter& iter : tile.shard()) out.push_back(iter.stride);
    return out;
  }

  Match<void> place_row_major() {
    std::vector<std::int64_t> own;  // none: row-major
    if (buffer_.layout_kind == ir::LayoutKind::Explicit) own = WW_TRY(own_strides());
    side_.linear.assign(as_index(count_), 0);
    ExprId stride = code_.n(1);
    ExprId base = {};
    std::int64_t inner = 1;  // elements of the dimensions to the right
    for (std::size_t d = extents_.size(); d-- > 0;) {
      if (!own.empty()) stride = code_.n(own[d]);
      const ExprId min = code_.simplify(region_.ranges[d].min);
      if (code_.constant(min) != 0) {
        const ExprId part = wide_mul(code_, min, stride);
        base = base.valid() ? wide_add(code_, part, base) : part;
      }
      add_dimension(d, inner, stride);
      inner *= extents_[d];
      stride = wide_mul(code_, code_.simplify(buffer_.shape[d]), stride);
    }
    if (base.valid()) {
      side_.base = is_small(own) ? base : code_.as_int64(base);
      side_.base_divisor = ir::divisor_of(f_, base, code_.facts());
    }
    if (side_.is_register())
      return decline("layout", "`{}` in registers {}", buffer_.name,
                     side_.edges.empty() ? "has a runtime shape" : "may be left by the region");
    return {};
  }

  // Do 32 bits hold the places of all elements, those outside the buffer too?
  bool is_small(const std::vector<std::int64_t>& own) {
    const auto shape = ir::const_shape(f_, buffer_);
    if (!shape) return false;
    static constexpr std::int64_t kFar = std::int64_t{1} << 40;
    const auto near = [](std::int64_t x) { return Wide{std::clamp(x, -kFar, kFar)}; };
    Wide reach = 0, below = 0, stride = 1;
    for (std::size_t d = extents_.size(); d-- > 0;) {
      if (!own.empty()) stride = std::min(Wide{own[d]}, Wide{kFar});
      const ir::Range start = ir::range_of(f_, region_.ranges[d].min, code_.facts());
      reach += (near(start.max) + extents_[d]) * stride;
      below += near(std::min<std::int64_t>(start.min, 0)) * stride;
      stride = std::min(stride * (*shape)[d], Wide{kFar});
    }
    return reach < kInt32End && below > -kInt32End;
  }

  void add_dimension(std::size_t d, std::int64_t inner, ExprId stride) {
    if (extents_[d] == 1) return;
    const auto constant = code_.constant(stride);
    RuntimeStride runtime{.stride = stride,
                          .divisor = ir::divisor_of(f_, stride, code_.facts()),
                          .coef = std::vector<std::int64_t>(side_.linear.size(), 0)};
    for (std::int64_t x = 0; x < count_; ++x) {
      const std::int64_t digit = x / inner % extents_[d];
      const auto i = as_index(x);
      (constant ? side_.linear[i] : runtime.coef[i]) += digit * constant.value_or(1);
    }
    if (!constant) side_.strides.push_back(std::move(runtime));
  }

  const Call& call_;
  bool may_leave_;  // the buffer: something else arrives, or nothing is written
  ir::Function& f_;
  const ir::Region& region_;
  const ir::Buffer& buffer_;
  CodeWriter code_;
  Starts starts_;
  OperandPlaces side_;
  layout::Shape extents_;
  std::int64_t count_ = 1;
  ThreadPlaces threads_;
};

}  // namespace

Match<OperandPlaces> enumerated_places(const Call& call, std::size_t operand) {
  return PlacesMaker(call, operand).make();
}

Match<OperandPlaces> register_places(const Call& call, std::size_t operand) {
  const ir::Buffer& buffer = call.buffer(operand);
  if (buffer.scope == ir::Scope::Local) return operand_places(call, operand);
  return decline("memory", "`{}` is in {} memory, expected registers", buffer.name,
                 ir::name_of(buffer.scope));
}

Match<void> check_one_place(const Call& call, const OperandPlaces& side) {
  if (side.replicas.size() == 1) return {};
  return decline("replica", "`{}` holds each element at {} places", call.f()[side.buffer].name,
                 side.replicas.size());
}

Match<void> check_cells(const Call& call, const OperandPlaces& registers, std::size_t operand) {
  constexpr std::int64_t kMaxCells = std::int64_t{1} << 22;
  const auto cells = static_cast<std::int64_t>(registers.size() * registers.replicas.size() *
                                               registers.spread.size());
  if (cells <= kMaxCells) return {};
  return decline("size", "`{}` takes {} registers of all threads, of {} that are enumerated",
                 call.buffer(operand).name, cells, kMaxCells);
}

std::int64_t words_of(std::vector<std::int64_t> slots, int bits) {
  for (std::int64_t& slot : slots) slot = slot * bits / 32;
  std::ranges::sort(slots);
  const auto count = std::unique(slots.begin(), slots.end()) - slots.begin();
  return count * std::max<std::int64_t>(1, bits / 32);
}

// Places of operands that were enumerated before: tiles in registers go from one call to the next.

/// The places of a constant region in a buffer with a layout of its own, and all that they depend on
/// beside the launch.
struct KnownPlaces {
  ir::BufferId buffer;
  std::optional<layout::Layout> layout;
  std::vector<std::int64_t> bounds;  // start and extent, by dimension
  std::int64_t unit;                 // threads
  bool is_of_cluster;
  std::vector<std::int64_t> unit_starts;
  OperandPlaces places = {};
  [[nodiscard]] bool is_like(const KnownPlaces& other) const {
    return buffer == other.buffer && bounds == other.bounds && unit == other.unit &&
           is_of_cluster == other.is_of_cluster && unit_starts == other.unit_starts &&
           layout == other.layout;
  }
};

namespace {

// Without its places; nothing where they may depend on more.
std::optional<KnownPlaces> constant_region(const Call& call, std::size_t operand) {
  const ir::Region& region = call.region(operand);
  const ir::Buffer& buffer = call.f()[region.buffer];
  if (buffer.layout_kind != ir::LayoutKind::Explicit || buffer.scope != ir::Scope::Local ||
      ir::copy_settings(call.tile).may_leave(operand))
    return std::nullopt;
  KnownPlaces out{region.buffer,       buffer.layout,        {},
                  call.unit_threads(), call.is_of_cluster(), call.unit_starts()};
  for (const ir::RangeExpr& range : region.ranges)
    for (const ir::ExprId bound : {range.min, range.extent}) {
      const auto number = ir::const_int(call.f(), bound);
      if (!number) return std::nullopt;
      out.bounds.push_back(*number);
    }
  return out;
}

}  // namespace

Match<OperandPlaces> operand_places(const Call& call, std::size_t operand) {
  auto key = constant_region(call, operand);
  if (!key) return enumerated_places(call, operand);
  auto& known = call.context.places;
  for (const auto& each : known)
    if (each->is_like(*key)) return each->places;
  key->places = WW_TRY(enumerated_places(call, operand));
  constexpr std::size_t kMaxKnown = 16;
  if (known.size() == kMaxKnown) known.erase(known.begin());
  known.push_back(std::make_shared<const KnownPlaces>(*std::move(key)));
  return known.back()->places;
}

std::int64_t tensor_base_lane(const Call& call, const OperandPlaces& tensor) {
  const ir::Expr& address = call.f()[call.f()[tensor.buffer].allocated_addr];
  const bool is_made = address.op == ir::ExprOp::Call && address.callee == ir::Intrinsic::TmemAddr;
  return is_made ? ir::const_int(call.f(), address.args[1]).value_or(0) : 0;
}

ir::ExprId tensor_address(CodeWriter& code, const OperandPlaces& tensor, ir::ExprId base,
                          ir::ExprId lane, ir::ExprId column) {
  if (tensor.base.valid())
    column = code.add(column, code.div(code.mul(tensor.base, tensor.bits), 32));
  return code.call(ir::Intrinsic::TmemAddr, {base, lane, code.as_int32(code.simplify(column))});
}

}  // namespace ww::lower
