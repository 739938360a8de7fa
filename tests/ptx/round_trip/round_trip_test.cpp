// SPDX-License-Identifier: Apache-2.0
// PTX that nvcc writes, read and printed again, is the same program: ptxas makes the same cubin
// from both texts, byte for byte. One case per target: nvcc reads its own headers for half a second
// whatever it compiles, so all files of tests/foreign/cuda for that target go through it as one. When
// they fail together, each is tried by itself, and the message names it. Kernels that are printed with
// the words that they had (same_kernels.h) need no ptxas, except for debuggers, for whom
// other parts of the text name them.
//
// The targets between them that have every file are also compiled with -lineinfo and with -G;
// WW_ALL_TARGETS=1 does so for every target.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "foreign/corpus.h"
#include "foreign/toolchain.h"
#include "ptx/check.h"
#include "ptx/module.h"
#include "ptx/parser.h"
#include "ptx/printer.h"
#include "ptx/round_trip/elf_sections.h"
#include "ptx/round_trip/same_kernels.h"

namespace ww::test::round_trip_test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNoTools =
    "needs nvcc and ptxas, which are not in PATH, /usr/local/cuda/bin or $CUDA_HOME/bin";

// --- what is compiled ----------------------------------------------------------------------------

constexpr std::string_view kWithDebugInfo[] = {"sm_90a", "sm_103a"};

bool is_among(const auto& targets, std::string_view target) {
  return std::ranges::find(targets, target) != std::ranges::end(targets);
}

bool wants_all_targets() {
  const char* value = std::getenv("WW_ALL_TARGETS");
  return value != nullptr && std::string_view(value) == "1";
}

// What nvcc is given for a target: nothing, -lineinfo, -G.
std::vector<std::string> debug_options(const std::string& target) {
  if (wants_all_targets() || is_among(kWithDebugInfo, target)) return {"", "-lineinfo", "-G"};
  return {""};
}

// The sanitizer build looks at few files, because nvcc takes all the time; see
// tests/CMakeLists.txt.
std::vector<corpus::File> chosen_files() {
  std::vector<corpus::File> files = corpus::all_files();
#ifdef WW_ROUND_TRIP_ONLY
  std::erase_if(files, [](const corpus::File& file) { return file.name != WW_ROUND_TRIP_ONLY; });
#endif
  return files;
}

std::vector<corpus::File> files_for(const std::string& target) {
  std::vector<corpus::File> files = chosen_files();
  std::erase_if(files, [&](const corpus::File& file) { return !is_among(file.targets, target); });
  return files;
}

std::vector<std::string> all_targets() {
  std::set<std::string> targets;
  for (const corpus::File& file : chosen_files())
    targets.insert(file.targets.begin(), file.targets.end());
  return {targets.begin(), targets.end()};
}

struct Job {
  std::string target;
  std::string debug_option;  // empty, -lineinfo or -G
};

// --- the round trip ------------------------------------------------------------------------------

std::string describe(const std::vector<Diag>& errors, std::string_view name,
                     const std::string& text) {
  constexpr std::size_t kShown = 5;
  const SourceText source(std::string(name), text);
  std::string out;
  for (std::size_t i = 0; i < std::min(errors.size(), kShown); ++i)
    out += render(errors[i], source);
  return fmt::format("{} errors, first of them:\n{}", errors.size(), out);
}

// The text printed from what was read, checked to be read as the same again.
void read_and_print(const std::string& text, std::string& printed) {
  const ptx::ParseResult read = ptx::parse(text);
  ASSERT_TRUE(read.errors.empty()) << describe(read.errors, "nvcc.ptx", text);
  // What a compiler prints for a target is legal for it; the checker must not find otherwise.
  const ptx::CheckResult checked = ptx::check(read.module);
  EXPECT_TRUE(checked.ok()) << describe(checked.errors, "nvcc.ptx", text);
  printed = ptx::print(read.module);
  const ptx::ParseResult again = ptx::parse(printed);
  ASSERT_TRUE(again.errors.empty()) << describe(again.errors, "printed.ptx", printed);
  EXPECT_TRUE(ptx::equal(read.module, again.module)) << "the printed text is read differently";
  EXPECT_TRUE(ptx::print(again.module) == printed) << "the printed text is printed differently";
}

// How the names of sections end that hold the PTX text itself, and which line of it each machine
// instruction comes from. There are relocations for the second, and from sm_100 on a copy of each.
std::vector<std::string> sections_about_the_text() {
  return {"nv_debug_ptx_txt", "nv_debug_line_sass"};
}

void expect_same_cubin(const std::string& left, const std::string& right, bool has_debug_info) {
  if (has_debug_info) {
    const auto differing = differing_sections(left, right, sections_about_the_text());
    EXPECT_TRUE(differing.empty()) << fmt::format("{}", fmt::join(differing, "\n"));
  } else if (left != right) {
    const auto differing = differing_sections(left, right);
    ADD_FAILURE() << "the cubins differ, in these sections:\n"
                  << fmt::format("{}", fmt::join(differing, "\n"));
  }
}

// Both texts are called module.ptx, each in a folder of its own, so that names in the cubins agree.
void assemble_both(const corpus::Toolchain& tools, const Job& job, const fs::path& original,
                   const fs::path& printed) {
  for (const fs::path& folder : {original, printed}) {
    // ptxas does not optimise code for the debugger, and refuses to be asked.
    const auto outcome = job.debug_option == "-G"
                             ? tools.assemble(folder, "module.ptx", job.target, "module.cubin")
                             : tools.try_assemble(folder, "module.ptx", job.target, "module.cubin");
    ASSERT_EQ(outcome.status, 0) << folder.filename() << ":\n" << outcome.output;
  }
  expect_same_cubin(corpus::read_text(original / "module.cubin"),
                    corpus::read_text(printed / "module.cubin"), !job.debug_option.empty());
}

void check(const corpus::Toolchain& tools, std::span<const corpus::File> files, const Job& job) {
  const corpus::TestFolder scratch;
  const fs::path original = scratch.path() / "original";
  const fs::path printed = scratch.path() / "printed";
  fs::create_directory(original);
  fs::create_directory(printed);

  std::vector<std::string> options;
  if (!job.debug_option.empty()) options.push_back(job.debug_option);
  const auto compiled =
      corpus::compile_together(tools, files, job.target, options, original, "module");
  ASSERT_EQ(compiled.status, 0) << compiled.output;

  TwoTexts texts{.before = corpus::read_text(original / "module.ptx"), .after = {}};
  ASSERT_NO_FATAL_FAILURE(read_and_print(texts.before, texts.after));
  if (job.debug_option != "-G") texts = without_same_kernels(texts);
  std::ofstream(original / "module.ptx", std::ios::binary) << texts.before;
  std::ofstream(printed / "module.ptx", std::ios::binary) << texts.after;
  assemble_both(tools, job, original, printed);
}

class RoundTrip : public testing::TestWithParam<std::string> {};

TEST_P(RoundTrip, AssemblesToTheSameCubin) {
  const auto tools = corpus::Toolchain::find();
  if (!tools) GTEST_SKIP() << kNoTools;
  const std::string& target = GetParam();
  if (!tools->knows(target)) GTEST_SKIP() << "this nvcc does not know " << target;
  const std::vector<corpus::File> files = files_for(target);
  for (const std::string& option : debug_options(target)) {
    const Job job{target, option};
    SCOPED_TRACE(fmt::format("{} {}", target, option));
    check(*tools, files, job);
    for (std::size_t i = 0; HasFailure() && i < files.size(); ++i) {
      SCOPED_TRACE("by itself: " + files[i].name);
      check(*tools, std::span(files).subspan(i, 1), job);
    }
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Corpus, RoundTrip, testing::ValuesIn(all_targets()),
                         [](const auto& tested) { return tested.param; });

// So that no file is left out, and each meets a debugger's options somewhere.
TEST(Corpus, EveryFileHasTargets) {
  for (const corpus::File& file : chosen_files())
    EXPECT_TRUE(std::ranges::any_of(
        kWithDebugInfo, [&](std::string_view target) { return is_among(file.targets, target); }))
        << file.name
        << fmt::format(": none of {} in its line `// targets: ...`",
                       fmt::join(kWithDebugInfo, ", "));
}

// --- negative controls ---------------------------------------------------------------------------

// A kernel that stores `value`, for sm_80.
std::string storing_kernel(int value) {
  return fmt::format(
      ".version 7.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 out) {{\n"
      "  .reg .b64 %rd<2>;\n"
      "  ld.param.u64 %rd1, [out];\n"
      "  st.global.u32 [%rd1], {};\n"
      "  ret;\n}}\n",
      value);
}

std::string assembled(const corpus::Toolchain& tools, const std::string& text) {
  const corpus::TestFolder scratch;
  std::ofstream(scratch.path() / "module.ptx", std::ios::binary) << text;
  const auto outcome = tools.try_assemble(scratch.path(), "module.ptx", "sm_80", "module.cubin");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  return corpus::read_text(scratch.path() / "module.cubin");
}

TEST(CubinComparison, NamesTheSectionWhereOneConstantDiffers) {
  const auto tools = corpus::Toolchain::find();
  if (!tools) GTEST_SKIP() << kNoTools;
  const std::string one = assembled(*tools, storing_kernel(1));
  EXPECT_EQ(one, assembled(*tools, storing_kernel(1)));
  const auto differing = differing_sections(one, assembled(*tools, storing_kernel(2)));
  ASSERT_EQ(differing.size(), 1U) << fmt::format("{}", fmt::join(differing, "\n"));
  EXPECT_TRUE(differing[0].starts_with(".text.k: ")) << differing[0];
}

// A kernel stays when one word differs, or one text lacks it; comments and spaces are no words.
TEST(SameKernels, AreLeftOut) {
  const auto kernel = [](const std::string& name, const std::string& body) {
    return fmt::format(".visible .entry {}(\n\t.param .u64 p\n)\n{{\n{}}}\n", name, body);
  };
  const std::string head = ".version 7.0 // }\n.func f()\n{\n\tret;\n}\n";
  const std::string same = "\t{ // } callseq\n\tmov.u32 \t%r1, 1;\n\t}\n";
  const std::string spaced = "{\nmov.u32 %r1,1; /* { */ }";
  const std::string declared = ".entry d();\n";
  const TwoTexts texts = without_same_kernels(
      {.before = head + kernel("a", same) + declared + kernel("b", "\tret;\n") + kernel("c", ""),
       .after = head + kernel("a", spaced) + declared + kernel("b", "\tret 1;\n")});
  EXPECT_EQ(texts.before, head + "\n" + declared + kernel("b", "\tret;\n") + kernel("c", ""));
  EXPECT_EQ(texts.after, head + "\n" + declared + kernel("b", "\tret 1;\n"));
  const TwoTexts joined = {.before = kernel("a", "mov.u32 %r1, 12;"),
                           .after = kernel("a", "mov.u32 %r1, 1 2;")};
  EXPECT_EQ(without_same_kernels(joined).before, joined.before);
}

// This test is itself such a file.
TEST(ElfSections, AreFoundByName) {
  const std::string image = corpus::read_text("/proc/self/exe");
  const auto sections = elf_sections(image);
  ASSERT_TRUE(sections.has_value()) << sections.error();
  const auto text = std::ranges::find(*sections, ".text", &ElfSection::name);
  ASSERT_NE(text, sections->end());
  EXPECT_GT(text->bytes.size(), 1000U);
  const auto bss = std::ranges::find(*sections, ".bss", &ElfSection::name);
  ASSERT_NE(bss, sections->end());
  EXPECT_GT(bss->size, 0U);
  EXPECT_TRUE(bss->bytes.empty());
}

TEST(ElfSections, RefusesWhatIsNoElfFileOrCutOff) {
  const std::string image = corpus::read_text("/proc/self/exe");
  EXPECT_FALSE(elf_sections("").has_value());
  EXPECT_FALSE(elf_sections("#!/bin/sh\n").has_value());
  EXPECT_FALSE(elf_sections(std::string(200, '\0')).has_value());
  EXPECT_FALSE(elf_sections(std::string_view(image).substr(0, 40)).has_value());
  EXPECT_FALSE(elf_sections(std::string_view(image).substr(0, image.size() / 2)).has_value());
}

TEST(ElfSections, IgnoredOnesMayDiffer) {
  const std::string image = corpus::read_text("/proc/self/exe");
  const auto sections = elf_sections(image);
  ASSERT_TRUE(sections.has_value()) << sections.error();
  const auto text = std::ranges::find(*sections, ".text", &ElfSection::name);
  ASSERT_NE(text, sections->end());
  std::string changed = image;
  changed[static_cast<std::size_t>(text->bytes.data() - image.data()) + 7] ^= 1;
  EXPECT_TRUE(differing_sections(image, image).empty());
  ASSERT_EQ(differing_sections(image, changed).size(), 1U);
  EXPECT_TRUE(differing_sections(image, changed)[0].ends_with("first difference at 7"));
  EXPECT_TRUE(differing_sections(image, changed, {".text"}).empty());
}

}  // namespace
}  // namespace ww::test::round_trip_test
