// SPDX-License-Identifier: Apache-2.0
#include "driver/sim/args.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ww::driver::sim_args_test {
namespace {

using isa::Type;
using num::DType;

SimArg read(std::string_view text) {
  auto arg = parse_sim_arg(text);
  if (!arg) {
    ADD_FAILURE() << text << ": " << arg.error().text;
    return {};
  }
  return *arg;
}

// "2-3 [Kind] text" of a refusal.
std::string shown(const Diag& problem) {
  return fmt::format("{}-{} [{}] {}", problem.span.begin, problem.span.end, name_of(problem.kind),
                     problem.text);
}
std::string refusal(std::string_view text) {
  const auto arg = parse_sim_arg(text);
  return arg ? "accepted" : shown(arg.error());
}

// Two pointers, a number, a struct of 40 bytes.
sim::Code small_kernel() {
  sim::Code kernel;
  kernel.name = "k";
  kernel.params = {{"in", Type::U64, 0, 8, 8},
                   {"out", Type::U64, 8, 8, 8},
                   {"n", Type::U32, 16, 4, 4},
                   {"k_param_3", Type::B8, 24, 40, 8}};
  return kernel;
}

std::vector<SimArg> read_all(const std::vector<std::string_view>& texts) {
  std::vector<SimArg> args;
  for (const std::string_view text : texts) args.push_back(read(text));
  return args;
}

std::string match(const std::vector<std::string_view>& texts) {
  const auto args = read_all(texts);
  const MatchedArgs matched = match_args(small_kernel().params, args);
  if (!matched.problem) return fmt::format("{}", fmt::join(matched.by_param, " "));
  return fmt::format("arg {}: {}", matched.problem->arg, shown(matched.problem->diag));
}

const std::string kBytes40 = "3=bytes:" + std::string(80, '0');

// --- values

TEST(SimArg, BufferWithContents) {
  for (const std::string_view text : {"0=buffer:float16[8,16]:full:0.5", "0=f16[8,16]:full:0.5"}) {
    const SimArg arg = read(text);
    EXPECT_EQ(arg.kind, ArgKind::Buffer) << text;
    EXPECT_EQ(arg.type, (ShapedType{DType::Float16, {8, 16}})) << text;
    ASSERT_TRUE(arg.fill.known) << text;
    EXPECT_EQ(arg.part(arg.fill), "full:0.5") << text;
    EXPECT_EQ(arg.part(arg.key), "0") << text;
  }
}

TEST(SimArg, BufferWithoutContentsIsAnOutput) {
  for (const std::string_view text : {"out=buffer:int32[7]", "out=int32[7]"}) {
    const SimArg arg = read(text);
    EXPECT_EQ(arg.kind, ArgKind::Buffer) << text;
    EXPECT_FALSE(arg.fill.known) << text;
  }
}

TEST(SimArg, File) {
  EXPECT_EQ(read("0=@in.npy").path, "in.npy");
  EXPECT_FALSE(read("0=@in.npy").wanted);
  EXPECT_EQ(read("0=@in.npy:bf16").path, "in.npy");
  EXPECT_EQ(read("0=@in.npy:bf16").wanted, DType::Bfloat16);
  EXPECT_EQ(read("0=@a=b:c.npy").path, "a=b:c.npy");
}

TEST(SimArg, Scalar) {
  const SimArg arg = read("n=i32:-2");
  EXPECT_EQ(arg.kind, ArgKind::Scalar);
  EXPECT_EQ(arg.scalar.get_int(0), -2);
  EXPECT_EQ(arg.scalar.data.size(), 4U);
  EXPECT_EQ(read("n=u64:0xffffffffffffffff").scalar.bits(0), ~std::uint64_t{0});
}

TEST(SimArg, BytesAndNull) {
  const std::vector<std::byte> wanted{std::byte{0x00}, std::byte{0xFF}, std::byte{0x1A}};
  EXPECT_EQ(read("0=bytes:00fF1a").bytes, wanted);
  EXPECT_TRUE(read("0=bytes:").bytes.empty());
  EXPECT_EQ(read("0=null").kind, ArgKind::Null);
}

TEST(SimArg, RefusalsPointAtTheirPlace) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"", "0-0 [Syntax] expected `PARAMETER=VALUE`, found ``"},
      {"5", "0-1 [Syntax] expected `PARAMETER=VALUE`, found `5`"},
      {"=5", "0-1 [Syntax] expected a parameter before `=`, found nothing"},
      {"0=", "2-2 [Syntax] expected a value, found ``"},
      {"0=5", "2-3 [Syntax] expected a value, found `5`"},
      {"0=i32:x", "6-7 [Syntax] `x` is not an integer"},
      {"0=i8:300",
       "5-8 [BadArgument] `300` is out of range for `int8`, which goes from -128 to 127"},
      {"0=@", "3-3 [Syntax] expected the name of a file behind `@`"},
      {"0=bytes:0", "8-9 [Syntax] 1 hexadecimal digit; a byte has two"},
      {"0=bytes:0g", "9-10 [Syntax] `g` is not a hexadecimal digit"},
      {"0=f32[8]:", "9-9 [Syntax] expected what the buffer holds behind `:`, such as `arange`"},
      {"0=f32[8,0]", "8-9 [BadExtent] the extent is 0; it must be at least 1"},
      {"0=f32[8",
       "2-7 [Syntax] expected a type with a shape, such as `float16[8,16]`, found `f32[8`"},
      {"0=buffer:f32",
       "9-12 [Syntax] expected a type with a shape, such as `float16[8,16]`, found `f32`"},
  };
  for (const auto& [text, wanted] : rows) EXPECT_EQ(refusal(text), wanted) << text;
  EXPECT_EQ(refusal("0=flaot32[8]").substr(0, 17), "2-9 [UnknownName]");
  EXPECT_EQ(refusal("0=@in.npy:bflot16").substr(0, 19), "10-17 [UnknownName]");
  EXPECT_EQ(refusal("0=i23:5").substr(0, 17), "2-5 [UnknownName]");
}

TEST(SimArg, HugeShapesAreRefused) {
  EXPECT_EQ(refusal("0=f64[9223372036854775807,9223372036854775807]").find("accepted"),
            std::string::npos);
  EXPECT_EQ(refusal("0=f64[274877906944]").substr(0, 15), "2-19 [TooLarge]");
}

TEST(SimOut, IsAParameterAndAFile) {
  const auto out = parse_sim_out("2=a=b.npy");
  ASSERT_TRUE(out);
  EXPECT_EQ(out->path, "a=b.npy");
  EXPECT_EQ(shown(parse_sim_out("c.npy").error()),
            "0-5 [Syntax] expected `PARAMETER=FILE`, found `c.npy`");
  EXPECT_EQ(shown(parse_sim_out("2=").error()),
            "2-2 [Syntax] expected the name of a file behind `=`");
}

// --- parameters

TEST(SimArgs, GoByNumberOrName) {
  EXPECT_EQ(match({"0=null", "1=f32[8]", "2=i32:8", kBytes40}), "0 1 2 3");
  EXPECT_EQ(match({"n=f32:1", kBytes40, "out=null", "in=u64:0"}), "3 2 0 1");
}

TEST(SimArgs, RefusalsNameTheArgument) {
  EXPECT_EQ(match({"0=null"}), "arg 1: 0-0 [BadArgument] no argument for parameter 1 `out`");
  EXPECT_EQ(match({"0=null", "in=null"}),
            "arg 1: 0-2 [BadArgument] parameter 0 `in` is given twice");
  EXPECT_EQ(match({"4=null"}), "arg 0: 0-1 [OutOfBounds] no parameter 4: the kernel has 4");
  EXPECT_EQ(match({"99999999999999999999=null"}),
            "arg 0: 0-20 [OutOfBounds] no parameter 99999999999999999999: the kernel has 4");
  EXPECT_EQ(match({"ouf=null"}),
            "arg 0: 0-3 [UnknownName] the kernel has no parameter `ouf`; did "
            "you mean `out`?");
}

TEST(SimArgs, SizesMustFit) {
  EXPECT_EQ(match({"0=i32:1"}),
            "arg 0: 2-7 [BadArgument] `int32` has 4 bytes; parameter 0 `in` "
            "is `.u64` and takes 8");
  EXPECT_EQ(match({"n=f32[8]"}),
            "arg 0: 2-8 [BadArgument] the address of a buffer has 8 bytes; "
            "parameter 2 `n` is `.u32` and takes 4");
  EXPECT_EQ(match({"3=bytes:00"}),
            "arg 0: 2-10 [BadArgument] what is given has 1 byte; parameter "
            "3 is `.b8[40]` and takes 40");
}

// The first member stands where the struct does, others behind the last parameter.
TEST(SimArgs, MembersOfStructs) {
  EXPECT_EQ(match({"0=null", "1=null", "2=i32:8", "k_param_3+32=i32:5", "3+0=f32[4]"}),
            "0 1 2 3 4");
  const auto args = read_all({"3+32=i32:5", "0=null", "1=null", "2=i32:8", "3+0=f32[4]"});
  const MatchedArgs matched = match_args(small_kernel().params, args);
  ASSERT_EQ(matched.params.size(), 5U);
  EXPECT_EQ(matched.params[3].offset, 56U);
  EXPECT_EQ(matched.params[3].bytes, 4U);
  EXPECT_EQ(matched.params[4].offset, 24U);
  EXPECT_EQ(param_title(matched.params, 4), "parameter 4 `3+0`");
  EXPECT_EQ(match({"3+0=f32[4]", "3+4=i32:5"}),
            "arg 1: 0-3 [BadArgument] `3+4` shares bytes with `3+0`");
  EXPECT_EQ(match({"3+0=i32:4", "3+0=i32:5"}),
            "arg 1: 0-3 [BadArgument] parameter 3 `3+0` is given twice");
  EXPECT_EQ(match({"3+37=i32:4"}),
            "arg 0: 0-4 [OutOfBounds] `int32` has 4 bytes from byte 37 on; `k_param_3` has 40");
  EXPECT_EQ(match({"3+x=i32:4"}),
            "arg 0: 0-3 [Syntax] expected the number of a byte behind `+`, found `x`");
  EXPECT_EQ(match({"5+0=i32:4"}), "arg 0: 0-1 [OutOfBounds] no parameter 5: the kernel has 4");
  EXPECT_EQ(match({"3=i32:4"}),
            "arg 0: 2-7 [BadArgument] `int32` has 4 bytes; parameter 3 is `.b8[40]` and takes 40");
}

TEST(SimArgs, RefusalsListTheParameters) {
  const MatchedArgs matched = match_args(small_kernel().params, {});
  ASSERT_TRUE(matched.problem);
  std::string notes;
  for (const Note& note : matched.problem->diag.notes) notes += note.text + "\n";
  EXPECT_EQ(notes,
            "parameter 0 `in`: `.u64`, 8 bytes\n"
            "parameter 1 `out`: `.u64`, 8 bytes\n"
            "parameter 2 `n`: `.u32`, 4 bytes\n"
            "parameter 3: `.b8[40]`, 40 bytes\n");
}

TEST(SimArgs, AKernelMayHaveNoParameters) {
  sim::Code kernel;
  kernel.name = "k";
  EXPECT_FALSE(match_args(kernel.params, {}).problem);
  EXPECT_TRUE(match_args(kernel.params, read_all({"0=null"})).problem);
}

}  // namespace
}  // namespace ww::driver::sim_args_test
