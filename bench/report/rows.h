// SPDX-License-Identifier: Apache-2.0
// What a run has measured, read from the JSON that `warpwright bench --json` prints: one row per
// benchmark.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/json.h"

namespace ww::bench {

struct Row {
  std::string name;                        // "sim/mixed/checked"
  double nanoseconds = 0;                  // median of the repetitions
  double elapsed = 0;                      // the same by the clock, where that is processor time
  double spread = 0;                       // standard deviation over mean
  std::map<std::string, double> counters;  // median of each

  [[nodiscard]] std::optional<double> counter(const std::string& of) const;
};

struct Rows {
  std::vector<Row> rows = {};                    // in the order of the run
  std::map<std::string, std::string> skipped{};  // by name: why it was not measured here
  std::vector<std::string> failed = {};          // what went wrong, a line each

  /// None when it was not measured.
  [[nodiscard]] const Row* find(std::string_view name) const;
  /// Those whose names begin with this.
  [[nodiscard]] std::vector<const Row*> under(std::string_view prefix) const;
};

Rows read_rows(const Json& result);

}  // namespace ww::bench
