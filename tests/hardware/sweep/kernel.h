// SPDX-License-Identifier: Apache-2.0
// Kernels that execute one instruction: each thread loads operands from columns of an input buffer,
// executes, and stores all results, as raw bits, to columns of an output buffer. A column has one
// value per thread, thread after thread; the columns of a buffer lie one after the other.
//
// What cannot be tried with registers alone has a recipe of its own: atomics and accesses work on a
// cell of memory per thread, matrices on shared memory, carries come from an instruction before and
// are read by one after, warp-wide instructions also run with some of the lanes only.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "hardware/sweep/values.h"
#include "isa/form.h"

namespace ww::sweep {

struct Column {
  std::string name;    // of the operand: "a", "b1"
  isa::Type type{};    // what is compared and printed
  unsigned bytes = 4;  // per thread
  Kind kind{};         // of an input
  unsigned index = 0;  // of an input among those of its kind
};

struct Kernel {
  std::string opcode;
  std::string variant;      // "" or what is special: "immediate", "some lanes"
  std::string instruction;  // as written in the kernel
  std::string family;
  int ptx = 80;  // the lowest version that takes it on sm_90a
  std::vector<Column> inputs, outputs;
  std::string body;  // `$` stands for the kernel's name

  /// The name in tables: "add.u32", "shl.b32 (immediate)".
  [[nodiscard]] std::string title() const;
};

constexpr unsigned kBlockThreads = 128;

/// All kernels for one binding, none if there is no recipe.
std::vector<Kernel> kernels_of(const isa::Binding& binding);

/// Why there is none, for forms that have no results or need more than an instruction; "" if there
/// is one.
std::string_view no_recipe(const isa::Binding& binding);

/// `.version`, `.target`, `.address_size`.
std::string module_header(int ptx);
/// The text of the kernel under that name.
std::string kernel_text(const Kernel& kernel, const std::string& name);

/// Bytes of a buffer with these columns.
std::size_t buffer_bytes(const std::vector<Column>& columns, std::size_t cases);
/// The input buffer.
std::vector<std::byte> make_inputs(const Kernel& kernel, std::size_t cases);

}  // namespace ww::sweep
