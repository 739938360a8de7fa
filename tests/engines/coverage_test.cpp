// SPDX-License-Identifier: Apache-2.0
// The grids of cases that any lowering of copies is measured by: matrix fragments by ldmatrix and
// stmatrix (75), rows of registers (71), tiles between global and shared memory (89), and what is
// left (8). Every case runs on all engines; the plan is compared with the widths and counts that
// the documents of the language give.
#include <array>

#include "engines/family.h"

namespace ww::test::coverage_test {
namespace {

const std::vector<std::string> kSixTypes = {"int8",    "float8_e4m3fn", "float8_e5m2",
                                            "float16", "bfloat16",      "float32"};

// --- ldstmatrix ----------------------------------------------------------------------------------

struct MatrixCase {
  std::string scope;
  std::string axis;  // over the warps of the unit; empty: one warp
  bool is_trans, is_load, is_swizzled;
  int num;
};

// Fragments of `num` 8x8 matrices per warp, rows (or columns) of shared memory one after the other.
CopyCase matrix_copy(const MatrixCase& m) {
  const int row = 8 * m.num;
  const bool has_warps = !m.axis.empty();
  const std::string warps = has_warps ? "4, " : "";
  const std::string own = fmt::format("S[({}8, 4, {}, 2) : ({}4 @ laneid, 1 @ laneid, 2, 1)]",
                                      warps, m.num, has_warps ? "1 @ " + m.axis + ", " : "");
  const std::string strides =
      m.is_trans ? fmt::format("1, {}, 8, {}", 2 * row, row) : fmt::format("{}, 2, 8, 1", row);
  const std::string other = fmt::format("S[({}8, 4, {}, 2) : ({}{})]", warps, m.num,
                                        has_warps ? fmt::format("{}, ", 64 * m.num) : "", strides);
  Extents shape = {8, 4, m.num, 2};
  if (has_warps) shape.insert(shape.begin(), 4);
  CopyCase out{.threads = has_warps ? 128 : 32, .scope = m.scope};
  out.dst = registers(shape, own, 2 * m.num);
  out.src = shared(shape, m.is_swizzled ? swizzled(3, 3, 3, other) : tile(other));
  return m.is_load ? out : reversed(out);
}

std::string matrix_opcode(bool is_load, int num, bool is_trans) {
  return fmt::format("{}.sync.aligned.m8n8.x{}{}.shared.b16", is_load ? "ldmatrix" : "stmatrix",
                     num, is_trans ? ".trans" : "");
}

void run_matrices(bool is_swizzled) {
  Family family(is_swizzled ? "ldstmatrix, 128-byte swizzle" : "ldstmatrix, plain", Nvcc::Always);
  const std::vector<std::pair<std::string, std::string>> scopes = {
      {"warp", ""}, {"wg", "wid_in_wg"}, {"cta", "warpid"}};
  for (const auto& [scope, axis] : scopes)
    for (const bool is_trans : {false, true})
      for (const bool is_load : {true, false})
        for (const int num : {1, 2, 4}) {
          const MatrixCase m{scope, axis, is_trans, is_load, is_swizzled, num};
          const Checked checked =
              family.run(matrix_copy(m), {.variant = "ldstmatrix",
                                          .opcode = matrix_opcode(is_load, num, is_trans),
                                          .per_thread = 1});
          EXPECT_EQ(count_of(checked.ptx, matrix_opcode(is_load, num, is_trans)), 1U);
          EXPECT_EQ(count_of(checked.ptx, "matrix."), 1U) << checked.ptx;
          family.count();
        }
}
TEST(LdstMatrix, PlainGrid) { run_matrices(false); }
TEST(LdstMatrix, SwizzledGrid) { run_matrices(true); }

TEST(LdstMatrix, OuterOfSeveralIters) {
  Family family("ldstmatrix, outer of two iters", Nvcc::Always);
  for (const int outer : {4, 5}) {
    CopyCase each;
    const Extents shape = {8, 4, outer, 2, 4, 2};
    each.dst = registers(
        shape, fmt::format("S[(8, 4, {}, 2, 4, 2) : (4 @ laneid, 1 @ laneid, 16, 8, 2, 1)]", outer),
        outer * 16);
    each.src =
        shared(shape, tile(fmt::format("S[(8, 4, {}, 2, 4, 2) : (32, 2, 640, 256, 8, 1)]", outer)));
    family.run(each, {.variant = "ldstmatrix",
                      .opcode = matrix_opcode(true, 4, false),
                      .per_thread = outer * 2});
    family.count();
  }
}

// The fragment of a tensor memory load of 32-bit elements, with elements of `dtype` in their
// places, and a swizzled tile of shared memory.
std::string fragment_text(const std::string& dtype, std::int64_t columns, bool is_load) {
  const std::string named = fmt::format(
      "from tvm.tirx.layout import tcgen05_atom_layout, mma_shared_layout\n"
      "from tvm.script import tirx as T\nfrom tvm.script.tirx import tile as Tx\n\n"
      "@T.prim_func\ndef kernel(A_ptr: T.handle, B_ptr: T.handle):\n"
      "    A = T.match_buffer(A_ptr, (64, {0}), \"{1}\")\n"
      "    B = T.match_buffer(B_ptr, (64, {0}), \"{1}\")\n"
      "    T.device_entry()\n    T.cta_id([1])\n    T.warpgroup_id([1])\n    tid = "
      "T.thread_id([128])\n"
      "    R = T.alloc_buffer((64, {0}), \"{1}\", scope=\"local\", "
      "layout=tcgen05_atom_layout(\"16x256b\", (64, {0}), \"float32\"))\n"
      "    M = T.alloc_buffer((64, {0}), \"{1}\", scope=\"shared\", "
      "layout=mma_shared_layout(\"{1}\", 3, (64, {0})))\n",
      columns, dtype);
  const std::string load =
      "    Tx.wg.copy(M[:, :], A[:, :])\n    T.cuda.cta_sync()\n"
      "    Tx.wg.copy(R[:, :], M[:, :])\n    Tx.wg.copy(B[:, :], R[:, :])\n";
  const std::string store =
      "    Tx.wg.copy(R[:, :], A[:, :])\n    Tx.wg.copy(M[:, :], R[:, :])\n"
      "    T.cuda.cta_sync()\n    Tx.wg.copy(B[:, :], M[:, :])\n";
  return named + (is_load ? load : store);
}

TEST(LdstMatrix, TensorMemoryFragment) {
  Family family("ldstmatrix, 16x256b fragment of bfloat16", Nvcc::Always);
  family.run(Program{.source = fragment_text("bfloat16", 64, true)},
             {.variant = "ldstmatrix", .opcode = matrix_opcode(true, 4, false), .per_thread = 4},
             1);
  family.count();
}

// --- reg -----------------------------------------------------------------------------------------

struct RowCase {
  std::string scope, axis;
  std::int64_t threads, k;
};

// One row of k elements per thread.
CopyCase row_copy(const RowCase& row, const std::string& dtype, const std::string& memory) {
  CopyCase out{.dtype = dtype, .threads = row.threads, .scope = row.scope};
  out.dst =
      registers({row.threads, row.k},
                fmt::format("S[({}, {}) : (1 @ {}, 1)]", row.threads, row.k, row.axis), row.k);
  out.src = {.memory = memory, .shape = {row.threads, row.k}};
  return out;
}

Expected row_plan(const RowCase& row, const std::string& dtype) {
  const std::int64_t bits = row.k * bits_of(dtype);
  const int vector = bits % 128 == 0 ? 128 : 64;
  return {.variant = "reg", .vector_bits = vector, .rounds = bits / vector, .registers = bits / 32};
}

TEST(Reg, RoundTrips) {
  Family family("reg, round trips", Nvcc::Always);
  const std::vector<RowCase> rows = {{"wg", "tid_in_wg", 128, 16}, {"wg", "tid_in_wg", 128, 32},
                                     {"wg", "tid_in_wg", 128, 8},  {"warp", "laneid", 32, 8},
                                     {"warp", "laneid", 32, 16},   {"cta", "tx", 256, 8},
                                     {"cta", "tx", 256, 16}};
  for (const std::string memory : {"shared", "global"})
    for (const RowCase& row : rows)
      for (const std::string dtype : {"float16", "float32", "uint8"}) {
        const CopyCase load = row_copy(row, dtype, memory);
        family.run(load, row_plan(row, dtype));
        family.run(reversed(load), row_plan(row, dtype));
        family.count();
      }
}

TEST(Reg, RegionsAtThreadScope) {
  Family family("reg, a region of global memory at thread scope", Nvcc::Always);
  for (const std::string& dtype : kSixTypes) {
    CopyCase each{.dtype = dtype, .scope = "thread", .around = "if tid == 0:"};
    each.dst = registers({8, 8}, "S[8, 8]", 64);
    each.src = global({4, 32, 32}, "[3, 8:16, 8:16]");
    const int row_bits = 8 * bits_of(dtype);
    family.run(each, {.variant = "reg", .vector_bits = std::min(128, row_bits)});
    family.run(reversed(each), {.variant = "reg", .vector_bits = std::min(128, row_bits)});
    family.count();
  }
}

TEST(Reg, GapsAndPermutations) {
  Family family("reg, registers with gaps and in another order", Nvcc::Always);
  CopyCase each;
  each.dst = registers({32, 2, 4}, "S[(32, 2, 4) : (1 @ laneid, 8, 1)]", 12);
  each.src = shared({32, 2, 4});
  family.run(each, {.variant = "reg", .vector_bits = 64, .rounds = 2, .registers = 4});
  each.dst = registers({32, 2, 4}, "S[(32, 2, 4) : (1 @ laneid, 1, 2)]", 8);
  family.run(each, {.variant = "reg", .vector_bits = 16, .rounds = 8});
  family.count();
}

TEST(Reg, CacheModifiers) {
  Family family("reg, cache modifiers", Nvcc::Always);
  CopyCase each = row_copy({"warp", "laneid", 32, 8}, "float32", "global");
  each.settings = "cache=\"nc\"";
  const Checked checked = family.run(each, {.variant = "reg"});
  EXPECT_EQ(count_of(checked.ptx, "ld.global.nc.v4.b32"), 2U) << checked.ptx;
  family.count();
}

TEST(Reg, Addresses) {
  Family family("reg, addresses", Nvcc::Always);
  // The part that depends on the thread is computed once.
  const Checked plain =
      family.run(row_copy({"warp", "laneid", 32, 16}, "float32", "shared"), {.variant = "reg"});
  EXPECT_EQ(count_of(plain.lowered, "src_base:"), 1U) << plain.lowered;
  EXPECT_EQ(count_of(plain.ptx, "ld.shared.v4.b32"), 4U) << plain.ptx;
  family.count();
  // Swizzled rows: vectors of a swizzle's unit, in the order that the swizzle leaves them.
  CopyCase turned = row_copy({"warp", "laneid", 32, 64}, "float16", "shared");
  turned.src.layout = swizzled(3, 3, 3, "S[32, 64]");
  family.run(turned, {.variant = "reg", .vector_bits = 128, .rounds = 8});
  family.run(reversed(turned), {.variant = "reg", .vector_bits = 128, .rounds = 8});
  family.count();
  // A swizzle of smaller units limits the vectors where it parts neighbours, and only there.
  CopyCase narrow = row_copy({"warp", "laneid", 32, 32}, "float16", "shared");
  narrow.src.layout = swizzled(2, 3, 3, "S[32, 32]");
  family.run(narrow, {.variant = "reg", .vector_bits = 64, .rounds = 8});
  CopyCase halves = row_copy({"warp", "laneid", 32, 64}, "float16", "shared");
  halves.src.layout = swizzled(2, 3, 3, "S[32, 64]");
  family.run(halves, {.variant = "reg", .vector_bits = 128, .rounds = 12});
  family.count();
  const Checked values =
      family.run(reversed(row_copy({"warp", "laneid", 32, 4}, "float32", "global")),
                 {.variant = "reg", .vector_bits = 128, .rounds = 1});
  EXPECT_EQ(count_of(values.ptx, "st.global.v4.b32"), 1U) << values.ptx;
  family.count();
}

TEST(Reg, OneElement) {
  Family family("reg, a region of one element", Nvcc::Always);
  CopyCase each{.dtype = "float32", .scope = "thread"};
  each.dst = registers({4, 4}, "S[4, 4]", 16, "[1, 2]");
  each.src = global({32, 8}, "[tid, 3]");
  family.run(each, {.variant = "reg", .vector_bits = 32, .rounds = 1});
  family.run(reversed(each), {.variant = "reg", .vector_bits = 32, .rounds = 1});
  family.count();
}

TEST(Reg, ForcedWidths) {
  Family family("reg, forced widths", Nvcc::Always);
  for (const int bits : {16, 32, 64, 128}) {
    const std::int64_t n = bits / 16;
    CopyCase each{.scope = "thread", .settings = fmt::format("dispatch=\"vec_{}b\"", bits)};
    each.dst = registers({n}, fmt::format("S[{}]", n), n);
    each.src = shared({32, n}, {}, fmt::format("[tid, 0:{}]", n));
    family.run(each, {.variant = fmt::format("vec_{}b", bits), .vector_bits = bits, .rounds = 1});
    family.run(reversed(each), {.variant = fmt::format("vec_{}b", bits), .vector_bits = bits});
    family.count();
  }
  CopyCase turned{.scope = "thread", .settings = "dispatch=\"vec_128b\""};
  turned.dst = registers({8}, "S[8]", 8);
  turned.src = shared({32, 64}, swizzled(3, 3, 3, "S[32, 64]"), "[tid, 8:16]");
  family.run(turned, {.variant = "vec_128b", .vector_bits = 128});
  family.count();
}

// `vec_auto` is the newer name of both `reg` and `gmem_smem`; all three are known.
TEST(Reg, Names) {
  Family family("reg, names", Nvcc::Always);
  CopyCase each = row_copy({"warp", "laneid", 32, 8}, "float32", "shared");
  for (const std::string name : {"vec_auto", "reg"}) {
    each.settings = fmt::format("dispatch=\"{}\"", name);
    family.run(each, {.variant = "reg"});
    family.count();
  }
  CopyCase tiles{.threads = 128, .scope = "cta", .settings = "dispatch=\"gmem_smem\""};
  tiles.dst = shared({128, 32});
  tiles.src = global({128, 32});
  family.run(tiles, {.variant = "gmem_smem"});
  family.count();
}

TEST(Reg, Refusals) {
  Family family("reg, refusals", Nvcc::Always);
  CopyCase sizes = row_copy({"warp", "laneid", 32, 8}, "float32", "shared");
  sizes.src.region = "[0:32, 0:4]";
  const Checked other_size = check(program_of(sizes));
  EXPECT_EQ(other_size.stage, Stage::Script);
  EXPECT_NE(other_size.why.find("the extents other than 1 differ"), std::string::npos)
      << other_size.why;
  family.count();
  CopyCase lanes = row_copy({"warp", "laneid", 32, 8}, "float32", "shared");
  lanes.scope = "thread";
  const Checked other_scope = check(program_of(lanes));
  EXPECT_EQ(other_scope.stage, Stage::Lower) << other_scope.explain();
  EXPECT_NE(verdict_on(other_scope, 0, "reg").find("[owner]"), std::string::npos)
      << other_scope.explain();
  family.count();
}

TEST(Reg, TilesOfAWarpgroup) {
  Family family("reg, tiles of a warpgroup", Nvcc::Always);
  const RowCase row{"wg", "tid_in_wg", 128, 16};
  family.run(row_copy(row, "float16", "shared"), row_plan(row, "float16"));
  family.count();
  CopyCase slice = row_copy(row, "float16", "shared");
  slice.dst.region = slice.src.region = "[0:128, 8:16]";
  family.run(slice, {.variant = "reg", .vector_bits = 128, .rounds = 1, .registers = 4});
  family.count();
  family.run(Program{.source = fragment_text("float16", 64, false)},
             {.variant = "ldstmatrix", .opcode = matrix_opcode(false, 4, false), .per_thread = 4},
             1);
  family.count();
}

TEST(Reg, FragmentsOfFloat32) {
  Family family("reg, 16x256b fragments of float32", Nvcc::Always);
  for (const std::int64_t columns : {32, 64, 128}) {
    family.run(Program{.source = fragment_text("float32", columns, false)}, {}, 1);
    family.count();
  }
}

// --- gmem_smem -----------------------------------------------------------------------------------

TEST(GmemSmem, Grid) {
  Family family("gmem_smem, whole tiles", Nvcc::Always);
  struct Row {
    std::string scope;
    std::int64_t threads;
    Extents shape;
  };
  const std::vector<Row> rows = {{"warp", 32, {32, 32}}, {"warp", 32, {32, 64}},
                                 {"wg", 128, {128, 32}}, {"wg", 128, {128, 64}},
                                 {"wg", 128, {256, 16}}, {"cta", 256, {256, 32}},
                                 {"cta", 256, {512, 16}}};
  for (const Row& row : rows)
    for (const std::string dtype : {"float16", "float32", "uint8"}) {
      CopyCase each{.dtype = dtype, .threads = row.threads, .scope = row.scope};
      each.dst = shared(row.shape);
      each.src = global(row.shape);
      const std::int64_t bits = row.shape[0] * row.shape[1] * bits_of(dtype);
      const Expected expected{
          .variant = "gmem_smem", .vector_bits = 128, .rounds = bits / 128 / row.threads};
      family.run(each, expected);
      family.run(reversed(each), expected);
      family.count();
    }
}

TEST(GmemSmem, Regions) {
  Family family("gmem_smem, regions", Nvcc::Always);
  for (const std::string& dtype : kSixTypes) {
    const std::string turned = fmt::format("mma_shared_layout(\"{}\", 3, (32, 256))", dtype);
    const std::vector<std::pair<Operand, Operand>> tasks = {
        {shared({128, 32}), global({128, 32})},
        {shared({32, 32}), global({64, 64}, "[32:64, 32:64]")},
        {shared({32, 32}), global({4, 32, 32}, "[2, 0:32, 0:32]")},
        {shared({16, 16}, {}, "[8:16, 8:16]"), global({16, 16}, "[8:16, 8:16]")},
        {shared({32, 256}, turned), global({96, 512}, "[32:64, 256:512]")}};
    for (const auto& [dst, src] : tasks)
      for (const std::string scope : {"cta", "thread"}) {
        CopyCase each{.dtype = dtype, .threads = 32, .scope = scope, .dst = dst, .src = src};
        if (scope == "thread") each.around = "if tid == 0:";
        Program program = program_of(each);
        program.source = "from tvm.tirx.layout import mma_shared_layout\n" + program.source;
        const int row_bits = src.region == "[8:16, 8:16]" ? 8 * bits_of(dtype) : 128;
        family.run(program, {.variant = "gmem_smem", .vector_bits = std::min(128, row_bits)});
        family.count();
      }
  }
}

TEST(GmemSmem, WidthsOfSwizzles) {
  Family family("gmem_smem, widths under swizzles", Nvcc::Always);
  for (const int p : {2, 1, 0}) {
    CopyCase each;
    each.dst = shared({32, 64}, swizzled(p, 3, 3, "S[32, 64]"));
    each.src = global({32, 64});
    family.run(each, {.variant = "gmem_smem", .vector_bits = 16 << p});
    family.count();
  }
}

TEST(GmemSmem, AlignmentAndOrder) {
  Family family("gmem_smem, alignment and order", Nvcc::Always);
  CopyCase stride;
  stride.dst = shared({2, 16});
  stride.src = {.memory = "global",
                .shape = {2, 16},
                .layout = tile("S[(2, 16) : (20, 1)]"),
                .registers = 36};
  family.run(stride, {.variant = "gmem_smem", .vector_bits = 64});
  family.count();
  CopyCase start;
  start.dst = shared({32, 16});
  start.src = global({32, 32}, "[0:32, 3:19]");
  family.run(start, {.variant = "gmem_smem", .vector_bits = 16});
  family.count();
  for (const std::int64_t columns : {64, 128}) {
    CopyCase turned{.threads = 128, .scope = "cta"};
    turned.dst = shared({64, columns}, swizzled(3, 3, 3, fmt::format("S[64, {}]", columns)));
    turned.src = global({64, columns});
    family.run(turned, {.variant = "gmem_smem", .vector_bits = 128, .rounds = columns / 16});
    family.run(reversed(turned), {.variant = "gmem_smem", .vector_bits = 128});
    family.count();
  }
  // Row-major to tiles of eight columns, one behind the other.
  CopyCase tiles{.threads = 128, .scope = "cta"};
  tiles.dst = shared({64, 64}, tile("S[(64, 8, 8) : (8, 512, 1)]"));
  tiles.src = global({64, 64});
  family.run(tiles, {.variant = "gmem_smem", .vector_bits = 128, .rounds = 4});
  family.count();
}

// --- what others leave to one thread -------------------------------------------------------------

TEST(Fallback, SmallTiles) {
  Family family("fallback", Nvcc::Always);
  struct Row {
    std::string scope;
    std::int64_t threads;
    Extents shape;
  };
  const std::vector<Row> rows = {{"warp", 32, {4, 6}}, {"warp", 32, {1, 8}}, {"wg", 128, {4, 6}},
                                 {"wg", 128, {4, 8}},  {"cta", 256, {4, 8}}, {"cta", 1024, {8, 8}}};
  for (const Row& row : rows) {
    CopyCase each{.dtype = "float32", .threads = row.threads, .scope = row.scope};
    each.dst = shared(row.shape);
    each.src = global(row.shape);
    family.run(each, {.variant = "gmem_smem"});
    each.settings = "dispatch=\"fallback\"";
    family.run(each, {.variant = "fallback"});
    family.count();
  }
  CopyCase thread{.dtype = "float32",
                  .scope = "thread",
                  .settings = "dispatch=\"fallback\"",
                  .around = "if tid == 0:"};
  thread.dst = shared({4, 6});
  thread.src = global({4, 6});
  const Checked checked = family.run(thread, {.variant = "fallback"});
  EXPECT_EQ(checked.call(0).plan.summary, "element by element, shared out among the threads");
  ASSERT_FALSE(checked.call(0).plan.notes.empty());
  EXPECT_EQ(checked.call(0).plan.notes.front().substr(0, 11), "slow path: ");
  family.count(2);
}

}  // namespace
}  // namespace ww::test::coverage_test
