// SPDX-License-Identifier: Apache-2.0
// Layouts by name, usable wherever a notation is: `mma_shared(float16,128B,64,64)` beside
// `S[(8,16):(16,1)]`. One row per name; the rows are the help text, too.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "driver/args/text.h"
#include "layout/layout.h"
#include "layout/text.h"
#include "num/dtype.h"

namespace ww::driver {

// --- named args ----------------------------------------------------------------------------------
//
// Arguments of a call such as `mma_shared(float16, 128B, 64, 64)`, bound to declared parameters.
// Arguments may be positional or `name=value`; a flag is set by its bare name. Quotes around words
// and parentheses around lists of numbers are optional, so that calls pasted from Python work.

enum class LayoutParamKind : std::uint8_t {
  Int,    // a number
  Ints,   // all remaining positional numbers; last parameter without a default
  Dims,   // one list of numbers: `64x64` or `(64,64)`
  Word,   // one of the choices
  DType,  // an element type
  Flag,   // its bare name, true or false
};

struct LayoutParam {
  std::string_view name;
  LayoutParamKind kind = LayoutParamKind::Int;
  /// What is accepted, separated by blanks: words, numbers, or widths in bits for an element type.
  /// Empty: anything.
  std::string_view choices = {};
  bool optional = false;
};

/// "dtype, mode, extent..., [sub_slab]"
std::string signature_of(std::span<const LayoutParam> params);

/// Bound arguments, asked for by position in the parameter list.
class NamedArgs {
 public:
  /// Binds `arguments` (the text between the parentheses of a call of `name`). Every refusal is
  /// located and says what the parameter accepts.
  static Result<NamedArgs> bind(std::string_view name, Piece arguments,
                                std::span<const LayoutParam> params);

  [[nodiscard]] bool has(std::size_t param) const { return bound_[param].is_given; }
  [[nodiscard]] std::int64_t number(std::size_t param, std::int64_t otherwise = 0) const;
  [[nodiscard]] int small(std::size_t param, int otherwise = 0) const;
  [[nodiscard]] const layout::Shape& numbers(std::size_t param) const {
    return bound_[param].numbers;
  }
  /// The choice as the parameter list spells it.
  [[nodiscard]] std::string_view word(std::size_t param) const { return bound_[param].word; }
  /// The width of an element type.
  [[nodiscard]] int bits(std::size_t param) const { return num::bits_of(bound_[param].dtype); }
  [[nodiscard]] bool flag(std::size_t param) const { return bound_[param].numbers.size() == 1; }
  /// Where an argument stands; all arguments when it was left out.
  [[nodiscard]] Piece place(std::size_t param) const;
  [[nodiscard]] Piece whole() const { return arguments_; }

 private:
  struct Value {
    bool is_given = false;
    Piece piece;
    layout::Shape numbers;  // a set flag holds one number
    std::string_view word;
    num::DType dtype{};
  };
  static Result<Value> read(const LayoutParam& param, Piece piece);
  static Result<Value> read_flag(const LayoutParam& param, Piece piece);
  Result<void> store(const LayoutParam& param, std::size_t index, Piece piece);

  Piece arguments_;
  std::vector<Value> bound_;
};

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

/// A notation and the shape it is read over.
struct ShapedLayout {
  layout::Layout layout;
  layout::Shape shape;
};

/// Reads `NOTATION/SHAPE`. Without `/SHAPE` the notation's own shape is taken (written_shape).
Result<ShapedLayout> parse_shaped(Piece piece, const layout::Names& names);

/// The natural shape of a named layout, else `reading_shape`.
layout::Shape written_shape(const NotatedLayout& notated);

/// The shape to show a layout in when none is given: up to two iters, one dimension each; more iters,
/// the matrix nearest to a square that a single cut between two iters gives, wide rather than high.
/// So `S[(8,4,2):…]` reads as (8,8) and `S[(8,2,4,2):…]` as (8,16). No iters: (1).
layout::Shape reading_shape(const layout::Layout& layout);

}  // namespace ww::driver
