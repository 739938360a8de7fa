// SPDX-License-Identifier: Apache-2.0
// Row kernels on the real GPU: ours, the driver's copy of as many bytes as X has, Triton and
// PyTorch, which take turns (kernels/rounds.h) with the same number of launches in a turn.
//
// Before that, our kernel runs once on outputs full of NaNs, and lines of the result are compared
// with float64 (row_reference.h). A kernel that is wrong gets no number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../kernels/gemm_measure.h"
#include "../kernels/rounds.h"
#include "base/result.h"
#include "base/source.h"
#include "ir/function.h"
#include "row_problems.h"
#include "runtime/assembler.h"
#include "runtime/cuda_calls.h"
#include "torch_rows.h"

namespace ww::bench::rows {

/// For each parameter of a kernel the place of its array in arrays_of: the one of its name.
/// BadArgument where there is none, or one of another type or size.
Result<std::vector<std::size_t>> arrays_of_params(const ir::Function& tile,
                                                  const RowProblem& problem);

struct RowRival {
  Who who;
  Rival result = {};
};

/// Rates are in 10^12 bytes per second, of attention in 10^12 operations per second.
struct RowResult {
  BenchRow row;
  int rounds = 0;
  int launches = 0;           // in a turn
  std::string left_out = {};  // why it was not run: it does not compile, or does not fit
  std::string wrong = {};     // why it has no number
  Turns turns = {};
  std::optional<std::uint32_t> registers = {};           // of a thread, as the driver compiled it
  std::optional<std::uint32_t> local = {};               // bytes of a thread
  std::uint32_t shared = 0;                              // bytes of a block
  std::optional<runtime::AssembledSize> assembled = {};  // what ptxas says
  std::size_t checked = 0;                               // elements compared with float64
  Rival copy = {};                                       // of the driver; not next to attention
  std::vector<RowRival> rivals = {};

  [[nodiscard]] double work() const;  // of a launch: bytes, or operations
  [[nodiscard]] bool has_number() const;
  /// Our rate in the median of the rounds, and in the best.
  [[nodiscard]] std::optional<double> tera() const;
  [[nodiscard]] std::optional<double> best_tera() const;
  /// Rates over that of the copy: ours, and a rival's.
  [[nodiscard]] std::optional<double> of_copy() const;
  [[nodiscard]] std::optional<double> of_copy(const RowRival& rival) const;
  [[nodiscard]] bool good() const { return wrong.empty(); }
};

struct RowOptions {
  int rounds = 15;
  std::string ptxas = {};  // the path of it; empty: not asked
  std::function<Result<SourceText>(std::string_view file)> source;
};

class RowBench {
 public:
  /// `torch`: the rivals, or why they are not here. They stay for all rows.
  RowBench(const runtime::CudaCalls& calls, RowOptions options, Result<TorchRows>& torch)
      : calls_(calls), options_(std::move(options)), torch_(&torch) {}
  RowResult measure(const BenchRow& row);

 private:
  runtime::CudaCalls calls_;
  RowOptions options_;
  Result<TorchRows>* torch_;
};

}  // namespace ww::bench::rows
