// SPDX-License-Identifier: Apache-2.0
#include "harness/assembly.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <span>
#include <utility>
#include <vector>

#include "corpus/toolchain.h"

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

// What ptxas says; empty when it accepts the text.
std::string complaint(const corpus::Toolchain& toolchain, const std::string& target,
                      const std::string& ptx) {
  const corpus::ScratchFolder folder;
  std::ofstream(folder.path() / "k.ptx") << ptx;
  const auto outcome = toolchain.try_assemble(folder.path(), "k.ptx", target);
  return outcome.status == 0 ? "" : outcome.output;
}

// If ptxas refuses the kernels together, each by itself shows which it is.
std::string complaints(const corpus::Toolchain& toolchain, const std::string& target,
                       std::span<const Module> modules) {
  const std::string text = joined(modules);
  const std::string together = complaint(toolchain, target, text);
  if (together.empty()) return "";
  std::string out;
  for (const Module& module : modules)
    if (const std::string why = complaint(toolchain, target, module.ptx); !why.empty())
      out += fmt::format("{}--- test\n{}\n--- PTX\n{}", why, module.test, module.ptx);
  return out.empty() ? together + text : out;
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
    std::vector<Module> modules;
    for (const auto& [ptx, test] : texts) modules.push_back({ptx, test});
    for (std::size_t i = 0; i < modules.size(); i += kKernelsPerModule)
      out += complaints(
          *toolchain, target,
          std::span(modules).subspan(i, std::min(kKernelsPerModule, modules.size() - i)));
  }
  return out;
}

}  // namespace ww::test
