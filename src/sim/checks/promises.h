// SPDX-License-Identifier: Apache-2.0
// Values that a program promises to be the same in all threads of a CTA: a `mov` after a label that
// begins with `$L_uniform_`; or of a warp, `$L_uniform_warp_`. The n-th value of a thread must be
// the n-th value of every thread of the CTA or the warp that gets there n times.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/op.h"

namespace ww::sim {

inline constexpr std::string_view kPromiseLabel = "$L_uniform_";
inline constexpr std::string_view kWarpPromiseLabel = "$L_uniform_warp_";
/// Which threads a promise is about; the mode of its op.
enum class PromiseOf : std::uint8_t { None, Cta, Warp };

class Promises {
 public:
  struct Value {
    std::uint64_t bits = 0;
    std::uint32_t thread = 0;  // the first that had it
  };
  /// What the thread should have had instead; null when it keeps the promise. `group`: the warp
  /// that it is about, or 0.
  const Value* broken(std::uint32_t op, std::uint32_t group, std::uint32_t thread,
                      std::uint64_t bits);

 private:
  struct Promise {
    std::vector<Value> values;         // of the n-th time
    std::vector<std::uint32_t> times;  // by thread
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, Promise> promises_;  // by op and group
};

/// Checks the value at p[0], of `bytes` bytes, in the lanes that execute it.
void run_promise(Warp& warp, const Op& op);

}  // namespace ww::sim
