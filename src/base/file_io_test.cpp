// SPDX-License-Identifier: Apache-2.0
#include "base/file_io.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>
#include <iterator>
#include <thread>

namespace ww::file_io_test {
namespace {

namespace fs = std::filesystem;

// A folder of its own for each test, removed afterwards.
class FileIo : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "ww_file_io_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] fs::path file(std::string_view name) const { return folder_ / name; }
  [[nodiscard]] auto files_in_folder() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }
  static std::string contents(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  fs::path folder_;
};

TEST_F(FileIo, WritesAndReadsBackAnyBytes) {
  const std::string bytes("a\0b\r\n\xff", 6);
  ASSERT_TRUE(write_file_atomically(file("x"), bytes));
  EXPECT_EQ(*read_file(file("x"), 100), bytes);
  EXPECT_EQ(files_in_folder(), 1);
}

TEST_F(FileIo, ReplacesAnExistingFileAndKeepsItsMode) {
  ASSERT_TRUE(write_file_atomically(file("x"), "long old text"));
  fs::permissions(file("x"), fs::perms::owner_read | fs::perms::owner_write);
  ASSERT_TRUE(write_file_atomically(file("x"), "new"));
  EXPECT_EQ(contents(file("x")), "new");
  EXPECT_EQ(fs::status(file("x")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(FileIo, FollowsSymbolicLinks) {
  ASSERT_TRUE(write_file_atomically(file("x"), "old"));
  fs::create_symlink("x", file("link"));
  ASSERT_TRUE(write_file_atomically(file("link"), "new"));
  EXPECT_TRUE(fs::is_symlink(file("link")));
  EXPECT_EQ(contents(file("x")), "new");
}

TEST_F(FileIo, FollowsALinkToNothingYet) {
  fs::create_symlink("y", file("link"));
  ASSERT_TRUE(write_file_atomically(file("link"), "new"));
  EXPECT_TRUE(fs::is_symlink(file("link")));
  EXPECT_EQ(contents(file("y")), "new");
}

TEST_F(FileIo, ALinkThatLeadsToItselfIsRefused) {
  fs::create_symlink("b", file("a"));
  fs::create_symlink("a", file("b"));
  const auto written = write_file_atomically(file("a"), "new");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().text,
            "cannot write `" + file("a").string() + "`: Too many levels of symbolic links");
  EXPECT_FALSE(check_writable(file("a")));
  EXPECT_TRUE(fs::is_symlink(file("a")));
  EXPECT_TRUE(fs::is_symlink(file("b")));
  EXPECT_EQ(files_in_folder(), 2);
}

// Root may write everything; a read-only file is refused all the same.
TEST_F(FileIo, AReadOnlyFileStays) {
  ASSERT_TRUE(write_file_atomically(file("x"), "old"));
  fs::permissions(file("x"), fs::perms::owner_read | fs::perms::group_read);
  fs::create_symlink("x", file("link"));
  for (const char* name : {"x", "link"}) {
    const auto written = write_file_atomically(file(name), "new");
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().text,
              "cannot write `" + file(name).string() + "`: the file is read-only");
    EXPECT_EQ(check_writable(file(name)).error().text, written.error().text);
  }
  EXPECT_EQ(contents(file("x")), "old");
  EXPECT_EQ(files_in_folder(), 2);
}

TEST_F(FileIo, TheLongestNamesCanBeWritten) {
  const std::string name(255, 'n');
  ASSERT_TRUE(write_file_atomically(file(name), "text"));
  EXPECT_EQ(contents(file(name)), "text");
  EXPECT_TRUE(check_writable(file(name)));
  EXPECT_FALSE(write_file_atomically(file(name + "n"), "text"));
  EXPECT_EQ(files_in_folder(), 1);
}

TEST_F(FileIo, WritesToPipesAndOpenDescriptors) {
  ASSERT_EQ(::mkfifo(file("pipe").c_str(), 0600), 0);
  const int reader = ::open(file("pipe").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_TRUE(write_file_atomically(file("pipe"), "abc"));
  std::string seen(3, ' ');
  EXPECT_EQ(::read(reader, seen.data(), seen.size()), 3);
  EXPECT_EQ(seen, "abc");
  ::close(reader);
  EXPECT_TRUE(fs::is_fifo(file("pipe")));
  // What is there stays, and what follows goes behind.
  const int out = ::open(file("x").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  EXPECT_EQ(::write(out, "one ", 4), 4);
  const std::string path = "/dev/fd/" + std::to_string(out);
  EXPECT_TRUE(check_writable(path));
  ASSERT_TRUE(write_file_atomically(path, "two "));
  EXPECT_EQ(::write(out, "three", 5), 5);
  ::close(out);
  EXPECT_EQ(contents(file("x")), "one two three");
  EXPECT_FALSE(check_writable(path));
  EXPECT_FALSE(write_file_atomically(path, "four"));
}

TEST_F(FileIo, KnowsAFileUnderItsOtherNames) {
  ASSERT_TRUE(write_file_atomically(file("x"), "old"));
  ASSERT_TRUE(write_file_atomically(file("y"), "old"));
  fs::create_directory(file("folder"));
  fs::create_symlink("../x", file("folder/soft"));
  fs::create_symlink("folder/soft", file("softer"));
  fs::create_hard_link(file("x"), file("hard"));
  fs::create_directory_symlink("folder", file("door"));
  for (const char* name : {"x", "./x", "folder/../x", "softer", "hard", "door/soft"})
    EXPECT_TRUE(is_same_file(file("x"), file(name))) << name;
  EXPECT_FALSE(is_same_file(file("x"), file("y")));
  EXPECT_FALSE(is_same_file(file("x"), file("new")));
  // Nothing there yet.
  EXPECT_TRUE(is_same_file(file("new"), file("folder/../new")));
  EXPECT_TRUE(is_same_file(file("folder/new"), file("door/new")));
  EXPECT_FALSE(is_same_file(file("new"), file("door/new")));
  fs::create_symlink("new", file("ahead"));
  EXPECT_TRUE(is_same_file(file("new"), file("ahead")));
  // What is no file can be written any number of times.
  EXPECT_FALSE(is_same_file("/dev/null", "/dev/null"));
}

// A limit on the size of files stands for a full disk: both end a write halfway.
TEST_F(FileIo, AFileThatGrowsTooLargeLeavesTheOldOne) {
  ASSERT_TRUE(write_file_atomically(file("x"), "old"));
  const pid_t child = ::fork();
  if (child == 0) {
    (void)std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto written = write_file_atomically(file("x"), std::string(5000, 'n'));
    const bool says_why = !written && written.error().text.ends_with("`: File too large");
    ::_exit(says_why ? 0 : 1);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(contents(file("x")), "old");
  EXPECT_EQ(files_in_folder(), 1);
}

TEST_F(FileIo, WritesToDevicesInPlace) {
  ASSERT_TRUE(write_file_atomically("/dev/null", "text"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(FileIo, AFailedWriteLeavesTheOldFileAndNothingElse) {
  // /dev/full accepts no byte; a folder cannot be replaced by a file.
  EXPECT_FALSE(write_file_atomically("/dev/full", "text"));
  fs::create_directory(file("folder"));
  const auto written = write_file_atomically(file("folder"), "text");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, DiagKind::Io);
  EXPECT_NE(written.error().text.find("Is a directory"), std::string::npos) << written.error().text;
  EXPECT_EQ(files_in_folder(), 1);
}

TEST_F(FileIo, WritingIntoAFolderThatIsNotThereSaysSo) {
  const auto written = write_file_atomically(file("no/x"), "text");
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().text.find("no/x`: No such file"), std::string::npos)
      << written.error().text;
}

TEST_F(FileIo, TellsBeforeWhetherAFileCanBeWritten) {
  ASSERT_TRUE(write_file_atomically(file("x"), "old"));
  EXPECT_TRUE(check_writable(file("x")));
  EXPECT_TRUE(check_writable(file("y")));
  EXPECT_TRUE(check_writable("/dev/null"));
  EXPECT_EQ(contents(file("x")), "old");
  EXPECT_EQ(files_in_folder(), 1);
  for (const fs::path& path : {file("no/x"), file("x/y"), folder_}) {
    const auto checked = check_writable(path);
    ASSERT_FALSE(checked) << path;
    EXPECT_EQ(checked.error().text, write_file_atomically(path, "new").error().text);
  }
}

TEST_F(FileIo, ReadsUpToTheLimitAndNoFurther) {
  ASSERT_TRUE(write_file_atomically(file("x"), "12345"));
  EXPECT_EQ(*read_file(file("x"), 5), "12345");
  const auto text = read_file(file("x"), 4);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().kind, DiagKind::TooLarge);
  EXPECT_FALSE(read_file("/dev/zero", 1 << 20));
}

TEST_F(FileIo, ReadsFilesLargerThanOneBlock) {
  const std::string bytes(200'001, 'x');
  ASSERT_TRUE(write_file_atomically(file("x"), bytes));
  EXPECT_EQ(*read_file(file("x"), 1 << 20), bytes);
  EXPECT_EQ(*read_file(file("x"), bytes.size()), bytes);
}

// At once: neither call waits for the other end.
TEST_F(FileIo, WhatIsNoFileIsRefusedAndNotOpened) {
  ASSERT_EQ(::mkfifo(file("pipe").c_str(), 0600), 0);
  fs::create_symlink("pipe", file("link"));
  for (const char* name : {"pipe", "link"})
    EXPECT_EQ(read_file(file(name), 10).error().text,
              "cannot read `" + file(name).string() + "`: it is a named pipe, expected a file");
  EXPECT_EQ(read_file("/dev/null", 10).error().text,
            "cannot read `/dev/null`: it is a device, expected a file");
  EXPECT_EQ(
      write_file_atomically(file("pipe"), "x").error().text,
      "cannot write `" + file("pipe").string() + "`: it is a named pipe, and nothing reads it");
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  file("socket").string().copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  for (const auto& refused :
       {read_file(file("socket"), 10).error().text, check_writable(file("socket")).error().text})
    EXPECT_TRUE(refused.ends_with("socket`: it is a socket, expected a file")) << refused;
  ::close(socket);
}

// What the shell gives for `<(command)`, and a link to it as `/dev/stdin` is one.
TEST_F(FileIo, OpenPipesAreRead) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const std::string path = "/dev/fd/" + std::to_string(ends[0]);
  fs::create_symlink("/proc/self/fd/" + std::to_string(ends[0]), file("link"));
  std::thread writer([&] {
    for (const char* text : {"one ", "two "}) {
      std::this_thread::yield();
      EXPECT_EQ(::write(ends[1], text, 4), 4);
    }
    ::close(ends[1]);
  });
  EXPECT_EQ(*read_file(path, 10), "one two ");
  writer.join();
  EXPECT_EQ(*read_file(file("link"), 10), "");
  ::close(ends[0]);
}

TEST_F(FileIo, ReadingWhatIsNoFileFails) {
  EXPECT_EQ(read_file(file("x"), 10).error().kind, DiagKind::Io);
  EXPECT_EQ(read_file(folder_, 10).error().kind, DiagKind::Io);
}

}  // namespace
}  // namespace ww::file_io_test
