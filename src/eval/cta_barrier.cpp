// SPDX-License-Identifier: Apache-2.0
// Barriers. A thread that waits stays at its operation; when the last one arrives all go on
// together.
#include <algorithm>

#include "eval/cta.h"

namespace ww::eval {
namespace {

using ir::Expr;
using ir::Intrinsic;

constexpr std::size_t kWarp = 32;
constexpr std::size_t kWarpgroup = 128;

// Calls `visit` for each run of threads in one unit of that size.
template <typename Visit>
void each_unit(Threads ts, std::size_t size, const Visit& visit) {
  for (std::size_t i = 0; i < ts.size();) {
    std::size_t j = i;
    while (j < ts.size() && ts[j] / size == ts[i] / size) ++j;
    visit(static_cast<std::uint32_t>(ts[i] / size), ts.subspan(i, j - i));
    i = j;
  }
}

}  // namespace

// True when the threads go on at once.
bool Cta::barrier_call(const Expr& expr, Threads ts) {
  using Kind = BarrierKey::Kind;
  switch (expr.callee) {
    case Intrinsic::StorageSync: {
      const Expr& scope = (*f_)[expr.args[0]];
      const bool is_warp = scope.op == ir::ExprOp::TextImm && f_->texts[scope.text] == "warp";
      if (is_warp)
        arrive_warps(ts);
      else
        arrive_named(0, 0, ts, true);
      return false;
    }
    case Intrinsic::CtaSync:
      arrive_named(0, 0, ts, true);
      return false;
    case Intrinsic::WarpSync:
      arrive_warps(ts);
      return false;
    case Intrinsic::WarpgroupSync: {
      const Words ids = eval(expr.args[0], ts);
      const auto id = static_cast<std::uint32_t>(ids[0]);
      each_unit(ts, kWarpgroup, [&](std::uint32_t group, Threads threads) {
        const auto number = static_cast<std::size_t>(threads.data() - ts.data());
        const auto own = static_cast<std::uint32_t>(ids[number]);
        if (group != ts[0] / kWarpgroup && own == id)
          if (Finding* found = finding(Check::Barrier); found != nullptr)
            found->text = fmt::format(
                "warpgroups {} and {} of {} meet at the same barrier {}, which counts 128 threads",
                ts[0] / kWarpgroup, group, cta_text(), id);
        arrive({Kind::Warpgroup, own, group}, 0, threads, true);
      });
      return false;
    }
    case Intrinsic::ClusterSync:
      arrive({Kind::Cluster, 0, 0}, 0, ts, true);
      return false;
    case Intrinsic::MbarrierWait:
      wait_mbarrier(expr, ts);
      return false;
    default:
      break;
  }
  go_on(ts);
  return true;
}

void Cta::arrive_warps(Threads ts) {
  each_unit(ts, kWarp, [&](std::uint32_t warp, Threads lanes) {
    arrive({BarrierKey::Kind::Warp, 0, warp}, 0, lanes, true);
  });
}

void Cta::arrive_named(std::uint32_t id, std::size_t count, Threads ts, bool waits) {
  // Warp by warp: with a count, more threads than it may come at once.
  each_unit(ts, kWarp, [&](std::uint32_t, Threads lanes) {
    arrive({BarrierKey::Kind::Named, id, 0}, count, lanes, waits);
  });
}

void Cta::arrive(const BarrierKey& key, std::size_t count, Threads ts, bool waits) {
  Barrier& barrier = barriers_[key];
  barrier.count = count;
  barrier.op = op_;
  for (const Thread t : ts) {
    barrier.arrived.push_back(t);
    if (waits) barrier.waiting.push_back(t);
    if (waits)
      status_[t] = Status::AtBarrier;
    else
      pcs_[t] = op_ + 1;
  }
  check_barriers();
}

bool Cta::is_complete(const BarrierKey& key, const Barrier& barrier) const {
  using Kind = BarrierKey::Kind;
  if (key.kind == Kind::Cluster || barrier.arrived.empty()) return false;
  if (barrier.count != 0) return barrier.arrived.size() >= barrier.count;
  if (key.kind == Kind::Named) return barrier.arrived.size() >= alive_;
  const std::size_t size = key.kind == Kind::Warp ? kWarp : kWarpgroup;
  const std::size_t first = key.unit * size;
  std::size_t alive = 0;
  for (std::size_t t = first; t < std::min(first + size, thread_count()); ++t)
    if (status_[t] != Status::Exited) ++alive;
  return barrier.arrived.size() >= alive;
}

void Cta::check_barriers() {
  for (auto it = barriers_.begin(); it != barriers_.end();) {
    if (!is_complete(it->first, it->second)) {
      ++it;
      continue;
    }
    release(it->second);
    it = barriers_.erase(it);
  }
}

void Cta::release(const Barrier& barrier) {
  std::vector<Thread> sorted = barrier.waiting;
  std::sort(sorted.begin(), sorted.end());
  each_unit(sorted, kWarp, [&](std::uint32_t warp, Threads lanes) {
    for (const Thread t : lanes) {
      if (pcs_[t] == pcs_[lanes[0]]) continue;
      if (Finding* found = finding(Check::Barrier); found != nullptr) {
        found->text = fmt::format("{} and {} of warp {} of {} meet at barriers in different places",
                                  thread_text(lanes[0]), thread_text(t), warp, cta_text());
        found->note = "the other one is here";
        found->note_span = span_of(pcs_[pcs_[t] == op_ ? lanes[0] : t]);
      }
      break;
    }
  });
  meet(barrier.arrived);
  for (const Thread t : barrier.waiting) {
    status_[t] = Status::Ready;
    ++pcs_[t];
  }
}

// What the threads did before is ordered before what they do next.
void Cta::meet(Threads ts) {
  if (ts.size() >= alive_) return order_.meet(Agent{AgentKind::Cta, 0});
  for (const auto& [size, kind] :
       {std::pair{kWarp, AgentKind::Warp}, std::pair{kWarpgroup, AgentKind::Warpgroup}}) {
    const std::size_t unit = ts[0] / size;
    std::size_t alive = 0;
    for (std::size_t t = unit * size; t < std::min((unit + 1) * size, thread_count()); ++t)
      if (status_[t] != Status::Exited) ++alive;
    const bool is_inside =
        std::all_of(ts.begin(), ts.end(), [&, s = size](Thread t) { return t / s == unit; });
    if (is_inside && ts.size() >= alive)
      return order_.meet(Agent{kind, static_cast<std::uint16_t>(unit)});
  }
  order_.meet(ts);
}

bool Cta::waits_for_cluster() const {
  const auto found = barriers_.find({BarrierKey::Kind::Cluster, 0, 0});
  return found != barriers_.end() && found->second.arrived.size() >= alive_;
}

void Cta::release_cluster() {
  const auto found = barriers_.find({BarrierKey::Kind::Cluster, 0, 0});
  if (found == barriers_.end()) return;
  order_.met_cluster();
  for (const Thread t : found->second.waiting) {
    status_[t] = Status::Ready;
    ++pcs_[t];
  }
  barriers_.erase(found);
}

// --- mbarriers ---------------------------------------------------------------------------------

Cta::Mbarrier* Cta::find_mbarrier(Place place, Thread t) {
  const auto found = mbarriers_.find({place.root, place.bit});
  if (found != mbarriers_.end()) return &found->second;
  if (Finding* report = finding(Check::Barrier); report != nullptr)
    report->text = fmt::format("{} of {} uses an mbarrier at {} that is not initialised",
                               thread_text(t), cta_text(), element_text(element_at(place, t)));
  return nullptr;
}

void Cta::init_mbarrier(Place place, std::uint32_t count, Thread t) {
  const Element element = element_at(place, t);
  write(element, 64, 0, 0, access_of(thread_agent(t), true));
  Mbarrier& barrier = mbarriers_[{place.root, place.bit}];
  barrier = Mbarrier{};
  barrier.expected = count;
  barrier.missing = count;
}

void Cta::arrive_mbarrier(Place place, std::uint32_t count, Thread t) {
  Mbarrier* barrier = find_mbarrier(place, t);
  if (barrier == nullptr) return;
  order_.release(t, barrier->gathering);
  arrive_mbarrier(*barrier, count);
}

void Cta::arrive_mbarrier(Mbarrier& barrier, std::uint32_t count) {
  if (barrier.missing > count) {
    barrier.missing -= count;
    return;
  }
  barrier.missing = barrier.expected;
  ++barrier.phase;
  barrier.complete = std::move(barrier.gathering);
  barrier.gathering.clear();
  for (Status& status : status_)
    if (status == Status::AtMbarrier) status = Status::Ready;
}

bool Cta::test_mbarrier(Place place, std::uint32_t parity, Thread t) {
  Mbarrier* barrier = find_mbarrier(place, t);
  if (barrier == nullptr) return true;
  while ((barrier->phase & 1) == (parity & 1))
    if (!finish_commit(place, *barrier)) return false;
  order_.acquire(t, barrier->complete);
  return true;
}

void Cta::wait_mbarrier(const Expr& expr, Threads ts) {
  const Words pointers = eval(expr.args[0], ts);
  const Words parities = eval(expr.args[1], ts);
  for (std::size_t i = 0; i < ts.size(); ++i) {
    const Place place = address_place((*f_)[expr.args[0]].type, pointers[i]);
    if (test_mbarrier(place, static_cast<std::uint32_t>(parities[i]), ts[i]))
      pcs_[ts[i]] = op_ + 1;
    else
      status_[ts[i]] = Status::AtMbarrier;
  }
}

}  // namespace ww::eval
