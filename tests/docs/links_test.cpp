// SPDX-License-Identifier: Apache-2.0
// Links in the documents lead to existing files and headings, and docs/README.md lists every page.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace ww::links_test {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A page without its blocks of code.
std::string prose_of(const std::string& page) {
  std::string out;
  bool is_code = false;
  for (std::size_t at = 0; at < page.size();) {
    const std::size_t end = std::min(page.find('\n', at), page.size());
    const std::string line = page.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("```")) is_code = !is_code;
    if (!is_code && !line.starts_with("    ")) out += line + "\n";
  }
  return out;
}

// The targets of `[text](target)` outside of code.
std::vector<std::string> links_of(const std::string& page) {
  static const std::regex code("`[^`\n]*`"), link(R"(\]\(([^)\s]+)\))");
  const std::string text = std::regex_replace(prose_of(page), code, "``");
  std::vector<std::string> out;
  for (std::sregex_iterator it(text.begin(), text.end(), link), end; it != end; ++it)
    out.push_back((*it)[1]);
  return out;
}

// "Every name" is `every-name`, as GitHub makes it; text in other scripts stays as it is.
std::string anchor_of(const std::string& heading) {
  static const std::regex link(R"(\[([^\]]*)\]\([^)]*\))");
  const std::string text = std::regex_replace(heading, link, "$1");
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == ' ' || c == '-') out += '-';
    if (std::isalnum(byte) != 0 || c == '_' || byte >= 0x80)
      out += static_cast<char>(std::tolower(byte));
  }
  return out;
}

std::set<std::string> anchors_of(const std::string& page) {
  std::set<std::string> out;
  const std::string text = prose_of(page);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    if (text[at] == '#')
      out.insert(anchor_of(text.substr(text.find(' ', at) + 1, end - text.find(' ', at) - 1)));
    at = end + 1;
  }
  return out;
}

// Many links lead to one page.
const std::set<std::string>& anchors_of_file(const fs::path& path) {
  static std::map<fs::path, std::set<std::string>> all;
  const auto [at, is_new] = all.try_emplace(path.lexically_normal());
  if (is_new) at->second = anchors_of(read(path));
  return at->second;
}

// What is wrong with a page's links, one line each.
std::vector<std::string> broken_links(const fs::path& path, const std::string& page) {
  const std::set<std::string> own = anchors_of(page);
  std::vector<std::string> out;
  for (const std::string& link : links_of(page)) {
    if (link.find(':') != std::string::npos) continue;  // elsewhere
    const std::string file = link.substr(0, link.find('#'));
    const fs::path target = file.empty() ? path : path.parent_path() / file;
    if (!fs::exists(target)) {
      out.push_back(link + ": no such file");
    } else if (link.find('#') != std::string::npos &&
               !(file.empty() ? own : anchors_of_file(target))
                    .contains(link.substr(link.find('#') + 1))) {
      out.push_back(link + ": no such heading");
    }
  }
  return out;
}

std::vector<fs::path> pages() {
  const fs::path root(WW_SOURCE_DIR);
  std::vector<fs::path> out = {root / "README.md", root / "CONTRIBUTING.md", root / "AGENTS.md",
                               root / "docs/llms.txt"};
  for (const auto& entry : fs::recursive_directory_iterator(root / "docs"))
    if (entry.path().extension() == ".md") out.push_back(entry.path());
  return out;
}

TEST(Links, LeadSomewhere) {
  for (const fs::path& path : pages())
    for (const std::string& each : broken_links(path, read(path)))
      ADD_FAILURE() << path << ": " << each;
}

TEST(Links, BrokenOnesAreSeen) {
  const fs::path path = fs::path(WW_SOURCE_DIR) / "docs/README.md";
  const auto seen = broken_links(path,
                                 "# A heading\n[a](nowhere.md) [b](#a-heading) [c](#another)\n"
                                 "`[d](code.md)` [e](https://example.org)\n");
  EXPECT_EQ(seen,
            (std::vector<std::string>{"nowhere.md: no such file", "#another: no such heading"}));
}

TEST(Links, TheIndexHasEveryPage) {
  const fs::path docs = fs::path(WW_SOURCE_DIR) / "docs";
  std::set<std::string> listed;
  for (const std::string& link : links_of(read(docs / "README.md"))) listed.insert(link);
  for (const fs::path& path : pages()) {
    const std::string name = fs::relative(path, docs).generic_string();
    if (name.starts_with("..") || name == "README.md") continue;
    EXPECT_TRUE(listed.contains(name)) << "docs/README.md does not list " << name;
  }
}

}  // namespace
}  // namespace ww::links_test
