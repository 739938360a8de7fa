// SPDX-License-Identifier: Apache-2.0
#include "driver/timeline/role_use.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/timeline/detail.h"

namespace ww::driver {
namespace {

using Steps = std::pair<std::uint64_t, std::uint64_t>;  // from, to

// How many steps some spans cover together.
std::uint64_t covered(std::vector<Steps> spans) {
  std::ranges::sort(spans);
  std::uint64_t sum = 0, until = 0;
  for (const auto& [from, to] : spans) {
    sum += to - std::min(to, std::max(from, until));
    until = std::max(until, to);
  }
  return sum;
}

bool is_copy(sim::AsyncKind kind) {
  return kind == sim::AsyncKind::CopyGroup || kind == sim::AsyncKind::Signalled ||
         kind == sim::AsyncKind::BulkGroup;
}
bool is_product(sim::AsyncKind kind) {
  return kind == sim::AsyncKind::Product || kind == sim::AsyncKind::TensorWork;
}

// "pipe_full" of "pipe_full[2]".
std::string array_of(const std::string& name) { return name.substr(0, name.find('[')); }

void add_wait(RoleUse& out, const std::string& what, std::uint64_t steps) {
  const auto same = std::ranges::find(out.waits, what, &RoleUse::Wait::what);
  if (same == out.waits.end())
    out.waits.push_back({what, steps});
  else
    same->steps += steps;
}

void add_warp(const sim::RecordedWarp& warp, const TimelineNames& names, RoleUse& out) {
  std::vector<sim::StateSteps> sums = warp.merged;
  for (const sim::WarpSpan& span : warp.spans)
    if (span.merged == 0) sim::add_steps(sums, {span.state, span.subject, span.end - span.begin});
  if (!warp.spans.empty()) out.steps += warp.spans.back().end;
  for (const sim::StateSteps& each : sums) {
    if (each.state == sim::WarpState::Runs)
      out.runs += each.steps;
    else
      add_wait(out, array_of(names.subject(each.state, each.subject)), each.steps);
  }
}

}  // namespace

std::uint64_t RoleUse::waited() const {
  std::uint64_t sum = 0;
  for (const Wait& wait : waits) sum += wait.steps;
  return sum;
}

RoleUse role_use(const sim::Recording& recording, const TimelineNames& names,
                 const WarpRole& role) {
  RoleUse out;
  const std::uint32_t per_cta = recording.warps_per_cta;
  for (std::uint32_t cta = 0; cta < recording.ctas.size(); ++cta) {
    for (const std::uint32_t warp : role.warps)
      if (warp < per_cta) add_warp(recording.warps[cta * per_cta + warp], names, out);
    std::vector<Steps> copies, products;
    for (const sim::AsyncRecord& work : recording.work) {
      const std::uint32_t warp = work.issued_by.warp;
      const bool is_own = warp / per_cta == cta &&
                          std::ranges::find(role.warps, warp % per_cta) != role.warps.end();
      if (is_own && is_copy(work.kind)) copies.emplace_back(work.begin, work.end);
      if (is_own && is_product(work.kind)) products.emplace_back(work.begin, work.end);
    }
    out.copies += covered(std::move(copies));
    out.products += covered(std::move(products));
    out.run_steps += recording.steps;
  }
  std::ranges::stable_sort(out.waits, std::greater{}, &RoleUse::Wait::steps);
  return out;
}

}  // namespace ww::driver
