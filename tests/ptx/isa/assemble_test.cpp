// SPDX-License-Identifier: Apache-2.0
// The catalogue against the assembler, from the catalogue's side: an example of every form, with
// its modifiers in many combinations, is assembled at the lowest architecture and PTX version that
// the catalogue gives for it, and must not be one version below nor on other architectures.
// (legality_test.cpp goes the other way, from stored verdicts of ptxas.)
//
// Of a form with many combinations a fixed sample is taken; WW_ALL_BINDINGS=1 takes them all, which
// takes some minutes.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "foreign/toolchain.h"
#include "isa/catalogue.h"
#include "isa/check.h"
#include "isa/example.h"
#include "target/target.h"

namespace ww::isa::assemble_test {
namespace {

constexpr std::string_view kNoTools =
    "needs nvcc and ptxas, which are not in PATH, /usr/local/cuda/bin or $CUDA_HOME/bin";

// --- what is assembled ---------------------------------------------------------------------------

std::size_t sample_size() {
  const char* all = std::getenv("WW_ALL_BINDINGS");
  if (all != nullptr && std::string_view(all) == "1") return SIZE_MAX;
  return WW_ASSEMBLE_SAMPLE;
}

// Likewise every eighth architecture is enough for the sanitizers.
constexpr std::size_t kArchStep = WW_ASSEMBLE_SAMPLE < 100 ? 8 : 1;

// Where to go next among `count` things, so that a few steps are spread evenly over all of them and
// many steps reach each: about the golden part of the way round, and prime to it.
std::size_t spread_step(std::size_t count) {
  std::size_t step = std::max<std::size_t>(1, count * 618 / 1000);
  while (std::gcd(step, count) != 1) ++step;
  return step;
}

// Up to `wanted` legal bindings of the form with their examples, always the same ones.
std::vector<std::pair<Binding, std::string>> examples_of(const Form& form, std::size_t wanted) {
  std::vector<Binding> all;
  for_each_binding(form, [&](const Binding& binding) { all.push_back(binding); });
  std::vector<std::pair<Binding, std::string>> chosen;
  const std::size_t step = spread_step(all.size());
  std::size_t at = 0;
  for (std::size_t i = 0; i < all.size() && chosen.size() < wanted; ++i) {
    if (std::string text = example(all[at]); !text.empty()) chosen.emplace_back(all[at], text);
    at = (at + step) % all.size();
  }
  return chosen;
}

struct Place {
  target::Arch arch;
  int ptx;
  friend auto operator<=>(const Place&, const Place&) = default;
};

// The first architecture that has the bound form, at the lowest version.
std::optional<Place> first_place(const Binding& binding) {
  for (const target::ArchInfo& arch : target::kArchs) {
    if (const auto ptx = lowest_ptx(binding, arch.arch)) return Place{arch.arch, *ptx};
  }
  return std::nullopt;
}

// The version before that one, if the architecture is known to it.
std::optional<Place> one_below(const Place& place) {
  const auto versions = target::ptx_versions();
  const auto at = std::ranges::find(versions, place.ptx);
  if (at == versions.begin() || *(at - 1) < info(place.arch).min_ptx) return std::nullopt;
  return Place{place.arch, *(at - 1)};
}

using Groups = std::map<Place, std::vector<std::string>>;

// --- asking ptxas --------------------------------------------------------------------------------

// How many instructions a kernel has. ptxas takes eight times as long with a kernel for each.
enum class Company : std::uint8_t { Alone, Shared };
constexpr std::size_t kShared = 16;

// What follows them is not reached, they need a label, or they want a kernel for one kind of them.
bool wants_its_own_kernel(std::string_view instruction) {
  constexpr std::string_view kWants[] = {"bra", "brx", "ret", "exit", "trap", "call", "tcgen05"};
  return std::ranges::any_of(kWants, [&](auto name) { return instruction.starts_with(name); });
}

// A module, and which instruction stands in each of its lines.
struct Listing {
  static constexpr std::size_t kNone = SIZE_MAX;
  std::string text;
  std::vector<std::size_t> instruction_at{kNone};  // ptxas counts lines from 1

  void add_line(const std::string& line, std::size_t instruction = kNone) {
    text += line + "\n";
    instruction_at.push_back(instruction);
  }
};

// The instructions from `begin` to `end` in one kernel, a line each.
void add_kernel(Listing& out, const std::vector<std::string>& instructions, std::size_t begin,
                std::size_t end) {
  const auto any = [&](auto&& test) {
    return std::any_of(instructions.begin() + static_cast<std::ptrdiff_t>(begin),
                       instructions.begin() + static_cast<std::ptrdiff_t>(end), test);
  };
  // Such registers need PTX 8.3.
  const bool has_wide = any([](const std::string& text) { return text.contains("%rq"); });
  const bool has_table = any([](const std::string& text) { return text.starts_with("brx.idx"); });
  out.add_line(fmt::format(
      ".visible .entry k{}() {{ .reg .pred %p<8>; .reg .b8 %b<8>; .reg .b16 %rs<16>; "
      ".reg .b32 %r<300>; .reg .b64 %rd<80>; {}{}",
      begin, has_wide ? ".reg .b128 %rq<8>;" : "", has_table ? "L: .branchtargets M;" : ""));
  for (std::size_t i = begin; i < end; ++i) out.add_line(instructions[i], i);
  out.add_line(fmt::format("{}: ret; }}", has_table ? "M" : "L"));
}

Listing module_of(const Place& place, const std::vector<std::string>& instructions,
                  Company company) {
  Listing out;
  out.add_line(fmt::format(".version {}", target::ptx_version_text(place.ptx)));
  out.add_line(fmt::format(".target {}", info(place.arch).name));
  out.add_line(".address_size 64");
  const auto is_alone = [&](std::size_t i) {
    return company == Company::Alone || wants_its_own_kernel(instructions[i]);
  };
  for (std::size_t begin = 0, end = 0; begin < instructions.size(); begin = end) {
    end = begin + 1;
    while (!is_alone(begin) && end < instructions.size() && end - begin < kShared && !is_alone(end))
      ++end;
    add_kernel(out, instructions, begin, end);
  }
  return out;
}

struct Answer {
  bool accepted = false;
  std::map<std::size_t, std::string> refused;  // instruction -> what ptxas says
};

std::optional<std::size_t> number_after(const std::string& text, std::string_view mark) {
  const auto at = text.find(mark);
  if (at == std::string::npos) return std::nullopt;
  return std::stoul(text.substr(at + mark.size()));
}

// The line of our file that a line of ptxas's output refuses. ptxas also numbers lines of code of
// its own, without a file. A 32-bit generic address is an error in a module by itself and a warning
// beside 64-bit ones.
std::optional<std::size_t> refused_line(const std::string& said) {
  if (said.contains("; error") || said.contains("; fatal")) {
    return number_after(said, "m.ptx, line ");
  }
  return number_after(said, "Program uses 32-bit address on line '");
}

Answer assemble(const corpus::Toolchain& tools, const Place& place,
                const std::vector<std::string>& instructions, Company company) {
  const corpus::TestFolder folder;
  const Listing module = module_of(place, instructions, company);
  std::ofstream(folder.path() / "m.ptx") << module.text;
  const corpus::Outcome outcome =
      tools.try_assemble(folder.path(), "m.ptx", std::string(info(place.arch).name), "m.cubin");
  Answer answer;
  std::istringstream lines(outcome.output);
  for (std::string said; std::getline(lines, said);) {
    const auto line = refused_line(said);
    if (!line || *line >= module.instruction_at.size()) continue;
    const std::size_t number = module.instruction_at[*line];
    if (number != Listing::kNone) answer.refused.try_emplace(number, said);
  }
  answer.accepted = outcome.status == 0 && answer.refused.empty();
  if (!answer.accepted && answer.refused.empty() && instructions.size() == 1) {
    answer.refused.emplace(
        0, fmt::format("ptxas ends with status {}: {}", outcome.status, outcome.output));
  }
  return answer;
}

using Refusals = std::map<std::string, std::string>;  // instruction -> what ptxas says

Refusals refused_in(Company company, const corpus::Toolchain& tools, const Place& place,
                    std::vector<std::string> instructions);

Refusals refused_by_halves(Company company, const corpus::Toolchain& tools, const Place& place,
                           const std::vector<std::string>& instructions) {
  const auto middle = instructions.begin() + static_cast<std::ptrdiff_t>(instructions.size()) / 2;
  Refusals found = refused_in(company, tools, place, {instructions.begin(), middle});
  found.merge(refused_in(company, tools, place, {middle, instructions.end()}));
  return found;
}

// Every instruction that ptxas refuses, with its words. ptxas stops at a syntax error, so what it
// refused is taken out and the rest asked about again; a message without a line is found by
// halving.
Refusals refused_in(Company company, const corpus::Toolchain& tools, const Place& place,
                    std::vector<std::string> instructions) {
  constexpr std::size_t kMaxInstructions = 2000;  // ptxas slows down with more in a module
  if (instructions.size() > kMaxInstructions)
    return refused_by_halves(company, tools, place, instructions);
  Refusals found;
  while (!instructions.empty()) {
    const Answer answer = assemble(tools, place, instructions, company);
    if (answer.accepted) break;
    if (answer.refused.empty()) {
      found.merge(refused_by_halves(company, tools, place, instructions));
      break;
    }
    std::vector<std::string> rest;
    for (std::size_t i = 0; i < instructions.size(); ++i) {
      const auto it = answer.refused.find(i);
      if (it == answer.refused.end()) {
        rest.push_back(instructions[i]);
      } else {
        found.emplace(instructions[i], it->second);
      }
    }
    instructions = std::move(rest);
  }
  return found;
}

// The same with each refusal confirmed in a kernel of its own: another instruction's is not enough.
Refusals refused(const corpus::Toolchain& tools, const Place& place,
                 const std::vector<std::string>& instructions) {
  std::vector<std::string> suspects;
  for (const auto& [text, words] : refused_in(Company::Shared, tools, place, instructions))
    suspects.push_back(text);
  return refused_in(Company::Alone, tools, place, std::move(suspects));
}

std::string place_text(const Place& place) {
  return fmt::format("{}, PTX {}", info(place.arch).name, target::ptx_version_text(place.ptx));
}

// --- the tests -----------------------------------------------------------------------------------

std::vector<const Form*> all_forms() {
  std::vector<const Form*> found;
  for (const Family& family : families()) {
    for (const Form& form : family.forms) found.push_back(&form);
  }
  return found;
}

// One module holds what all families have for one place: starting ptxas takes longer than what it does
// with a family.
class Assemble : public testing::Test {
 protected:
  void SetUp() override {
    tools_ = corpus::Toolchain::find();
    if (!tools_) GTEST_SKIP() << kNoTools;
  }
  std::optional<corpus::Toolchain> tools_;
};

TEST_F(Assemble, TakesEveryFormAtItsLowestTarget) {
  Groups groups;
  for (const Form* form : all_forms()) {
    for (auto& [binding, text] : examples_of(*form, sample_size())) {
      const auto place = first_place(binding);
      ASSERT_TRUE(place) << "no architecture has " << text;
      groups[*place].push_back(std::move(text));
    }
  }
  for (const auto& [place, instructions] : groups) {
    for (const auto& [text, words] : refused(*tools_, place, instructions)) {
      ADD_FAILURE() << text << "\n  " << place_text(place) << ": " << words;
    }
  }
}

// The first legal binding that each of the form's gates applies to, with its example.
std::vector<std::pair<Binding, std::string>> one_per_gate(const Form& form) {
  std::vector<std::pair<Binding, std::string>> found;
  std::set<const GateInfo*> open;
  for (const GateInfo& gate : form.gates) open.insert(&gate);
  for_each_binding(form, [&](const Binding& binding) {
    const auto applies = [&](const GateInfo* gate) { return binding.holds(gate->when); };
    if (std::ranges::none_of(open, applies)) return;
    std::string text = example(binding);
    if (text.empty()) return;
    std::erase_if(open, applies);
    found.emplace_back(binding, std::move(text));
  });
  return found;
}

TEST_F(Assemble, RefusesEveryGateOneVersionBelow) {
  Groups groups;
  for (const Form* form : all_forms()) {
    for (auto& [binding, text] : one_per_gate(*form)) {
      const auto place = first_place(binding);
      ASSERT_TRUE(place) << "no architecture has " << text;
      if (const auto below = one_below(*place)) groups[*below].push_back(std::move(text));
    }
  }
  for (const auto& [place, instructions] : groups) {
    const auto found = refused(*tools_, place, instructions);
    for (const std::string& text : instructions) {
      EXPECT_TRUE(found.contains(text)) << text << "\n  is taken at " << place_text(place);
    }
  }
}

// Why an instruction is not asked about; "" if it is.
std::string_view excuse(std::string_view text) {
  if (text.starts_with("st.") && text.contains(".param")) {
    return "ptxas 13.0 crashes on a parameter that is not named, from sm_90 on";
  }
  return "";
}

// At the newest version, on every architecture: ptxas takes exactly what the catalogue says.
TEST_F(Assemble, AgreesOnEveryArchitecture) {
  std::vector<std::pair<target::ArchSet, std::string>> asked;
  std::vector<std::string> instructions;
  for (const Form* form : all_forms()) {
    for (const auto& [binding, text] : one_per_gate(*form)) {
      if (!excuse(text).empty()) continue;
      asked.emplace_back(archs_of(binding), text);
      instructions.push_back(text);
    }
  }
  for (std::size_t i = 0; i < std::size(target::kArchs); i += kArchStep) {
    const Place place{target::kArchs[i].arch, target::ptx_versions().back()};
    const auto found = refused(*tools_, place, instructions);
    for (const auto& [archs, text] : asked) {
      const bool taken = !found.contains(text);
      EXPECT_EQ(taken, archs.contains(place.arch)) << text << "\n  " << place_text(place) << ": "
                                                   << (taken ? "ptxas takes it" : found.at(text));
    }
  }
}

// The comparison itself: what ptxas refuses is named, wherever it stands and however it fails.
TEST(AssembleItself, NamesWhatPtxasRefuses) {
  const auto tools = corpus::Toolchain::find();
  if (!tools) GTEST_SKIP() << kNoTools;
  const std::vector<std::string> instructions = {
      "add.u32 %r0, %r1, %r2;",
      "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r0], {%r1};",  // needs sm_90
      "add.u33 %r0, %r1, %r2;",                                  // a syntax error
      "cvta.global.u32 %r0, %r1;",                               // no line in the message
      "add.f32 %r0, %r1, %r2;",
      "add.u32 %r0, %rd1, %r2;",
  };
  std::vector<std::string> named;
  for (const auto& [text, words] : refused(*tools, {target::Arch::Sm80, 90}, instructions)) {
    named.push_back(text);
  }
  EXPECT_THAT(named, testing::UnorderedElementsAre(instructions[1], instructions[2],
                                                   instructions[3], instructions[5]));
}

}  // namespace
}  // namespace ww::isa::assemble_test
