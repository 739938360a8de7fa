// SPDX-License-Identifier: Apache-2.0
#include "corpus/toolchain.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "corpus/corpus.h"

namespace ww::corpus {
namespace {

namespace fs = std::filesystem;

// In the child: output to a file, then the program.
[[noreturn]] void run_child(std::vector<std::string> words, const fs::path& folder,
                            const fs::path& output) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const int out = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(out, STDERR_FILENO);
  if (::chdir(folder.c_str()) == 0) ::execv(argv.front(), argv.data());
  ::_exit(127);
}

std::vector<fs::path> folders_to_look_in() {
  std::vector<fs::path> folders;
  if (const char* path = std::getenv("PATH"); path != nullptr) {
    std::istringstream in(path);
    for (std::string folder; std::getline(in, folder, ':');)
      if (!folder.empty()) folders.emplace_back(folder);
  }
  folders.emplace_back("/usr/local/cuda/bin");
  if (const char* home = std::getenv("CUDA_HOME"); home != nullptr)
    folders.push_back(fs::path(home) / "bin");
  return folders;
}

fs::path find_program(const std::string& name) {
  for (const fs::path& folder : folders_to_look_in()) {
    const fs::path program = folder / name;
    if (fs::is_regular_file(program) && ::access(program.c_str(), X_OK) == 0)
      return fs::absolute(program);
  }
  return {};
}

}  // namespace

Outcome run(const std::vector<std::string>& words, const fs::path& folder) {
  const ScratchFolder scratch;
  const fs::path output = scratch.path() / "output";
  const pid_t child = ::fork();
  if (child == 0) run_child(words, folder, output);
  int status = 0;
  ::waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_text(output)};
}

ScratchFolder::ScratchFolder() {
  std::string name = (fs::temp_directory_path() / "warpwright-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder " + name);
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::optional<Toolchain> Toolchain::find() {
  Toolchain tools;
  tools.nvcc_ = find_program("nvcc");
  tools.ptxas_ = find_program("ptxas");
  if (tools.nvcc_.empty() || tools.ptxas_.empty()) return std::nullopt;
  std::istringstream listed(run({tools.nvcc_, "--list-gpu-code"}, "/").output);
  tools.architectures_ = {std::istream_iterator<std::string>(listed), {}};
  return tools;
}

bool Toolchain::knows(const std::string& target) const {
  const bool has_suffix = target.ends_with('a') || target.ends_with('f');
  return architectures_.contains(target.substr(0, target.size() - (has_suffix ? 1 : 0)));
}

Outcome Toolchain::compile(const fs::path& source, const std::string& target,
                           const std::vector<std::string>& options, const fs::path& folder,
                           const std::string& output) const {
  std::vector<std::string> words = {nvcc_, "-ptx", "-arch=" + target, "-o", output};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back(source);
  return run(words, folder);
}

Outcome Toolchain::assemble(const fs::path& folder, const std::string& input,
                            const std::string& target, const std::string& output) const {
  return run({ptxas_, "-arch=" + target, input, "-o", output}, folder);
}

}  // namespace ww::corpus
