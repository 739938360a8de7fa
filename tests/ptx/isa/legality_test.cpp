// SPDX-License-Identifier: Apache-2.0
// The checker against the assembler. legality.txt holds thousands of instructions with the verdict
// that ptxas gave on each architecture and the lowest PTX version it took; `check` must say the
// same, both ways. scripts/ptx_legal.py makes the verdicts.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/check.h"
#include "ptx/parser.h"
#include "target/target.h"

namespace ww::ptx::legality_test {
namespace {

struct Case {
  std::string family, bits, ptx, setup, text;
  std::size_t line = 0;
};

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(' ') - first + 1));
}

Case read_case(std::string_view line, std::size_t number) {
  Case result;
  result.line = number;
  for (std::string* part : {&result.family, &result.bits, &result.ptx, &result.setup}) {
    const auto bar = line.find('|');
    *part = trimmed(line.substr(0, bar));
    line.remove_prefix(bar + 1);
  }
  result.text = trimmed(line);
  return result;
}

std::vector<Case> read_cases() {
  std::ifstream file(WW_SOURCE_DIR "/tests/ptx/isa/legality.txt");
  std::vector<Case> cases;
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    if (!line.empty() && line[0] != '#') cases.push_back(read_case(line, number));
  }
  return cases;
}

// {%r1..%r4} is {%r1, %r2, %r3, %r4}.
std::string expanded(std::string text) {
  for (auto dots = text.find(".."); dots != std::string::npos; dots = text.find("..")) {
    const auto begin = text.rfind('%', dots);
    const auto end = text.find('}', dots);
    const auto digits = text.find_first_of("0123456789", begin);
    const std::string prefix = text.substr(begin, digits - begin);
    const int first = std::stoi(text.substr(digits));
    const int last = std::stoi(text.substr(dots + 2 + prefix.size()));
    std::string list;
    for (int i = first; i <= last; ++i)
      list += fmt::format("{}{}{}", i == first ? "" : ", ", prefix, i);
    text.replace(begin, end - begin, list);
  }
  return text;
}

// The same surroundings as in scripts/ptx_legal.py.
std::string module_text(const Case& c) {
  const auto space = c.setup.find(' ');
  const std::string kind = c.setup.substr(0, space);
  const std::string what = space == std::string::npos ? "" : c.setup.substr(space + 1);
  const std::string text = expanded(c.text);
  return fmt::format(
      ".version 9.0\n.target sm_75\n.address_size 64\n"
      ".shared .align 128 .b8 sm[1024];\n.global .align 16 .b8 gl[1024];\n"
      ".const .align 16 .b8 cn[1024];\n{}\n.visible .entry k({}) {} {{\n"
      ".reg .pred %p<8>; .reg .b8 %b<8>; .reg .b16 %rs<16>; .reg .b32 %r<300>; .reg .b64 %rd<80>; "
      "{} .local .align 16 .b8 lo[64];\n{}\nret; }}\n",
      kind == "global" ? what : "", kind == "param" ? what : ".param .u64 pa",
      kind == "entry" ? what : "", text.contains("%rq") ? ".reg .b128 %rq<8>;" : "", text);
}

struct Verdict {
  bool accepted = false;
  std::string reason;
};

Verdict judge(Module& module, const std::vector<Diag>& syntax, std::string_view arch, int ptx) {
  if (!syntax.empty()) return {false, syntax[0].text};
  module.targets = {module.names.intern(arch)};
  module.version = {static_cast<std::uint16_t>(ptx / 10), static_cast<std::uint16_t>(ptx % 10)};
  const CheckResult result = check(module);
  return {result.ok(), result.ok() ? "" : result.errors[0].text};
}

void compare_architectures(const Case& c, ParseResult& parsed) {
  for (std::size_t i = 0; i < std::size(target::kArchs); ++i) {
    const Verdict verdict = judge(parsed.module, parsed.errors, target::kArchs[i].name, 90);
    EXPECT_EQ(verdict.accepted, c.bits[i] == '1')
        << "legality.txt:" << c.line << " on " << target::kArchs[i].name << ": " << c.setup << " "
        << c.text << "\n  we say: " << (verdict.accepted ? "legal" : verdict.reason);
    if (verdict.accepted != (c.bits[i] == '1')) return;  // one is enough
  }
}

void compare_lowest(const Case& c, ParseResult& parsed, std::string_view arch,
                    std::string_view version) {
  const int lowest = *target::parse_ptx_version(version);
  EXPECT_TRUE(judge(parsed.module, parsed.errors, arch, lowest).accepted)
      << "legality.txt:" << c.line << " on " << arch << " at PTX " << version << ": " << c.text
      << "\n  we say: " << judge(parsed.module, parsed.errors, arch, lowest).reason;
  const auto versions = target::ptx_versions();
  const auto at = std::ranges::find(versions, lowest);
  if (at == versions.begin()) return;
  EXPECT_FALSE(judge(parsed.module, parsed.errors, arch, *(at - 1)).accepted)
      << "legality.txt:" << c.line << " on " << arch << ": we take it before PTX " << version
      << ": " << c.text;
}

// Of the first architecture that accepts, and of a later one that has accepted earlier: "8.1, sm_90
// 7.8".
void compare_versions(const Case& c, ParseResult& parsed) {
  const auto first = c.bits.find('1');
  if (first == std::string::npos) return;
  const std::string_view versions = c.ptx;
  compare_lowest(c, parsed, target::kArchs[first].name, versions.substr(0, versions.find(',')));
  if (!versions.contains(',')) return;
  const std::string_view later = versions.substr(versions.find(' ') + 1);
  compare_lowest(c, parsed, later.substr(0, later.find(' ')), later.substr(later.find(' ') + 1));
}

class Legality : public testing::TestWithParam<std::string> {};

TEST_P(Legality, AgreesWithPtxas) {
  static const std::vector<Case> cases = read_cases();
  for (const Case& c : cases) {
    if (c.family != GetParam() || c.line % WW_TABLE_SHARE != 0) continue;
    ParseResult parsed = parse(module_text(c));
    compare_architectures(c, parsed);
    compare_versions(c, parsed);
  }
}

std::vector<std::string> families() {
  std::vector<std::string> names;
  for (const Case& c : read_cases()) {
    if (std::ranges::find(names, c.family) == names.end()) names.push_back(c.family);
  }
  return names;
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::ranges::replace(name, '.', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Table, Legality, testing::ValuesIn(families()), test_name);

TEST(Legality, TableNamesTheArchitecturesWeKnow) {
  std::ifstream file(WW_SOURCE_DIR "/tests/ptx/isa/legality.txt");
  std::string header;
  std::getline(file, header);
  std::string known = "#";
  for (const target::ArchInfo& arch : target::kArchs) known += fmt::format(" {}", arch.name);
  EXPECT_EQ(header, known);
}

// The comparison itself: a planted wrong verdict must be seen.
TEST(Legality, NoticesAWrongVerdict) {
  Case c = read_case("x | 1 | 6.3 |  | stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r2};", 1);
  ParseResult parsed = parse(module_text(c));
  EXPECT_FALSE(judge(parsed.module, parsed.errors, "sm_75", 90).accepted);
  EXPECT_TRUE(judge(parsed.module, parsed.errors, "sm_90", 78).accepted);
  EXPECT_FALSE(judge(parsed.module, parsed.errors, "sm_100", 78).accepted);  // sm_100 needs 8.6
}

}  // namespace
}  // namespace ww::ptx::legality_test
