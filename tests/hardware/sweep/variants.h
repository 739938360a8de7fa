// SPDX-License-Identifier: Apache-2.0
// The kernels of one instruction differ in how they give it its operands.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isa/form.h"

namespace ww::sweep {

struct Variant {
  std::string name{};
  std::optional<std::int64_t> table{};       // what Role::Immediate operands get
  std::optional<std::size_t> as_constant{};  // this operand is a constant, ...
  std::uint64_t chance = 0;                  // ... chosen by this
  bool wide = false;                         // registers wider than the type where that is legal
  bool some_lanes = false;                   // a mask that leaves lanes out
  bool contended = false;                    // all threads of a block on one address
};
std::vector<Variant> variants_of(const isa::Binding& binding);

inline bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}
/// Whether the instruction has this operand.
bool is_present(const isa::Binding& binding, const isa::OperandSpec& spec);

}  // namespace ww::sweep
