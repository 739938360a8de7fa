// SPDX-License-Identifier: Apache-2.0
// Shapes that are known at launch only: from scalars, from files, by name.
#include "driver/args/kernel_args.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/file_io.h"
#include "base/process.h"
#include "driver/args/npy.h"
#include "script/compile.h"

namespace ww::driver::args_kernel_args_test {
namespace {

using testing::HasSubstr;
using Shape = std::vector<std::int64_t>;

constexpr std::string_view kKernel = R"(
@T.prim_func
def k(A_ptr: T.handle, B_ptr: T.handle, C_ptr: T.handle, M: T.int32, K: T.int32):
    n = T.int32()
    half: T.let = n // 2
    A = T.match_buffer(A_ptr, (M, K * 8), "float32")
    B = T.match_buffer(B_ptr, (n * K, half), "int32")
    C = T.match_buffer(C_ptr, (n,), "int32")
    T.device_entry()
    lane = T.thread_id([32])
    if lane < n:
        C[lane] = B[lane, 0] + T.cast(A[0, 0], "int32")
)";

class KernelArgsTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(compiled_.function.has_value()) << compiled_.render(compiled_.errors.at(0));
  }
  std::optional<LaunchValues> read(const std::vector<std::string>& args) {
    errors_.clear();
    return read_kernel_args(*compiled_.function, {.args = args}, errors_);
  }
  std::string errors_of(const std::vector<std::string>& args) {
    EXPECT_FALSE(read(args).has_value());
    return errors_;
  }
  // `NAME=@FILE` for a new file with that array.
  std::string file(const std::string& name, num::DType dtype, Shape shape) {
    const std::string path = folder_.file(name + ".npy");
    const Array array = Array::zeros(dtype, std::move(shape)).value();
    EXPECT_TRUE(write_file_atomically(path, to_npy(array)));
    return name + "=@" + path;
  }

  ScratchFolder folder_ = ScratchFolder::make().value();
  script::Compiled compiled_ = script::compile(SourceText("k.py", std::string(kKernel)));
  std::string errors_;
};

TEST_F(KernelArgsTest, ShapesFollowFromScalarsAndExtents) {
  const auto args = read({"n=6", "K=3", "M=5"});
  ASSERT_TRUE(args.has_value()) << errors_;
  EXPECT_EQ(args->all[0].array.shape, (Shape{5, 24}));
  EXPECT_EQ(args->all[1].array.shape, (Shape{18, 3}));
  EXPECT_EQ(args->all[2].array.shape, (Shape{6}));
}

// C stands behind B, whose shape needs what C's file tells.
TEST_F(KernelArgsTest, ShapesFollowFromFiles) {
  const auto args =
      read({file("A", num::DType::Float32, {4, 16}), "M=4", "K=2",
            file("B", num::DType::Int32, {12, 3}), file("C", num::DType::Int32, {6})});
  ASSERT_TRUE(args.has_value()) << errors_;
  EXPECT_EQ(args->all[0].array.shape, (Shape{4, 16}));
  EXPECT_EQ(args->all[1].array.shape, (Shape{12, 3}));
}

TEST_F(KernelArgsTest, AFileMustHaveTheShape) {
  EXPECT_THAT(errors_of({file("A", num::DType::Float32, {4, 17}), "M=4", "K=2", "n=2"}),
              HasSubstr("A.npy` holds float32[4,17], expected float32[4,16] [BadArgument]"));
  EXPECT_THAT(errors_of({file("A", num::DType::Float32, {5, 16}), "M=4", "K=2", "n=2"}),
              HasSubstr("A.npy` holds float32[5,16], expected float32[4,16] [BadArgument]"));
  EXPECT_THAT(errors_of({file("C", num::DType::Int32, {5}), "M=4", "K=2", "n=6"}),
              HasSubstr("C.npy` holds int32[5], expected int32[6] [BadArgument]"));
  EXPECT_THAT(errors_of({file("A", num::DType::Float32, {0, 16}), "M=-1", "K=2", "n=2"}),
              HasSubstr("dimension 0 of `A` is -1 with these arguments, expected 0 or more"));
}

TEST_F(KernelArgsTest, SaysWhatIsMissing) {
  EXPECT_EQ(errors_of({"M=4", "n=6"}),
            "error: `K` has no value; it is a scalar of type `int32` [BadArgument]\n"
            "  note: give it with `--arg K=VALUE`\n");
  EXPECT_EQ(errors_of({"M=4", "K=1"}),
            "error: dimension 0 of `B` is computed from `n`, which is not known [BadArgument]\n"
            "  note: give it with `--arg n=NUMBER`\n");
}

TEST_F(KernelArgsTest, RefusesExtentsThatNoArrayHas) {
  EXPECT_EQ(
      errors_of({"M=4", "K=0", "n=6"}),
      "error: dimension 1 of `A` is 0 with these arguments, expected 1 or more [BadExtent]\n");
  EXPECT_THAT(errors_of({"M=4", "K=1", "n=1"}),
              HasSubstr("dimension 1 of `B` is 0 with these arguments"));
  EXPECT_THAT(errors_of({"M=4", "K=1", "n=0"}),
              HasSubstr("--arg:1:3: error: an extent of 0, expected 1 to 2147483647 [BadExtent]"));
  EXPECT_THAT(errors_of({"M=4", "K=1", "n=4294967302"}),
              HasSubstr("an extent of 4294967302, expected 1 to 2147483647"));
  EXPECT_THAT(errors_of({"M=4", "K=1", file("C", num::DType::Int32, {4294967302, 0})}),
              HasSubstr("C.npy` has an extent of 4294967302, expected at most 2147483647"));
}

// NumPy has no bfloat16: a file holds it as raw items or as the codes, and may be said to.
TEST(KernelArgsFiles, AFileMayNameTheTypeItIsReadAs) {
  const script::Compiled compiled = script::compile(SourceText("k.py", R"(
@T.prim_func
def k(A_ptr: T.handle):
    A = T.match_buffer(A_ptr, (2,), "bfloat16")
    T.device_entry()
    lane = T.thread_id([32])
    if lane < 2:
        A[lane] = A[lane]
)"));
  ASSERT_TRUE(compiled.function.has_value());
  const ScratchFolder folder = ScratchFolder::make().value();
  const std::string path = folder.file("a.npy");
  Array codes = Array::zeros(num::DType::Uint16, {2}).value();
  codes.set_bits(0, 0x3F80);
  ASSERT_TRUE(write_file_atomically(path, to_npy(codes)));
  std::string errors;
  const auto read = [&](const std::string& value) {
    errors.clear();
    return read_kernel_args(*compiled.function, {.args = {"A=@" + value}}, errors);
  };
  for (const char* const type : {"", ":bfloat16", ":bf16"}) {
    const auto args = read(path + type);
    ASSERT_TRUE(args.has_value()) << errors;
    EXPECT_EQ(args->all[0].array.dtype, num::DType::Bfloat16);
    EXPECT_EQ(args->all[0].array.text(0), "1");
  }
  EXPECT_FALSE(read(path + ":uint16"));
  EXPECT_THAT(errors, HasSubstr("is read as `uint16`; `A` holds `bfloat16` [BadArgument]"));
  EXPECT_FALSE(read(path + ":bfloat61"));
  EXPECT_THAT(errors, HasSubstr("error: `bfloat61` is not an element type"));
  EXPECT_FALSE(read(":bfloat16"));
  EXPECT_EQ(errors,
            "--arg:1:4: error: expected the name of a file behind `@` [Syntax]\n"
            "    A=@:bfloat16\n"
            "       ^\n");
}

// Refused before anything is made.
TEST_F(KernelArgsTest, MoreBytesThanThereMayBe) {
  int asked = 0;
  ArgRequest request{.args = {"M=40000", "K=8000", "n=4"}};
  request.most_bytes = [&] {
    ++asked;
    return ByteLimit{kMaxHostBytes, "the virtual GPU"};
  };
  EXPECT_FALSE(read_kernel_args(*compiled_.function, request, errors_).has_value());
  EXPECT_EQ(errors_,
            "error: the arrays of `k` take 10240256016 bytes; the virtual GPU has 1073741824 at "
            "most [TooLarge]\n"
            "  note: bytes by parameter: `A` 10240000000, `B` 256000, `C` 16\n");
  request.show = [&](const Diag& problem) { return compiled_.render(problem); };
  errors_.clear();
  EXPECT_FALSE(read_kernel_args(*compiled_.function, request, errors_).has_value());
  EXPECT_THAT(errors_, HasSubstr("k.py:6:9: error: the arrays of `k` take"));
  EXPECT_EQ(asked, 2);
  request.args = {"M=4", "K=8", "n=4"};
  EXPECT_TRUE(read_kernel_args(*compiled_.function, request, errors_).has_value());
  EXPECT_EQ(asked, 2);
}

}  // namespace
}  // namespace ww::driver::args_kernel_args_test
