// SPDX-License-Identifier: Apache-2.0
// What random programs consist of. A step is a row in its file (steps/<kind>.cpp) and a line in
// steps.def; it says where it fits and writes its statements into the draft.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "soak/draft.h"
#include "soak/regions.h"
#include "soak/tiles.h"

namespace ww::test {

struct Step {
  std::string_view name;
  int weight = 1;             // how often, compared with the others
  bool is_of_thread = false;  // may stand where not all threads of a unit come
  /// It may write nothing all the same, when its choices do not fit.
  bool (*fits)(const Draft&, const Place&) = nullptr;
  void (*write)(Draft&, const Place&) = nullptr;
  void (*declare)(Draft&) = nullptr;  // its own tiles, before anything is written
  void (*begin)(Draft&) = nullptr;    // before the first step
  void (*finish)(Draft&) = nullptr;   // behind the last
};

std::span<const Step* const> all_steps();

/// So many statements; each step that was written is counted in the draft.
void write_block(Draft& draft, const Place& at, std::int64_t count);

#define WW_STEP(row) extern const Step row;
#include "soak/steps.def"
#undef WW_STEP

// --- what several steps are made of ---

/// Whether its elements are floats of any width.
inline bool is_real(const RegTile& reg) { return reg.dtype.find("float") != std::string::npos; }

/// A tile of registers from a new input, or to a new output.
void load(Draft& draft, const Place& at, const RegTile& reg, bool may_be_ragged);
void store(Draft& draft, const Place& at, const RegTile& reg);
/// All parts of a tile in shared memory from new inputs.
void fill_all(Draft& draft, const Place& at, Shared& each);
/// A part, or the parts of all units, from a new input; `c` of its columns.
void load_part(Draft& draft, const Place& at, Shared& to, Columns c, bool is_all, bool is_async);
/// A loop whose turns begin and end with nothing pending; where its statements stand.
Place begin_loop(Draft& draft, const Place& at);
void end_loop(Draft& draft, const Place& inside);

}  // namespace ww::test
