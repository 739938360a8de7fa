// SPDX-License-Identifier: Apache-2.0
// Files that a source imports from its folder, and mistakes in them.
#include "driver/build.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace ww::driver::imported_files_test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class ImportedFiles : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / fmt::format("ww_imports_{}_{}", test->name(), getpid());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  Build build(const std::string& path, const std::string& kernel = "") {
    return build_file({.path = path, .kernel = kernel}, Phase::Ptx);
  }
  std::vector<std::string> modules(const std::string& path, const std::string& text) {
    const auto files = imported_files(path, text).value();
    std::vector<std::string> out;
    for (const ImportedFile& file : files) out.push_back(file.module);
    return out;
  }

  fs::path folder_;
};

constexpr const char* kBuilder = R"(from tvm.script import tirx as T
from sizes import ROWS

def build(n=ROWS):
    @T.prim_func
    def scale(X: T.Buffer((n,), "int32"), Y: T.Buffer((n,), "int32")):
        T.device_entry()
        t = T.thread_id([n])
        Y[t] = X[t] * 2
    return scale
)";

TEST_F(ImportedFiles, ComeBeforeTheFilesThatImportThem) {
  write("sizes.py", "ROWS = 64\n");
  write("scaling.py", kBuilder);
  const std::string main =
      "import math\nimport numpy\nfrom scaling import build\nimport sizes\n"
      "from tvm import DataType\nkernel = build(sizes.ROWS * 2)\n";
  const std::string path = write("main.py", main);
  EXPECT_THAT(modules(path, main), ElementsAre("sizes", "scaling"));
  const Build built = build(path);
  EXPECT_TRUE(built.good()) << built.errors;
  EXPECT_THAT(built.ptx, HasSubstr(".reqntid 128"));
  EXPECT_TRUE(build(path, "build(n=32)").good());
}

TEST_F(ImportedFiles, MayImportEachOther) {
  write("other.py", "import main\nimport other\nROWS = 32\n");
  write("sizes.py", "from other import ROWS\n");
  const std::string path = write("main.py", kBuilder);
  EXPECT_THAT(modules(path, kBuilder), ElementsAre("other", "sizes"));
  const Build built = build(path);
  EXPECT_TRUE(built.good()) << built.errors;
}

TEST_F(ImportedFiles, MistakesHaveTheirPlace) {
  const std::string path = write("main.py", kBuilder);
  EXPECT_THAT(build(path).errors, HasSubstr("module `sizes` is not modelled"));
  const std::string sizes = write("sizes.py", "ROWS = (\n");
  EXPECT_THAT(build(path).errors, HasSubstr(sizes + ":1:"));
  write("sizes.py", "COLUMNS = 1\n");
  EXPECT_THAT(build(path).errors, HasSubstr("ROWS"));
  EXPECT_THAT(build(path).errors, HasSubstr(path + ":2:"));
}

TEST_F(ImportedFiles, AreCounted) {
  std::string main;
  for (std::size_t i = 0; i <= kMaxImportedFiles; ++i) {
    write(fmt::format("m{}.py", i), "X = 1\n");
    main += fmt::format("import m{}\n", i);
  }
  const auto files = imported_files((folder_ / "main.py").string(), main);
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().text, "`main` imports more than 64 files of its folder");
}

// Examples find each other without a folder.
TEST_F(ImportedFiles, ComeWithTheProgram) {
  EXPECT_THAT(modules("examples/matmul.py", "from gemm_hopper import build\n"),
              ElementsAre("gemm_hopper"));
  EXPECT_THAT(modules((folder_ / "x.py").string(), "from gemm_hopper import build\n"),
              ElementsAre());
}

}  // namespace
}  // namespace ww::driver::imported_files_test
