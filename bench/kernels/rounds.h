// SPDX-License-Identifier: Apache-2.0
// Competitors that take turns. A GPU's clock follows its temperature and the power it draws, so
// that numbers taken one after the other are not comparable: here everybody has a turn in each
// round, and what counts is the median over the rounds.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace ww::bench {

struct Competitor {
  std::string name;
  std::function<Result<double>()> turn;  // seconds
};

struct Turns {
  std::vector<double> seconds = {};  // a number per round
  std::string failure = {};          // why there are no more of them

  [[nodiscard]] bool good() const { return failure.empty() && !seconds.empty(); }
  [[nodiscard]] double median() const;
  [[nodiscard]] double fastest() const;
};

/// One for each competitor. A round before the first does not count. One that fails has no more
/// turns.
std::vector<Turns> take_turns(const std::vector<Competitor>& competitors, int rounds);

}  // namespace ww::bench
