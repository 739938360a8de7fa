// SPDX-License-Identifier: Apache-2.0
// Many programs by many processes. A process that dies is a find as well, and so is one that does
// not come back; another goes on behind that program. A fault on the GPU ends what its process can
// do there: it says which program it was and leaves, too.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "soak/examine.h"

namespace ww::test {

struct SoakPlan {
  std::uint64_t seed = 1;
  double seconds = 0;             // 0: until `programs` are done
  std::uint64_t programs = 0;     // 0: until the time is over
  unsigned jobs = 1;              // processes; which program is which does not depend on it
  double patience = 300;          // seconds that a process may take for one program
  std::uint64_t cuda_share = 12;  // every n-th right program goes through nvcc and ptxas; 0: none
  std::optional<ProgramKind> only = {};  // programs of this kind
  std::filesystem::path finds = "soak-finds";
  bool shrinks = true;  // what is found
  bool shows_progress = true;
};

struct SoakResult {
  Tally tally;
  std::uint64_t finds = 0;
};

SoakResult soak(const SoakPlan& plan);

}  // namespace ww::test
