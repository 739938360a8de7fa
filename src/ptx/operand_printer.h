// SPDX-License-Identifier: Apache-2.0
// Operands as PTX text. Used inside this folder; programs call `print` (ptx/printer.h).
#pragma once

#include <cstdint>
#include <span>

#include "ptx/module.h"
#include "ptx/text_buffer.h"

namespace ww::ptx::printing {

/// The text of a module, or of a part of one, while it is written.
struct Printed {
  explicit Printed(const Module& printed) : module(printed) {}

  const Module& module;
  TextBuffer out;
};

inline void name(Printed& to, NameId id) { to.out.add(to.module.text(id)); }
/// Each by print(element), with ", " between them.
template <typename List, typename Print>
void separated(Printed& to, const List& list, Print print) {
  bool is_first = true;
  for (const auto& element : list) {
    if (!is_first) to.out.add(", ");
    is_first = false;
    print(element);
  }
}
/// Without zeros in front, in capitals as nvcc writes it.
void hex(Printed& to, std::uint64_t bits);
void operand(Printed& to, const OperandPool& pool, const Operand& o);
void operands(Printed& to, const OperandPool& pool, std::span<const Operand> list);

}  // namespace ww::ptx::printing
