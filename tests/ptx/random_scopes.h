// SPDX-License-Identifier: Apache-2.0
// Random kernels of nested blocks in which few names are declared many times over: labels,
// registers, families of registers, lists of labels. Which declaration each name means is worked
// out here once more, from the definition and not from a symbol table, and so is what the kernel
// computes.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace ww::test {

/// A kernel as a flat list of lines, each of which knows its block.
class ScopeProgram {
 public:
  explicit ScopeProgram(std::uint64_t seed);

  /// Whether every name means something that may stand there and nothing is declared twice.
  [[nodiscard]] bool is_legal() const { return problem_.empty(); }
  /// Why it is not.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// A module of one kernel `k` with one parameter, where the result goes.
  [[nodiscard]] std::string text() const { return text_of(false); }
  /// The same with a name of its own for every declaration. It must be legal.
  [[nodiscard]] std::string unambiguous_text() const { return text_of(true); }
  /// What the kernel stores, worked out line by line. It must be legal.
  [[nodiscard]] std::uint32_t result() const { return result_of(targets_); }
  /// What it would store if a branch went to the last label of its name in the function.
  [[nodiscard]] std::uint32_t result_without_blocks() const;

 private:
  enum class Kind : std::uint8_t { Open, Close, Label, Register, Family, Add, Branch, List, Jump };
  struct Line {
    Kind kind{};
    std::string name;                   // declared or used
    int block = 0;                      // that it is in
    int bits = 32;                      // of registers
    unsigned count = 0;                 // of a family
    std::uint32_t number = 0;           // added, or which register a jump looks at
    std::vector<std::string> labels{};  // of a list
  };
  /// A line that declares the name, or nothing.
  using Found = std::optional<std::size_t>;

  void write(int block, int depth, std::mt19937_64& random);
  void resolve();
  void resolve_line(std::size_t at);
  [[nodiscard]] bool declares(const Line& line, const std::string& name) const;
  [[nodiscard]] Found declared_above(std::size_t at, const std::string& name) const;
  [[nodiscard]] Found label_for(std::size_t at, const std::string& name) const;
  [[nodiscard]] bool clash(const Line& a, const Line& b) const;
  [[nodiscard]] std::string find_twice() const;
  [[nodiscard]] std::uint32_t result_of(const std::vector<std::vector<std::size_t>>& targets) const;
  [[nodiscard]] std::string text_of(bool is_unambiguous) const;
  [[nodiscard]] std::string line_text(std::size_t at, bool is_unambiguous) const;

  std::vector<Line> lines_;
  std::vector<int> parents_;                       // by block
  std::vector<std::vector<std::size_t>> targets_;  // by line: the declarations its names mean
  std::string problem_;
};

}  // namespace ww::test
