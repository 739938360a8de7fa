// SPDX-License-Identifier: Apache-2.0
#include "explore/session.h"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <optional>
#include <thread>

#include "base/cancel.h"

namespace ww::explore {

// --- unread --------------------------------------------------------------------------------------

std::shared_ptr<void> UnreadAnswers::take(std::size_t bytes) {
  std::size_t before = bytes_;
  do {
    if (bytes != 0 && before != 0 && before + bytes > most_) return nullptr;
  } while (!bytes_.compare_exchange_weak(before, before + bytes));
  return {this, [bytes](void* self) { static_cast<UnreadAnswers*>(self)->bytes_ -= bytes; }};
}

std::string unread_text(const UnreadAnswers& unread) {
  return fmt::format(
      "clients have not read {} bytes of earlier answers, and with this one there would be more "
      "than {}; "
      "read or close them and try again",
      unread.bytes(), unread.most());
}

// --- work ----------------------------------------------------------------------------------------

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kLookEvery = std::chrono::milliseconds(20);

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// A piece on its thread, joined at the end.
class Running {
 public:
  Running(const std::function<void(const std::atomic<bool>&)>& piece, std::atomic<bool>& stop)
      : stop_(stop), thread_([this, &piece] { go(piece); }) {}

  /// Whether it has ended, after a short wait.
  bool has_ended() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kLookEvery, [&] { return is_done_; });
  }
  WorkResult finish() {
    thread_.join();
    return result_;
  }

 private:
  void go(const std::function<void(const std::atomic<bool>&)>& piece) {
    try {
      const CancelScope scope(stop_);
      piece(stop_);
    } catch (const Cancelled&) {
      result_.end = WorkEnd::Cancelled;
    } catch (const std::exception& error) {
      result_ = {WorkEnd::Failed, error.what()};
    }
    const std::lock_guard lock(mutex_);
    is_done_ = true;
    changed_.notify_all();
  }

  std::atomic<bool>& stop_;
  WorkResult result_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_done_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace

std::string end_text(const WorkResult& result, const WorkLimits& limits) {
  switch (result.end) {
    case WorkEnd::Done:
      return "done";
    case WorkEnd::Busy:
      return fmt::format("{} requests are at work and {} wait; try again", limits.at_once,
                         limits.waiting);
    case WorkEnd::OutOfTime:
      return fmt::format("stopped after {} seconds, the most that a request may take",
                         limits.seconds);
    case WorkEnd::Cancelled:
      return "cancelled";
    case WorkEnd::Failed:
      return fmt::format("a bug in Warpwright: {}", result.what);
  }
  return "";
}

/// One of the places for work, taken while it exists.
class Workshop::Place {
 public:
  Place(Workshop& shop, std::uint64_t number, std::atomic<bool>& stop)
      : shop_(shop), number_(number) {
    const std::lock_guard lock(shop_.mutex_);
    if (number_ != 0) shop_.stops_[number_] = &stop;
    is_waiting_ = shop_.waiting_ < shop_.limits_.waiting;
    if (is_waiting_) ++shop_.waiting_;
  }
  ~Place() {
    const std::lock_guard lock(shop_.mutex_);
    if (is_waiting_) --shop_.waiting_;
    if (is_running_) --shop_.running_;
    if (number_ != 0) shop_.stops_.erase(number_);
    shop_.changed_.notify_all();
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  [[nodiscard]] bool may_wait() const { return is_waiting_; }
  /// Whether a place has become free, after a short wait.
  bool begin() {
    std::unique_lock lock(shop_.mutex_);
    const auto is_free = [&] { return shop_.running_ < shop_.limits_.at_once; };
    if (!shop_.changed_.wait_for(lock, kLookEvery, is_free)) return false;
    --shop_.waiting_;
    ++shop_.running_;
    is_waiting_ = false;
    is_running_ = true;
    return true;
  }

 private:
  Workshop& shop_;
  std::uint64_t number_;
  bool is_waiting_ = false, is_running_ = false;
};

std::uint64_t Workshop::new_number() {
  const std::lock_guard lock(mutex_);
  return ++last_number_;
}

WorkResult Workshop::run(const Peer& peer,
                         const std::function<void(const std::atomic<bool>& stop)>& piece,
                         std::uint64_t number, const Tick& tick) {
  std::atomic<bool> stop = false;
  Place place(*this, number, stop);
  if (!place.may_wait()) return {WorkEnd::Busy};
  const auto begin = Clock::now();
  const auto why_stop = [&]() -> std::optional<WorkEnd> {
    if (stop || peer.is_gone()) return WorkEnd::Cancelled;
    const double seconds = seconds_since(begin);
    if (seconds > limits_.seconds) return WorkEnd::OutOfTime;
    if (tick && !tick(seconds)) return WorkEnd::Cancelled;
    return std::nullopt;
  };
  while (!place.begin())
    if (const auto why = why_stop()) return {*why};
  std::optional<WorkEnd> why;
  Running running(piece, stop);
  while (!running.has_ended()) {
    if (!why) why = why_stop();
    if (why) stop = true;
  }
  WorkResult result = running.finish();
  // Work that has come to its own end all the same is done.
  if (result.end == WorkEnd::Cancelled && why) result.end = *why;
  return result;
}

bool Workshop::cancel(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto at = stops_.find(number);
  if (at == stops_.end()) return false;
  *at->second = true;
  return true;
}

int Workshop::running() const {
  const std::lock_guard lock(mutex_);
  return running_;
}

}  // namespace ww::explore
