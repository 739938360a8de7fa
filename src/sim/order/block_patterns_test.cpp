// SPDX-License-Identifier: Apache-2.0
// Whole patterns that kernels are made of, each with twins from which one thing is missing: named
// under every one of many schedules, and the right one under none.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "sim/order/test_order.h"

namespace ww::sim::block_patterns_test {
namespace {

constexpr unsigned kMany = 21;  // schedules
constexpr OrderLaunch kOneWarp{.blocks = 1, .threads = 32, .schedules = kMany};
constexpr OrderLaunch kTwoWarps{.blocks = 1, .threads = 64, .schedules = kMany};
constexpr OrderLaunch kFour{.blocks = 4, .threads = 32, .schedules = kMany};
constexpr OrderLaunch kFourWide{.blocks = 4, .threads = 64, .schedules = kMany};

// --- one block -----------------------------------------------------------------------------------

/// 64 numbers become one: across the warps, then inside the first one.
std::string reduction(std::string_view after_read, std::string_view after_write) {
  return fmt::format(
      "setp.lt.u32 %p3, %r1, 32;\nst.volatile.shared.u32 [%r3], %r1;\nbar.sync 0;\n"
      "@!%p3 bra DONE;\nld.volatile.shared.u32 %r5, [%r3];\n"
      "ld.volatile.shared.u32 %r6, [%r3+128];\nadd.u32 %r5, %r5, %r6;\n"
      "mov.u32 %r7, 16;\nHALVE:\n{0}\nst.volatile.shared.u32 [%r3], %r5;\n{1}\n"
      "xor.b32 %r8, %r1, %r7;\nmad.lo.u32 %r8, %r8, 4, %r4;\n"
      "ld.volatile.shared.u32 %r6, [%r8];\nadd.u32 %r5, %r5, %r6;\nshr.u32 %r7, %r7, 1;\n"
      "setp.ne.u32 %p4, %r7, 0;\n@%p4 bra HALVE;\nst.global.u32 [%d3], %r5;\nDONE:",
      after_read, after_write);
}
TEST(BlockPatterns, AReductionInsideAWarp) {
  constexpr std::string_view kMeet = "bar.warp.sync -1;";
  EXPECT_EQ(expect_ordered(reduction(kMeet, kMeet), kTwoWarps)[0], 2016U);
  constexpr std::string_view kStore = "st.volatile.shared.u32 [%r3], %r5";
  constexpr std::string_view kLoad = "ld.volatile.shared.u32 %r6, [%r8]";
  for (const auto& [read, write] : {std::pair("", ""), {kMeet.data(), ""}, {"", kMeet.data()}})
    expect_disorder(reduction(read, write), kStore, kLoad, kTwoWarps);
}

TEST(BlockPatterns, CellsThatNobodyFilled) {
  const auto body = [](unsigned filled) {
    return fmt::format(
        "setp.lt.u32 %p3, %r1, {};\n@%p3 st.shared.u32 [%r3], %r1;\nbar.sync 0;\n"
        "ld.shared.u32 %r5, [%r3];\nshl.b32 %r6, %r5, 1;\nst.global.u32 [%d3], %r6;",
        filled);
  };
  EXPECT_EQ(expect_ordered(body(64), kTwoWarps)[63], 126U);
  expect_disorder(body(60), "st.global.u32", "", kTwoWarps, Check::Uninit, "`%r6` is used");
}

TEST(BlockPatterns, MasksOfOneShuffle) {
  const auto body = [](std::string_view low, std::string_view high) {
    return fmt::format(
        "setp.lt.u32 %p3, %r1, 16;\nselp.b32 %r5, {}, {}, %p3;\n"
        "shfl.sync.bfly.b32 %r6, %r1, 1, 31, %r5;\nst.global.u32 [%d3], %r6;",
        low, high);
  };
  EXPECT_EQ(expect_ordered(body("0xffffffff", "0xffffffff"), kOneWarp)[6], 7U);
  expect_ordered(body("0x0000ffff", "0xffff0000"), kOneWarp);
  expect_disorder(body("0x0000ffff", "0xffffffff"), "shfl.sync.bfly", "", kOneWarp,
                  Check::Collective, "different member masks");
}

/// A copy of 128 bytes, or two of them, and an mbarrier that expects so many bytes.
std::string bulk(unsigned expected, unsigned copies) {
  std::string body = fmt::format(
      "@%p2 mbarrier.init.shared.b64 [bar], 1;\nfence.mbarrier_init.release.cluster;\n"
      "bar.sync 0;\n@!%p2 bra WAIT;\n"
      "mbarrier.arrive.expect_tx.shared.b64 %d7, [bar], {};\n",
      expected);
  for (unsigned i = 0; i < copies; ++i) {
    body += fmt::format(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[cells+{0}], [%a0+{0}], 128, [bar];\n",
        128 * i);
  }
  return body +
         "WAIT:\nmbarrier.try_wait.parity.shared.b64 %p7, [bar], 0;\n@!%p7 bra WAIT;\n"
         "ld.shared.u32 %r5, [%r3];\nadd.u32 %r6, %r5, 1;\nst.global.u32 [%d3], %r6;";
}
TEST(BlockPatterns, BytesThatAnMbarrierExpects) {
  constexpr std::string_view kCopy = "cp.async.bulk.shared::cluster";
  constexpr std::string_view kExpect = "mbarrier.arrive.expect_tx";
  EXPECT_EQ(expect_ordered(bulk(256, 2), kTwoWarps)[63], 1U);
  expect_disorder(bulk(128, 2), kCopy, kExpect, kTwoWarps, Check::Barrier,
                  "expects 128 bytes and its phase ends when they are there, with 128 bytes more "
                  "still on their way");
  expect_disorder(bulk(16, 1), kCopy, kExpect, kOneWarp, Check::Barrier,
                  "gets 112 bytes more than it expects");
}

// --- several blocks ------------------------------------------------------------------------------

/// One thread takes a lock, all of its block work.
std::string locked_block(std::string_view taken, std::string_view met, std::string_view give) {
  return fmt::format(
      "@!%p2 bra TAKEN;\nTAKE:\natom.global.cas.b32 %r5, [%a1], 0, 1;\n"
      "setp.ne.u32 %p5, %r5, 0;\n@%p5 bra TAKE;\n{}\nTAKEN:\nbar.sync 0;\n"
      "ld.global.u32 %r6, [%d1];\nadd.u32 %r6, %r6, 1;\nst.global.u32 [%d1], %r6;\n{}\n"
      "@!%p2 bra DONE;\n{}\natom.global.exch.b32 %r5, [%a1], 0;\nDONE:",
      taken, met, give);
}
TEST(BlockPatterns, ALockForTheWholeBlock) {
  constexpr std::string_view kMeet = "bar.sync 0;", kFence = "membar.gl;";
  expect_ordered(locked_block(kFence, kMeet, kFence), kFourWide);
  const auto expect_race = [](const std::string& body) {
    expect_disorder(body, "ld.global.u32 %r6", "st.global.u32 [%d1]", kFourWide);
  };
  expect_race(locked_block("", kMeet, ""));
  expect_race(locked_block("", kMeet, kFence));
  expect_race(locked_block(kFence, kMeet, ""));
  expect_race(locked_block(kFence, "", kFence));
}

/// The last block adds up what all have written, thread by thread.
std::string last_block(std::string_view before, std::string_view behind) {
  return fmt::format(
      "mad.lo.u32 %r5, %r2, 32, %r1;\nmul.wide.u32 %d5, %r5, 4;\nadd.u64 %d5, %d5, %a2;\n"
      "st.global.u32 [%d5], 1;\n{}\nbar.sync 0;\n@!%p2 bra COUNTED;\n"
      "atom.global.add.u32 %r6, [%a1], 1;\n{}\nst.shared.u32 [cells], %r6;\nCOUNTED:\n"
      "bar.sync 0;\nld.shared.u32 %r6, [cells];\nsetp.ne.u32 %p5, %r6, 3;\n@%p5 bra DONE;\n"
      "ld.global.u32 %r7, [%d3];\nld.global.u32 %r8, [%d3+128];\nadd.u32 %r7, %r7, %r8;\n"
      "ld.global.u32 %r8, [%d3+256];\nadd.u32 %r7, %r7, %r8;\n"
      "ld.global.u32 %r8, [%d3+384];\nadd.u32 %r7, %r7, %r8;\nst.global.u32 [%d3+512], %r7;\n"
      "DONE:",
      before, behind);
}
TEST(BlockPatterns, TheLastBlockAddsUpForAll) {
  constexpr std::string_view kFence = "membar.gl;";
  EXPECT_EQ(expect_ordered(last_block(kFence, kFence), kFour)[140], 4U);
  for (const auto& [before, behind] :
       {std::pair<std::string_view, std::string_view>("", ""), {kFence, ""}, {"", kFence}})
    expect_disorder(last_block(before, behind), "st.global.u32 [%d5]", "ld.global.u32 %r8", kFour);
}

TEST(BlockPatterns, VolatileResultsOfTheLastBlock) {
  // Volatile accesses do not race with each other, and the counter has told that all are there;
  // plain ones would.
  const auto body = [](std::string_view access) {
    return fmt::format(
        "@!%p2 bra DONE;\nmul.wide.u32 %d5, %r2, 4;\nadd.u64 %d5, %d5, %a0;\n"
        "st{0}.global.u32 [%d5], 1;\nmembar.gl;\natom.global.inc.u32 %r5, [%a1], 4;\n"
        "setp.ne.u32 %p5, %r5, 3;\n@%p5 bra DONE;\nld{0}.global.u32 %r6, [%a0];\n"
        "ld{0}.global.u32 %r7, [%a0+8];\nadd.u32 %r6, %r6, %r7;\nst.global.u32 [%a2], %r6;\n"
        "st.global.u32 [%a1], 0;\nDONE:",
        access);
  };
  EXPECT_EQ(expect_ordered(body(".volatile"), kFour)[0], 2U);
  expect_disorder(body(""), "st.global.u32 [%d5]", "ld.global.u32 %r", kFour);
}

TEST(BlockPatterns, BytesAndCountersSideBySide) {
  // Each thread has bytes of its own in words that others share, and all count in one place.
  const auto body = [](std::string_view own) {
    return fmt::format(
        "red.global.add.u32 [%d2], 1;\nmad.lo.u32 %r5, %r2, 32, {};\ncvt.u64.u32 %d5, %r5;\n"
        "add.u64 %d5, %d5, %a2;\nst.global.u8 [%d5], %r1;\natom.global.add.u32 %r6, [%d2], 1;",
        own);
  };
  expect_ordered(body("%r1"), kFour);
  expect_disorder(fmt::format("shl.b32 %r7, %r1, 1;\n{}", body("%r7")), "st.global.u8",
                  "st.global.u8", kFour);
}

TEST(BlockPatterns, AQueueOfWork) {
  const auto body = [](std::string_view taken, std::string_view done) {
    return fmt::format(
        "NEXT:\n@!%p2 bra TAKEN;\natom.global.add.u32 %r5, [%a1], 1;\n"
        "st.shared.u32 [cells], %r5;\nTAKEN:\n{}\nld.shared.u32 %r6, [cells];\n{}\n"
        "setp.ge.u32 %p5, %r6, 4;\n@%p5 bra DONE;\nmad.lo.u32 %r7, %r6, 64, %r1;\n"
        "mul.wide.u32 %d5, %r7, 4;\nadd.u64 %d5, %d5, %a2;\nst.global.u32 [%d5], %r6;\n"
        "bra NEXT;\nDONE:",
        taken, done);
  };
  EXPECT_EQ(expect_ordered(body("bar.sync 0;", "bar.sync 0;"), kFourWide)[200], 3U);
  // The next piece of work is put where somebody still reads the one before.
  expect_disorder(body("bar.sync 0;", ""), "st.shared.u32 [cells]", "ld.shared.u32 %r6", kFourWide);
}

}  // namespace
}  // namespace ww::sim::block_patterns_test
