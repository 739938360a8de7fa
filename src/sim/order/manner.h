// SPDX-License-Identifier: Apache-2.0
// How an access behaves with others to the same bytes. Two accesses of which one writes race when
// nothing orders them, unless they are morally strong in the words of the PTX manual: both strong
// (atomic, volatile, relaxed and so on), each with a scope that includes the other thread, and of
// the same bytes.
#pragma once

#include <bit>
#include <cstdint>

#include "sim/order/clocks.h"

namespace ww::sim {

/// The kind of an access. ReadNc: through the non-coherent cache. AsyncBegin: a write that lasts
/// until its AsyncWrite lands. Free: the end of an allocation, which must come after every access
/// like a write.
enum class Touched : std::uint8_t { Read, ReadNc, Write, Atomic, AsyncBegin, AsyncWrite, Free };

constexpr bool is_read(Touched how) { return how == Touched::Read || how == Touched::ReadNc; }

struct Manner {
  bool is_strong = false;
  bool is_volatile = false;
  std::uint8_t bytes = 0;  // of an element; 0: any size is the same as this one
  Scope scope = Scope::Gpu;

  static constexpr Manner strong(unsigned bytes, Scope scope = Scope::Gpu) {
    return {.is_strong = true, .bytes = static_cast<std::uint8_t>(bytes), .scope = scope};
  }
  friend bool operator==(const Manner&, const Manner&) = default;
};

enum class Agreement : std::uint8_t { Agree, Weak, Scopes, Sizes };
/// Whether accesses by threads of these homes are morally strong, and if not, why.
constexpr Agreement agreement(const Manner& a, const Manner& b, Scope apart) {
  if (!a.is_strong || !b.is_strong) return Agreement::Weak;
  if (a.scope < apart || b.scope < apart) return Agreement::Scopes;
  const bool same = a.bytes == b.bytes || a.bytes == 0 || b.bytes == 0;
  return same ? Agreement::Agree : Agreement::Sizes;
}

}  // namespace ww::sim
