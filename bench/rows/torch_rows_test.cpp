// SPDX-License-Identifier: Apache-2.0
#include "torch_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/file_io.h"
#include "base/process.h"

namespace ww::bench::rows::torch_rows_test {
namespace {

using testing::StartsWith;

TEST(TorchRows, QuestionsHaveTheSizes) {
  EXPECT_EQ(torch_question({.job = Job::Softmax, .m = 65536, .n = 4096}),
            "prepare softmax bfloat16 65536 4096");
  EXPECT_EQ(torch_question({.job = Job::Rope, .m = 65536, .n = 4096, .dim = 128}),
            "prepare rope bfloat16 65536 32 128");
  EXPECT_EQ(
      torch_question(
          {.job = Job::Attention, .m = 8192, .n = 2048, .dim = 128, .batch = 2, .causal = true}),
      "prepare flash_attention bfloat16 2 8192 16 128 1");
}

class TorchChild : public testing::Test {
 protected:
  Result<TorchRows> start(const std::string& script) {
    const std::string path = folder_->file("script.sh");
    EXPECT_TRUE(write_file_atomically(path, script));
    return TorchRows::start("/bin/sh", path);
  }
  Result<ScratchFolder> folder_ = ScratchFolder::make();
};

TEST_F(TorchChild, IsAskedLineByLine) {
  Result<TorchRows> torch = start(
      "while read command rest; do case $command in hello) echo ok torch 9;;"
      " prepare) echo ok;; ready) echo ok the $rest;; run) echo ok 2.5; [ \"$rest\" = 'torch 80' ]"
      " || exit 1;; esac; done\n");
  ASSERT_TRUE(torch) << torch.error().text;
  EXPECT_EQ(torch->versions(), "torch 9");
  EXPECT_TRUE(torch->prepare({.job = Job::Softmax, .m = 16, .n = 32}));
  EXPECT_EQ(*torch->ready("triton"), "the triton");
  EXPECT_DOUBLE_EQ(*torch->time("torch", 80), 0.0025);
  EXPECT_DOUBLE_EQ(*torch->time("torch", 80), 0.0025);
}

TEST_F(TorchChild, SaysWhyItIsNotThere) {
  EXPECT_EQ(start("read line; echo 'no ModuleNotFoundError: torch'\n").error().text,
            "ModuleNotFoundError: torch");
  Result<TorchRows> torch = start("read line; echo ok; while read line; do echo no memory; done\n");
  ASSERT_TRUE(torch);
  EXPECT_EQ(torch->prepare({}).error().text, "memory");
  EXPECT_EQ(torch->ready("torch").error().text, "memory");
  EXPECT_EQ(torch->time("torch", 1).error().text, "memory");
}

class TorchRowsScript : public testing::Test {
 protected:
  static std::string found(const char* program) {
    const char* const path = std::getenv("PATH");
    return find_program(program, path == nullptr ? "" : path);
  }
  void SetUp() override {
    if (found("python3").empty()) GTEST_SKIP() << "there is no python3";
  }
  const std::string script_ = std::string(WW_SOURCE_DIR) + "/bench/rows/torch_rows.py";
};

// The script itself, where its libraries are missing; with them it needs a GPU.
TEST_F(TorchRowsScript, AnswersInEveryCase) {
  Result<Child> child = Child::start({found("python3"), script_});
  ASSERT_TRUE(child);
  const Result<std::string> answer = child->ask("hello", 600);
  ASSERT_TRUE(answer) << answer.error().text;
  EXPECT_THAT(*answer, testing::AnyOf(StartsWith("ok torch "), StartsWith("no ")));
}

// A torch that talks, and fails in whatever it is asked to do.
constexpr std::string_view kBrokenTorch = R"py(
import types
print("hello from torch")
__version__ = "0"
cuda = types.SimpleNamespace(empty_cache=lambda: print("more of it"))
def zeros(*sizes, device):
    return None
def manual_seed(seed):
    raise RuntimeError("two\nlines")
)py";

TEST_F(TorchRowsScript, OutlivesWhatTorchDoes) {
  const Result<ScratchFolder> folder = ScratchFolder::make();
  const std::string torch = folder->file("torch");
  ASSERT_TRUE(std::filesystem::create_directories(torch + "/nn"));
  ASSERT_TRUE(write_file_atomically(torch + "/__init__.py", std::string(kBrokenTorch)));
  ASSERT_TRUE(write_file_atomically(torch + "/nn/__init__.py", ""));
  ASSERT_TRUE(write_file_atomically(torch + "/nn/functional.py", ""));
  Result<Child> child = Child::start({found("env"), "PYTHONDONTWRITEBYTECODE=1",
                                      "PYTHONPATH=" + folder->path(), found("python3"), script_});
  ASSERT_TRUE(child);
  const auto answer = [&](std::string_view question) { return child->ask(question, 600).value(); };
  EXPECT_THAT(answer("hello"), StartsWith("ok torch 0, "));
  EXPECT_EQ(answer("prepare softmax bfloat16 16 1024"), "no RuntimeError: two lines");
  EXPECT_EQ(answer("prepare nothing"), "no RuntimeError: two lines");
  EXPECT_EQ(answer("ready torch"), "no RuntimeError: nothing is prepared");
  EXPECT_EQ(answer("run torch 5"), "no RuntimeError: nothing is prepared");
  EXPECT_EQ(answer("dance"), "no ValueError: unknown command dance");
  EXPECT_THAT(answer(""), StartsWith("no ValueError"));
}

}  // namespace
}  // namespace ww::bench::rows::torch_rows_test
