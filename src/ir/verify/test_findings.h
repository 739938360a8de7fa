// SPDX-License-Identifier: Apache-2.0
// The verifier's findings as one text, for the verify*_test.cpp files.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ir/test_programs.h"
#include "ir/verify/verify.h"

namespace ww::ir::test {

/// "message [Kind]", one line each; "" when nothing is found.
inline std::string text_of(const std::vector<Diag>& findings) {
  std::string out;
  for (const Diag& finding : findings) {
    if (!out.empty()) out += "\n";
    out += fmt::format("{} [{}]", finding.text, ww::name_of(finding.kind));
  }
  return out;
}
/// What is good without a target is good or bad on one by what `verify_on_target` looks at.
inline std::string findings(const Function& f, const VerifyOptions& options = {}) {
  const std::string out = text_of(verify(f, options));
  VerifyOptions any = options;
  any.target = std::nullopt;
  if (options.target && verify(f, any).empty()) {
    EXPECT_EQ(text_of(verify_on_target(f, *options.target)), out);
  }
  return out;
}
inline std::string findings(Builder b, const VerifyOptions& options = {}) {
  return findings(b.done(), options);
}

}  // namespace ww::ir::test
