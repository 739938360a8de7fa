// SPDX-License-Identifier: Apache-2.0
// How remarks on machine code appear in reports.
#include "driver/sass_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/file_io.h"
#include "base/process.h"

namespace ww::driver::sass_advice_test {
namespace {

SassNote note(std::uint32_t line, const std::string& text) {
  return {.remark = {.line = line, .text = text}};
}

TEST(SassText, PlacesOfOneReasonAreListedOnce) {
  SassAdvice advice{.notes = {note(3, "slow"), note(4, "other"), note(5, "slow"), note(5, "slow")}};
  advice.notes[0].instruction = "div.rn.f32 %f0, %f1, %f2;";
  EXPECT_EQ(sass_text(advice, SassPlaces::Ptx),
            "  line 3, line 5: slow\n    div.rn.f32 %f0, %f1, %f2;\n  line 4: other\n");
}

TEST(SassText, HasTheSourceWhereItIsKnown) {
  SassAdvice advice{.notes = {note(3, "slow"), note(4, "slow"), note(0, "slow")}};
  advice.notes[0].source = {"k.py", 7, 5};
  advice.notes[1].source = {"k.py", 7, 5};
  EXPECT_EQ(sass_text(advice, SassPlaces::Source), "  k.py:7:5, PTX, no line: slow\n");
  EXPECT_EQ(sass_text(advice, SassPlaces::Ptx),
            "  line 3 (k.py:7:5), line 4 (k.py:7:5), no line: slow\n");
}

TEST(SassText, NothingIsToldApartFromNotRead) {
  EXPECT_EQ(sass_text({}, SassPlaces::Ptx), "  SASS: nothing found\n");
  EXPECT_EQ(sass_text({.not_read = "no tool"}, SassPlaces::Ptx), "  SASS not read: no tool\n");
}

TEST(SassAdvice, RemarksHaveTheirInstructionAndSource) {
  const ScratchFolder folder = ScratchFolder::make().value();
  const auto script = [&](const char* name, const std::string& body) {
    const std::string path = folder.file(name);
    EXPECT_TRUE(write_file_atomically(path, "#!/bin/sh\n" + body + "\n"));
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return runtime::ToolSearch{.given = path};
  };
  const std::string ptx =
      ".version 8.0\n.target sm_90\n.address_size 64\n.file 1 \"k.cu\"\n"
      ".visible .entry k()\n{\n  .loc 1 12 3\n  bar.sync 0;\n  ret;\n}\n";
  const runtime::SassTools tools{
      .ptxas = script("ptxas", "cp \"$2\" \"$4\"; echo '4 bytes spill stores'"),
      .nvdisasm = script("nvdisasm",
                         "printf '.text.k:\\n//## File \".nv_debug_ptx_txt\", line 8\\n"
                         "/*0000*/ STL [R1], R2 ;\\n'")};
  const SassAdvice advice = sass_advice(tools, ptx, target::Arch::Sm90, "k");
  ASSERT_EQ(advice.not_read, "");
  ASSERT_EQ(advice.notes.size(), 1U);
  EXPECT_EQ(advice.notes[0].instruction, "bar.sync 0;");
  ASSERT_TRUE(advice.notes[0].source);
  EXPECT_EQ(advice.notes[0].source->file, "k.cu");
  EXPECT_EQ(advice.notes[0].source->line, 12U);
  // What the assembler says is told in one line, with its first words.
  const SassAdvice refused =
      sass_advice({script("bad", "echo 'line 3; error'; exit 255"), tools.nvdisasm}, ptx,
                  target::Arch::Sm90, "k");
  EXPECT_THAT(refused.not_read, testing::HasSubstr("refused the PTX for `sm_90`: exit status 255; "
                                                   "line 3; error"));
}

}  // namespace
}  // namespace ww::driver::sass_advice_test
