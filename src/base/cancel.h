// SPDX-License-Identifier: Apache-2.0
// Long work that another thread may end, for programs that listen to Ctrl-C:
//
//     const CancelScope scope(stop);     // on the thread that works; `stop` is a std::atomic<bool>
//     build_kernel(source);              // throws Cancelled soon after `stop` becomes true
//
// The compiler's long loops call stop_if_cancelled. Cancelled is an exception, because it leaves
// every function in between, and none of them has anything to decide about it; without a scope it is
// never thrown.
#pragma once

#include <atomic>

namespace ww {

struct Cancelled {};

namespace detail {
inline thread_local const std::atomic<bool>* cancel_flag = nullptr;
}  // namespace detail

/// Work on this thread ends when the flag is set, as long as the scope lasts.
class CancelScope {
 public:
  explicit CancelScope(const std::atomic<bool>& flag) : outer_(detail::cancel_flag) {
    detail::cancel_flag = &flag;
  }
  ~CancelScope() { detail::cancel_flag = outer_; }
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;

 private:
  const std::atomic<bool>* outer_;
};

inline void stop_if_cancelled() {
  if (detail::cancel_flag != nullptr && detail::cancel_flag->load(std::memory_order_relaxed))
    throw Cancelled{};
}

}  // namespace ww
