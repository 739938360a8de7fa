// SPDX-License-Identifier: Apache-2.0
// Shared-memory banks: 32 banks of 4 bytes; 128 consecutive bytes are a *line*. An access by a warp
// costs one *wavefront* per line that must be touched in the busiest bank; accesses of 8 and 16
// bytes per lane are served in 2 and 4 groups of lanes, matrix loads (ldmatrix) in phases of eight
// 16-byte rows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "layout/layout.h"

namespace ww::layout {

inline constexpr int kBanks = 32;
inline constexpr int kBankBytes = 4;

struct BankPlace {
  std::int64_t byte = 0;  // byte address of the first bit of the element
  std::int64_t line = 0;
  int bank = 0;
};

/// Where an element with this address (in elements of `bits` bits) lies.
BankPlace bank_place(std::int64_t address, int bits);

/// Bytes touched by one lane: [byte, byte + bytes).
struct LaneAccess {
  std::int64_t byte = 0;
  std::int64_t bytes = 4;
};

struct ConflictReport {
  std::int64_t wavefronts = 0;  // passes the shared-memory pipe makes
  std::int64_t ideal = 0;       // passes for the same number of distinct bytes without conflicts
  std::int64_t worst_bank = 0;  // most lines wanted from one bank within a pass group
  [[nodiscard]] std::int64_t conflicts() const { return wavefronts - ideal; }
};

/// Cost of one warp-wide access (at most 32 lanes; each 1, 2, 4, 8 or 16 bytes, naturally aligned).
Result<ConflictReport> warp_access_cost(std::span<const LaneAccess> lanes);

/// Cost of accesses through a layout. `access` names the elements: an access layout maps (lane,
/// element within the lane's vector) row-major to the flat index on `m`; `lanes` · `vec` elements a
/// pass, and as many passes as the access has elements. Each lane's vector must be contiguous in
/// `shared`.
Result<ConflictReport> access_cost(const Layout& shared, const Layout& access, std::int64_t lanes,
                                   std::int64_t vec, int bits);

}  // namespace ww::layout
