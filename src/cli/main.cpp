// SPDX-License-Identifier: Apache-2.0
// The program's outer edge: it turns an Outcome into bytes on stdout and stderr and an exit status.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/heap.h"
#include "base/leftovers.h"
#include "base/pooled_new.h"
#include "base/printable.h"
#include "cli/app.h"
#include "cli/terminal.h"

namespace {

using ww::printable_name;
using ww::cli::dress_for;
using ww::cli::dressed;
using ww::cli::Exit;
using ww::cli::Look;
using ww::cli::Outcome;

// A caller may have closed one of the three standard descriptors. The next file we open would take
// its number, and text meant for a person would go into it; so the places are filled first.
// Read-only, so that writing to a closed stdout is still the error it should be.
void fill_standard_descriptors() {
  for (const int fd : {0, 1, 2}) {
    if (::fcntl(fd, F_GETFD) < 0) (void)::open("/dev/null", O_RDONLY);
  }
}

// 0, or the system's error number.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

// Writes what there is to write and returns the status to exit with. A reader that went away, such
// as `head`, has seen enough and is no error; any other failure means that results were lost.
Exit write_outcome(const Outcome& outcome) {
  const int error = write_all(
      STDOUT_FILENO, dressed(outcome.out, outcome.look, dress_for(STDOUT_FILENO, outcome.color)));
  (void)write_all(STDERR_FILENO,
                  dressed(outcome.err, Look::Diagnostics, dress_for(STDERR_FILENO, outcome.color)));
  if (error == 0 || error == EPIPE) return outcome.status;
  (void)write_all(STDERR_FILENO, "error: cannot write the results to standard output: " +
                                     std::generic_category().message(error) + "\n");
  return Exit::UserError;
}

// Turns this process into another program. Returns only if that failed.
Exit become(const std::vector<std::string>& command) {
  std::vector<std::string> words = command;
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  // The other program expects the usual ends.
  for (const int signal : {SIGPIPE, SIGXFSZ}) (void)std::signal(signal, SIG_DFL);
  ::execv(argv.front(), argv.data());
  (void)write_all(STDERR_FILENO, "error: cannot run `" + printable_name(command.front()) +
                                     "`: " + std::generic_category().message(errno) + "\n");
  return Exit::UserError;
}

}  // namespace

int main(int argc, char** argv) {
  fill_standard_descriptors();
  ww::keep_freed_memory();
  // A closed pipe and a file beyond `ulimit -f` are then error numbers, not deaths.
  for (const int signal : {SIGPIPE, SIGXFSZ}) (void)std::signal(signal, SIG_IGN);
  ww::clean_up_on_signals();
  const std::vector<std::string> args(argv + (argc > 0 ? 1 : 0), argv + argc);
  const Outcome outcome = ww::cli::run_program(ww::cli::all_commands(), args);
  const Exit status = write_outcome(outcome);
  if (status == Exit::Good && !outcome.become.empty()) {
    return std::to_underlying(become(outcome.become));
  }
  return std::to_underlying(status);
}
