// SPDX-License-Identifier: Apache-2.0
// A kernel through every engine that gives it a meaning, from source text:
//
//     source ── script ──> tile program ── lower ──> lowered program ── emit ──> PTX ────────┐
//                              │                      │      └─ emit ─> CUDA C++ ── nvcc ──┤
//                          evaluator              evaluator                   virtual GPU, GPU
//
// All get the same inputs (random, fixed by a seed) and outputs without contents. A kernel is right
// when no engine finds anything, and all write the same elements with the same bits, or where sums
// are rounded, numbers near to the evaluator's. CUDA C++ is compiled for many kernels at a time
// (harness/cuda_batch.h), and the GPU takes part when WW_DEVICE=cuda asks for it (harness/gpu.h).
// Nothing here knows what a variant does.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/engines.h"
#include "lower/lowering_report.h"

namespace ww::test {

struct Program {
  std::string source;
  std::string target = "sm_90a";
  std::uint64_t seed = 1;  // of the inputs
  Scalars scalars = {};
  std::map<std::string, std::vector<std::int64_t>> arrays = {};  // bits of some inputs
  std::vector<std::pair<std::string, std::string>> edits =
      {};                   // of the PTX: what the harness must notice
  std::string kernel = {};  // which of the source's; empty: the only one
  Inputs inputs = Inputs::Bits;
  double tolerance = 0;  // of the virtual GPU against the evaluator; the other engines agree with
                         // the virtual GPU bit for bit, or within twice as much:
  bool is_approximate = false;
  bool has_any_nan = false;    // in results: one NaN is as good as another
  bool has_any_zero = false;   // and -0 is as good as 0
  int device_orders = 1;       // in which the virtual GPU runs it, one after the other
  std::uint64_t schedule = 0;  // not 0: the evaluator runs the tile program in such an order, too
};

enum class Stage : std::uint8_t {
  Script,   // the source does not compile
  Lower,    // lowering refused something, or broke a promise of its own
  Emit,     // no PTX for it, or PTX that the virtual GPU does not load
  Tile,     // the evaluator found something in the tile program: a bad test
  Lowered,  // the evaluator found something in the lowered program, or other results
  Device,   // the virtual GPU did
  Gpu,      // the GPU did
  Right
};
std::string_view name_of(Stage stage);

struct Checked {
  Stage stage = Stage::Script;  // where it went wrong, or Right
  std::string why;              // in words: the errors, the finding, the first different element
  std::string source;
  lower::LoweringReport report;
  std::string lowered;  // text
  std::string ptx;
  std::vector<Turns> turns;        // by primitive, of the whole run
  std::shared_ptr<const Ran> ran;  // for further engines, when it is right
  bool is_on_gpu = false;          // the GPU has run it too

  [[nodiscard]] bool right() const { return stage == Stage::Right; }
  /// Everything one needs to understand a failure.
  [[nodiscard]] std::string explain() const;
  /// The report of the k-th primitive.
  [[nodiscard]] const lower::CallReport& call(std::size_t k) const { return report.calls.at(k); }
};

/// Compiles and runs. Never throws: a broken promise inside is a Checked of its stage.
Checked check(const Program& program);

/// Compiles and runs on the virtual GPU alone: what it finds in a program that the evaluator has
/// found something in already. Nothing is compared.
Checked check_on_virtual_gpu(const Program& program);

/// What engines find in a program, each by itself: nothing is compared.
struct Findings {
  Checked checked;  // Right: there is PTX
  std::optional<std::string> tile, lowered, device;
  bool is_lowered_evaluated = true;
};
Findings findings_of(const Program& program);

/// Compiles up to PTX without running anything. Right: there is PTX.
Checked compile_only(const Program& program);

/// What the GPU has run, for the summary of a test.
struct GpuCount {
  std::size_t programs = 0, copies = 0;
  void add(const Checked& checked) {
    if (!checked.is_on_gpu) return;
    ++programs;
    copies += checked.report.calls.size();
  }
  /// "on the GPU: 3 programs, 7 copies"
  [[nodiscard]] std::string text() const;
};

/// The edit of PTX that takes away the last barrier that a primitive has between its parts: before the copy
/// of its results into memory. None where there is no such barrier.
std::vector<std::pair<std::string, std::string>> without_in_place_barrier(const std::string& ptx);

/// How often a text occurs in another.
std::size_t count_of(std::string_view text, std::string_view what);

}  // namespace ww::test
