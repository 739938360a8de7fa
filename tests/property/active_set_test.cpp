// SPDX-License-Identifier: Apache-2.0
// Active sets against brute force. A random program is executed thread by thread, for every thread
// of four CTAs in two clusters and for several values of what the analysis cannot know; each
// statement records who came, per round of the loops around it. Then the promise of
// ir/launch/active_set.h is checked word by word.
#include "ir/launch/active_set.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "property/cases.h"
#include "property/kernels.h"

namespace ww::test::active_set_test {
namespace {

using ir::StmtId;

// ---- The promise --------------------------------------------------------------------------------

// Which unit of that size a warp belongs to.
std::size_t unit_of(ir::Unit unit, std::size_t cta, std::size_t warp) {
  switch (unit) {
    case ir::Unit::Thread:
    case ir::Unit::Warp:
      return cta * 8 + warp;
    case ir::Unit::Warpgroup:
      return cta * 8 + warp / 4;
    case ir::Unit::Cta:
      return cta;
    case ir::Unit::Pair:
    case ir::Unit::Cluster:
      return cta / kClusterCtas;
    case ir::Unit::Kernel:
      return 0;
  }
  return 0;
}

Complaint broken(const ir::ActiveSet& set, const Who& who) {
  std::bitset<kMaxThreads> may;
  for (std::size_t t = 0; t < kMaxThreads; ++t) may[t] = set.may[t];
  std::array<bool, kCtas * 8> comes{};  // by unit: does anybody?
  const auto count = [](std::bitset<kMaxThreads> threads, std::size_t warp) {
    return ((threads >> (32 * warp)) & std::bitset<kMaxThreads>(0xffffffffU)).count();
  };
  for (std::size_t c = 0; c < kCtas; ++c) {
    if ((who[c] & ~may).any()) return fmt::format("a thread of CTA {} is not in the set", c);
    for (std::size_t w = 0; w < 8; ++w)
      if (count(who[c], w) != 0) comes[unit_of(set.granule, c, w)] = true;
  }
  for (std::size_t c = 0; c < kCtas; ++c) {
    for (std::size_t w = 0; w < 8; ++w) {
      const std::size_t all =
          set.one_lane_per_warp ? std::min<std::size_t>(count(may, w), 1) : count(may, w);
      const std::size_t came = count(who[c], w);
      if (set.one_lane_per_warp && came > 1) return "more than one lane arrives";
      if (set.granule > ir::Unit::Thread && comes[unit_of(set.granule, c, w)] && came != all)
        return fmt::format("{} of {} threads arrive in warp {} of CTA {}", came, all, w, c);
    }
  }
  return std::nullopt;
}

std::string described(const Program& p, StmtId id, const ir::ActiveSet& set,
                      const std::string& problem) {
  ir::LaunchShape shape;
  shape.block[0] = p.threads;
  return fmt::format("{}, but the set is {} at granule {}\n{}", problem, ir::to_text(set, shape),
                     ir::name_of(set.granule), text(p, id));
}

using Sets = std::function<const ir::ActiveSet&(StmtId)>;

Complaint unsound(const Program& p, const Sets& sets) {
  for (const std::uint64_t draw : {1U, 2U, 3U, 4U}) {
    const auto arrivals = executed(p, draw);
    if (!arrivals) continue;
    for (const auto& [key, arrival] : *arrivals) {
      const ir::ActiveSet& set = sets(arrival.stmt);
      if (const auto bad = broken(set, arrival.who)) return described(p, arrival.stmt, set, *bad);
    }
  }
  return std::nullopt;
}

// Nothing unknown: the set is exactly who comes, each time.
Complaint inexact(const Program& p, const Sets& sets) {
  const auto arrivals = executed(p, 1);
  std::set<std::uint32_t> reached;
  for (const auto& [key, arrival] : *arrivals) {
    const StmtId id = arrival.stmt;
    reached.insert(id.index);
    if (sets(id).granule != ir::Unit::Kernel) return described(p, id, sets(id), "the granule sank");
    for (const auto& cta : arrival.who)
      for (std::size_t t = 0; t < kMaxThreads; ++t)
        if (cta[t] != sets(id).may[t])
          return described(p, id, sets(id), fmt::format("thread {}", t));
  }
  for (std::uint32_t i = 0; i < p.f.stmt_count(); ++i)
    if (sets(StmtId{i}).may.any() && !reached.contains(i))
      return described(p, StmtId{i}, sets(StmtId{i}), "nobody arrives");
  return std::nullopt;
}

// ---- Laws ---------------------------------------------------------------------------------------

Program program_of(const Case& c, bool exact) {
  Tape tape(c.numbers);
  return random_program(tape, exact);
}

Complaint with_analysis(const Program& p, Complaint (*check)(const Program&, const Sets&)) {
  const auto shape = ir::launch_shape(p.f);
  if (!shape) return shape.error().text;
  const auto sets = ir::ActiveSets::of(p.f, *shape);
  return check(p, [&](StmtId id) -> const ir::ActiveSet& { return sets[id]; });
}

Case random_case(Rng& rng) { return random_numbers(rng, 150); }

TEST(LawsActiveSet, IsSound) {
  for_all(1801, 600, random_case,
          [](const Case& c) -> Complaint { return with_analysis(program_of(c, false), unsound); });
}

TEST(LawsActiveSet, IsExactWhereEverythingIsKnown) {
  for_all(1802, 400, random_case, [](const Case& c) -> Complaint {
    const Program p = program_of(c, true);
    return with_analysis(p, inexact);
  });
}

// Negative controls: sets that are too great, too small, or too sure of themselves.
TEST(LawsActiveSet, WrongSetsAreCaught) {
  const auto caught = [](void (*spoil)(ir::ActiveSet&)) {
    Rng rng(1803);
    for (int round = 0; round < 200; ++round) {
      const Program p = program_of(random_case(rng), false);
      const auto sets = ir::ActiveSets::of(p.f, *ir::launch_shape(p.f));
      ir::ActiveSet wrong;
      const auto complaint = unsound(p, [&](StmtId id) -> const ir::ActiveSet& {
        wrong = sets[id];
        spoil(wrong);
        return wrong;
      });
      if (complaint) return true;
    }
    return false;
  };
  EXPECT_TRUE(caught([](ir::ActiveSet& set) { set.may.reset(0); }));
  EXPECT_TRUE(caught([](ir::ActiveSet& set) { set.may.flip(1); }));
  EXPECT_TRUE(caught([](ir::ActiveSet& set) { set.granule = ir::Unit::Kernel; }));
  EXPECT_TRUE(caught([](ir::ActiveSet& set) {
    if (set.granule == ir::Unit::Thread) set.granule = ir::Unit::Warp;
  }));
  EXPECT_TRUE(caught([](ir::ActiveSet& set) { set.one_lane_per_warp = true; }));
  EXPECT_TRUE(caught([](ir::ActiveSet& set) { set.one_lane_per_warp = false; }));
}

}  // namespace
}  // namespace ww::test::active_set_test
