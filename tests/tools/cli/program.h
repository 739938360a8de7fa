// SPDX-License-Identifier: Apache-2.0
// Runs the built program as others do: through pipes, on a terminal, under a shell.
#pragma once

#include <string>
#include <vector>

namespace ww::cli_test {

struct Ran {
  int status = 0;  // 128 + signal for a program that died
  std::string out = {};
  std::string err = {};  // on a terminal: nothing, `out` has both
};

/// For tests of what `warpwright bench` prints, not of what it measures: Google Benchmark repeats a benchmark for a
/// millisecond, not for half a second.
inline constexpr const char* kQuickBenchmarks = "BENCHMARK_MIN_TIME=0.001";

struct Setting {
  std::vector<std::string> environment = {};  // NAME=VALUE, or NAME to take it away
  std::string folder = {};                    // empty: this one
  int columns = 0;                            // of a terminal; 0: pipes
};

/// words[0] is looked for in PATH if it has no `/`.
Ran run_words(std::vector<std::string> words, const Setting& setting = {});
/// The program with these arguments.
Ran run(std::vector<std::string> args, const Setting& setting = {});
/// The words of a line, as a shell has them: '...' quotes.
std::vector<std::string> words_of(const std::string& line);

bool is_installed(const std::string& program);

/// A new folder, removed at the end.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace ww::cli_test
