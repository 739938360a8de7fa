// SPDX-License-Identifier: Apache-2.0
// Numbers that name things of one kind: `Id<struct ExprTag>` is an index into a vector of
// expressions and cannot be mistaken for an index into another.
#pragma once

#include <compare>
#include <cstdint>

namespace ww {

template <typename Tag>
struct Id {
  static constexpr std::uint32_t kNone = 0xffffffffU;
  std::uint32_t index = kNone;
  [[nodiscard]] bool valid() const { return index != kNone; }
  friend bool operator==(Id, Id) = default;
  friend auto operator<=>(Id, Id) = default;
};

}  // namespace ww
