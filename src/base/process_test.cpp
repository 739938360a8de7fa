// SPDX-License-Identifier: Apache-2.0
#include "base/process.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "base/cancel.h"
#include "base/file_io.h"
#include "base/source.h"

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

TEST(Process, SaysWhereItLookedForAPart) {
  const auto missing =
      find_part({.what = "the part", .file = "no-such.so", .target = "no-such-target"});
  ASSERT_FALSE(missing);
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  EXPECT_EQ(render(missing.error()),
            fmt::format("error: the part `no-such.so` is not here [Io]\n"
                        "  note: looked for `{}/no-such.so`\n"
                        "  note: looked for `{}/libexec/warpwright/no-such.so`\n"
                        "  note: build the target `no-such-target`, or install the whole of "
                        "Warpwright\n",
                        here.string(), here.parent_path().string()));
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

// Two programs that would not end: one says who it is first, one closes its output.
TEST(Process, AProgramOfCancelledWorkIsKilled) {
  const ScratchFolder folder = ScratchFolder::make().value();
  for (const char* last : {"exec sleep 1000", "exec sleep 1000 >&- 2>&-"}) {
    const std::string file = folder.file("id");
    std::atomic<bool> stop = false;
    std::atomic<bool> was_cancelled = false;
    std::thread worker([&] {
      const CancelScope scope(stop);
      try {
        (void)run_program(
            {shell(), "-c", fmt::format("echo $$ > {0}.new; mv {0}.new {0}; {1}", file, last)});
      } catch (const Cancelled&) {
        was_cancelled = true;
      }
    });
    while (!fs::exists(file)) std::this_thread::yield();
    const int child = std::stoi(read_file(file, 100).value());
    EXPECT_EQ(::kill(child, 0), 0);
    stop = true;
    worker.join();
    EXPECT_TRUE(was_cancelled) << last;
    EXPECT_EQ(::kill(child, 0), -1) << last;  // reaped
    fs::remove(file);
  }
}

TEST(Process, WorkThatCanBeCancelledAndIsNotRunsToItsEnd) {
  const std::atomic<bool> never = false;
  const CancelScope scope(never);
  EXPECT_EQ(run_program({shell(), "-c", "echo done"})->output, "done\n");
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
