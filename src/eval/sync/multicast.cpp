// SPDX-License-Identifier: Apache-2.0
#include "eval/sync/multicast.h"

#include <utility>

#include "eval/cta/report.h"
#include "eval/cta/schedule.h"
#include "eval/memory/address.h"
#include "eval/sync/async_copies.h"

namespace ww::eval {
namespace {

template <typename... Args>
void report(Cta& cta, Check check, Thread t, fmt::format_string<Args...> format, Args&&... args) {
  if (Finding* found = finding(cta, check); found != nullptr)
    found->text = fmt::format("{} of {} sends a copy to {}", thread_text(t), cta_text(cta),
                              fmt::format(format, std::forward<Args>(args)...));
}

// The same copy, to the same places of another CTA, whose mbarrier hears of it.
void start_in_peer(Cta& cta, std::size_t rank, AsyncCopy copy, Address mbarrier, Thread t) {
  Cta& other = (*cta.cluster)[rank];
  if (is_done(other)) return report(cta, Check::Async, t, "{}, which has ended", cta_text(other));
  if (!other.mbarriers.contains(mbarrier))
    return report(cta, Check::Barrier, t, "{}, whose mbarrier at {} is not initialised",
                  cta_text(other), element_text(other, element_at(mbarrier, t)));
  const auto there = static_cast<std::int64_t>(rank);
  for (Transfer& transfer : copy.transfers) transfer.to.at = address_in(cta, transfer.to.at, there);
  start_counted(cta, std::move(copy), address_in(cta, mbarrier, there), t);
}

}  // namespace

void start_multicast(Cta& cta, const AsyncCopy& copy, Address mbarrier, Thread t, Word mask) {
  std::deque<Cta>& ctas = *cta.cluster;
  if ((mask & low_mask(kCtaMaskBits)) == 0)
    return report(cta, Check::Bounds, t, "no CTA of the cluster: its mask is 0");
  for (std::size_t rank = 0; rank < kCtaMaskBits && !cta.run.stop; ++rank) {
    if ((mask >> rank & 1) == 0) continue;
    if (rank >= ctas.size())
      report(cta, Check::Bounds, t, "CTA {} of a cluster of {}", rank, ctas.size());
    else if (&ctas[rank] == &cta)
      start_counted(cta, copy, mbarrier, t);
    else
      start_in_peer(cta, rank, copy, mbarrier, t);
  }
}

}  // namespace ww::eval
