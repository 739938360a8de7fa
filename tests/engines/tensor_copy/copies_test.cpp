// SPDX-License-Identifier: Apache-2.0
// Tensor copies of the virtual GPU against their definition (oracle.h), on random maps, and against
// what an H200 made of the same cases (h200.txt, written by record.cu). WW_RANDOM_COUNT makes more
// cases; WW_TENSOR_RECORD names a folder with whole records of a GPU (scripts/device_tensor.sh).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "engines/tensor_copy/cases.h"
#include "engines/tensor_copy/oracle.h"
#include "engines/tensor_copy/virtual_run.h"

namespace ww::tensor_cases {
namespace {

constexpr std::uint32_t kMaxFailures = 5;  // shown

std::uint32_t case_count(std::uint32_t usual) {
  const char* wanted = std::getenv("WW_RANDOM_COUNT");
  return wanted != nullptr ? static_cast<std::uint32_t>(std::stoul(wanted)) : usual;
}

std::size_t first_difference(const std::vector<std::uint32_t>& a,
                             const std::vector<std::uint32_t>& b) {
  std::size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) ++i;
  return i;
}

std::string difference(std::string_view memory, const std::vector<std::uint32_t>& wanted,
                       const std::vector<std::uint32_t>& found) {
  if (wanted == found) return "";
  const std::size_t i = first_difference(wanted, found);
  if (i >= wanted.size() || i >= found.size()) return "sizes differ";
  return fmt::format("{}: word {} is {:08x}, expected {:08x}", memory, i, found[i], wanted[i]);
}

// What is wrong with a case; empty: nothing.
std::string check_case(const Case& c) {
  Memories wanted{shared_before(c), slot_before(c)};
  copy_by_definition(c, wanted);
  const VirtualRun run = run_case(c);
  if (!run.problem.empty()) return run.problem;
  return difference("shared", wanted.shared, run.shared) +
         difference("tensor", wanted.slot, run.slot);
}

void check_kind(Kind kind, std::uint32_t count) {
  std::uint32_t failures = 0;
  for (std::uint32_t i = 0; i < case_count(count) && failures < kMaxFailures; ++i) {
    const Case c = make_case(kind, i);
    const std::string wrong = check_case(c);
    if (wrong.empty()) continue;
    ++failures;
    ADD_FAILURE() << "case " << i << ": " << describe(c) << "\n" << wrong;
  }
}

TEST(TensorCopies, LoadsEqualTheirDefinition) { check_kind(kLoad, 150); }
TEST(TensorCopies, StoresEqualTheirDefinition) { check_kind(kStore, 100); }
TEST(TensorCopies, ColumnsEqualTheirDefinition) {
  check_kind(kIm2colLoad, 100);
  check_kind(kIm2colStore, 60);
}
TEST(TensorCopies, SlicesEqualTheirDefinition) {
  check_kind(kInterleaved, 60);
  check_kind(kInterleavedStore, 40);
}

// --- against a GPU -------------------------------------------------------------------------------

// The harness must see a byte in the wrong place.
TEST(TensorCopies, ADifferenceIsSeen) {
  const Case c = make_case(kStore, 1);
  Memories wanted{shared_before(c), slot_before(c)};
  copy_by_definition(c, wanted);
  VirtualRun run = run_case(c);
  EXPECT_EQ(difference("tensor", wanted.slot, run.slot), "");
  run.slot[5] ^= 1U;
  EXPECT_NE(difference("tensor", wanted.slot, run.slot), "");
}

const std::string kKept = WW_SOURCE_DIR "/tests/engines/tensor_copy/h200.txt";

// The first cases of each kind, one to a line: `load 12 0123456789abcdef`.
TEST(TensorCopies, EqualWhatAnH200Did) {
  std::ifstream file(kKept);
  std::string kind, digest;
  std::uint32_t number = 0, compared = 0;
  while (file >> kind >> number >> digest) {
    std::uint32_t code = 0;
    while (code < kKinds && kind != kKindNames[code]) ++code;
    ASSERT_LT(code, kKinds) << kind;
    const Case c = make_case(code, number);
    const VirtualRun run = run_case(c);
    EXPECT_EQ(run.problem, "") << describe(c);
    EXPECT_EQ(fmt::format("{:016x}", digest_of_run(c, run)), digest) << describe(c);
    ++compared;
  }
  EXPECT_GE(compared, 100 * kKinds);
}

// Reads a record of one kind and compares all of it; gives the cases and how many differ.
std::pair<std::uint32_t, std::uint32_t> compare_record(std::istream& file, std::uint32_t kind,
                                                       std::ostream* kept) {
  constexpr std::uint32_t kKeptCases = 250;
  Outcome outcome{};
  std::uint32_t compared = 0, failures = 0;
  for (; file.read(reinterpret_cast<char*>(&outcome), sizeof outcome); ++compared) {
    if (compared >= case_count(~0U)) break;
    const Case c = make_case(kind, compared);
    const VirtualRun run = run_case(c);
    const bool is_same = run.problem.empty() && digest_of_run(c, run) == outcome.digest &&
                         outcome.bytes == static_cast<std::int32_t>(c.box_bytes);
    if (kept != nullptr && compared < kKeptCases)
      *kept << fmt::format("{} {} {:016x}\n", kKindNames[kind], compared, outcome.digest);
    if (is_same || failures++ >= kMaxFailures) continue;
    ADD_FAILURE() << "case " << compared << ": " << describe(c) << "\n"
                  << run.problem << " bytes " << outcome.bytes << " of " << c.box_bytes;
  }
  return {compared, failures};
}

TEST(TensorCopies, EqualAWholeRecordOfAGpu) {
  const char* folder = std::getenv("WW_TENSOR_RECORD");
  if (folder == nullptr)
    GTEST_SKIP() << "needs WW_TENSOR_RECORD, a folder of scripts/device_tensor.sh";
  std::ofstream kept;
  if (std::getenv("BLESS") != nullptr) kept.open(kKept);
  for (std::uint32_t kind = 0; kind < kKinds; ++kind) {
    std::ifstream file(fmt::format("{}/{}.bin", folder, kKindNames[kind]), std::ios::binary);
    if (!file) continue;
    const auto [compared, failures] = compare_record(file, kind, kept.is_open() ? &kept : nullptr);
    fmt::print("{}: {} cases compared, {} differ\n", kKindNames[kind], compared, failures);
  }
}

// --- the encoder ---------------------------------------------------------------------------------

// What the driver refuses, we refuse; where we refuse more, it is on purpose.
TEST(TensorCopies, LimitsEqualARecordOfTheEncoder) {
  const char* folder = std::getenv("WW_TENSOR_RECORD");
  if (folder == nullptr)
    GTEST_SKIP() << "needs WW_TENSOR_RECORD, a folder of scripts/device_tensor.sh";
  std::ifstream file(fmt::format("{}/encode.bin", folder), std::ios::binary);
  std::int32_t verdict = 0;
  std::uint32_t number = 0, stricter = 0, failures = 0;
  for (; file.read(reinterpret_cast<char*>(&verdict), sizeof verdict); ++number) {
    const Case c = perturb(number);
    const bool is_newer = c.type >= kTypes || c.swizzle > 3;  // of sm_100, or nothing
    const bool is_odd = is_im2col(c) && c.interleave != 0;    // not modelled
    const bool is_no_value = c.interleave > 2 || c.promotion > 3 || c.fill > 1;
    if (is_newer || is_odd || is_no_value) continue;
    const auto checked = sim::check_tensor_map(map_of(c, 1U << 20U));
    stricter += !checked && verdict == 0 ? 1U : 0U;
    if (!checked || verdict == 0 || failures++ >= kMaxFailures) continue;
    ADD_FAILURE() << "the driver refuses case " << number << ": " << describe(c);
  }
  fmt::print("encoder: {} cases, {} that we alone refuse, {} that the driver alone refuses\n",
             number, stricter, failures);
}

}  // namespace
}  // namespace ww::tensor_cases
