// SPDX-License-Identifier: Apache-2.0
// The sections of docs/evidence/benchmarks.md, each from the results of one run.
#pragma once

#include <string>
#include <vector>

#include "json/json.h"
#include "machine.h"

namespace ww::bench {

/// Where, when and how something was measured.
struct Measurement {
  Machine machine = {};
  std::string version = {};
  std::string date = {};     // "2026-11-16"
  double load = 0;           // of the machine before the run; what takes all cores suffers from it
  std::string options = {};  // of the command, other than the suite: " --repetitions 5"
  bool is_filtered = false;  // by --filter, which is among the options
};

struct Section {
  std::string name;  // as Page knows it
  std::string text;
};

/// The sections that the run has results for.
std::vector<Section> sections_of(const Json& result, const Measurement& how);
/// What stands before all others: how the page is made, and how to read it.
Section page_head();

}  // namespace ww::bench
