// SPDX-License-Identifier: Apache-2.0
#include "eval/sync/mbarriers.h"

#include <algorithm>

#include "eval/cta/report.h"
#include "eval/cta/schedule.h"
#include "eval/expr/expressions.h"
#include "eval/memory/access.h"
#include "eval/memory/address.h"
#include "eval/sync/async_copies.h"

namespace ww::eval {

Mbarrier* find_mbarrier(Cta& cta, Address at, Thread t) {
  Cta* home = home_of(cta, at);
  if (home == nullptr) return nullptr;
  const auto found = home->mbarriers.find(at.at_home());
  if (found != home->mbarriers.end()) return &found->second;
  if (Finding* report = finding(cta, Check::Barrier); report != nullptr)
    report->text = fmt::format("{} of {} uses an mbarrier at {}{} that is not initialised",
                               thread_text(t), cta_text(cta), element_text(cta, element_at(at, t)),
                               home == &cta ? "" : " of " + cta_text(*home));
  return nullptr;
}

void init_mbarrier(Cta& cta, Address at, std::uint32_t count, Thread t) {
  write(cta, element_at(at, t), 64, {}, access_of(cta, t, true));
  cta.mbarriers[at] = {.expected = count, .missing = count, .gathering = {}, .complete = {}};
}

void arrive_mbarrier(Cta& cta, Address at, std::uint32_t count, Thread t, bool is_release) {
  Mbarrier* barrier = find_mbarrier(cta, at, t);
  if (barrier == nullptr) return;
  if (is_release) cta.order.release(t, barrier->gathering);
  arrive_mbarrier(*home_of(cta, at), *barrier, count);
}

namespace {

// The phase is complete when nothing is missing.
void settle(Cta& cta, Mbarrier& barrier) {
  if (barrier.missing != 0 || barrier.bytes != 0) return wake_mbarrier_waiters(cta);
  barrier.missing = barrier.expected;
  ++barrier.phase;
  barrier.complete = std::move(barrier.gathering);
  barrier.gathering.clear();
  wake_mbarrier_waiters(cta);
}

}  // namespace

void arrive_mbarrier(Cta& cta, Mbarrier& barrier, std::uint32_t count) {
  barrier.missing -= std::min(barrier.missing, count);
  settle(cta, barrier);
}

void expect_bytes(Cta& cta, Address at, std::int64_t bytes, Thread t) {
  if (Mbarrier* barrier = find_mbarrier(cta, at, t)) barrier->bytes += bytes;
}

void count_bytes(Cta& cta, Mbarrier& barrier, std::int64_t bytes) {
  barrier.bytes += bytes;
  settle(cta, barrier);
}

std::string missing_text(const Mbarrier& barrier) {
  const auto counted = [](std::int64_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  };
  std::string out;
  const std::uint32_t missing = barrier.missing - std::min(barrier.missing, barrier.copying);
  if (missing != 0) out = counted(missing, "arrival");
  if (barrier.bytes != 0)
    out += fmt::format("{}{}", out.empty() ? "" : " and ", counted(barrier.bytes, "byte"));
  const bool is_one = missing + (barrier.bytes != 0 ? 2 : 0) == 1;
  return out.empty() ? out : fmt::format("{} {} missing", out, is_one ? "is" : "are");
}

bool test_mbarrier(Cta& cta, Address at, std::uint32_t parity, Thread t) {
  Mbarrier* barrier = find_mbarrier(cta, at, t);
  if (barrier == nullptr) return true;
  while ((barrier->phase & 1) == (parity & 1)) {
    if (finish_commit(cta, at, *barrier)) continue;
    if (finish_arrival(cta, at, *barrier)) continue;
    // Bytes come as late as the program can tell.
    if (barrier->missing == 0 && finish_counted(cta, at, *barrier)) continue;
    cta.mbarrier_waits[t] = at;
    return false;
  }
  cta.order.acquire(t, barrier->complete);
  return true;
}

void wait_mbarrier(Cta& cta, const ir::Expr& expr, Threads ts) {
  const Words pointers = evaluate(cta, expr.args[0], ts);
  const Words parities = evaluate(cta, expr.args[1], ts);
  for (std::size_t i = 0; i < ts.size(); ++i) {
    const Address at = address_from(cta, cta.f[expr.args[0]].type, pointers[i]);
    if (test_mbarrier(cta, at, static_cast<std::uint32_t>(parities[i]), ts[i]))
      cta.pc[ts[i]] = cta.step + 1;
    else
      cta.status[ts[i]] = Status::AtMbarrier;
  }
}

}  // namespace ww::eval
