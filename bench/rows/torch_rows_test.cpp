// SPDX-License-Identifier: Apache-2.0
#include "torch_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file_io.h"
#include "base/process.h"

namespace ww::bench::rows::torch_rows_test {
namespace {

using testing::HasSubstr;
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

// The script itself, where its libraries are missing; with them it needs a GPU.
TEST(TorchRowsScript, AnswersInEveryCase) {
  const char* const path = std::getenv("PATH");
  const std::string python = find_program("python3", path == nullptr ? "" : path);
  if (python.empty()) GTEST_SKIP() << "there is no python3";
  Result<Child> child =
      Child::start({python, std::string(WW_SOURCE_DIR) + "/bench/rows/torch_rows.py"});
  ASSERT_TRUE(child);
  const Result<std::string> answer = child->ask("hello", 600);
  ASSERT_TRUE(answer) << answer.error().text;
  EXPECT_THAT(*answer, testing::AnyOf(StartsWith("ok torch "), StartsWith("no ")));
}

}  // namespace
}  // namespace ww::bench::rows::torch_rows_test
