// SPDX-License-Identifier: Apache-2.0
#include "rounds.h"

#include <algorithm>
#include <cstddef>

#include "base/check.h"

namespace ww::bench {

double Turns::median() const {
  WW_CHECK(!seconds.empty(), "nobody had a turn");
  std::vector<double> sorted = seconds;
  std::ranges::sort(sorted);
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

double Turns::fastest() const {
  WW_CHECK(!seconds.empty(), "nobody had a turn");
  return std::ranges::min(seconds);
}

std::vector<Turns> take_turns(const std::vector<Competitor>& competitors, int rounds) {
  std::vector<Turns> out(competitors.size());
  for (int round = -1; round < rounds; ++round) {
    for (std::size_t i = 0; i < competitors.size(); ++i) {
      if (!out[i].failure.empty()) continue;
      const Result<double> seconds = competitors[i].turn();
      if (!seconds)
        out[i].failure = seconds.error().text;
      else if (round >= 0)
        out[i].seconds.push_back(*seconds);
    }
  }
  return out;
}

}  // namespace ww::bench
