// SPDX-License-Identifier: Apache-2.0
// Layouts by name, usable wherever a notation is: `mma_shared(float16,128B,64,64)` beside
// `S[(8,16):(16,1)]`. One row per name; the rows are the help text, too.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "driver/layout/named_args.h"
#include "layout/layout.h"
#include "layout/text.h"

namespace ww::driver {

/// A layout as it was written: what is known beyond the places themselves.
struct NotatedLayout {
  layout::Layout layout;
  /// The shape that a named layout is a tile of. Nothing for plain notation.
  std::optional<layout::Shape> natural_shape = {};
  /// Width of the elements a named layout is made for.
  std::optional<int> bits = {};
};

struct NamedLayout {
  std::string_view name;
  std::string_view aliases;  // separated by blanks
  std::span<const LayoutParam> params;
  std::string_view help;
  std::string_view example;
  /// The parameter a refusal of the constructor is about, or npos for all of them together.
  std::size_t blamed;
  Result<NotatedLayout> (*build)(const NamedArgs& args);
};

/// All named layouts, in the order of the help text.
std::span<const NamedLayout> named_layouts();

/// Reads a named layout or a notation of layout/text.h. The Diag's span points into `text`; an
/// unknown name gets the nearest one.
Result<NotatedLayout> parse_notation(std::string_view text, const layout::Names& names = {});
Result<NotatedLayout> parse_notation_at(Piece piece, const layout::Names& names = {});

/// The natural shape of a named layout, else `reading_shape`.
layout::Shape written_shape(const NotatedLayout& notated);

/// The shape to show a layout in when none is given: up to two iters, one dimension each; more iters,
/// the matrix nearest to a square that a single cut between two iters gives, wide rather than high.
/// So `S[(8,4,2):…]` reads as (8,8) and `S[(8,2,4,2):…]` as (8,16). No iters: (1).
layout::Shape reading_shape(const layout::Layout& layout);

}  // namespace ww::driver
