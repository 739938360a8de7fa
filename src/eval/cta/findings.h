// SPDX-License-Identifier: Apache-2.0
// Findings, collected: one for each check, step and buffer, with a count.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>

#include "eval/eval.h"

namespace ww::eval {

class Findings {
 public:
  explicit Findings(std::size_t most) : most_(most) {}

  /// The finding to fill in when it is the first of its kind and there is room; null otherwise, and
  /// then it has been counted. The pointer is good until the next call.
  Finding* add(Check check, std::uint32_t step, std::uint32_t buffer);

  /// Moves everything into the report.
  void move_to(Report& report);

 private:
  using Key = std::tuple<Check, std::uint32_t, std::uint32_t>;
  std::size_t most_;
  std::map<Key, std::size_t> known_;  // number in findings_, or most_ when it was dropped
  std::vector<Finding> findings_;
  std::uint64_t dropped_ = 0;
};

}  // namespace ww::eval
