// SPDX-License-Identifier: Apache-2.0
// Undefined elements of products whose D is in registers. An element of D is undefined if an
// element in its row of A, in its column of B, or the one it is added to is undefined.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/checks/undefined.h"
#include "sim/ops/register_matrix.h"

namespace ww::sim {

class OpenLines {
 public:
  explicit OpenLines(Warp& warp) : warp_(warp) {}

  /// Looks at a matrix in registers. C counts as rows where it lies otherwise than D.
  void add_rows(std::span<const Place> registers, const RegisterMatrix& it) {
    add(registers, rows_, [&](unsigned r, unsigned lane) { return it.cell(lane, r, 0).line; });
  }
  void add_columns(std::span<const Place> registers, const RegisterMatrix& it) {
    add(registers, columns_, [&](unsigned r, unsigned lane) { return it.cell(lane, r, 0).line; });
  }
  /// Looks at registers of which a lane has elements of one row of A or C: row_of(lane).
  template <typename RowOf>
  void add_lanes(std::span<const Place> registers, RowOf&& row_of) {
    add(registers, rows_, [&](unsigned, unsigned lane) { return row_of(lane); });
  }
  /// Lines of an operand elsewhere: where their undefined elements come from, 0: there is none.
  void add_rows(std::span<const OriginId> lines) { add(lines, rows_); }
  void add_columns(std::span<const OriginId> lines) { add(lines, columns_); }
  /// All of D depends on these lanes of a register.
  void add_all(Place place, Mask lanes) {
    add(std::span(&place, 1), rows_,
        [&](unsigned, unsigned l) { return has_lane(lanes, l) ? kAll : kNone; });
  }

  /// Marks the elements of D. C lies as D does; empty where nothing is added.
  void mark(std::span<const Place> d, std::span<const Place> c, const RegisterMatrix& it) {
    mark(d, c, it.parts, it.bits / 8,
         [&](unsigned r, unsigned lane, unsigned part) { return it.cell(lane, r, part); });
  }
  /// The same of cell_of(register, lane, part) of registers that hold so many of a size.
  template <typename CellOf>
  void mark(std::span<const Place> d, std::span<const Place> c, unsigned parts, unsigned bytes,
            CellOf&& cell_of) {
    if (!is_open_ &&
        std::ranges::all_of(c, [&](Place place) { return marks_of(place) == nullptr; })) {
      for (const Place place : d) define_lanes(warp_, place, warp_.exec);
      return;
    }
    std::vector<Marks> all(d.size());
    for (std::size_t r = 0; r < d.size(); ++r) {
      const std::uint8_t* const old = c.empty() ? nullptr : marks_of(c[r]);
      if (old == nullptr && !is_open_) continue;
      for_each_lane(warp_.exec, [&](unsigned l) {
        for (unsigned part = 0; part < parts; ++part) {
          const auto own = static_cast<std::uint8_t>(((1U << bytes) - 1U) << (part * bytes));
          OriginId id = at(cell_of(static_cast<unsigned>(r), l, part));
          if (id == 0 && old != nullptr && (old[l] & own) != 0) id = origin_of(warp_, c[r], l);
          if (id == 0) continue;
          all[r].bytes[l] |= own;
          all[r].origins[l] = id;
          all[r].lanes |= lane_bit(l);
        }
      });
    }
    for (std::size_t r = 0; r < d.size(); ++r) {
      set_undefined_bytes(warp_, d[r], all[r].bytes);
      if (all[r].lanes != 0) set_origins(warp_, d[r], all[r].lanes, all[r].origins);
    }
  }

 private:
  static constexpr unsigned kLines = 256;
  static constexpr unsigned kAll = kLines, kNone = kLines + 1;
  using Lines = std::array<OriginId, kLines + 2>;
  struct Marks {
    std::uint8_t bytes[kLanes] = {};
    OriginId origins[kLanes] = {};
    Mask lanes = 0;
  };

  [[nodiscard]] OriginId at(Cell cell) const {
    if (rows_[kAll] != 0) return rows_[kAll];
    return rows_[cell.line] != 0 ? rows_[cell.line] : columns_[cell.at];
  }
  // Null: nothing is undefined.
  [[nodiscard]] const std::uint8_t* marks_of(Place place) const {
    if (place.is_constant() || !warp_.undefined.is_suspect(place)) return nullptr;
    const std::uint8_t* const marks = warp_.undefined.of(place);
    const bool any = std::any_of(marks, marks + kLanes, [](std::uint8_t b) { return b != 0; });
    return any ? marks : nullptr;
  }
  void add(std::span<const OriginId> from, Lines& lines) {
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (from[i] == 0) continue;
      lines[i] = from[i];
      is_open_ = true;
    }
  }
  template <typename LineOf>
  void add(std::span<const Place> registers, Lines& lines, LineOf&& line_of) {
    for (std::size_t r = 0; r < registers.size(); ++r) {
      const std::uint8_t* const marks = marks_of(registers[r]);
      if (marks == nullptr) continue;
      for_each_lane(warp_.exec, [&](unsigned l) {
        OriginId& id = lines[line_of(static_cast<unsigned>(r), l)];
        if (marks[l] == 0 || id != 0) return;
        id = origin_of(warp_, registers[r], l);
        is_open_ = true;
      });
    }
  }

  Warp& warp_;
  Lines rows_{}, columns_{};
  bool is_open_ = false;
};

}  // namespace ww::sim
