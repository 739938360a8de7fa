// SPDX-License-Identifier: Apache-2.0
// A product as it lies in the registers of one warp, found by looking at what every lane holds.
//
// Lane 4g + t of a matrix instruction has eight rows of A and D by g, four columns of D by t, eight
// columns of B by g, and values of k by t and by the part of the register. So one register of D is
// an *octet* of rows times a *quad* of columns; one word of A an octet times a *group* of 4e values
// of k; one word of B eight columns, which are two quads interleaved (2t and 2t + 1), times a
// group. Which rows make an octet, and in which order, does not matter as long as A and D agree in
// it, and likewise for columns and k: that is all a permuted or differently written layout changes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lower/gemm/mma_atoms.h"
#include "lower/operand_places.h"

namespace ww::lower {

/// The operands of a call, by argument.
inline constexpr std::string_view kRoleNames[] = {"D", "A", "B", "C"};

struct GemmProblem : GemmSizes {
  OperandPlaces d, a, b;
  std::optional<OperandPlaces> c;  // when it takes part
};

/// Registers, by their first element. Octets are in the order of A's registers, pairs of quads in
/// that of B's, groups of k in that of A's.
struct WarpTiles {
  std::size_t octets = 0, pairs = 0, groups = 0;
  std::vector<std::int64_t> d = {};  // by octet, pair and quad of the pair
  std::vector<std::int64_t> a = {};  // by octet and group
  std::vector<std::int64_t> b = {};  // by pair and group
  std::vector<std::int64_t> c = {};  // like d; empty: C takes no part

  [[nodiscard]] std::int64_t d_at(std::size_t octet, std::size_t pair, std::size_t quad) const {
    return d[(octet * pairs + pair) * 2 + quad];
  }
  [[nodiscard]] std::int64_t c_at(std::size_t octet, std::size_t pair, std::size_t quad) const {
    return c[(octet * pairs + pair) * 2 + quad];
  }
  [[nodiscard]] std::int64_t a_at(std::size_t octet, std::size_t group) const {
    return a[octet * groups + group];
  }
  [[nodiscard]] std::int64_t b_at(std::size_t pair, std::size_t group) const {
    return b[pair * groups + group];
  }
  friend bool operator==(const WarpTiles&, const WarpTiles&) = default;
};

struct UnitTiles {
  WarpTiles tiles;          // the same in all warps that take part
  std::vector<bool> warps;  // of the unit, that hold a part of D
};

/// What the warps of the unit hold, or why it is no product of matrix instructions: rules
/// `no_replica`, `fragment`, `k-split`, `warps`.
Match<UnitTiles> tiles_of(const Call& call, const GemmProblem& problem);

/// The rows and columns of D that one warp holds, in the order of its registers.
struct WarpLines {
  std::vector<std::vector<std::int64_t>> octets;  // 8 rows each, by g
  std::vector<std::vector<std::int64_t>> quads;   // 4 columns each, by t
};
/// The same for all warps of the unit, from D alone; warps without a part of it have none.
Match<std::vector<WarpLines>> lines_of(const Call& call, const GemmSizes& sizes);

}  // namespace ww::lower
