// SPDX-License-Identifier: Apache-2.0
// Golden files: a case each, or several, each after a line with its name:
//
//     #=== unknown_axis
//     … the case …
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace ww::test {

struct GoldenCase {
  std::string name;  // in its file; empty: it is the only one
  std::string text;
};

inline std::vector<GoldenCase> split_cases(std::string_view text) {
  constexpr std::string_view kMark = "#=== ";
  std::vector<GoldenCase> cases;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n') + 1);
    const std::string_view taken = line.empty() ? text : line;
    if (taken.starts_with(kMark)) {
      cases.push_back(
          {std::string(taken.substr(kMark.size(), taken.find('\n') - kMark.size())), ""});
    } else {
      if (cases.empty()) cases.emplace_back();
      cases.back().text += taken;
    }
    text.remove_prefix(taken.size());
  }
  return cases;
}

/// A golden file, which no other process reads or writes meanwhile: with BLESS=1 several write to one.
class GoldenFile {
 public:
  explicit GoldenFile(std::filesystem::path path)
      : path_(std::move(path)), lock_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
    ::flock(lock_, LOCK_EX);
    std::ifstream in(path_, std::ios::binary);
    cases = split_cases(std::string(std::istreambuf_iterator<char>(in), {}));
  }
  GoldenFile(const GoldenFile&) = delete;
  GoldenFile& operator=(const GoldenFile&) = delete;
  ~GoldenFile() { ::close(lock_); }
  void write() const {
    std::ofstream out(path_, std::ios::binary);
    for (const GoldenCase& each : cases)
      out << (each.name.empty() ? "" : "#=== " + each.name + "\n") << each.text;
  }

  std::vector<GoldenCase> cases;

 private:
  std::filesystem::path path_;
  int lock_;
};

/// Where a case is, and the name of its test: that of its file below `root`, then its own.
struct GoldenPlace {
  std::filesystem::path file;
  std::size_t index = 0;
  std::string name;
};

/// All cases of the files with this extension in a folder and those below it, by name.
inline std::vector<GoldenPlace> find_cases(const std::filesystem::path& root,
                                           std::string_view extension) {
  std::vector<GoldenPlace> places;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() != extension) continue;
    std::string name = std::filesystem::relative(entry.path(), root).replace_extension().string();
    const GoldenFile file(entry.path());
    for (std::size_t i = 0; i < file.cases.size(); ++i) {
      const std::string& own = file.cases[i].name;
      places.push_back({entry.path(), i, own.empty() ? name : name + "_" + own});
    }
  }
  std::ranges::sort(places, {}, &GoldenPlace::name);
  return places;
}

/// The name as GoogleTest wants it.
inline std::string test_name(std::string name) {
  const auto is_word = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  std::ranges::replace_if(
      name, [&](char c) { return !is_word(c); }, '_');
  return name;
}

inline void PrintTo(const GoldenPlace& place, std::ostream* out) { *out << place.name; }

}  // namespace ww::test
