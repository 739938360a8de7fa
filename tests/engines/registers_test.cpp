// SPDX-License-Identifier: Apache-2.0
// Register arrays stay in registers: what ptxas says about the stack frame and spills of each
// kernel. An array that is indexed at run time cannot, and the report says so.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/file_io.h"
#include "driver/build.h"
#include "foreign/toolchain.h"

namespace ww::test::registers_test {
namespace {

namespace fs = std::filesystem;

/// The line of `ptxas -v` on memory: "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill
/// loads".
std::string memory_line(const std::string& ptxas, const std::string& ptx,
                        const std::string& target) {
  const corpus::TestFolder folder;
  std::ofstream(folder.path() / "k.ptx") << ptx;
  const corpus::Outcome outcome =
      corpus::run({ptxas, "-v", "-arch=" + target, "-o", "k.cubin", "k.ptx"}, folder.path());
  const std::size_t at = outcome.output.find(" bytes stack frame");
  if (outcome.status != 0 || at == std::string::npos) return outcome.output;
  const std::size_t begin = outcome.output.find_last_of('\n', at) + 1;
  const std::string line = outcome.output.substr(begin, outcome.output.find('\n', at) - begin);
  return line.substr(line.find_first_not_of(' '));
}

driver::Build built(const std::string& name, const std::string& text,
                    const std::string& kernel = {}) {
  return driver::build_kernel(SourceText(name, text), {.kernel = kernel, .target = "sm_90a"});
}

std::string text_of(const std::string& path) {
  return read_file((fs::path(WW_SOURCE_DIR) / path).string(), std::size_t{1} << 20U).value();
}

constexpr std::string_view kNone = "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads";

TEST(Registers, ArraysOfTheExamplesStayThere) {
  const std::string ptxas = corpus::find_tool("ptxas");
  if (ptxas.empty()) GTEST_SKIP() << "ptxas is not installed";
  const std::pair<const char*, const char*> kernels[] = {
      {"examples/basics/ldstmatrix.py", ""},
      {"examples/basics/ldstmatrix_new.py", ""},
      {"examples/basics/reg.py", ""},
      {"examples/basics/reg_new.py", ""},
      {"examples/transpose.py", ""},
      {"examples/copy_through.py", ""},
      {"examples/copy_through.py", "build(rounds=16, threads=128)"}};
  for (const auto& [path, kernel] : kernels) {
    const driver::Build build = built(path, text_of(path), kernel);
    ASSERT_TRUE(build.good()) << path << "\n" << build.errors;
    EXPECT_TRUE(build.report.spilled.empty()) << path;
    EXPECT_EQ(memory_line(ptxas, build.ptx, "sm_90a"), kNone) << path;
  }
}

// A plain loop over registers is unrolled; an index known at run time only is not possible there.
TEST(Registers, RuntimeIndicesGoToLocalMemory) {
  const auto program = [](const std::string& index) {
    return "@T.prim_func\n"
           "def k(A_ptr: T.handle, B_ptr: T.handle, n: T.int32):\n"
           "    A = T.match_buffer(A_ptr, (32, 8), \"float32\")\n"
           "    B = T.match_buffer(B_ptr, (32, 8), \"float32\")\n"
           "    T.device_entry(); T.cta_id([1]); tid = T.thread_id([32])\n"
           "    r = T.alloc_buffer((8,), \"float32\", scope=\"local\")\n"
           "    Tx.copy(r[0:8], A[tid, 0:8])\n"
           "    for i in range(8):\n"
           "        B[tid, i] = r[" +
           index + "]\n";
  };
  const driver::Build plain = built("plain.py", program("7 - i"));
  ASSERT_TRUE(plain.good()) << plain.errors;
  EXPECT_TRUE(plain.report.spilled.empty());
  EXPECT_EQ(plain.ptx.find(".local"), std::string::npos);
  const driver::Build runtime = built("runtime.py", program("(i + n) % 8"));
  ASSERT_TRUE(runtime.good()) << runtime.errors;
  ASSERT_EQ(runtime.report.spilled.size(), 1U);
  EXPECT_EQ(runtime.report.spilled[0].buffer, "r");
  EXPECT_NE(runtime.ptx.find(".local"), std::string::npos);
}

}  // namespace
}  // namespace ww::test::registers_test
