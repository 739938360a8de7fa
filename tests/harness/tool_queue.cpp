// SPDX-License-Identifier: Apache-2.0
#include "harness/tool_queue.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>

namespace ww::test {
namespace {

template <typename Batch>
Batch& waiting() {
  static Batch batch;
  return batch;
}

void assemble_all() {
  const Assembly assembly = std::exchange(waiting<Assembly>(), {});
  if (assembly.count() == 0) return;
  std::string skipped;
  const std::string complaints = assembly.assemble(skipped);
  EXPECT_TRUE(complaints.empty()) << complaints;
  fmt::print("  {:>6} programs by ptxas {}\n", skipped.empty() ? assembly.count() : 0, skipped);
}

void compile_all() {
  CudaBatch batch = std::exchange(waiting<CudaBatch>(), {});
  if (std::getenv("WW_ALL_CUDA") == nullptr) batch.keep_one_of_a_kind();
  if (batch.count() == 0) return;
  std::string skipped;
  const std::string differences = batch.run(skipped);
  EXPECT_TRUE(differences.empty()) << differences;
  fmt::print("  {:>6} programs by nvcc {}\n", skipped.empty() ? batch.count() : 0, skipped);
}

class ToolsAtTheEnd : public testing::Environment {
 public:
  void TearDown() override {
    assemble_all();
    compile_all();
  }
};

// GoogleTest owns it.
[[maybe_unused]] testing::Environment* const kToolsAtTheEnd =
    testing::AddGlobalTestEnvironment(new ToolsAtTheEnd);

}  // namespace

void compile_later(CudaBatch kernels) { waiting<CudaBatch>().take(std::move(kernels)); }
void assemble_later(Assembly kernels) { waiting<Assembly>().take(std::move(kernels)); }

}  // namespace ww::test
