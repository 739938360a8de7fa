// SPDX-License-Identifier: Apache-2.0
#include "lsp/explorer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <system_error>
#include <utility>

#include "base/cancel.h"
#include "base/printable.h"
#include "base/process.h"

namespace ww::lsp {
namespace {

constexpr int kPollMilliseconds = 50;
constexpr std::size_t kMaxOutput = std::size_t{64} << 10U;  // before there is an address

// More of what a program says; false at its end.
bool read_more(int descriptor, std::string& out, const std::atomic<bool>& stop) {
  while (true) {
    if (stop.load()) throw Cancelled{};
    pollfd waiting{descriptor, POLLIN, 0};
    if (::poll(&waiting, 1, kPollMilliseconds) <= 0) continue;
    std::array<char, 1024> buffer{};
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count > 0) out.append(buffer.data(), static_cast<std::size_t>(count));
    return count > 0 && out.size() <= kMaxOutput;
  }
}

// A whole line that is an address.
std::optional<std::string> address_in(std::string_view text) {
  while (text.find('\n') != std::string_view::npos) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with("http://") || line.starts_with("https://")) return std::string(line);
    text.remove_prefix(line.size() + 1);
  }
  return std::nullopt;
}

}  // namespace

Explorers::~Explorers() {
  for (auto& [key, running] : running_) end(running);
}

bool Explorers::is_alive(const Running& running) {
  siginfo_t info{};  // asks without reaping
  const int asked =
      ::waitid(P_PID, static_cast<id_t>(running.process), &info, WEXITED | WNOHANG | WNOWAIT);
  return asked == 0 && info.si_pid == 0;
}

int Explorers::end(Running& running) {
  if (is_alive(running)) ::kill(-running.process, SIGTERM);
  ::close(running.output);
  { const Leftover gone = std::move(running.leftover); }
  int status = 0;
  while (::waitpid(running.process, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Result<Explorers::Running> Explorers::start(std::vector<std::string> words) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0)
    return fail(DiagKind::Io, "cannot make a pipe: {}", std::generic_category().message(errno));
  const LeftoverPause pause;
  const auto process =
      start_program(std::move(words), {.out = pipe[1], .err = pipe[1]}, {}, Group::Own);
  ::close(pipe[1]);
  if (process)
    return Running{
        .process = *process, .output = pipe[0], .leftover = Leftover::process_group(*process)};
  ::close(pipe[0]);
  return fail(process.error());
}

Result<std::string> Explorers::address(const std::string& path, const std::string& kernel,
                                       const std::atomic<bool>& stop) {
  const std::string key = path + '\n' + kernel;
  if (const auto found = running_.find(key); found != running_.end()) {
    if (is_alive(found->second)) return found->second.address;
    end(found->second);
    running_.erase(found);
  }
  std::vector<std::string> words = command_;
  words.push_back(path);
  if (!kernel.empty()) words.insert(words.end(), {"--kernel", kernel});
  Running running = WW_TRY(start(std::move(words)));
  std::string said;
  try {
    while (!address_in(said) && read_more(running.output, said, stop)) {
    }
  } catch (const Cancelled&) {
    end(running);
    throw;
  }
  if (const auto found = address_in(said)) {
    running.address = *found;
    running_.emplace(key, std::move(running));
    return *found;
  }
  const int status = end(running);
  while (said.ends_with('\n')) said.pop_back();
  return fail(DiagKind::Io, "`{} explore` gave no address and ended with status {}{}{}",
              command_.empty() ? "" : printable_name(command_.front()), status,
              said.empty() ? "" : ": ", said);
}

}  // namespace ww::lsp
