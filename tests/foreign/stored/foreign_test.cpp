// SPDX-License-Identifier: Apache-2.0
// PTX that other compilers wrote: kernels by Triton and by nvcc (CUB, cooperative groups, libcu++, wmma),
// stored as text. Each runs on the virtual GPU with all checks on, but for those that its line leaves out;
// nothing is found, and the results are those of the expectations or of NumPy. make_corpus.py compiles the
// kernels again.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/process.h"
#include "driver/args/npy.h"
#include "driver/expect/expect.h"
#include "driver/sim/tool.h"

namespace ww::corpus::foreign_test {
namespace {

const std::string kFolder = std::string(WW_SOURCE_DIR) + "/tests/foreign/stored/";
constexpr std::size_t kMaxArrayBytes = 1 << 20;

/// A buffer after the run against an array of data/.
struct Comparison {
  std::string parameter, file;
  bool is_exact = true;
};
struct Case {
  std::string name;
  driver::SimRequest request = {};
  std::string version = {}, target = {};  // of the text, in place of its own; both or neither
  std::vector<Comparison> comparisons = {};
};

// The words of a line as a shell has them: quotes keep blanks.
std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  bool is_quoted = false, is_open = false;
  for (const char c : line) {
    if (c == '\'') {
      is_quoted = !is_quoted;
      if (!std::exchange(is_open, true)) words.emplace_back();
    } else if (c == ' ' && !is_quoted) {
      is_open = false;
    } else {
      if (!std::exchange(is_open, true)) words.emplace_back();
      words.back() += c;
    }
  }
  return words;
}

std::string with_folder(const std::string& argument) {
  const std::size_t at = argument.find("=@");
  return at == std::string::npos
             ? argument
             : argument.substr(0, at + 2) + kFolder + "data/" + argument.substr(at + 2);
}

// False: there is no such option.
bool take_option(Case& to, const std::string& option, const std::string& value) {
  driver::SimRequest& request = to.request;
  if (option == "--text")
    request.path = kFolder + "ptx/" + value;
  else if (option == "--version")
    to.version = value;
  else if (option == "--target")
    to.target = value;
  else if (option == "--kernel")
    request.kernel = value;
  else if (option == "--grid")
    request.grid = value;
  else if (option == "--block")
    request.block = value;
  else if (option == "--cluster")
    request.cluster = value;
  else if (option == "--shared")
    request.shared_bytes = static_cast<std::uint32_t>(std::stoul(value));
  else if (option == "--arg")
    request.args.push_back(with_folder(value));
  else if (option == "--expect")
    request.expects.push_back(value);
  else if (option == "--check")
    request.checks = value;
  else if (option == "--same" || option == "--near")
    to.comparisons.push_back(
        {value.substr(0, value.find('=')), value.substr(value.find('=') + 1), option == "--same"});
  else
    return false;
  return true;
}

Case read_case(const std::string& line) {
  const std::vector<std::string> words = words_of(line);
  Case out{.name = words.at(0).substr(0, words.at(0).find('.')),
           .request = {.path = kFolder + "ptx/" + words.at(0), .threads = 1}};
  for (std::size_t i = 1; i + 1 < words.size(); i += 2)
    if (!take_option(out, words[i], words[i + 1])) ADD_FAILURE() << line << ": " << words[i];
  if (!out.request.kernel.empty()) out.name += "_" + out.request.kernel;
  return out;
}

const std::vector<Case>& all_cases() {
  static const std::vector<Case> cases = [] {
    std::vector<Case> out;
    std::ifstream in(kFolder + "cases.txt");
    for (std::string line; std::getline(in, line);)
      if (!line.starts_with('#')) out.push_back(read_case(line));
    return out;
  }();
  return cases;
}

// The text of a case with its version and target, which are the first two lines.
std::string with_head(const Case& it) {
  std::ifstream in(it.request.path);
  std::string version, target;
  std::getline(in, version);
  std::getline(in, target);
  EXPECT_TRUE(version.starts_with(".version ") && target.starts_with(".target ")) << it.name;
  return fmt::format(".version {}\n.target {}\n", it.version, it.target) +
         std::string(std::istreambuf_iterator<char>(in), {});
}

// "" or how two arrays differ.
std::string difference(const std::string& seen_path, const std::string& wanted_path,
                       bool is_exact) {
  const auto seen = driver::read_npy(seen_path, kMaxArrayBytes);
  const auto wanted = driver::read_npy(wanted_path, kMaxArrayBytes);
  if (!seen) return seen.error().text;
  if (!wanted) return wanted.error().text;
  const auto result = driver::check_expectation(
      is_exact ? "seen == wanted" : "seen ~= wanted",
      [&](std::string_view name) { return name == "seen" ? &*seen : &*wanted; });
  if (!result) return result.error().text;
  return result->holds
             ? ""
             : fmt::format("{} of {} elements differ", result->mismatches, result->elements);
}

class ForeignPtx : public testing::TestWithParam<std::size_t> {};

TEST_P(ForeignPtx, ComputesItsReferenceWithoutFindings) {
  const Case& it = all_cases()[GetParam()];
  const auto folder = ww::ScratchFolder::make();
  ASSERT_TRUE(folder);
  driver::SimRequest request = it.request;
  if (!it.target.empty()) {
    request.path = folder->file("with_head.ptx");
    std::ofstream(request.path) << with_head(it);
  }
  for (const Comparison& comparison : it.comparisons)
    request.outs.push_back(comparison.parameter + "=" + folder->file(comparison.file));
  const driver::SimOutcome outcome = driver::run_sim(request);
  ASSERT_EQ(outcome.errors, "");
  EXPECT_TRUE(outcome.report->good()) << driver::sim_text(*outcome.report);
  EXPECT_FALSE(request.expects.empty() && it.comparisons.empty()) << "nothing is compared";
  for (const Comparison& comparison : it.comparisons)
    EXPECT_EQ(difference(folder->file(comparison.file), kFolder + "data/" + comparison.file,
                         comparison.is_exact),
              "")
        << comparison.file;
}

std::vector<std::size_t> case_numbers() {
  std::vector<std::size_t> numbers(all_cases().size());
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i;
  return numbers;
}

INSTANTIATE_TEST_SUITE_P(Corpus, ForeignPtx, testing::ValuesIn(case_numbers()),
                         [](const auto& each) { return all_cases()[each.param].name; });

// Sixty kernels, counted once whatever they were compiled for.
TEST(ForeignCorpus, HasSixtyKernels) {
  std::set<std::string> kernels;
  for (const Case& it : all_cases())
    kernels.insert(it.request.kernel.empty() ? it.name.substr(0, it.name.rfind('_'))
                                             : it.request.kernel);
  EXPECT_GE(kernels.size(), 60U);
}

// Negative control: wrong results are noticed.
TEST(ForeignCorpus, WrongReferencesAreNoticed) {
  const std::string data = kFolder + "data/";
  EXPECT_EQ(difference(data + "ints.npy", data + "ints.npy", true), "");
  EXPECT_NE(difference(data + "ints.npy", data + "ints_sorted.npy", true), "");
  EXPECT_NE(difference(data + "scan_a.npy", data + "scan_b.npy", false), "");
  Case wrong = all_cases().front();
  wrong.request.expects = {"$2 == $0"};
  EXPECT_FALSE(driver::run_sim(wrong.request).report->good());
}

}  // namespace
}  // namespace ww::corpus::foreign_test
