// SPDX-License-Identifier: Apache-2.0
// One random whole program on all engines, and what is counted about it.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "lower/shrink.h"
#include "soak/whole_programs.h"

namespace ww::test {

/// Counts by name. Names have a group: "primitive: copy reg", "engine: evaluator".
using Tally = std::map<std::string, std::uint64_t>;
void add(Tally& to, const Tally& from);

struct Examined {
  bool is_find = false;
  std::string kind;         // of a find: what went wrong, without the program's numbers
  std::string explanation;  // of a find
  Tally tally;
  Checked checked;  // with `ran`, for further engines, where all agreed
};

/// `edits` of the PTX, where their text occurs: what must be noticed.
using Edits = std::vector<std::pair<std::string, std::string>>;
Examined examine(const Choices& choices, const Edits& edits = {});

/// The smallest program that goes wrong in the same way.
Choices shrunk(const Choices& choices, const Examined& found);

/// A find as a file: what it is and how to see it again, in comments, then the program.
std::string file_of(const Choices& choices, const std::string& how_to_repeat);

}  // namespace ww::test
