// SPDX-License-Identifier: Apache-2.0
// The programs and devices outside of Warpwright that some commands need: which of them are here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/json.h"
#include "runtime/assembler.h"

namespace ww::driver {

struct DoctorRequest {
  std::string path = {};  // folders to search, as in PATH
  runtime::SassTools tools = {};
};

struct ToolState {
  std::string_view name;     // "ptxas"
  std::string version = {};  // empty: it is missing, does not start or is too old
  std::string place = {};    // a path, or the name of the GPU; empty: it is missing
  std::string problem = {};  // why it is of no use; empty: it can be used
  std::string_view without;  // what does not work without it
  std::string_view remedy;   // how to get it
};

/// Looks for each tool and asks it for its version.
std::vector<ToolState> examine(const DoctorRequest& request);

/// For people, and for programs (docs/reference/schema/doctor.json).
std::string doctor_text(const std::vector<ToolState>& tools);
Json doctor_json(const std::vector<ToolState>& tools);

}  // namespace ww::driver
