// SPDX-License-Identifier: Apache-2.0
// copy_async from shared to tensor memory: every shape and swizzle, element widths, offsets and
// stages, and what is declined. The programs go
//
//     global -- as it lies --> shared -- copy_async --> tensor memory -- tcgen05.ld --> global
//
// and show every cell of the columns that were allocated; what the copy does not write holds 0.
// WW_RANDOM_COUNT=n and WW_RANDOM_SEED=n for more and other random ones.
#include <map>
#include <random>

#include "lower/family.h"
#include "lower/tape.h"

namespace ww::test {
namespace {

/// One copy; shapes and layouts as text.
struct CpCase {
  std::string dtype = "float32";
  Extents shape = {};         // of both sides, unless one has more
  std::string tensor = {};    // layout, "S[(128, 8) : (1 @ TLane, 1 @ TCol)]"
  std::string shared = {};    // layout; empty: row-major
  std::int64_t elements = 0;  // of the shared storage
  Extents tensor_shape = {};  // other than `shape`
  Extents shared_shape = {};
  std::string to = {}, from = {};  // regions; empty: everything
  std::string source_dtype = {};   // empty: dtype
  std::string settings = {};
  std::string around = "if tid == 0:";
  std::string loop = {};  // a line around the copy, not the commit
  std::string address = "base[0]";
  std::int64_t columns = 32;
  int align = 1024;
  std::string target = "sm_100a";
};

std::int64_t product(const Extents& extents) {
  std::int64_t out = 1;
  for (const std::int64_t extent : extents) out *= extent;
  return out;
}

std::string lines(const std::string& text, const std::string& indent) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += indent + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out;
}

/// All cells of some columns with one register each, 0 first where nobody has written.
std::string for_cells(std::int64_t columns, const std::string& body) {
  return fmt::format("for c in range({}):\n", columns) + lines(body, "    ");
}

std::string source_of(const CpCase& c) {
  const Extents& to = c.tensor_shape.empty() ? c.shape : c.tensor_shape;
  const Extents& from = c.shared_shape.empty() ? c.shape : c.shared_shape;
  const std::string from_type = c.source_dtype.empty() ? c.dtype : c.source_dtype;
  const std::int64_t elements = c.elements != 0 ? c.elements : product(from);
  const std::string shared = c.shared.empty() ? "" : fmt::format(", layout={}", c.shared);
  std::string copy =
      fmt::format("Tx.copy_async(tmem{}, smem{}{})", c.to.empty() ? "" : c.to,
                  c.from.empty() ? "" : c.from, c.settings.empty() ? "" : ", " + c.settings);
  std::string body = fmt::format(
      "A = T.match_buffer(A_ptr, ({0},), \"{1}\")\n"
      "B = T.match_buffer(B_ptr, (128, {2}), \"uint32\")\n"
      "T.device_entry()\n"
      "T.cta_id([1])\n"
      "warp_id = T.warp_id([4])\n"
      "lane_id = T.lane_id([32])\n"
      "tid = T.thread_id([128])\n"
      "base = T.alloc_shared([1], \"uint32\")\n"
      "bar = T.alloc_shared([1], \"uint64\")\n"
      "raw = T.alloc_buffer(({0},), \"{1}\", scope=\"shared\", align={3})\n"
      "smem = T.decl_buffer({4}, \"{1}\", data=raw.data, scope=\"shared\"{5})\n"
      "r = T.alloc_local([1], \"uint32\")\n"
      "if warp_id == 0:\n"
      "    T.ptx.tcgen05.alloc(T.address_of(base), n_cols={2}, cta_group=1)\n"
      "if tid == 0:\n"
      "    T.ptx.mbarrier.init(T.address_of(bar), 1)\n"
      "for i in range(({0} + 127) // 128):\n"
      "    if i * 128 + tid < {0}:\n"
      "        raw[i * 128 + tid] = A[i * 128 + tid]\n"
      "T.cuda.cta_sync()\n",
      elements, from_type, c.columns, c.align, tuple(from), shared);
  body += for_cells(c.columns,
                    "r[0] = T.uint32(0)\n"
                    "T.ptx.tcgen05.st(base[0], r[0], shape=\"32x32b\", num=1, row=warp_id * 32, "
                    "col=c)");
  body += fmt::format(
      "T.ptx.tcgen05.wait.st()\n"
      "T.ptx.fence.proxy_async(\"shared::cta\")\n"
      "T.ptx.tcgen05.fence.before_thread_sync()\n"
      "T.cuda.cta_sync()\n"
      "T.ptx.tcgen05.fence.after_thread_sync()\n"
      "tmem = T.decl_buffer({}, \"{}\", scope=\"tmem\", allocated_addr={}, layout={})\n",
      tuple(to), c.dtype, c.address, c.tensor);
  const std::string who = c.around.empty() ? "" : "    ";
  if (!c.around.empty()) body += c.around + "\n";
  if (!c.loop.empty()) body += who + c.loop + "\n    ";
  body += who + copy + "\n" + who + "T.ptx.tcgen05.commit(T.address_of(bar), cta_group=1)\n";
  body +=
      "T.cuda.mbarrier_wait(T.address_of(bar), 0)\n"
      "T.ptx.tcgen05.fence.after_thread_sync()\n";
  body += for_cells(c.columns,
                    "T.ptx.tcgen05.ld(base[0], r[0], shape=\"32x32b\", num=1, row=warp_id * 32, "
                    "col=c)\n"
                    "T.ptx.tcgen05.wait.ld()\n"
                    "B[tid, c] = r[0]");
  body += fmt::format(
      "T.cuda.cta_sync()\n"
      "if warp_id == 0:\n"
      "    T.ptx.tcgen05.relinquish_alloc_permit(cta_group=1)\n"
      "    T.ptx.tcgen05.dealloc(base[0], n_cols={}, cta_group=1)\n",
      c.columns);
  return "from tvm.script import tirx as T\n"
         "from tvm.script.tirx import tile as Tx\n"
         "from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, TLane, TCol\n\n"
         "@T.prim_func\n"
         "def kernel(A_ptr: T.handle, B_ptr: T.handle, stage: T.int32):\n" +
         lines(body, "    ");
}

Program program_of(const CpCase& c) {
  return {.source = source_of(c), .target = c.target, .scalars = {{"stage", 1}}};
}

std::string lanes(std::int64_t rows, std::int64_t columns) {
  return tile(fmt::format("S[({}, {}) : (1 @ TLane, 1 @ TCol)]", rows, columns));
}

/// Rows of `bytes` with a swizzle of that many, or 16-byte columns one after the other without.
std::string swizzled_rows(int bits, std::int64_t rows, std::int64_t width, int swizzle) {
  int per_unit = 0;
  while (bits << per_unit < 128) ++per_unit;
  const std::int64_t unit = 128 / bits;
  if (swizzle == 0)
    return tile(
        fmt::format("S[({}, {}, {}) : ({}, {}, 1)]", rows, width / unit, unit, unit, rows * unit));
  const int log = swizzle == 128 ? 3 : swizzle == 64 ? 2 : 1;
  const std::int64_t across = swizzle * 8 / bits;
  return swizzled(per_unit, log, 3,
                  fmt::format("S[({}, {}, {}) : ({}, {}, 1)]", rows, width / across, across, across,
                              rows * across));
}

std::string opcode(const std::string& shape) { return "tcgen05.cp.cta_group::1." + shape; }

Expected by_cp(const std::string& shape, std::int64_t times) {
  return {.variant = "tcgen05_cp", .opcode = opcode(shape), .per_thread = times};
}

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
  EXPECT_EQ(times_of(parts.call(0), opcode("128x128b")), 1) << parts.explain();
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
  std::string skipped;
  assembly.add(c.target, checked.ptx);
  EXPECT_EQ(assembly.assemble(skipped), "");
}

// The same instructions on another architecture.
TEST(Tcgen05Cp, AssembledForSm103a) {
  Assembly assembly;
  for (const auto& [c, shape] : every_shape()) {
    CpCase other = c;
    other.target = "sm_103a";
    const Checked checked = compile_only(program_of(other));
    EXPECT_TRUE(checked.right()) << checked.explain();
    EXPECT_EQ(count_of(checked.ptx, opcode(shape)), 1U) << checked.ptx;
    assembly.add(other.target, checked.ptx);
  }
  std::string skipped;
  EXPECT_EQ(assembly.assemble(skipped), "");
}

// --- what is declined ----------------------------------------------------------------------------

TEST(Tcgen05Cp, Declines) {
  const CpCase good{.dtype = "float16",
                    .shape = {128, 16},
                    .tensor = lanes(128, 16),
                    .shared = swizzled_rows(16, 128, 16, 32)};
  const auto expect = [&](const std::string& verdict, const auto& change) {
    CpCase c = good;
    change(c);
    const Checked checked = compile_only(program_of(c));
    EXPECT_EQ(checked.stage, Stage::Lower) << checked.explain();
    const std::string said = verdict_on(checked, 0, "tcgen05_cp");
    EXPECT_EQ(said.substr(0, verdict.size()), verdict) << said << "\n" << checked.why;
  };
  expect("[threads] 128 threads come here", [](CpCase& c) { c.around = ""; });
  expect("[threads] 32 threads come here", [](CpCase& c) { c.around = "if warp_id == 1:"; });
  expect("[threads] 4 threads come here", [](CpCase& c) { c.around = "if T.ptx.elect_sync():"; });
  // Not even the lanes of a row, rows that no shape has, lanes that there are not.
  expect("[shape] columns 0 to 3 are filled in 64 lanes from 64 different rows, lane 0 alike",
         [](CpCase& c) {
           c.shape = {64, 16};
           c.tensor = lanes(64, 16);
           c.shared = swizzled_rows(16, 64, 16, 32);
         });
  expect("[shape] columns 0 to 3 are filled in 64 lanes from 32 different rows, lanes 0, 32 alike",
         [](CpCase& c) {
           c.shape = {32, 16};
           c.tensor = tile("S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[2 : 32 @ TLane]");
           c.shared = swizzled_rows(16, 32, 16, 32);
         });
  expect("[lanes] element 1008 goes to lane 128", [](CpCase& c) {
    c.shape = {64, 16};
    c.tensor = lanes(64, 16);
    c.address = "T.cuda.get_tmem_addr(base[0], 65, 0)";
    c.shared = swizzled_rows(16, 64, 16, 32);
  });
  expect("[columns] columns 4 to 7 of lane 0 are filled in part", [](CpCase& c) {
    c.shape = {128, 12};
    c.tensor = lanes(128, 12);
    c.shared = tile("S[(128, 12) : (16, 1)]");
    c.elements = 2048;
  });
  expect("[units] element 0 is byte 0 of `smem`, and byte 8 of columns 0 to 3",
         [](CpCase& c) { c.tensor = tile("S[(128, 16) : (1 @ TLane, 1 @ TCol)] + 4 @ TCol"); });
  expect("[units] element 1 is byte 256", [](CpCase& c) {
    c.shared = tile("S[(128, 16) : (1, 128)]");  // the other way round
  });
  // Rows as they lie in no descriptor: row-major without a swizzle, a swizzle of other bits.
  expect(
      "[descriptor] no matrix descriptor gives the rows of 128x256b for columns 0 on: row 0 at "
      "byte 0, row 1 at byte 32, row 2 at byte 64, row 7 at byte 224, row 8 at byte 256, row 16 "
      "at byte 512, half a row 16 bytes on",
      [](CpCase& c) { c.shared = {}; });
  expect("[descriptor] ",
         [](CpCase& c) { c.shared = swizzled(3, 1, 4, "S[(128, 16) : (16, 1)]"); });
  expect("[descriptor] ", [](CpCase& c) {
    c.shared_shape = {136, 16};
    c.shared = swizzled_rows(16, 136, 16, 32);
    c.from = "[1:129, 0:16]";  // not where a pattern begins
  });
  expect(
      "[alignment] the rows of `smem` have a swizzle of 32 bytes, whose pattern begins at "
      "multiples of 256 bytes; storage of 64",
      [](CpCase& c) { c.align = 64; });
  expect("[alignment] `smem` is not known to begin at a multiple of 16 bytes", [](CpCase& c) {
    c.shared_shape = {8, 128, 16};
    c.shared = tile("S[(8, 128, 2, 8) : (4, 8, 1024, 1)]");
    c.elements = 4096;
    c.from = "[stage, 0:128, 0:16]";
  });
  expect("[start] `smem` begins at ", [](CpCase& c) {
    c.shared_shape = {128, 64};
    c.shared = swizzled_rows(16, 128, 64, 128);
    c.from = "[0:128, stage * 16:stage * 16 + 16]";
  });
  expect("[swizzle] `smem` begins at ", [](CpCase& c) {
    c.shared_shape = {128, 64};
    c.shared = swizzled(4, 1, 3, "S[(128, 64) : (64, 1)]");
    c.from = "[0:128, stage * 16:stage * 16 + 16]";
  });
  // Groups of 8 rows that begin in different rows of the pattern.
  expect("[descriptor] ", [](CpCase& c) {
    c.shared = swizzled(3, 1, 3, "S[(16, 8, 16) : (144, 16, 1)]");
    c.shape = {16, 8, 16};
    c.tensor = tile("S[(16, 8, 16) : (8 @ TLane, 1 @ TLane, 1 @ TCol)]");
    c.elements = 2560;
  });
  expect("[columns] `tmem` begins at ", [](CpCase& c) {
    c.tensor_shape = {128, 64};
    c.tensor = lanes(128, 64);
    c.to = "[0:128, stage * 4:stage * 4 + 16]";
  });
  expect("[collision] ",
         [](CpCase& c) { c.tensor = tile("S[(2, 64, 16) : (0 @ TLane, 1 @ TLane, 1 @ TCol)]"); });
  expect("[predicate] ", [](CpCase& c) { c.settings = "predicate=stage < 2"; });
  // Settings.
  expect("[config] there is no `tcgen05.cp.128x256b.warpx4`",
         [](CpCase& c) { c.settings = "shape=\"128x256b\", multicast=\"warpx4\""; });
  expect("[config] `decompress=`", [](CpCase& c) { c.settings = "decompress=True"; });
  expect("[shape] ", [](CpCase& c) { c.settings = "shape=\"64x128b\""; });
}

// Nothing else of the program needs tensor memory.
TEST(Tcgen05Cp, DeclinesOtherArchitectures) {
  Program program{
      .source =
          "from tvm.script import tirx as T\n"
          "from tvm.script.tirx import tile as Tx\n"
          "from tvm.tirx.layout import S, R, TileLayout, TLane, TCol\n\n"
          "@T.prim_func\n"
          "def kernel(address: T.uint32):\n"
          "    T.device_entry()\n"
          "    T.cta_id([1])\n"
          "    T.thread_id([1])\n"
          "    smem = T.alloc_shared((32, 4), \"float32\")\n"
          "    tmem = T.decl_buffer((32, 4), \"float32\", scope=\"tmem\", "
          "allocated_addr=address, layout=TileLayout(S[(32, 4) : (1 @ TLane, 1 @ TCol)] + "
          "R[4 : 32 @ TLane]))\n"
          "    Tx.copy_async(tmem, smem)\n"};
  for (const std::string target : {"sm_80", "sm_90a", "sm_100", "sm_120a"}) {
    program.target = target;
    const std::string said = verdict_on(compile_only(program), 0, "tcgen05_cp");
    EXPECT_EQ(said,
              "[arch] tcgen05.cp needs sm_100a, sm_100f, sm_103a, sm_103f, sm_110a, sm_110f, "
              "the target is " +
                  target);
  }
  for (const std::string target : {"sm_100a", "sm_100f", "sm_103a"}) {
    program.target = target;
    EXPECT_EQ(verdict_on(compile_only(program), 0, "tcgen05_cp"), "chosen");
  }
}

TEST(Tcgen05Cp, DeclinesOtherScopes) {
  CpCase c{.dtype = "float16",
           .shape = {128, 16},
           .tensor = lanes(128, 16),
           .shared = swizzled_rows(16, 128, 16, 32),
           .around = "if warp_id == 0:"};
  Program program = program_of(c);
  const std::size_t at = program.source.find("Tx.copy_async");
  program.source.replace(at, 13, "Tx.warp.copy_async");
  const Checked checked = compile_only(program);
  EXPECT_EQ(verdict_on(checked, 0, "tcgen05_cp"),
            "[scope] warp scope, expected thread: who starts the copy is who commits");
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
  std::string skipped;
  EXPECT_EQ(assembly.assemble(skipped), "");
  for (const auto& [what, count] : seen) fmt::print("  {} {}\n", count, what);
  for (const auto& [what, count] : declined) fmt::print("  {} declined {}\n", count, what);
  EXPECT_EQ(seen.size(), wanted < 60 ? seen.size() : 6U);
  EXPECT_GT(assembly.count(), wanted / 3);
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
  expect(commit, "pass", "wait here for ever");
  expect(wait, "T.cuda.cta_sync()", "while a copy into it is under way");
  expect(wait, "raw[tid] = T.float16(0)\n    " + wait, "while a copy from it is under way");
  expect("        Tx.copy_async(tmem, smem)\n        " + commit,
         "        " + commit + "\n        Tx.copy_async(tmem, smem)",
         "while a copy into it is under way");
}

}  // namespace
}  // namespace ww::test
