// SPDX-License-Identifier: Apache-2.0
// Programs that something was once wrong with (tests/engines/regressions/*.py), on all engines. A
// comment `# target sm_80` names the target, if it matters; `# target sm_80, n0 = 3` the values of
// scalars, too.
#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "engines/family.h"
#include "foreign/corpus.h"

namespace ww::test::regressions_test {
namespace {

std::string target_in(const std::string& source) {
  constexpr std::string_view kBefore = "# target ";
  const std::size_t at = source.find(kBefore);
  if (at == std::string::npos) return "sm_90a";
  const std::size_t begin = at + kBefore.size();
  return source.substr(begin, source.find_first_of(" ,\n", begin) - begin);
}

Scalars scalars_in(const std::string& source) {
  const std::size_t at = source.find("# target ");
  Scalars out;
  if (at == std::string::npos) return out;
  std::istringstream line(source.substr(at, source.find('\n', at) - at));
  std::string target, name;
  std::getline(line, target, ',');
  while (std::getline(line, name, '=')) {
    std::string value;
    std::getline(line, value, ',');
    std::erase(name, ' ');
    out[name] = std::stoll(value);
  }
  return out;
}

TEST(Regressions, AreRightNow) {
  Family family("regressions", Nvcc::Always);
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(WW_SOURCE_DIR "/tests/engines/regressions"))
    files.push_back(entry.path());
  std::ranges::sort(files);
  EXPECT_FALSE(files.empty());
  for (const std::filesystem::path& file : files) {
    SCOPED_TRACE(file.filename().string());
    const std::string source = corpus::read_text(file);
    family.run({.source = source,
                .target = target_in(source),
                .scalars = scalars_in(source),
                .inputs = Inputs::Whole});
    family.count();
  }
}

}  // namespace
}  // namespace ww::test::regressions_test
