// SPDX-License-Identifier: Apache-2.0
// Which variant takes what: names that force one, what each declines and why, what an architecture
// has or has not, copies that two instructions share, starts known at run time only, cache
// modifiers, and what the report says about bank conflicts.
#include "engines/family.h"

namespace ww::test::variants_test {
namespace {

constexpr std::string_view kRows = "S[(32, 8) : (1 @ laneid, 1)]";

CopyCase fragment_copy() {
  CopyCase out;
  out.dst = registers({8, 4, 2, 2}, "S[(8, 4, 2, 2) : (4 @ laneid, 1 @ laneid, 2, 1)]", 4);
  out.src = memory("shared", {8, 4, 2, 2}, tile("S[(8, 4, 2, 2) : (16, 2, 8, 1)]"));
  return out;
}
CopyCase rows_copy() {
  CopyCase out{.dtype = "float32"};
  out.dst = registers({32, 8}, std::string(kRows), 8);
  out.src = memory("shared", {32, 8});
  return out;
}
CopyCase tiles_copy() {
  CopyCase out{.threads = 128, .scope = "cta"};
  out.dst = memory("shared", {128, 32});
  out.src = memory("global", {128, 32});
  return out;
}

// --- names ---------------------------------------------------------------------------------------

TEST(Variants, Named) {
  Family family("named variants");
  struct Row {
    CopyCase copy;
    std::string name, chosen;
  };
  const std::vector<Row> rows = {
      {fragment_copy(), "reg", "reg"},          {fragment_copy(), "ldstmatrix", "ldstmatrix"},
      {fragment_copy(), "vec_auto", "reg"},     {fragment_copy(), "fallback", "fallback"},
      {rows_copy(), "fallback", "fallback"},    {tiles_copy(), "vec_auto", "gmem_smem"},
      {tiles_copy(), "gmem_smem", "gmem_smem"}, {tiles_copy(), "fallback", "fallback"}};
  for (const Row& row : rows) {
    CopyCase each = row.copy;
    each.settings = fmt::format("dispatch=\"{}\"", row.name);
    family.run(each, {.variant = row.chosen});
    family.run(reversed(each), {.variant = row.chosen});
    family.count();
  }
}

TEST(Variants, UnknownName) {
  CopyCase each = rows_copy();
  each.settings = "dispatch=\"ldsmatrix\"";
  const Checked checked = check(program_of(each));
  EXPECT_EQ(checked.stage, Stage::Lower);
  EXPECT_NE(checked.why.find("`copy` has no variant `ldsmatrix`; did you mean `ldstmatrix`?"),
            std::string::npos)
      << checked.why;
  EXPECT_NE(checked.why.find("[NoVariant]"), std::string::npos) << checked.why;
  fmt::print("unknown names: 1 case\n");
}

// --- declines ------------------------------------------------------------------------------------

struct Decline {
  CopyCase copy;
  std::string variant, verdict;
};

CopyCase with(CopyCase each, const std::string& variant, const std::string& settings = {}) {
  each.settings = fmt::format("dispatch=\"{}\"{}", variant, settings);
  return each;
}

std::vector<Decline> declines() {
  CopyCase pair = rows_copy();
  pair.src.memory = "global";
  CopyCase thread{.scope = "thread"};
  thread.dst = registers({8}, "S[8]", 8);
  thread.src = memory("shared", {32, 8}, {}, "[tid, 0:8]");
  CopyCase doubles = fragment_copy();
  doubles.dtype = "float64";
  CopyCase narrow = fragment_copy();
  narrow.src.layout = swizzled(2, 3, 3, "S[(8, 4, 2, 2) : (16, 2, 8, 1)]");
  CopyCase moving{.around = "for it in range(2):"};
  moving.dst = registers({8, 16}, "S[(8, 2, 4, 2) : (4 @ laneid, 2, 1 @ laneid, 1)]", 4);
  moving.src =
      memory("shared", {16, 16}, swizzled(2, 3, 3, "S[16, 16]"), "[it * 8:it * 8 + 8, 0:16]");
  CopyCase wide{.dtype = "float32", .scope = "thread"};
  wide.dst = registers({8}, "S[8]", 8);
  wide.src = memory("global", {32, 8}, {}, "[tid, 0:8]");
  return {
      {with(rows_copy(), "ldstmatrix"), "ldstmatrix",
       "[fragment] register 0 of lane 1 holds the element at 8, where ldmatrix would put the one "
       "at 1"},
      {with(pair, "ldstmatrix"), "ldstmatrix",
       "[memory_pair] global to local, expected shared memory on one side"},
      {with(thread, "ldstmatrix"), "ldstmatrix",
       "[scope] thread scope, expected warp, warpgroup or cta"},
      {with(doubles, "ldstmatrix"), "ldstmatrix",
       "[dtype] elements of 64 bits, expected 4, 8, 16 or 32"},
      {with(narrow, "ldstmatrix"), "ldstmatrix",
       "[fragment] register 0 of lane 10 holds the element at 32, where ldmatrix would put the one "
       "at "
       "40"},
      {with(moving, "ldstmatrix"), "ldstmatrix",
       "[swizzle] the swizzle moves units of 8 bytes, expected 16 or more"},
      {with(tiles_copy(), "reg"), "reg",
       "[memory_pair] global to shared, expected registers on one side"},
      {with(rows_copy(), "gmem_smem"), "gmem_smem",
       "[memory_pair] shared to local, expected global or shared memory on both sides"},
      {with(rows_copy(), "vec_128b"), "vec_128b", "[scope] warp scope, expected thread"},
      {with(thread, "vec_64b"), "vec_64b", "[size] 8 elements of 16 bits, expected 64 bits in all"},
      {with(wide, "vec_256b"), "vec_256b",
       "[arch] no access of 256 bits between global and local on sm_90a"}};
}

TEST(Variants, DeclineWithReasons) {
  std::size_t count = 0;
  for (const Decline& row : declines()) {
    const Checked checked = check(program_of(row.copy));
    EXPECT_EQ(checked.stage, Stage::Lower) << checked.explain();
    EXPECT_EQ(verdict_on(checked, 0, row.variant), row.verdict) << checked.source;
    EXPECT_NE(checked.why.find("no variant of `copy` accepts this call"), std::string::npos)
        << checked.why;
    ++count;
  }
  fmt::print("declines: {} cases\n", count);
}

TEST(Variants, OverlapIsRefused) {
  const std::vector<std::pair<std::string, std::string>> regions = {{"M[0:8, 0:4]", "M[4:12, 0:4]"},
                                                                    {"M[0:8, 0:4]", "M[0:8, 2:6]"}};
  for (const auto& [dst, src] : regions) {
    KernelText text(32, "float32");
    text.param("A", {16, 8});
    text.param("B", {16, 8});
    text.line("M = T.alloc_buffer((16, 8), \"float32\", scope=\"shared\")");
    text.for_elements({16, 8}, "M", "A");
    text.sync();
    text.line(fmt::format("Tx.warp.copy({}, {})", dst, src));
    text.sync();
    text.for_elements({16, 8}, "B", "M");
    const Checked checked = check({.source = text.text()});
    EXPECT_EQ(checked.stage, Stage::Lower) << checked.explain();
    for (const std::string variant : {"gmem_smem", "fallback"})
      EXPECT_NE(verdict_on(checked, 0, variant).find("[overlap]"), std::string::npos)
          << checked.explain();
  }
  fmt::print("regions that overlap: {} cases\n", regions.size());
}

// --- architectures -------------------------------------------------------------------------------

TEST(Variants, WideAccesses) {
  Family family("256-bit accesses");
  CopyCase each = rows_copy();
  each.src.memory = "global";
  each.target = "sm_100a";
  const Checked load = family.run(each, {.variant = "reg", .vector_bits = 256, .rounds = 1});
  EXPECT_EQ(count_of(load.ptx, "ld.global.v8.b32"), 1U) << load.ptx;
  const Checked store = family.run(reversed(each), {.variant = "reg", .vector_bits = 256});
  EXPECT_EQ(count_of(store.ptx, "st.global.v8.b32"), 1U) << store.ptx;
  // Shared memory has no such access.
  each.src.memory = "shared";
  family.run(each, {.variant = "reg", .vector_bits = 128, .rounds = 2});
  family.count(3);
}

TEST(Variants, ForcedWithCacheModifiers) {
  Family family("forced vectors with cache modifiers");
  struct Row {
    int bits;
    std::string settings, opcode;
  };
  const std::vector<Row> rows = {
      {256, "", "ld.global.v8.b32"},
      {128, ", cache=\"nc\", l1_evict=\"no_allocate\", prefetch_size=128",
       "ld.global.nc.L1::no_allocate.L2::128B.v4.b32"},
      {256, ", cache=\"nc\", l1_evict=\"evict_last\", l2_evict=\"evict_first\"",
       "ld.global.nc.L1::evict_last.L2::evict_first.v8.b32"},
      // Narrower loads have no priority among their modifiers; they take it as a cache policy.
      {128, ", l2_evict=\"evict_last\"", "ld.global.L2::cache_hint.v4.b32"},
      {64, ", cache=\"nc\", l2_evict=\"evict_first\", prefetch_size=256",
       "ld.global.nc.L2::cache_hint.L2::256B.v2.b32"}};
  for (const Row& row : rows) {
    const std::int64_t n = row.bits / 32;
    CopyCase each{.dtype = "float32", .scope = "thread", .target = "sm_100a"};
    each.settings = fmt::format("dispatch=\"vec_{}b\"{}", row.bits, row.settings);
    each.dst = registers({n}, fmt::format("S[{}]", n), n);
    each.src = memory("global", {32, n}, {}, fmt::format("[tid, 0:{}]", n));
    const Checked checked = family.run(each, {.variant = fmt::format("vec_{}b", row.bits)});
    EXPECT_EQ(count_of(checked.ptx, row.opcode), 1U) << checked.explain() << checked.ptx;
    family.count();
  }
}

// Modifiers that the widths of an architecture do not have must not reach the assembler.
TEST(Variants, ModifiersThatDoNotExist) {
  CopyCase each{.dtype = "float32", .scope = "thread", .target = "sm_75"};
  each.settings = "dispatch=\"vec_128b\", l2_evict=\"evict_first\"";
  each.dst = registers({4}, "S[4]", 4);
  each.src = memory("global", {32, 4}, {}, "[tid, 0:4]");
  const Checked checked = check(program_of(each));
  EXPECT_EQ(checked.stage, Stage::Lower) << checked.explain() << checked.ptx;
  EXPECT_NE(verdict_on(checked, 0, "vec_128b")
                .find("there is no `ld.global.L2::cache_hint.v4.b32` on sm_75"),
            std::string::npos)
      << checked.explain();
  fmt::print("modifiers that do not exist: 1 case\n");
}

// --- two instructions for one copy ---------------------------------------------------------------

TEST(Variants, SharedByTwoInstructions) {
  Family family("words that fit and words that do not");
  // The second word's rows begin 24 bytes behind the first's.
  CopyCase each = fragment_copy();
  each.src.layout = tile("S[(8, 4, 2, 2) : (32, 2, 12, 1)]");
  for (const CopyCase& way : {each, reversed(each)}) {
    const Checked checked = family.run(way, {.variant = "ldstmatrix"});
    EXPECT_EQ(count_of(checked.ptx, "m8n8.x1.shared.b16"), 1U) << checked.ptx;
    ASSERT_FALSE(checked.call(0).plan.notes.empty());
    EXPECT_EQ(checked.call(0).plan.notes.front(),
              "1 of 2 register words do not fit a matrix and are moved by vectors");
    family.count();
  }
}

// --- elements at several places, elements smaller than bytes -------------------------------------

TEST(Variants, ReplicasInMemory) {
  Family family("replicas in memory");
  for (const std::string from : {"A[0:32, 0:4]", "R1[0:32, 0:4]"}) {
    KernelText text(32, "float32");
    text.param("A", {32, 4});
    text.param("B", {256});
    text.param("C", {32, 4});
    text.line(
        "M = T.alloc_buffer((32, 4), \"float32\", scope=\"shared\", "
        "layout=TileLayout(S[(32, 4) : (4, 1)] + R[2 : 128]))");
    text.line("flat = T.decl_buffer((256,), \"float32\", data=M.data, scope=\"shared\")");
    text.line(
        "R1 = T.alloc_buffer((32, 4), \"float32\", scope=\"local\", "
        "layout=TileLayout(S[(32, 4) : (1 @ laneid, 1)]))");
    text.line("Tx.warp.copy(R1[0:32, 0:4], A[0:32, 0:4])");
    text.line(fmt::format("Tx.warp.copy(M[0:32, 0:4], {})", from));
    text.sync();
    text.for_elements({256}, "B", "flat");
    text.line("Tx.warp.copy(C[0:32, 0:4], M[0:32, 0:4])");
    family.run(Program{.source = text.text()}, {.vector_bits = 128}, 1);
    family.count();
  }
}

// Single elements of four bits have no address; copies move them in whole bytes.
TEST(Variants, ElementsSmallerThanBytes) {
  Family family("elements of 4 bits");
  for (const std::string dtype : {"float4_e2m1fn", "int4"}) {
    KernelText text(32, dtype);
    text.param("A", {32, 64});
    text.param("B", {32, 32});
    text.line(fmt::format("M = T.alloc_buffer((32, 32), \"{}\", scope=\"shared\")", dtype));
    text.line(
        fmt::format("R1 = T.alloc_buffer((32, 32), \"{}\", scope=\"local\", "
                    "layout=TileLayout(S[(32, 32) : (1 @ laneid, 1)]))",
                    dtype));
    text.line("Tx.warp.copy(M[0:32, 0:32], A[0:32, 32:64])");
    text.sync();
    text.line("Tx.warp.copy(R1[0:32, 0:32], M[0:32, 0:32])");
    text.line("Tx.warp.copy(B[0:32, 0:32], R1[0:32, 0:32])");
    const Checked checked =
        family.run(Program{.source = text.text()}, {.variant = "gmem_smem", .vector_bits = 128});
    EXPECT_EQ(checked.call(1).chosen, "reg");
    EXPECT_EQ(checked.call(1).plan.vector_bits, 128);
    family.count();
  }
}

// --- starts and extents known at run time only ---------------------------------------------------

TEST(Variants, RuntimeStarts) {
  Family family("starts known at run time only");
  for (const std::string start : {"it * 8", "p0 * 8", "cta * 8", "(it + cta) * 8"}) {
    KernelText text(32, "float16");
    text.scalar("p0");
    text.param("A", {64, 16});
    text.param("B", {2, 3, 8, 16});
    text.line("M = T.alloc_buffer((64, 16), \"float16\", scope=\"shared\", layout=" +
              swizzled(3, 1, 3, "S[64, 16]") + ")");
    text.line(
        "R1 = T.alloc_buffer((8, 16), \"float16\", scope=\"local\", "
        "layout=TileLayout(S[(8, 2, 4, 2) : (4 @ laneid, 2, 1 @ laneid, 1)]))");
    text.line("Tx.cta.copy(M[:, :], A[:, :])");
    text.sync();
    text.line("for it in range(3):");
    text.line(fmt::format("    Tx.warp.copy(R1[:, :], M[{0}:{0} + 8, 0:16])", start));
    text.line("    Tx.warp.copy(B[cta, it, 0:8, 0:16], R1[:, :])");
    std::string source = text.text();
    source.replace(source.find("T.cta_id([1])"), 13, "T.cta_id([2])");
    family.run({.source = source, .scalars = {{"p0", 5}}}, {.variant = "ldstmatrix"}, 1);
    family.count();
  }
}

TEST(Variants, RuntimeExtents) {
  Family family("extents known at run time only");
  for (const std::int64_t n : {4, 7, 32}) {
    const std::string source =
        "from tvm.script import tirx as T\nfrom tvm.script.tirx import tile as Tx\n\n"
        "@T.prim_func\ndef kernel(A_ptr: T.handle, B_ptr: T.handle):\n"
        "    n = T.int32()\n"
        "    A = T.match_buffer(A_ptr, (n, 48), \"float16\")\n"
        "    B = T.match_buffer(B_ptr, (n, 48), \"float16\")\n"
        "    T.device_entry()\n    T.cta_id([1])\n    T.lane_id([32])\n    T.thread_id([32])\n"
        "    M = T.alloc_buffer((4, 32), \"float16\", scope=\"shared\")\n"
        "    Tx.warp.copy(M[:, :], A[0:4, 16:48])\n"
        "    T.cuda.cta_sync()\n"
        "    Tx.warp.copy(B[0:4, 0:32], M[:, :])\n"
        "    Tx.warp.copy(B[0:n, 32:48], A[0:n, 0:16])\n";
    const Checked checked = family.run({.source = source, .scalars = {{"n", n}}},
                                       {.variant = "gmem_smem", .vector_bits = 128});
    if (checked.right()) {
      EXPECT_EQ(checked.call(2).chosen, "fallback");
    }
    family.count();
  }
}

// --- bank conflicts ------------------------------------------------------------------------------

struct Banks {
  std::int64_t columns;  // of float16, in eight rows
  std::string layout;
  std::int64_t needed, ideal;
  std::string remedy;
};

TEST(Variants, BankConflicts) {
  Family family("bank conflicts");
  // Eight rows of 128, 64 and 32 bytes: rows of 128 are all in the same banks, unless swizzled or
  // padded.
  const std::vector<Banks> rows = {
      {64, "", 64, 8, "a 128-byte swizzle, SwizzleLayout(3, 3, 3), needs 8 instead of 64 turns"},
      {64, swizzled(3, 3, 3, "S[8, 64]"), 8, 8, ""},
      {64, tile("S[(8, 64) : (72, 1)]"), 8, 8, ""},
      {32, "", 16, 4, "a 64-byte swizzle, SwizzleLayout(3, 2, 3), needs 4 instead of 16 turns"},
      {32, swizzled(3, 2, 3, "S[8, 32]"), 4, 4, ""},
      {16, "", 4, 2, "a 32-byte swizzle, SwizzleLayout(3, 1, 3), needs 2 instead of 4 turns"},
      {16, swizzled(3, 1, 3, "S[8, 16]"), 2, 2, ""}};
  for (const Banks& row : rows) {
    CopyCase each;
    const std::int64_t matrices = row.columns / 8;
    each.dst = registers({8, row.columns},
                         fmt::format("S[(8, {}, 4, 2) : (4 @ laneid, 2, 1 @ laneid, 1)]", matrices),
                         2 * matrices);
    each.src = shared({8, row.columns}, row.layout);
    const Checked checked = family.run(each, {.variant = "ldstmatrix"});
    const auto& plan = checked.call(0).plan;
    ASSERT_TRUE(plan.wavefronts.has_value());
    EXPECT_EQ(plan.wavefronts->needed, row.needed) << row.columns << row.layout;
    EXPECT_EQ(plan.wavefronts->ideal, row.ideal) << row.columns << row.layout;
    EXPECT_EQ(plan.remedy, row.remedy) << row.columns;
    ASSERT_EQ(checked.turns.size(), 1U);
    EXPECT_EQ(checked.turns[0], (Turns{row.needed, row.ideal})) << row.columns << row.layout;
    family.count();
  }
}

}  // namespace
}  // namespace ww::test::variants_test
