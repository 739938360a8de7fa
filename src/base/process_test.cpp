// SPDX-License-Identifier: Apache-2.0
#include "base/process.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file_io.h"

namespace ww::process_test {
namespace {

namespace fs = std::filesystem;

std::string shell() { return find_program("sh", "/nowhere::/bin:/usr/bin"); }

TEST(Process, FindsPrograms) {
  EXPECT_TRUE(is_program(shell()));
  EXPECT_FALSE(is_program("/"));
  EXPECT_EQ(find_program("sh", ""), "");
  EXPECT_EQ(find_program("no-such-program", "/bin:/usr/bin"), "");
}

TEST(Process, SaysHowItEnded) {
  const Finished good = run_program({shell(), "-c", "echo out; echo err >&2; cat"}).value();
  EXPECT_TRUE(good.good());
  EXPECT_EQ(good.output, "out\nerr\n");
  const Finished bad = run_program({shell(), "-c", "exit 3"}).value();
  EXPECT_EQ(bad.status, 3);
  EXPECT_FALSE(bad.good());
  const Finished killed = run_program({shell(), "-c", "kill -9 $$"}).value();
  EXPECT_EQ(killed.signal, 9);
  EXPECT_FALSE(killed.good());
}

TEST(Process, RunsInAFolder) {
  const ScratchFolder folder = ScratchFolder::make().value();
  EXPECT_EQ(run_program({shell(), "-c", "pwd -P"}, folder.path())->output,
            fs::canonical(folder.path()).string() + "\n");
}

TEST(Process, WhatCannotBeStartedIsAnError) {
  const auto missing = run_program({"/nowhere/program"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().text, "cannot run `/nowhere/program`: No such file or directory");
}

TEST(Process, ScratchFoldersGoAway) {
  std::string path;
  {
    const ScratchFolder folder = ScratchFolder::make().value();
    path = folder.path();
    ASSERT_TRUE(write_file_atomically(folder.file("a"), "text"));
    EXPECT_TRUE(fs::exists(path + "/a"));
  }
  EXPECT_FALSE(fs::exists(path));
}

}  // namespace
}  // namespace ww::process_test
