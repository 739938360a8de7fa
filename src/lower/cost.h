// SPDX-License-Identifier: Apache-2.0
// What shared-memory accesses cost, counted on the plan's own addresses, and which layout would
// make them free of bank conflicts.
//
// Shared memory has 32 banks of 4 bytes. The accesses of a warp are served in groups of 128 bytes:
// all lanes at once up to 4 bytes each, 16 lanes for 8 bytes, 8 lanes for 16 bytes (a matrix row
// counts as one such lane). A group takes as many turns as different words are wanted from its
// busiest bank.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "lower/copy/problem.h"
#include "lower/lowering_report.h"

namespace ww::lower {

/// Addresses of the lanes of one warp in one access, lane 0 first, in elements before the swizzle;
/// kNoAddress for a lane that does not take part.
struct WarpAccess {
  static constexpr std::int64_t kNoAddress = -1;
  std::vector<std::int64_t> linear = {};
  std::int64_t bytes = 4;
};

/// The accesses of a whole primitive to one shared-memory operand.
class AccessLog {
 public:
  explicit AccessLog(const OperandPlaces& side) : side_(side) {}
  void add(WarpAccess access) { accesses_.push_back(std::move(access)); }
  /// Those of all warps in each round; `linear_of(k, u)` is the address of thread u in round k.
  template <typename LinearOf>
  void add_rounds(std::int64_t rounds, std::int64_t threads, std::int64_t bytes,
                  LinearOf&& linear_of) {
    for (std::int64_t k = 0; k < rounds; ++k)
      for (std::int64_t first = 0; first < threads; first += 32) {
        WarpAccess access{.bytes = bytes};
        for (std::int64_t u = first; u < std::min(first + 32, threads); ++u)
          access.linear.push_back(linear_of(k, u));
        add(std::move(access));
      }
  }
  [[nodiscard]] bool empty() const { return accesses_.empty(); }
  /// Turns with the operand's own layout.
  [[nodiscard]] Wavefronts count() const;
  /// A layout in words under which none of the conflicts of `now` is left, or nothing:
  /// swizzles first, then padding.
  [[nodiscard]] std::string remedy(const Call& call, const Wavefronts& now) const;

 private:
  using Placing = std::function<std::int64_t(std::int64_t linear)>;
  [[nodiscard]] Wavefronts count(const Placing& place) const;
  [[nodiscard]] std::string swizzle_remedy(std::int64_t needed) const;
  [[nodiscard]] std::string padding_remedy(const Call& call, std::int64_t needed) const;

  const OperandPlaces& side_;
  std::vector<WarpAccess> accesses_;
};

/// Adds the turns, and the remedy when there are conflicts, to a report.
void add_costs(PlanReport& report, const Call& call, const AccessLog& log);

}  // namespace ww::lower
