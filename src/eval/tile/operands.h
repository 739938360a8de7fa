// SPDX-License-Identifier: Apache-2.0
// Operands of tile primitives: from regions to elements with all their copies, and their values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "eval/cta/cta.h"

namespace ww::eval {

/// The threads that execute a tile primitive together.
struct UnitInstance {
  Agent agent;
  Thread first = 0;
  std::int64_t size = 1;
  Threads threads;
  bool is_of_cluster = false;  // these are the threads of one of its CTAs
};
std::string unit_text(const Cta& cta, const UnitInstance& unit);  // "warp 3 of CTA (0,0,0)"

/// The elements of a region in row-major order, each with its copies.
struct Tile {
  const BufferInfo* info = nullptr;
  layout::Shape shape = {};  // of the buffer
  layout::Shape extents = {};
  std::size_t count = 0;
  std::size_t copies = 1;
  std::vector<Element> elements = {};  // [element][copy]
  std::vector<bool> outside = {};      // elements outside the buffer; empty: none is
};
/// The first thread that holds an element, of a tile in registers.
Thread first_owner(const Tile& tile, std::size_t x);

struct TileValues {
  num::DType type = num::DType::Float32;
  std::vector<Word> bits = {};
  std::vector<Word> undefined = {};  // which bits are not defined; empty: all are
  bool is_by_copy = false;           // one for each copy of each element, not for each element
};

/// The tile of a region; nothing, and a finding or a stop, when there is none. `may_leave`: the
/// region may leave its buffer.
std::optional<Tile> make_tile(Cta& cta, const ir::Region& region, const UnitInstance& unit,
                              bool may_leave = false);

/// Elements of a region by a number along one axis, and by their row-major number among the elements
/// with the same one.
struct Picked {
  std::size_t axis = 0;
  std::vector<std::int64_t> row = {}, in_row = {};
};
/// Those elements; the ones whose number is not in the region are outside.
std::optional<Tile> make_picked_tile(Cta& cta, const ir::Region& region, const UnitInstance& unit,
                                     const Picked& picked);

/// `is_copy`: undefined bits are passed on, not found. `readers`: a tile in registers whose owners
/// read what they get; otherwise some thread of the unit reads.
TileValues read_tile(Cta& cta, const Tile& tile, const UnitInstance& unit, bool is_copy,
                     const Tile* readers = nullptr);
void write_tile(Cta& cta, const Tile& tile, const UnitInstance& unit, const TileValues& values);

bool is_given(const ir::TileArg& arg);
/// A region, broadcast to the shape of `like`, or a scalar for all of its elements. False: stopped,
/// or a finding.
bool read_operand(Cta& cta, const ir::TileArg& arg, const UnitInstance& unit, const Tile& like,
                  TileValues& out);
/// One number for the whole primitive.
double read_factor(Cta& cta, const ir::TileArg& arg, const UnitInstance& unit,
                   std::string_view what, double otherwise);
/// An expression that must be the same in all threads of the unit; a finding where it is not.
std::int64_t uniform_int(Cta& cta, ir::ExprId id, const UnitInstance& unit, std::string_view what);

}  // namespace ww::eval
