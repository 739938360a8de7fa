// SPDX-License-Identifier: Apache-2.0
// Loops of machine code: from branches to blocks, to which blocks come before which on every way, to
// natural loops. Code that the function's start does not reach (padding, functions of the assembler's
// own behind it) is in none.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/sass/listing.h"

namespace ww::runtime {

struct SassLoop {
  std::size_t first = 0;  // the instruction that each round starts with
  std::vector<std::size_t> code =
      {};              // places of its instructions, ascending, those of inner loops too
  unsigned depth = 1;  // 1: in no other loop
};

/// By their first instruction.
std::vector<SassLoop> find_loops(const SassFunction& function);

/// For each instruction the number of loops around it.
std::vector<unsigned> loop_depths(const SassFunction& function, const std::vector<SassLoop>& loops);

}  // namespace ww::runtime
