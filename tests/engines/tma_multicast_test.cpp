// SPDX-License-Identifier: Apache-2.0
// copy_async to several CTAs of a cluster: shares of a tile, one sender, pairs, copies by chance, what is
// refused, and faults that must show.
#include <gmock/gmock.h>

#include "engines/random_boxes.h"

namespace ww::test::tma_multicast_test {
namespace {

using ::testing::HasSubstr;

const BoxCase kGood{.array = {64, 128},
                    .shared = {32, 64},
                    .tile = swizzled(3, 3, 3, "S[(32, 64) : (64, 1)]"),
                    .from = "[16:48, 64:128]",
                    .settings = "multicast=(0, 1), split=True",
                    .grid = {4},
                    .cluster = 2};

Program changed(const BoxCase& c, const std::string& what, const std::string& with) {
  Program program = program_of(c);
  const std::size_t at = program.source.find(what);
  EXPECT_NE(at, std::string::npos) << what << "\n" << program.source;
  if (at != std::string::npos) program.source.replace(at, what.size(), with);
  return program;
}

TEST(TmaMulticast, SharesOfATile) {
  Family family("tma, multicast", Nvcc::Always);
  for (const int ctas : {2, 4, 8}) {
    BoxCase c = kGood;
    c.cluster = ctas;
    c.grid = {2 * ctas};
    c.settings = "multicast=tuple(range(" + std::to_string(ctas) + ")), split=True";
    const Checked checked = family.run(program_of(c), by_boxes(1));
    EXPECT_EQ(count_of(checked.ptx, "multicast::cluster"), 1U) << checked.ptx;
    family.count();
  }
}

TEST(TmaMulticast, OneSenderAndPairs) {
  Family family("tma, one sender", Nvcc::Always);
  BoxCase c = kGood;
  c.cluster = 4;
  c.settings = "cta_mask=0b1101";
  c.sends = "rank == 1";  // which gets nothing
  c.receives = "(13 >> rank) % 2 == 1";
  family.run(program_of(c), by_boxes(1));
  c.settings = "cta_mask=3 << (rank // 2 * 2)";
  c.sends = "rank % 2 == 0";
  c.receives = "";
  family.run(program_of(c), by_boxes(1));
  // Ranks known at run time, in an order of their own.
  c.settings = "multicast=(rank // 2 * 2 + 1, rank // 2 * 2), split=True";
  c.sends = "";
  family.run(program_of(c), by_boxes(1));
  // To itself alone, in a cluster and without one.
  c.settings = "cta_mask=1 << rank";
  family.run(program_of(c), by_boxes(1));
  c.settings = "cta_mask=1";
  c.cluster = 1;
  c.grid = {2};
  const Checked alone = family.run(program_of(c), by_boxes(1));
  EXPECT_EQ(count_of(alone.ptx, "multicast"), 0U) << alone.ptx;
  family.count(5);
}

TEST(TmaMulticast, ByChance) { run_by_chance("tma, multicast by chance", 60, multicast_by_chance); }

// --- what is refused -----------------------------------------------------------------------------

TEST(TmaMulticast, Refuses) {
  const auto refuses = [](const std::string& settings, const std::string& why, int cluster = 2) {
    BoxCase c = kGood;
    c.settings = settings;
    c.cluster = cluster;
    EXPECT_THAT(compile_only(program_of(c)).why, HasSubstr(why)) << settings;
  };
  refuses("cta_mask=5",
          "`cta_mask` of `copy_async` is 5, and the cluster has 2 CTAs, expected 1 to 3");
  refuses("cta_mask=0", "`cta_mask` of `copy_async` is 0");
  refuses("cta_mask=2", "is 2, and the cluster has 1 CTA, expected 1 to 1", 1);
  refuses("cta_mask=\"all\"", "expected an integer with a bit for each CTA of the cluster");
  refuses("multicast=(0, 2)", "`cta_mask` of `copy_async` is 5, and the cluster has 2 CTAs");
  refuses("multicast=(0, 0)", "`multicast` lists rank 0 twice");
  refuses("multicast=(0, 16)", "`multicast` to rank 16, expected 0 to 15");
  refuses("multicast=()", "`multicast` to 0 CTAs, expected 1 to 16");
  refuses("multicast=(0, 1), cta_mask=3", "with both `multicast` and `cta_mask`");
  refuses("split=True", "`split` without a list of CTAs that share the copy");
  refuses("multicast=(0,), split=True",
          "`split` of a copy in a kernel without `T.cta_id_in_cluster([n])`", 1);
  BoxCase odd = kGood;
  odd.shared = {3, 32};
  odd.tile = "";
  odd.dtype = "float32";
  odd.from = "[0:3, 0:32]";
  odd.cluster = 5;
  odd.grid = {5};
  odd.settings = "multicast=(0, 1, 2, 3, 4), split=True";
  EXPECT_THAT(
      compile_only(program_of(odd)).why,
      HasSubstr("`split` of a copy over 5 CTAs, and no dimension of it has a multiple of 5"));
  BoxCase store = kGood;
  store.is_load = false;
  store.cluster = 1;
  store.settings = "cta_mask=1";
  EXPECT_THAT(compile_only(program_of(store)).why,
              HasSubstr("`cta_mask` of `copy_async` is for global to shared memory, this is shared "
                        "to global"));
}

// Every CTA expects what all of them send.
TEST(TmaMulticast, BytesThatDoNotAddUp) {
  const auto why = [](const BoxCase& c, const std::string& what, const std::string& with) {
    return compile_only(changed(c, what, with)).why;
  };
  EXPECT_EQ(why(kGood, ", 4096)", ", 4096)"), "");
  EXPECT_THAT(why(kGood, ", 4096)", ", 2048)"),
              HasSubstr("the mbarrier at `T.address_of(bar[0])` expects 2048 bytes in CTA 0 of the "
                        "cluster, and the copies that name it bring 4096 [BadTileCall]"));
  // Both send all of it.
  EXPECT_THAT(why(kGood, ", split=True", ""), HasSubstr("bring 8192"));
  // One sends, and one is left out.
  BoxCase one = kGood;
  one.settings = "cta_mask=1";
  one.sends = "rank == 0";
  EXPECT_THAT(why(one, "bx", "bx"),
              HasSubstr("expects 4096 bytes in CTA 1 of the cluster, and the copies that name it "
                        "bring 0"));
  one.receives = "rank == 0";
  EXPECT_EQ(why(one, "bx", "bx"), "");
}

// --- faults that must show -----------------------------------------------------------------------

TEST(TmaMulticast, FaultsShow) {
  const auto expect = [](const std::string& what, const std::string& with,
                         const std::string& evaluator, const std::string& device) {
    const Findings found = findings_of(changed(kGood, what, with));
    EXPECT_TRUE(found.tile && found.tile->contains(evaluator)) << found.tile.value_or("nothing");
    EXPECT_TRUE(found.lowered && found.lowered->contains(evaluator))
        << found.lowered.value_or("nothing");
    EXPECT_TRUE(found.device && found.device->contains(device)) << found.device.value_or("nothing");
  };
  // A CTA sends before the others have an mbarrier.
  expect(
      "T.cuda.cluster_sync()", "T.cuda.cta_sync()",
      "thread 0 of CTA (0,0,0) sends a copy to CTA (1,0,0), whose mbarrier at `bar` at byte 0 is "
      "not initialised",
      "mbarrier");
  expect(", 4096)", ", 8192 + bx // 8)", "4096 bytes are missing", "4096");
  expect("    T.cuda.mbarrier_wait(T.address_of(bar[0]), 0)\n", "    T.cuda.cta_sync()\n",
         "while a copy into it is under way", "that an asynchronous write is still on its way to");
  expect("multicast=(0, 1), split=True", "cta_mask=3 + bx // 8 * 4 + 4",
         "sends a copy to CTA 2 of a cluster of 2", "cluster");
}

}  // namespace
}  // namespace ww::test::tma_multicast_test
