// SPDX-License-Identifier: Apache-2.0
// The verdict on a random program, and the smallest program with the same verdict.
#pragma once

#include <string>

#include "harness/check.h"
#include "harness/tape.h"

namespace ww::test {

/// Of one random program.
struct Verdict {
  bool is_bad = false;
  std::string kind = {};  // what went wrong, without the numbers of this program
  std::string explanation = {};

  static Verdict of(const Checked& checked, bool is_bad);
};
/// What went wrong, without the numbers of this program.
std::string kind_of(const Checked& checked);

using VerdictOf = Verdict (*)(const Choices&);
/// A row of choices that goes wrong in the same way as the given one, with parts left out and
/// choices nearer to 0. `verdict` becomes its verdict.
Choices shrink_choices(VerdictOf verdict_of, Choices choices, Verdict& verdict);

}  // namespace ww::test
