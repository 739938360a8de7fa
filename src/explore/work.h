// SPDX-License-Identifier: Apache-2.0
// Bounded work for requests: a few pieces at once, some that wait, each with a time, and each ends
// when its browser goes away, when it is cancelled by its number, or when the server stops.
//
// A piece runs on a thread of its own under a CancelScope (base/cancel.h), while the thread of the
// connection looks after it. That thread always waits for its end: no work outlives its request.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "explore/http.h"

namespace ww::explore {

struct WorkLimits {
  int at_once = 3;
  int waiting = 64;
  double seconds = 60;
};

/// How a piece of work has ended.
enum class WorkEnd : std::uint8_t {
  Done,
  Busy,       // it did not begin: too many wait already
  OutOfTime,  // stopped
  Cancelled,  // stopped, or it did not begin
  Failed,     // it threw something else: a bug
};

struct WorkResult {
  WorkEnd end = WorkEnd::Done;
  std::string what = {};  // of Failed
};

/// For the page.
std::string end_text(const WorkResult& result, const WorkLimits& limits);

class Workshop {
 public:
  explicit Workshop(const WorkLimits& limits) : limits_(limits) {}
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;

  /// A new number for work that can be cancelled.
  std::uint64_t new_number();

  /// What the thread of the connection does now and then while work goes on; false ends the work.
  using Tick = std::function<bool(double seconds)>;
  /// Runs a piece. `stop` becomes true when it is to end, for what does not look at the CancelScope.
  WorkResult run(const Peer& peer, const std::function<void(const std::atomic<bool>& stop)>& piece,
                 std::uint64_t number = 0, const Tick& tick = {});
  /// Whether there is such work.
  bool cancel(std::uint64_t number);

  [[nodiscard]] const WorkLimits& limits() const { return limits_; }
  /// Pieces that run now.
  [[nodiscard]] int running() const;

 private:
  class Place;

  WorkLimits limits_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int running_ = 0, waiting_ = 0;
  std::uint64_t last_number_ = 0;
  std::map<std::uint64_t, std::atomic<bool>*> stops_;  // of numbered work
};

}  // namespace ww::explore
