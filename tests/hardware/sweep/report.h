// SPDX-License-Identifier: Apache-2.0
// What the sweep found, as tables.
#pragma once

#include <string>
#include <vector>

#include "hardware/sweep/compare.h"

namespace ww::sweep {

struct Row {
  const Kernel* kernel = nullptr;
  Comparison comparison{};
  std::string problem;   // it did not run here or there: why
  std::string examples;  // of threads that differ

  [[nodiscard]] bool is_good() const { return problem.empty() && comparison.mismatches == 0; }
};

struct ReportHead {
  std::string command;  // that makes the page
  std::string device;   // "NVIDIA H200, driver 13.0"
  std::size_t cases = 0;
};

/// One line per kernel, sorted by title.
std::string full_table(const std::vector<Row>& rows);
/// The page of the documentation: sums by mnemonic, approximations and differences one by one.
std::string summary_page(const ReportHead& head, const std::vector<Row>& rows);
/// Kernels that differ or did not run, with examples.
std::string differences(const std::vector<Row>& rows);
std::string json_report(const ReportHead& head, const std::vector<Row>& rows);

}  // namespace ww::sweep
