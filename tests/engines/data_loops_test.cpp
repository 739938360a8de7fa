// SPDX-License-Identifier: Apache-2.0
// The examples whose loops end where memory says, whole: pages of a cache, products of different
// heights, sequences of different lengths. Each runs on all engines; what it leaves must be what
// loops over the inputs give, and nothing else may be written.
#include <cmath>
#include <optional>

#include "engines/example_oracle.h"

namespace ww::test::data_loops_test {
namespace {

/// Which of the parts, that begin where the array says, has the row.
std::optional<std::size_t> part_of(const Numbers& starts, std::size_t row) {
  for (std::size_t part = 0; part + 1 < starts.extent(0); ++part)
    if (starts.whole(part) <= row && row < starts.whole(part + 1)) return part;
  return std::nullopt;
}

std::string wrong_lookup(const Ran& ran) {
  const Numbers cache(ran, "cache"), table(ran, "table"), lens(ran, "lens");
  const std::size_t page = cache.extent(1), width = cache.extent(2);
  const auto longest = static_cast<std::size_t>(ran.args.back().shape[1]);
  return wrong_element(ran, [&](std::size_t i) -> std::optional<double> {
    const std::size_t s = i / width / longest, p = i / width % longest;
    if (p >= lens.whole(s)) return std::nullopt;
    return cache(table.whole(s, p / page), p % page, i % width);
  });
}

std::string wrong_product(const Ran& ran) {
  const Numbers a(ran, "A"), b(ran, "B"), offsets(ran, "offsets");
  const std::size_t columns = b.extent(2);
  return wrong_element(ran, [&](std::size_t i) -> std::optional<double> {
    const auto group = part_of(offsets, i / columns);
    if (!group) return std::nullopt;
    double sum = 0;
    for (std::size_t k = 0; k < a.extent(1); ++k)
      sum += a(i / columns, k) * b(*group, k, i % columns);
    return sum;
  });
}

std::string wrong_attention(const Ran& ran, bool is_causal, double tolerance) {
  const Numbers q(ran, "Q"), k(ran, "K"), v(ran, "V"), starts(ran, "cu_seqlens");
  const std::size_t heads = q.extent(1), dim = q.extent(2);
  std::vector<double> of_row;  // elements come row by row
  return wrong_element(
      ran,
      [&](std::size_t i) -> std::optional<double> {
        const std::size_t row = i / dim / heads, head = i / dim % heads;
        const auto sequence = part_of(starts, row);
        if (!sequence) return std::nullopt;
        const std::size_t begin = starts.whole(*sequence);
        const std::size_t end = is_causal ? row + 1 : starts.whole(*sequence + 1);
        if (i % dim == 0) of_row = weights(q, k, row, head, begin, end);
        double sum = 0;
        for (std::size_t key = begin; key < end; ++key)
          sum += of_row[key - begin] * v(key, head, i % dim);
        return sum;
      },
      tolerance);
}

// --- rows ----------------------------------------------------------------------------------------

const std::map<std::string, Values> kPages = {
    {"lens", {20, 0, 64, 1}}, {"table", {7, 3, 0, 0, 1, 1, 1, 1, 9, 31, 2, 30, 3, 0, 0, 0}}};

Program lookup(const std::string& kernel = "build()") {
  return program_of("paged_lookup.py", kernel, kPages);
}

void run_lookups(Family& family) {
  for (const std::string kernel :
       {"build()", "build(width=72, warps=3)", "build(dtype=\"float32\", width=64, warps=1)"}) {
    const Checked checked = family.run(lookup(kernel), {.variant = "gmem_smem"});
    if (!checked.right()) continue;
    EXPECT_EQ(wrong_lookup(*checked.ran), "") << kernel;
    family.count();
  }
}

void run_products(Family& family) {
  const auto run = [&](const std::string& kernel, Values offsets) {
    const Checked checked =
        family.run(program_of("gemm_grouped.py", kernel, {{"offsets", std::move(offsets)}}));
    if (!checked.right()) return;
    EXPECT_EQ(wrong_product(*checked.ran), "") << kernel;
    family.count();
  };
  run("build()", {0, 100, 100, 133, 300});
  // Rows before the first group and behind the last, ragged N and K, and a tile for each slot.
  run("build(groups=3, rows=200, N=72, K=40, dtype=\"float16\", out=\"float16\")",
      {1, 64, 192, 193});
  run("build(groups=2, rows=130, N=65, K=33, slots=1)", {0, 65, 130});
}

Program attention(const std::string& arguments, bool is_causal = false) {
  Program program = program_of(
      "attention_varlen.py",
      fmt::format("build(rows=200, heads=1, {}causal={})", arguments, is_causal ? "True" : "False"),
      {{"cu_seqlens", {3, 70, 70, 199}}});
  program.inputs = Inputs::Normal;
  program.tolerance = 4e-3;
  program.is_approximate = true;
  return program;
}

void run_attention(Family& family) {
  const auto run = [&](const std::string& arguments, bool is_causal, double tolerance) {
    Program program = attention(arguments, is_causal);
    program.tolerance = tolerance;
    const Checked checked = family.run(program);
    if (!checked.right()) return;
    EXPECT_EQ(wrong_attention(*checked.ran, is_causal, tolerance), "") << program.kernel;
    EXPECT_TRUE(checked.report.spilled.empty()) << "registers in local memory";
    for (const Turns& turns : checked.turns) EXPECT_EQ(turns.needed, turns.ideal);
    family.count();
  };
  run("", false, 2e-3);
  run("slots=1, ", true, 2e-3);
  run("dim=128, dtype=\"bfloat16\", ", false, 1.6e-2);
}

// One family, so that ptxas and nvcc are called once.
TEST(DataLoops, Examples) {
  Family family("loops from data", Nvcc::Always);
  run_lookups(family);
  run_products(family);
  run_attention(family);
}

// What sm_80 and later take.
TEST(DataLoops, OtherTargets) {
  Assembly assembly;
  const std::map<std::string, Values> none;
  for (const std::string target : {"sm_80", "sm_86", "sm_89", "sm_100a", "sm_120a"})
    for (const std::string file : {"paged_lookup.py", "gemm_grouped.py", "attention_varlen.py"}) {
      Program program = program_of(file, "kernel", none);
      program.target = target;
      const Checked compiled = compile_only(program);
      EXPECT_TRUE(compiled.right()) << compiled.explain();
      if (target != "sm_86" && target != "sm_89") assembly.add(target, compiled.ptx);
    }
  assemble_later(std::move(assembly));
}

// --- mistakes ------------------------------------------------------------------------------------

// The oracles look at the elements.
TEST(DataLoops, OraclesSayNo) {
  const Checked page = check(edited(lookup(), "p % page,", "(p + 1) % page,"));
  ASSERT_TRUE(page.right()) << page.why;
  EXPECT_NE(wrong_lookup(*page.ran), "");
  const Checked rows =
      check(edited(lookup(), "T.serial(warp, lens[s]", "T.serial(warp, lens[s] // 2"));
  ASSERT_TRUE(rows.right()) << rows.why;
  EXPECT_NE(wrong_lookup(*rows.ran), "");
  const Checked keys = check(edited(attention(""), "key >= end or ", ""));
  ASSERT_TRUE(keys.right()) << keys.why;
  EXPECT_NE(wrong_attention(*keys.ran, false, 2e-3), "");
  const Checked scaled = check(edited(attention(""), "Tx.cta.mul(total, total, factor)\n", "\n"));
  ASSERT_TRUE(scaled.right()) << scaled.why;
  EXPECT_NE(wrong_attention(*scaled.ran, false, 2e-3), "");
}

// A loop that not all lanes leave together, a tile of one group that reaches into the next, and
// keys that are overwritten while others read them.
TEST(DataLoops, MistakesAreFound) {
  const Checked apart =
      check(edited(lookup(), "(warp, lens[s]", "(warp, lens[(s + T.lane_id()) % 4]"));
  EXPECT_EQ(apart.stage, Stage::Script);
  EXPECT_NE(apart.why.find("may differ between threads of a warp"), std::string::npos) << apart.why;
  const Checked beyond =
      check(edited(program_of("gemm_grouped.py", "build()", {{"offsets", {0, 100, 100, 133, 300}}}),
                   "(end, N)", "(rows, N)"));
  EXPECT_EQ(beyond.stage, Stage::Tile) << beyond.why;
  const std::string barrier = "stage=True)\n                T.cuda.cta_sync()\n";
  const Checked early = check(edited(attention(""), barrier, "stage=True)\n"));
  EXPECT_EQ(early.stage, Stage::Tile) << early.why;
}

}  // namespace
}  // namespace ww::test::data_loops_test
