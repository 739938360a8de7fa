// SPDX-License-Identifier: Apache-2.0
// One random whole program on all engines, and what is counted about it.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "harness/verdict.h"
#include "soak/whole_programs.h"

namespace ww::test {

/// Counts by name. Names have a group: "target: sm_80"; groups with a column, "calls/GPU: copy
/// reg", are tables.
using Tally = std::map<std::string, std::uint64_t>;
void add(Tally& to, const Tally& from);
/// The primitives of a program, each with its variant.
void count_calls(const Checked& checked, const std::string& column, Tally& tally);

struct Examined {
  bool is_find = false;
  std::string kind;         // of a find: what went wrong, without the program's numbers
  std::string explanation;  // of a find
  Tally tally;
  Checked checked;  // with `ran`, for further engines, where all agreed
};

Examined examine(const Choices& choices);
Examined examine(const WholeProgram& made);

/// Does the GPU, if one takes part, still run the plainest program? After a fault it runs none.
bool is_gpu_well();

/// The smallest program that goes wrong in the same way.
Choices shrunk(const Choices& choices, const Examined& found);

/// A find as a file: what it is and how to see it again, in comments, then the program.
std::string file_of(const Choices& choices, const Examined& found,
                    const std::string& how_to_repeat);

}  // namespace ww::test
