// SPDX-License-Identifier: Apache-2.0
// Operands of tile primitives: from regions to elements with all their copies, and their values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "eval/cta/cta.h"
#include "layout/layout.h"

namespace ww::eval {

/// Row-major numbers, in the whole shape, of the elements of a region, in the region's row-major
/// order.
std::vector<std::int64_t> flat_indices(std::span<const std::int64_t> shape,
                                       std::span<const std::int64_t> mins,
                                       std::span<const std::int64_t> extents, std::size_t count);

/// Which of those elements are outside the whole shape.
std::vector<bool> outside_of(std::span<const std::int64_t> shape,
                             std::span<const std::int64_t> mins,
                             std::span<const std::int64_t> extents, std::size_t count);

/// The extents other than 1.
layout::Shape squeezed(std::span<const std::int64_t> extents);

/// For each element of `like` the element of `from` that stands for it: the same one where the
/// shapes agree without their unit extents, otherwise aligned at the last dimension, unit extents
/// stretched. Nothing when the shapes do not go together.
std::optional<std::vector<std::size_t>> broadcast_map(std::span<const std::int64_t> like,
                                                      std::span<const std::int64_t> from);

/// For each element of a shape the number of the element that it is folded into when `axes` vanish
/// (negative ones count from the end). Nothing when an axis does not exist.
struct Folding {
  std::vector<std::size_t> into;
  std::size_t count = 1;
};
std::optional<Folding> folding(std::span<const std::int64_t> extents,
                               std::span<const std::int64_t> axes);

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
