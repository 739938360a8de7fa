// SPDX-License-Identifier: Apache-2.0
// Matrix products on the real GPU: our kernels, the ceiling of mma.sync, cuBLAS and Triton, which
// take turns (rounds.h) with the same number of products in a turn.
//
// Before that, each of our kernels makes D once from memory full of NaNs, and D is compared with
// sums in float64 and with what cuBLAS made of the same operands. A kernel that is wrong gets no
// number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/source.h"
#include "cublas_lt.h"
#include "gemm_rows.h"
#include "gpu.h"
#include "mma_ceiling.h"
#include "operands.h"
#include "rivals.h"
#include "rounds.h"
#include "runtime/assembler.h"
#include "runtime/cuda_calls.h"

namespace ww::bench {

/// One of our kernels.
struct GemmKernel {
  Tile tile = {};
  std::string left_out = {};  // why it was not run: it does not exist, or does not compile
  std::string wrong = {};     // why it has no number
  Turns turns = {};
  std::optional<std::uint32_t> registers = {};           // of a thread, as the driver compiled it
  std::optional<std::uint32_t> local = {};               // bytes of a thread
  std::uint32_t shared = 0;                              // bytes of a CTA
  std::optional<runtime::AssembledSize> assembled = {};  // what ptxas says
  std::size_t checked = 0;                               // elements compared with float64
  std::size_t compared = 0;                              // and with cuBLAS

  [[nodiscard]] bool has_number() const {
    return left_out.empty() && wrong.empty() && turns.good();
  }
};

/// Somebody else.
struct Rival {
  Turns turns = {};
  double operations = 0;    // in a turn
  std::string absent = {};  // why there are no turns
  std::string detail = {};  // which configuration
  [[nodiscard]] std::optional<double> tera() const;
};

struct GemmResult {
  GemmRow row;
  int rounds = 0;
  int launches = 0;  // in a turn
  std::vector<GemmKernel> kernels = {};
  Rival ceiling = {}, cublas = {}, triton = {};

  /// Operations per second, divided by 10^12: in the median of the rounds, and in the best.
  [[nodiscard]] std::optional<double> tera(const GemmKernel& kernel) const;
  [[nodiscard]] std::optional<double> best_tera(const GemmKernel& kernel) const;
  /// In the median, over that of the ceiling, and over cuBLAS's.
  [[nodiscard]] std::optional<double> of_ceiling(const GemmKernel& kernel) const;
  [[nodiscard]] std::optional<double> of_cublas(const GemmKernel& kernel) const;
  [[nodiscard]] bool good() const;  // nothing is wrong
};

struct GemmOptions {
  int rounds = 15;
  std::string ptxas = {};  // the path of it; empty: not asked
  std::function<Result<SourceText>(std::string_view file)> source;
};

/// The rivals, or why they are not here. They stay for all rows.
struct Rivals {
  Result<CublasCalls> cublas;
  Result<CublasLtCalls> cublas_lt;
  Result<Triton> triton;
};

/// So many launches that a turn takes 20 ms, at most 1000.
int launches_for(double seconds);

class GemmBench {
 public:
  GemmBench(const runtime::CudaCalls& calls, GemmOptions options, Rivals& rivals)
      : calls_(calls), options_(std::move(options)), rivals_(&rivals) {}
  GemmResult measure(const GemmRow& row);

 private:
  runtime::CudaCalls calls_;
  GemmOptions options_;
  Rivals* rivals_;
};

}  // namespace ww::bench
