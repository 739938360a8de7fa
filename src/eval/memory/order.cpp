// SPDX-License-Identifier: Apache-2.0
#include "eval/memory/order.h"

#include <algorithm>

#include "base/check.h"

namespace ww::eval {
namespace {

// The size of the unit: 1, 32, 128, or 0 for the CTA.
std::size_t size_of(AgentKind kind) {
  switch (kind) {
    case AgentKind::None:
    case AgentKind::Thread:
      return 1;
    case AgentKind::Warp:
      return kWarp;
    case AgentKind::Warpgroup:
      return kWarpgroup;
    case AgentKind::Cta:
      return 0;
  }
  return 0;
}

// The number of the unit of that size in which the agent is; nothing when it is larger.
constexpr std::size_t kNowhere = ~std::size_t{0};
template <std::size_t kSize>
std::size_t unit_of(Agent agent) {
  const std::size_t own = size_of(agent.kind);
  if (own == 0 || own > kSize) return kNowhere;
  return agent.index * own / kSize;
}

template <std::size_t kSize>
bool share(Agent a, Agent b) {
  const std::size_t unit = unit_of<kSize>(a);
  return unit != kNowhere && unit == unit_of<kSize>(b);
}

template <std::size_t kSize>
std::uint16_t number_of(Agent agent) {
  return static_cast<std::uint16_t>(unit_of<kSize>(agent));
}

}  // namespace

Agent merge(Agent a, Agent b) {
  if (a == b) return a;
  if (share<kWarp>(a, b)) return {AgentKind::Warp, number_of<kWarp>(a)};
  if (share<kWarpgroup>(a, b)) return {AgentKind::Warpgroup, number_of<kWarpgroup>(a)};
  return {AgentKind::Cta, 0};
}

Agent warp_of(Agent agent) { return {AgentKind::Warp, number_of<kWarp>(agent)}; }

Order::Order(std::size_t threads, Clock& clock, std::size_t rank, std::size_t ctas)
    : threads_(threads),
      rank_(rank),
      clock_(&clock),
      warpgroup_floor_((threads + kWarpgroup - 1) / kWarpgroup),
      warp_floor_((threads + kWarp - 1) / kWarp),
      others_(ctas) {}

Order::Members Order::members(Agent agent) const {
  const std::size_t size = size_of(agent.kind);
  if (size == 0) return {0, threads_};
  return {agent.index * size, std::min(threads_, (agent.index + 1) * size)};
}

void Order::meet(Agent unit) {
  asked_ = {};
  const std::uint32_t now = clock_->now++;
  if (unit.kind == AgentKind::Cta) {
    cta_floor_ = now;
    pairs_.clear();  // all have seen everything
    for (Other& other : others_) level(other);
    return;
  }
  if (!pairs_.empty()) {
    std::vector<Thread> threads;
    for (std::size_t t = members(unit).begin; t < members(unit).end; ++t)
      threads.push_back(static_cast<Thread>(t));
    join_rows(threads);
    // There is nothing to know of others without own pairs: `acquire` makes both.
    for (Other& other : others_) join_rows(other, threads);
  }
  (unit.kind == AgentKind::Warp ? warp_floor_ : warpgroup_floor_)[unit.index] = now;
}

void Order::meet(Threads threads) {
  asked_ = {};
  need_pairs();
  join_rows(threads);
  for (Other& other : others_) join_rows(other, threads);
  for (const Thread by : threads)
    for (const Thread whom : threads) pairs_[by * threads_ + whom] = clock_->now;
  ++clock_->now;
}

void Order::met_cluster() {
  asked_ = {};
  cta_floor_ = clock_->now;
  pairs_.clear();
  for (Other& other : others_) other = {};
}

std::uint32_t Order::floor_between(Agent a, Agent b) const {
  std::uint32_t floor = cta_floor_;
  if (share<kWarpgroup>(a, b)) floor = std::max(floor, warpgroup_floor_[unit_of<kWarpgroup>(a)]);
  if (share<kWarp>(a, b)) floor = std::max(floor, warp_floor_[unit_of<kWarp>(a)]);
  return floor;
}

std::uint32_t Order::seen(std::size_t by, std::size_t whom) const {
  std::uint32_t time = cta_floor_;
  if (by / kWarpgroup == whom / kWarpgroup)
    time = std::max(time, warpgroup_floor_[by / kWarpgroup]);
  if (by / kWarp == whom / kWarp) time = std::max(time, warp_floor_[by / kWarp]);
  return pairs_.empty() ? time : std::max(time, pairs_[by * threads_ + whom]);
}

bool Order::is_before_unit(const Question& question) const {
  if (question == asked_) return answer_;
  asked_ = question;
  answer_ = find_before_unit(question);
  return answer_;
}

bool Order::find_before_unit(const Question& question) const {
  const auto& [first, time, second] = question;
  if (time <= floor_between(first, second)) return true;
  if (pairs_.empty()) return false;
  // Which threads of a unit really were there is not recorded, so with pairs it is uncertain.
  if (first.kind != AgentKind::Thread) return true;
  const Members after = members(second);
  for (std::size_t by = after.begin; by < after.end; ++by)
    if (by != first.index && seen(by, first.index) < time) return false;
  return true;
}

bool Order::is_before(std::size_t cta, Agent first, std::uint32_t time, Agent second) const {
  const Other& other = others_[cta];
  if (other.floor.empty() && other.pairs.empty()) return false;
  if (first.kind != AgentKind::Thread) return true;  // as above: uncertain
  const Members after = members(second);
  for (std::size_t by = after.begin; by < after.end; ++by)
    if (seen(other, by, first.index) < time) return false;
  return true;
}

std::uint32_t Order::seen(const Other& other, std::size_t by, std::size_t whom) const {
  const std::uint32_t all = other.floor.empty() ? 0 : other.floor[whom];
  return other.pairs.empty() ? all : std::max(all, other.pairs[by * threads_ + whom]);
}

void Order::level(Other& other) const {
  if (other.pairs.empty()) return;
  other.floor.resize(threads_, 0);
  for (std::size_t i = 0; i < other.pairs.size(); ++i)
    other.floor[i % threads_] = std::max(other.floor[i % threads_], other.pairs[i]);
  other.pairs.clear();
}

void Order::join_rows(Other& other, Threads threads) const {
  if (other.pairs.empty()) return;
  std::vector<std::uint32_t> row(threads_, 0);
  for (const Thread by : threads)
    for (std::size_t whom = 0; whom < threads_; ++whom)
      row[whom] = std::max(row[whom], other.pairs[by * threads_ + whom]);
  for (const Thread by : threads)
    std::copy(row.begin(), row.end(),
              other.pairs.begin() + static_cast<std::ptrdiff_t>(by * threads_));
}

void Order::need_pairs() {
  if (pairs_.empty()) pairs_.assign(threads_ * threads_, 0);
}

void Order::join_rows(Threads threads) {
  std::vector<std::uint32_t> row(threads_, 0);
  for (const Thread by : threads)
    for (std::size_t whom = 0; whom < threads_; ++whom)
      row[whom] = std::max(row[whom], seen(by, whom));
  for (const Thread by : threads)
    std::copy(row.begin(), row.end(), pairs_.begin() + static_cast<std::ptrdiff_t>(by * threads_));
}

void Order::release(Thread thread, Knowledge& knowledge) {
  knowledge.resize(threads_ * others_.size(), 0);
  for (std::size_t cta = 0; cta < others_.size(); ++cta) {
    const Other& other = others_[cta];
    if (cta != rank_ && other.floor.empty() && other.pairs.empty()) continue;
    for (std::size_t whom = 0; whom < threads_; ++whom) {
      std::uint32_t& known = knowledge[cta * threads_ + whom];
      known = std::max(known, cta == rank_ ? seen(thread, whom) : seen(other, thread, whom));
    }
  }
  knowledge[rank_ * threads_ + thread] = clock_->now++;
}

void Order::acquire(Thread thread, const Knowledge& knowledge) {
  if (knowledge.empty()) return;
  asked_ = {};
  need_pairs();
  for (std::size_t cta = 0; cta < others_.size(); ++cta) {
    const auto part = std::span(knowledge).subspan(cta * threads_, threads_);
    if (cta != rank_ && std::ranges::all_of(part, [](std::uint32_t time) { return time == 0; }))
      continue;
    std::vector<std::uint32_t>& pairs = cta == rank_ ? pairs_ : others_[cta].pairs;
    if (pairs.empty()) pairs.assign(threads_ * threads_, 0);
    std::uint32_t* row = &pairs[thread * threads_];
    for (std::size_t whom = 0; whom < threads_; ++whom) row[whom] = std::max(row[whom], part[whom]);
  }
}

}  // namespace ww::eval
