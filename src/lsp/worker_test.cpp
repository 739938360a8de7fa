// SPDX-License-Identifier: Apache-2.0
#include "lsp/worker.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "base/cancel.h"

namespace ww::lsp {
namespace {

TEST(Worker, DoesJobsInOrder) {
  std::vector<int> done;
  Worker worker;
  for (const int i : {1, 2, 3})
    worker.submit(
        {.key = std::to_string(i), .run = [&done, i](const auto&) { done.push_back(i); }});
  worker.wait_until_idle();
  EXPECT_EQ(done, (std::vector{1, 2, 3}));
}

TEST(Worker, ANewerJobEndsTheOlder) {
  std::atomic<bool> has_begun = false;
  std::atomic<int> dropped = 0;
  std::atomic<int> done = 0;
  Worker worker;
  const auto drop = [&] { ++dropped; };
  worker.submit({.key = "k",
                 .run =
                     [&](const auto&) {
                       has_begun = true;
                       while (true) stop_if_cancelled();
                     },
                 .dropped = drop});
  while (!has_begun) std::this_thread::yield();
  worker.submit({.key = "k", .run = [&](const auto&) { ++done; }, .dropped = drop});
  worker.wait_until_idle();
  EXPECT_EQ(dropped, 1);
  EXPECT_EQ(done, 1);
}

TEST(Worker, QueuedJobsAreReplacedAndCancelled) {
  std::atomic<bool> may_end = false;
  std::atomic<int> dropped = 0;
  std::vector<int> done;
  Worker worker;
  worker.submit({.key = "first", .run = [&](const auto&) {
                   while (!may_end) std::this_thread::yield();
                 }});
  for (const int i : {1, 2, 3})
    worker.submit({.key = "k",
                   .run = [&done, i](const auto&) { done.push_back(i); },
                   .dropped = [&] { ++dropped; }});
  worker.submit({.key = "other",
                 .run = [&](const auto&) { done.push_back(9); },
                 .dropped = [&] { ++dropped; }});
  worker.cancel("other");
  may_end = true;
  worker.wait_until_idle();
  EXPECT_EQ(done, (std::vector{3}));
  EXPECT_EQ(dropped, 3);
}

TEST(Worker, ABugEndsTheJobAlone) {
  std::string what;
  int done = 0;
  Worker worker;
  worker.submit({.key = "a",
                 .run = [](const auto&) { throw std::logic_error("broken"); },
                 .failed = [&](const std::string& text) { what = text; }});
  worker.submit({.key = "b", .run = [&](const auto&) { ++done; }});
  worker.wait_until_idle();
  EXPECT_EQ(what, "broken");
  EXPECT_EQ(done, 1);
}

TEST(Worker, ItsEndDropsWhatIsLeft) {
  std::atomic<bool> has_begun = false;
  int dropped = 0;
  {
    Worker worker;
    worker.submit({.key = "a",
                   .run =
                       [&](const std::atomic<bool>& stop) {
                         has_begun = true;
                         while (!stop) std::this_thread::yield();
                         throw Cancelled{};
                       },
                   .dropped = [&] { ++dropped; }});
    worker.submit({.key = "b", .run = [](const auto&) {}, .dropped = [&] { ++dropped; }});
    while (!has_begun) std::this_thread::yield();
  }
  EXPECT_EQ(dropped, 2);
}

}  // namespace
}  // namespace ww::lsp
