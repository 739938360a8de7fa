// SPDX-License-Identifier: Apache-2.0
// Reductions that add to memory, and scans in place: the barrier between what reads an element and what
// writes it stands where other threads have read it, and nowhere else.
#include <fmt/format.h>

#include "engines/family.h"

namespace ww::test::in_place_test {
namespace {

struct Case {
  std::string call;  // of `d` and `a`
  Extents d, a;
  std::string a_layout = {};  // of registers; empty: `a` is in shared memory
  std::string dtype = "float32";
  std::int64_t threads = 128;
  std::string target = "sm_90a";
};

Program program_of(const Case& c) {
  KernelText text(c.threads, c.dtype);
  const Operand a = c.a_layout.empty() ? shared(c.a) : registers(c.a, c.a_layout, product(c.a));
  const Operand d = shared(c.d);
  for (const auto& [name, operand] : {std::pair("a", a), std::pair("d", d)}) {
    text.declare(name, operand, name[0] == 'd');
    if (operand.memory != "local") text.fill(name, operand);
  }
  if (!c.a_layout.empty()) {
    text.param("a_in", c.a);
    text.line(fmt::format("Tx.{}copy(a, a_in)", c.call.substr(0, c.call.find('.') + 1)));
  }
  text.sync();
  text.line("Tx." + c.call);
  text.sync();
  text.dump("d", d);
  return {.source = text.text(), .target = c.target, .inputs = Inputs::Whole};
}

// Behind those that the program has itself: "2 cta, 1 warp".
std::string barriers_of(const Checked& checked) {
  std::string out;
  for (const auto& [name, opening, own] : {std::tuple("cta", "T.cuda.cta_sync(", 2U),
                                           std::tuple("warpgroup", "T.cuda.warpgroup_sync(", 0U),
                                           std::tuple("warp", "T.cuda.warp_sync(", 0U)})
    if (const std::size_t count = count_of(checked.lowered, opening) - own; count > 0)
      out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count, name);
  return out;
}

struct Row {
  Case of;
  std::string barriers;
};

// One result, which all threads hold.
Case one_result(const std::string& scope, std::int64_t threads = 128) {
  return {.call = scope + ".max(d, a, axes=(0, 1), accum=True)",
          .d = {1},
          .a = {1, 2},
          .a_layout = "S[(1, 2) : (2, 1)]",
          .threads = threads};
}
// Columns, whose elements each thread holds.
Case columns(const std::string& dtype, const std::string& target) {
  return {.call = "cta.cumsum(d, d, axis=0)",
          .d = {8, 128},
          .a = {1},
          .dtype = dtype,
          .target = target};
}

const std::vector<Row>& rows() {
  static const std::vector<Row> kRows = {
      {one_result("cta"), "1 cta"},
      {one_result("cta", 48), "1 cta"},
      {one_result("cta", 32), "1 warp"},
      {one_result("wg"), "1 warpgroup"},
      {one_result("warp", 32), "1 warp"},
      // Each result belongs to a thread.
      {{.call = "cta.sum(d, a, accum=True)", .d = {8}, .a = {8, 32}}, ""},
      // The warps meet at two barriers between them.
      {{.call = "cta.sum(d, a, accum=True)", .d = {1}, .a = {128}}, "2 cta"},
      {{.call = "cta.sum(d, a)", .d = {1}, .a = {128}}, "2 cta"},
      // Read by ldmatrix, written by st.shared or stmatrix.
      {columns("int32", "sm_80"), "1 warp"},
      {columns("int32", "sm_75"), "1 warp"},
      {columns("int32", "sm_90a"), ""},
      {columns("int64", "sm_80"), ""},
  };
  return kRows;
}

TEST(InPlace, BarriersStandWhereOthersHaveRead) {
  Family family("in place", Nvcc::Always);
  for (const Row& row : rows()) {
    const Checked checked = family.run(program_of(row.of));
    EXPECT_EQ(barriers_of(checked), row.barriers) << row.of.call << "\n" << checked.explain();
    family.count();
  }
}

// Without it there is a race.
TEST(InPlace, EachBarrierIsNeeded) {
  for (const Row& row : rows()) {
    if (!row.barriers.starts_with("1 ")) continue;
    Program program = program_of(row.of);
    program.edits = without_in_place_barrier(check(program).ptx);
    ASSERT_FALSE(program.edits.empty()) << row.of.call;
    const Checked checked = check(program);
    EXPECT_EQ(checked.stage, Stage::Device) << row.of.call;
    EXPECT_TRUE(checked.why.starts_with("race: ")) << checked.why;
  }
}

}  // namespace
}  // namespace ww::test::in_place_test
