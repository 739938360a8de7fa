// SPDX-License-Identifier: Apache-2.0
// Source texts of kernels with one product whose operands are matrices in global memory: tile
// copies bring A, B and C into registers (or into shared memory, for `stage=True`), and D back.
//
// A layout is made of digits. Each of M, N and K is a number in mixed radix; a digit says where its
// values lie: in different warps, in lanes, or in registers. What a matrix instruction wants:
//
//     digit          of    A                  B                  C and D
//     Warp           M N   warps of M         warps of N         both
//     Row   8        M     lane / 4                              lane / 4
//     Quad  4        N K   lane % 4 (K)       lane % 4 (K),      lane % 4 (N)
//                                             lane / 8 (N)
//     Pair  2        N                        lane / 4 % 2       register
//     Word  e        K     part of a register part of a register
//     Tile           all   register           register           register
//
// Any order of the digits of a number is a permutation of its rows, columns or k; it must be the
// same in all operands.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engines/family.h"

namespace ww::test {

struct Digit {
  enum class Kind : std::uint8_t { Warp, Row, Quad, Pair, Word, Tile };
  Kind kind = Kind::Tile;
  std::int64_t extent = 1;
  std::int64_t weight = 1;  // among the digits of its kind in this number

  friend bool operator==(const Digit&, const Digit&) = default;
};
using Number = std::vector<Digit>;  // outermost digit first

struct GemmTypes {
  std::string in = "float16";
  std::string out = "float32";
  std::string settings = {};  // that they need: "allow_tf32=True"
  double tolerance = 1e-4;    // of sums of normal numbers
  std::string in_b = {};      // of B, where it is another one

  /// Elements of A or B in a register; values of k of which a group consists.
  [[nodiscard]] std::int64_t per_word() const { return std::max(1, 32 / bits_of(in)); }
  [[nodiscard]] std::int64_t group() const { return 4 * per_word(); }
};

struct GemmCase {
  GemmTypes types = {};
  std::string scope = "warp";
  std::int64_t warps = 0;  // of the CTA; 0: as many as the product needs
  // Of one warp: tiles of 16 rows (or 8: half_tile), of 8 columns, groups of k.
  std::int64_t tiles_m = 1, tiles_n = 1, groups = 2;
  bool half_tile = false;
  std::int64_t warps_m = 1, warps_n = 1;
  bool turns_a = false, turns_b = false;
  std::string alpha = {}, beta = {};  // empty: not written
  bool has_own_c = false;
  bool is_slice = false;      // of buffers that are twice as large in each dimension
  std::string shared_a = {};  // its layout, or "plain": A is in shared memory
  std::string shared_b = {};
  std::string settings = {};  // "stage=True"
  std::string target = "sm_90a";
  // Digits of the product, outermost first; empty: in natural order.
  Number m = {}, n = {}, k = {};
  // Layouts in notation that replace those of the digits.
  std::string d_layout = {}, a_layout = {}, b_layout = {}, c_layout = {};
  // Orders of the registers: a permutation of an operand's digits in registers, innermost first,
  // which may have more entries than there are digits; empty: as they come.
  std::vector<std::size_t> d_order = {}, a_order = {}, b_order = {}, c_order = {};
  std::string scalar = {};  // a parameter that factors may have in them
  std::string around = {};  // a line that the product stands under: "if warp == 0:"

  [[nodiscard]] std::int64_t rows() const { return tiles_m * (half_tile ? 8 : 16); }
  [[nodiscard]] std::int64_t size_m() const { return warps_m * rows(); }
  [[nodiscard]] std::int64_t size_n() const { return warps_n * tiles_n * 8; }
  [[nodiscard]] std::int64_t size_k() const { return groups * types.group(); }
  [[nodiscard]] bool uses_c() const { return !beta.empty() && beta != "0.0"; }
};

/// The digits of M, N and K in natural order, one for each prime factor where `is_fine`.
Number natural_m(const GemmCase& c, bool is_fine = false);
Number natural_n(const GemmCase& c, bool is_fine = false);
Number natural_k(const GemmCase& c, bool is_fine = false);

/// One of the four operands.
enum class Role : std::uint8_t { D, A, B, C };
/// Its layout in notation, from two numbers in the order of the buffer's dimensions.
std::string fragment(const GemmCase& c, Role role, const Number& first, const Number& second,
                     const std::vector<std::size_t>& order = {});

std::string source_of(const GemmCase& c);
/// With small whole numbers, which all engines add up without rounding.
Program program_of(const GemmCase& c);
/// With normal numbers: the virtual GPU is near to the evaluator, the GPU like the virtual one.
Program normal_program_of(const GemmCase& c);

/// The report of the product; that of the first primitive when there is none.
const lower::CallReport& gemm_of(const Checked& checked);
/// What `mma` said to it: "[rule] reason", "chosen".
std::string mma_verdict(const Checked& checked);

}  // namespace ww::test
