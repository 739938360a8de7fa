// SPDX-License-Identifier: Apache-2.0
// The registers of a kernel while it is written, by number.
//
// A register that is written once is a *value* and is known from its level on: 0 is the kernel, and
// each scope inside is one more. Registers that are written more than once (loop counters, elements
// of register arrays) count their writes, and what was computed from one of them holds until the
// next write.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "emit/ptx/operands.h"

namespace ww::emit::to_ptx {

struct Register {
  Class cls = Class::R;
  int level = 0;
  std::uint32_t writes = 0;  // of a variable; 0: a value
  bool is_defined = false;   // computed from parameters, ids, counters and constants alone
};

class Registers {
 public:
  Value add(const Register& made) {
    all_.push_back(made);
    return value(count() - 1);
  }
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(all_.size()); }
  /// The register of a number below `count`.
  [[nodiscard]] Value value(std::uint32_t number) const {
    return {.kind = ValueKind::Register, .cls = all_[number].cls, .reg = number};
  }
  void set_level(Value value, int level) { all_[value.reg].level = level; }

  /// A variable is written.
  void touch(Value variable) { ++all_[variable.reg].writes; }
  /// The code of a loop begins: a later round may find other numbers in variables than the first one.
  void enter_loop() { ++loops_; }
  /// False for constants.
  [[nodiscard]] bool is_variable(Value value) const {
    return value.is_register() && all_[value.reg].writes != 0;
  }
  /// The same number for as long as the variable holds the same contents.
  [[nodiscard]] std::uint64_t version(Value variable) const {
    return all_[variable.reg].writes | std::uint64_t{loops_} << 32U;
  }

  /// The outermost level where the value is known, seen from `here`: where variables are.
  [[nodiscard]] int level_of(Value value, int here) const {
    if (!value.is_register()) return 0;
    return is_variable(value) ? here : all_[value.reg].level;
  }
  [[nodiscard]] int level_of(const Arg& arg, int here) const {
    int found = arg.kind == ArgKind::Value ? level_of(arg.value, here) : 0;
    for (const Arg& part : arg.parts) found = std::max(found, level_of(part, here));
    return found;
  }
  /// Whether all registers of the operand are.
  [[nodiscard]] bool is_defined(const Arg& arg) const {
    if (arg.kind == ArgKind::Value && arg.value.is_register() && !all_[arg.value.reg].is_defined)
      return false;
    return std::ranges::all_of(arg.parts, [&](const Arg& part) { return is_defined(part); });
  }

 private:
  std::vector<Register> all_;
  std::uint32_t loops_ = 0;
};

}  // namespace ww::emit::to_ptx
