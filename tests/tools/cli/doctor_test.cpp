// SPDX-License-Identifier: Apache-2.0
// `warpwright doctor` with tools that tests make, and without any.
#include "tools/cli/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tools/cli/program.h"

namespace ww::cli_test::doctor_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Doctor : public testing::Test {
 protected:
  // The loader takes the first file of that name, and this is no library: a GPU is never found.
  void SetUp() override { std::ofstream(at("libcuda.so.1")) << std::string(4096, 'x'); }

  [[nodiscard]] fs::path at(const std::string& name) const {
    return fs::path(folder_.path()) / name;
  }
  void make_tool(const std::string& name, const std::string& body) const {
    std::ofstream(at(name)) << "#!/bin/sh\n" << body << "\n";
    fs::permissions(at(name), fs::perms::owner_all);
  }

  // Always with exit status 0.
  [[nodiscard]] std::string asked(const std::vector<std::string>& more = {},
                                  std::vector<std::string> environment = {"PTXAS",
                                                                          "NVDISASM"}) const {
    environment.push_back("PATH=" + folder_.path());
    environment.push_back("LD_LIBRARY_PATH=" + folder_.path());
    std::vector<std::string> words{"doctor"};
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = run(words, {.environment = environment});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(ran.err, "");
    return ran.out;
  }
  // By the names of the tools.
  [[nodiscard]] std::map<std::string, Json> states() const {
    std::map<std::string, Json> out;
    const Json answer = Json::parse(asked({"--json"}));
    for (const Json& each : answer["tools"]) out[each["name"].get<std::string>()] = each;
    return out;
  }

  Folder folder_;
};

TEST_F(Doctor, SaysWhatIsLostWithoutAnything) {
  const std::string text = asked({}, {"PTXAS=/nowhere/ptxas", "NVDISASM=/nowhere/nvdisasm"});
  EXPECT_THAT(text,
              HasSubstr("compiler  missing: no folder of PATH has `g++`\n"
                        "          without it: no build of a checkout and no `pip install .`\n"
                        "          to get it: apt-get install g++\n"));
  EXPECT_THAT(text,
              HasSubstr("ptxas     missing: `/nowhere/ptxas`, given as `ptxas`, is not a program\n"
                        "          without it: no `compile --emit cubin`"));
  EXPECT_THAT(text, HasSubstr("nvdisasm  missing: "));
  EXPECT_THAT(text, HasSubstr("GPU       missing: there is no CUDA driver here"));
  EXPECT_THAT(text, HasSubstr("Python    missing: "));
  EXPECT_THAT(text, HasSubstr("Triton    missing: "));
  EXPECT_THAT(text, HasSubstr("browser   missing: no folder of PATH has `firefox`, `chromium`, "));
}

TEST_F(Doctor, AsksToolsForTheirVersions) {
  make_tool("g++", "echo 'g++ (Debian 12.2.0-14) 12.2.0'; echo Copyright");
  for (const char* name : {"nvcc", "ptxas", "nvdisasm"})
    make_tool(name, "echo 'Built on Thu_Mar_28_02:14:54_PDT_2024'; echo 'release 12.4, V12.4.131'");
  make_tool("python3", "case $1 in -c) echo 3.6.0 ;; *) echo Python 3.11.2 ;; esac");
  make_tool("chromium", "echo Chromium 120.0.6099.224");
  std::map<std::string, Json> seen = states();
  const auto expect = [&](const char* name, const char* version, const char* program) {
    const Json& state = seen[name];
    EXPECT_TRUE(state["found"].get<bool>()) << state;
    EXPECT_EQ(state["version"], version) << state;
    EXPECT_EQ(state["place"], at(program).string()) << state;
    EXPECT_TRUE(state["problem"].is_null()) << state;
  };
  expect("compiler", "12.2.0", "g++");
  expect("CUDA", "12.4", "nvcc");
  expect("ptxas", "12.4", "ptxas");
  expect("nvdisasm", "12.4", "nvdisasm");
  expect("Python", "3.11.2", "python3");
  expect("Triton", "3.6.0", "python3");
  expect("browser", "120.0.6099.224", "chromium");
  EXPECT_FALSE(seen["GPU"]["found"].get<bool>());
  EXPECT_THAT(asked(), HasSubstr("compiler  12.2.0    " + at("g++").string() + "\n"));
}

// A tool that is there but of no use is not found, and the reason is told.
TEST_F(Doctor, SeesToolsThatAreBroken) {
  make_tool("g++", "echo 'g++ (Debian 9.4.0-1) 9.4.0'");
  make_tool("nvcc", "echo some words; echo out of order >&2; exit 3");
  make_tool("ptxas", "echo hello");
  make_tool("nvdisasm", "kill -9 $$");
  make_tool("python3", "case $1 in -c) echo no triton; exit 1 ;; *) echo Python 3.9.18 ;; esac");
  std::ofstream(at("firefox")) << "not a program";
  std::map<std::string, Json> seen = states();
  for (const auto& [name, state] : seen) EXPECT_FALSE(state["found"].get<bool>()) << state;
  const auto problem = [&](const char* name) { return seen[name]["problem"].get<std::string>(); };
  EXPECT_EQ(problem("compiler"), "it is version 9.4.0, and 12 or newer is needed");
  EXPECT_EQ(problem("CUDA"), "asked for its version, it ended with exit status 3: out of order");
  EXPECT_EQ(problem("ptxas"), "asked for its version, it printed none: hello");
  EXPECT_EQ(problem("nvdisasm"),
            "asked for its version, it ended with signal 9: it printed nothing");
  EXPECT_EQ(problem("Python"), "it is version 3.9.18, and 3.10 or newer is needed");
  EXPECT_EQ(problem("Triton"), "asked for its version, it ended with exit status 1: no triton");
  EXPECT_THAT(problem("browser"), HasSubstr("no folder of PATH has `firefox`"));
  EXPECT_THAT(asked(), HasSubstr("compiler  not usable (" + at("g++").string() +
                                 "): it is version 9.4.0, and 12 or newer is needed\n"
                                 "          without it: "));
}

}  // namespace
}  // namespace ww::cli_test::doctor_test
