// SPDX-License-Identifier: Apache-2.0
// `warpwright lsp` with real clients: one of our own in Python, and Neovim and Emacs where they are
// installed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tools/cli/program.h"

namespace ww::cli_test::clients_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const fs::path kHere = fs::path(WW_SOURCE_DIR) / "tests" / "tools" / "lsp";

class PythonClient : public testing::TestWithParam<const char*> {};

TEST_P(PythonClient, Session) {
  const Ran ran =
      run_words({"python3", "-B", (kHere / "session.py").string(), WW_PROGRAM, GetParam()});
  EXPECT_EQ(ran.status, 0) << ran.err;
  if (!ran.out.empty()) std::printf("%s", ran.out.c_str());
}

INSTANTIATE_TEST_SUITE_P(All, PythonClient,
                         testing::Values("editing", "typing", "hostile", "leaving", "agreement",
                                         "memory", "latency"),
                         [](const auto& each) { return std::string(each.param); });

// With the types of lsprotocol, which the environment of the Python tests has.
TEST(TypedClient, Session) {
  const fs::path own = fs::path(WW_SOURCE_DIR) / "build" / "venv" / "bin" / "python";
  const std::string python = fs::exists(own) ? own.string() : "python3";
  const Ran ran = run_words({python, "-B", (kHere / "session.py").string(), WW_PROGRAM, "types"});
  if (ran.status == 77) GTEST_SKIP() << "Python has no lsprotocol: pip install lsprotocol";
  EXPECT_EQ(ran.status, 0) << ran.err;
  std::printf("%s", ran.out.c_str());
}

TEST(Neovim, Session) {
  if (!is_installed("nvim")) GTEST_SKIP() << "needs Neovim 0.7 or newer: apt-get install neovim";
  const Folder folder;
  const std::string file = (fs::path(folder.path()) / "kernel.py").string();
  fs::copy_file(kHere / "kernel.py", file);
  const Ran ran = run_words(
      {"nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n", file, "-c",
       "luafile " + (kHere / "neovim.lua").string()},
      {.environment = {std::string("PROGRAM=") + WW_PROGRAM, "HOME=" + folder.path(),
                       "XDG_STATE_HOME=" + folder.path(), "XDG_CACHE_HOME=" + folder.path()}});
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out,
              HasSubstr("diagnostic 17:12 `T.cuda` has no `cta_synk`; did you mean `cta_sync`?\n"
                        "action change to `cta_sync`\n"
                        "diagnostics 0\n"
                        "hint 16 ld.global.v4 × 4, st.shared.v4 × 4, no conflicts\n"
                        "hint 18 ld.shared.v4 × 4, st.global.v4 × 4, no conflicts\n"
                        "hover `staged`: float32[64, 32], shared, 8192 bytes\n"
                        "run move: finished on the virtual GPU, nothing found; `B == A` holds for "
                        "2048 elements\n"));
}

TEST(Emacs, Session) {
  if (!is_installed("emacs"))
    GTEST_SKIP() << "needs Emacs with eglot: apt-get install emacs-nox elpa-eglot";
  const Folder folder;
  const std::string file = (fs::path(folder.path()) / "kernel.py").string();
  fs::copy_file(kHere / "kernel.py", file);
  const Ran ran =
      run_words({"emacs", "-q", "--batch", "-l", (kHere / "emacs.el").string(), file},
                {.environment = {std::string("PROGRAM=") + WW_PROGRAM, "HOME=" + folder.path()}});
  if (ran.status == 77) GTEST_SKIP() << "Emacs has no eglot: apt-get install elpa-eglot";
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(
      ran.out,
      HasSubstr("diagnostic 17:12 warpwright [UnknownName]: `T.cuda` has no `cta_synk`; did "
                "you mean `cta_sync`?\n"
                "action change to `cta_sync`\n"
                "diagnostics 0\n"
                "hover staged: float32[64, 32], shared, 8192 bytes\n"
                "completion cta_sum cta_sync\n"
                "the end\n"));
}

// The extension itself; VS Code is not there.
TEST(VsCode, ExtensionStartsTheServer) {
  if (!is_installed("node")) GTEST_SKIP() << "needs Node: apt-get install nodejs";
  const Ran ran = run_words({"node", (kHere / "vscode.js").string()},
                            {.environment = {std::string("PROGRAM=") + WW_PROGRAM}});
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_EQ(ran.out,
            "package warpwright, activated by onLanguage:python\n"
            "server warpwright, hover true\n"
            "ended with 0\n");
}

}  // namespace
}  // namespace ww::cli_test::clients_test
