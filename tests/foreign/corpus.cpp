// SPDX-License-Identifier: Apache-2.0
#include "foreign/corpus.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string_view>

namespace ww::corpus {

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

namespace {

namespace fs = std::filesystem;

File read_head(const fs::path& path) {
  constexpr std::string_view kTargets = "// targets: ";
  constexpr std::string_view kOptions = "// options: ";
  File file{.name = path.stem().string(), .path = path, .targets = {}, .options = {}};
  std::istringstream in(read_text(path));
  for (std::string line; std::getline(in, line) && line.starts_with("//");) {
    if (line.starts_with(kTargets)) file.targets = words_of(line.substr(kTargets.size()));
    if (line.starts_with(kOptions)) file.options = words_of(line.substr(kOptions.size()));
  }
  return file;
}

}  // namespace

std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<File> all_files() {
  std::vector<File> files;
  for (const auto& entry : fs::directory_iterator(fs::path(WW_SOURCE_DIR) / "tests/foreign/cuda"))
    if (entry.path().extension() == ".cu") files.push_back(read_head(entry.path()));
  std::ranges::sort(files, {}, &File::name);
  return files;
}

// The headers stand first: inside of a namespace they would be empty.
Outcome compile_together(const Toolchain& tools, std::span<const File> files,
                         const std::string& target, std::vector<std::string> options,
                         const fs::path& folder, const std::string& name) {
  std::set<std::string> headers;
  std::string text;
  for (const File& file : files) {
    options.insert(options.end(), file.options.begin(), file.options.end());
    std::istringstream lines(read_text(file.path));
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with("#include")) headers.insert(line);
    text += "namespace " + file.name + " {\n#include \"" + file.path.string() + "\"\n}\n";
  }
  std::ofstream out(folder / (name + ".cu"));
  for (const std::string& header : headers) out << header << "\n";
  out << "\n" << text;
  out.close();
  return tools.compile(folder / (name + ".cu"), target, options, folder, name + ".ptx");
}

}  // namespace ww::corpus
