// SPDX-License-Identifier: Apache-2.0
#include "lower/operand_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <tuple>

#include "base/wide.h"
#include "ir/print/print.h"
#include "ir/settings.h"
#include "layout/apply.h"
#include "layout/image.h"
#include "layout/slice.h"
#include "lower/as_index.h"
#include "lower/index_formula.h"
#include "lower/operand_owners.h"

namespace ww::lower {

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

}  // namespace ww::lower
