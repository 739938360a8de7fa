// SPDX-License-Identifier: Apache-2.0
// The special registers: `%tid.x`, `%laneid`, `%clock64`, … as data, with the requirements on the
// target.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "isa/type.h"
#include "target/target.h"

namespace ww::isa {

enum class SpecialShape : std::uint8_t { Scalar, Vector, Numbered };

struct SpecialRegister {
  std::string_view name;  // without the percent sign
  Type type;
  SpecialShape shape;
  int count;  // of a numbered family
  target::Feature needs;
  int ptx;
};

std::span<const SpecialRegister> special_registers();

/// Whether the special register of a full name may be read as this type.
bool special_accepts(std::string_view text, Type wanted, Width width);

/// The special register of a full name: `%tid.x`, `%pm3`, `%laneid`; nullptr if there is none. A
/// vector needs its component, and a scalar must not have one.
const SpecialRegister* find_special(std::string_view text);
/// The one that is named as a whole: `%tid`, which is read as four registers; nullptr: none.
const SpecialRegister* find_special_vector(std::string_view text);

}  // namespace ww::isa
