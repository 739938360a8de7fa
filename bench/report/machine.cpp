// SPDX-License-Identifier: Apache-2.0
#include "machine.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <utility>

#include "../compile/examples.h"
#include "base/file_io.h"
#include "base/process.h"

namespace ww::bench {
namespace {

namespace fs = std::filesystem;

// The value of the first line `key : value`.
std::string_view value_of(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t colon = line.find(':');
    if (!line.starts_with(key) || colon == std::string_view::npos) continue;
    std::string_view value = line.substr(colon + 1);
    while (value.starts_with(' ')) value.remove_prefix(1);
    return value;
  }
  return {};
}

// Linux has no names for Arm's processors, only their numbers.
std::string_view arm_name(std::string_view part) {
  constexpr std::pair<std::string_view, std::string_view> kParts[] = {{"0xd0c", "Neoverse-N1"},
                                                                      {"0xd40", "Neoverse-V1"},
                                                                      {"0xd49", "Neoverse-N2"},
                                                                      {"0xd4f", "Neoverse-V2"},
                                                                      {"0xd8e", "Neoverse-N3"}};
  const auto* const found =
      std::ranges::find(kParts, part, [](const auto& each) { return each.first; });
  return found == std::end(kParts) ? "" : found->second;
}

std::string compiler_name() {
#ifdef __clang__
  return fmt::format("clang {}.{}", __clang_major__, __clang_minor__);
#else
  return fmt::format("g++ {}.{}", __GNUC__, __GNUC_MINOR__);
#endif
}

std::string output_of(const std::vector<std::string>& words) {
  if (words[0].empty()) return "";
  const auto finished = run_program(words);
  return finished && finished->good() ? finished->output : "";
}

std::string commit_here() {
  const auto inside = file_above("examples/transpose.py");
  const char* const path = std::getenv("PATH");
  if (!inside || path == nullptr) return "";
  std::string out =
      output_of({find_program("git", path), "-C", fs::path(*inside).parent_path().string(),
                 "describe", "--always", "--dirty=, changed", "--exclude=*"});
  while (out.ends_with('\n')) out.pop_back();
  return out;
}

}  // namespace

std::string cpu_in(std::string_view cpuinfo) {
  std::string_view name = value_of(cpuinfo, "model name");
  if (name.empty()) name = arm_name(value_of(cpuinfo, "CPU part"));
  return name.empty() ? "unknown processor" : std::string(name);
}

std::string release_in(std::string_view version) {
  constexpr std::string_view kRelease = "release ";
  const std::size_t at = version.find(kRelease);
  if (at == std::string_view::npos) return "";
  const std::string_view rest = version.substr(at + kRelease.size());
  return std::string(rest.substr(0, rest.find_first_not_of("0123456789.")));
}

Machine this_machine(const std::string& nvcc, std::string gpu) {
  constexpr std::size_t kMaxBytes = 1 << 22;
  const auto cpuinfo = read_file("/proc/cpuinfo", kMaxBytes);
  utsname system{};
  ::uname(&system);
  const unsigned cores = std::thread::hardware_concurrency();
  return {.cpu = fmt::format("{}, {}, {} core{}", cpu_in(cpuinfo ? *cpuinfo : ""), system.machine,
                             cores, cores == 1 ? "" : "s"),
          .compiler = compiler_name(),
          .cuda = release_in(output_of({nvcc, "--version"})),
          .gpu = std::move(gpu),
          .commit = commit_here()};
}

}  // namespace ww::bench
