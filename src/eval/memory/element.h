// SPDX-License-Identifier: Apache-2.0
// What is read and written: bits at an address, and the element they are.
#pragma once

#include <compare>
#include <cstdint>

#include "eval/launch/launch.h"
#include "eval/memory/order.h"

namespace ww::eval {

inline constexpr std::int32_t kOwnCta = -1;

/// A bit of one of the launch's memories. For local memory the owner of the element says whose.
struct Address {
  std::int32_t root = kNoRoot;
  std::int64_t bit = 0;
  std::int32_t rank = kOwnCta;  // of the CTA in the cluster whose shared memory it is
  [[nodiscard]] bool exists() const { return root != kNoRoot; }
  /// For the CTA whose memory it is.
  [[nodiscard]] Address at_home() const { return {root, bit}; }
  Address operator+(std::int64_t bits) const { return {root, bit + bits, rank}; }
  friend auto operator<=>(const Address&, const Address&) = default;
};

/// Something that is read or written, with its name for messages.
struct Element {
  Address at;
  Thread owner = 0;
  const BufferInfo* info = nullptr;  // none: by address
  std::int64_t flat = 0;
};

inline Element element_at(Address at, Thread t) {
  return {.at = at, .owner = t, .info = nullptr, .flat = 0};
}

}  // namespace ww::eval
