// SPDX-License-Identifier: Apache-2.0
#include "explore/session.h"

#include <gtest/gtest.h>

#include <latch>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/cancel.h"

namespace ww::explore::work_test {
namespace {

struct TestPeer : Peer {
  [[nodiscard]] bool is_gone() const override { return gone; }
  std::atomic<bool> gone = false;
};

// Goes on until it is stopped.
void endless(const std::atomic<bool>& /*stop*/) {
  while (true) {
    stop_if_cancelled();
    std::this_thread::yield();
  }
}

TEST(Workshop, DoesWork) {
  Workshop shop({});
  const TestPeer peer;
  int made = 0;
  EXPECT_EQ(shop.run(peer, [&](const auto&) { made = 7; }).end, WorkEnd::Done);
  EXPECT_EQ(made, 7);
  EXPECT_EQ(shop.running(), 0);
}

TEST(Workshop, StopsWorkThatTakesTooLong) {
  Workshop shop({.seconds = 0.05});
  EXPECT_EQ(shop.run(TestPeer{}, endless).end, WorkEnd::OutOfTime);
  EXPECT_EQ(shop.running(), 0);
}

TEST(Workshop, StopsWorkOfABrowserThatIsGone) {
  Workshop shop({});
  TestPeer peer;
  std::thread leaves([&] { peer.gone = true; });
  EXPECT_EQ(shop.run(peer, endless).end, WorkEnd::Cancelled);
  leaves.join();
}

TEST(Workshop, StopsWorkByItsNumber) {
  Workshop shop({});
  const std::uint64_t number = shop.new_number();
  EXPECT_FALSE(shop.cancel(number));
  std::atomic<bool> was_there = false;
  std::thread canceller([&] {
    while (!shop.cancel(number)) std::this_thread::yield();
    was_there = true;
  });
  EXPECT_EQ(shop.run(TestPeer{}, endless, number).end, WorkEnd::Cancelled);
  canceller.join();
  EXPECT_TRUE(was_there);
  EXPECT_FALSE(shop.cancel(number));
}

TEST(Workshop, WorkThatEndsInTimeAllTheSameIsDone) {
  Workshop shop({});
  TestPeer peer;
  peer.gone = true;
  const auto end = shop.run(peer, [](const std::atomic<bool>& stop) {
    while (!stop) std::this_thread::yield();
  });
  EXPECT_EQ(end.end, WorkEnd::Done);
}

TEST(Workshop, TicksWhileWorkGoesOn) {
  Workshop shop({});
  int ticks = 0;
  const auto end = shop.run(TestPeer{}, endless, 0, [&](double) { return ++ticks < 3; });
  EXPECT_EQ(end.end, WorkEnd::Cancelled);
  EXPECT_EQ(ticks, 3);
}

TEST(Workshop, RefusesMoreThanMayWait) {
  Workshop shop({.at_once = 1, .waiting = 1});
  TestPeer peer;
  std::latch began(1);
  std::thread first([&] {
    shop.run(peer, [&](const auto& stop) {
      began.count_down();
      endless(stop);
    });
  });
  began.wait();
  std::atomic<bool> waits = false;
  std::thread second([&] {
    shop.run(
        peer, [](const auto&) {}, 0, [&](double) { return waits = true; });
  });
  while (!waits) std::this_thread::yield();
  EXPECT_EQ(shop.run(peer, [](const auto&) {}).end, WorkEnd::Busy);
  EXPECT_EQ(shop.running(), 1);
  peer.gone = true;
  first.join();
  second.join();
  EXPECT_EQ(shop.running(), 0);
}

TEST(Workshop, SaysWhatWorkHasThrown) {
  Workshop shop({});
  const WorkResult end =
      shop.run(TestPeer{}, [](const auto&) { throw std::logic_error("a promise"); });
  EXPECT_EQ(end.end, WorkEnd::Failed);
  EXPECT_EQ(end_text(end, {}), "a bug in Warpwright: a promise");
}

}  // namespace
}  // namespace ww::explore::work_test
