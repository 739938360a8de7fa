// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>

#include "hostile/targets.h"

namespace ww::fuzz {
namespace {

constexpr rlim_t kMaxSeconds = 20;  // of processor time
constexpr rlim_t kMaxBytes = rlim_t{3} << 30U;

// The sanitizers reserve more than any bound.
constexpr bool has_bound_on_memory() {
#if defined(__SANITIZE_ADDRESS__)
  return false;
#else
  return true;
#endif
}

[[noreturn]] void run_child(Law law, std::string_view bytes, int to) {
  const rlimit time{kMaxSeconds, kMaxSeconds}, memory{kMaxBytes, kMaxBytes}, no_core{0, 0};
  ::setrlimit(RLIMIT_CPU, &time);
  ::setrlimit(RLIMIT_CORE, &no_core);
  if (has_bound_on_memory()) ::setrlimit(RLIMIT_AS, &memory);
  std::string said;
  try {
    said = law(bytes);
  } catch (const std::exception& error) {
    said = fmt::format("it threw: {}", error.what());
  }
  const bool is_told = ::write(to, said.data(), said.size()) == static_cast<ssize_t>(said.size());
  std::_Exit(is_told ? 0 : 1);
}

}  // namespace

std::string bounded_law(Law law, std::string_view bytes) {
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) run_child(law, bytes, ends[1]);
  ::close(ends[1]);
  std::string said;
  char text[4096];
  for (ssize_t count = 0; (count = ::read(ends[0], text, sizeof text)) > 0;)
    said.append(text, static_cast<std::size_t>(count));
  ::close(ends[0]);
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) return "no process";
  if (WIFSIGNALED(status)) return fmt::format("it ended by signal {}", WTERMSIG(status));
  if (WEXITSTATUS(status) != 0) return fmt::format("it ended with {}", WEXITSTATUS(status));
  return said;
}

}  // namespace ww::fuzz
