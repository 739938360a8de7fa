// SPDX-License-Identifier: Apache-2.0
// Registers of `tcgen05.ld` in CUDA C++: nvcc uses them behind the program's wait and no earlier,
// and a program that forgets to wait is as wrong as it is in PTX.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "emit/cuda/emit.h"
#include "harness/cuda_run.h"
#include "harness/emitted.h"

namespace ww::emit::test::cuda_pending_test {
namespace {

using testing::HasSubstr;
using testing::Not;

const target::Target kTarget = {.arch = target::parse_arch("sm_100a").value()};

// Four words of each thread go to columns 0 to 3; what the case does with them follows.
constexpr std::string_view kHead = R"(
def {}(A: T.Buffer((512,), "uint32"), B: T.Buffer((512,), "uint32")):
    T.device_entry()
    tx = T.launch_thread("threadIdx.x", 128)
    tmem = T.alloc_buffer((1,), "uint32", scope="shared", layout=None)
    t = T.alloc_local((4,), "uint32", layout=None)
    r = T.alloc_local((4,), "uint32", layout=None)
    q = T.alloc_local((4,), "uint32", layout=None)
    f = T.alloc_local((4,), "float32", layout=None)
    if tx // 32 == 0:
        T.ptx.tcgen05.alloc(T.address_of(tmem[0]), 32, 1)
    T.cuda.cta_sync()
    addr: T.let[T.uint32] = T.cuda.get_tmem_addr(tmem[0], tx // 32 * 32, 0)
    for i in T.unroll(4):
        t[i] = A[tx * 4 + i]
    T.ptx.tcgen05.st(addr, 0, 0, "32x32b", 4, False, t[0], t[1], t[2], t[3])
    T.ptx.tcgen05.wait.st()
)";
constexpr std::string_view kTail = R"(    T.cuda.cta_sync()
    if tx // 32 == 0:
        T.ptx.tcgen05.dealloc(tmem[0], 32, 1)
)";

struct Case {
  std::string name;
  std::string body;
};

// Each name stands for three mentions of the one before, and all of them for `i`.
std::string chained_names(int count) {
  std::string out;
  for (int n = 1; n <= count; ++n)
    out += fmt::format("        x{0}: T.let[T.int32] = x{1} + x{1} - x{1}\n", n, n - 1);
  return out;
}

const std::vector<Case> kCases = {
    {"straight", R"(
    T.ptx.tcgen05.ld(addr, 0, 0, "32x32b", 4, False, r[0], r[1], r[2], r[3])
    T.ptx.tcgen05.wait.ld()
    for i in T.unroll(4):
        B[tx * 4 + i] = r[i] * T.uint32(3)
)"},
    // nvcc would turn the words into floats as soon as they are there.
    {"floats", R"(
    T.ptx.tcgen05.ld(addr, 0, 0, "32x32b", 4, False, f[0], f[1], f[2], f[3])
    T.ptx.tcgen05.wait.ld()
    for i in T.unroll(4):
        B[tx * 4 + i] = T.reinterpret("uint32", f[i] + f[3 - i])
)"},
    {"an index by names of names", R"(
    T.ptx.tcgen05.ld(addr, 0, 0, "32x32b", 4, False, r[0], r[1], r[2], r[3])
    T.ptx.tcgen05.wait.ld()
    for i in T.unroll(4):
        x0: T.let[T.int32] = i
)" + chained_names(40) + "        B[tx * 4 + i] = r[x40]\n"},
    {"two loads, one wait", R"(
    T.ptx.tcgen05.ld(addr, 0, 0, "32x32b", 2, False, r[0], r[1])
    T.ptx.tcgen05.ld(addr, 0, 2, "32x32b", 2, False, q[0], q[1])
    T.ptx.tcgen05.wait.ld()
    for i in T.unroll(2):
        B[tx * 4 + i] = r[i]
        B[tx * 4 + i + 2] = q[i] + r[i]
)"},
    {"one of two branches", R"(
    if A[0] > T.uint32(7):
        T.ptx.tcgen05.ld(addr, 0, 0, "32x32b", 4, False, r[0], r[1], r[2], r[3])
    else:
        T.ptx.tcgen05.ld(addr, 0, 0, "32x32b", 4, False, r[3], r[2], r[1], r[0])
    T.ptx.tcgen05.wait.ld()
    for i in T.unroll(4):
        B[tx * 4 + i] = r[i]
)"},
    // Each load is waited for one step later, the last one of the body in the next iteration.
    {"a pipeline", R"(
    for i in T.unroll(4):
        B[tx * 4 + i] = T.uint32(0)
    T.ptx.tcgen05.ld(addr, 0, 0, "32x32b", 2, False, r[0], r[1])
    for k in T.serial(3, annotations={"unroll": False}):
        T.ptx.tcgen05.wait.ld()
        T.ptx.tcgen05.ld(addr, 0, 2, "32x32b", 2, False, q[0], q[1])
        B[tx * 4] = B[tx * 4] + r[0]
        B[tx * 4 + 1] = B[tx * 4 + 1] + r[1]
        T.ptx.tcgen05.wait.ld()
        T.ptx.tcgen05.ld(addr, 0, 0, "32x32b", 2, False, r[0], r[1])
        B[tx * 4 + 2] = B[tx * 4 + 2] + q[0]
        B[tx * 4 + 3] = B[tx * 4 + 3] + q[1]
    T.ptx.tcgen05.wait.ld()
)"},
    {"out of a loop", R"(
    for k in T.serial(8, annotations={"unroll": False}):
        T.ptx.tcgen05.ld(addr, 0, 0, "32x32b", 4, False, r[0], r[1], r[2], r[3])
        if A[k] > T.uint32(7):
            break
        T.ptx.tcgen05.wait.ld()
    T.ptx.tcgen05.wait.ld()
    for i in T.unroll(4):
        B[tx * 4 + i] = r[i]
)"},
};

// An index that no unrolling makes a number: the array lies in memory.
const Case kInMemory = {"memory", R"(
    T.ptx.tcgen05.ld(addr, 0, 0, "32x32b", 4, False, r[0], r[1], r[2], r[3])
    T.ptx.tcgen05.wait.ld()
    for i in T.unroll(4):
        B[tx * 4 + i] = r[(tx + i) % 4]
)"};

ir::Function function_of(const Case& one, std::size_t number) {
  std::string text(kHead.substr(1));
  text.replace(text.find("{}"), 2, "k" + std::to_string(number));
  return engines::kernel_of(text + one.body.substr(1) + std::string(kTail));
}

std::vector<engines::Bytes> arguments() {
  std::vector<engines::Bytes> out(2, engines::Bytes(2048));
  for (std::uint32_t i = 0; i < 512; ++i) {
    const std::uint32_t word = 0x3f800000U + i * 0x10001U;  // a normal float, too
    std::memcpy(out[0].data() + i * 4U, &word, 4);
  }
  return out;
}

TEST(CudaTensorLoads, AreUsedBehindTheWait) {
  std::vector<ir::Function> functions;
  for (const Case& one : kCases) functions.push_back(function_of(one, functions.size()));
  functions.push_back(function_of(kInMemory, functions.size()));
  std::string problem;
  bool skipped = false;
  const auto program = load_all(functions, "sm_100a", problem, skipped);
  if (skipped) GTEST_SKIP() << "no nvcc that compiles for sm_100a";
  ASSERT_NE(program, nullptr) << problem;
  for (std::size_t i = 0; i < functions.size(); ++i) {
    SCOPED_TRACE(i < kCases.size() ? kCases[i].name : kInMemory.name);
    const engines::KernelRun expected = engines::simulate(functions[i], arguments(), kTarget);
    const engines::KernelRun got = engines::simulate(program, functions[i], arguments());
    EXPECT_EQ(expected.complaints, "");
    EXPECT_EQ(got.complaints, "");
    EXPECT_TRUE(got.arrays == expected.arrays);
  }
}

TEST(CudaTensorLoads, AreNotWaitedForBehindTheProgramsBack) {
  const std::string wait = "T.ptx.tcgen05.wait.ld()";
  std::vector<ir::Function> functions;
  for (Case one : kCases) {
    for (std::size_t at = 0; (at = one.body.find(wait, at)) != std::string::npos;)
      one.body.replace(at, wait.size(), "pass");
    functions.push_back(function_of(one, functions.size()));
  }
  std::string problem;
  bool skipped = false;
  const auto program = load_all(functions, "sm_100a", problem, skipped);
  if (skipped) GTEST_SKIP() << "no nvcc that compiles for sm_100a";
  ASSERT_NE(program, nullptr) << problem;
  for (std::size_t i = 0; i < functions.size(); ++i) {
    SCOPED_TRACE(kCases[i].name);
    const engines::KernelRun got = engines::simulate(program, functions[i], arguments());
    EXPECT_THAT(got.complaints, HasSubstr("is used before `tcgen05.wait::ld`"));
  }
}

TEST(CudaTensorLoads, WaitThemselvesOnTheWayToMemory) {
  for (const Case& one : kCases) {
    const std::string text = cuda_source(function_of(one, 0), {.target = kTarget}).value();
    EXPECT_THAT(text, Not(HasSubstr("_and_wait("))) << one.name;
    EXPECT_THAT(text, HasSubstr("_wait__ld_sync_aligned();\n")) << one.name;
    EXPECT_THAT(text, HasSubstr("ww_settle<4>(")) << one.name;
  }
  const std::string text = cuda_source(function_of(kInMemory, 0), {.target = kTarget}).value();
  EXPECT_THAT(text, HasSubstr("x4_b32_and_wait(r_ptr[0], "));
  EXPECT_THAT(text, Not(HasSubstr("ww_settle")));
}

}  // namespace
}  // namespace ww::emit::test::cuda_pending_test
