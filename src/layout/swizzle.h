// SPDX-License-Identifier: Apache-2.0
// Swizzled addresses as short expressions. The plain formula needs the whole address; when an
// address splits into H + D + K with H a multiple of the atom 2^(M+S), D runtime and small, K
// constant and carry-free below the atom, then
//
//     swizzle(H + D + K) = (H + (D ^ (((H / atom) & (2^B - 1)) << M))) ^ K
//
// so that addresses that differ in K share everything but one XOR.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "layout/layout.h"

namespace ww::layout {

struct SwizzledAddress {
  Swizzle swizzle;
  Expr high;                  // H, a multiple of the atom
  Expr low;                   // D, within [0, atom - K)
  std::int64_t constant = 0;  // K

  [[nodiscard]] std::int64_t evaluate(const std::function<std::int64_t(Sym)>& value_of) const;
  /// "(H + ((D) ^ (((H) / 512 & 7) << 3))) ^ 24", constants folded
  [[nodiscard]] std::string text() const;
};

/// The split form of swizzle(address), or Unprovable with the reason: the outer direction, an
/// address that may be negative, a low part that may carry.
Result<SwizzledAddress> split_swizzled(const Expr& address, const Swizzle& swizzle);

}  // namespace ww::layout
