// SPDX-License-Identifier: Apache-2.0
// Runs on the GPU with programs that stand in for this one.
#include "explore/run_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/cancel.h"
#include "base/process.h"

namespace ww::explore::gpu_run_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ExploreGpuRun : public testing::Test {
 protected:
  /// A program with that body.
  std::string script(const std::string& body) const {
    const std::string path = folder_.file("program");
    std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }
  static RunWish wish(const std::string& file) {
    return {
        .program = {.file = file, .source = "the source", .kernel = "build(2)", .target = "auto"},
        .arguments = {.args = {"A=arange"}, .expects = {"B == A"}},
        .on_gpu = true};
  }
  ScratchFolder folder_ = ScratchFolder::make().value();
};

TEST_F(ExploreGpuRun, HandsOnTheSourceAndTheOptions) {
  const Json out =
      gpu_result(script("pwd; echo \"$@\"; cat transpose.py"), wish("a/transpose.py"), 20);
  EXPECT_TRUE(out["report"].is_null());
  const auto said = out["errors"].get<std::string>();
  EXPECT_THAT(
      said,
      HasSubstr("run transpose.py --device=cuda --kernel=build(2) --target=auto --arg=A=arange "
                "--expect=B == A --time --launches=20 --json --color=never\nthe source"));
  EXPECT_FALSE(fs::exists(said.substr(0, said.find('\n'))));  // its folder
}

TEST_F(ExploreGpuRun, NamesOfFilesStayInTheFolder) {
  for (const char* name : {"../..", "/", "", "--out=A=x"}) {
    const Json out = gpu_result(script("echo $2"), wish(name), 20);
    EXPECT_EQ(out["errors"], "kernel.py\n") << name;
  }
  EXPECT_EQ(gpu_result(script("echo $2"), wish("/etc/passwd"), 20)["errors"], "passwd\n");
}

TEST_F(ExploreGpuRun, AReportIsTakenOver) {
  const Json out = gpu_result(
      script("echo '{\"outcome\": \"finished\", \"file\": \"x.py\", \"findings\": [{}]}'; exit 1"),
      wish("a/x.py"), 20);
  EXPECT_EQ(out["errors"], "");
  EXPECT_EQ(out["report"]["file"], "a/x.py");
  EXPECT_TRUE(out["report"]["findings"][0]["moment"].is_null());
}

TEST_F(ExploreGpuRun, WhatGoesWrongIsSaid) {
  EXPECT_EQ(gpu_result(script("echo 'error: no GPU' >&2; exit 2"), wish("x.py"), 20)["errors"],
            "error: no GPU\n");
  EXPECT_EQ(gpu_result(script("echo last words; kill -9 $$"), wish("x.py"), 20)["errors"],
            "error: the run on the GPU ended with signal 9\nlast words\n");
  EXPECT_EQ(gpu_result(folder_.file("none"), wish("x.py"), 20)["errors"],
            "error: cannot run `" + folder_.file("none") + "`: No such file or directory [Io]\n");
}

TEST_F(ExploreGpuRun, AKernelThatDoesNotEndIsKilled) {
  const std::string program = script("echo $$ > ${0}.new; mv ${0}.new ${0}.id; exec sleep 1000");
  std::atomic<bool> stop = false, was_cancelled = false;
  std::thread worker([&] {
    const CancelScope scope(stop);
    try {
      (void)gpu_result(program, wish("x.py"), 20);
    } catch (const Cancelled&) {
      was_cancelled = true;
    }
  });
  while (!fs::exists(program + ".id")) std::this_thread::yield();
  int child = 0;
  std::ifstream(program + ".id") >> child;
  stop = true;
  worker.join();
  EXPECT_TRUE(was_cancelled);
  EXPECT_EQ(::kill(child, 0), -1);
}

}  // namespace
}  // namespace ww::explore::gpu_run_test
