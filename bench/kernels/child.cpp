// SPDX-License-Identifier: Apache-2.0
#include "child.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <system_error>
#include <utility>

#include "base/process.h"

namespace ww::bench {

Result<Child> Child::start(std::vector<std::string> words) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return fail(DiagKind::Io, "cannot make a socket: {}", std::generic_category().message(errno));
  const auto pid = start_program(std::move(words), {.in = ends[1], .out = ends[1]});
  ::close(ends[1]);
  if (pid) return Child(*pid, ends[0]);
  ::close(ends[0]);
  return fail(pid.error());
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      end_(std::exchange(other.end_, -1)),
      rest_(std::move(other.rest_)) {}

Child::~Child() {
  if (end_ >= 0) ::close(end_);
  if (pid_ < 0) return;
  constexpr int kTries = 200;
  for (int i = 0; i < kTries && ::waitpid(pid_, nullptr, WNOHANG) == 0; ++i) {
    if (i + 1 == kTries) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
      return;
    }
    ::usleep(10'000);
  }
}

Result<void> Child::write(std::string_view text) const {
  while (!text.empty()) {
    // No signal: a child that has ended is an answer, not our end.
    const ssize_t done = ::send(end_, text.data(), text.size(), MSG_NOSIGNAL);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return fail(DiagKind::Io, "the child program has ended");
    text.remove_prefix(static_cast<std::size_t>(done));
  }
  return {};
}

Result<std::string> Child::ask(std::string_view question, double patience) {
  WW_TRY_VOID(write(std::string(question) + "\n"));
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(patience);
  for (;;) {
    if (const std::size_t line = rest_.find('\n'); line != std::string::npos) {
      std::string out = rest_.substr(0, line);
      rest_.erase(0, line + 1);
      return out;
    }
    const std::chrono::duration<double, std::milli> left = end - std::chrono::steady_clock::now();
    pollfd waiting{.fd = end_, .events = POLLIN, .revents = 0};
    const int ready =
        left.count() > 0 ? ::poll(&waiting, 1, static_cast<int>(left.count()) + 1) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) {  // a late answer would be taken for that to the next question
      ::close(std::exchange(end_, -1));
      return fail(DiagKind::Io, "no answer to `{}` within {} seconds", question, patience);
    }
    std::array<char, 4096> buffer{};
    const ssize_t got = ::read(end_, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return fail(DiagKind::Io, "the child program has ended");
    rest_.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace ww::bench
