// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/program.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <utility>

namespace ww::cli_test {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void become(std::vector<std::string>& words, const Setting& setting) {
  for (const std::string& entry : setting.environment) {
    const auto equals = entry.find('=');
    if (equals == std::string::npos)
      ::unsetenv(entry.c_str());
    else
      ::setenv(entry.substr(0, equals).c_str(), entry.substr(equals + 1).c_str(), 1);
  }
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  if (setting.folder.empty() || ::chdir(setting.folder.c_str()) == 0)
    ::execvp(argv.front(), argv.data());
  ::_exit(127);
}

int status_of(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Until nobody writes any more; the end of a terminal is an error.
bool read_some(int descriptor, std::string& text) {
  std::array<char, 4096> buffer{};
  const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
  if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0;
}

Ran run_on_terminal(std::vector<std::string> words, const Setting& setting) {
  termios modes{};  // a line break stays one byte
  winsize size{};
  size.ws_col = static_cast<unsigned short>(setting.columns);
  size.ws_row = 24;
  int master = -1;
  const pid_t child = ::forkpty(&master, nullptr, &modes, &size);
  if (child == 0) become(words, setting);
  Ran ran;
  while (read_some(master, ran.out)) {
  }
  ::close(master);
  ran.status = status_of(child);
  return ran;
}

Ran run_in_pipes(std::vector<std::string> words, const Setting& setting) {
  std::array<int, 2> out{};
  std::array<int, 2> err{};
  if (::pipe(out.data()) != 0 || ::pipe(err.data()) != 0) std::abort();
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
    ::dup2(out[1], STDOUT_FILENO);
    ::dup2(err[1], STDERR_FILENO);
    for (const int descriptor : {out[0], out[1], err[0], err[1]}) ::close(descriptor);
    become(words, setting);
  }
  ::close(out[1]);
  ::close(err[1]);
  Ran ran;
  std::array<pollfd, 2> both{pollfd{out[0], POLLIN, 0}, pollfd{err[0], POLLIN, 0}};
  while (both[0].fd >= 0 || both[1].fd >= 0) {
    ::poll(both.data(), both.size(), -1);
    if (both[0].revents != 0 && !read_some(both[0].fd, ran.out)) both[0].fd = -1;
    if (both[1].revents != 0 && !read_some(both[1].fd, ran.err)) both[1].fd = -1;
  }
  ::close(out[0]);
  ::close(err[0]);
  ran.status = status_of(child);
  return ran;
}

}  // namespace

Ran run_words(std::vector<std::string> words, const Setting& setting) {
  return setting.columns > 0 ? run_on_terminal(std::move(words), setting)
                             : run_in_pipes(std::move(words), setting);
}

Ran run(std::vector<std::string> args, const Setting& setting) {
  args.insert(args.begin(), WW_PROGRAM);
  return run_words(std::move(args), setting);
}

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  bool in_word = false;
  bool is_quoted = false;
  for (const char c : line) {
    if (c == ' ' && !is_quoted) {
      in_word = false;
      continue;
    }
    if (!std::exchange(in_word, true)) words.emplace_back();
    if (c == '\'')
      is_quoted = !is_quoted;
    else
      words.back() += c;
  }
  return words;
}

bool is_installed(const std::string& program) {
  return run_words({"sh", "-c", "command -v " + program}).status == 0;
}

Folder::Folder() : path_((fs::temp_directory_path() / "ww_program_XXXXXX").string()) {
  if (::mkdtemp(path_.data()) == nullptr) std::abort();
}

Folder::~Folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace ww::cli_test
