// SPDX-License-Identifier: Apache-2.0
// Writes the text of one kernel: registers, columns of the two buffers, and what recipes add.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "hardware/sweep/kernel.h"

namespace ww::sweep {

class Writer {
 public:
  /// A new register of that many bits (1: a predicate).
  std::string reg(int bits);
  /// Adds a line.
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    code_ += "  " + fmt::format(format, std::forward<Args>(args)...) + "\n";
  }
  /// A declaration at the start of the kernel.
  void declare(std::string_view text) { declarations_ += fmt::format("  {}\n", text); }

  /// A new input column, and the address of the thread's value in it as a register.
  std::string input_place(std::string name, isa::Type type, const Kind& kind);
  /// A new input column, loaded into a register of `kind.bytes` (or a predicate).
  std::string input(std::string name, isa::Type type, const Kind& kind);
  /// A new output column, and the address of the thread's value in it.
  std::string output_place(std::string name, isa::Type type, unsigned bytes);
  /// A new output column, stored from the register.
  void output(std::string name, isa::Type type, int register_bits, const std::string& reg);

  /// Copies bytes between two addresses: "global" %rd1 to "shared" %r2. A thread's own business.
  void copy(std::string_view from_space, const std::string& from, std::string_view to_space,
            const std::string& to, unsigned bytes);
  /// The address of the thread's own `bytes` of shared memory, as 32 bits; one call per kernel.
  std::string shared_cell(unsigned bytes);
  /// ... of local memory, as 64 bits.
  std::string local_cell(unsigned bytes);

  /// Moves columns and text into the kernel.
  void finish(Kernel& kernel);

 private:
  std::string address(std::string_view base, unsigned before, unsigned bytes);

  std::map<int, int> registers_;  // by bits: how many
  std::map<Kind, unsigned> seen_;
  std::string declarations_, code_;
  std::vector<Column> inputs_, outputs_;
  unsigned input_bytes_ = 0, output_bytes_ = 0;  // per thread
};

}  // namespace ww::sweep
