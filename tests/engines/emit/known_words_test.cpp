// SPDX-License-Identifier: Apache-2.0
// Words of 8-bit floats that ptxas must not come to know (ir/known_words.h): they are hidden where
// they may be constant, and nowhere else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "emit/cuda/emit.h"
#include "foreign/toolchain.h"
#include "harness/emitted.h"

namespace ww::emit::test::known_words_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// The words of `a` come from memory or as the case has it; the loop is one that ptxas unrolls.
std::string kernel_with(const std::string& otherwise) {
  return fmt::format(R"(
def kernel(A: T.Buffer((256,), "uint32"), B: T.Buffer((64,), "uint32"), C: T.Buffer((128,), "float32")):
    T.device_entry()
    tx = T.launch_thread("threadIdx.x", 32)
    a = T.alloc_local((16,), "float8_e5m2", layout=None)
    b = T.alloc_local((2,), "uint32", layout=None)
    c = T.alloc_local((4,), "float32", layout=None)
    d = T.alloc_local((4,), "uint32", layout=None)
    words = T.decl_buffer((4,), "uint32", data=a.data, scope="local", layout=None)
    for i in T.unroll(4):
        c[i] = T.float32(0)
        d[i] = T.uint32(0x42424242)
    b[0] = B[tx * 2]
    b[1] = B[tx * 2 + 1]
    for k in T.serial(2):
        for i in T.unroll(4):
            if k % 2 == 0:
                words[i] = A[(k * 4 + i) * 32 + tx]
            else:
                {}
    T.ptx.mma("m16n8k32", "row", "col", "float32", "float8_e5m2", "float8_e5m2", "float32", 4, 4, 2, 4, False, T.address_of(c[0]), T.address_of(c[1]), T.address_of(c[2]), T.address_of(c[3]), T.address_of(words[0]), T.address_of(words[1]), T.address_of(words[2]), T.address_of(words[3]), T.address_of(b[0]), T.address_of(b[1]), T.address_of(c[0]), T.address_of(c[1]), T.address_of(c[2]), T.address_of(c[3]))
    for i in T.unroll(4):
        C[tx * 4 + i] = c[i]
)",
                     otherwise);
}
constexpr std::string_view kConstant = "words[i] = T.uint32(0x42424242)";

target::Target target_of(std::string_view name) {
  return {.arch = target::parse_arch(name).value()};
}
std::string ptx_with(std::string_view otherwise, std::string_view target = "sm_90a") {
  return engines::ptx_of(engines::kernel_of(kernel_with(std::string(otherwise))),
                         target_of(target));
}
std::string cuda_with(std::string_view otherwise) {
  return cuda_source(engines::kernel_of(kernel_with(std::string(otherwise))),
                     {.target = target_of("sm_90a")})
      .value();
}

TEST(KnownWords, AreHiddenFromPtxas) {
  for (const std::string_view otherwise :
       {kConstant, std::string_view("a[i * 4] = T.float8_e5m2(3)"),
        std::string_view("words[i] = T.Select(k == 1, T.uint32(7), B[tx])"),
        std::string_view("words[i] = d[i]"),
        std::string_view("T.cuda.copy_bytes(T.address_of(words[i]), T.address_of(d[i]), 4)")}) {
    SCOPED_TRACE(otherwise);
    EXPECT_THAT(ptx_with(otherwise), HasSubstr("%clock64"));
    EXPECT_THAT(cuda_with(otherwise), HasSubstr("f32_hidden_a_in_place("));
  }
}

// One word per register of `a`, none of `b`, and one look at the clock.
TEST(KnownWords, OnlyWhatMayBeConstantIsHidden) {
  const std::string text = ptx_with(kConstant);
  const auto count = [&](std::string_view what) {
    std::size_t found = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
      ++found;
    return found;
  };
  EXPECT_EQ(count("xor.b32"), 4U) << text;
  EXPECT_EQ(count("%clock64"), 1U) << text;
  EXPECT_THAT(ptx_with("words[i] = B[tx] + T.uint32(3)"), Not(HasSubstr("%clock64")));
  EXPECT_THAT(cuda_with("words[i] = B[tx] + T.uint32(3)"), Not(HasSubstr("hidden")));
}

// Others have an instruction for 8-bit floats.
TEST(KnownWords, OnlyTargetsThatUnpackNeedIt) {
  for (const std::string_view target : {"sm_90", "sm_100a", "sm_110a"})
    EXPECT_THAT(ptx_with(kConstant, target), HasSubstr("%clock64")) << target;
  for (const std::string_view target : {"sm_89", "sm_120a"})
    EXPECT_THAT(ptx_with(kConstant, target), Not(HasSubstr("%clock64"))) << target;
}

// Pairs that `cvt` unpacks, on all targets that have it. Here the upper pair of a word.
constexpr std::string_view kPairs = R"(
def kernel(A: T.Buffer((64,), "uint32"), C: T.Buffer((64,), "uint32")):
    T.device_entry()
    tx = T.launch_thread("threadIdx.x", 32)
    a = T.alloc_local((1,), "uint32", layout=None)
    c = T.alloc_local((2,), "uint32", layout=None)
    pairs = T.decl_buffer((2,), "uint16", data=a.data, scope="local", layout=None)
    for k in T.serial(2):
        if k % 2 == 0:
            a[0] = A[k * 32 + tx]
        else:
            a[0] = {}
    for i in T.unroll(2):
        T.ptx["cvt.rn.f16x2.e5m2x2"](c[i], pairs[i])
        C[tx * 2 + i] = c[i]
)";
std::string pairs_with(std::string_view otherwise, std::string_view target = "sm_90a") {
  return engines::ptx_of(engines::kernel_of(fmt::format(kPairs, otherwise)), target_of(target));
}

TEST(KnownWords, PairsAreHidden) {
  for (const std::string_view target : {"sm_89", "sm_90a", "sm_120a"})
    EXPECT_THAT(pairs_with("T.uint32(0x42424242)", target), HasSubstr("xor.b16")) << target;
  EXPECT_THAT(pairs_with("A[tx]"), Not(HasSubstr("%clock64")));
  const ir::Function kernel = engines::kernel_of(fmt::format(kPairs, "T.uint32(0x42424242)"));
  EXPECT_THAT(cuda_source(kernel, {.target = target_of("sm_90a")}).value(),
              HasSubstr("static_cast<uint16_t>("));
}

// The machine code of a PTX text; empty where it cannot be seen.
std::string machine_code(const std::string& text) {
  const auto tools = corpus::Toolchain::find();
  const std::string disassembler = corpus::find_tool("nvdisasm");
  if (!tools || disassembler.empty()) return {};
  const corpus::TestFolder folder;
  std::ofstream(folder.path() / "k.ptx") << text;
  EXPECT_EQ(tools->assemble(folder.path(), "k.ptx", "sm_90a", "k.cubin").status, 0);
  return corpus::run({disassembler, "-c", "k.cubin"}, folder.path()).output;
}

TEST(KnownWords, NoConstantIsUnpacked) {
  for (const std::string& text : {ptx_with(kConstant), pairs_with("T.uint32(0x42424242)")}) {
    const std::string code = machine_code(text);
    if (code.empty()) GTEST_SKIP() << "no nvcc, ptxas and nvdisasm";
    EXPECT_THAT(code, HasSubstr("UNPACK_B"));
    EXPECT_THAT(code, Not(ContainsRegex("UNPACK_B R[0-9]+, -?[0-9]")));
  }
}

}  // namespace
}  // namespace ww::emit::test::known_words_test
