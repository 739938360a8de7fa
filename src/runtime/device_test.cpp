// SPDX-License-Identifier: Apache-2.0
// Which code runs where, the virtual GPU as a device, and the assembler.
#include "runtime/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "runtime/assembler.h"
#include "runtime/sim_device.h"

namespace ww::runtime::device_test {
namespace {

using target::Arch;
using testing::HasSubstr;

TEST(RunsOn, FollowsTheKindOfCode) {
  struct Row {
    Arch code;
    int gpu;
    bool runs;
  };
  const std::vector<Row> rows = {
      {Arch::Sm80, 80, true},     {Arch::Sm80, 90, true},     {Arch::Sm80, 120, true},
      {Arch::Sm90, 80, false},    {Arch::Sm90a, 90, true},    {Arch::Sm90a, 80, false},
      {Arch::Sm90a, 100, false},  {Arch::Sm100a, 103, false}, {Arch::Sm100f, 103, true},
      {Arch::Sm103f, 100, false}, {Arch::Sm100f, 110, false}, {Arch::Sm120f, 121, true}};
  for (const Row& row : rows)
    EXPECT_EQ(runs_on(row.code, row.gpu), row.runs)
        << target::info(row.code).name << " on " << row.gpu;
}

TEST(NativeArch, IsTheOneThatCanDoMost) {
  EXPECT_EQ(native_arch(80), Arch::Sm80);
  EXPECT_EQ(native_arch(90), Arch::Sm90a);
  EXPECT_EQ(native_arch(103), Arch::Sm103a);
  EXPECT_EQ(native_arch(130), Arch::Sm121);  // not known yet: the latest plain one
  EXPECT_EQ(native_arch(70), std::nullopt);
}

// --- the virtual GPU ---

// out[tid] = in[tid] + 1, except for the last thread.
constexpr std::string_view kIncrement = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry increment(.param .u64 in, .param .u64 out, .param .u32 n)
{
	.reg .pred %p<2>;
	.reg .b32 %r<4>;
	.reg .b64 %rd<6>;
	ld.param.u64 %rd1, [in];
	ld.param.u64 %rd2, [out];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %tid.x;
	setp.ge.u32 %p1, %r2, %r1;
	@%p1 ret;
	mul.wide.u32 %rd3, %r2, 4;
	add.s64 %rd4, %rd1, %rd3;
	add.s64 %rd5, %rd2, %rd3;
	ld.global.u32 %r3, [%rd4];
	add.u32 %r3, %r3, 1;
	st.global.u32 [%rd5], %r3;
	ret;
}
)";

using Words = std::array<std::uint32_t, 4>;

std::span<std::byte> bytes_of(Words& words) { return std::as_writable_bytes(std::span(words)); }

TEST(SimDevice, RunsAKernelAndKnowsWhatItWrote) {
  SimDevice device;
  ASSERT_TRUE(device.load({.bytes = std::string(kIncrement), .kernel = "increment"}));
  Words words{1, 2, 3, 4};
  const auto in = device.allocate(sizeof words, "A");
  const auto out = device.allocate(sizeof words, "B");
  ASSERT_TRUE(in && out);
  ASSERT_TRUE(device.upload(*in, bytes_of(words)));
  ASSERT_TRUE(device.launch({.block = {4, 1, 1}, .arguments = {{*in}, {*out}, {3, 4}}}));
  ASSERT_TRUE(device.report().has_value());
  EXPECT_TRUE(device.report()->ok());
  ASSERT_TRUE(device.download(bytes_of(words), *out));
  EXPECT_EQ(words[2], 4U);
  EXPECT_EQ(device.undefined(*out)[8], 0);
  EXPECT_NE(device.undefined(*out)[12], 0);
  EXPECT_EQ(device.time({}, 3).error().kind, DiagKind::BadArgument);
}

TEST(SimDevice, NamesMemoryInFindings) {
  SimDevice device;
  ASSERT_TRUE(device.load({.bytes = std::string(kIncrement), .kernel = "increment"}));
  const auto in = device.allocate(sizeof(Words), "A");
  ASSERT_TRUE(device.launch({.block = {5, 1, 1}, .arguments = {{*in}, {*in}, {5, 4}}}));
  const auto& findings = device.report()->findings.list();
  ASSERT_FALSE(findings.empty());
  EXPECT_THAT(findings[0].text, HasSubstr("`A`"));
}

TEST(SimDevice, SaysWhatDoesNotFit) {
  sim::RunOptions options;
  options.limits.memory = 1024;
  SimDevice device(options);
  ASSERT_TRUE(device.load({.bytes = std::string(kIncrement), .kernel = "increment"}));
  EXPECT_EQ(device.allocate(513, "A").error().kind, DiagKind::TooLarge);
  EXPECT_EQ(device.launch({.arguments = {{}}}).error().text,
            "1 arguments for `increment`, which has 3 parameters");
  EXPECT_EQ(device.launch({.arguments = {{}, {}, {}}}).error().text,
            "argument 2 has 8 bytes: parameter `n` has 4");
  Words words{};
  EXPECT_EQ(device.upload(16, bytes_of(words)).error().kind, DiagKind::DeviceError);
  EXPECT_EQ(device.download(bytes_of(words), 16).error().kind, DiagKind::DeviceError);
}

TEST(SimDevice, ChecksWhatParametersSayOfTheirPointers) {
  std::string text(kIncrement);
  text.replace(text.find(".param .u64 out"), 15, ".param .u64 .ptr .global .align 16 out");
  SimDevice device;
  ASSERT_TRUE(device.load({.bytes = text, .kernel = "increment"}));
  const auto memory = device.allocate(64, "A");
  const auto launch = [&](Address in, Address out) {
    return device.launch({.block = {1, 1, 1}, .arguments = {{in}, {out}, {1, 4}}});
  };
  EXPECT_TRUE(launch(*memory + 4, *memory + 16));
  const auto refused = launch(*memory, *memory + 8);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, DiagKind::BadLaunch);
  EXPECT_EQ(refused.error().text,
            "`out` is given address 0x1000000008, expected a multiple of 16: the kernel declares "
            "it with `.ptr .align 16`");
}

TEST(SimDevice, AllocatesAsParametersWantIt) {
  std::string text(kIncrement);
  text.replace(text.find(".param .u64 out"), 15, ".param .u64 .ptr .global .align 16777216 out");
  SimDevice device;
  ASSERT_TRUE(device.load({.bytes = text, .kernel = "increment"}));
  for (const char* const name : {"A", "B", "C"})
    EXPECT_EQ(device.allocate(4, name).value() % 16777216, 0U);
}

TEST(SimDevice, ShowsTheLineItDoesNotTake) {
  std::string text(kIncrement);
  text.replace(text.find("add.u32"), 7, "add.u33");
  SimDevice device;
  const auto loaded = device.load({.bytes = text, .kernel = "increment"});
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().text, HasSubstr("line 19 of the PTX: "));
  EXPECT_EQ(loaded.error().notes.back().text, "it is `add.u33 %r3, %r3, 1;`");
}

// --- the assembler ---

namespace fs = std::filesystem;

class Assembler : public testing::Test {
 protected:
  void SetUp() override {
    std::string path = (fs::temp_directory_path() / "ww-tool-XXXXXX").string();
    folder_ = ::mkdtemp(path.data());
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// A program that stands for ptxas, or for another one.
  std::string script(const std::string& body, const std::string& name = "ptxas") {
    const fs::path path = folder_ / name;
    std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
    fs::permissions(path, fs::perms::owner_all);
    return path.string();
  }
  fs::path folder_;
};

TEST_F(Assembler, IsFoundWhereItIs) {
  const std::string path = script("exit 0");
  EXPECT_EQ(find_ptxas({.given = path}).value(), path);
  EXPECT_EQ(find_ptxas({.path = "/nowhere::" + folder_.string()}).value(), path);
  EXPECT_EQ(find_ptxas({.given = "/nowhere/ptxas"}).error().text,
            "`/nowhere/ptxas`, given as `ptxas`, is not a program");
}

TEST_F(Assembler, GivesTheFileThatTheProgramWrites) {
  const auto cubin =
      assemble(script("cp \"$2\" \"$4\"; echo \" $1\" >> \"$4\""), "text", Arch::Sm90a);
  ASSERT_TRUE(cubin) << cubin.error().text;
  EXPECT_EQ(*cubin, "text -arch=sm_90a\n");
}

TEST_F(Assembler, ReadsWhatAKernelTakes) {
  const auto size = assembled_size(
      script("test \"$5\" = -v || exit 1\n"
             "echo '    24 bytes stack frame, 20 bytes spill stores, 28 bytes spill loads'\n"
             "echo 'ptxas info    : Used 40 registers, used 1 barriers, 24 bytes cumulative'"),
      "text", Arch::Sm90a);
  ASSERT_TRUE(size) << size.error().text;
  EXPECT_EQ(size->registers, 40U);
  EXPECT_EQ(size->local, 24U);
  EXPECT_EQ(size->spills, 48U);
  EXPECT_THAT(assembled_size(script("echo Used many registers"), "text", Arch::Sm90a).error().text,
              HasSubstr("does not say how many registers"));
  EXPECT_THAT(assembled_size(script("exit 3"), "text", Arch::Sm90a).error().text,
              HasSubstr("refused the PTX"));
}

TEST_F(Assembler, RefusesSlowCode) {
  const std::string said =
      "ptxas info    : (C7514) Potential Performance Loss: wgmma.mma_async instructions are "
      "serialized";
  const std::string quiet = script("cp \"$2\" \"$4\"");
  EXPECT_TRUE(assemble(quiet, "text", Arch::Sm90a));
  const std::string slow = script("cp \"$2\" \"$4\"; echo '" + said + "'");
  const auto refused = assemble(slow, "text", Arch::Sm90a);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text, HasSubstr("slow code: 1 of its remarks"));
  EXPECT_EQ(refused.error().notes.at(0).text, said);
  EXPECT_THAT(refused.error().notes.at(1).text, HasSubstr("`wgmma.wait_group 0` behind the loop"));
  EXPECT_TRUE(assemble(slow, "text", Arch::Sm90a, SlowRemarks::Allow));
}

TEST(PtxasRemarks, RepairedOnesAreNoLoss) {
  EXPECT_EQ(slow_remarks("ptxas info    : (C7519) arrive injected\nUsed 8 registers\n").size(), 0U);
  EXPECT_EQ(slow_remarks("info : (C7511) serialized\n(C7520) serialized\n").size(), 2U);
}

TEST_F(Assembler, RefusesWithTheWordsOfTheProgram) {
  const auto refused = assemble(script("echo 'line 1; error' >&2; exit 255"), "text", Arch::Sm80);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, DiagKind::DeviceError);
  EXPECT_THAT(refused.error().text, HasSubstr("refused the PTX for `sm_80`: exit status 255"));
  EXPECT_EQ(refused.error().notes.at(0).text, "line 1; error");
  EXPECT_EQ(assemble("/nowhere/ptxas", "text", Arch::Sm80).error().kind, DiagKind::Io);
}

// --- machine code

TEST_F(Assembler, ReadsMachineCode) {
  const std::string ptxas = script(
      "test \"$5 $6 $7 $8\" = '-v -lineinfo -e k' || exit 1\n"
      "echo '  0 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads'\n"
      "echo 'ptxas info : (C7514) wgmma is serialized around line 7'; cp \"$2\" \"$4\"");
  const std::string listing = "printf '.text.k:\\n/*0000*/ STL [R1], R2 ;\\n/*0010*/ EXIT ;\\n'";
  const auto found =
      read_sass({{.given = ptxas}, {.given = script(listing, "nvdisasm")}}, "", Arch::Sm90a, "k");
  ASSERT_TRUE(found) << found.error().text;
  ASSERT_EQ(found->size(), 2U);
  EXPECT_EQ(found->at(0).kind, SassKind::Spill);
  EXPECT_EQ(found->at(1).kind, SassKind::Assembler);
  EXPECT_EQ(found->at(1).line, 7U);
  const auto other = read_sass(
      {{.given = ptxas}, {.given = script("printf '.text.j:\\n/*0*/ EXIT ;'", "nvdisasm")}}, "",
      Arch::Sm90a, "k");
  EXPECT_THAT(other.error().text, HasSubstr("lists no code of `k`"));
}

TEST_F(Assembler, MachineCodeNeedsBothPrograms) {
  const std::string ptxas = script("cp \"$2\" \"$4\"");
  const auto error_of = [&](const ToolSearch& nvdisasm) {
    return read_sass({{.given = ptxas}, nvdisasm}, "", Arch::Sm90a, "k").error();
  };
  EXPECT_THAT(error_of({.given = "/nowhere/nvdisasm"}).text,
              HasSubstr("`/nowhere/nvdisasm`, given as `nvdisasm`, is not a program"));
  const Diag refused = error_of({.given = script("echo fatal; exit 3", "nvdisasm")});
  EXPECT_THAT(refused.text, HasSubstr("does not read what `ptxas` has made: exit status 3"));
  EXPECT_EQ(refused.notes.at(0).text, "fatal");
  EXPECT_EQ(read_sass({{.given = "/nowhere/ptxas"}, {}}, "", Arch::Sm90a, "k").error().kind,
            DiagKind::Io);
}

}  // namespace
}  // namespace ww::runtime::device_test
