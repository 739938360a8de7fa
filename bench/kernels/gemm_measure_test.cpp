// SPDX-License-Identifier: Apache-2.0
// The race on a GPU that is played by the host: a launch of a product makes it, and every launch
// takes the time it is told to take.
#include "gemm_measure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "gemm_table.h"
#include "runtime/test_driver.h"
#include "test_played_gpu.h"
#include "test_products.h"

namespace ww::bench::gemm_measure_test {
namespace {

using runtime::CudaCalls;
using runtime::CudaLaunchConfig;
using testing::HasSubstr;
using testing::Not;

constexpr float kCublasMs = 2, kPassMs = 0.5;

const Problem* problem = nullptr;
bool is_ceiling_idle = false;
char ceiling_function, product_function;

int launch_ceiling(void** arguments) {
  const int passes = *static_cast<int*>(arguments[2]);
  submit('c', kPassMs * static_cast<float>(passes));
  auto* const d = reinterpret_cast<float*>(*static_cast<std::uint64_t*>(arguments[1]));
  for (int i = 0; i < 4 * 256; ++i)
    d[i] = is_ceiling_idle ? 0 : static_cast<float>(passes * (i + 1));
  return 0;
}

CudaCalls played_calls() {
  CudaCalls calls = calls_of_played();
  calls.device_attribute = [](int* value, int attribute, int) {
    *value = attribute == 75 ? 9 : attribute == 16 ? 4 : 0;  // sm_90 with 4 SMs
    return 0;
  };
  calls.module_function = [](void** function, void*, const char* name) {
    *function = std::string_view(name) == "mma_ceiling" ? &ceiling_function : &product_function;
    return 0;
  };
  calls.function_set = [](void*, int, int) { return 0; };
  calls.launch = [](const CudaLaunchConfig*, void* function, void** arguments, void**) {
    return function == &ceiling_function ? launch_ceiling(arguments) : launch_ours(arguments, 2);
  };
  return calls;
}

CublasCalls played_cublas() {
  CublasCalls calls;
  calls.create = [](void** handle) { return *handle = played, 0; };
  calls.destroy = [](void*) { return 0; };
  calls.set_stream = [](void*, void*) { return 0; };
  calls.set_workspace = [](void*, void*, std::size_t) { return 0; };
  calls.gemm = [](void*, int, int, int, int, int, const void*, const void*, int, int, const void*,
                  int, int, const void*, void* d, int, int, int, int) {
    submit('b', kCublasMs);
    std::memcpy(d, played->right.data(), played->right.size());
    return 0;
  };
  return calls;
}

// What it does is of no importance, only that it has the parameters of a product.
constexpr std::string_view kSource = R"py(
def build(M, N, K, BM, BN, BK, WM, WN, stages, group, dtype, out):
    columns = K if BM == 1 else N

    @T.prim_func
    def product(A_ptr: T.handle, B_ptr: T.handle, D_ptr: T.handle):
        A = T.match_buffer(A_ptr, (M, K), dtype)
        B = T.match_buffer(B_ptr, (K, columns), dtype)
        D = T.match_buffer(D_ptr, (M, N), out)
        T.device_entry()
        T.cta_id([4])
        thread = T.thread_id([32])
        D[0, thread] = A[0, thread] if BM > 0 else missing

    return product
)py";

constexpr std::string_view kTakes = "M N K BM BN BK WM WN stages group dtype out";

class KernelRace : public testing::Test {
 protected:
  void SetUp() override {
    played = &played_;
    problem = &problem_;
    is_ceiling_idle = false;
    runtime::fake = &driver_;
  }
  void TearDown() override {
    played = nullptr;
    problem = nullptr;
    runtime::fake = nullptr;
  }

  GemmResult measure(std::vector<Tile> tiles = {Tile{}}) {
    const GemmRow row{"kernels/gemm_mma/float16/32x64x48", "gemm_mma.py", kTakes, problem_,
                      std::move(tiles)};
    GemmOptions options{.rounds = 3, .source = [](std::string_view file) -> Result<SourceText> {
                          return SourceText(std::string(file), std::string(kSource));
                        }};
    return GemmBench(played_calls(), options, rivals_).measure(row);
  }

  Problem problem_{.m = 32, .n = 64, .k = 48};
  PlayedGpu played_{.right = right_product(problem_, Operands(problem_)), .registers = 168};
  runtime::FakeDriver driver_;
  Rivals rivals_{played_cublas(), fail(DiagKind::Io, "no cuBLASLt"),
                 fail(DiagKind::Io, "no torch")};
};

TEST_F(KernelRace, GivesEverybodyTurnsWithAsMuchWork) {
  const GemmResult result = measure();
  ASSERT_TRUE(result.good()) << table_lines(result);
  const GemmKernel& kernel = result.kernels.at(0);
  EXPECT_EQ(kernel.left_out, "");
  EXPECT_EQ(result.launches, 5);  // 20 ms
  EXPECT_EQ(kernel.turns.seconds.size(), 3U);
  EXPECT_NEAR(kernel.turns.median(), 0.020, 1e-6);
  EXPECT_NEAR(result.cublas.turns.median(), 0.010, 1e-6);
  EXPECT_TRUE(played_.order.ends_with("cbocbocbocbo")) << played_.order;
  const double operations = 2.0 * 32 * 64 * 48;
  EXPECT_NEAR(*result.tera(kernel), operations / 0.004 / 1e12, 1e-9);
  EXPECT_NEAR(*result.cublas.tera(), operations / 0.002 / 1e12, 1e-9);
  // A pass of 4 CTAs is 4194304 operations; a turn of them is as long as ours.
  EXPECT_NEAR(result.ceiling.turns.median(), 0.020, 1e-6);
  EXPECT_NEAR(*result.ceiling.tera(), 4194304 / 0.0005 / 1e12, 1e-6);
  EXPECT_NEAR(*result.of_ceiling(kernel), *result.tera(kernel) / *result.ceiling.tera(), 1e-12);
  EXPECT_EQ(kernel.registers, 168U);
  EXPECT_EQ(kernel.checked, 32U * 64);
  EXPECT_EQ(kernel.compared, 32U * 64);
  EXPECT_EQ(result.triton.absent, "no torch");
}

TEST_F(KernelRace, GivesAWrongKernelNoNumber) {
  played_.spoil = [](std::byte* d) { put(problem->out, d, 7, 12345); };
  const GemmResult result = measure();
  EXPECT_FALSE(result.good());
  EXPECT_THAT(result.kernels.at(0).wrong, HasSubstr("element (0, 7) is 12344 in place of"));
  EXPECT_FALSE(result.tera(result.kernels[0]));
  EXPECT_TRUE(result.kernels[0].turns.seconds.empty());
  EXPECT_THAT(table_lines(result), HasSubstr("    WRONG: wrong result: element (0, 7)"));
}

TEST_F(KernelRace, OutlivesAKernelThatFails) {
  played_.breaks_after = 0;
  const GemmResult result = measure({Tile{}, Tile{.bm = 64}});
  EXPECT_FALSE(result.good());
  EXPECT_EQ(result.kernels[0].wrong,
            "running `product` failed: CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was "
            "encountered)");
  EXPECT_EQ(result.kernels[1].left_out, "the GPU failed in another kernel");
  played_.has_broken = false;
  played_.breaks_after = 8;  // in the second round
  EXPECT_EQ(measure().kernels[0].wrong,
            "running `product` failed: CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was "
            "encountered)");
}

TEST_F(KernelRace, LeavesOutWhatDoesNotCompileOrFit) {
  const GemmResult result = measure({Tile{}, Tile{.bm = 0}, Tile{.bm = 1}});
  EXPECT_TRUE(result.good());
  EXPECT_TRUE(result.tera(result.kernels[0]));
  EXPECT_THAT(result.kernels[1].left_out, HasSubstr("missing"));
  EXPECT_THAT(result.kernels[1].left_out, Not(HasSubstr("\n")));
  EXPECT_EQ(result.kernels[2].left_out,
            "`B` of `product` is 2304 x float16, expected 3072 x float16");
}

TEST_F(KernelRace, NeedsNoRivals) {
  rivals_.cublas = fail(DiagKind::Io, "no cuBLAS");
  is_ceiling_idle = true;
  const GemmResult result = measure();
  EXPECT_TRUE(result.good());
  EXPECT_TRUE(result.tera(result.kernels[0]));
  EXPECT_FALSE(result.of_ceiling(result.kernels[0]));
  const std::string foot = table_foot({result});
  EXPECT_THAT(foot, HasSubstr("Medians of 3 rounds"));
  EXPECT_THAT(foot, HasSubstr("the ceiling is not measured: the ceiling does not compute: thread 0 "
                              "has 0 after one pass and 0 after two"));
  EXPECT_THAT(foot, HasSubstr("cuBLAS is not measured: no cuBLAS\n"));
  EXPECT_THAT(foot, HasSubstr("Triton is not measured: no torch\n"));
}

TEST_F(KernelRace, IsWrittenAsATableAndAsJson) {
  const GemmResult result = measure({Tile{}, Tile{.bm = 0}});
  const std::string lines = table_lines(result);
  const std::string head = table_head();
  EXPECT_EQ(lines.find('\n'), head.find('\n'));
  EXPECT_THAT(lines,
              HasSubstr("gemm_mma        float16  32x64x48             128x256x64 64x64 s4 g16"));
  EXPECT_THAT(lines, HasSubstr("    left out: "));
  const auto json = products_json({result});
  ASSERT_EQ(json.size(), 2U);
  EXPECT_EQ(json[0]["name"], "kernels/gemm_mma/float16/32x64x48");
  EXPECT_DOUBLE_EQ(json[0]["tflops"].get<double>(), *result.tera(result.kernels[0]));
  EXPECT_DOUBLE_EQ(json[0]["cublas"]["tflops"].get<double>(), *result.cublas.tera());
  EXPECT_TRUE(json[0]["triton"]["tflops"].is_null());
  EXPECT_EQ(json[0]["seconds"].size(), 3U);
  EXPECT_EQ(json[0]["tile"]["BN"], 256);
  EXPECT_TRUE(json[1]["tflops"].is_null());
  EXPECT_TRUE(json[1].contains("left_out"));
}

TEST(Launches, FillATurn) {
  EXPECT_EQ(launches_for(0.015), 2);
  EXPECT_EQ(launches_for(0.5), 1);
  EXPECT_EQ(launches_for(1e-7), 1000);
  EXPECT_EQ(launches_for(0), 1000);
}

}  // namespace
}  // namespace ww::bench::gemm_measure_test
