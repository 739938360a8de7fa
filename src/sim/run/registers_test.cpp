// SPDX-License-Identifier: Apache-2.0
#include "sim/run/registers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "sim/test_run.h"

namespace ww::sim::run_registers_test {
namespace {

// Warps 0 to 3 do `first`, warps 4 to 7 `second`; each thread starts with `start` registers.
std::string outcome(std::string_view start, std::string_view first, std::string_view second) {
  const std::string text = fmt::format(
      ".version 8.8\n.target sm_90a\n.address_size 64\n.visible .entry k() {}\n{{\n"
      ".reg .pred %p; .reg .b32 %r;\nmov.u32 %r, %tid.x; setp.ge.u32 %p, %r, 128; @%p bra high;\n"
      "{} bra end;\nhigh: {}\nend: ret;\n}}\n",
      start, first, second);
  TestRun test(text);
  if (!test.errors().empty()) return test.errors();
  test.launch.block = {256};
  test.run();
  return test.findings();
}

const std::string kGive = "setmaxnreg.dec.sync.aligned.u32 40;";
const std::string kTake = "setmaxnreg.inc.sync.aligned.u32 216;";

TEST(Registers, WhatOneGivesAnotherTakes) {
  const std::string meet = "bar.sync 1, 256;";
  EXPECT_EQ(outcome(".maxnreg 128", kGive + meet, kTake + meet), "");
  EXPECT_EQ(outcome(".maxnreg 128", kGive, kTake), "");
  EXPECT_EQ(outcome(".maxnreg 128", kTake, kGive), "");
  EXPECT_EQ(outcome(".maxntid 256 .minnctapersm 2", kGive, kTake), "");
}

// 256 threads could start with 255; ptxas gives them the 216 that the largest `inc` asks for.
TEST(Registers, AKernelStartsWithNoMoreThanItTakes) {
  EXPECT_EQ(outcome(".maxntid 256 .minnctapersm 1", kGive, kTake), "");
  EXPECT_NE(outcome(".maxntid 256 .minnctapersm 1", "setmaxnreg.inc.sync.aligned.u32 200;", kTake),
            "");
}

TEST(Registers, ARequestThatCannotBeMet) {
  const std::string meet = "bar.sync 1, 256;";
  const std::string found =
      outcome(".maxnreg 128", kGive + meet, "setmaxnreg.inc.sync.aligned.u32 224;" + meet);
  EXPECT_NE(
      found.find("waits for 224 registers for each thread, of which it has 128 and the CTA has"),
      std::string::npos)
      << found;
}

TEST(Registers, TheWrongDirection) {
  EXPECT_NE(outcome(".maxnreg 128", kGive, "setmaxnreg.inc.sync.aligned.u32 64;")
                .find("asks for 64 registers with `.inc`, and a thread has 128"),
            std::string::npos);
  EXPECT_NE(outcome(".maxnreg 64", "setmaxnreg.dec.sync.aligned.u32 72;", "")
                .find("asks for 72 registers with `.dec`, and a thread has 64"),
            std::string::npos);
}

// Of the second warpgroup, warps 5 to 7 end without it, before or behind warp 4's.
TEST(Registers, AllWarpsOfAWarpgroupRequest) {
  const std::string is_first = "shr.u32 %r, %r, 5; setp.eq.u32 %p, %r, 4; @%p bra take;";
  const std::string later = "nanosleep.u32 9; nanosleep.u32 9;";
  const std::string found =
      "executed without warp 5, which has ended: all warps of a warpgroup must execute "
      "`setmaxnreg`";
  for (const std::string start : {".maxnreg 128", ""}) {
    for (const std::string& others : {std::string(), later}) {
      EXPECT_THAT(outcome(start, kGive, is_first + others + "exit; take: " + kTake),
                  testing::HasSubstr(found));
      EXPECT_EQ(outcome(start, kGive, is_first + others + "take: " + kTake), "");
    }
    EXPECT_THAT(outcome(start, kGive, is_first + "exit; take: " + later + kTake),
                testing::HasSubstr(found));
  }
}

// A warp may come to another one than the rest, as roles of a warpgroup do.
TEST(Registers, RolesOfAWarpgroupRequestApart) {
  EXPECT_EQ(outcome(".maxnreg 128",
                    "shr.u32 %r, %r, 5; setp.eq.u32 %p, %r, 0; @%p bra own;" + kGive +
                        "bra end; own: " + kGive,
                    ""),
            "");
}

// The assembler ignores it then.
TEST(Registers, NothingHappensWithoutAFixedCount) {
  EXPECT_EQ(outcome("", "", "setmaxnreg.inc.sync.aligned.u32 224;"), "");
}

}  // namespace
}  // namespace ww::sim::run_registers_test
