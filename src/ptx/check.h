// SPDX-License-Identifier: Apache-2.0
// Whether a module is one that the assembler takes: known version and target, directives that go
// together, declared names, and every instruction legal by the catalogue. Findings are located.
#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "ptx/module.h"
#include "target/target.h"

namespace ww::ptx {

struct CheckOptions {
  /// After this many errors the rest is not looked at.
  std::size_t max_errors = 100;
};

struct CheckResult {
  target::Target target;         // what the module says, as far as it is known
  std::size_t instructions = 0;  // how many were looked at
  std::vector<Diag> errors;      // in source order within each function

  [[nodiscard]] bool ok() const { return errors.empty(); }
};

/// Checks the module against its own `.version` and `.target`.
CheckResult check(const Module& module, const CheckOptions& options = {});

/// The target that the module names; an unknown version or architecture is an error, as is an
/// architecture newer than the version.
Result<target::Target> target_of(const Module& module);

}  // namespace ww::ptx
