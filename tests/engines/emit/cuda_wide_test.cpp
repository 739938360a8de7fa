// SPDX-License-Identifier: Apache-2.0
// 128-bit registers in CUDA C++ (`unsigned __int128`, constraint `q`), against our own PTX.
#include <gtest/gtest.h>

#include <cstring>

#include "harness/cuda_run.h"
#include "harness/emitted.h"

namespace ww::emit::test::cuda_wide_test {
namespace {

// In `u` the four words begin where no 128-bit access may.
const std::string kKernel =
    R"(def kernel(A: T.Buffer((512,), "uint32"), B: T.Buffer((512,), "uint32")):
    T.device_entry()
    t = T.launch_thread("threadIdx.x", 64)
    r = T.alloc_local((4,), "uint32", layout=None)
    s = T.alloc_local((4,), "uint32", layout=None)
    u = T.alloc_local((5,), "uint32", layout=None)
    T.ptx["ld.global.b128"](T.ptx.at(T.address_of(r[0])), T.address_of(A[8 * t]))
    T.ptx["mov.b128"](T.ptx.at(T.address_of(s[0])), T.ptx.at(T.address_of(r[0])))
    s[1] = s[1] + T.uint32(3)
    T.ptx["st.global.b128"](T.address_of(B[8 * t]), T.ptx.at(T.address_of(s[0])))
    T.ptx["mov.b128"](T.ptx.at(T.address_of(u[1])), r[3], r[2], r[1], r[0])
    T.ptx["st.global.b128"](T.address_of(B[8 * t + 4]), T.ptx.at(T.address_of(u[1])))
    T.ptx["atom.relaxed.gpu.global.cas.b128"](
        T.ptx.at(T.address_of(u[1])), T.address_of(B[8 * t]), T.ptx.at(T.address_of(s[0])),
        T.ptx.at(T.address_of(r[0])))
    B[8 * t + 7] = u[2]
)";

TEST(CudaRuns, WideRegisters) {
  const ir::Function kernel = engines::kernel_of(kKernel);
  std::string problem;
  bool skipped = false;
  const auto program = load_all({kernel}, "sm_90a", problem, skipped);
  if (skipped) GTEST_SKIP() << "no nvcc that compiles for sm_90a";
  ASSERT_NE(program, nullptr) << problem;
  std::vector<engines::Bytes> arguments(2, engines::Bytes(2048));
  for (std::uint32_t i = 0; i < 512; ++i) std::memcpy(arguments[0].data() + i * 4U, &i, 4);
  const engines::KernelRun expected =
      engines::simulate(kernel, arguments, {.arch = target::parse_arch("sm_90a").value()});
  const engines::KernelRun got = engines::simulate(program, kernel, arguments);
  EXPECT_EQ(expected.complaints, "");
  EXPECT_EQ(got.complaints, "");
  EXPECT_TRUE(got.arrays == expected.arrays);
  std::uint32_t words[8];
  std::memcpy(words, got.arrays[1].data() + 32, sizeof words);
  const std::uint32_t wanted[8] = {8, 9, 10, 11, 11, 10, 9, 12};
  EXPECT_TRUE(std::equal(words, words + 8, wanted));
}

}  // namespace
}  // namespace ww::emit::test::cuda_wide_test
