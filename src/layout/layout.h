// SPDX-License-Identifier: Apache-2.0
// Layouts: where the elements of a tile live.
//
// A logical element is named by its *flat* index (row-major over any shape with the right number of
// elements). A `TileLayout` sends it to one or more *places*; a place is an integer per axis. It has
//
//   shard    an ordered list of iters (extent, stride, axis): the flat index is split into digits, the
//            last iter being the fastest, and digit k contributes digit · stride on its axis;
//   replica  iters whose every digit is taken: each element is held at all of these places at once;
//   offset   a constant (or runtime) amount per axis.
//
// Worked example, an 8×16 tile over two warps that are mirrored on two more:
//
//   S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)] + R[2:4@warpid] + 5@warpid
//
//   element (1,3) is flat 19, digits (1,0,1,1): laneid = 4+1 = 5, warpid ∈ {5, 9}, m = 1.
//
// A `Layout` is a tile layout with a XOR swizzle on its `m` coordinate (the identity, usually).
// Both are plain values: copy them, compare them, keep them. They are always valid: `make` refuses
// bad parts with a reason, and operations (the other headers of this folder) return new layouts or
// a reason.
//
// An axis that a layout does not mention is at 0.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/small_vec.h"
#include "layout/axis.h"
#include "layout/expr.h"

namespace ww::layout {

/// No layout has more elements than this; larger ones are refused when they are made.
inline constexpr std::int64_t kMaxSize = std::int64_t{1} << 38;
/// Operations that must enumerate elements refuse beyond this many.
inline constexpr std::int64_t kMaxEnumerated = std::int64_t{1} << 24;
/// The extent of an outermost iter that is only known at run time; written `?`.
inline constexpr std::int64_t kUnknownExtent = -1;

struct Iter {
  std::int64_t extent = 1;
  std::int64_t stride = 1;
  Axis axis;
  friend bool operator==(const Iter&, const Iter&) = default;
};

using Iters = SmallVec<Iter, 8>;
using Shape = SmallVec<std::int64_t, 6>;

/// One summand of the offset of a layout: coef on an axis, or coef · atom where `atom` is set.
struct OffsetTerm {
  Axis axis;
  std::int64_t coef = 0;
  Atom atom;
  bool is_symbolic = false;
  friend bool operator==(const OffsetTerm& a, const OffsetTerm& b) {
    return a.axis == b.axis && a.coef == b.coef && a.is_symbolic == b.is_symbolic &&
           (!a.is_symbolic || a.atom == b.atom);
  }
};

/// An amount per axis. Sorted by axis name; never holds a zero.
class Offsets {
 public:
  Offsets() = default;
  Offsets(std::initializer_list<std::pair<Axis, std::int64_t>> parts);

  /// Adds an amount on an axis.
  void add(Axis axis, std::int64_t amount);
  void add(Axis axis, const Expr& amount);
  void add(const Offsets& other);
  void subtract(const Offsets& other);

  [[nodiscard]] Expr on(Axis axis) const;
  /// The constant part on an axis.
  [[nodiscard]] std::int64_t constant_on(Axis axis) const;
  [[nodiscard]] bool empty() const { return terms_.empty(); }
  [[nodiscard]] bool is_constant() const;
  [[nodiscard]] std::span<const OffsetTerm> terms() const { return terms_; }
  /// The axes that occur, by name, each once.
  [[nodiscard]] SmallVec<Axis, 4> axes() const;
  friend bool operator==(const Offsets&, const Offsets&) = default;

 private:
  void add_term(OffsetTerm term);
  SmallVec<OffsetTerm, 2> terms_;
};

class TileLayout {
 public:
  /// The layout of a single element at the origin: `S[]`.
  TileLayout() = default;
  /// Checks and builds. Extents must be ≥ 1 (or kUnknownExtent for the first shard iter), at most
  /// kMaxSize elements and as many replicas, every place within ±kMaxPlace.
  static Result<TileLayout> make(Iters shard, Iters replica = {}, Offsets offset = {});
  /// Row-major over `shape` on axis `m`.
  static Result<TileLayout> row_major(std::span<const std::int64_t> shape);

  [[nodiscard]] const Iters& shard() const { return shard_; }
  [[nodiscard]] const Iters& replica() const { return replica_; }
  [[nodiscard]] const Offsets& offset() const { return offset_; }

  [[nodiscard]] bool has_unknown_extent() const {
    return !shard_.empty() && shard_.front().extent == kUnknownExtent;
  }
  /// Number of logical elements (product of the shard extents). Requires known extents.
  [[nodiscard]] std::int64_t size() const;
  /// Number of places per element, counting coinciding ones (product of the replica extents).
  [[nodiscard]] std::int64_t copies() const;
  /// The axes of shard, replica and offset, by name, each once.
  [[nodiscard]] SmallVec<Axis, 4> axes() const;
  /// Smallest and largest value on an axis over all elements and replicas, exactly (0..0 for an
  /// axis that does not occur). Requires known extents.
  [[nodiscard]] Range range_on(Axis axis) const;

  /// Same iters in the same order, same offset. For "same places" use `same_places` (canonical.h).
  friend bool operator==(const TileLayout&, const TileLayout&) = default;

 private:
  Iters shard_;
  Iters replica_;
  Offsets offset_;
};

/// XOR swizzle of an address: the address is cut into units of 2^per_element; bits [atom, atom+len)
/// of the unit number are XORed into bits [0, len) (`inner`), or the other way round (outer). Every
/// `Swizzle` with len == 0 means "no swizzle" and compares equal to the default one.
class Swizzle {
 public:
  Swizzle() = default;
  /// Requires 0 ≤ per_element, 0 ≤ len ≤ atom, and per_element + atom + len ≤ 40.
  static Result<Swizzle> make(int per_element, int len, int atom, bool inner = true);

  [[nodiscard]] bool is_none() const { return len_ == 0; }
  [[nodiscard]] int per_element() const { return per_element_; }
  [[nodiscard]] int len() const { return len_; }
  [[nodiscard]] int atom() const { return atom_; }
  [[nodiscard]] bool inner() const { return inner_; }
  /// Number of addresses after which the pattern repeats: 2^(per_element+atom+len); 1 for none.
  [[nodiscard]] std::int64_t period() const;
  /// Aligned blocks of this many addresses are permuted within themselves.
  [[nodiscard]] std::int64_t block() const;
  /// The swizzled address; `address` must not be negative.
  [[nodiscard]] std::int64_t operator()(std::int64_t address) const {
    const std::int64_t unit = address >> per_element_;
    const std::int64_t mask = (std::int64_t{1} << len_) - 1;
    const std::int64_t moved = inner_ ? (unit >> atom_) & mask : (unit & mask) << atom_;
    return address ^ (moved << per_element_);
  }
  friend bool operator==(const Swizzle&, const Swizzle&) = default;

 private:
  int per_element_ = 0;
  int len_ = 0;
  int atom_ = 0;
  bool inner_ = true;
};

/// A tile layout with a swizzle on its `m` coordinate.
class Layout {
 public:
  Layout() = default;
  Layout(TileLayout tile) : tile_(std::move(tile)) {}  // NOLINT(google-explicit-constructor)
  /// Refuses a swizzle over a tile whose `m` can be negative.
  static Result<Layout> make(TileLayout tile, Swizzle swizzle);
  /// The same replicas, offset and swizzle around another shard.
  [[nodiscard]] Result<Layout> with_shard(Iters shard) const;

  [[nodiscard]] const TileLayout& tile() const { return tile_; }
  [[nodiscard]] const Swizzle& swizzle() const { return swizzle_; }
  [[nodiscard]] bool is_swizzled() const { return !swizzle_.is_none(); }
  [[nodiscard]] std::int64_t size() const { return tile_.size(); }
  [[nodiscard]] std::int64_t copies() const { return tile_.copies(); }
  friend bool operator==(const Layout&, const Layout&) = default;

 private:
  TileLayout tile_;
  Swizzle swizzle_;
};

/// Product of a shape. Refuses extents below 1 and products above kMaxSize. `?` is refused too.
Result<std::int64_t> element_count(std::span<const std::int64_t> shape);

/// The axes on which some place is not 0, by name. (A mentioned axis may be idle: unit extents,
/// zero strides.)
SmallVec<Axis, 4> moving_axes(const TileLayout& layout);

/// Number of elements on iters of one axis (1 for an axis that does not occur). Requires known
/// extents.
std::int64_t size_on(const TileLayout& layout, Axis axis);

/// One past the largest value on the axis, over all elements and replicas, the swizzle included:
/// the amount of storage to reserve on that axis. Exact; at most 0 when all places are negative.
Result<std::int64_t> span_on(const Layout& layout, Axis axis);

/// The span of the only memory axis that occurs (1 if none does); refuses when several occur,
/// because then a single number has no meaning, and when the kind of an axis is unknown.
Result<std::int64_t> memory_span(const Layout& layout);

/// Fails unless the layout has constant extents (no `?`) and a constant offset.
Result<void> require_constant(const Layout& layout, std::string_view operation);

}  // namespace ww::layout
