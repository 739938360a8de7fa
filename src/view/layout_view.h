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

}  // namespace ww::view
