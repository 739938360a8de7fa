// SPDX-License-Identifier: Apache-2.0
// For tests: small modules and the checker's findings.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "ptx/check.h"
#include "ptx/parser.h"

namespace ww::ptx {

struct Header {
  std::string_view version = "9.0";
  std::string_view target = "sm_90a";
};

inline std::string module_text(std::string_view rest, Header header = {}) {
  return fmt::format(".version {}\n.target {}\n.address_size 64\n{}", header.version, header.target,
                     rest);
}

inline std::string kernel(std::string_view body, std::string_view directives = "") {
  return fmt::format(".visible .entry k(.param .u64 out)\n{}\n{{\n{}\nret;\n}}\n", directives,
                     body);
}

// "line:column: text" of every finding.
inline std::vector<std::string> findings(const std::string& text) {
  const ParseResult parsed = parse(text);
  EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.errors[0].text) << "\n" << text;
  const SourceText source("m", text);
  std::vector<std::string> out;
  for (const Diag& problem : check(parsed.module).errors) {
    const auto at = source.position(problem.span.begin);
    out.push_back(problem.span.known ? fmt::format("{}:{}: {}", at.line, at.column, problem.text)
                                     : problem.text);
  }
  return out;
}

using Findings = std::vector<std::string>;

}  // namespace ww::ptx
