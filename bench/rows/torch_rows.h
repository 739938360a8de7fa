// SPDX-License-Identifier: Apache-2.0
// Other people's row kernels, where they are on the machine: Triton and PyTorch, in a process of
// its own (torch_rows.py), which has arrays of its own and waits for its turn.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "../kernels/child.h"
#include "base/result.h"
#include "row_problems.h"

namespace ww::bench::rows {

/// As the child knows a rival, and as tables do.
struct Who {
  std::string_view name;
  std::string_view title;
};
/// The rivals that have such a kernel.
std::span<const Who> rivals_of(const RowProblem& problem);

/// What the child is asked to get ready for: `prepare softmax bfloat16 M N`, `prepare rope bfloat16
/// POSITIONS HEADS DIM`, `prepare flash_attention bfloat16 BATCH SEQ HEADS DIM CAUSAL`.
std::string torch_question(const RowProblem& problem);

class TorchRows {
 public:
  /// Starts the script with a Python interpreter. Io when that has no torch, with the child's
  /// reason.
  static Result<TorchRows> start(const std::string& python, const std::string& script);
  [[nodiscard]] const std::string& versions() const { return versions_; }

  /// Makes the arrays. Io when it cannot.
  Result<void> prepare(const RowProblem& problem);
  /// Compiles a rival's kernel and checks what it makes; answers with its configuration. Io when it
  /// cannot, or when it is wrong.
  Result<std::string> ready(std::string_view who);
  /// Seconds of so many launches in a row.
  Result<double> time(std::string_view who, int launches);

 private:
  TorchRows(Child child, std::string versions)
      : child_(std::move(child)), versions_(std::move(versions)) {}
  Child child_;
  std::string versions_;
};

}  // namespace ww::bench::rows
