// SPDX-License-Identifier: Apache-2.0
// Many programs by many processes. A process that dies is a find as well, and another goes on
// behind the program that it died of.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "soak/examine.h"

namespace ww::test {

struct SoakPlan {
  std::uint64_t seed = 1;
  double seconds = 0;          // 0: until `programs` are done
  std::uint64_t programs = 0;  // 0: until the time is over
  unsigned workers = 1;
  std::uint64_t cuda_share = 12;  // every n-th right program goes through nvcc and ptxas; 0: none
  std::filesystem::path finds = "soak-finds";
  bool shows_progress = true;
};

struct SoakResult {
  Tally tally;
  std::uint64_t finds = 0;
};

SoakResult soak(const SoakPlan& plan);

/// The counts as a table, a group of them at a time.
std::string table_of(const Tally& tally);

}  // namespace ww::test
