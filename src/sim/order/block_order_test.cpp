// SPDX-License-Identifier: Apache-2.0
// What orders blocks, and what looks as if it did. Each way by a kernel that is fine and twins from
// which one thing is missing; docs/reference/sim.md has the table.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "sim/order/test_order.h"

namespace ww::sim::block_order_test {
namespace {

constexpr std::string_view kWrite = "st.global.u32 [%a0], 42;";
constexpr std::string_view kRead = "ld.global.u32 %r6, [%a0];";

/// One thread of block 0 writes and sets a flag; one of block 1 waits for it and reads.
struct Message {
  std::string_view before, set, wait, behind;  // fence, store of the flag, load of it, fence

  [[nodiscard]] std::string body() const {
    return fmt::format(
        "@!%p2 bra DONE;\n@!%p1 bra READ;\n{}\n{}\n{} [%a1], 1;\nbra DONE;\n"
        "READ:\n{} %r5, [%a1];\nsetp.eq.u32 %p5, %r5, 0;\n@%p5 bra READ;\n{}\n{}\n"
        "st.global.u32 [%a2], %r6;\nDONE:",
        kWrite, before, set, wait, behind, kRead);
  }
};

constexpr std::string_view kRelease = "st.release.gpu.global.u32";
constexpr std::string_view kAcquire = "ld.acquire.gpu.global.u32";
constexpr std::string_view kSet = "st.relaxed.gpu.global.u32";
constexpr std::string_view kWait = "ld.relaxed.gpu.global.u32";
constexpr std::string_view kVolatileSet = "st.volatile.global.u32";
constexpr std::string_view kVolatileWait = "ld.volatile.global.u32";

TEST(BlockOrder, MessagesThatArrive) {
  const Message messages[] = {
      {"", kRelease, kAcquire, ""},
      {"", "st.release.sys.global.u32", kAcquire, ""},
      {"", kRelease, "ld.acquire.sys.global.u32", ""},
      {"fence.acq_rel.gpu;", kSet, kWait, "fence.acq_rel.gpu;"},
      {"fence.sc.gpu;", kSet, kWait, "fence.acq_rel.sys;"},
      {"fence.release.gpu;", kSet, kWait, "fence.acquire.gpu;"},
      {"membar.gl;", kVolatileSet, kVolatileWait, "membar.gl;"},
      {"membar.sys;", "st.mmio.relaxed.sys.global.u32", kVolatileWait, "membar.gl;"},
      {"", kRelease, kWait, "fence.acq_rel.gpu;"},
      {"fence.acq_rel.gpu;", kSet, kAcquire, ""},
      {"membar.gl;", "red.global.add.u32", kVolatileWait, "membar.gl;"},
      {"", "red.release.gpu.global.add.u32", kAcquire, ""},
      {"", "red.async.release.gpu.global.add.u32", kAcquire, ""},
  };
  for (const Message& message : messages) {
    const bool is_async = message.set.starts_with("red.async");
    EXPECT_EQ(expect_ordered(message.body(), {.target = is_async ? "sm_100a" : "sm_90a"})[0], 42U);
  }
}

TEST(BlockOrder, MessagesThatNeedNotArrive) {
  const Message messages[] = {
      // neither side
      {"", kSet, kWait, ""},
      {"", kVolatileSet, kVolatileWait, ""},
      {"", "red.global.add.u32", kVolatileWait, ""},
      // one side
      {"membar.gl;", kSet, kWait, ""},
      {"", kSet, kWait, "membar.gl;"},
      {"", kRelease, kWait, ""},
      {"", kSet, kAcquire, ""},
      {"fence.acquire.gpu;", kSet, kWait, "fence.acquire.gpu;"},
      {"fence.release.gpu;", kSet, kWait, "fence.release.gpu;"},
      // scopes that leave out the other block
      {"", "st.release.cta.global.u32", kAcquire, ""},
      {"", kRelease, "ld.acquire.cta.global.u32", ""},
      {"", "st.release.cluster.global.u32", "ld.acquire.cluster.global.u32", ""},
      {"membar.cta;", kVolatileSet, kVolatileWait, "membar.gl;"},
      {"membar.gl;", kVolatileSet, kVolatileWait, "membar.cta;"},
      {"fence.acq_rel.gpu;", "st.relaxed.cta.global.u32", kWait, "fence.acq_rel.gpu;"},
      {"fence.acq_rel.gpu;", kSet, "ld.relaxed.cta.global.u32", "fence.acq_rel.gpu;"},
      // a flag that is not strong, or not the same
      {"fence.acq_rel.gpu;", "st.global.u32", kAcquire, ""},
      {"", "st.release.gpu.global.u64", kAcquire, ""},
      // a fence of another kind, or for other memory
      {"fence.proxy.async;", kSet, kWait, "fence.proxy.async;"},
  };
  for (const Message& message : messages) expect_disorder(message.body(), kWrite, kRead);
}

TEST(BlockOrder, FlagsOfTheWrongScopeOrSizeRaceThemselves) {
  const auto expect_flags = [](const Message& message, std::string_view why) {
    expect_disorder(message.body(), message.set, message.wait, {}, Check::Race, why);
  };
  expect_flags({"", "st.release.cta.global.u32", kAcquire, ""},
               "both are strong, but scope `.cta` does not include the other thread");
  expect_flags({"", kRelease, "ld.acquire.cluster.global.u32", ""},
               "both are strong, but scope `.cluster` does not include the other thread");
  expect_flags({"", "st.release.gpu.global.u64", kAcquire, ""},
               "both are strong, but of different sizes, 4 and 8 bytes");
  expect_flags({"membar.gl;", "st.global.u32", kAcquire, ""}, "that another block has");
}

TEST(BlockOrder, ScopesOfAClusterDoWithinOne) {
  constexpr OrderLaunch kCluster{.blocks = 2, .threads = 32, .cluster = 2};
  const Message fine[] = {
      {"", "st.release.cluster.global.u32", "ld.acquire.cluster.global.u32", ""},
      {"fence.acq_rel.cluster;", kSet, kWait, "fence.acq_rel.cluster;"},
  };
  for (const Message& message : fine) expect_ordered(message.body(), kCluster);
  const Message narrow[] = {
      {"", "st.release.cta.global.u32", "ld.acquire.cluster.global.u32", ""},
      {"fence.acq_rel.cta;", kSet, kWait, "fence.acq_rel.cluster;"},
  };
  for (const Message& message : narrow) expect_disorder(message.body(), kWrite, kRead, kCluster);
}

// --- whole blocks --------------------------------------------------------------------------------

/// All threads of block 0 write, one sets the flag; one of block 1 waits, all read.
std::string by_blocks(std::string_view before_barrier, std::string_view behind_barrier,
                      std::string_view waited, std::string_view behind_wait) {
  return fmt::format(
      "@!%p1 bra READ;\nst.global.u32 [%d1], %r1;\n{}\nbar.sync 0;\n{}\n"
      "@%p2 st.volatile.global.u32 [%a1], 1;\nbra DONE;\n"
      "READ:\n@!%p2 bra WAITED;\n"
      "SPIN:\nld.volatile.global.u32 %r5, [%a1];\nsetp.eq.u32 %p5, %r5, 0;\n@%p5 bra SPIN;\n{}\n"
      "WAITED:\nbar.sync 0;\n{}\n"
      "xor.b32 %r7, %r1, 63;\nmul.wide.u32 %d5, %r7, 4;\nadd.u64 %d5, %d5, %a0;\n"
      "ld.global.u32 %r6, [%d5];\nst.global.u32 [%d3], %r6;\nDONE:",
      before_barrier, behind_barrier, waited, behind_wait);
}
constexpr OrderLaunch kTwoWarps{.blocks = 2, .threads = 64};

TEST(BlockOrder, FencesGoWithTheBarriersOfTheBlock) {
  // Every thread that wrote, or the one that tells; the one that was told, or every one that reads.
  for (const auto& [before, behind] : {std::pair("membar.gl;", ""), {"", "@%p2 membar.gl;"}}) {
    for (const auto& [waited, read] : {std::pair("membar.gl;", ""), {"", "membar.gl;"}}) {
      const auto out = expect_ordered(by_blocks(before, behind, waited, read), kTwoWarps);
      EXPECT_EQ(out[3], 60U);
    }
  }
}
TEST(BlockOrder, AFenceOfOneThreadIsNotForOthers) {
  // One thread's fence before the barrier knows nothing of what the others wrote.
  expect_disorder(by_blocks("@%p2 membar.gl;", "", "membar.gl;", ""), "st.global.u32 [%d1]",
                  "ld.global.u32 %r6", kTwoWarps);
  expect_disorder(by_blocks("membar.gl;", "", "", "@!%p2 membar.cta;"), "st.global.u32 [%d1]",
                  "ld.global.u32 %r6", kTwoWarps);
}

TEST(BlockOrder, WhatWasBeforeABarrierIsReleasedBehindIt) {
  const std::string body =
      "@!%p1 bra READ;\nst.global.u32 [%d1], %r1;\nBARRIER\n"
      "@%p2 st.release.gpu.global.u32 [%a1], 1;\nbra DONE;\n"
      "READ:\n@!%p2 bra WAITED;\n"
      "SPIN:\nld.acquire.gpu.global.u32 %r5, [%a1];\nsetp.eq.u32 %p5, %r5, 0;\n@%p5 bra SPIN;\n"
      "WAITED:\nBARRIER\n"
      "xor.b32 %r7, %r1, 31;\nmul.wide.u32 %d5, %r7, 4;\nadd.u64 %d5, %d5, %a0;\n"
      "ld.global.u32 %r6, [%d5];\nst.global.u32 [%d3], %r6;\nDONE:";
  const auto with = [&](std::string_view first, std::string_view second) {
    std::string text = body;
    text.replace(text.find("BARRIER"), 7, first);
    text.replace(text.find("BARRIER"), 7, second);
    return text;
  };
  for (const unsigned threads : {32U, 64U}) {
    const OrderLaunch launch{.blocks = 2, .threads = threads};
    expect_ordered(with("bar.sync 0;", "bar.sync 0;"), launch);
    expect_disorder(with("", "bar.sync 0;"), "st.global.u32 [%d1]", "ld.global.u32 %r6", launch);
    expect_disorder(with("bar.sync 0;", ""), "st.global.u32 [%d1]", "ld.global.u32 %r6", launch);
  }
  // Of one warp, its own barrier is enough, and is needed.
  expect_ordered(with("bar.warp.sync -1;", "bar.warp.sync -1;"));
  expect_disorder(
      with("setp.lt.u32 %p6, %r1, 16;\n@%p6 bar.warp.sync 0xffff;", "bar.warp.sync -1;"),
      "st.global.u32 [%d1]", "ld.global.u32 %r6");
}

TEST(BlockOrder, LanesSendEachTheirOwn) {
  const auto body = [](std::string_view set, std::string_view wait, std::string_view index) {
    return fmt::format(
        "@!%p1 bra READ;\nst.global.u32 [%d1], %r1;\n{} [%d2], 1;\nbra DONE;\n"
        "READ:\n{} %r5, [%d2];\nsetp.eq.u32 %p5, %r5, 0;\n@%p5 bra READ;\n"
        "xor.b32 %r7, %r1, {};\nmul.wide.u32 %d5, %r7, 4;\nadd.u64 %d5, %d5, %a0;\n"
        "ld.global.u32 %r6, [%d5];\nst.global.u32 [%d3], %r6;\nDONE:",
        set, wait, index);
  };
  EXPECT_EQ(expect_ordered(body(kRelease, kAcquire, "0"))[9], 9U);
  // A lane knows of its own flag, not of its neighbours'.
  expect_disorder(body(kRelease, kAcquire, "1"), "st.global.u32 [%d1]", "ld.global.u32 %r6");
}

// --- counters, locks, queues ---------------------------------------------------------------------

constexpr OrderLaunch kFour{.blocks = 4, .threads = 32};

std::string last_block(std::string_view before, std::string_view count, std::string_view behind) {
  return fmt::format(
      "@!%p2 bra DONE;\nmul.wide.u32 %d5, %r2, 4;\nadd.u64 %d5, %d5, %a0;\n"
      "st.global.u32 [%d5], %r2;\n{}\n{} %r5, [%a1], 1;\nsetp.ne.u32 %p5, %r5, 3;\n"
      "@%p5 bra DONE;\n{}\nld.global.v4.u32 {{%r10,%r11,%r12,%r13}}, [%a0];\n"
      "add.u32 %r10, %r10, %r11;\nadd.u32 %r12, %r12, %r13;\nadd.u32 %r10, %r10, %r12;\n"
      "st.global.u32 [%a2], %r10;\nst.global.u32 [%a1], 0;\nDONE:",
      before, count, behind);
}
TEST(BlockOrder, TheLastBlock) {
  EXPECT_EQ(expect_ordered(last_block("membar.gl;", "atom.global.add.u32", "membar.gl;"), kFour)[0],
            6U);
  expect_ordered(last_block("", "atom.acq_rel.gpu.global.add.u32", ""), kFour);
  const auto expect_race = [](const std::string& body) {
    expect_disorder(body, "st.global.u32 [%d5]", "ld.global.v4.u32", kFour);
  };
  expect_race(last_block("", "atom.global.add.u32", ""));
  expect_race(last_block("membar.gl;", "atom.global.add.u32", ""));
  expect_race(last_block("", "atom.global.add.u32", "membar.gl;"));
  expect_race(last_block("", "atom.release.gpu.global.add.u32", ""));
  expect_race(last_block("", "atom.acquire.gpu.global.add.u32", ""));
  expect_race(last_block("membar.cta;", "atom.global.add.u32", "membar.gl;"));
  // A counter that is no counter between blocks.
  expect_disorder(last_block("membar.gl;", "atom.relaxed.cta.global.add.u32", "membar.gl;"),
                  "atom.relaxed.cta", "atom.relaxed.cta", kFour, Check::Race, "scope `.cta`");
}
TEST(BlockOrder, TheLastBlockMayResetTheCounter) {
  // It has seen all the others there; a block that has not may not.
  constexpr std::string_view kReset = "st.global.u32 [%a1], 0;";
  expect_ordered(fmt::format("@!%p2 bra DONE;\natom.global.add.u32 %r5, [%a1], 1;\n"
                             "setp.ne.u32 %p5, %r5, 3;\n@%p5 bra DONE;\n{}\nDONE:",
                             kReset),
                 kFour);
  expect_disorder(
      fmt::format("@!%p2 bra DONE;\natom.global.add.u32 %r5, [%a1], 1;\n{}\nDONE:", kReset),
      "atom.global.add.u32", kReset, kFour);
}

std::string grid_barrier(std::string_view before, std::string_view behind) {
  return fmt::format(
      "mad.lo.u32 %r7, %r2, 64, %r1;\nmul.wide.u32 %d5, %r7, 4;\nadd.u64 %d5, %d5, %a2;\n"
      "st.global.u32 [%d5], %r7;\nbar.sync 0;\n@!%p2 bra MET;\n{}\n"
      "red.global.add.u32 [%a1], 1;\n"
      "SPIN:\nld.volatile.global.u32 %r5, [%a1];\nsetp.lt.u32 %p5, %r5, 4;\n@%p5 bra SPIN;\n{}\n"
      "MET:\nbar.sync 0;\nxor.b32 %r8, %r7, 192;\nmul.wide.u32 %d6, %r8, 4;\n"
      "add.u64 %d6, %d6, %a2;\nld.global.u32 %r9, [%d6];\n@%p1 st.shared.u32 [%r3], %r9;",
      before, behind);
}
TEST(BlockOrder, AGridBarrier) {
  constexpr OrderLaunch kGrid{.blocks = 4, .threads = 64};
  expect_ordered(grid_barrier("membar.gl;", "membar.gl;"), kGrid);
  for (const auto& [before, behind] :
       {std::pair("", ""), {"membar.gl;", ""}, {"", "membar.gl;"}, {"membar.cta;", "membar.cta;"}})
    expect_disorder(grid_barrier(before, behind), "st.global.u32 [%d5]", "ld.global.u32 %r9",
                    kGrid);
}

std::string locked(std::string_view take, std::string_view behind, std::string_view before,
                   std::string_view give) {
  return fmt::format(
      "@!%p2 bra DONE;\nTAKE:\n{} %r5, [%a1], 0, 1;\nsetp.ne.u32 %p5, %r5, 0;\n@%p5 bra TAKE;\n{}\n"
      "ld.global.u32 %r6, [%a0];\nadd.u32 %r6, %r6, 1;\nst.global.u32 [%a0], %r6;\n{}\n"
      "{} %r5, [%a1], 0;\nDONE:",
      take, behind, before, give);
}
TEST(BlockOrder, Locks) {
  constexpr std::string_view kCas = "atom.global.cas.b32", kExch = "atom.global.exch.b32";
  constexpr std::string_view kTake = "atom.acquire.gpu.global.cas.b32";
  constexpr std::string_view kGive = "atom.release.gpu.global.exch.b32";
  expect_ordered(locked(kCas, "membar.gl;", "membar.gl;", kExch), kFour);
  expect_ordered(locked(kTake, "", "", kGive), kFour);
  expect_ordered(locked("atom.acq_rel.gpu.global.cas.b32", "", "", kGive), kFour);
  const auto expect_race = [](const std::string& body) {
    expect_disorder(body, "ld.global.u32 %r6", "st.global.u32 [%a0]", kFour);
  };
  expect_race(locked(kCas, "", "", kExch));
  expect_race(locked(kCas, "membar.gl;", "", kExch));
  expect_race(locked(kCas, "", "membar.gl;", kExch));
  expect_race(locked(kTake, "", "", kExch));
  expect_race(locked(kCas, "", "", kGive));
  expect_race(locked(kTake, "", "", "atom.release.cta.global.exch.b32"));
}

std::string look_back(std::string_view before, std::string_view behind) {
  return fmt::format(
      "@!%p2 bra DONE;\nmul.wide.u32 %d5, %r2, 4;\nadd.u64 %d6, %d5, %a1;\n"
      "add.u64 %d7, %d5, %a2;\nadd.u64 %d5, %d5, %a0;\nmov.u32 %r6, 0;\n@%p1 bra FIRST;\n"
      "SPIN:\nld.volatile.global.u32 %r5, [%d6+-4];\nsetp.eq.u32 %p5, %r5, 0;\n@%p5 bra SPIN;\n{}\n"
      "ld.global.u32 %r6, [%d5+-4];\nFIRST:\nadd.u32 %r6, %r6, %r2;\nst.global.u32 [%d5], %r6;\n"
      "{}\nst.volatile.global.u32 [%d6], 1;\nst.global.u32 [%d7], %r6;\nDONE:",
      behind, before);
}
TEST(BlockOrder, LookingBack) {
  constexpr OrderLaunch kMany{.blocks = 40, .threads = 32};
  EXPECT_EQ(expect_ordered(look_back("membar.gl;", "membar.gl;"), kMany)[39], 780U);
  for (const auto& [before, behind] : {std::pair("", ""), {"membar.gl;", ""}, {"", "membar.gl;"}})
    expect_disorder(look_back(before, behind), "st.global.u32 [%d5]", "ld.global.u32 %r6", kMany);
}
TEST(BlockOrder, LookingBackAtOneWordNeedsNoFence) {
  // Status and value in one word of 64 bits: who sees the one has the other.
  expect_ordered(
      "@!%p2 bra DONE;\nmul.wide.u32 %d5, %r2, 8;\nadd.u64 %d5, %d5, %a0;\n"
      "mov.b64 %d6, {%r2, 1};\n@%p1 bra FIRST;\n"
      "SPIN:\nld.relaxed.gpu.global.u64 %d9, [%d5+-8];\nmov.b64 {%r5, %r6}, %d9;\n"
      "setp.eq.u32 %p5, %r6, 0;\n@%p5 bra SPIN;\nadd.u32 %r5, %r5, %r2;\nmov.b64 %d6, {%r5, 1};\n"
      "FIRST:\natom.global.exch.b64 %d8, [%d5], %d6;\nDONE:",
      {.blocks = 8, .threads = 32});
}

TEST(BlockOrder, WhoSeesAnAtomicSeesWhatCameBeforeIt) {
  // Block 0 publishes, block 1 counts up, relaxed; block 2 waits for the count.
  const auto body = [](std::string_view count) {
    return fmt::format(
        "@!%p2 bra DONE;\nsetp.eq.u32 %p3, %r2, 1;\nsetp.eq.u32 %p4, %r2, 2;\n"
        "@!%p1 bra NEXT;\nst.global.u32 [%a0], 42;\nst.release.gpu.global.u32 [%a1], 1;\n"
        "NEXT:\n@!%p3 bra LAST;\n"
        "SPIN:\nld.relaxed.gpu.global.u32 %r5, [%a1];\nsetp.eq.u32 %p5, %r5, 0;\n@%p5 bra SPIN;\n"
        "{}\nLAST:\n@!%p4 bra DONE;\n"
        "WAIT:\nld.acquire.gpu.global.u32 %r5, [%a1];\nsetp.lt.u32 %p5, %r5, 2;\n@%p5 bra WAIT;\n"
        "ld.global.u32 %r6, [%a0];\nDONE:",
        count);
  };
  constexpr OrderLaunch kThree{.blocks = 3, .threads = 32};
  expect_ordered(body("red.relaxed.gpu.global.add.u32 [%a1], 1;"), kThree);
  // A store instead: who sees its value has not seen the release.
  expect_disorder(body("st.relaxed.gpu.global.u32 [%a1], 2;"), "st.global.u32 [%a0]",
                  "ld.global.u32 %r6", kThree);
}

TEST(BlockOrder, KnowledgeIsHandedOn) {
  // Block 0 tells block 1, which tells block 2, each by a flag of its own.
  const auto body = [](std::string_view wait) {
    return fmt::format(
        "@!%p2 bra DONE;\nsetp.eq.u32 %p3, %r2, 1;\nsetp.eq.u32 %p4, %r2, 2;\n"
        "@!%p1 bra NEXT;\nst.global.u32 [%a0], 42;\nst.release.gpu.global.u32 [%a1], 1;\n"
        "NEXT:\n@!%p3 bra LAST;\n"
        "SPIN:\n{} %r5, [%a1];\nsetp.eq.u32 %p5, %r5, 0;\n@%p5 bra SPIN;\n"
        "st.release.gpu.global.u32 [%a1+4], 1;\nLAST:\n@!%p4 bra DONE;\n"
        "WAIT:\nld.acquire.gpu.global.u32 %r5, [%a1+4];\nsetp.eq.u32 %p5, %r5, 0;\n@%p5 bra WAIT;\n"
        "ld.global.u32 %r6, [%a0];\nDONE:",
        wait);
  };
  constexpr OrderLaunch kThree{.blocks = 3, .threads = 32};
  expect_ordered(body(kAcquire), kThree);
  expect_disorder(body(kWait), "st.global.u32 [%a0]", "ld.global.u32 %r6", kThree);
}

TEST(BlockOrder, ABufferIsWrittenAgainOnlyWhenItWasRead) {
  const auto body = [](std::string_view answer, std::string_view heard) {
    return fmt::format(
        "@!%p1 bra READ;\nst.global.u32 [%d1], %r1;\nbar.warp.sync -1;\n"
        "@%p2 st.release.gpu.global.u32 [%a1], 1;\n"
        "@!%p2 bra AGAIN;\nSPIN:\n{} %r5, [%a1+4];\nsetp.eq.u32 %p5, %r5, 0;\n@%p5 bra SPIN;\n"
        "AGAIN:\nbar.warp.sync -1;\nst.global.u32 [%d1], 7;\nbra DONE;\n"
        "READ:\nld.acquire.gpu.global.u32 %r5, [%a1];\nsetp.eq.u32 %p5, %r5, 0;\n@%p5 bra READ;\n"
        "ld.global.u32 %r6, [%d1];\nbar.warp.sync -1;\n@%p2 {} [%a1+4], 1;\nDONE:",
        heard, answer);
  };
  expect_ordered(body(kRelease, kAcquire));
  expect_disorder(body(kSet, kAcquire), "st.global.u32 [%d1], 7", "ld.global.u32 %r6");
  expect_disorder(body(kRelease, kWait), "st.global.u32 [%d1], 7", "ld.global.u32 %r6");
}

// --- what does not order -------------------------------------------------------------------------

TEST(BlockOrder, AnAtomicElsewhereOrdersNothing) {
  const auto body = [](std::string_view more) {
    return fmt::format("st.global.u32 [%d1], %r2;\n{}", more);
  };
  for (const std::string_view more :
       {"", "red.global.add.u32 [%a1], 1;", "atom.global.add.u32 %r5, [%a1], 1;",
        "ld.volatile.global.u32 %r5, [%a1];", "membar.gl;",
        "atom.acq_rel.gpu.global.add.u32 %r5, [%a1], 1;"})
    expect_disorder(body(more), "st.global.u32 [%d1]", "st.global.u32 [%d1]");
}

TEST(BlockOrder, PlainAndAtomicAccessesRace) {
  for (const std::string_view atomic :
       {"red.global.add.u32 [%a0], 1;", "atom.global.add.u32 %r5, [%a0], 1;"}) {
    expect_disorder(fmt::format("@%p1 {}\n@!%p1 ld.global.u32 %r6, [%a0];", atomic), atomic,
                    "ld.global.u32 %r6");
    expect_disorder(fmt::format("@%p1 {}\n@!%p1 st.global.u32 [%a0], 6;", atomic), atomic,
                    "st.global.u32 [%a0], 6");
    expect_ordered(atomic);
  }
  // The value before the first atomic is written by a block, too.
  expect_disorder(
      "@!%p2 bra DONE;\n@%p1 st.global.u32 [%a0], 5;\natom.global.add.u32 %r5, [%a0], 1;\nDONE:",
      "st.global.u32 [%a0], 5;", "atom.global.add.u32");
}

TEST(BlockOrder, AtomicsOfANarrowScopeRace) {
  for (const std::string_view op : {"red", "atom"}) {
    const std::string result = op == "atom" ? "%r5, " : "";
    const auto add = [&](std::string_view scope) {
      return fmt::format("{}.relaxed.{}.global.add.u32 {}[%a0], 1;", op, scope, result);
    };
    for (const std::string_view scope : {"cta", "cluster"})
      expect_disorder(add(scope), op, op, {}, Check::Race, "does not include the other thread");
    expect_ordered(add("gpu"));
    expect_ordered(add("cluster"), {.blocks = 2, .threads = 32, .cluster = 2});
  }
  expect_disorder("@%p1 red.global.add.u32 [%a0], 1;\n@!%p1 red.global.add.u64 [%a0], 1;",
                  "red.global.add.u32", "red.global.add.u64", {}, Check::Race, "different sizes");
}

TEST(BlockOrder, TheNonCoherentCacheNeedNotSeeWhatIsWritten) {
  const std::string body =
      "st.global.u32 [%d1], %r1;\nbar.sync 0;\nxor.b32 %r7, %r1, 33;\nmul.wide.u32 %d5, %r7, 4;\n"
      "add.u64 %d5, %d5, %a0;\nLOAD %r6, [%d5];\nst.global.u32 [%d3], %r6;";
  const auto with = [&](std::string_view load) {
    std::string text = body;
    return text.replace(text.find("LOAD"), 4, load);
  };
  constexpr OrderLaunch kOne{.blocks = 1, .threads = 64};
  EXPECT_EQ(expect_ordered(with("ld.global.u32"), kOne)[2], 35U);
  expect_disorder(with("ld.global.nc.u32"), "st.global.u32 [%d1]", "ld.global.nc.u32", kOne,
                  Check::Race, "`.nc`");
  // Between blocks, ordered by a flag.
  Message message{"", kRelease, kAcquire, ""};
  std::string text = message.body();
  text.replace(text.find(kRead), kRead.size(), "ld.global.nc.u32 %r6, [%a0];");
  expect_disorder(text, kWrite, "ld.global.nc.u32", {}, Check::Race, "`.nc`");
  // What is only read, and what is written later and elsewhere.
  expect_ordered("ld.global.nc.u32 %r6, [%d1];\nst.global.u32 [%d3], %r6;", {.blocks = 1});
  expect_ordered("ld.global.nc.u32 %r6, [%d1];\nbar.sync 0;\nst.global.u32 [%d1], 4;",
                 {.blocks = 1});
}

}  // namespace
}  // namespace ww::sim::block_order_test
