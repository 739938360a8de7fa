// SPDX-License-Identifier: Apache-2.0
// Every three accesses to one word: weak, strong and atomic ones of both scopes, by one thread, by two
// warps of a block, by two blocks. Nothing orders them, so the definition says which pairs race: those of
// different threads of which one writes, unless both are strong with scopes that reach the other thread.
// What is reported must be such a pair. And each such pair must be reported, or be covered: by a weak
// write, behind which older accesses are forgotten, or by an access of the same thread.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "sim/order/manner.h"
#include "sim/test_run.h"

namespace ww::sim {
namespace {

struct Kind {
  std::string_view text;
  bool reads, writes, is_strong;
  Scope scope = Scope::Gpu;
};

// %d1: the address of the word.
constexpr Kind kKinds[] = {
    {"ld.global.u32 %r9, [%d1]", true, false, false},
    {"st.global.u32 [%d1], 7", false, true, false},
    {"st.relaxed.cta.global.u32 [%d1], 7", false, true, true, Scope::Cta},
    {"st.relaxed.gpu.global.u32 [%d1], 7", false, true, true},
    {"red.relaxed.cta.global.add.u32 [%d1], 7", true, true, true, Scope::Cta},
    {"red.relaxed.gpu.global.add.u32 [%d1], 7", true, true, true},
    {"ld.relaxed.cta.global.u32 %r9, [%d1]", true, false, true, Scope::Cta},
    {"ld.relaxed.gpu.global.u32 %r9, [%d1]", true, false, true},
    {"atom.relaxed.gpu.global.add.u32 %r9, [%d1], 7", true, true, true},
};
// These show no order between blocks, so blocks of a kernel that has no others run one after the other.
constexpr std::size_t kOneWay = 6;

struct Thread {
  unsigned block, warp;
  friend bool operator==(const Thread&, const Thread&) = default;
};

struct Access {
  const Kind* kind;
  Thread by;
};
using Three = std::array<Access, 3>;

bool do_race(const Access& a, const Access& b) {
  if (a.by == b.by || (!a.kind->writes && !b.kind->writes)) return false;
  const Scope apart = a.by.block == b.by.block ? Scope::Cta : Scope::Gpu;
  const auto reaches = [&](const Access& x) { return x.kind->is_strong && x.kind->scope >= apart; };
  return !reaches(a) || !reaches(b);
}

using Pair = std::pair<std::size_t, std::size_t>;
constexpr Pair kPairs[] = {{0, 1}, {0, 2}, {1, 2}};

std::set<Pair> racing(const Three& three) {
  std::set<Pair> pairs;
  for (const auto& [a, b] : kPairs) {
    if (do_race(three[a], three[b])) pairs.insert({a, b});
  }
  return pairs;
}

// Whether the third access may have shown one of the pair the other: a thread that has seen a strong
// write by a strong access may go on with weak ones.
bool may_be_seen(const Three& three, Pair pair) {
  const Access& third = three[3 - pair.first - pair.second];
  for (const auto& [mine, far] : {pair, Pair{pair.second, pair.first}}) {
    const Kind& write = *three[far].kind;
    if (three[mine].by == third.by && third.kind->is_strong && third.kind->reads &&
        !three[mine].kind->is_strong && write.is_strong && write.writes)
      return true;
  }
  return false;
}

// Whether a racing pair need not be reported, because the third access hides it or says the same.
bool is_covered(const Three& three, const std::set<Pair>& reported, Pair pair) {
  const std::size_t third = 3 - pair.first - pair.second;
  if (may_be_seen(three, pair)) return true;
  if (three[third].kind->writes && !three[third].kind->is_strong) return true;
  return (three[pair.first].by == three[third].by &&
          reported.contains(std::minmax(third, pair.second))) ||
         (three[pair.second].by == three[third].by &&
          reported.contains(std::minmax(third, pair.first)));
}

std::string text_of(const Three& three) {
  std::string text;
  for (const Access& access : three)
    text +=
        fmt::format("block {} warp {}: {}; ", access.by.block, access.by.warp, access.kind->text);
  return text;
}

// Each three accesses of these kinds by these threads at a word of their own, in one kernel.
class Table {
 public:
  Table(const std::array<Thread, 3>& threads, std::span<const Kind> kinds) {
    for (const Kind& a : kinds) {
      for (const Kind& b : kinds) {
        for (const Kind& c : kinds) {
          words_.push_back({Access{&a, threads[0]}, {&b, threads[1]}, {&c, threads[2]}});
        }
      }
    }
  }
  /// By word, the pairs that were reported.
  std::vector<std::set<Pair>> run(Schedule schedule) {
    std::string body =
        "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 64, %r1;\n"
        "setp.eq.u32 %p0, %r3, 0; setp.eq.u32 %p1, %r3, 32; setp.eq.u32 %p2, %r3, 64;"
        "setp.eq.u32 %p3, %r3, 96; mov.u64 %d1, %a0;\n";
    const auto lines_of = [](const std::string& text) {
      return static_cast<std::uint32_t>(std::ranges::count(text, '\n'));
    };
    constexpr std::uint32_t kAfterBody = 3;
    std::uint32_t line = lines_of(kernel_text(body, 1)) - kAfterBody + 1;
    std::map<std::uint32_t, Pair> by_line;
    for (std::size_t word = 0; word < words_.size(); ++word) {
      for (std::size_t i = 0; i < 3; ++i) {
        const Access& access = words_[word][i];
        body += fmt::format("@%p{} {};\n", access.by.block * 2 + access.by.warp, access.kind->text);
        by_line[line++] = {word, i};
      }
      body += "add.u64 %d1, %d1, 4;\n";
      ++line;
    }
    TestRun test(body, 1);
    test.input(std::vector<std::uint32_t>(words_.size()));
    test.launch.grid = {2};
    test.launch.block = {64};
    test.options.schedule = schedule;
    test.run();
    EXPECT_EQ(test.report().reason, "");
    std::vector<std::set<Pair>> found(words_.size());
    for (const Finding& finding : test.report().findings.list()) {
      EXPECT_EQ(finding.check, Check::Race) << finding.text;
      const auto [word, one] = by_line.at(test.program().infos[finding.who.op].line);
      const auto [same_word, other] = by_line.at(test.program().infos[finding.other.op].line);
      EXPECT_EQ(word, same_word);
      found[word].insert(std::minmax(one, other));
    }
    return found;
  }
  [[nodiscard]] const Three& at(std::size_t word) const { return words_[word]; }

 private:
  std::vector<Three> words_;
};

constexpr Thread kA{0, 0}, kMate{0, 1}, kFar{1, 0}, kFarMate{1, 1};
constexpr std::array<Thread, 3> kThreads[] = {
    {kA, kA, kMate}, {kA, kMate, kMate}, {kA, kMate, kA},   {kA, kA, kFar},       {kA, kFar, kFar},
    {kA, kFar, kA},  {kA, kMate, kFar},  {kA, kFar, kMate}, {kA, kFar, kFarMate},
};
const Schedule kForward{}, kBackward{.turns = Turns::Backward}, kStepwise{.turns = Turns::Stepwise};

TEST(ThreeAccesses, EveryRaceWhereBlocksCanSynchronise) {
  for (const std::array<Thread, 3>& threads : kThreads) {
    Table table(threads, kKinds);
    for (const Schedule& schedule : {kForward, kBackward, kStepwise}) {
      const std::vector<std::set<Pair>> found = table.run(schedule);
      for (std::size_t word = 0; word < found.size(); ++word) {
        const std::set<Pair> races = racing(table.at(word));
        for (const Pair& pair : found[word]) {
          EXPECT_TRUE(races.contains(pair))
              << text_of(table.at(word)) << pair.first << "/" << pair.second << " do not race";
        }
        for (const Pair& pair : races) {
          EXPECT_TRUE(found[word].contains(pair) || is_covered(table.at(word), found[word], pair))
              << text_of(table.at(word)) << pair.first << "/" << pair.second << " race";
        }
      }
    }
  }
}

// Here one pair of each word is reported.
TEST(ThreeAccesses, ARaceOfEachWordWhereBlocksRunOneByOne) {
  for (const std::array<Thread, 3>& threads : kThreads) {
    Table table(threads, std::span(kKinds).first(kOneWay));
    const std::vector<std::set<Pair>> found = table.run(kForward);
    for (std::size_t word = 0; word < found.size(); ++word) {
      const std::set<Pair> races = racing(table.at(word));
      EXPECT_TRUE(std::ranges::includes(races, found[word])) << text_of(table.at(word));
      const bool must_be_found = std::ranges::any_of(
          races, [&](const Pair& pair) { return !may_be_seen(table.at(word), pair); });
      EXPECT_TRUE(!found[word].empty() || !must_be_found) << text_of(table.at(word));
    }
  }
}

}  // namespace
}  // namespace ww::sim
