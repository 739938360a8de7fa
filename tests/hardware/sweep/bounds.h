// SPDX-License-Identifier: Apache-2.0
// The errors that the PTX manual allows approximations. The virtual GPU gives the correctly rounded
// value, so that the difference from it is the device's error, up to half a unit of ours.
#pragma once

#include <string_view>

#include "hardware/sweep/kernel.h"

namespace ww::sweep {

struct Bound {
  std::string_view mnemonic;
  std::string_view mode;  // a word of the opcode: "approx", "full"
  isa::Type type{};       // of one element
  bool only_ftz = false;  // the row is for the form with `.ftz` alone
  std::string_view text;  // as the manual has it
  /// How far the result may be off for these operands; infinity: no promise.
  double (*allowed)(double a, double b, double result);
};

/// The bound of the kernel's instruction, or nullptr: then all bits must agree.
const Bound* bound_of(const Kernel& kernel);

/// An element of a float type as a number.
double decode(isa::Type type, std::uint64_t bits);
/// The distance of neighbours at that number.
double unit_of(isa::Type type, double value);
/// The element type of a pair: f16 of f16x2.
isa::Type element_type(isa::Type type);

}  // namespace ww::sweep
