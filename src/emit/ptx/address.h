// SPDX-License-Identifier: Apache-2.0
// Where a pointer leads: a base, run-time terms, and a constant.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "emit/ptx/kernel_code.h"
#include "ir/function.h"

namespace ww::emit::to_ptx {

enum class Space : std::uint8_t { Generic, Global, Shared, Local, Registers };
/// "", ".global", ".shared", ".local"
std::string_view suffix_of(Space space);

/// value / divisor is whole; the address grows by value times scale bytes.
struct Term {
  Value value = {};
  std::int64_t scale = 1;
  std::int64_t divisor = 1;
  bool is_signed = true;
};

struct Address {
  Space space = Space::Generic;
  std::string_view symbol =
      {};                     // Shared, Local: the array, when there is one; of Context::in_array
  Value base = {};            // otherwise: a register
  ir::BufferId storage = {};  // Registers
  std::vector<Term> terms = {};
  std::int64_t bits = 0;                  // constant part
  std::int64_t align = 1;                 // of the base, in bytes
  std::optional<std::size_t> param = {};  // whose memory it is
};
Address moved(Address address, std::int64_t bytes);
/// In bytes, as far as it is known.
std::int64_t align_of(const Address& address);

}  // namespace ww::emit::to_ptx
