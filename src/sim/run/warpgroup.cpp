// SPDX-License-Identifier: Apache-2.0
#include "sim/run/warpgroup.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/run/unit.h"

namespace ww::sim {
namespace {

std::string whereabouts_of(const Warp& warp) {
  if (warp.live == 0) return "has ended";
  const Split& split = warp.splits.list.front();
  return fmt::format("is at line {}", warp.program->infos[split.pc].line);
}

}  // namespace

std::array<Warp*, kGroupWarps> group_of(const Warp& warp) {
  std::array<Warp*, kGroupWarps> group{};
  const std::size_t first = warp.index / kGroupWarps * kGroupWarps;
  for (std::size_t i = 0; i < kGroupWarps && first + i < warp.cta->warps.size(); ++i)
    group[i] = warp.cta->warps[first + i].get();
  return group;
}

Warpgroup& warpgroup_of(Warp& warp) {
  std::vector<Warpgroup>& all = warp.cta->warpgroups;
  const std::size_t number = warp.index / kGroupWarps;
  if (all.size() <= number) all.resize(number + 1);
  return all[number];
}

bool waits_in_group(const Warp& warp, std::uint32_t op) {
  return std::ranges::any_of(warp.splits.list, [&](const Split& split) {
    return split.state == SplitState::AtWarpgroup && split.pc == op;
  });
}

bool break_group(Warp& warp) { return wake(warp, SplitState::AtWarpgroup, true, kWithoutWarps); }

std::string missing_warps(const Warp& warp) {
  std::string text;
  const auto add = [&](std::string who) {
    text += (text.empty() ? "" : ", and ") + std::move(who);
  };
  const std::array<Warp*, kGroupWarps> group = group_of(warp);
  for (unsigned i = 0; i < kGroupWarps; ++i) {
    const unsigned index = warp.index / kGroupWarps * kGroupWarps + i;
    if (group[i] == nullptr) {
      add(fmt::format("warp {}, which the block does not have", index));
    } else if (group[i] != &warp && !waits_in_group(*group[i], warp.current)) {
      add(fmt::format("warp {}, which {}", index, whereabouts_of(*group[i])));
    }
  }
  return text;
}

void report_unwaited_products(Unit& unit) {
  // What was touched before a wait has been reported as that.
  const auto is_known = [&](std::uint32_t op) {
    return std::ranges::any_of(unit.findings.list(), [&](const Finding& finding) {
      return finding.check == Check::Async && finding.other.op == op;
    });
  };
  for (const auto& cta : unit.ctas) {
    for (const Warpgroup& group : cta->warpgroups) {
      for (const PendingProduct& product : group.products) {
        if (is_known(product.op)) continue;
        for (const ProductPart& part : product.parts) {
          if (part.warp == nullptr || part.is_waited) continue;
          const bool is_open = part.group >= part.warp->pending.products_committed;
          unit.findings.add(
              {.check = Check::Async,
               .who = {product.op, cta->linear, part.warp->index, part.lanes},
               .text = fmt::format("the kernel ends without {} behind this",
                                   is_open ? "`wgmma.commit_group` and `wgmma.wait_group`"
                                           : "a `wgmma.wait_group` that covers its group")});
        }
      }
    }
  }
}

}  // namespace ww::sim
