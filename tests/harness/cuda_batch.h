// SPDX-License-Identifier: Apache-2.0
// Kernels as CUDA C++, through nvcc and on the virtual GPU. One call of nvcc takes about a second,
// however small the file: many kernels share one.
#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "foreign/toolchain.h"
#include "harness/check.h"

namespace ww::test {

class CudaBatch {
 public:
  /// A kernel of the current test that is right on the other engines.
  void add(const Checked& checked);
  /// All kernels of another batch, which has no edits.
  void take(CudaBatch other);
  /// What nvcc says against them, or what differs on the virtual GPU, with the text of the kernel;
  /// empty when all agree. `skipped` says why some were not compiled.
  std::string run(std::string& skipped) const;
  [[nodiscard]] std::size_t count() const { return count_; }
  /// Drops kernels whose CUDA C++ differs from an earlier one's in numbers only.
  void keep_one_of_a_kind();
  /// Text to put in the place of other text in all sources: what the comparison must notice.
  void edit(std::string from, std::string to) {
    edits_.emplace_back(std::move(from), std::move(to));
  }

 private:
  /// What one call of nvcc compiles. Loads of tensor memory and products take nvcc's slower options.
  struct Group {
    std::string target;
    bool has_pending_registers = false;
    friend auto operator<=>(const Group&, const Group&) = default;
  };
  struct Kernel {
    std::shared_ptr<const Ran> ran;
    std::string source;  // the tile program, for messages
    std::string test;    // its full name; empty outside of tests
  };

  [[nodiscard]] std::string text_of(const ir::Function& lowered, const std::string& target,
                                    std::string& problem) const;
  [[nodiscard]] std::string run_file(const corpus::Toolchain& tools,
                                     std::span<const Kernel> kernels) const;

  std::map<Group, std::vector<Kernel>> kernels_;
  std::vector<std::pair<std::string, std::string>> edits_;
  std::size_t count_ = 0;
};

}  // namespace ww::test
