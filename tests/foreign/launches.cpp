// SPDX-License-Identifier: Apache-2.0
#include "foreign/launches.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <sstream>

#include "foreign/corpus.h"

namespace ww::corpus {
namespace {

class Parser {
 public:
  explicit Parser(LaunchList& into) : into_(into) {}

  void line(const std::string& text) {
    ++number_;
    const std::vector<std::string> words = words_of(text);
    if (words.empty() || text.starts_with('#')) return;
    if (words[0] == "file" && words.size() == 3) {
      into_.sections.push_back({words[1], words[2], {}});
    } else if (words[0] == "skip" && words.size() > 2) {
      into_.skipped[words[1]] = text.substr(text.find(words[2], 5 + words[1].size()));
    } else if (into_.sections.empty()) {
      error("a launch outside of a section");
    } else if (words[0] == "launch" && words.size() > 1) {
      launch(words);
    } else if (text.starts_with("  ") && !into_.sections.back().launches.empty()) {
      argument(words);
    } else {
      error("not a line of this notation");
    }
  }

 private:
  void error(const std::string& text) {
    into_.errors.push_back(fmt::format("line {}: {}", number_, text));
  }

  void launch(const std::vector<std::string>& words) {
    LaunchLine made;
    made.line = number_;
    made.kernel = words[1];
    bool in_reason = false;  // it has blanks, and ends where the next name=value begins
    for (std::size_t i = 2; i < words.size(); ++i) {
      if (set(made, words[i])) {
        in_reason = words[i].starts_with("why=");
      } else if (in_reason) {
        made.why += " " + words[i];
      } else {
        error(fmt::format("`{}` is no property of a launch", words[i]));
      }
    }
    if ((made.approx != 0 || !made.finds.empty()) && made.why.empty())
      error("`approx` or `finds` without `why`");
    into_.sections.back().launches.push_back(std::move(made));
  }

  static std::array<std::uint32_t, 3> extent(const std::string& text) {
    std::array<std::uint32_t, 3> made{1, 1, 1};
    std::istringstream in(text);
    std::string part;
    for (std::size_t i = 0; i < 3 && std::getline(in, part, ','); ++i)
      made[i] = static_cast<std::uint32_t>(std::stoul(part));
    return made;
  }

  static bool set(LaunchLine& launch, const std::string& word) {
    const auto equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (name == "print")
      launch.prints = true;
    else if (value.empty())
      return false;
    else if (name == "grid")
      launch.grid = extent(value);
    else if (name == "block")
      launch.block = extent(value);
    else if (name == "cluster")
      launch.cluster = extent(value);
    else if (name == "shared")
      launch.shared = static_cast<std::uint32_t>(std::stoul(value));
    else if (name == "approx")
      launch.approx = std::stod(value);
    else if (name == "finds")
      launch.finds = value;
    else if (name == "why")
      launch.why = value;
    else if (name == "digest" && value == "?")
      launch.digest.reset();
    else if (name == "digest")
      launch.digest = std::stoull(value, nullptr, 16);
    else
      return false;
    return true;
  }

  void argument(const std::vector<std::string>& words) {
    const std::string& first = words[0];
    std::optional<Argument> made;
    if ((first == "in" || first == "out") && words.size() == 3) made = buffer(words);
    if (first == "pack") made = pack(words);
    if (words.size() == 2) made = value(words);
    if (!made) return error("not an argument");
    into_.sections.back().launches.back().arguments.push_back(std::move(*made));
  }

  static std::optional<Argument> buffer(const std::vector<std::string>& words) {
    const auto bracket = words[1].find('[');
    const auto type = isa::parse_type(words[1].substr(0, bracket));
    if (!type || bracket == std::string::npos) return std::nullopt;
    Argument made;
    made.is_buffer = true;
    made.is_output = words[0] == "out";
    made.type = *type;
    made.count = std::stoul(words[1].substr(bracket + 1));
    const auto bytes = make_fill(*type, made.count, words[2]);
    if (!bytes) return std::nullopt;
    made.bytes = *bytes;
    return made;
  }

  static std::optional<Argument> value(const std::vector<std::string>& words) {
    const auto type = isa::parse_type(words[0]);
    const auto bytes = type ? make_value(*type, words[1]) : std::nullopt;
    if (!bytes) return std::nullopt;
    Argument made;
    made.type = *type;
    made.bytes = *bytes;
    return made;
  }

  static std::optional<Argument> pack(const std::vector<std::string>& words) {
    Argument made;
    for (std::size_t i = 1; i + 1 < words.size(); i += 2) {
      if (words[i] == "pad") {
        made.bytes.resize(made.bytes.size() + std::stoul(words[i + 1]));
        continue;
      }
      const auto part = value({words[i], words[i + 1]});
      if (!part) return std::nullopt;
      made.bytes.insert(made.bytes.end(), part->bytes.begin(), part->bytes.end());
    }
    return made;
  }

  LaunchList& into_;
  std::size_t number_ = 0;
};

}  // namespace

LaunchList parse_launches(const std::string& text) {
  LaunchList list;
  Parser parser(list);
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) parser.line(line);
  return list;
}

LaunchList read_launches() {
  return parse_launches(
      read_text(std::filesystem::path(WW_SOURCE_DIR) / "tests/foreign/launches.txt"));
}

}  // namespace ww::corpus
