// SPDX-License-Identifier: Apache-2.0
// Remarks on machine code, from PTX through ptxas and nvdisasm: for each kind a kernel that has it,
// and a twin without.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "foreign/toolchain.h"
#include "runtime/assembler.h"

namespace ww::sass_test::planted_test {
namespace {

using runtime::SassKind;
using runtime::SassRemark;
using target::Arch;
using testing::HasSubstr;

// A kernel with a loop of n rounds, not unrolled. `before` and `body` are lines of it.
std::string kernel(std::string_view target, std::string_view before, std::string_view body,
                   std::string_view limits = ".maxntid 128") {
  return fmt::format(R"(.version 8.0
.target {}
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n, .param .u64 a, .param .u64 b)
{}
{{
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<8>;
    .reg .f32 %f<8>, %g<8>, %t<64>;
    .reg .f64 %d<4>;
    .local .align 4 .b8 array[64];
    .shared .align 8 .b8 barrier[8];
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [n];
    ld.param.u64 %rd2, [a];
    ld.param.u64 %rd3, [b];
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd4, %r2, 64;
    add.u64 %rd4, %rd4, %rd1;
    ld.global.v4.f32 {{%f0, %f1, %f2, %f3}}, [%rd4];
    ld.global.v4.f32 {{%g0, %g1, %g2, %g3}}, [%rd4+16];
    ld.global.v2.u32 {{%r3, %r4}}, [%rd4+32];
    ld.global.v2.u64 {{%rd5, %rd6}}, [%rd4+48];
    ld.global.v2.f64 {{%d0, %d1}}, [%rd4+64];
{}LOOP:
    .pragma "nounroll";
{}    sub.u32 %r1, %r1, 1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra LOOP;
    st.global.v4.f32 [%rd4], {{%f0, %f1, %f2, %f3}};
    st.global.v4.f32 [%rd4+16], {{%g0, %g1, %g2, %g3}};
    st.global.v2.u32 [%rd4+32], {{%r3, %r4}};
    st.global.v2.u64 [%rd4+48], {{%rd5, %rd6}};
    st.global.v2.f64 [%rd4+64], {{%d0, %d1}};
    ret;
}}
)",
                     target, limits, before, body);
}

// "64 f32 values": more than the kernel may have registers for.
std::string many(std::string_view line) {
  std::string out;
  for (int i = 0; i < 64; ++i) out += fmt::format(fmt::runtime(line), i, (i + 7) % 64, 4 * i);
  return out;
}

constexpr std::string_view kProduct =
    "    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, %rd2, %rd3, 1, 1, 1, "
    "0, 0;\n";
constexpr std::string_view kFence = "    wgmma.fence.sync.aligned;\n";
constexpr std::string_view kWait =
    "    wgmma.commit_group.sync.aligned;\n    wgmma.wait_group.sync.aligned 0;\n";

// Two products of one group, and what is done behind them.
std::string products(std::string_view then = "") {
  return fmt::format("{}{}    add.u64 %rd2, %rd2, 2;\n{}{}{}", kFence, kProduct, kProduct, kWait,
                     then);
}
// The same, each in a group that is waited for.
std::string serial_products() {
  const std::string one =
      fmt::format("{}{}{}    add.u64 %rd2, %rd2, 2;\n", kFence, kProduct, kWait);
  return one + one;
}
std::string exchange() {
  std::string out;
  for (int i = 0; i < 4; ++i)
    out += fmt::format(
        "    mov.f32 %t{0}, %f{0};\n    mov.f32 %f{0}, %g{0};\n"
        "    mov.f32 %g{0}, %t{0};\n",
        i);
  return out;
}

constexpr std::string_view kPeer =
    "    mov.u32 %r5, barrier;\n    mapa.shared::cluster.u32 %r6, %r5, 1;\n";
constexpr std::string_view kStore = "    st.global.u32 [%rd1], %r1;\n";
constexpr std::string_view kLaneOffset =
    "    cvt.u64.u32 %rd7, %r2;\n    add.u64 %rd2, %rd2, %rd7;\n    add.u64 %rd3, %rd3, %rd7;\n";
constexpr std::string_view kFill =
    "    mov.u64 %rd7, array;\n    st.local.u32 [%rd7], %r3;\n    st.local.u32 [%rd7+4], %r4;\n"
    "    st.local.u32 [%rd7+8], %r3;\n    st.local.u32 [%rd7+12], %r4;\n";

struct Case {
  std::string_view name;
  SassKind kind;
  std::string_view at;  // in the line of PTX that the remark has
  std::string planted, clean;
  Arch arch = Arch::Sm90a, clean_arch = Arch::Sm90a;
};

std::string sm_90a(std::string_view before, std::string_view body) {
  return kernel("sm_90a", before, body);
}

std::vector<Case> fence_cases() {
  const auto with_store = [](std::string_view line) {
    return fmt::format("{}    {}\n", kStore, line);
  };
  return {
      {"remote_release", SassKind::Fence, "mbarrier.arrive",
       sm_90a(kPeer, with_store("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6];")),
       sm_90a(kPeer, with_store("mbarrier.arrive.shared::cluster.b64 _, [%r6];"))},
      {"cluster_barrier", SassKind::Fence, "barrier.cluster.arrive",
       sm_90a("", with_store("barrier.cluster.arrive; barrier.cluster.wait;")),
       sm_90a("", with_store("barrier.cluster.arrive.relaxed; barrier.cluster.wait;"))},
      {"fence", SassKind::Fence, "fence", sm_90a("", with_store("fence.acq_rel.gpu;")),
       sm_90a("", with_store("fence.acq_rel.cta;"))},
  };
}

std::vector<Case> product_cases() {
  return {
      {"serial", SassKind::SerialProducts, "wgmma.wait_group", sm_90a("", serial_products()),
       sm_90a("", products())},
      {"moves", SassKind::AccumulatorMoves, "mov.f32", sm_90a("", products(exchange())),
       sm_90a("", products())},
      {"descriptors", SassKind::DescriptorMoves, "wgmma.fence", sm_90a(kLaneOffset, products()),
       sm_90a("", products())},
      // An accumulator that is used before it is waited for, across the end of the loop.
      {"assembler", SassKind::Assembler, "",
       sm_90a("", fmt::format("{}{}{}    wgmma.commit_group.sync.aligned;\n"
                              "    wgmma.wait_group.sync.aligned 1;\n"
                              "    st.global.f32 [%rd1], %f0;\n",
                              kFence, kProduct, kProduct)),
       sm_90a("", products())},
  };
}

std::vector<Case> arithmetic_cases() {
  const auto sm_80 = [](std::string_view body) { return kernel("sm_80", "", body); };
  const std::string doubles = sm_80("    fma.rn.f64 %d0, %d0, %d1, %d1;\n");
  return {
      {"integer_division", SassKind::Division, "div.u32",
       sm_80("    add.u32 %r4, %r4, %r1;\n    div.u32 %r3, %r3, %r4;\n"),
       sm_80("    add.u32 %r4, %r4, %r1;\n    div.u32 %r3, %r3, 10;\n")},
      {"long_division", SassKind::Division, "rem.u64", sm_80("    rem.u64 %rd5, %rd6, %rd5;\n"),
       sm_80("    and.b64 %rd5, %rd6, %rd5;\n")},
      {"float_division", SassKind::Division, "div.rn.f32", sm_80("    div.rn.f32 %f0, %f1, %f0;\n"),
       sm_80("    div.approx.f32 %f0, %f1, %f0;\n")},
      {"square_root", SassKind::Division, "sqrt.rn.f32", sm_80("    sqrt.rn.f32 %f0, %f0;\n"),
       sm_80("    sqrt.approx.f32 %f0, %f0;\n")},
      {"doubles", SassKind::Doubles, "fma.rn.f64", doubles, doubles, Arch::Sm89, Arch::Sm80},
  };
}

std::vector<Case> memory_cases() {
  const std::string sums = many("    fma.rn.f32 %t{0}, %t{0}, %f0, %t{1};\n");
  const std::string loads = many("    ld.global.f32 %t{0}, [%rd3+{2}];\n");
  const std::string stored = sums + many("    st.global.f32 [%rd3+{2}], %t{0};\n");
  return {
      {"local_array", SassKind::LocalMemory, "ld.local",
       kernel(
           "sm_80", kFill,
           "    and.b32 %r5, %r1, 12;\n    cvt.u64.u32 %rd2, %r5;\n    add.u64 %rd2, %rd2, %rd7;\n"
           "    ld.local.u32 %r6, [%rd2];\n    add.u32 %r3, %r3, %r6;\n"),
       kernel("sm_80", kFill, "    ld.local.u32 %r6, [%rd7+4];\n    add.u32 %r3, %r3, %r6;\n")},
      {"spill", SassKind::Spill, "", kernel("sm_80", loads, stored, ".maxntid 128\n.maxnreg 40"),
       kernel("sm_80", loads, stored)},
  };
}

class Planted : public testing::Test {
 protected:
  void SetUp() override {
    tools_ = {.ptxas = {.given = corpus::find_tool("ptxas")},
              .nvdisasm = {.given = corpus::find_tool("nvdisasm")}};
    if (tools_.ptxas.given.empty() || tools_.nvdisasm.given.empty())
      GTEST_SKIP() << "no ptxas and nvdisasm";
  }

  [[nodiscard]] std::vector<SassRemark> remarks(const std::string& ptx, Arch arch) const {
    const auto found = runtime::read_sass(tools_, ptx, arch, "k");
    EXPECT_TRUE(found) << (found ? "" : found.error().text);
    return found.value_or(std::vector<SassRemark>{});
  }
  void check(const std::vector<Case>& cases) const;

 private:
  runtime::SassTools tools_;
};

std::string line_of(std::string_view text, std::uint32_t line) {
  for (std::uint32_t i = 1; i < line && !text.empty(); ++i)
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  return std::string(text.substr(0, text.find('\n')));
}

void Planted::check(const std::vector<Case>& cases) const {
  for (const Case& each : cases) {
    SCOPED_TRACE(each.name);
    const std::vector<SassRemark> found = remarks(each.planted, each.arch);
    const auto there = std::ranges::find(found, each.kind, &SassRemark::kind);
    ASSERT_NE(there, found.end());
    EXPECT_THAT(line_of(each.planted, there->line), HasSubstr(each.at));
    EXPECT_EQ(there->depth, each.kind == SassKind::Assembler ? 0U : 1U);
    for (const SassRemark& other : remarks(each.clean, each.clean_arch))
      ADD_FAILURE() << "the clean twin has: " << other.text;
  }
}

TEST_F(Planted, Fences) { check(fence_cases()); }
TEST_F(Planted, Products) { check(product_cases()); }
TEST_F(Planted, Arithmetic) { check(arithmetic_cases()); }
TEST_F(Planted, Memory) { check(memory_cases()); }

}  // namespace
}  // namespace ww::sass_test::planted_test
