// SPDX-License-Identifier: Apache-2.0
// What is found wrong around tcgen05.mma: each case is a right kernel with one thing changed.
#include <gtest/gtest.h>

#include <array>

#include "isa/product_descriptor.h"
#include "sim/ops/test_tcgen05_mma.h"
#include "sim/test_run.h"

namespace ww::sim::tcgen05_mma_hazards_test {
namespace {

// K-major without swizzle: groups of 8 lines are 256 bytes, the two chunks of a line 128 apart.
constexpr std::uint64_t kDescriptor = 8ULL << 16U | 16ULL << 32U | 1ULL << 46U;
constexpr std::uint64_t kB = 4096 / 16;
// f16 into f32, M = 128, N = 16.
constexpr std::uint32_t kInstruction = 0x08040010;

struct Planted {
  TensorProductSpec spec;
  std::uint64_t desc_a = kDescriptor, desc_b = kDescriptor | kB;
  std::uint32_t instruction = kInstruction;
  bool adds = true;
  bool is_early = false;  // `uninit=early`
};

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  if (at != std::string::npos) text.replace(at, what.size(), by);
  return text;
}

struct Seen {
  std::string findings, reason;
  std::string origin;  // of an undefined value
};

Seen run(const Planted& planted, const std::string& text) {
  const unsigned ctas = planted.spec.is_pair ? 2 : 1;
  TestRun test(text);
  EXPECT_EQ(test.errors(), "");
  test.launch.block = {128};
  test.launch.grid = {ctas};
  if (ctas == 2) test.launch.cluster = Dim3{2};
  std::vector<std::uint64_t> words(8);
  words[0] = planted.desc_a;
  words[1] = planted.desc_b;
  words[2] = planted.instruction;
  words[3] = planted.adds ? 1 : 0;
  const std::size_t cells = std::size_t{ctas} * 128 * planted.spec.columns;
  test.input(std::vector<std::uint8_t>(std::size_t{ctas} * planted.spec.image_bytes));
  test.input(std::vector<std::uint32_t>(cells)).input(words);
  test.output<std::uint32_t>(cells);
  test.options.limits.instructions = 1'000'000;
  test.options.checks.undefined_early = planted.is_early;
  const LaunchReport& report = test.run();
  EXPECT_EQ(test.refusal(), "");
  std::string origin;
  for (const Finding& finding : report.findings.list()) origin += finding.origin.text;
  return {test.findings(), report.reason, origin};
}

void expect_found(const Planted& planted, const std::string& text, std::string_view wanted) {
  const Seen seen = run(planted, text);
  EXPECT_NE(seen.findings.find(wanted), std::string::npos) << wanted << "\nis not in\n"
                                                           << seen.findings << seen.reason;
}
void expect_found(const Planted& planted, std::string_view wanted) {
  expect_found(planted, tensor_product_kernel(planted.spec), wanted);
}

std::string fine() { return tensor_product_kernel({}); }

/// Of %v0, in both columns.
std::string metadata_store() {
  return "tcgen05.st.sync.aligned.32x32b.x2.b32 [%r22+24], {%v0,%v0};\n";
}

TEST(TensorProductHazards, NoneInARightKernel) {
  EXPECT_EQ(run({}, fine()).findings, "");
  Planted pair;
  pair.spec.is_pair = true;
  pair.instruction = 0x10080010;
  EXPECT_EQ(run(pair, tensor_product_kernel(pair.spec)).findings, "");
}

std::string all_replaced(std::string text, std::string_view what, std::string_view by) {
  std::size_t at = 0;
  while ((at = text.find(what, at)) != std::string::npos) {
    text.replace(at, what.size(), by);
    at += by.size();
  }
  return text;
}

TEST(TensorProductHazards, UndefinedRowsMakeUndefinedRows) {
  // Nothing writes rows 112 to 127 of A, which are in the last 512 bytes before B.
  const std::string text = replaced(fine(), "add.u32 %r5, %r4, %r3;\n",
                                    "add.u32 %r5, %r4, %r3;\nsetp.lt.u32 %p6, %r4, 3584; "
                                    "setp.ge.or.u32 %p6, %r4, 4096, %p6;\n@%p6 ");
  const std::string partly = replaced(text, "[%d1]; st.shared", "[%d1]; @%p6 st.shared");
  const Seen seen = run({}, partly);
  EXPECT_TRUE(seen.findings.starts_with("uninit ")) << seen.findings;
  EXPECT_EQ(seen.origin, "nothing has defined shared address 0xe00");
  EXPECT_EQ(seen.findings.find('\n'), seen.findings.size() - 1) << seen.findings;
  const std::string dropped = replaced(all_replaced(partly, "st.global.b32", "@%p6 st.global.b32"),
                                       "issued:\n", "issued: setp.lt.u32 %p6, %r0, 112;\n");
  EXPECT_EQ(run({}, dropped).findings, "");
}

TEST(TensorProductHazards, DIsLoadedTooEarly) {
  const std::string wait = "mbarrier.try_wait.parity.shared.b64 %p5, [bar], 0; @!%p5 bra issued;\n";
  expect_found({}, replaced(fine(), wait, "bar.sync 0;\n"),
               "loads lane 32, column 0 of tensor memory, which an earlier "
               "instruction is still to write");
  expect_found({}, replaced(fine(), wait, "bar.sync 0;\n"),
               "the kernel ends without a wait for a `tcgen05.commit` behind this");
  expect_found({}, replaced(fine(), wait + "tcgen05.fence::after_thread_sync;\n", wait),
               "of tensor memory that the tensor core has written; there is a barrier between the "
               "two, with no `tcgen05.fence::after_thread_sync` behind it");
}

TEST(TensorProductHazards, OperandsAreStillBeingRead) {
  expect_found({}, replaced(fine(), "issued:\n", "st.shared.b32 [image], 1;\nissued:\n"),
               "writes 4 bytes of shared memory at 0x0 that `tcgen05.mma` may still be reading; a "
               "wait for the mbarrier of a `tcgen05.commit` behind it comes first");
  Planted in_tensor;
  in_tensor.spec.a_in_tensor = true;
  in_tensor.spec.a_column = 16;
  const std::string text = tensor_product_kernel(in_tensor.spec);
  EXPECT_EQ(run(in_tensor, text).findings, "");
  // A is stored over before the threads know that it was read.
  const std::string store =
      "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r22+16], {%r0};\n"
      "tcgen05.wait::st.sync.aligned;\n";
  const std::string after = "tcgen05.fence::after_thread_sync;\ntcgen05.ld";
  expect_found(in_tensor, replaced(text, after, store + after),
               "stores to lane 0, column 16 of tensor memory that the tensor core has read");
  EXPECT_EQ(run(in_tensor,
                replaced(text, after, "tcgen05.fence::after_thread_sync;\n" + store + "tcgen05.ld"))
                .findings,
            "");
}

TEST(TensorProductHazards, OperandsWereNotReady) {
  expect_found({}, replaced(fine(), "fence.proxy.async;\n", ""),
               "in the async proxy, which was written in the generic proxy");
  expect_found({},
               replaced(fine(), "bar.sync 0;\ntcgen05.fence::after_thread_sync;\n@!%p0",
                        "tcgen05.fence::after_thread_sync;\n@!%p0"),
               "race ");
  Planted in_tensor;
  in_tensor.spec.a_in_tensor = true;
  in_tensor.spec.a_column = 16;
  const std::string text = tensor_product_kernel(in_tensor.spec);
  expect_found(in_tensor, replaced(text, "tcgen05.wait::st.sync.aligned;\n", ""),
               "of A, which an earlier instruction is still to write");
  expect_found(in_tensor, replaced(text, "tcgen05.fence::before_thread_sync;\n", ""),
               "no `tcgen05.fence::before_thread_sync` before it");
}

TEST(TensorProductHazards, BytesAreUndefined) {
  const auto expect = [](Planted planted, const std::string& text, std::string_view early,
                         std::string_view origin) {
    EXPECT_EQ(run(planted, text).origin.substr(0, origin.size()), origin);
    planted.is_early = true;
    expect_found(planted, text, early);
  };
  const std::string loads = "st.shared.v4.b32 [%r5], {%r6,%r7,%r8,%r9};\n";
  expect({}, replaced(fine(), loads, "setp.lt.u32 %p6, %r4, 4096; @%p6 " + loads),
         "B has bytes in shared memory at 0x1000 that nothing has written",
         "nothing has defined shared address 0x1000");
  const std::string store =
      fmt::format("tcgen05.st.sync.aligned.32x32b.x32.b32 [%r22+0], {};\n", thirty_two());
  expect({}, replaced(fine(), store, ""),
         "D, which is added to, has bytes in lane 0, column 0 of tensor memory that nothing "
         "has written",
         "nothing has defined lane 0, column 0 of tensor memory");
  Planted in_tensor;
  in_tensor.spec.a_in_tensor = true;
  in_tensor.spec.a_column = 16;
  in_tensor.adds = false;
  expect(in_tensor, replaced(tensor_product_kernel(in_tensor.spec), store, ""),
         "A has bytes in lane 0, column 16 of tensor memory that nothing has written",
         "nothing has defined lane 0, column 16 of tensor memory");
}

// Metadata of a sparse A is read as A is.
TEST(TensorProductHazards, MetadataIsReadAsAIs) {
  Planted sparse;
  sparse.spec.is_sparse = true;
  sparse.spec.metadata_column = 24;
  sparse.instruction |= 4;
  const std::string wait = "tcgen05.wait::st.sync.aligned;\n";
  const std::string codes = fmt::format("mov.b32 %v0, 0x44444444;\n{}", metadata_store());
  const std::string text = replaced(tensor_product_kernel(sparse.spec), wait, codes + wait);
  EXPECT_EQ(run(sparse, text).findings, "");
  expect_found(sparse, replaced(text, wait, ""),
               "column 24 of tensor memory, of the metadata, which an earlier instruction is still "
               "to write");
  const std::string after = "tcgen05.fence::after_thread_sync;\ntcgen05.ld";
  expect_found(sparse, replaced(text, after, metadata_store() + wait + after),
               "stores to lane 0, column 24 of tensor memory that the tensor core has read");
  const std::string store =
      fmt::format("tcgen05.st.sync.aligned.32x32b.x32.b32 [%r22+0], {};\n", thirty_two());
  sparse.adds = false;
  expect_found(sparse, replaced(tensor_product_kernel(sparse.spec), store, ""),
               "the metadata has bytes in lane 0, column 24 of tensor memory that nothing has "
               "written");
}

TEST(TensorProductHazards, ManyThreadsIssueIt) {
  expect_found({},
               replaced(replaced(fine(), "@!%p0 bra issued;", "@!%p2 bra issued;"),
                        "mbarrier.init.shared.b64 [bar], 1", "mbarrier.init.shared.b64 [bar], 32"),
               "32 lanes execute this, and each starts a product of its own");
}

// Two products, with what each does with the collector buffer; the second one may have another A.
std::string two_products(std::string_view first, std::string_view second, bool is_other) {
  Planted planted;
  const std::string plain = tensor_product_text(planted.spec);
  planted.spec.flags = first;
  std::string text = tensor_product_text(planted.spec);
  planted.spec.flags = second;
  const std::string again = tensor_product_text(planted.spec);
  text += is_other ? replaced(again, "%da", "%db") : again;
  return replaced(fine(), plain, text);
}

TEST(TensorProductHazards, TheCollectorHoldsNoSuchA) {
  const std::string_view fill = ".collector::a::fill";
  const std::string_view use = ".collector::a::use";
  const std::string_view last = ".collector::a::lastuse";
  EXPECT_EQ(run({}, two_products(fill, use, false)).findings, "");
  EXPECT_EQ(run({}, two_products(fill, last, false)).findings, "");
  expect_found({}, two_products("", use, false),
               "takes A from the collector buffer, which no product has filled since");
  expect_found({}, two_products(last, last, false), "which no product has filled since");
  // B as A: 128 rows from its start on lie in the image, too.
  expect_found({}, two_products(fill, use, true),
               "takes A from the collector buffer, which was filled with another A");
}

TEST(TensorProductHazards, TensorMemoryIsNotThere) {
  Planted outside;
  outside.spec.d_column = 24;
  expect_found(outside, "column 32 of tensor memory is not allocated");
  Planted a_outside;
  a_outside.spec.a_in_tensor = true;
  a_outside.spec.a_column = 28;
  expect_found(a_outside, "column 32 of tensor memory is not allocated");
  Planted lanes;
  lanes.spec.d_column = 16U << 16U;
  expect_found(lanes, "D starts in lane 16; with M = 128 it starts in lane 0");
  lanes.instruction = 0x04040010;  // M = 64
  EXPECT_EQ(run(lanes, tensor_product_kernel(lanes.spec)).findings, "");
  lanes.spec.a_in_tensor = true;
  lanes.spec.a_column = 16;
  expect_found(lanes, "A starts in lane 0; with M = 64 it starts in the lane of D");
  Planted alone;
  alone.spec.is_pair = true;
  alone.instruction = 0x10080010;
  TestRun test(replaced(replaced(tensor_product_kernel(alone.spec), "%mask, 3", "%mask, 1"),
                        "%r2, 0;", "%r2, 0;"));
  test.launch.block = {128};
  test.input(std::vector<std::uint8_t>(alone.spec.image_bytes));
  test.input(std::vector<std::uint32_t>(4096));
  test.input(std::vector<std::uint64_t>{kDescriptor, kDescriptor, 0x10080010, 0, 0, 0, 0, 0});
  test.output<std::uint32_t>(4096);
  test.run();
  EXPECT_NE(test.findings().find("`.cta_group::2` in a CTA that has no peer in its cluster"),
            std::string::npos)
      << test.findings();
}

TEST(TensorProductHazards, DescriptorsAreWrong) {
  Planted wrong;
  wrong.instruction = kInstruction | 0x40;
  expect_found(wrong,
               "align 71: the instruction descriptor is 0x08040050: bits 0x00000040 are set, which "
               "must be 0");
  wrong = {};
  wrong.desc_a = kDescriptor & ~(1ULL << 46U);
  expect_found(wrong, "bits 48:46 are 000; they are 001 for tcgen05");
  wrong.desc_a = kDescriptor | 1ULL << 55U;
  expect_found(wrong, "the descriptor of A is 0x0080401000080000: bits 0x0080000000000000 are set");
  wrong.desc_a = kDescriptor | 3ULL << 61U;
  expect_found(wrong, "swizzle 3 (bits 63:61) does not exist");
  wrong.desc_a = kDescriptor | 1ULL << 52U;
  expect_found(wrong, "a leading address (bit 52) is of K = 96 alone");
  wrong.desc_a = kDescriptor | 1ULL << 61U;
  wrong.instruction = kInstruction | 1U << 15U;
  expect_found(wrong, "the swizzle of 128 bytes in atoms of 32 is, MN-major, of tf32 alone");
  wrong = {};
  wrong.spec.kind = "tf32";
  wrong.instruction = 0x08050910;
  expect_found(wrong, "MN-major tf32 needs the swizzle of 128 bytes in atoms of 32");
  wrong = {};
  wrong.desc_b = kDescriptor | 0x3F0;
  expect_found(wrong, "chunks of B lie outside of shared memory");
  wrong = {};
  wrong.spec.a_in_tensor = true;
  wrong.spec.a_column = 16;
  wrong.instruction = kInstruction | 1U << 15U;
  expect_found(wrong,
               "A is MN-major in the instruction descriptor; in tensor memory it is K-major");
}

TEST(TensorProductHazards, ScalesDifferBetweenQuarters) {
  Planted scaled;
  scaled.spec.kind = "mxf8f6f4";
  scaled.spec.scales = ".block_scale";
  scaled.spec.scale_a_column = 20;
  scaled.spec.scale_b_column = 24;
  scaled.instruction = 0x08840000;
  const std::string text = tensor_product_kernel(scaled.spec);
  EXPECT_EQ(run(scaled, text).findings, "");
  const std::string last = fmt::format("ld.global.b32 %v{}, [%d2+{}];\n", 24, 4 * 24);
  expect_found(scaled, replaced(text, last, "shr.u32 %v24, %r0, 6;\n"),
               "the scales of B differ between lanes 0 to 31 and lanes 64 to 95; all quarters of "
               "tensor memory hold the same ones");
  scaled.spec.scale_a_column = 30;
  expect_found(scaled, "column 32 of tensor memory is not allocated");
  scaled.spec.scale_a_column = 20 + (32U << 16U);
  expect_found(scaled, "the scales of A starts in lane 32; with M = 128 it starts in lane 0");
}

TEST(TensorProductHazards, WhatIsNotModelledEndsTheRun) {
  Planted fp4;
  fp4.spec.kind = "f8f6f4";
  fp4.spec.a_in_tensor = true;
  fp4.spec.a_column = 16;
  fp4.instruction = 0x08040010 | 5U << 7U;
  EXPECT_NE(run(fp4, tensor_product_kernel(fp4.spec))
                .reason.find("4-bit elements of A in bytes of tensor memory is not modelled"),
            std::string::npos);
  Planted longer;
  longer.spec.kind = "mxf4nvf4";
  longer.spec.scales = ".block_scale.block16";
  longer.spec.scale_a_column = 20;
  longer.spec.scale_b_column = 24;
  longer.instruction = 0x88040480;
  EXPECT_NE(run(longer, tensor_product_kernel(longer.spec))
                .reason.find("a product with K = 96 is not modelled"),
            std::string::npos);
}

// Products that nothing completes pile up, and end the run at the budget of memory.
TEST(TensorProductHazards, ProductsWithoutACommitAreBounded) {
  const Planted planted;
  const std::string text = tensor_product_text(planted.spec);
  TestRun test(replaced(fine(), text, "again:\n" + text + "@%p0 bra again;\n"));
  test.launch.block = {128};
  test.input(std::vector<std::uint8_t>(planted.spec.image_bytes));
  test.input(std::vector<std::uint32_t>(4096));
  test.input(
      std::vector<std::uint64_t>{kDescriptor, kDescriptor | kB, kInstruction, 1, 0, 0, 0, 0});
  test.output<std::uint32_t>(4096);
  test.options.limits.memory = 16U << 20U;
  test.options.checks = CheckSet::nothing();
  EXPECT_EQ(test.run().outcome, Outcome::MemoryLimit) << test.report().reason;
}

}  // namespace
}  // namespace ww::sim::tcgen05_mma_hazards_test
