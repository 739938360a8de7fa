// SPDX-License-Identifier: Apache-2.0
#include "cli/stop_signals.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "base/check.h"

namespace ww::cli {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};

// What a handler may use: a pipe that the thread reads.
int pipe_ends[2] = {-1, -1};
std::array<struct sigaction, kSignals.size()> earlier;

void wake(char why) {
  const int saved = errno;
  (void)!::write(pipe_ends[1], &why, 1);
  errno = saved;
}

void on_signal(int /*signal*/) { wake('s'); }

}  // namespace

StopSignals::StopSignals(std::function<void()> stop) : stop_(std::move(stop)) {
  WW_CHECK(pipe_ends[0] < 0 && ::pipe2(pipe_ends, O_CLOEXEC) == 0, "no pipe for signals");
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    (void)::sigaction(kSignals[i], nullptr, &earlier[i]);
    if (earlier[i].sa_handler == SIG_IGN) continue;
    struct sigaction action = {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    (void)::sigaction(kSignals[i], &action, nullptr);
  }
  thread_ = std::thread([this] {
    char why = 0;
    while (::read(pipe_ends[0], &why, 1) < 0 && errno == EINTR) continue;
    if (why != 's') return;
    restore();
    stop_();
  });
}

void StopSignals::restore() {
  for (std::size_t i = 0; i < kSignals.size(); ++i)
    (void)::sigaction(kSignals[i], &earlier[i], nullptr);
}

StopSignals::~StopSignals() {
  wake('e');
  thread_.join();
  restore();
  for (int& end : pipe_ends) ::close(std::exchange(end, -1));
}

}  // namespace ww::cli
