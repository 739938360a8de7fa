// SPDX-License-Identifier: Apache-2.0
// Copies of the copy engine on targets without one: the same programs on sm_80 to sm_89, where the thread
// copies by cp.async and arrives behind its copies. Examples under several schedules, copies by chance,
// what is refused, and faults that must show.
#include <gmock/gmock.h>

#include "base/split.h"
#include "engines/example_oracle.h"
#include "engines/random_boxes.h"
#include "harness/engines.h"
#include "sim/program.h"

namespace ww::test::engine_fallback_test {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kTargets[] = {"sm_80", "sm_86", "sm_89"};

BoxCase good_case() {
  return {.array = {64, 128},
          .shared = {32, 64},
          .tile = swizzled(3, 3, 3, "S[(32, 64) : (64, 1)]"),
          .from = "[16:48, 64:128]",
          .target = "sm_80",
          .may_fall_back = true};
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what << "\n" << text;
  return at == std::string::npos ? text : text.replace(at, what.size(), with);
}

// --- what comes out ------------------------------------------------------------------------------

TEST(EngineFallback, ArrivesBehindTheCopies) {
  Family family("without the copy engine", Nvcc::Always);
  const Checked load = family.run(program_of(good_case()), {.variant = "ldgsts", .rounds = 256});
  EXPECT_EQ(count_of(load.ptx, "cp.async.mbarrier.arrive.shared.b64"), 1U) << load.ptx;
  EXPECT_EQ(count_of(load.ptx, "mbarrier.arrive.shared.b64\t_"), 1U) << load.ptx;
  EXPECT_EQ(count_of(load.ptx, "expect_tx"), 0U) << load.ptx;
  EXPECT_EQ(count_of(load.ptx, "_map"), 0U) << load.ptx;
  EXPECT_THAT(load.call(0).plan.notes,
              ::testing::Contains("in place of the copy engine, which sm_80 does not have: one "
                                  "thread moves all 4096 bytes, in 256 rounds"));
  BoxCase c = good_case();
  c.is_load = false;
  const Checked store = family.run(program_of(c), {.variant = "gmem_smem", .rounds = 256});
  EXPECT_EQ(count_of(store.ptx, "bulk"), 0U) << store.ptx;
  family.count(2);
}

// The attribute changes nothing where there is an engine.
TEST(EngineFallback, IsForTargetsWithoutAnEngine) {
  BoxCase c = good_case();
  c.target = "sm_90a";
  const Checked with = compile_only(program_of(c));
  c.may_fall_back = false;
  const Checked without = compile_only(program_of(c));
  ASSERT_TRUE(with.right() && without.right()) << with.why << without.why;
  const auto instructions = [](const std::string& ptx) {  // without places in the source
    std::string out;
    for (const std::string_view line : split(ptx, '\n'))
      if (!line.starts_with("\t.loc")) out.append(line).append("\n");
    return out.substr(0, out.find(".file"));
  };
  EXPECT_EQ(instructions(with.ptx), instructions(without.ptx));
  c.target = "sm_75";
  c.may_fall_back = true;
  EXPECT_THAT(compile_only(program_of(c)).why, HasSubstr("needs sm_90 or later"));
}

// A pair of copies for one phase, copies in a loop, the arrival behind them, two phases of a block.
TEST(EngineFallback, PhasesOfABlock) {
  Family family("without the copy engine, phases", Nvcc::Always);
  Program program = program_of(good_case());
  const std::string expect =
      "        T.ptx.mbarrier.arrive.expect_tx(T.address_of(bar[0]), 4096)\n";
  const auto copy = [](const std::string& rows, const std::string& from) {
    return fmt::format("Tx.copy_async(tile[{}, 0:64], A[{}, 64:128], mbar=T.address_of(bar[0]))\n",
                       rows, from);
  };
  const std::string whole = "        " + copy("0:32", "16:48");
  const auto run = [&](const std::string& with, std::size_t arrivals) {
    Program each = program;
    each.source = replaced(each.source, expect + whole, with);
    const Checked checked = family.run(each, {.variant = "ldgsts"});
    EXPECT_EQ(count_of(checked.ptx, "cp.async.mbarrier.arrive"), arrivals) << checked.ptx;
    family.count();
  };
  run(expect + "        " + copy("0:16", "16:32") + "        " + copy("16:32", "32:48"), 1);
  run(whole + expect, 1);
  run(expect + "        for j in range(2):\n            " +
          copy("j * 16:j * 16 + 16", "j * 16 + 16:j * 16 + 32"),
      1);
  // The second phase is the first one's tile again, from other rows; the thread waits for both.
  program.source = replaced(program.source, "\n    T.cuda.mbarrier_wait(T.address_of(bar[0]), 0)",
                            "\n    T.cuda.cta_sync()");
  const std::string wait = "        T.cuda.mbarrier_wait(T.address_of(bar[0]), ";
  run(expect + "        " + copy("0:32", "0:32") + wait + "0)\n" + expect + whole + wait + "1)\n",
      2);
}

TEST(EngineFallback, ByChance) {
  run_by_chance("without the copy engine, by chance", 40, fallback_by_chance);
}

// All warps in turn, backwards, step by step, and by chance: the same elements, and nothing found.
void expect_under_every_schedule(const Checked& checked) {
  const sim::LoadResult loaded = sim::load(checked.ptx, "test.ptx");
  ASSERT_TRUE(loaded.program != nullptr);
  std::vector<sim::Schedule> schedules{
      {}, {.turns = sim::Turns::Backward}, {.turns = sim::Turns::Stepwise}};
  for (std::uint64_t seed = 1; seed <= 4; ++seed) schedules.push_back(sim::Schedule::random(seed));
  for (const sim::Schedule& schedule : schedules) {
    VirtualRun run(loaded.program, checked.ran->lowered, checked.ran->args);
    sim::RunOptions options;
    options.schedule = schedule;
    options.checks.add(sim::Check::Proxy);
    const auto report = run.run(options);
    ASSERT_TRUE(report) << report.error().text;
    EXPECT_EQ(report->outcome, sim::Outcome::Finished) << report->reason;
    EXPECT_TRUE(report->findings.list().empty()) << report->findings.list().front().text;
    Results seen;
    run.collect(seen);
    EXPECT_EQ(difference_of(checked.ran->args, checked.ran->expected, seen), std::nullopt);
  }
}

TEST(EngineFallback, Examples) {
  Family family("without the copy engine, examples", Nvcc::Always);
  for (const std::string_view target : kTargets) {
    Program copy = program_of("tma_copy.py", "build(m=64, n=64, rows=32, columns=64)");
    Program ring = program_of("tma_pipeline.py", "build(rows=8, columns=32, stages=2)");
    ring.scalars = {{"m", 8}, {"n", 100}};
    for (Program* each : {&copy, &ring}) {
      each->target = target;
      const Checked checked = family.run(*each, {.variant = "ldgsts"});
      if (checked.right() && target == "sm_80") expect_under_every_schedule(checked);
      family.count();
    }
  }
}

// --- what is refused -----------------------------------------------------------------------------

TEST(EngineFallback, Refusals) {
  const Program program = program_of(good_case());
  const auto expect = [&](const std::string& what, const std::string& with,
                          const std::string& why) {
    Program each = program;
    each.source = replaced(each.source, what, with);
    EXPECT_THAT(compile_only(each).why, HasSubstr(why)) << each.source;
  };
  const std::string arrival = "T.ptx.mbarrier.arrive.expect_tx(T.address_of(bar[0]), 4096)";
  const std::string copy = "Tx.copy_async(tile[0:32, 0:64], A[16:48, 64:128], mbar=";
  const std::string never = "sm_80 has no copy engine, and cp.async does not do this: ";
  expect("\"cp_async\"", "\"ldgsts\"",
         "`copy_engine_fallback` is \"ldgsts\", expected \"cp_async\" [BadArgument]");
  expect("\"cp_async\"", "1", "`copy_engine_fallback` is not a text, expected \"cp_async\"");
  expect("    T.func_attr({\"copy_engine_fallback\": \"cp_async\"})\n", "",
         "`T.func_attr({\"copy_engine_fallback\": \"cp_async\"})` lets threads copy in place of");
  expect(arrival, "if A[0, 0] > 0.0:\n            " + arrival,
         never +
             "no copy that names the mbarrier at `T.address_of(bar[0])` stands in the block of "
             "the arrival [NotOnTarget]");
  expect(arrival, "T.ptx.mbarrier.arrive(T.address_of(bar[0]))",
         never +
             "no arrival that expects the bytes at `T.address_of(bar[0])` stands in the block "
             "of the copy [NotOnTarget]");
  expect(arrival,
         "T.ptx[\"mbarrier.expect_tx.relaxed.cta.shared::cta.b64\"](T.address_of(bar[0]), 4096)\n"
         "        T.ptx.mbarrier.arrive(T.address_of(bar[0]))",
         never + "`mbarrier.expect_tx` expects bytes without an arrival");
  expect("        " + copy,
         "        for j in range(2):\n            T.cuda.mbarrier_wait(T.address_of(bar[0]), 1)\n"
         "            " +
             copy,
         never +
             "the mbarrier at `T.address_of(bar[0])` is waited for in the same block, and which "
             "phase the copy is for cannot be seen");
  expect("if tid == 0:\n        T.ptx.mbarrier.arrive",
         "if tid < 32:\n        T.ptx.mbarrier.arrive",
         "`Tx.copy_async` in place of the copy engine: 32 threads come here, of which each would "
         "start the copy");
  BoxCase reduction = good_case();
  reduction.is_load = false;
  reduction.settings = "use_tma_reduce=\"add\"";
  EXPECT_THAT(compile_only(program_of(reduction)).why,
              HasSubstr(never + "`use_tma_reduce=\"add\"` combines elements in global memory"));
}

// A stage that moves on between the arrival and the copy names another mbarrier.
TEST(EngineFallback, RefusesAStageThatMovesOn) {
  Program ring = program_of("tma_pipeline.py", "build(rows=8, columns=32, stages=2)");
  ring.target = "sm_80";
  ring.scalars = {{"m", 20}, {"n", 100}};
  const std::string arrival =
      "pipe.full.arrive(at.stage, tx_count=rows * columns * 4)\n                    ";
  ring.source = replaced(ring.source, arrival, arrival + "at.advance()\n                    ");
  EXPECT_THAT(compile_only(ring).why, HasSubstr("no copy that names the mbarrier at"));
}

// --- faults that must show -----------------------------------------------------------------------

TEST(EngineFallback, FaultsShow) {
  const auto found = [](const std::string& what, const std::string& with) {
    Program program = program_of(good_case());
    program.edits = {{what, with}};
    const Checked checked = check(program);
    EXPECT_EQ(checked.stage, Stage::Device) << checked.explain();
    return checked.why;
  };
  // The phase ends before the copies land.
  EXPECT_THAT(found("cp.async.mbarrier.arrive.shared.b64\t", "// "), HasSubstr("async"));
  // The arrival that expected the bytes is never made.
  EXPECT_THAT(found("mbarrier.arrive.shared.b64\t_", "// "), HasSubstr("which lacks 1"));
  // The extra arrival is not counted.
  EXPECT_THAT(
      found("cp.async.mbarrier.arrive.shared.b64", "cp.async.mbarrier.arrive.noinc.shared.b64"),
      HasSubstr("async"));
}

// The evaluator on instructions that a program writes itself: each lane copies, and the mbarrier hears of it.
TEST(EngineFallback, ArrivalsOfCopiesByHand) {
  const auto source = [](const std::string& count, const std::string& arrival) {
    return fmt::format(R"(from tvm.script import tirx as T

@T.prim_func
def kernel(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (128,), "float32")
    B = T.match_buffer(B_ptr, (128,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([64])
    tile = T.alloc_buffer((128,), "float32", scope="shared")
    bar = T.alloc_buffer((1,), "uint64", scope="shared")
    if tid == 0:
        T.ptx.mbarrier.init(T.address_of(bar[0]), {})
    T.cuda.cta_sync()
    if tid < 32:
        T.ptx["cp.async.cg.shared.global"](T.address_of(tile[tid * 4]), T.address_of(A[tid * 4]), 16)
{}
    T.cuda.mbarrier_wait(T.address_of(bar[0]), 0)
    for i in T.unroll(2):
        B[i * 64 + tid] = tile[127 - i * 64 - tid]
)",
                       count, arrival);
  };
  const std::string async =
      "        T.ptx[\"cp.async.mbarrier.arrive{}.shared.b64\"](T.address_of(bar[0]))\n";
  const std::string plain = "        T.ptx.mbarrier.arrive(T.address_of(bar[0]))\n";
  const auto with = [&](const std::string& modifier) { return replaced(async, "{}", modifier); };
  Family family("arrivals of cp.async by hand", Nvcc::Always);
  family.run({.source = source("32", with(".noinc")), .target = "sm_80"});
  family.run({.source = source("32", with("") + plain), .target = "sm_80"});
  family.count(2);
  const auto findings = [](const std::string& text) {
    const Findings all = findings_of({.source = text, .target = "sm_80"});
    EXPECT_TRUE(all.device) << "the virtual GPU finds nothing";
    return all.tile.value_or("nothing");
  };
  EXPECT_THAT(findings(source("32", plain)), HasSubstr("a copy into it is under way"));
  EXPECT_THAT(findings(source("32", with(""))), HasSubstr("32 arrivals are missing"));
}

}  // namespace
}  // namespace ww::test::engine_fallback_test
