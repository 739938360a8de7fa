// SPDX-License-Identifier: Apache-2.0
// What all copies of a random program share: the unit of threads, the tile and what is around them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engines/programs.h"
#include "harness/tape.h"

namespace ww::test {

/// The fragment of matrix instructions that a program's tile consists of.
struct Fragment {
  std::int64_t words = 0;  // elements of a 32-bit word; 0: no fragments
  bool is_turned = false;  // columns of the tile are rows of the matrices
  std::int64_t warps = 1, high = 1, wide = 1;
};

/// What a copy's unit has: its threads, the axes that count them, and the name of its number.
struct UnitFacts {
  std::string scope;
  std::int64_t threads;
  std::vector<std::vector<std::pair<std::string, std::int64_t>>>
      axes;            // ways to count, with extents
  std::string number;  // "" for the only one
};

struct CopyFrame {
  explicit CopyFrame(Tape& tape);

  std::string dtype, target;
  std::int64_t threads = 32;
  UnitFacts unit;
  std::int64_t only_unit = -1;  // the copies are in the branch of one unit
  std::string guard;            // which units the copies are for; empty: all
  std::int64_t ctas = 1;
  Fragment fragment;
  Extents tile;
  std::int64_t loop = 0;  // 0: none
  bool has_scalar = false;
  std::int64_t scalar = 0;

 private:
  void choose_unit(Tape& tape);
  void choose_fragment(Tape& tape);
  void choose_tile(Tape& tape);
};

}  // namespace ww::test
