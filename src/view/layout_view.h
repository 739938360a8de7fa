// SPDX-License-Identifier: Apache-2.0
// The common input of all pictures of a layout: the layout enumerated once over a shape, with its
// facts and the kind of picture that suits its axes. The table, the JSON and the SVG read this
// value and never the layout itself, so the three always agree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/small_vec.h"
#include "layout/banks.h"
#include "layout/image.h"
#include "layout/layout.h"

namespace ww::view {

/// What a layout's axes say about the storage it describes.
enum class PictureKind : std::uint8_t {
  Registers,  // thread axes, and at most `m` beside them: who holds an element, in which register
  Shared,     // `m` alone (or no axis): an address in linear memory, shared memory above all
  TensorMemory,  // `TLane` and `TCol`
  Generic,       // anything else: undeclared axes, other memories, devices
};
/// "registers", "shared", "tensor_memory", "generic".
std::string_view name_of(PictureKind kind);

/// Width assumed for the elements of a shared-memory layout when the caller gives none.
inline constexpr int kDefaultElementBits = 32;
/// Widths from 1 to this many bits are accepted.
inline constexpr int kMaxElementBits = 1024;

struct ViewOptions {
  std::optional<int> element_bits;  // turns addresses into bytes, lines and banks
};

/// One place: a value per axis, in the order of `LayoutView::axes()`.
using PlaceValues = SmallVec<std::int64_t, 4>;

class LayoutView {
 public:
  /// Enumerates `layout`. Refuses a shape with another number of elements (NotAdmitted), extents or
  /// offsets that are not constant (NeedsConstant), more than layout::kMaxEnumerated places
  /// (TooLarge), element bits outside 1..kMaxElementBits (BadArgument) and two axes of the same
  /// name (BadAxis).
  static Result<LayoutView> make(const layout::Layout& layout, std::span<const std::int64_t> shape,
                                 const ViewOptions& options = {});

  /// The layout in its notation.
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const layout::Shape& shape() const { return shape_; }
  [[nodiscard]] std::int64_t size() const { return image_.size; }
  [[nodiscard]] PictureKind kind() const { return kind_; }
  [[nodiscard]] const layout::ImageFacts& facts() const { return facts_; }

  /// All axes of the layout, by name.
  [[nodiscard]] std::span<const layout::Axis> axes() const { return image_.axes; }
  /// Position of an axis in `axes()`.
  [[nodiscard]] std::optional<std::size_t> index_of(layout::Axis axis) const;
  /// Smallest and largest value on axis number `axis`.
  [[nodiscard]] layout::Range range(std::size_t axis) const;

  /// Different places per element; the same for all elements.
  [[nodiscard]] std::int64_t copies() const { return facts_.copies; }
  /// The smallest place of element `flat` (by value on the first axis, then the second, …).
  [[nodiscard]] PlaceValues first_place(std::int64_t flat) const;
  /// All different places of element `flat`, ascending.
  [[nodiscard]] std::vector<PlaceValues> places(std::int64_t flat) const;

  /// The width used for banks: the caller's, else kDefaultElementBits.
  [[nodiscard]] int element_bits() const { return element_bits_.value_or(kDefaultElementBits); }
  [[nodiscard]] bool is_element_bits_given() const { return element_bits_.has_value(); }
  /// Can every place be given a bank? True for shared layouts whose addresses are not negative (and
  /// small enough to count their bits).
  [[nodiscard]] bool has_banks() const { return has_banks_; }
  /// The bank of a place. Requires has_banks().
  [[nodiscard]] layout::BankPlace bank(const PlaceValues& place) const;

 private:
  LayoutView() = default;
  [[nodiscard]] PlaceValues place(std::int64_t flat, std::int64_t copy) const;

  std::string text_;
  layout::Shape shape_;
  PictureKind kind_ = PictureKind::Generic;
  layout::Image image_;
  layout::ImageFacts facts_;
  std::optional<int> element_bits_;
  bool has_banks_ = false;
};

/// "(1,3)" for flat index 19 of shape (8,16).
std::string coordinate_text(const LayoutView& view, std::int64_t flat);

// --- grids ---------------------------------------------------------------------------------------
//
// How to draw the elements of a shape: a two-dimensional shape is one grid; a one-dimensional shape
// is wrapped into rows; from three dimensions on, the last two make a grid and the others count
// *slabs*. Elements of a slab are consecutive in flat order, rows too. Or they lie where a memory
// has them (view/layout_view.h).

struct Grid {
  std::int64_t rows = 1;
  std::int64_t cols = 1;
  std::int64_t slabs = 1;
  std::int64_t size = 1;     // elements in all
  bool is_wrapped = false;   // one dimension cut into several rows; the last may be short
  layout::Shape slab_shape;  // the leading dimensions; empty when there is one slab

  // Where elements are not in flat order:
  std::vector<std::int64_t> cells = {};  // row by row the element, kHole for none
  std::int64_t first_row = 0, first_col = 0;
  std::string note = {};  // for people: what rows and columns are

  static constexpr std::int64_t kHole = -1;

  /// Flat index of a cell; nothing past the end of a wrapped row, and in a hole.
  [[nodiscard]] std::optional<std::int64_t> element(std::int64_t slab, std::int64_t row,
                                                    std::int64_t col) const;
  /// Headings: the coordinate, or for a wrapped row its first index and "+1", "+2" …
  [[nodiscard]] std::string row_name(std::int64_t row) const;
  [[nodiscard]] std::string col_name(std::int64_t col) const;
  /// "[1,0,:,:]"; empty when there are no leading dimensions.
  [[nodiscard]] std::string slab_name(std::int64_t slab) const;
};

/// The grid of a shape; a one-dimensional shape is wrapped after `wrap` (≥ 1) elements.
Grid make_grid(std::span<const std::int64_t> shape, std::int64_t wrap);

// --- memory grid ---------------------------------------------------------------------------------
//
// The elements of a tile by where they are in tensor memory rather than by their coordinates: a row
// per lane, a column per column. A view of the registers of the same tile drawn there says which
// thread holds what lies in lane L, column C.

/// More cells are refused.
inline constexpr std::int64_t kMaxMemoryCells = std::int64_t{1} << 20;

/// The grid of the lanes and columns in use, with holes where no element is; replicas are in every
/// cell they are at. Refuses a view that is not of tensor memory (BadArgument), two elements in one
/// cell (NotInjective) and more than kMaxMemoryCells (TooLarge).
Result<Grid> memory_grid(const LayoutView& places);

}  // namespace ww::view
