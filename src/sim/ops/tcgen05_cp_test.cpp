// SPDX-License-Identifier: Apache-2.0
// Copies from shared memory into tensor memory, shifts, and the commits that complete them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/ops/test_tensor.h"

namespace ww::sim::ops_tcgen05_cp_test {
namespace {

// Byte i of the cells, from 64 on, is i % 251, so that rows differ. %p2 is set in thread 0, which
// makes an mbarrier for one arrival.
const std::string kSource =
    "setp.eq.u32 %p2, %r1, 0; @%p2 mbarrier.init.shared.b64 [bar], 1; mov.u32 %r30, 0;"
    "fill: mad.lo.u32 %r31, %r30, 512, %r4; sub.u32 %r32, %r31, %r2; mov.u32 %r33, 0;"
    "rem.u32 %r34, %r32, 251; add.u32 %r35, %r32, 1; rem.u32 %r35, %r35, 251;"
    "add.u32 %r36, %r32, 2; rem.u32 %r36, %r36, 251; add.u32 %r37, %r32, 3; rem.u32 %r37, %r37, "
    "251;"
    "shl.b32 %r35, %r35, 8; shl.b32 %r36, %r36, 16; shl.b32 %r37, %r37, 24;"
    "or.b32 %r34, %r34, %r35; or.b32 %r36, %r36, %r37; or.b32 %r34, %r34, %r36;"
    "setp.ge.u32 %p3, %r32, 64; @%p3 st.shared.u32 [%r31], %r34;"
    "add.u32 %r30, %r30, 1; setp.lt.u32 %p3, %r30, 8; @%p3 bra fill; fence.proxy.async;"
    "tcgen05.fence::before_thread_sync; bar.sync 0; tcgen05.fence::after_thread_sync;\n";
// %d8: a descriptor of the cells from `start` on.
std::string descriptor(std::uint64_t start, std::uint64_t lbo, std::uint64_t sbo,
                       std::uint64_t swizzle = 0) {
  const std::uint64_t bits =
      ((lbo / 16) << 16U) | ((sbo / 16) << 32U) | (std::uint64_t{1} << 46U) | (swizzle << 61U);
  return "add.u32 %r38, %r2, " + std::to_string(start) +
         "; shr.u32 %r38, %r38, 4;"
         "mov.b64 %d8, {%r38, 0}; or.b64 %d8, %d8, " +
         fmt::format("0x{:x}", bits) + ";\n";
}
const std::string kCommit = "@%p2 tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%r3];\n";
const std::string kCompleted = "WAIT(0, 0); tcgen05.fence::after_thread_sync;\n";
const std::string kLoadEight =
    "tcgen05.ld.sync.aligned.32x32b.x8.b32 {%r40,%r41,%r42,%r43,%r44,%r45,%r46,%r47}, [%r22];\n";

std::uint32_t source_word(std::uint32_t offset) {
  std::uint32_t word = 0;
  for (std::uint32_t b = 0; b < 4; ++b) word |= (offset + b) % 251 << (8 * b);
  return word;
}

std::vector<std::uint32_t> copied(const std::string& shape, const std::string& desc) {
  return expect_fine(allocated() + numbered() + kStored + kSource + desc +
                         "@%p2 tcgen05.cp.cta_group::1." + shape + " [%r20], %d8;" + kCommit +
                         kCompleted + kLoadEight + kLoaded + shown() + freed(),
                     kFour);
}

TEST(TensorCopy, RowsOf16Bytes) {
  // Groups of eight rows, 128 bytes each, side by side.
  const auto out = copied("128x128b", descriptor(1024, 16, 128));
  for (unsigned lane = 0; lane < 128; ++lane) {
    for (unsigned c = 0; c < 4; ++c)
      ASSERT_EQ(out[8 * lane + c], source_word(1024 + 16 * lane + 4 * c));
    ASSERT_EQ(out[8 * lane + 4], cell(lane, 4));
  }
}

TEST(TensorCopy, RowsOf32BytesInTwoColumnsOfCores) {
  // The second 16 bytes of a row are 128 bytes away, the next eight rows 256.
  const auto out = copied("4x256b", descriptor(1024, 128, 256));
  for (unsigned lane = 0; lane < 128; ++lane) {
    for (unsigned c = 0; c < 8; ++c) {
      const std::uint32_t at = 1024 + 16 * (lane / 32) + 128 * (c / 4) + 4 * (c % 4);
      ASSERT_EQ(out[8 * lane + c], lane % 32 == 0 ? source_word(at) : cell(lane, c)) << lane;
    }
  }
  const auto all = copied("128x256b", descriptor(0x40, 0, 0));
  EXPECT_EQ(all[8 * 9 + 5], source_word(0x40 + 16 + 4));
}

TEST(TensorCopy, ToSeveralWarpsAtOnce) {
  const auto four = copied("32x128b.warpx4", descriptor(1024, 16, 128));
  const auto two = copied("64x128b.warpx2::02_13", descriptor(1024, 16, 128));
  const auto pairs = copied("64x128b.warpx2::01_23", descriptor(1024, 16, 128));
  for (unsigned lane = 0; lane < 128; ++lane) {
    ASSERT_EQ(four[8 * lane], source_word(1024 + 16 * (lane % 32)));
    ASSERT_EQ(two[8 * lane], source_word(1024 + 16 * (lane % 64)));
    ASSERT_EQ(pairs[8 * lane], source_word(1024 + 16 * (lane / 64 * 32 + lane % 32)));
  }
}

TEST(TensorCopy, SwizzledRows) {
  // 128 bytes to a row, of which 32 are copied; 16-byte pieces are exchanged by the row's number.
  const auto out = copied("4x256b", descriptor(1024, 0, 1024, 2));
  for (unsigned row = 0; row < 4; ++row) {
    for (unsigned c = 0; c < 8; ++c) {
      const std::uint32_t piece = (c / 4) ^ row;
      ASSERT_EQ(out[8 * 32 * row + c], source_word(1024 + 128 * row + 16 * piece + 4 * (c % 4)));
    }
  }
  const auto narrow = copied("4x256b", descriptor(1024, 0, 256, 6));
  EXPECT_EQ(narrow[8 * 32 * 3 + 0], source_word(1024 + 96));
}

TEST(TensorCopy, SmallElementsBecomeBytes) {
  const auto bit_field = [](std::uint32_t offset, unsigned bit, unsigned width) {
    const std::uint32_t at = offset + bit / 8;
    const std::uint32_t word = (at % 251) | ((at + 1) % 251 << 8U);
    return (word >> (bit % 8)) & ((1U << width) - 1);
  };
  for (const unsigned width : {4U, 6U}) {
    const auto out =
        copied(std::string("128x128b.b8x16.") + (width == 4 ? "b4x16_p64" : "b6x16_p32"),
               descriptor(1024, 16, 128));
    for (unsigned i = 0; i < 16; ++i) {
      const std::uint32_t byte = (out[8 * 70 + i / 4] >> (8 * (i % 4))) & 0xFFU;
      ASSERT_EQ(byte, bit_field(1024 + 16 * 70, i * width, width)) << i;
    }
  }
}

// Triton 3.4 to 3.7 widen the address and leave the state space out.
TEST(TensorCopy, CommitTakesAWidenedSharedAddress) {
  const auto with = [](const std::string& widen) {
    return allocated() + kSource + descriptor(1024, 16, 128) + widen +
           "@%p2 tcgen05.cp.cta_group::1.128x128b [%r20], %d8;"
           "@%p2 tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%d9];\n" +
           kCompleted + "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r40}, [%r22];" + kLoaded + freed();
  };
  expect_fine(with("cvt.u64.u32 %d9, %r3; cvta.shared.u64 %d9, %d9;"), kFour);
  const Done done =
      expect_found(Check::Space, "is in no state space", with("cvt.u64.u32 %d9, %r3;"), kFour);
  EXPECT_EQ(done.outcome, Outcome::Finished) << done.reason;
  EXPECT_EQ(done.findings.find('\n'), done.findings.size() - 1) << done.findings;
}

TEST(TensorCopy, IsWaitedForThroughAnMbarrier) {
  const std::string start = allocated() + kSource + descriptor(1024, 16, 128) +
                            "@%p2 tcgen05.cp.cta_group::1.128x128b [%r20], %d8;" + kCommit;
  const std::string load =
      "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r40}, [%r22];" + kLoaded + freed();
  expect_found(Check::Async, "still to write", start + "bar.sync 0;" + load, kFour);
  expect_fine(start + kCompleted + load, kFour);
  // The source belongs to the copy until then, too.
  const std::string again = "st.shared.u32 [%r4+1024], 1;";
  expect_found(Check::Async, "may still be reading", start + again + "WAIT(0, 0);" + load, kFour);
  expect_fine(start + kCompleted + "bar.sync 0;" + again + load, kFour);
  expect_found(Check::Async, "the kernel ends without a wait for a `tcgen05.commit`",
               start + freed(), kFour);
}

TEST(TensorCopy, IntoColumnsThatAreNotAllocated) {
  expect_found(Check::Tensor, "column 64 of tensor memory is not allocated",
               allocated() + kSource + descriptor(1024, 16, 128) +
                   "@%p2 tcgen05.cp.cta_group::1.128x128b [%r20+62], %d8;" + kCommit +
                   "WAIT(0, 0);" + freed(),
               kFour);
}

TEST(TensorShift, MovesRowsDownByOne) {
  const auto out =
      expect_fine(allocated() + numbered() + kStored +
                      "setp.eq.u32 %p2, %r1, 0; @%p2 mbarrier.init.shared.b64 [bar], 1;" +
                      kBarrier + "@%p2 tcgen05.shift.cta_group::1.down [%r20+2097152];" + kCommit +
                      kCompleted + kLoadEight + kLoaded + shown() + freed(),
                  kFour);
  EXPECT_EQ(out[8 * 31 + 3], cell(31, 3));
  EXPECT_EQ(out[8 * 32 + 3], cell(32, 3));
  EXPECT_EQ(out[8 * 33 + 3], cell(32, 3));
  EXPECT_EQ(out[8 * 63 + 3], cell(62, 3));
  EXPECT_EQ(out[8 * 64 + 3], cell(64, 3));
  expect_found(Check::Tensor, "not a multiple of 32",
               allocated() +
                   "setp.eq.u32 %p2, %r1, 0; @%p2 tcgen05.shift.cta_group::1.down "
                   "[%r20+65536];" +
                   freed(),
               kFour);
}

TEST(TensorCommit, ToTheBarriersOfSeveralBlocks) {
  const Grid pair{.threads = 32, .blocks = 2, .cluster = 2, .target = "sm_100a"};
  const std::string sync = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;";
  expect_fine(
      "setp.eq.u32 %p2, %r1, 0; @%p2 mbarrier.init.shared.b64 [bar], 1;"
      "fence.mbarrier_init.release.cluster;" +
          sync +
          "mov.u32 %r12, %cluster_ctarank; setp.eq.u32 %p3, %r12, 0; and.pred %p3, %p3, %p2;"
          "mov.u16 %h1, 3; @%p3 tcgen05.commit.cta_group::2.mbarrier::arrive::one"
          ".shared::cluster.multicast::cluster.b64 [%r3], %h1; WAIT(0, 0);" +
          sync,
      pair);
}

TEST(TensorCopy, InBothBlocksOfAPair) {
  const Grid pair{.threads = 128, .blocks = 2, .cluster = 2, .target = "sm_100a"};
  const std::string sync = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;";
  const auto in_pairs = [](std::string text) {
    for (std::size_t at = text.find("cta_group::1"); at != std::string::npos;
         at = text.find("cta_group::1")) {
      text.replace(at, 12, "cta_group::2");
    }
    return text;
  };
  // Both blocks hold the same numbers in shared memory; the first thread of the first one copies.
  const std::string commit =
      "mov.u16 %h1, 3; @%p3 tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster"
      ".multicast::cluster.b64 [%r3], %h1;";
  const std::string show =
      "mul.wide.u32 %d3, %r5, 4; add.u64 %d3, %d3, %a1;"
      "st.global.u32 [%d3], %r40;";
  const auto out = expect_fine(
      in_pairs(allocated() + kSource + descriptor(1024, 16, 128) +
               "mov.u32 %r12, %cluster_ctarank; setp.eq.u32 %p3, %r12, 0; and.pred %p3, %p3, %p2;" +
               sync + "@%p3 tcgen05.cp.cta_group::1.128x128b [%r20], %d8;" + commit + kCompleted +
               kLoadEight + kLoaded + show + sync + freed()),
      pair);
  for (unsigned i = 0; i < 256; ++i) ASSERT_EQ(out[i], source_word(1024 + 16 * (i % 128)));
  expect_found(Check::Tensor, "has no peer",
               in_pairs(allocated() + kSource + descriptor(1024, 16, 128) +
                        "@%p2 tcgen05.cp.cta_group::1.128x128b [%r20], %d8;" + kCommit +
                        "WAIT(0, 0);" + freed()),
               kFour);
}

}  // namespace
}  // namespace ww::sim::ops_tcgen05_cp_test
