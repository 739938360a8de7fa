// SPDX-License-Identifier: Apache-2.0
#include "lsp/worker.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

#include "base/cancel.h"

namespace ww::lsp {

Worker::Worker() : thread_([this] { work(); }) {}

Worker::~Worker() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    std::ranges::move(std::exchange(queue_, {}), std::back_inserter(dropped_));
    if (running_ != nullptr) running_->stop->store(true);
  }
  changed_.notify_all();
  thread_.join();
  for (const Entry& each : dropped_) drop(each.job);
}

void Worker::drop(const Job& job) {
  if (job.dropped) job.dropped();
}

void Worker::take_out(std::string_view key) {
  std::deque<Entry> kept;
  for (Entry& each : queue_) (each.job.key == key ? dropped_ : kept).push_back(std::move(each));
  queue_ = std::move(kept);
  if (running_ != nullptr && running_->job.key == key) running_->stop->store(true);
}

void Worker::submit(Job job) {
  {
    const std::lock_guard lock(mutex_);
    take_out(job.key);
    queue_.push_back({std::move(job), std::make_shared<std::atomic<bool>>(false)});
  }
  changed_.notify_all();
}

void Worker::cancel(std::string_view key) {
  {
    const std::lock_guard lock(mutex_);
    take_out(key);
  }
  changed_.notify_all();
}

void Worker::wait_until_idle() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return queue_.empty() && dropped_.empty() && running_ == nullptr; });
}

void Worker::run(const Entry& entry) {
  try {
    const CancelScope scope(*entry.stop);
    entry.job.run(*entry.stop);
  } catch (const Cancelled&) {
    drop(entry.job);
  } catch (const std::exception& error) {
    if (entry.job.failed) entry.job.failed(error.what());
  }
}

void Worker::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return is_ending_ || !queue_.empty() || !dropped_.empty(); });
    if (is_ending_) return;
    const bool is_dropped = !dropped_.empty();
    std::deque<Entry>& from = is_dropped ? dropped_ : queue_;
    Entry entry = std::move(from.front());
    from.pop_front();
    running_ = &entry;
    lock.unlock();
    is_dropped ? drop(entry.job) : run(entry);
    lock.lock();
    running_ = nullptr;
    changed_.notify_all();
  }
}

}  // namespace ww::lsp
