// SPDX-License-Identifier: Apache-2.0
// What tests ask the explorer about.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

namespace ww::explore_server_test {

/// The source of an example.
inline std::string example(const std::string& name) {
  std::ifstream in(std::string(WW_SOURCE_DIR) + "/examples/" + name);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// A program as requests carry it.
inline nlohmann::json program(const std::string& source, const std::string& kernel = "") {
  return {{"file", "test.py"}, {"source", source}, {"kernel", kernel}, {"target", "auto"}};
}

}  // namespace ww::explore_server_test
