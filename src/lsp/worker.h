// SPDX-License-Identifier: Apache-2.0
// A thread that does jobs one after the other. A job has a key, and a newer job takes the place of
// an older one with its key: that is taken out of the queue, or cancelled (base/cancel.h).
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace ww::lsp {

struct Job {
  std::string key;
  /// Long loops of ours end by themselves when `stop` is set; others ask it.
  std::function<void(const std::atomic<bool>& stop)> run = {};
  std::function<void()> dropped = {};                        // it did not come to its end
  std::function<void(const std::string& what)> failed = {};  // it threw: a bug
};

class Worker {
 public:
  Worker();
  /// Cancels and drops everything.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void submit(Job job);
  void cancel(std::string_view key);
  /// Waits until nothing is left to do.
  void wait_until_idle();

 private:
  struct Entry {
    Job job;
    std::shared_ptr<std::atomic<bool>> stop;
  };
  void work();
  static void run(const Entry& entry);
  static void drop(const Job& job);
  /// With the lock held: jobs of that key leave the queue, and the one that runs is to end.
  void take_out(std::string_view key);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Entry> queue_;
  std::deque<Entry> dropped_;  // the thread tells them: a caller may hold locks that they take
  Entry* running_ = nullptr;
  bool is_ending_ = false;
  std::thread thread_;  // the last, so that it starts when all is there
};

}  // namespace ww::lsp
