// SPDX-License-Identifier: Apache-2.0
// The examples and the new programs as a stranger meets them: in an empty folder, without the
// project's files beside them.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tools/cli/program.h"

namespace ww::cli_test::examples_test {
namespace {

namespace fs = std::filesystem;

std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

nlohmann::json listed() {
  return nlohmann::json::parse(run({"examples", "--json"}).out)["examples"];
}

// Every program of examples/ is in its index, but those of lowering.md and tensor_memory.md.
TEST(Examples, AllAreThereByteForByte) {
  std::set<std::string> files;
  const fs::path root(WW_SOURCE_DIR);
  for (const auto& entry : fs::recursive_directory_iterator(root / "examples"))
    if (entry.path().extension() == ".py" && entry.path().parent_path().filename() != "refused")
      files.insert(fs::relative(entry.path(), root).string());
  const nlohmann::json examples = listed();
  std::set<std::string> paths;
  for (const nlohmann::json& each : examples) paths.insert(each["path"].get<std::string>());
  EXPECT_EQ(paths, files);
  EXPECT_EQ(examples.size(), files.size());
  for (const nlohmann::json& each : examples) {
    const std::string path = each["path"];
    EXPECT_EQ(run({"examples", "show", each["name"]}).out,
              read_text(fs::path(WW_SOURCE_DIR) / path));
    EXPECT_FALSE(each["summary"].get<std::string>().empty()) << path;
    EXPECT_FALSE(each["commands"].empty()) << path << " says no command to run it";
  }
}

// Programs with a mistake, by their folder: what `run` exits with.
int status_of(const nlohmann::json& example) {
  const std::string name = example["name"];
  return name.starts_with("errors/") ? 2 : name.starts_with("findings/") ? 1 : 0;
}

// The first command that each example names does what it says, with all checks, without a GPU.
TEST(Examples, RunFromAnEmptyFolder) {
  const Folder folder;
  for (const nlohmann::json& each : listed()) {
    std::vector<std::string> words = words_of(each["commands"][0]);
    words.erase(words.begin());  // warpwright
    if (std::find(words.begin(), words.end(), "--device") == words.end()) {
      words.emplace_back("--device");
      words.emplace_back("sim");
    }
    const Ran ran = run(words, {.folder = folder.path()});
    EXPECT_EQ(ran.status, status_of(each)) << each["name"] << "\n" << ran.out << ran.err;
  }
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(Examples, AreWrittenWhereAsked) {
  const Folder folder;
  const Setting here{.folder = folder.path()};
  const fs::path root = folder.path();
  EXPECT_EQ(run({"examples", "write", "transpose"}, here).out, "transpose.py written\n");
  fs::create_directory(root / "mine");
  EXPECT_EQ(run({"examples", "write", "basics/reg", "mine"}, here).out, "mine/reg.py written\n");
  EXPECT_EQ(run({"examples", "write", "basics/reg", "mine/other.py"}, here).status, 0);
  EXPECT_EQ(read_text(root / "mine/other.py"), run({"examples", "show", "basics/reg"}).out);
  const Ran again = run({"examples", "write", "pools", "transpose.py"}, here);
  EXPECT_EQ(again.status, 2);
  EXPECT_NE(again.err.find("`transpose.py` is there already"), std::string::npos) << again.err;
  EXPECT_EQ(read_text(root / "transpose.py"), run({"examples", "show", "transpose"}).out);
  EXPECT_EQ(run({"examples", "write", "pools", "transpose.py", "--force"}, here).status, 0);
  EXPECT_EQ(read_text(root / "transpose.py"), run({"examples", "show", "pools"}).out);
}

// What an example imports comes with it.
TEST(Examples, AreWrittenWithTheirImports) {
  const Folder folder;
  const Setting here{.folder = folder.path()};
  EXPECT_EQ(run({"examples", "write", "matmul"}, here).out,
            "matmul.py written\ngemm_hopper.py written, which it imports\n"
            "gemm_splitk.py written, which it imports\n");
  const Ran ran = run({"compile", "matmul.py", "--emit", "launch"}, here);
  EXPECT_EQ(ran.status, 0) << ran.err;
}

// The two commands that `new` prints work as they are.
TEST(New, PrintsCommandsThatWork) {
  for (const std::string kind : {"copy", "transpose", "gemm", "tensor"}) {
    const Folder folder;
    fs::create_directory(fs::path(folder.path()) / "my kernels");
    const Setting here{.folder = folder.path()};
    const Ran made = run({"new", "my kernels/first_one", "--kind", kind}, here);
    ASSERT_EQ(made.status, 0) << made.err;
    std::istringstream lines(made.out);
    int commands = 0;
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("  warpwright ")) continue;
      std::vector<std::string> words = words_of(line.substr(2));
      words.erase(words.begin());
      if (words[0] == "run") words.insert(words.end(), {"--device", "sim"});
      const Ran ran = run(words, here);
      EXPECT_EQ(ran.status, 0) << line << "\n" << ran.out << ran.err;
      ++commands;
    }
    EXPECT_EQ(commands, 2) << made.out;
  }
}

TEST(New, LeavesOthersFilesAlone) {
  const Folder folder;
  const Setting here{.folder = folder.path()};
  const fs::path path = fs::path(folder.path()) / "mine.py";
  std::ofstream(path) << "precious\n";
  const Ran ran = run({"new", "mine"}, here);
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(read_text(path), "precious\n");
  // A link that leads nowhere is somebody's, too.
  fs::create_symlink("nowhere", fs::path(folder.path()) / "link.py");
  EXPECT_EQ(run({"new", "link"}, here).status, 2);
  EXPECT_EQ(run({"new", "mine", "--force"}, here).status, 0);
  EXPECT_NE(read_text(path), "precious\n");
}

// Nobody makes files there, not even root.
TEST(New, SaysWhenAFolderIsNotWritable) {
  if (!fs::is_directory("/proc/self")) GTEST_SKIP() << "there is no /proc";
  const Ran ran = run({"new", "/proc/self/first"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_NE(ran.err.find("error: cannot write `/proc/self/first.py`: "), std::string::npos)
      << ran.err;
}

}  // namespace
}  // namespace ww::cli_test::examples_test
