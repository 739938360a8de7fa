// SPDX-License-Identifier: Apache-2.0
// The happens-before order between the threads of a CTA, and their knowledge of the other CTAs of
// its cluster. Time counts synchronisations; every access carries the time at which it happened.
// Thread a has *seen* thread b up to time t when everything b did until t is ordered before what a
// does next.
//
// Nearly all synchronisation is of whole warps, warpgroups and CTAs, so what has been seen is one
// number (a floor) for each of these. Barriers over other sets of threads and mbarriers need a
// table of pairs, which exists only once one of them has been used, and until the next barrier of
// the CTA. What is known of other CTAs comes through mbarriers alone, between barriers of the cluster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ww::eval {

inline constexpr std::size_t kWarp = 32;  // threads
inline constexpr std::size_t kWarpgroup = 128;

/// Who made an access: a thread, or some thread of a unit.
enum class AgentKind : std::uint8_t { None, Thread, Warp, Warpgroup, Cta };
struct Agent {
  AgentKind kind = AgentKind::None;
  std::uint16_t index = 0;  // of the thread, warp or warpgroup in its CTA
  friend bool operator==(Agent, Agent) = default;
};

using Thread = std::uint16_t;
using Threads = std::span<const Thread>;

inline Agent thread_agent(Thread t) { return {AgentKind::Thread, t}; }
/// The smallest unit that holds both.
Agent merge(Agent a, Agent b);
/// The warp of a thread, or of something smaller than a warpgroup.
Agent warp_of(Agent agent);

/// Shared by the CTAs of a cluster.
struct Clock {
  std::uint32_t now = 1;
  std::uint32_t cluster_floor = 0;  // all CTAs of the cluster have met at this time
};

class Order {
 public:
  /// Of the CTA of that number in a cluster of so many.
  Order(std::size_t threads, Clock& clock, std::size_t rank = 0, std::size_t ctas = 1);

  [[nodiscard]] std::uint32_t now() const { return clock_->now; }
  /// Orders nothing, but gives later accesses a new time.
  void tick() { ++clock_->now; }
  /// All threads of a unit that have not exited wait for each other (kind Warp, Warpgroup or Cta).
  void meet(Agent unit);
  /// The same for any set of threads.
  void meet(Threads threads);
  /// The CTA has met the others of its cluster; the caller moves the clock.
  void met_cluster();

  /// Have all of `second` seen what `first` did at `time`? Yes when that is not certain.
  [[nodiscard]] bool is_before(Agent first, std::uint32_t time, Agent second) const {
    if (time <= cta_floor_ || first.kind == AgentKind::None) return true;
    if (first.kind != AgentKind::Thread || second.kind != AgentKind::Thread)
      return is_before_unit({first, time, second});
    return first.index == second.index || time <= seen(second.index, first.index);
  }

  /// The same where `first` is of another CTA of the cluster.
  [[nodiscard]] bool is_before(std::size_t cta, Agent first, std::uint32_t time,
                               Agent second) const;

  /// The knowledge that an mbarrier passes on: for each thread, CTA by CTA, the time up to which
  /// its accesses are ordered.
  using Knowledge = std::vector<std::uint32_t>;
  /// Adds a thread's knowledge and its own accesses.
  void release(Thread thread, Knowledge& knowledge);
  void acquire(Thread thread, const Knowledge& knowledge);

 private:
  struct Members {
    std::size_t begin;
    std::size_t end;
  };
  [[nodiscard]] Members members(Agent agent) const;
  [[nodiscard]] std::uint32_t seen(std::size_t by, std::size_t whom) const;
  [[nodiscard]] std::uint32_t floor_between(Agent a, Agent b) const;
  /// What `is_before` was asked, where one of the two is a unit.
  struct Question {
    Agent first;
    std::uint32_t time = 0;
    Agent second;
    friend bool operator==(const Question&, const Question&) = default;
  };
  [[nodiscard]] bool is_before_unit(const Question& question) const;
  [[nodiscard]] bool find_before_unit(const Question& question) const;
  void need_pairs();
  void join_rows(Threads threads);

  /// What the threads know of another CTA.
  struct Other {
    std::vector<std::uint32_t> floor;  // by thread of it: all know; or empty
    std::vector<std::uint32_t> pairs;  // [by][whom], or empty
  };
  [[nodiscard]] std::uint32_t seen(const Other& other, std::size_t by, std::size_t whom) const;
  /// All threads know what one of them does.
  void level(Other& other) const;
  void join_rows(Other& other, Threads threads) const;

  std::size_t threads_, rank_;
  Clock* clock_;
  std::uint32_t cta_floor_ = 0;
  std::vector<std::uint32_t> warpgroup_floor_;
  std::vector<std::uint32_t> warp_floor_;
  std::vector<std::uint32_t> pairs_;  // [by][whom], or empty
  std::vector<Other> others_;         // by number in the cluster
  // The last question and its answer: a unit asks the same about all elements that a thread has
  // written. Forgotten when threads learn something.
  mutable Question asked_;
  mutable bool answer_ = true;
};

}  // namespace ww::eval
