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
  /// Counting restarts in each function, so that one does not hide the findings of another.
  bool every_function = false;
};

struct CheckResult {
  target::Target target;         // what the module says, as far as it is known
  std::size_t instructions = 0;  // how many were looked at
  std::vector<Diag> errors;      // in source order within each function
  std::vector<Note> notes;       // where the module was read as one of another version or target

  [[nodiscard]] bool ok() const { return errors.empty(); }
};

/// Checks the module against its own `.version` and `.target`.
CheckResult check(const Module& module, const CheckOptions& options = {});

/// The target that the module names; an unknown version or architecture is an error, as is an
/// architecture newer than the version. Versions above the newest known one, and those and
/// architectures before the oldest, are read as that one, which a note says.
Result<target::Target> target_of(const Module& module, std::vector<Note>* notes = nullptr);

}  // namespace ww::ptx
