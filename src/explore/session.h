// SPDX-License-Identifier: Apache-2.0
// What lasts while the explorer runs: how it was started, and what requests leave behind for later
// ones.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "explore/http.h"
#include "explore/recordings.h"
#include "runtime/assembler.h"

namespace ww::explore {

// --- unread --------------------------------------------------------------------------------------
//
// Bounds the answers that the server keeps for clients that do not read them.

/// Bytes of all answers that are made and not yet sent. One answer is always taken, however large.
class UnreadAnswers {
 public:
  explicit UnreadAnswers(std::size_t most) : most_(most) {}
  UnreadAnswers(const UnreadAnswers&) = delete;
  UnreadAnswers& operator=(const UnreadAnswers&) = delete;

  /// Counts an answer for as long as the result exists, which must not outlive this. Null: with it
  /// there would be too many bytes.
  [[nodiscard]] std::shared_ptr<void> take(std::size_t bytes);

  [[nodiscard]] std::size_t most() const { return most_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::size_t most_;
  std::atomic<std::size_t> bytes_ = 0;
};

/// Why an answer was not taken, for the page.
std::string unread_text(const UnreadAnswers& unread);

// --- work ----------------------------------------------------------------------------------------
//
// Bounded work for requests: a few pieces at once, some that wait, each with a time, and each ends
// when its browser goes away, when it is cancelled by its number, or when the server stops.
//
// A piece runs on a thread of its own under a CancelScope (base/cancel.h), while the thread of the
// connection looks after it. That thread always waits for its end: no work outlives its request.

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

/// The file that the explorer was started with.
struct OpenedFile {
  std::string name, source, kernel, target;
};

struct SessionOptions {
  std::string version = {};
  std::optional<OpenedFile> file = {};
  runtime::SassTools sass = {};
  std::string program = {};  // the path of this program, which runs kernels on the GPU
  WorkLimits limits = {};
};

/// Limits of a run on the virtual GPU, for `--limit`.
inline constexpr std::uint64_t kMaxInstructions = 50'000'000;
inline constexpr std::uint64_t kMaxMemory = std::uint64_t{2} << 30;

/// Bytes of answers that wait for clients to read them.
inline constexpr std::size_t kMaxUnread = std::size_t{64} << 20;

struct Session {
  explicit Session(SessionOptions given) : options(std::move(given)), shop(options.limits) {}

  SessionOptions options;
  Workshop shop;
  Recordings recordings;
  UnreadAnswers unread{kMaxUnread};
};

}  // namespace ww::explore
