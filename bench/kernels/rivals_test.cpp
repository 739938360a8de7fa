// SPDX-License-Identifier: Apache-2.0
#include "rivals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file_io.h"
#include "base/process.h"
#include "cublas_lt.h"

namespace ww::bench::rivals_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// --- cuBLAS --------------------------------------------------------------------------------------

TEST(Cublas, IsLookedForInFoldersToo) {
  const std::vector<std::string> places = cublas_places("cublas", "/mine::/other");
  ASSERT_EQ(places.size(), 12U);
  EXPECT_EQ(places[0], "libcublas.so.13");
  EXPECT_EQ(places[3], "/mine/libcublas.so.13");
  EXPECT_EQ(places[6], "/other/libcublas.so.13");
  EXPECT_EQ(places[11], "/usr/local/cuda/lib64/libcublas.so");
  EXPECT_EQ(cublas_places("cublasLt", "")[0], "libcublasLt.so.13");
}

TEST(Cublas, ThatIsNotThereOrTooOldIsNamed) {
  EXPECT_EQ(load_cublas({"libno_a.so", "libno_b.so"}).error().text,
            "cuBLAS is not here: none of libno_a.so, libno_b.so can be loaded");
  EXPECT_EQ(load_cublas({"libc.so.6"}).error().text,
            "the cuBLAS here is too old: it lacks functions");
  EXPECT_EQ(load_cublas_lt({"libno.so"}).error().text,
            "cuBLASLt is not here: none of libno.so can be loaded");
  EXPECT_EQ(load_cublas_lt({"libc.so.6"}).error().text,
            "the cuBLASLt here is too old: it lacks functions");
}

// As the manual of cuBLAS has it: matrices lie in columns.
struct Columns {
  const float* at;
  int ld;
  int op;
  [[nodiscard]] float get(int row, int col) const {
    return op == 0 ? at[col * ld + row] : at[row * ld + col];
  }
};

void multiply(int m, int n, int k, Columns a, Columns b, float* c, int ldc) {
  for (int row = 0; row < m; ++row)
    for (int col = 0; col < n; ++col) {
      float sum = 0;
      for (int i = 0; i < k; ++i) sum += a.get(row, i) * b.get(i, col);
      c[col * ldc + row] = sum;
    }
}

int refusal = 0;

CublasCalls fake_cublas() {
  CublasCalls calls;
  calls.create = [](void** handle) {
    *handle = &refusal;
    return 0;
  };
  calls.destroy = [](void*) { return 0; };
  calls.set_stream = [](void*, void* stream) { return stream == &refusal ? 7 : 0; };
  calls.set_workspace = [](void*, void*, std::size_t) { return 0; };
  calls.gemm = [](void*, int op_a, int op_b, int m, int n, int k, const void*, const void* a, int,
                  int lda, const void* b, int, int ldb, const void*, void* c, int, int ldc, int,
                  int) {
    if (refusal == 0)
      multiply(m, n, k, {static_cast<const float*>(a), lda, op_a},
               {static_cast<const float*>(b), ldb, op_b}, static_cast<float*>(c), ldc);
    return refusal;
  };
  calls.gemm_batched = [](void*, int op_a, int op_b, int m, int n, int k, const void*,
                          const void* a, int, int lda, long long a_stride, const void* b, int,
                          int ldb, long long b_stride, const void*, void* c, int, int ldc,
                          long long c_stride, int count, int, int) {
    for (int i = 0; i < count; ++i)
      multiply(m, n, k, {static_cast<const float*>(a) + i * a_stride, lda, op_a},
               {static_cast<const float*>(b) + i * b_stride, ldb, op_b},
               static_cast<float*>(c) + i * c_stride, ldc);
    return 0;
  };
  return calls;
}

runtime::Address address(const std::vector<float>& values) {
  return reinterpret_cast<runtime::Address>(values.data());
}

std::vector<float> counted(std::size_t count) {
  std::vector<float> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<float>(i * i % 17) - 8;
  return out;
}

// Each of the four transposes, and batches, as a row-major product.
TEST(Cublas, IsAskedForTheRightProduct) {
  const Result<Cublas> cublas = Cublas::open(fake_cublas(), 0);
  ASSERT_TRUE(cublas);
  for (const std::int64_t batch : {1, 3})
    for (const bool trans_a : {false, true})
      for (const bool trans_b : {false, true}) {
        const Problem problem{.m = 3,
                              .n = 5,
                              .k = 4,
                              .batch = batch,
                              .dtype = num::DType::Float32,
                              .out = num::DType::Float32,
                              .trans_a = trans_a,
                              .trans_b = trans_b};
        const std::vector<float> a = counted(problem.a_elements());
        const std::vector<float> b = counted(problem.b_elements());
        std::vector<float> d(problem.d_elements());
        ASSERT_TRUE(cublas->submit(problem, {address(a), address(b), address(d)}));
        for (std::size_t at = 0; at < d.size(); ++at) {
          const std::size_t which = at / 15, row = at / 5 % 3, col = at % 5;
          float want = 0;
          for (std::size_t k = 0; k < 4; ++k)
            want += a[which * 12 + (trans_a ? k * 3 + row : row * 4 + k)] *
                    b[which * 20 + (trans_b ? col * 4 + k : k * 5 + col)];
          ASSERT_EQ(d[at], want) << which << " " << row << " " << col;
        }
      }
}

TEST(Cublas, RefusesInItsOwnWay) {
  const Result<Cublas> cublas = Cublas::open(fake_cublas(), 0);
  refusal = 15;
  EXPECT_EQ(cublas->submit({.m = 1, .n = 1, .k = 1}, {}).error().text,
            "cuBLAS has no such product: status 15");
  refusal = 0;
  EXPECT_EQ(cublas->submit({.m = 1, .n = 1, .k = 1}, {}, &refusal).error().text,
            "cuBLAS does not take a stream: status 7");
  EXPECT_EQ(cublas->submit({.dtype = num::DType::Float64}, {}).error().text,
            "no type of cuBLAS for `float64`");
  CublasCalls dead = fake_cublas();
  dead.create = [](void**) { return 1; };
  EXPECT_EQ(Cublas::open(dead, 0).error().text, "cuBLAS does not start: status 1");
}

// --- Triton --------------------------------------------------------------------------------------

class TritonChild : public testing::Test {
 protected:
  Result<Triton> start(const std::string& script) {
    const std::string path = folder_->file("script.sh");
    EXPECT_TRUE(write_file_atomically(path, script));
    return Triton::start("/bin/sh", path);
  }
  Result<ScratchFolder> folder_ = ScratchFolder::make();
};

TEST_F(TritonChild, IsAskedLineByLine) {
  Result<Triton> triton = start(
      "while read command rest; do case $command in hello) echo ok torch 9;;"
      " prepare) echo ok $rest;; run) echo ok 2.5;; esac; done\n");
  ASSERT_TRUE(triton) << triton.error().text;
  EXPECT_EQ(triton->versions(), "torch 9");
  EXPECT_EQ(*triton->prepare({.m = 16, .n = 32, .k = 64, .trans_b = true}),
            "16 32 64 1 float16 float16 0 1");
  EXPECT_DOUBLE_EQ(*triton->time(20), 0.0025);
  EXPECT_EQ(triton->prepare({.epilogue = Epilogue::BiasRelu}).error().text,
            "the kernel in Triton has no epilogue");
}

TEST_F(TritonChild, SaysWhyItIsNotThere) {
  EXPECT_EQ(start("read line; echo 'no ModuleNotFoundError: torch'\n").error().text,
            "ModuleNotFoundError: torch");
  EXPECT_EQ(start("read line; echo hm\n").error().text, "`hm` is no answer to `hello`");
  EXPECT_EQ(start("exit 1\n").error().text, "the child program has ended");
}

TEST_F(TritonChild, AnswersWithNumbers) {
  Result<Triton> triton = start("while read line; do echo ok 2.5ms; done\n");
  ASSERT_TRUE(triton);
  EXPECT_EQ(triton->time(1).error().text, "`2.5ms` is no number of milliseconds");
}

// The script itself, where its libraries are missing; with them it needs a GPU.
TEST(TritonScript, AnswersInEveryCase) {
  const char* const path = std::getenv("PATH");
  const std::string python = find_program("python3", path == nullptr ? "" : path);
  if (python.empty()) GTEST_SKIP() << "there is no python3";
  Result<Child> child =
      Child::start({python, std::string(WW_SOURCE_DIR) + "/bench/kernels/triton_gemm.py"});
  ASSERT_TRUE(child);
  const Result<std::string> answer = child->ask("hello", 600);
  ASSERT_TRUE(answer) << answer.error().text;
  EXPECT_THAT(*answer, testing::AnyOf(StartsWith("ok torch "), StartsWith("no ")));
}

}  // namespace
}  // namespace ww::bench::rivals_test
