// SPDX-License-Identifier: Apache-2.0
// What the verifier finds, as one text: for the verify*_test.cpp files.
#pragma once

#include <fmt/format.h>

#include <string>

#include "ir/test_programs.h"
#include "ir/verify/verify.h"

namespace ww::ir::test {

/// "message [Kind]", one line each; "" when nothing is found.
inline std::string findings(const Function& f, const VerifyOptions& options = {}) {
  std::string out;
  for (const Diag& finding : verify(f, options)) {
    if (!out.empty()) out += "\n";
    out += fmt::format("{} [{}]", finding.text, ww::name_of(finding.kind));
  }
  return out;
}
inline std::string findings(Builder b, const VerifyOptions& options = {}) {
  return findings(b.done(), options);
}

}  // namespace ww::ir::test
