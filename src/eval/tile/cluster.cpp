// SPDX-License-Identifier: Apache-2.0
#include "eval/tile/cluster.h"

#include <algorithm>

#include "eval/cta/report.h"
#include "eval/cta/schedule.h"
#include "eval/sync/barriers.h"
#include "eval/tile/primitives.h"

namespace ww::eval {
namespace {

// The threads of a CTA that have not ended.
std::vector<Thread> threads_of(const Cta& cta) {
  std::vector<Thread> out;
  for (std::size_t t = 0; t < cta.thread_count(); ++t)
    if (cta.status[t] != Status::Exited) out.push_back(static_cast<Thread>(t));
  return out;
}

void report_apart(Cta& cta, const Cta& other) {
  Finding* found = finding(cta, Check::Barrier);
  if (found == nullptr) return;
  found->text = fmt::format("{} waits for its cluster here, and {} {}", cta_text(cta),
                            cta_text(other), is_done(other) ? "has ended" : "elsewhere");
  if (cluster_step(other) == kNoStep) return;
  found->note = fmt::format("{} waits here", cta_text(other));
  found->note_span = span_of(other, cluster_step(other));
}

}  // namespace

bool is_at_cluster_call(const Cta& cta) {
  const std::uint32_t step = is_done(cta) ? kNoStep : cluster_step(cta);
  return step != kNoStep && cta.launch.steps[step].kind == StepKind::Tile;
}

bool run_cluster_call(std::deque<Cta>& ctas) {
  const auto first = std::find_if(ctas.begin(), ctas.end(), is_at_cluster_call);
  const std::uint32_t step = cluster_step(*first);
  std::vector<std::vector<Thread>> threads;
  std::vector<ReduceMember> members;
  for (Cta& cta : ctas) {
    if (is_done(cta) || cluster_step(cta) != step) {
      first->step = step;
      report_apart(*first, cta);
      return false;
    }
    cta.step = step;
    cta.order.tick();
    threads.push_back(threads_of(cta));
  }
  for (std::size_t c = 0; c < ctas.size(); ++c)
    members.push_back({.cta = &ctas[c],
                       .unit = {.agent = {AgentKind::Cta, 0},
                                .first = 0,
                                .size = static_cast<std::int64_t>(ctas[c].thread_count()),
                                .threads = threads[c],
                                .is_of_cluster = true}});
  const ir::Function& f = ctas[0].f;
  const ir::TileCall& call = f[f[ctas[0].launch.steps[step].stmt].tile];
  tile_reduce(members, call);
  for (Cta& cta : ctas) {
    forget_workspace(cta, call);
    pass_cluster(cta);
  }
  return true;
}

}  // namespace ww::eval
