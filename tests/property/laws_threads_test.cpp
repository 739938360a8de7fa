// SPDX-License-Identifier: Apache-2.0
// Thread axes: fusing and splitting never change which thread holds an element. Threads are
// compared as linear ids, t = laneid + 32·warpid and so on.
#include <gtest/gtest.h>

#include "layout/canonical.h"
#include "layout/threads.h"
#include "property/laws.h"

namespace ww::test::laws_threads_test {
namespace {

using layout::Machine;

Complaint fuse_law(const Case& c) {
  const layout::Layout l = layout_of(c.operands[0]);
  const Table before = table_of(c.operands[0].parts);
  const layout::Layout fused = layout::fuse_threads(l, Machine::Cuda);
  const Table after = table_of(read(fused));
  if (const auto wrong = difference(on_threads(after), on_threads(before))) {
    return fmt::format("fuse_threads gave {}: {}", notation(read(fused)), *wrong);
  }
  // An axis outside its range names no thread; it must be left alone.
  for (const std::string& axis : axes_of(before)) {
    const auto digits = thread_digits(axis);
    if (!digits) continue;
    const auto [low, high] = range_on(before, axis);
    const bool in_range = low >= 0 && (digits->modulus == 0 || high < digits->modulus);
    if (!in_range && range_on(after, axis) != std::pair(low, high)) {
      return "fuse_threads touched " + axis + ", which leaves its range: " + notation(read(fused));
    }
  }
  if (threads_in_range(before) && !threads_in_range(after)) {
    return "fuse_threads gave values outside their range: " + notation(read(fused));
  }
  if (!(layout::fuse_threads(fused, Machine::Cuda) == fused))
    return "fuse_threads is not idempotent";
  return kFine;
}

/// Digit ranges that touch, with a built-in axis that reads both, must not survive side by side.
Complaint fuses_all(const Case& c) {
  const layout::Layout l = layout_of(c.operands[0]);
  const Table before = table_of(c.operands[0].parts);
  if (!threads_in_range(before)) return kFine;
  std::set<std::string> carried;  // axes that ever leave 0
  for (const std::string& axis : axes_of(before)) {
    if (thread_digits(axis)) carried.insert(axis);
  }
  const std::map<std::set<std::string>, std::string> expected = {
      {{"laneid", "warpid"}, "tx"},
      {{"laneid", "wid_in_wg"}, "tid_in_wg"},
      {{"tid_in_wg", "wgid"}, "tx"},
      {{"wgid", "wid_in_wg"}, "warpid"},
      {{"laneid", "wgid", "wid_in_wg"}, "tx"}};
  const auto found = expected.find(carried);
  if (found == expected.end()) return kFine;
  const Table after = table_of(read(layout::fuse_threads(l, Machine::Cuda)));
  std::set<std::string> moving;
  for (const std::string& axis : axes_of(after)) {
    if (thread_digits(axis)) moving.insert(axis);
  }
  if (moving == std::set<std::string>{found->second}) return kFine;
  return fmt::format("threads end up on {} axes instead of {}", moving.size(), found->second);
}

const Wish kThreads{.axes = {"m", "laneid", "warpid", "tx", "wgid", "tid_in_wg", "wid_in_wg"},
                    .negative = false};

/// Two or three thread axes with small strides, so that values often stay in range.
Case threads_in_digits(Rng& rng) {
  static const std::vector<std::vector<std::string>> kTogether = {
      {"laneid", "warpid"},
      {"laneid", "wid_in_wg"},
      {"tid_in_wg", "wgid"},
      {"wgid", "wid_in_wg"},
      {"laneid", "wid_in_wg", "wgid"},
      {"laneid", "wgid"},
      {"tx", "laneid"},
      {"quad", "lane_in_quad"},
      {"lane_in_quad", "quad", "wid_in_wg"}};
  std::vector<std::string> axes = rng.pick(kTogether);
  axes.emplace_back("m");
  Wish wish{.max_rank = 5, .max_size = 64, .extents = {1, 2, 3, 4}, .axes = axes};
  OLayout parts = random_injective(rng, wish);
  if (rng.one_in(4)) parts.offset[rng.pick(axes)] += 1;
  if (rng.one_in(4)) parts.replica.push_back({2, 1, rng.pick(axes)});
  return {.operands = {{.parts = parts}}};
}

TEST(LawsThreads, FuseRandom) {
  for_all(
      901, 1500, [](Rng& rng) { return one_layout(rng, kThreads); }, fuse_law);
}
TEST(LawsThreads, FuseDigits) { for_all(902, 2000, threads_in_digits, fuse_law); }
TEST(LawsThreads, FuseLeavesNothingApart) { for_all(903, 2000, threads_in_digits, fuses_all); }
TEST(LawsThreads, FuseAllSmall) {
  Space space = full_of_rank_2();
  space.axes = {"laneid", "wid_in_wg", "wgid"};
  space.all_axes = true;
  space.strides = {0, 1, 2};
  space.replicas = {{}, {{2, 1, "laneid"}}, {{2, 1, "warpid"}}};
  space.offsets = {{}, {{"laneid", 1}, {"wid_in_wg", 2}}};
  for_all_small(space, fuse_law);
  for_all_small(space, fuses_all);
}
TEST(LawsThreads, WithoutAMachineNothingIsFused) {
  for_all(
      904, 500, [](Rng& rng) { return one_layout(rng, kThreads); },
      [](const Case& c) -> Complaint {
        const layout::Layout l = layout_of(c.operands[0]);
        return layout::fuse_threads(l, Machine::None) == layout::canonicalize(l)
                   ? kFine
                   : Complaint("fuse_threads without a machine is not canonicalize");
      });
}

// ---- Splitting ----------------------------------------------------------------------------------

struct Split {
  const char* whole;
  const char* outer;
  const char* inner;
  std::int64_t factor;
};
constexpr std::array<Split, 5> kSplits = {{{"tx", "warpid", "laneid", 32},
                                           {"tx", "wgid", "tid_in_wg", 128},
                                           {"tid_in_wg", "wid_in_wg", "laneid", 32},
                                           {"warpid", "wgid", "wid_in_wg", 4},
                                           {"laneid", "quad", "lane_in_quad", 4}}};

/// numbers: which split.
Complaint split_law(const Case& c) {
  const auto which = static_cast<std::size_t>(c.numbers[0]);
  if (which >= kSplits.size()) return kFine;
  const Split& s = kSplits[which];
  const layout::Layout l = layout_of(c.operands[0]);
  const Table before = table_of(c.operands[0].parts);
  const auto got =
      layout::split_threads(l, axis_named(s.whole), axis_named(s.outer), axis_named(s.inner));
  const Table want = split_axis(before, s.whole, s.outer, s.inner, s.factor);
  if (!got) {
    const bool possible = threads_in_range(before) && is_tile_table(want);
    return possible ? Complaint(refusal("split_threads", got.error())) : kFine;
  }
  if (auto wrong = unless_table("split_threads", *got, want)) return wrong;
  const Table again = table_of(read(layout::fuse_threads(*got, Machine::Cuda)));
  return difference(on_threads(again), on_threads(before))
             ? Complaint("splitting then fusing moves threads")
             : kFine;
}

TEST(LawsThreads, SplitRandom) {
  int answered = 0;
  for_all(
      905, 3000,
      [](Rng& rng) {
        const auto which = rng.below(kSplits.size());
        const Split& s = kSplits[which];
        Wish wish{
            .max_rank = 4, .max_size = 128, .axes = {s.whole, s.whole, "m"}, .negative = false};
        OLayout parts = rng.one_in(2) ? random_layout(rng, wish) : random_injective(rng, wish);
        for (OIter& it : parts.shard) {
          if (it.axis == s.whole && rng.one_in(3)) it.stride = s.factor / (rng.one_in(2) ? 2 : 1);
        }
        return Case{.operands = {{.parts = parts}}, .numbers = {static_cast<std::int64_t>(which)}};
      },
      [&](const Case& c) {
        const Split& s = kSplits[static_cast<std::size_t>(c.numbers[0]) % kSplits.size()];
        answered += layout::split_threads(layout_of(c.operands[0]), axis_named(s.whole),
                                          axis_named(s.outer), axis_named(s.inner))
                        ? 1
                        : 0;
        return split_law(c);
      });
  EXPECT_GT(answered, 500);
}
TEST(LawsThreads, SplitAllSingleIters) {
  for (std::int64_t extent = 1; extent <= 12; ++extent) {
    for (std::int64_t stride = 0; stride <= 64; ++stride) {
      for (const std::int64_t offset : {0, 1, 16, 31, 32, 33, 64}) {
        OLayout parts{.shard = {{extent, stride, "tx"}}};
        if (offset != 0) parts.offset["tx"] = offset;
        for_one({.operands = {{.parts = parts}}, .numbers = {0}}, split_law);
      }
    }
  }
}
TEST(LawsThreads, SplitRefusesHalvesThatDoNotMakeTheWhole) {
  const layout::Layout l = parsed("S[64:1@tx]");
  EXPECT_FALSE(
      layout::split_threads(l, axis_named("tx"), axis_named("laneid"), axis_named("warpid")));
  EXPECT_FALSE(
      layout::split_threads(l, axis_named("tx"), axis_named("wgid"), axis_named("laneid")));
  EXPECT_FALSE(layout::split_threads(l, axis_named("tx"), axis_named("m"), axis_named("laneid")));
  EXPECT_FALSE(
      layout::split_threads(l, axis_named("m"), axis_named("warpid"), axis_named("laneid")));
}

TEST(LawsThreads, SplitLikeKeepsThreads) {
  const Law law = [](const Case& c) -> Complaint {
    const auto got =
        layout::split_like(layout_of(c.operands[0]), layout_of(c.operands[1]), Machine::Cuda);
    if (!got) return kFine;
    const auto wrong =
        difference(on_threads(table_of(read(*got))), on_threads(table_of(c.operands[0].parts)));
    return wrong ? Complaint("split_like gave " + notation(read(*got)) + ": " + *wrong) : kFine;
  };
  for_all(
      906, 1500,
      [](Rng& rng) {
        Case c = threads_in_digits(rng);
        if (rng.one_in(2)) c.operands[0].parts = random_injective(rng, {.axes = {"tx", "m"}});
        c.operands.push_back(threads_in_digits(rng).operands[0]);
        return c;
      },
      law);
}

}  // namespace
}  // namespace ww::test::laws_threads_test
