// SPDX-License-Identifier: Apache-2.0
#include "sim/checks/promises.h"

#include <fmt/format.h>

#include "sim/run/unit.h"
#include "sim/run/warp.h"

namespace ww::sim {
namespace {

// A loop that goes round more often is checked up to here.
constexpr std::size_t kMaxPromised = std::size_t{1} << 20;

std::uint64_t bits_of_lane(const Warp& warp, const Op& op, unsigned lane) {
  switch (op.bytes) {
    case 2:
      return warp.source<std::uint16_t>(op.p[0])[lane];
    case 4:
      return warp.source<std::uint32_t>(op.p[0])[lane];
    default:
      return warp.source<std::uint64_t>(op.p[0])[lane];
  }
}

}  // namespace

const Promises::Value* Promises::broken(std::uint32_t op, std::uint32_t group, std::uint32_t thread,
                                        std::uint64_t bits) {
  Promise& promise = promises_[{op, group}];
  if (thread >= promise.times.size()) promise.times.resize(thread + 1);
  const std::size_t time = promise.times[thread]++;
  if (time >= kMaxPromised) return nullptr;
  if (time >= promise.values.size()) promise.values.push_back({bits, thread});
  const Value& wanted = promise.values[time];
  return wanted.bits == bits ? nullptr : &wanted;
}

void run_promise(Warp& warp, const Op& op) {
  if (!warp.checks(Check::Collective)) return;
  const bool is_of_warp = op.as<PromiseOf>() == PromiseOf::Warp;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if ((warp.exec >> lane & 1U) == 0) continue;
    const std::uint64_t bits = bits_of_lane(warp, op, lane);
    const Promises::Value* wanted = warp.cta->promises.broken(
        warp.current, is_of_warp ? warp.index : 0, warp.index * kLanes + lane, bits);
    if (wanted == nullptr) continue;
    warp.report(Check::Collective, Mask{1} << lane,
                fmt::format("a value is promised to be the same in all threads of its {}, and is "
                            "0x{:x} in thread {}, 0x{:x} in thread {}",
                            is_of_warp ? "warp" : "block", wanted->bits, wanted->thread, bits,
                            warp.index * kLanes + lane));
    return;
  }
}

}  // namespace ww::sim
