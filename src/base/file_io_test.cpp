// SPDX-License-Identifier: Apache-2.0
#include "base/file_io.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

namespace ww {
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

TEST_F(FileIo, ReadingWhatIsNoFileFails) {
  EXPECT_EQ(read_file(file("x"), 10).error().kind, DiagKind::Io);
  EXPECT_EQ(read_file(folder_, 10).error().kind, DiagKind::Io);
}

}  // namespace
}  // namespace ww
