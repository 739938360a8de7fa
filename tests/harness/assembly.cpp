// SPDX-License-Identifier: Apache-2.0
#include "harness/assembly.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <span>
#include <sstream>
#include <unordered_set>
#include <utility>
#include <vector>

#include "foreign/toolchain.h"

namespace ww::test {
namespace {

constexpr std::size_t kKernelsPerModule = 100;
constexpr std::string_view kArray = ".extern .shared";

struct Module {
  std::string ptx;
  std::string test;
};

// The kernels of several modules in one: heads and the names of kernels and arrays are what clashes.
std::string joined(std::span<const Module> modules) {
  constexpr std::string_view kEntry = ".visible .entry ";
  std::string out;
  for (std::size_t i = 0; i < modules.size(); ++i) {
    std::string text = with_own_array(modules[i].ptx, kArray, i);
    const std::size_t entry = text.find(kEntry);
    text.insert(text.find('(', entry), fmt::format("_{}", i));
    out += i == 0 ? text : text.substr(std::min(text.find(kArray), entry));
  }
  return out;
}

enum class Work : std::uint8_t { Read, Assemble };

/// ptxas for one target.
struct Tool {
  const corpus::Toolchain& toolchain;
  const std::string& target;
  Work work;
};

// What ptxas says; empty when it accepts the text.
std::string complaint(const Tool& tool, const std::string& ptx) {
  const corpus::TestFolder folder;
  std::ofstream(folder.path() / "k.ptx") << ptx;
  const auto outcome = tool.work == Work::Read
                           ? tool.toolchain.try_read(folder.path(), "k.ptx", tool.target)
                           : tool.toolchain.try_assemble(folder.path(), "k.ptx", tool.target);
  return outcome.status == 0 ? "" : outcome.output;
}

// If ptxas refuses the kernels together, each by itself shows which it is.
std::string complaints_together(const Tool& tool, std::span<const Module> modules) {
  const std::string text = joined(modules);
  const std::string together = complaint(tool, text);
  if (together.empty()) return "";
  std::string out;
  for (const Module& module : modules)
    if (const std::string why = complaint(tool, module.ptx); !why.empty())
      out += fmt::format("{}--- test\n{}\n--- PTX\n{}", why, module.test, module.ptx);
  return out.empty() ? together + text : out;
}

std::string complaints(const Tool& tool, std::span<const Module> modules) {
  std::string out;
  for (std::size_t i = 0; i < modules.size(); i += kKernelsPerModule)
    out += complaints_together(tool,
                               modules.subspan(i, std::min(kKernelsPerModule, modules.size() - i)));
  return out;
}

bool is_part_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%';
}

// `[%rd12+8], $x, 0f3F800000` as `[%rd+0], n, 0`. What follows a dot stays: `%tid.x`.
std::string operand_kinds(std::string_view operands) {
  std::string out;
  for (std::size_t at = 0; at < operands.size();) {
    if (!is_part_of_name(operands[at])) {
      out += operands[at++];
      continue;
    }
    const std::size_t begin = at;
    while (at < operands.size() && is_part_of_name(operands[at])) ++at;
    const std::string_view word = operands.substr(begin, at - begin);
    if (!out.empty() && out.back() == '.')
      out += word;
    else if (word.front() == '%')
      out += word.substr(0, word.find_last_not_of("0123456789") + 1);
    else
      out += std::isdigit(static_cast<unsigned char>(word.front())) != 0 ? '0' : 'n';
  }
  return out;
}

// An instruction or a directive without its numbers and names; empty: neither.
std::string kind_of(std::string_view line) {
  line = line.substr(0, line.find("//"));
  line.remove_prefix(std::min(line.find_first_not_of("\t "), line.size()));
  if (line.empty() || line.ends_with(':')) return "";
  std::string guard;
  if (line.front() == '@') {
    const std::size_t end = std::min(line.find(' '), line.size());
    guard = operand_kinds(line.substr(0, end));
    line.remove_prefix(end);
  }
  const std::size_t tab = line.find('\t');
  if (tab == std::string_view::npos) return guard + operand_kinds(line);
  return guard + std::string(line.substr(0, tab)) + operand_kinds(line.substr(tab));
}

// The kernels to generate code for: see the header.
std::vector<Module> chosen_of(std::span<const Module> modules) {
  constexpr std::size_t kSample = 8;
  std::vector<Module> out;
  std::unordered_set<std::string> seen;
  std::size_t known = 0;
  for (const Module& module : modules) {
    bool is_new = false;
    std::istringstream lines(module.ptx);
    for (std::string line; std::getline(lines, line);)
      is_new = seen.insert(kind_of(line)).second || is_new;
    if (is_new || known++ % kSample == 0) out.push_back(module);
  }
  return out;
}

std::vector<Module> modules_of(const std::map<std::string, std::string>& texts) {
  std::vector<Module> out;
  for (const auto& [ptx, test] : texts) out.push_back({ptx, test});
  return out;
}

}  // namespace

std::string current_test() {
  const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
  return test == nullptr ? "" : fmt::format("{}.{}", test->test_suite_name(), test->name());
}

std::string with_own_array(std::string source, std::string_view declaration, std::size_t number) {
  const std::size_t declared = source.find(declaration);
  if (declared == std::string::npos) return source;
  const std::size_t end = source.find("[]", declared);
  const std::size_t begin = source.rfind(' ', end) + 1;
  const std::string name = source.substr(begin, end - begin);
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  for (std::size_t at = source.find(name); at != std::string::npos; at = source.find(name, at)) {
    const bool is_whole = !is_part(source[at - 1]) && !is_part(source[at + name.size()]);
    at += name.size();
    if (is_whole) source.insert(at, fmt::format("_{}", number));
  }
  return source;
}

void Assembly::add(const std::string& target, const std::string& ptx) {
  modules_[target].emplace(ptx, current_test());
  ++count_;
}

void Assembly::take(Assembly other) {
  for (auto& [target, texts] : other.modules_) modules_[target].merge(texts);
  count_ += other.count_;
}

std::size_t Assembly::chosen() const {
  std::size_t out = 0;
  for (const auto& [target, texts] : modules_) out += chosen_of(modules_of(texts)).size();
  return out;
}

std::string Assembly::assemble(std::string& skipped) const {
  const auto toolchain = corpus::Toolchain::find();
  if (!toolchain) {
    skipped = "there is no ptxas";
    return {};
  }
  std::string out;
  for (const auto& [target, texts] : modules_) {
    if (!toolchain->knows(target)) {
      skipped += fmt::format("this ptxas does not know {}; ", target);
      continue;
    }
    const std::vector<Module> modules = modules_of(texts);
    const bool reads = toolchain->reads(target) && std::getenv("WW_ALL_CUDA") == nullptr;
    const std::string wrong =
        reads ? complaints({*toolchain, target, Work::Read}, modules) : std::string();
    out += wrong;
    if (wrong.empty())
      out += complaints({*toolchain, target, Work::Assemble}, reads ? chosen_of(modules) : modules);
  }
  return out;
}

}  // namespace ww::test
