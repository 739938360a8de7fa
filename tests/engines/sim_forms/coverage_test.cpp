// SPDX-License-Identifier: Apache-2.0
// Every form of the catalogue is simulated, or in not_simulated.txt with a reason. Examples of a
// form, with its modifiers in many combinations, are loaded at the lowest target that has them; a
// form counts as simulated if all of them are.
#include <fmt/format.h>
#include <fnmatch.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "isa/catalogue.h"
#include "isa/check.h"
#include "isa/example.h"
#include "sim/program.h"

namespace ww::coverage_test {
namespace {

constexpr std::size_t kSample = WW_FORM_SAMPLE;  // bindings of a form

struct Exception {
  std::string opcodes;  // with * for anything
  std::string reason;
  bool is_used = false;

  [[nodiscard]] bool covers(const std::string& opcode) const {
    return ::fnmatch(opcodes.c_str(), opcode.c_str(), 0) == 0;
  }
};

// Lines `opcodes: reason`; empty ones and those with # at the start are for the reader.
std::vector<Exception> read_exceptions() {
  std::ifstream in(std::string(WW_SOURCE_DIR) + "/tests/engines/sim_forms/not_simulated.txt");
  std::vector<Exception> exceptions;
  for (std::string line; std::getline(in, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with('#') || colon == std::string::npos) continue;
    exceptions.push_back({line.substr(0, colon), line.substr(colon + 2), false});
  }
  return exceptions;
}

// A step that spreads a few choices evenly over `count` things and reaches each with many.
std::size_t spread_step(std::size_t count) {
  std::size_t step = std::max<std::size_t>(1, count * 618 / 1000);
  while (std::gcd(step, count) != 1) ++step;
  return step;
}

struct Example {
  std::string opcode, text;
  target::Arch arch;
  int ptx;
};

std::optional<Example> example_of(const isa::Binding& binding) {
  const std::string text = isa::example(binding);
  if (text.empty()) return std::nullopt;
  for (const target::ArchInfo& arch : target::kArchs)
    if (const auto ptx = isa::lowest_ptx(binding, arch.arch))
      return Example{binding.opcode(), text, arch.arch, *ptx};
  return std::nullopt;
}

std::vector<Example> examples_of(const isa::Form& form) {
  std::vector<isa::Binding> all;
  isa::for_each_binding(form, [&](const isa::Binding& binding) { all.push_back(binding); });
  std::vector<Example> chosen;
  const std::size_t step = spread_step(all.size());
  for (std::size_t i = 0, at = 0; i < all.size() && chosen.size() < kSample; ++i) {
    if (auto example = example_of(all[at])) chosen.push_back(std::move(*example));
    at = (at + step) % all.size();
  }
  return chosen;
}

std::string module_of(const Example& example) {
  const bool has_wide = example.text.contains("%rq");  // such registers need PTX 8.3
  const bool has_table = example.text.starts_with("brx.idx");
  return fmt::format(
      ".version {}\n.target {}\n.address_size 64\n"
      ".visible .entry k() {{ .reg .pred %p<8>; .reg .b8 %b<8>; .reg .b16 %rs<16>; "
      ".reg .b32 %r<300>; .reg .b64 %rd<80>; {}{}\n{}\n{}: ret; }}\n",
      target::ptx_version_text(example.ptx), info(example.arch).name,
      has_wide ? ".reg .b128 %rq<8>;" : "", has_table ? "L: .branchtargets M;" : "", example.text,
      has_table ? "M" : "L");
}

// "" if the virtual GPU executes it, else why not.
std::string refusal_of(const Example& example) {
  const sim::LoadResult loaded = sim::load(module_of(example), "k.ptx");
  if (loaded.program != nullptr) return "";
  return loaded.errors.empty() ? "not loaded" : loaded.errors.front().text;
}

class SimForms : public testing::TestWithParam<std::string_view> {};

TEST_P(SimForms, AreSimulatedOrListed) {
  const std::vector<Exception> exceptions = read_exceptions();
  std::map<std::string, std::string> unlisted;  // by mnemonic, the first one
  for (const isa::Form& form : isa::find_family(GetParam())->forms) {
    for (const Example& example : examples_of(form)) {
      const std::string refusal = refusal_of(example);
      if (refusal.empty()) continue;
      const auto listed = [&](const Exception& e) { return e.covers(example.opcode); };
      if (std::ranges::any_of(exceptions, listed)) continue;
      unlisted.try_emplace(std::string(form.mnemonic.text()), example.text + "\n  " + refusal);
    }
  }
  for (const auto& [mnemonic, text] : unlisted) ADD_FAILURE() << text;
}

std::vector<std::string_view> family_names() {
  std::vector<std::string_view> names;
  for (const isa::Family& family : isa::families()) names.push_back(family.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Catalogue, SimForms, testing::ValuesIn(family_names()),
                         [](const auto& family) { return std::string(family.param); });

// A line that excuses what is simulated by now, or what is no instruction, must go.
TEST(SimFormsList, ExcusesOnlyWhatIsNotSimulated) {
  std::vector<Exception> exceptions = read_exceptions();
  ASSERT_FALSE(exceptions.empty());
  for (const isa::Family& family : isa::families()) {
    for (const isa::Form& form : family.forms) {
      for (const Example& example : examples_of(form)) {
        for (Exception& e : exceptions) {
          if (e.is_used || !e.covers(example.opcode)) continue;
          e.is_used = !refusal_of(example).empty();
        }
      }
    }
  }
  for (const Exception& e : exceptions) {
    EXPECT_TRUE(e.is_used) << "`" << e.opcodes << "` is simulated, or no instruction";
    EXPECT_FALSE(e.reason.empty());
  }
}

}  // namespace
}  // namespace ww::coverage_test
