// SPDX-License-Identifier: Apache-2.0
#include "sim/run/registers.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/run/unit.h"
#include "sim/run/warpgroup.h"

namespace ww::sim {
namespace {

constexpr std::uint64_t kRegistersOfSm = 65536;
constexpr std::uint64_t kMaxRegisters = 256;
constexpr std::uint64_t kStep = 8;

}  // namespace

std::uint32_t registers_at_launch(const Warp& warp) {
  const Code& code = *warp.unit->context.code;
  if (code.registers != 0) return static_cast<std::uint32_t>(round_up(code.registers, kStep));
  const auto& block = code.required_block ? code.required_block : code.most_block;
  if (code.blocks_per_sm == 0 || !block) return 0;
  const std::uint64_t most =
      kRegistersOfSm / std::max<std::uint64_t>(1, code.blocks_per_sm * block->count());
  const std::uint64_t start = std::min(kMaxRegisters, most / kStep * kStep);
  // ptxas does not start with more than will ever be asked for.
  return static_cast<std::uint32_t>(
      code.most_taken != 0 ? std::min<std::uint64_t>(start, code.most_taken) : start);
}

std::uint32_t registers_of(const Warp& warp) {
  return warp.registers != 0 ? warp.registers : registers_at_launch(warp);
}

std::int64_t free_registers(const Warp& warp) {
  std::int64_t free = 0;
  for (const auto& other : warp.cta->warps) {
    free += registers_at_launch(warp);
    if (!other->done()) free -= registers_of(*other);
  }
  return free;
}

namespace {

void report_missing(const Warp& warp, const RegisterRequest& request, const Warp& ended) {
  warp.unit->findings.add(
      {.check = Check::Collective,
       .who = {request.op, warp.cta->linear, request.first, warp.cta->warps[request.first]->born},
       .other = {ended.ended_at, warp.cta->linear, ended.index, ended.born},
       .text = fmt::format("executed without warp {}, which has ended: all warps of a warpgroup "
                           "must execute `setmaxnreg`",
                           ended.index)});
}

}  // namespace

void note_request(Warp& warp) {
  std::vector<RegisterRequest>& requests = warpgroup_of(warp).requests;
  const Mask member = lane_bit(warp.index % kGroupWarps);
  const auto open = std::ranges::find_if(
      requests, [&](const RegisterRequest& each) { return (each.members & member) == 0; });
  if (open != requests.end()) {
    open->members |= member;
  } else {
    requests.push_back({warp.current, warp.index, member});
  }
  check_requests(warp);
}

void check_requests(Warp& warp) {
  if (warp.cta->warpgroups.size() <= warp.index / kGroupWarps) return;
  const std::array<Warp*, kGroupWarps> group = group_of(warp);
  std::erase_if(warpgroup_of(warp).requests, [&](const RegisterRequest& request) {
    bool is_complete = true;
    for (unsigned i = 0; i < kGroupWarps; ++i) {
      if (group[i] == nullptr || has_lane(request.members, i)) continue;
      is_complete = false;
      if (group[i]->live != 0) continue;
      if (warp.checks(Check::Collective)) report_missing(warp, request, *group[i]);
      return true;
    }
    return is_complete;
  });
}

}  // namespace ww::sim
