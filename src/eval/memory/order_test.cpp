// SPDX-License-Identifier: Apache-2.0
#include "eval/memory/order.h"

#include <gtest/gtest.h>

#include <vector>

namespace ww::eval::order_test {
namespace {

constexpr std::size_t kThreads = 128;
constexpr Agent kWarp1{AgentKind::Warp, 1};
constexpr Agent kAll{AgentKind::Cta, 0};

// Asked twice: the second answer is the one that was kept.
bool is_before(const Order& order, Agent first, std::uint32_t time, Agent second) {
  const bool answer = order.is_before(first, time, second);
  EXPECT_EQ(order.is_before(first, time, second), answer);
  return answer;
}

TEST(EvalOrder, AUnitLearnsAtItsBarrier) {
  Clock clock;
  Order order(kThreads, clock);
  const std::uint32_t time = clock.now;
  EXPECT_FALSE(is_before(order, thread_agent(40), time, kWarp1));
  order.meet(Agent{AgentKind::Warp, 0});
  EXPECT_FALSE(is_before(order, thread_agent(40), time, kWarp1));
  order.meet(kWarp1);
  EXPECT_TRUE(is_before(order, thread_agent(40), time, kWarp1));
  EXPECT_FALSE(is_before(order, thread_agent(40), clock.now, kWarp1));
  EXPECT_FALSE(is_before(order, thread_agent(40), time, kAll));
  order.meet(kAll);
  EXPECT_TRUE(is_before(order, thread_agent(40), time, kAll));
}

TEST(EvalOrder, AUnitKnowsWhatAllItsThreadsKnow) {
  Clock clock;
  Order order(kThreads, clock);
  const std::uint32_t time = clock.now;
  Order::Knowledge knowledge;
  order.release(0, knowledge);
  for (Thread t = 32; t < 64; ++t) {
    EXPECT_FALSE(is_before(order, thread_agent(0), time, kWarp1)) << t;
    order.acquire(t, knowledge);
  }
  EXPECT_TRUE(is_before(order, thread_agent(0), time, kWarp1));
}

TEST(EvalOrder, AnySetOfThreadsCanMeet) {
  Clock clock;
  Order order(kThreads, clock);
  const std::uint32_t time = clock.now;
  std::vector<Thread> threads{0};
  for (Thread t = 32; t < 64; ++t) threads.push_back(t);
  EXPECT_FALSE(is_before(order, thread_agent(0), time, kWarp1));
  order.meet(threads);
  EXPECT_TRUE(is_before(order, thread_agent(0), time, kWarp1));
  EXPECT_FALSE(is_before(order, thread_agent(1), time, kWarp1));
}

TEST(EvalOrder, AClusterMeets) {
  Clock clock;
  Order order(kThreads, clock, 0, 2);
  const std::uint32_t time = clock.now;
  EXPECT_FALSE(is_before(order, thread_agent(0), time, kAll));
  order.met_cluster();
  EXPECT_TRUE(is_before(order, thread_agent(0), time, kAll));
}

}  // namespace
}  // namespace ww::eval::order_test
