// SPDX-License-Identifier: Apache-2.0
// copy_async from shared to tensor memory: every shape and swizzle, element widths, offsets and
// stages, copies by chance, and faults that must show. WW_RANDOM_COUNT=n and WW_RANDOM_SEED=n for
// more and other random ones.
#include <map>
#include <random>

#include "engines/cp_programs.h"
#include "harness/tape.h"

namespace ww::test::tcgen05_cp_test {
namespace {

// --- what is accepted ----------------------------------------------------------------------------

TEST(Tcgen05Cp, WholeTilesOfEverySwizzleAndWidth) {
  Family family("tcgen05.cp, 128 lanes by swizzle and width", Nvcc::Always);
  for (const std::string dtype : {"uint8", "float8_e4m3fn", "float16", "bfloat16", "float32"})
    for (const int swizzle : {0, 32, 64, 128}) {
      const int bits = bits_of(dtype);
      const std::int64_t width = 128 * 8 / bits;  // 32 columns
      const CpCase c{.dtype = dtype,
                     .shape = {128, width},
                     .tensor = lanes(128, width),
                     .shared = swizzled_rows(bits, 128, width, swizzle)};
      const Checked checked = family.run(program_of(c), by_cp("128x256b", 4));
      EXPECT_EQ(count_of(checked.ptx, "tcgen05.cp."), 4U) << checked.ptx;
      family.count();
    }
}

std::vector<std::pair<CpCase, std::string>> every_shape() {
  std::vector<std::pair<CpCase, std::string>> out;
  for (const int swizzle : {0, 32, 64, 128}) {
    const std::int64_t width = std::max(16, swizzle) / 2;  // of a pattern
    // The last unit of each row.
    const auto add = [&](std::int64_t rows, const std::string& tensor, const std::string& shape) {
      out.emplace_back(CpCase{.dtype = "float16",
                              .shape = {rows, 8},
                              .tensor = tile(tensor),
                              .shared = swizzled_rows(16, rows, width, swizzle),
                              .shared_shape = {rows, width},
                              .from = fmt::format("[0:{}, {}:{}]", rows, width - 8, width)},
                       shape);
    };
    add(128, "S[(128, 8) : (1 @ TLane, 1 @ TCol)]", "128x128b");
    add(64, "S[(64, 8) : (1 @ TLane, 1 @ TCol)] + R[2 : 64 @ TLane]", "64x128b.warpx2::02_13");
    add(64, "S[(2, 32, 8) : (64 @ TLane, 1 @ TLane, 1 @ TCol)] + R[2 : 32 @ TLane]",
        "64x128b.warpx2::01_23");
    add(32, "S[(32, 8) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]", "32x128b.warpx4");
    const std::int64_t wide = std::max<std::int64_t>(16, width);
    out.emplace_back(CpCase{.dtype = "float16",
                            .shape = {4, 16},
                            .tensor = tile("S[(4, 16) : (32 @ TLane, 1 @ TCol)] + 7 @ TLane"),
                            .shared = swizzled_rows(16, 8, wide, swizzle),
                            .shared_shape = {8, wide},
                            .from = "[0:4, 0:16]"},
                     "4x256b");
  }
  // Scale factors as block-scaled products want them.
  const std::string scales = "S[(4, 32, 4) : (4 @ TCol, 1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]";
  out.emplace_back(CpCase{.dtype = "uint8",
                          .shape = {4, 32, 4},
                          .tensor = tile(scales),
                          .shared = tile("S[(4, 32, 4) : (4, 16, 1)]")},
                   "32x128b.warpx4");
  return out;
}

std::string notes_of(const Checked& checked) {
  std::string out;
  for (const std::string& note : checked.call(0).plan.notes) out += note + "\n";
  return out;
}

TEST(Tcgen05Cp, EveryShape) {
  Family family("tcgen05.cp, shapes", Nvcc::Always);
  for (const auto& [c, shape] : every_shape()) {
    const std::string notes = notes_of(family.run(program_of(c), by_cp(shape, 1)));
    const bool is_pair = shape.starts_with("64x");
    EXPECT_EQ(count_of(notes, "public sources differ"), is_pair ? 1U : 0U) << notes;
    family.count();
  }
}

// What is written alike and what means alike.
TEST(Tcgen05Cp, ByMeaning) {
  Family family("tcgen05.cp, by meaning");
  // A replica of the tile, or a broadcast of the source.
  CpCase stretched{.dtype = "float32",
                   .shape = {4, 32, 4},
                   .tensor = tile("S[(4, 32, 4) : (32 @ TLane, 1 @ TLane, 1 @ TCol)]"),
                   .shared = tile("S[(4, 32, 4) : (0, 4, 1)]"),
                   .elements = 128};
  family.run(program_of(stretched), by_cp("32x128b.warpx4", 1));
  // Rows that come in another order in both.
  CpCase turned{.dtype = "float16",
                .shape = {8, 16, 8},
                .tensor = tile("S[(8, 16, 8) : (1 @ TLane, 8 @ TLane, 1 @ TCol)]"),
                .shared = tile("S[(8, 16, 8) : (8, 64, 1)]")};
  family.run(program_of(turned), by_cp("128x128b", 1));
  // Four rows of 32 bytes, which a swizzle of 32 bytes leaves where they are.
  CpCase four{
      .dtype = "float16", .shape = {4, 16}, .tensor = tile("S[(4, 16) : (32 @ TLane, 1 @ TCol)]")};
  family.run(program_of(four), by_cp("4x256b", 1));
  // Elements of one width and two types.
  CpCase types{.dtype = "uint16",
               .shape = {128, 16},
               .tensor = lanes(128, 16),
               .shared = swizzled_rows(16, 128, 16, 32),
               .source_dtype = "bfloat16"};
  family.run(program_of(types), by_cp("128x256b", 1));
  family.count(4);
}

TEST(Tcgen05Cp, OffsetsAndStages) {
  Family family("tcgen05.cp, offsets and stages", Nvcc::Always);
  // Part of the columns of both: three units, of which two lie in one row of the pattern.
  CpCase part{.dtype = "float16",
              .shape = {},
              .tensor = lanes(128, 64),
              .shared = swizzled_rows(16, 128, 64, 64),
              .tensor_shape = {128, 64},
              .shared_shape = {128, 64},
              .to = "[0:128, 16:40]",
              .from = "[0:128, 24:48]"};
  const Checked parts = family.run(program_of(part), by_cp("128x256b", 1));
  EXPECT_EQ(times_of(parts.call(0), cp_opcode("128x128b")), 1) << parts.explain();
  // A later group of rows.
  CpCase rows = part;
  rows.shared = swizzled_rows(16, 256, 64, 128);
  rows.shared_shape = {256, 64};
  rows.to = "[0:128, 0:64]";
  rows.from = "[64:192, 0:64]";
  family.run(program_of(rows), by_cp("128x256b", 4));
  // Stages of run time on both sides.
  for (const int swizzle : {0, 128}) {
    CpCase staged{.dtype = "float32",
                  .shape = {},
                  .tensor = tile("S[(2, 128, 32) : (32 @ TCol, 1 @ TLane, 1 @ TCol)]"),
                  .shared = swizzle == 0 ? tile("S[(3, 128, 8, 4) : (4096, 4, 512, 1)]")
                                         : swizzled(2, 3, 3, "S[(3, 128, 32) : (4096, 32, 1)]"),
                  .elements = 3 * 4096,
                  .tensor_shape = {2, 128, 32},
                  .shared_shape = {3, 128, 32},
                  .to = "[stage, 0:128, 0:32]",
                  .from = "[stage + 1, 0:128, 0:32]",
                  .columns = 64};
    family.run(program_of(staged), by_cp("128x256b", 4));
    staged.loop = "for k in range(2):";
    staged.to = "[k, 0:128, 0:32]";
    staged.from = "[k + stage, 0:128, 0:32]";
    family.run(program_of(staged), by_cp("128x256b", 4));
  }
  // Units of a row of the pattern in turn, of a stage of run time.
  for (const int swizzle : {64, 128}) {
    const std::int64_t width = swizzle / 4;
    CpCase turn{
        .dtype = "float32",
        .shape = {},
        .tensor = lanes(128, width),
        .shared = swizzled(2, swizzle == 128 ? 3 : 2, 3,
                           fmt::format("S[(3, 128, {0}) : ({1}, {0}, 1)]", width, 128 * width)),
        .tensor_shape = {128, width},
        .shared_shape = {3, 128, width},
        .to = "[0:128, k * 8:k * 8 + 8]",
        .from = "[stage, 0:128, k * 8:k * 8 + 8]",
        .loop = fmt::format("for k in range({}):", width / 8)};
    family.run(program_of(turn), by_cp("128x256b", 1));
    turn.to = "[0:128, k * 4:k * 4 + 4]";
    turn.from = "[stage, 0:128, k * 4:k * 4 + 4]";
    turn.loop = fmt::format("for k in range({}):", width / 4);
    family.run(program_of(turn), by_cp("128x128b", 1));
  }
  // An address that is made of a base and a column, and one with a row as well.
  CpCase moved{.dtype = "float32",
               .shape = {128, 8},
               .tensor = lanes(128, 8),
               .shared = swizzled_rows(32, 128, 8, 32),
               .address = "T.cuda.get_tmem_addr(base[0], 0, 12)"};
  family.run(program_of(moved), by_cp("128x256b", 1));
  CpCase low{.dtype = "float32",
             .shape = {4, 8},
             .tensor = tile("S[(4, 8) : (32 @ TLane, 1 @ TCol)]"),
             .shared = swizzled_rows(32, 4, 8, 0),
             .address = "T.cuda.get_tmem_addr(base[0], 16, 4)"};
  family.run(program_of(low), by_cp("4x256b", 1));
  family.count(12);
}

TEST(Tcgen05Cp, SettingsAndThreads) {
  Family family("tcgen05.cp, settings and threads");
  CpCase c{.dtype = "float16",
           .shape = {128, 16},
           .tensor = lanes(128, 16),
           .shared = swizzled_rows(16, 128, 16, 32)};
  c.settings = "dispatch=\"tcgen05_cp\"";
  family.run(program_of(c), by_cp("128x256b", 1));
  c.settings = "dispatch=\"smem->tmem\", cta_group=1";
  family.run(program_of(c), by_cp("128x256b", 1));
  c.settings = "shape=\"128x128b\"";
  family.run(program_of(c), by_cp("128x128b", 2));
  c.settings = "shape=\"128x256b\"";
  c.target = "sm_103a";
  family.run(program_of(c), by_cp("128x256b", 1));
  c.target = "sm_100f";
  family.run(program_of(c), by_cp("128x256b", 1));
  c.target = "sm_100a";
  c.settings = "";
  c.around = "if T.And(warp_id == 2, T.ptx.elect_sync()):";
  std::string notes = notes_of(family.run(program_of(c), by_cp("128x256b", 1)));
  EXPECT_EQ(count_of(notes, "one thread must come here"), 0U) << notes;
  // Who comes is known at run time only.
  c.around = "if tid == stage:";
  notes = notes_of(family.run(program_of(c), by_cp("128x256b", 1)));
  EXPECT_EQ(count_of(notes, "one thread must come here"), 1U) << notes;
  c.around = "if tid == 0:";
  c.settings = "multicast=\"warpx4\", shape=\"32x128b\"";
  c.shape = {32, 8};
  c.tensor = tile("S[(32, 8) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]");
  c.shared = {};
  family.run(program_of(c), by_cp("32x128b.warpx4", 1));
  family.count(8);
}

// Two CTAs of a pair, as text: neither the evaluator nor one CTA can run it.
TEST(Tcgen05Cp, OfACtaPair) {
  CpCase c{.dtype = "float16",
           .shape = {128, 16},
           .tensor = lanes(128, 16),
           .shared = swizzled_rows(16, 128, 16, 32),
           .settings = "cta_group=2"};
  Program program = program_of(c);
  for (std::size_t at = 0; (at = program.source.find("cta_group=1", at)) != std::string::npos;)
    program.source[at + 10] = '2';
  const Checked checked = compile_only(program);
  EXPECT_TRUE(checked.right()) << checked.explain();
  EXPECT_EQ(count_of(checked.ptx, "tcgen05.cp.cta_group::2.128x256b"), 1U) << checked.ptx;
  Assembly assembly;
  assembly.add(c.target, checked.ptx);
  assemble_later(std::move(assembly));
}

// The same instructions on another architecture.
TEST(Tcgen05Cp, AssembledForSm103a) {
  Assembly assembly;
  for (const auto& [c, shape] : every_shape()) {
    CpCase other = c;
    other.target = "sm_103a";
    const Checked checked = compile_only(program_of(other));
    EXPECT_TRUE(checked.right()) << checked.explain();
    EXPECT_EQ(count_of(checked.ptx, cp_opcode(shape)), 1U) << checked.ptx;
    assembly.add(other.target, checked.ptx);
  }
  assemble_later(std::move(assembly));
}

// --- by chance -----------------------------------------------------------------------------------

/// Rows in groups of 8, units of 16 bytes, and where each of them goes; now and then so that no
/// instruction does it.
CpCase random_case(std::mt19937_64& random) {
  const auto pick = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  const auto sometimes = [&](int percent) { return pick(100) < percent; };
  struct Pattern {
    std::int64_t halves, groups, rows;
    std::int64_t half_lanes, group_lanes, row_lanes;
    std::string replica;
  };
  static const Pattern kPatterns[] = {{1, 16, 8, 0, 8, 1, ""},
                                      {1, 8, 8, 0, 8, 1, " + R[2 : 64 @ TLane]"},
                                      {2, 4, 8, 64, 8, 1, " + R[2 : 32 @ TLane]"},
                                      {1, 4, 8, 0, 8, 1, " + R[4 : 32 @ TLane]"},
                                      {1, 1, 4, 0, 0, 32, ""}};
  static const std::string kTypes[] = {"uint8", "float16", "bfloat16", "float32"};
  const Pattern& p = kPatterns[pick(std::ssize(kPatterns))];
  CpCase c{.dtype = kTypes[pick(4)]};
  const int bits = bits_of(c.dtype);
  const std::int64_t unit = 128 / bits;
  const std::int64_t across = std::int64_t{1} << pick(4);  // units of a pattern; 1: no swizzle
  const std::int64_t inner = 1 + pick(across == 1 ? 4 : across);
  const std::int64_t outer = 1 + pick(2);
  const std::int64_t all = p.halves * p.groups;
  std::int64_t row = across, group = 8 * across * (1 + pick(3));
  std::int64_t next = across == 1 ? all * group : 1;
  std::int64_t block = across == 1 ? inner * next : all * group;
  if (sometimes(5)) row = across * 2;
  if (sometimes(5)) group += across;
  std::int64_t half = p.groups * group;
  if (sometimes(5)) half *= 2;
  std::int64_t start = across == 1 ? pick(3) : pick(across - inner + 1);
  if (sometimes(5)) start += 8 * across * pick(2) + across;
  std::int64_t column = unit, outer_column = inner * unit;
  if (sometimes(20)) {  // in turn
    column = unit * outer;
    outer_column = unit;
  } else if (sometimes(20)) {
    outer_column += unit;
  }
  std::int64_t first = pick(3) * unit;
  if (sometimes(4)) first += 1;
  const std::int64_t last_unit = start + (p.rows - 1) * row + (p.groups - 1) * group +
                                 (p.halves - 1) * half + (inner - 1) * next + (outer - 1) * block;
  c.shape = {p.halves, p.groups, p.rows, outer, inner, unit};
  c.elements = (last_unit / (8 * across) + 1) * 8 * across * unit;
  c.tensor = tile(fmt::format(
      "S[({}, {}, {}, {}, {}, {}) : ({} @ TLane, {} @ TLane, {} @ TLane, {} @ TCol, {} @ TCol, 1 @ "
      "TCol)]{} + {} @ TCol",
      p.halves, p.groups, p.rows, outer, inner, unit, p.half_lanes, p.group_lanes, p.row_lanes,
      outer_column, column, p.replica, first));
  const std::string places =
      fmt::format("S[({}, {}, {}, {}, {}, {}) : ({}, {}, {}, {}, {}, 1)] + {}", p.halves, p.groups,
                  p.rows, outer, inner, unit, half * unit, group * unit, row * unit, block * unit,
                  next * unit, start * unit);
  int log = 0;
  while (std::int64_t{1} << log < across) ++log;
  int per_unit = 0;
  while (std::int64_t{1} << per_unit < unit) ++per_unit;
  c.shared = across == 1 ? tile(places) : swizzled(per_unit, log, 3, places);
  const std::int64_t end =
      first + (outer - 1) * outer_column + (inner - 1) * column + unit;  // in elements
  while (c.columns * 32 < end * bits) c.columns *= 2;
  if (sometimes(10)) c.align = 64;
  return c;
}

TEST(Tcgen05Cp, ByChance) {
  const std::uint64_t seed = from_environment("WW_RANDOM_SEED", 0);
  const std::uint64_t wanted = from_environment("WW_RANDOM_COUNT", 60);
  std::map<std::string, int> seen, declined;
  Assembly assembly;
  for (std::uint64_t number = 0; number < wanted; ++number) {
    std::mt19937_64 random(seed + number);
    const CpCase c = random_case(random);
    const Checked checked = check(program_of(c));
    if (checked.stage == Stage::Lower) {
      const std::string said = verdict_on(checked, 0, "tcgen05_cp");
      EXPECT_EQ(said[0], '[') << checked.explain();
      ++declined[said.substr(0, said.find(']') + 1)];
      continue;
    }
    ASSERT_TRUE(checked.right()) << "WW_RANDOM_SEED=" << seed + number << "\n" << checked.explain();
    assembly.add(c.target, checked.ptx);
    for (const lower::InstructionCount& each : checked.call(0).plan.instructions)
      ++seen[each.opcode];
  }
  const std::size_t assembled = assembly.count();
  assemble_later(std::move(assembly));
  for (const auto& [what, count] : seen) fmt::print("  {} {}\n", count, what);
  for (const auto& [what, count] : declined) fmt::print("  {} declined {}\n", count, what);
  EXPECT_EQ(seen.size(), wanted < 60 ? seen.size() : 6U);
  EXPECT_GT(assembled, wanted / 3);
}

// --- planted faults ------------------------------------------------------------------------------

// What the harness says when the PTX is not the proven one any more.
TEST(Tcgen05Cp, TheVirtualGpuNotices) {
  CpCase c{.dtype = "float16",
           .shape = {128, 64},
           .tensor = lanes(128, 64),
           .shared = swizzled_rows(16, 128, 64, 128)};
  const auto broken = [&](const std::string& what, const std::string& by) {
    Program program = program_of(c);
    program.edits = {{what, by}};
    const Checked checked = check(program);
    EXPECT_EQ(checked.stage, Stage::Device) << checked.explain();
  };
  broken("add.u64\t%rd", "sub.u64\t%rd");                // another start
  broken("4611756662049538048", "4611756524610584576");  // half the distance of groups
  broken("4611756662049538048", "9223442680476925952");  // a swizzle of 64 bytes
  broken("tcgen05.cp.cta_group::1.128x256b", "tcgen05.cp.cta_group::1.128x128b");
  broken("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64\t",
         "mbarrier.arrive.shared.b64\t_, ");
}

// Mistakes of programs, which the evaluator names.
TEST(Tcgen05Cp, Mistakes) {
  const CpCase c{.dtype = "float16",
                 .shape = {128, 16},
                 .tensor = lanes(128, 16),
                 .shared = swizzled_rows(16, 128, 16, 32)};
  const auto expect = [&](const std::string& what, const std::string& by,
                          const std::string& finding) {
    Program program = program_of(c);
    const std::size_t at = program.source.find(what);
    ASSERT_NE(at, std::string::npos) << what;
    program.source.replace(at, what.size(), by);
    const Checked checked = check(program);
    EXPECT_EQ(checked.stage, Stage::Tile) << checked.explain();
    EXPECT_NE(checked.why.find(finding), std::string::npos) << checked.why;
  };
  const std::string commit = "T.ptx.tcgen05.commit(T.address_of(bar), cta_group=1)";
  const std::string wait = "T.cuda.mbarrier_wait(T.address_of(bar), 0)";
  expect(commit, "T.ptx.mbarrier.arrive(T.address_of(bar))", "while a copy into it is under way");
  expect(commit, "if stage == 123456789:\n            " + commit, "wait here for ever");
  expect(wait, "T.cuda.cta_sync()", "while a copy into it is under way");
  expect(wait, "raw[tid] = T.float16(0)\n    " + wait, "while a copy from it is under way");
  expect("        Tx.copy_async(tmem, smem)\n        " + commit,
         "        " + commit + "\n        Tx.copy_async(tmem, smem)",
         "while a copy into it is under way");
}

}  // namespace
}  // namespace ww::test::tcgen05_cp_test
