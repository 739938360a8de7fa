// SPDX-License-Identifier: Apache-2.0
// What is chosen once for a random program: target, units of threads, the tile that all steps work
// on and how its elements are spread over the threads of a unit.
#pragma once

#include <cstdint>
#include <string>

#include "engines/gemm_programs.h"
#include "harness/tape.h"

namespace ww::test {

/// Which thread has which element of a tile in registers.
enum class Spread : std::uint8_t {
  Rows,       // (k, i, j, v) of (rounds, rows at a time, threads of a row, each): i * of_row + j
  Fragments,  // as matrix instructions want their sums
  Atoms       // as a shape of tcgen05.ld and .st wants it
};

struct Frame {
  std::string target = "sm_90a";
  std::string scope = "warp", axis = "laneid", unit = "0";
  std::int64_t threads = 32, unit_threads = 32, units = 1, ctas = 1;
  bool is_first_spelling = false;  // of the two
  bool has_tensor = false;         // tensor memory
  bool has_products = false;
  bool has_pool = false;  // shared memory is dynamic, and handed out by a pool
  Spread spread = Spread::Rows;
  std::string atom = {};                          // its shape: "16x64b"
  std::int64_t of_row = 1, each = 1, rounds = 1;  // of Spread::Rows
  Extents tile = {};
  GemmCase gemm = {};
  Number m = {}, n = {}, k = {};  // its digits

  /// 90 of "sm_90a".
  [[nodiscard]] int number() const;
  /// "Tx.warp."
  [[nodiscard]] std::string prefix() const { return "Tx." + scope + "."; }
  /// "0:4", the parts of all units, or "warp", that of one.
  [[nodiscard]] std::string parts(bool is_all) const;
  /// Whether it has cp.async.
  [[nodiscard]] bool has_async() const { return number() >= 80; }
};

Frame choose_frame(Tape& tape);
std::string choose_target(Tape& tape);
/// 90 of "sm_90a".
int number_of_target(const std::string& target);

/// An order of so many, which an ended tape leaves as it is.
std::vector<std::size_t> choose_order(Tape& tape, std::size_t count);

}  // namespace ww::test
