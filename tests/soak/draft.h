// SPDX-License-Identifier: Apache-2.0
// A random program while it is written: what was chosen for it, its tiles, its text so far, and
// what nothing orders yet. Steps (soak/steps.h) write statements through it; what they are made of
// is in soak/tiles.h, soak/regions.h and soak/order.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engines/programs.h"
#include "harness/tape.h"
#include "soak/frame.h"
#include "soak/order.h"
#include "soak/program_text.h"

namespace ww::test {

/// A tile in shared memory, a part for each stage and unit.
struct Shared {
  /// How a part's rows lie. Matrix: as a matrix descriptor finds them.
  enum class Kind : std::uint8_t { Plain, Padded, Swizzled, Odd, Turned, Matrix };
  std::string name, dtype;
  Extents shape;  // of a part
  Kind kind = Kind::Plain;
  std::int64_t stages = 1;
  std::int64_t align = 1;          // bytes that it begins at a multiple of
  std::int64_t row = 1, part = 1;  // elements from a row, a part, to the next
  Pending pending = {};
  bool is_arriving = false;  // by an asynchronous copy that nobody has waited for
};

/// A tile in registers.
struct RegTile {
  std::string name, dtype;
  Extents shape;
  std::int64_t slots = 1;    // of a thread
  bool is_for_sums = false;  // of a product: nothing else may write it
  bool is_packed = false;    // neighbours in a row are neighbours in a thread
};

/// A tile in tensor memory, a part for each stage and unit.
struct TensorTile {
  std::string name, dtype;
};

struct Draft {
  explicit Draft(Tape& tape_in) : tape(tape_in), f(choose_frame(tape)), omission(tape) {}

  Tape& tape;
  Frame f;
  Omission omission;
  ProgramText text;
  std::vector<RegTile> regs;
  std::size_t works = 0;  // registers that anything may be computed in; then sums and factors
  std::vector<RegTile> stretched;  // a row or a column, which operands may be
  bool picks_rows = false;         // numbers of rows, to gather them by
  std::vector<Shared> shared;
  std::int64_t shared_bytes = 0;  // of all shared memory so far
  std::vector<TensorTile> tensor;
  std::int64_t tensor_stages = 1, tensor_columns = 32;
  std::optional<std::size_t> matrix;    // which shared tile is copied to tensor memory as a matrix
  std::string thread_type;              // of `priv`, the tile of each thread
  int products = 0;                     // added to the sums
  bool changes_signs = false;           // of NaN as well, and no engine promises that sign
  bool shows_bits = false;              // of floats, as whole numbers: no sign may be open then
  bool is_fast = false;                 // has results that hardware approximates
  std::optional<RegTile> fast;          // the tile that gets them, which nothing but outputs reads
  std::optional<std::string> permuted;  // the type of `before` and `after`, in shared memory
  bool has_workspace = false;           // `ws`, shared memory for reductions, scans and copies
  std::map<std::string, std::int64_t> scalars;
  std::map<std::string, std::uint64_t> steps;  // written, by name
  std::map<std::string, std::string> views;    // of which tile
};

}  // namespace ww::test
