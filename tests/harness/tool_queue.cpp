// SPDX-License-Identifier: Apache-2.0
#include "harness/cuda_queue.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>

namespace ww::test {
namespace {

CudaBatch& waiting() {
  static CudaBatch batch;
  return batch;
}

class CompileAtTheEnd : public testing::Environment {
 public:
  void TearDown() override {
    CudaBatch batch = std::exchange(waiting(), {});
    if (std::getenv("WW_ALL_CUDA") == nullptr) batch.keep_one_of_a_kind();
    if (batch.count() == 0) return;
    std::string skipped;
    const std::string differences = batch.run(skipped);
    EXPECT_TRUE(differences.empty()) << differences;
    fmt::print("  {:>6} programs by nvcc {}\n", skipped.empty() ? batch.count() : 0, skipped);
  }
};

// GoogleTest owns it.
[[maybe_unused]] testing::Environment* const kCompileAtTheEnd =
    testing::AddGlobalTestEnvironment(new CompileAtTheEnd);

}  // namespace

void compile_later(CudaBatch kernels) { waiting().take(std::move(kernels)); }

}  // namespace ww::test
