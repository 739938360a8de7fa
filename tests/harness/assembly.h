// SPDX-License-Identifier: Apache-2.0
// Kernels as PTX, through ptxas: many in one module, because ptxas takes 15 ms to start. It reads all of
// them. Generating code takes ten times as long, and most kernels have the instructions of others: it does
// so for each kernel with an instruction that no kernel before has, whatever its numbers and names, and
// for every eighth of the rest; with WW_ALL_CUDA in the environment for all.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace ww::test {

/// "Suite.Case" of the test that runs, empty outside of tests.
std::string current_test();

/// The source of a kernel whose array of dynamic shared memory, if it has one, ends in `_<number>`.
/// Such arrays are one object where they have one name. `declaration`: how a declaration begins.
std::string with_own_array(std::string source, std::string_view declaration, std::size_t number);

/// PTX of many kernels.
class Assembly {
 public:
  /// A module of one kernel, made by the current test.
  void add(const std::string& target, const std::string& ptx);
  /// All kernels of another assembly.
  void take(Assembly other);
  /// What ptxas says against them, with the test that made the kernel and its text; empty when it
  /// accepts all. `skipped` says why nothing was done.
  std::string assemble(std::string& skipped) const;
  [[nodiscard]] std::size_t count() const { return count_; }
  /// Kernels for which ptxas generates code where not for all.
  [[nodiscard]] std::size_t chosen() const;

 private:
  /// By target: texts, each with the first test that made it. Many programs share a text.
  std::map<std::string, std::map<std::string, std::string>> modules_;
  std::size_t count_ = 0;
};

}  // namespace ww::test
