// SPDX-License-Identifier: Apache-2.0
#include "foreign/toolchain.h"

#include <cstdlib>
#include <iterator>
#include <sstream>

namespace ww::corpus {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// `compute_90a` of `sm_90a`.
std::string virtual_target(const std::string& target) {
  return "compute_" + target.substr(target.find('_') + 1);
}

}  // namespace

std::string find_tool(std::string_view name) {
  const std::string home = environment("CUDA_HOME");
  const std::string usual = home.empty() ? "" : ":" + home + "/bin";
  const std::string found =
      find_program(name, environment("PATH") + ":/usr/local/cuda/bin" + usual);
  return found.empty() ? found : fs::absolute(found).string();  // run in other folders, too
}

Outcome run(const std::vector<std::string>& words, const fs::path& folder) {
  const auto finished = run_program(words, folder.string());
  if (!finished) return {127, finished.error().text};
  return {finished->signal == 0 ? finished->status : 128 + finished->signal, finished->output};
}

std::optional<Toolchain> Toolchain::find() {
  static const std::optional<Toolchain> found = look();  // asking nvcc takes a process
  return found;
}

std::optional<Toolchain> Toolchain::look() {
  Toolchain tools;
  tools.nvcc_ = find_tool("nvcc");
  tools.ptxas_ = find_tool("ptxas");
  if (tools.nvcc_.empty() || tools.ptxas_.empty()) return std::nullopt;
  std::istringstream listed(run({tools.nvcc_, "--list-gpu-code"}, "/").output);
  tools.architectures_ = {std::istream_iterator<std::string>(listed), {}};
  return tools;
}

bool Toolchain::has_levels() const {
  static const bool has = run({nvcc_, "--help"}, "/").output.contains("--Ofast-compile");
  return has;
}

std::vector<std::string> Toolchain::quick_options() const {
  return has_levels() ? std::vector<std::string>{"-Ofc=mid"} : std::vector<std::string>{};
}

std::vector<std::string> Toolchain::register_options() const {
  return has_levels() ? std::vector<std::string>{"-Ofc=min"} : std::vector<std::string>{};
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

Outcome Toolchain::try_assemble(const fs::path& folder, const std::string& input,
                                const std::string& target, const std::string& output) const {
  return run({ptxas_, "-O1", "-arch=" + target, input, "-o", output}, folder);
}

Outcome Toolchain::try_read(const fs::path& folder, const std::string& input,
                            const std::string& target) const {
  return run({ptxas_, "-arch=" + virtual_target(target), input}, folder);
}

bool Toolchain::reads(const std::string& target) const {
  static const std::string help = run({ptxas_, "--help"}, "/").output;
  return help.contains("'" + virtual_target(target) + "'");
}

}  // namespace ww::corpus
