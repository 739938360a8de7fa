// SPDX-License-Identifier: Apache-2.0
// The unit of threads and the tiles of a program of folds, and their text.
#pragma once

#include <cstdint>
#include <string>

#include "engines/programs.h"
#include "harness/tape.h"

namespace ww::test {

/// Threads that make a call together.
struct FoldUnit {
  std::string prefix = "warp.", name = "warp", axis = "laneid";
  std::string number = "warp";  // which unit; empty: there is one
  std::int64_t threads = 32, units = 1, ctas = 1;
};

struct FoldFrame {
  std::string target = "sm_90a";
  std::int64_t threads = 128;  // of a CTA
  FoldUnit unit;
  bool is_branch = false;  // the first unit alone makes the calls
};
FoldFrame choose_fold_frame(Tape& tape);

/// A tile for each unit.
struct FoldTile {
  std::string name, dtype;
  std::string memory = "local";  // "shared", "global"
  Extents shape = {};            // of a unit's tile
  std::string layout = {};       // as text, with the units; empty: row-major
  std::int64_t slots = 0;        // local: of a thread
  bool is_whole = true;          // local: all registers of all threads have elements

  [[nodiscard]] bool is_register() const { return memory == "local"; }
};

/// A tile of that shape in one of the memories. `room`: bytes of shared memory that are left.
FoldTile choose_fold_tile(Tape& tape, const FoldFrame& frame, const std::string& name,
                          const std::string& dtype, const Extents& shape, std::int64_t& room);
/// "a0", "a0[warp, 0:4, 0:8]"
std::string unit_region(const FoldFrame& frame, const FoldTile& tile);

/// Declares a tile with contents of an input; `is_written`: global memory is an output then.
void begin_fold_tile(KernelText& text, const FoldFrame& frame, const FoldTile& tile,
                     bool is_written);
/// What a tile holds in the end goes to an output.
void end_fold_tile(KernelText& text, const FoldFrame& frame, const FoldTile& tile);

}  // namespace ww::test
