// SPDX-License-Identifier: Apache-2.0
// mbarrier: a barrier in shared memory. It counts arrivals that its phase still lacks (`pending`)
// and bytes that are expected and not there yet (`tx`); when both are zero the phase is over, and
// the next one lacks `expected` arrivals again.
//
//   init n          phase 0, expected = pending = n, tx = 0
//   expect_tx k     tx += k                      complete_tx k   tx -= k
//   arrive c        pending -= c                 arrive_drop c   the same, and expected -= c
//   test_wait p     whether the phase of parity p is over, which is not the current one
//
// The object is kept beside the memory (Cta::mbarriers). What asynchronous work tells a barrier is
// done when somebody waits for it in vain. The state that an arrive returns is the phase and the
// pending count before it.
#include <fmt/format.h>

#include <algorithm>

#include "sim/checks/undefined.h"
#include "sim/decode/function_decoder.h"
#include "sim/memory/access.h"
#include "sim/ops/async_ops.h"
#include "sim/ops/families.h"
#include "sim/order/async_fences.h"
#include "sim/order/strong.h"
#include "sim/run/mbarriers.h"

namespace ww::sim::mbarrier_ops {
namespace {

constexpr std::int64_t kMaxCount = (1 << 20) - 1;  // of arrivals, and of bytes either way
constexpr unsigned kPhaseShift = 20;               // of a state
constexpr unsigned kObjectBytes = 8;
// A barrier that is tested this often while nothing else happens is waited for.
constexpr std::uint32_t kMaxPolls = 1000;

struct ArriveOp {
  bool is_relaxed, drops, must_not_end, expects;
  Scope scope;
};
struct WaitOp {
  bool is_relaxed, by_parity, may_sleep;
  Scope scope;
};

// Without a scope the manual says `.cta`; but programs arrive in other blocks that way, and count
// on being seen there. Only what is written is held against them.
Scope reach_in(const Decode& in) { return in.word("scope") == "cta" ? Scope::Cta : Scope::Cluster; }

std::uint64_t state_of(const Mbarrier& barrier) {
  return (barrier.phase << kPhaseShift) | static_cast<std::uint64_t>(barrier.pending & kMaxCount);
}

template <typename... Args>
void complain(Warp& warp, unsigned lane, std::uint64_t address, fmt::format_string<Args...> text,
              Args&&... args) {
  if (!warp.is_new(Check::Barrier)) return;
  warp.report_at(Check::Barrier, lane_bit(lane), address,
                 fmt::format("the mbarrier at {} ", shared_text(*warp.unit, address)) +
                     fmt::format(text, std::forward<Args>(args)...));
}

// --- addresses -----------------------------------------------------------------------------------

// What makes or ends an mbarrier must be ordered with all other operations on it; those do not race
// with each other.
enum class Role : std::uint8_t { Makes, Uses };

// One of the lanes with the same mbarrier is enough.
void note_object(Warp& warp, const Region& region, const std::uint64_t* address, Mask group,
                 Role role) {
  if (role == Role::Makes) {
    note_access(warp, region, address, group, kObjectBytes, Touched::Write);
    return;
  }
  Mask users = 0;
  for_each_address(address, group, [&](std::uint64_t here, Mask same) {
    if (!is_announced(*warp.unit, find_mbarrier(*warp.unit, here)))
      users |= lane_bit(first_lane(same));
  });
  if (users != 0)
    note_access(warp, region, address, users, kObjectBytes, Touched::Read, Manner::strong(0));
}

// Calls visit(region, address, lane) for each executing lane whose address can be an mbarrier's.
template <typename Visit>
void each_object(Warp& warp, const Op& op, Role role, Visit&& visit) {
  const LaneAddresses address = used_addresses(warp, op);
  const Space space = warp.program->addresses[op.address].space;
  visit_regions(warp, address.data(), warp.exec, kObjectBytes, AccessKind::Atomic, space,
                [&](Region& region, Mask group) {
                  if (region.space != Space::Shared) {
                    if (!warp.checks(Check::Space)) return;
                    warp.report_at(Check::Space, group, address[first_lane(group)],
                                   "an mbarrier that is not in shared memory");
                    return;
                  }
                  note_object(warp, region, address.data(), group, role);
                  for_each_lane(group, [&](unsigned l) { visit(region, address[l], l); });
                });
}

template <typename Visit>
void each_mbarrier(Warp& warp, const Op& op, Visit&& visit) {
  each_object(warp, op, Role::Uses, [&](const Region&, std::uint64_t address, unsigned l) {
    Mbarrier* barrier = mbarrier_at(warp, address, lane_bit(l));
    if (barrier != nullptr) visit(*barrier, address, l);
  });
}

// --- init and inval ------------------------------------------------------------------------------

void run_init(Warp& warp, const Op& op) {
  use_value(warp, op.p[0], warp.exec);
  const auto* count = warp.source<std::uint32_t>(op.p[0]);
  act(warp);
  each_object(warp, op, Role::Makes, [&](Region& region, std::uint64_t address, unsigned l) {
    Cta& cta = *warp.unit->ctas[region.owner];
    if (count[l] < 1 || count[l] > kMaxCount) {
      complain(warp, l, address, "gets a count of {}; 1 to {} are possible", count[l], kMaxCount);
    }
    const std::uint64_t offset = address - region.base;
    const auto [found, is_new] = cta.mbarriers.try_emplace(static_cast<std::uint32_t>(offset));
    if (is_new) {
      std::uint64_t at[kLanes];
      std::fill(std::begin(at), std::end(at), address);
      check_async(warp, region, at, lane_bit(l), kObjectBytes, true);
    } else {
      complain(warp, l, address, "is made again without `mbarrier.inval`");
    }
    const std::int64_t arrivals = std::clamp<std::int64_t>(count[l], 1, kMaxCount);
    found->second = {};
    found->second.expected = found->second.pending = arrivals;
    found->second.op = warp.current;
    found->second.maker = warp.unit_warp() * kLanes + l;
    if (warp.unit->order != nullptr)
      found->second.made_at = warp.unit->order->now(warp.unit_warp());
    std::memset(region.data + offset, 0, kObjectBytes);
    mark_bytes(region, offset, kObjectBytes);
    mark_mbarrier(warp, region, address, l);
  });
}

void run_inval(Warp& warp, const Op& op) {
  each_object(warp, op, Role::Makes, [&](Region& region, std::uint64_t address, unsigned l) {
    const Mbarrier* barrier = mbarrier_at(warp, address, lane_bit(l));
    if (barrier == nullptr) return;
    const char* use = use_of(*warp.unit, *barrier, address);
    if (use != nullptr) complain(warp, l, address, "is invalidated while {}", use);
    const std::uint64_t offset = address - region.base;
    warp.unit->ctas[region.owner]->mbarriers.erase(static_cast<std::uint32_t>(offset));
    unmark_mbarrier(warp, region, address);
    if (region.undefined != nullptr) std::memset(region.undefined + offset, 0xFF, kObjectBytes);
  });
}

// --- arriving ------------------------------------------------------------------------------------

// The mbarrier may be a neighbour's.
void note_neighbour(Warp& warp, std::uint64_t address, Mask lanes) {
  if (warp.unit->neighbours == nullptr) return;
  const std::uint64_t rank = shared_rank(address);
  std::uint64_t at[kLanes];
  std::fill(std::begin(at), std::end(at), address);
  warp.unit->neighbours->used(warp, warp.unit->ctas[rank]->shared, at, lanes, kObjectBytes,
                              Touched::Write);
}

// The lanes with the same address, if this is the first of them; else none.
Mask first_of_address(const std::uint64_t* address, Mask lanes, unsigned lane) {
  Mask same = 0;
  for_each_lane(lanes, [&](unsigned l) {
    if (address[l] == address[lane]) same |= lane_bit(l);
  });
  return first_lane(same) == lane ? same : 0;
}

void run_arrive(Warp& warp, const Op& op) {
  const bool has_operand = op.p[1].present();
  if (has_operand) use_value(warp, op.p[1], warp.exec);
  const auto* operand = has_operand ? warp.source<std::uint32_t>(op.p[1]) : nullptr;
  const auto& it = op.as<ArriveOp>();
  std::uint64_t states[kLanes] = {};
  std::uint64_t at[kLanes];
  lane_addresses(warp, warp.program->addresses[op.address], at);
  each_mbarrier(warp, op, [&](Mbarrier& barrier, std::uint64_t address, unsigned l) {
    const Mask lanes = first_of_address(at, warp.exec, l);
    if (!it.is_relaxed) note_neighbour(warp, address, lanes);
    states[l] = state_of(barrier);
    if (it.expects) add_tx(warp, barrier, address, l, operand[l]);
    arrive_on(warp, barrier, address, l,
              {.lanes = lanes,
               .count = has_operand && !it.expects ? std::int64_t{operand[l]} : 1,
               .drops = it.drops,
               .must_not_end = it.must_not_end,
               .releases = !it.is_relaxed,
               .scope = it.scope});
  });
  warp.write(op.p[0], states);
  define_value(warp, op.p[0]);
}

// The Constant: 1 for expect_tx, -1 for complete_tx.
void run_tx(Warp& warp, const Op& op) {
  use_value(warp, op.p[0], warp.exec);
  const auto* bytes = warp.source<std::uint32_t>(op.p[0]);
  each_mbarrier(warp, op, [&](Mbarrier& barrier, std::uint64_t address, unsigned l) {
    add_tx(warp, barrier, address, l, op.as<Constant>().value * std::int64_t{bytes[l]});
    settle_phase(*warp.unit, barrier, address);
  });
}

// --- waiting -------------------------------------------------------------------------------------

// The phase that a lane asks about, by parity or by the state of an arrive.
class Question {
 public:
  Question(Warp& warp, const Op& op) : by_parity_(op.as<WaitOp>().by_parity) {
    use_value(warp, op.p[1], warp.exec);
    if (by_parity_) {
      parities_ = warp.source<std::uint32_t>(op.p[1]);
    } else {
      states_ = warp.source<std::uint64_t>(op.p[1]);
    }
  }
  [[nodiscard]] bool is_over(const Mbarrier& barrier, unsigned lane) const {
    if (by_parity_) return ((barrier.phase ^ parities_[lane]) & 1U) != 0;
    return states_[lane] >> kPhaseShift != barrier.phase;
  }
  // Only the current phase and the one before it can be asked about.
  void check(Warp& warp, const Mbarrier& barrier, std::uint64_t address, unsigned lane) const {
    if (by_parity_) {
      if (parities_[lane] <= 1) return;
      complain(warp, lane, address, "is waited for with parity {}; 0 and 1 are possible",
               parities_[lane]);
      return;
    }
    const std::uint64_t phase = states_[lane] >> kPhaseShift;
    if (phase == barrier.phase || phase + 1 == barrier.phase) return;
    complain(warp, lane, address, "is in phase {}, and the state is one of phase {}", barrier.phase,
             phase);
  }

 private:
  bool by_parity_;
  const std::uint32_t* parities_ = nullptr;
  const std::uint64_t* states_ = nullptr;
};

// The lanes for which the phase goes on, and where all of them wait.
struct Waiters {
  Mask lanes = 0;
  std::uint64_t address[kLanes];
};

Waiters ask(Warp& warp, const Op& op) {
  const Question question(warp, op);
  const bool completes =
      !warp.unit->context.options->schedule.is(Turns::Stepwise) || warp.unit->work_is_due;
  Waiters waiters;
  Mask over = 0;
  each_mbarrier(warp, op, [&](Mbarrier& barrier, std::uint64_t address, unsigned l) {
    question.check(warp, barrier, address, l);
    if (!question.is_over(barrier, l)) {
      if (completes) deliver_jobs(*warp.unit, address);
    } else if (has_jobs(*warp.unit, address)) {
      barrier.early_wait = warp.current;
    }
    if (!question.is_over(barrier, l)) {
      waiters.lanes |= lane_bit(l);
      waiters.address[l] = address;
      return;
    }
    over |= lane_bit(l);
    waiters.address[l] = address;
    barrier.seen[warp.unit_warp()] = barrier.phase - 1;
  });
  Order* order = warp.unit->order.get();
  if (order == nullptr) return waiters;
  const auto& it = op.as<WaitOp>();
  for_each_address(waiters.address, over, [&](std::uint64_t address, Mask same) {
    const Mbarrier* barrier = find_mbarrier(*warp.unit, address);
    wait(*order, actor_of(warp, same), !it.is_relaxed, it.scope, barrier->clock);
    if (warp.unit->neighbours != nullptr)
      warp.unit->neighbours->waited(warp, same, address, barrier->phase);
  });
  return waiters;
}

void answer(Warp& warp, const Op& op, Mask lanes, Mask yes) {
  const Mask all = std::exchange(warp.exec, lanes);
  warp.set_pred(op.p[0], yes);
  define_value(warp, op.p[0], true);
  warp.exec = all;
}

void sleep(Warp& warp, const Op& op, Waiters& waiters) {
  answer(warp, op, warp.exec & ~waiters.lanes, kAllLanes);
  while (waiters.lanes != 0) {
    const std::uint64_t address = waiters.address[first_lane(waiters.lanes)];
    Mask same = 0;
    for_each_lane(waiters.lanes, [&](unsigned l) {
      if (waiters.address[l] == address) same |= lane_bit(l);
    });
    waiters.lanes &= ~same;
    warp.exec = same;
    wait_in(warp, SplitState::Asleep, 0, address);
  }
}

// Whether a barrier has been tested in vain for so long that the test may as well wait.
bool is_idle(Warp& warp, std::uint64_t address) {
  Mbarrier* barrier = find_mbarrier(*warp.unit, address);
  if (barrier == nullptr) return false;
  if (barrier->polled_at != warp.unit->activity) {
    barrier->polled_at = warp.unit->activity;
    barrier->polls = 0;
  }
  return ++barrier->polls > kMaxPolls;
}

void run_wait(Warp& warp, const Op& op) {
  const bool is_woken = take_grant(warp);  // the time is up
  Waiters waiters = ask(warp, op);
  if (waiters.lanes == 0 || is_woken) {
    answer(warp, op, warp.exec, ~waiters.lanes);
    return;
  }
  if (op.as<WaitOp>().may_sleep || is_idle(warp, waiters.address[first_lane(waiters.lanes)])) {
    sleep(warp, op, waiters);
    return;
  }
  answer(warp, op, warp.exec, ~waiters.lanes);
  yield_turn(warp);
}

void run_pending_count(Warp& warp, const Op& op) {
  const auto* states = warp.source<std::uint64_t>(op.p[1]);
  std::uint32_t counts[kLanes];
  for (unsigned l = 0; l < kLanes; ++l) {
    counts[l] = static_cast<std::uint32_t>(states[l] & std::uint64_t{kMaxCount});
  }
  warp.write(op.p[0], counts);
}

// --- decoding ------------------------------------------------------------------------------------

bool decode_init(Decode& in) {
  in.function().code().meets_in_parts = true;
  in.op.flags = kTracksItself;
  in.op.address = in.address(0);
  return in.runs(run_init, {in.source(1)});
}
bool decode_inval(Decode& in) {
  in.tracks_itself(run_inval);
  in.op.address = in.address(0);
  return true;
}
bool decode_tx(Decode& in) {
  in.op.flags = kTracksItself;
  in.op.set(Constant{in.mnemonic() == "mbarrier.expect_tx" ? 1 : -1});
  in.op.address = in.address(0);
  return in.runs(run_tx, {in.source(1)});
}
template <bool kDrops, bool kNoComplete = false, bool kExpects = false>
bool decode_arrive(Decode& in) {
  in.op.flags = kTracksItself;
  in.op.set(ArriveOp{in.word("sem") == "relaxed", kDrops, kNoComplete, kExpects, reach_in(in)});
  in.op.address = in.address(1);
  return in.runs(run_arrive, {in.result(0), in.count() > 2 ? in.source(2) : Place{}});
}
template <bool kMaySleep, bool kByParity>
bool decode_wait(Decode& in) {
  in.op.flags = kTracksItself;
  in.op.set(WaitOp{in.word("sem") == "relaxed", kByParity, kMaySleep, reach_in(in)});
  in.op.address = in.address(1);
  return in.runs(run_wait, {in.result(0), in.source(2)});
}
bool decode_pending_count(Decode& in) {
  return in.runs(run_pending_count, {in.result(0), in.source(1)});
}

constexpr OpRow kRows[] = {
    {"mbarrier.init", decode_init},
    {"mbarrier.inval", decode_inval},
    {"mbarrier.expect_tx", decode_tx},
    {"mbarrier.complete_tx", decode_tx},
    {"mbarrier.arrive", decode_arrive<false>},
    {"mbarrier.arrive.expect_tx", decode_arrive<false, false, true>},
    {"mbarrier.arrive.noComplete", decode_arrive<false, true>},
    {"mbarrier.arrive_drop", decode_arrive<true>},
    {"mbarrier.arrive_drop.expect_tx", decode_arrive<true, false, true>},
    {"mbarrier.arrive_drop.noComplete", decode_arrive<true, true>},
    {"mbarrier.test_wait", decode_wait<false, false>},
    {"mbarrier.test_wait.parity", decode_wait<false, true>},
    {"mbarrier.try_wait", decode_wait<true, false>},
    {"mbarrier.try_wait.parity", decode_wait<true, true>},
    {"mbarrier.pending_count", decode_pending_count},
};

}  // namespace

constinit const OpFamily family{"mbarrier", kRows};

}  // namespace ww::sim::mbarrier_ops

namespace ww::sim {

void arrive_on(Warp& warp, Mbarrier& barrier, std::uint64_t address, unsigned lane,
               const Arrival& arrival) {
  if (arrival.count < 1 || arrival.count > barrier.pending) {
    mbarrier_ops::complain(warp, lane, address, "gets {} arrivals, and its phase lacks {} of {}",
                           arrival.count, barrier.pending, barrier.expected);
    return;
  }
  if (arrival.must_not_end && arrival.count == barrier.pending) {
    mbarrier_ops::complain(warp, lane, address,
                           "gets its last arrival from one with `.noComplete`");
  }
  barrier.pending -= arrival.count;
  barrier.arrivals.note(warp, lane_bit(lane));
  note_supply(barrier, {.op = warp.current,
                        .unit_warp = warp.unit_warp(),
                        .arrivals = arrival.count * count_lanes(arrival.lanes)});
  if (arrival.drops) barrier.expected = std::max<std::int64_t>(0, barrier.expected - arrival.count);
  if (Order* order = warp.unit->order.get(); order != nullptr) {
    if (arrival.fences_tensor) commit_tensor(*order, warp.unit_warp(), barrier.arriving);
    const Mask lanes = arrival.releases ? arrival.lanes : lane_bit(lane);
    if (lanes != 0)
      arrive(*order, actor_of(warp, lanes), arrival.releases, arrival.scope, barrier.arriving);
  }
  settle_phase(*warp.unit, barrier, address);
}

void add_tx(Warp& warp, Mbarrier& barrier, std::uint64_t address, unsigned lane,
            std::int64_t bytes) {
  barrier.tx += bytes;
  if (bytes > 0) barrier.bytes += bytes;
  (bytes > 0 ? barrier.expect_op : barrier.complete_op) = warp.current;
  if (std::abs(barrier.tx) <= mbarrier_ops::kMaxCount) return;
  mbarrier_ops::complain(warp, lane, address,
                         "expects {} bytes in one phase; {} either way are possible", barrier.tx,
                         mbarrier_ops::kMaxCount);
}

void complete_tx(Warp& warp, std::uint64_t address, unsigned lane, std::uint32_t bytes) {
  Mbarrier* barrier = find_mbarrier(*warp.unit, address);
  if (barrier == nullptr) return;
  note_supply(*barrier, {.op = warp.current, .unit_warp = warp.unit_warp(), .sends = true});
  add_tx(warp, *barrier, address, lane, -std::int64_t{bytes});
  // The bytes land beside the mbarrier, wherever the thread is that sent them: threads there see them behind
  // a wait of any scope.
  if (Order* order = warp.unit->order.get(); order != nullptr) {
    Clocks sent;
    release(*order, actor_of(warp, lane_bit(lane)), sent);
    const Home there{order->unit, static_cast<unsigned>(shared_rank(address))};
    barrier->arriving.publish(Scope::Cluster, there, sent);
  }
  settle_phase(*warp.unit, *barrier, address);
}

}  // namespace ww::sim
