// SPDX-License-Identifier: Apache-2.0
// A gemm call read into sizes, types, factors and the places of its operands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/gemm_factors.h"
#include "isa/fragment.h"
#include "lower/call.h"
#include "lower/operand_places.h"
#include "num/dtype.h"

namespace ww::lower {

// --- instructions --------------------------------------------------------------------------------

// Which mma.sync there is for the element types of a product, read off the catalogue. A shape is so
// many groups of eight rows (octets) by eight columns by so many groups of 4e values of k, where e
// elements of A or B share a register:
//
//     m16n8k16 of float16: 2 octets, e = 2, 2 groups of k      m8n8k4 of float64: 1, e = 1, 1

struct MmaAtom {
  std::string shape;   // "m16n8k16"
  std::string opcode;  // "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
  int octets = 2;
  int groups = 1;
};

/// Element types of A and B, which are of one width, and of D and C.
struct GemmTypes {
  num::DType a = num::DType::Float16, b = num::DType::Float16;
  num::DType out = num::DType::Float32;

  /// Elements of A or B in one register, and of D.
  [[nodiscard]] int per_word() const { return per_register(a); }
  [[nodiscard]] int per_out_word() const { return per_register(out); }
  /// Those of A and B: "float16", "uint8 and int8".
  [[nodiscard]] std::string text() const {
    const std::string_view first = num::name_of(a);
    return a == b ? std::string(first) : fmt::format("{} and {}", first, num::name_of(b));
  }

 private:
  static int per_register(num::DType type) {
    return num::storage_bits(type) < 32 ? 32 / num::storage_bits(type) : 1;
  }
};

/// The instructions that the target has for these types: more octets first, then more groups.
/// Declines types that no mma.sync has (`dtype`) and targets that have none of them (`arch`).
/// `may_cut`: float32 factors may lose 13 of their bits.
Match<std::vector<MmaAtom>> atoms_of(const GemmTypes& types, bool may_cut, target::Target target);

struct GemmSizes {
  std::int64_t m = 0, n = 0, k = 0;
  bool turns_a = false, turns_b = false;
  GemmTypes types;
};
/// Declines sizes that are no multiples of what the instructions take (`shape`).
Match<void> check_sizes(const GemmSizes& sizes, const std::vector<MmaAtom>& atoms);

// --- registers of warps --------------------------------------------------------------------------

// A product as it lies in the registers of one warp, found by looking at what every lane holds.
//
// Lane 4g + t of a matrix instruction has eight rows of A and D by g, four columns of D by t, eight
// columns of B by g, and values of k by t and by the part of the register. So one register of D is
// an *octet* of rows times a *quad* of columns; one word of A an octet times a *group* of 4e values
// of k; one word of B eight columns, which are two quads interleaved (2t and 2t + 1), times a
// group. Which rows make an octet, and in which order, does not matter as long as A and D agree in
// it, and likewise for columns and k: that is all a permuted or differently written layout changes.

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

// --- calls ---------------------------------------------------------------------------------------

/// The rule of a call that not all lanes of its warps execute together.
inline constexpr std::string_view kFullLanes = "full_active_lanes";

struct GemmCall {
  GemmProblem problem;
  ir::GemmFactor alpha, beta;
  bool is_in_place = false;  // C is D
};

/// Of one buffer, from the same places, of the same extents?
bool is_same_region(const Call& call, const ir::Region& a, const ir::Region& b);

/// Declines an operand that is not in registers (`scope`).
Match<void> check_in_registers(const Call& call, std::size_t argument);

/// A setting that is True or False, or left out for False; declines anything else (`config`).
Match<bool> flag_of(const Call& call, std::string_view name);

/// The two extents of a region that are not 1; declines others, and those known at run time only
/// (`extents`).
Match<std::pair<std::int64_t, std::int64_t>> matrix_extents(const Call& call, std::size_t argument,
                                                            std::string_view role);

/// Sizes, types and transposes; declines extents known at run time only.
Match<GemmSizes> gemm_sizes(const Call& call);

/// Declines operands that are not in registers (`scope`), that cannot be enumerated, that overlap
/// where they must not (`overlap`), and factors that D cannot have (`factor`).
Match<GemmCall> gemm_call(const Call& call);

/// A `gemm` as the `gemm_async` that computes the same.
/// B of `gemm` is (K, N) unless it is transposed, that of `gemm_async` (N, K). Declines an alpha other than
/// 1 and a beta other than 0 and 1 (`factor`), a C that is not D where it counts (`operands`), and
/// an A in the registers of D (`overlap`).
Match<ir::TileCall> async_form(const Call& call);

}  // namespace ww::lower
