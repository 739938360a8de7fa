// SPDX-License-Identifier: Apache-2.0
// What the statements of a random program name: regions of its tiles, of new inputs and of new
// outputs, and conditions.
#pragma once

#include <cstdint>
#include <string>

#include "soak/draft.h"

namespace ww::test {

struct Columns {
  std::int64_t begin = 0, count = 0;

  static Columns all(const Extents& shape) { return {0, shape[1]}; }
};
/// All columns, or a few of them.
Columns any_columns(Draft& draft, const Extents& shape);

std::string region_of(const RegTile& reg, Columns c);
/// The part of a unit, or where `unit` says so those of all.
std::string region_of(Draft& draft, const Place& at, const Shared& each, const std::string& unit,
                      Columns c);
/// One of the stages of a tile.
std::string any_stage(Draft& draft, const Place& at, std::int64_t stages);

/// What leads to the part of an array that a CTA has in a turn of the loops.
struct PerTurn {
  Extents extents;    // of the array, one for CTAs and one for each loop
  std::string index;  // "cta, i0, "
};
PerTurn per_turn(const Draft& draft, const Place& at);

/// A region of an input, and whether it goes beyond the end of it.
struct Source {
  std::string text;
  bool is_ragged = false;
  bool has_fill_value = false;  // another than zero
  [[nodiscard]] const char* fill() const {
    return !is_ragged ? "" : has_fill_value ? ", fill_value=3" : ", fill_mode=\"zero\"";
  }
};
/// A new input, of which one tile for each CTA, unit and turn of the loops is taken.
Source new_input(Draft& draft, const Place& at, const std::string& dtype, const Extents& shape,
                 Columns c, bool is_all, bool may_be_ragged);
/// A new output, in which every CTA, unit and turn has its own tile.
/// `is_cut`: its last rows or columns are missing.
std::string new_output(Draft& draft, const Place& at, const std::string& dtype,
                       const Extents& shape, Columns c, bool is_all, bool is_cut = false);

/// A condition that all threads of the CTA, or where `is_of_unit` of a unit, agree about.
std::string any_condition(Draft& draft, const Place& at, bool is_of_unit);
/// Seldom a setting of a copy: ", predicate=p0 > 0".
std::string any_predicate(Draft& draft, const Place& at, bool is_of_unit);

}  // namespace ww::test
