// SPDX-License-Identifier: Apache-2.0
// copy_async from global to shared memory: the grid that any lowering of it is measured by, sources
// that end inside the region, predicates, the synchronous way out, and what is declined.
#include <map>
#include <random>

#include "engines/family.h"

namespace ww::test::copy_async_test {
namespace {

CopyCase async_copy(Operand dst, Operand src, const std::string& dtype = "float16",
                    std::int64_t threads = 32) {
  CopyCase out{.dtype = dtype, .threads = threads, .scope = "cta"};
  out.dst = std::move(dst);
  out.src = std::move(src);
  out.op = "copy_async";
  return out;
}

// --- the grid ------------------------------------------------------------------------------------

TEST(Ldgsts, Grid) {
  Family family("ldgsts, whole tiles, windows and planes", Nvcc::Always);
  const std::vector<std::pair<Operand, Operand>> tasks = {
      {shared({128, 32}), global({128, 32})},
      {shared({64, 64}), global({128, 128}, "[32:96, 64:128]")},
      {shared({32, 32}), global({4, 32, 32}, "[2, 0:32, 0:32]")}};
  for (const std::string dtype :
       {"int8", "float8_e4m3fn", "float8_e5m2", "float16", "bfloat16", "float32"})
    for (const auto& [dst, src] : tasks) {
      const std::int64_t bytes = dst.shape[0] * dst.shape[1] * bits_of(dtype) / 8;
      const Checked checked =
          family.run(async_copy(dst, src, dtype), {.variant = "ldgsts",
                                                   .opcode = "cp.async.cg.shared.global",
                                                   .per_thread = bytes / 16 / 32,
                                                   .vector_bits = 128});
      EXPECT_EQ(count_of(checked.ptx, "ld.global.v4"), 0U) << checked.ptx;
      family.count();
    }
}

TEST(Ldgsts, PredicateFillAndDirect) {
  Family family("ldgsts, predicate, zero fill, one instruction", Nvcc::Always);
  CopyCase each = async_copy(shared({32, 8}, {}, "[tid, 0:8]"), global({32, 8}, "[tid, 0:8]"));
  each.scope = "thread";
  each.settings = "predicate=tid % 3 == 1, direct=True, prefetch_size=128";
  const Checked guarded = family.run(each, {.variant = "ldgsts", .rounds = 1});
  EXPECT_EQ(count_of(guarded.ptx, " cp.async.cg.shared.global.L2::128B"), 1U) << guarded.ptx;
  each.settings = "predicate=tid % 3 == 1, fill_mode=\"zero\", direct=True";
  const Checked filled = family.run(each, {.variant = "ldgsts", .rounds = 1});
  EXPECT_EQ(count_of(filled.ptx, " cp.async.cg"), 0U) << filled.ptx;
  EXPECT_EQ(count_of(filled.ptx, "], 16, %r"), 1U) << filled.ptx;
  each.settings = "predicate=tid % 3 == 1, fill_mode=\"zero\", l2_evict=\"evict_last\"";
  const Checked kept = family.run(each, {.variant = "ldgsts", .rounds = 1});
  EXPECT_EQ(count_of(kept.ptx, "cp.async.cg.shared.global.L2::cache_hint"), 1U) << kept.ptx;
  each.settings = "l2_evict=\"evict_first\", prefetch_size=64";
  const Checked streamed = family.run(each, {.variant = "ldgsts", .rounds = 1});
  EXPECT_EQ(count_of(streamed.ptx, "cp.async.cg.shared.global.L2::cache_hint.L2::64B"), 1U)
      << streamed.ptx;
  for (const int bytes : {4, 8}) {
    const std::int64_t n = bytes / 2;
    const std::string part = fmt::format("[tid, 0:{}]", n);
    CopyCase narrow = async_copy(shared({32, n}, {}, part), global({32, n}, part));
    narrow.scope = "thread";
    narrow.settings = "direct=True";
    family.run(narrow, {.variant = "ldgsts",
                        .opcode = "cp.async.ca.shared.global",
                        .per_thread = 1,
                        .vector_bits = bytes * 8});
  }
  family.count();
}

TEST(Ldgsts, ScopesAndLayouts) {
  Family family("ldgsts, scopes, swizzles, paddings");
  const std::vector<std::pair<std::string, std::int64_t>> scopes = {
      {"warp", 32}, {"wg", 128}, {"cta", 256}};
  for (const auto& [scope, threads] : scopes)
    for (const std::string& layout : {swizzled(3, 3, 3, "S[64, 64]"), tile("S[(64, 64) : (72, 1)]"),
                                      tile("S[(64, 8, 8) : (8, 512, 1)]")}) {
      CopyCase each = async_copy(shared({64, 64}, layout), global({64, 64}), "float16", threads);
      each.scope = scope;
      family.run(each, {.variant = "ldgsts", .vector_bits = 128, .rounds = 512 / threads});
      family.count();
    }
}

// Places that look like vectors and are none, and views that begin off their alignment.
TEST(Ldgsts, Traps) {
  Family family("ldgsts, what is no vector");
  const auto strided = [](const std::string& notation, std::int64_t span, Extents shape) {
    return Operand{
        .memory = "global", .shape = std::move(shape), .layout = tile(notation), .registers = span};
  };
  CopyCase gaps = async_copy(shared({8, 8}), strided("S[(8, 8) : (16, 2)]", 127, {8, 8}));
  family.run(gaps, {.variant = "sync", .vector_bits = 16});
  gaps.dtype = "float32";
  family.run(gaps, {.variant = "ldgsts", .vector_bits = 32});
  CopyCase orders = async_copy(shared({3, 4}, tile("S[(3, 4) : (4, 1)]")),
                               strided("S[(3, 4) : (1, 3)]", 12, {3, 4}), "float32");
  family.run(orders, {.variant = "ldgsts", .vector_bits = 32});
  for (const std::int64_t offset : {1, 2, 4, 8}) {
    CopyCase view = async_copy(shared({8, 16}), global({8, 16}));
    view.src.elem_offset = offset;
    family.run(view, {.variant = offset == 1 ? "sync" : "ldgsts",
                      .vector_bits = static_cast<int>(16 * offset)});
  }
  CopyCase odd = async_copy(shared({33, 8}), global({33, 8}), "float16", 48);
  family.run(odd, {.variant = "ldgsts", .vector_bits = 128, .rounds = 1});
  odd.dst = shared({7, 12});
  odd.src = global({7, 12});
  odd.scope = "warp";
  odd.threads = 32;
  family.run(odd, {.variant = "ldgsts", .rounds = 1});
  family.count(9);
}

// A tile of a loop: what depends on the thread is computed before it, the rounds are offsets of
// the instruction.
TEST(Ldgsts, AddressesAreOffsets) {
  Family family("ldgsts, addresses");
  CopyCase each =
      async_copy(shared({2, 128, 64}, swizzled(3, 3, 3, "S[2, 128, 64]"), "[it, 0:128, 0:64]"),
                 global({128, 128}, "[0:128, it * 64:it * 64 + 64]"), "float16", 256);
  each.around = "for it in range(2):";
  const Checked checked = family.run(each, {.variant = "ldgsts", .rounds = 4});
  const std::size_t first = checked.ptx.find("cp.async.cg");
  const std::size_t last = checked.ptx.rfind("cp.async.cg");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(count_of(std::string_view(checked.ptx).substr(first, last - first), "\n"), 3U)
      << checked.ptx;
  family.count();
}

// --- sources that end inside the region ----------------------------------------------------------

struct Ragged {
  std::string dtype;
  std::int64_t rows, columns;  // of the source; the tile is 64x64
  std::string async;           // the variant of copy_async
  int bits;                    // of its vectors
};

std::vector<Ragged> ragged_cases() {
  return {{"float16", 50, 40, "ldgsts", 128}, {"float16", 100, 42, "ldgsts", 32},
          {"float16", 30, 44, "ldgsts", 64},  {"float16", 50, 41, "sync", 16},
          {"float32", 50, 40, "ldgsts", 128}, {"float32", 64, 41, "ldgsts", 32},
          {"float32", 63, 64, "ldgsts", 128}, {"int8", 50, 48, "ldgsts", 128},
          {"int8", 50, 36, "ldgsts", 32},     {"int8", 50, 50, "sync", 16},
          {"int8", 7, 9, "sync", 8}};
}

const std::vector<std::string>& destinations() {
  static const std::vector<std::string> all = {"", swizzled(3, 3, 3, "S[64, 64]"),
                                               tile("S[(64, 64) : (80, 1)]")};
  return all;
}

TEST(ZeroFill, ConstantShapes) {
  Family family("zero fill, constant shapes");
  for (const Ragged& r : ragged_cases())
    for (const std::string& layout : destinations())
      for (const std::string op : {"copy_async", "copy"}) {
        // The wider vectors need a swizzle of wider units.
        if (layout == destinations()[1] && r.dtype != "float16") continue;
        CopyCase each = async_copy(shared({64, 64}, layout),
                                   global({r.rows, r.columns}, "[0:64, 0:64]"), r.dtype, 128);
        each.settings = "fill_mode=\"zero\"";
        each.op = op;
        if (op == "copy")
          family.run(each, {.variant = "gmem_smem"});
        else
          family.run(each, {.variant = r.async, .vector_bits = r.bits});
        family.count();
      }
}

// The last element of what is read is the last of the source, wherever the region begins.
TEST(ZeroFill, Starts) {
  Family family("zero fill, region starts");
  const std::vector<std::pair<Operand, std::string>> rows = {
      {global({50, 40}, "[40:104, 16:80]"), "[0, 0:64, 0:64]"},
      {global({50, 40}, "[it * 56:it * 56 + 64, it * 16:it * 16 + 64]"), "[it, 0:64, 0:64]"},
      {global({4, 50, 40}, "[2, 0:64, 8:72]"), "[1, 0:64, 0:64]"},
      {global({4, 50, 40}, "[it * 8, 0:64, 0:64]"), "[it, 0:64, 0:64]"}};
  for (const auto& [source, region] : rows) {
    CopyCase each = async_copy(shared({2, 64, 64}, {}, region), source, "float16", 128);
    if (region.find("it") != std::string::npos) each.around = "for it in range(2):";
    each.settings = "fill_mode=\"zero\"";
    family.run(each, {.variant = "ldgsts", .vector_bits = 128});
    family.count();
  }
}

// Starts in types in which the address of the region would not fit.
TEST(ZeroFill, StartsOfOtherTypes) {
  Family family("starts in other types");
  for (const std::string_view type : {"int8", "uint8", "int16", "uint16", "uint32", "int64"}) {
    const std::string start = fmt::format("T.cast(it * 5 + 20, \"{}\")", type);
    const std::string region = fmt::format("[{0}:{0} + T.{1}(16), 0:64]", start, type);
    for (const bool fills : {false, true}) {
      CopyCase each = async_copy(shared({2, 16, 64}, {}, "[it, 0:16, 0:64]"),
                                 global({fills ? 38 : 64, 64}, region), "float16", 64);
      each.around = "for it in range(2):";
      if (fills) each.settings = "fill_mode=\"zero\"";
      family.run(each, {.variant = "ldgsts", .vector_bits = 128});
      each.op = "copy";
      family.run(each);
      family.count();
    }
  }
}

// Tiles, sources, starts, units and layouts by chance, the same every time.
TEST(ZeroFill, ByChance) {
  Family family("zero fill, by chance");
  std::mt19937 random(7);
  const auto below = [&](int n) {
    return static_cast<std::int64_t>(random() % static_cast<unsigned>(n));
  };
  const std::vector<std::string> types = {"float16", "float32", "int8", "float64"};
  const std::vector<std::pair<std::string, std::int64_t>> units = {
      {"cta", 96}, {"cta", 128}, {"warp", 32}, {"wg", 128}};
  std::map<std::string, int> chosen;
  constexpr int kCases = 60;
  for (int i = 0; i < kCases; ++i) {
    const std::string& dtype = types[static_cast<std::size_t>(below(4))];
    const auto& [scope, threads] = units[static_cast<std::size_t>(below(4))];
    const std::int64_t rows = 1 + below(24), columns = 8 << below(4);
    const std::int64_t unit = 1 << below(5);  // what starts and rows of the source are multiples of
    const Extents source = {1 + below(40), unit * (1 + below(static_cast<int>(80 / unit)))};
    const Extents start = {below(30), unit * below(3)};
    const std::string padded =
        tile(fmt::format("S[({}, {}) : ({}, 1)]", rows, columns, columns + 16));
    CopyCase each = async_copy(shared({rows, columns}, below(2) == 0 ? "" : padded),
                               global(source, box(start, {rows, columns})), dtype, threads);
    each.scope = scope;
    each.settings = "fill_mode=\"zero\"";
    if (below(4) == 0) each.op = "copy";
    const Checked checked = family.run(each);
    if (checked.right()) ++chosen[checked.call(0).chosen];
    family.count();
  }
  EXPECT_GT(chosen["ldgsts"], 20);
  EXPECT_GT(chosen["sync"], 0);
  EXPECT_GT(chosen["gmem_smem"], 3);
}

TEST(ZeroFill, IntoRegisters) {
  Family family("zero fill, into registers");
  CopyCase each{.dtype = "float32", .settings = "fill_mode=\"zero\""};
  each.dst = registers({32, 8}, "S[(32, 8) : (1 @ laneid, 1)]", 8);
  each.src = global({20, 5}, "[0:32, 0:8]");
  family.run(each, {.variant = "reg", .vector_bits = 32});
  each.settings = "predicate=tid < 0, fill_mode=\"zero\"";
  each.src = global({32, 8});
  family.run(each, {.variant = "reg", .vector_bits = 128});
  family.count(2);
}

// A region that is known to stay inside has the code that it has without the setting.
TEST(ZeroFill, CostsNothingInside) {
  CopyCase each = async_copy(shared({64, 64}), global({64, 128}, "[0:64, it * 64:it * 64 + 64]"),
                             "float16", 128);
  each.around = "for it in range(2):";
  const Checked plain = compile_only(program_of(each));
  each.settings = "fill_mode=\"zero\"";
  const Checked filled = compile_only(program_of(each));
  ASSERT_TRUE(plain.right() && filled.right()) << plain.explain() << filled.explain();
  EXPECT_EQ(plain.ptx, filled.ptx);
}

// Extents known at launch, tile by tile over both dimensions.
std::string runtime_kernel(const std::string& dtype, const std::string& columns,
                           const std::string& layout) {
  return fmt::format(
      "from tvm.script import tirx as T\nfrom tvm.script.tirx import tile as Tx\n"
      "from tvm.tirx.layout import S, TileLayout, ComposeLayout, SwizzleLayout\n\n"
      "@T.prim_func\n"
      "def kernel(A_ptr: T.handle, B_ptr: T.handle, K: T.int32):\n"
      "    M = T.int32()\n"
      "    A = T.match_buffer(A_ptr, (M, {1}), \"{0}\")\n"
      "    B = T.match_buffer(B_ptr, (64, 128), \"{0}\")\n"
      "    T.device_entry()\n    bx = T.cta_id([2])\n    T.thread_id([64])\n"
      "    tile = T.alloc_buffer((32, 64), \"{0}\", scope=\"shared\"{2})\n"
      "    for k in range(2):\n"
      "        Tx.cta.copy_async(tile, A[bx * 32:bx * 32 + 32, k * 64:k * 64 + 64], "
      "fill_mode=\"zero\")\n"
      "        T.ptx.cp_async.commit_group()\n        T.ptx.cp_async.wait_group(0)\n"
      "        T.cuda.cta_sync()\n"
      "        Tx.cta.copy(B[bx * 32:bx * 32 + 32, k * 64:k * 64 + 64], tile)\n"
      "        T.cuda.cta_sync()\n",
      dtype, columns, layout.empty() ? "" : ", layout=" + layout);
}

TEST(ZeroFill, RuntimeShapes) {
  Family family("zero fill, shapes known at launch", Nvcc::Always);
  struct Row {
    std::string dtype, columns;
    std::int64_t k, m;
    std::string variant;
    int bits;
  };
  const std::vector<Row> rows = {
      {"float16", "K * 8", 11, 50, "ldgsts", 128}, {"float16", "K * 8", 16, 64, "ldgsts", 128},
      {"float16", "K * 2", 35, 20, "ldgsts", 32},  {"float16", "K", 77, 50, "sync", 16},
      {"float32", "K", 77, 50, "ldgsts", 32},      {"float32", "K * 4", 20, 1, "ldgsts", 128},
      {"int8", "K * 16", 5, 33, "ldgsts", 128},    {"int8", "K", 129, 70, "sync", 8}};
  for (const Row& row : rows)
    for (const std::string layout : {"", "TileLayout(S[(32, 64) : (80, 1)])"}) {
      Program program{.source = runtime_kernel(row.dtype, row.columns, layout)};
      program.scalars = {{"K", row.k}, {"M", row.m}};
      family.run(program, {.variant = row.variant, .vector_bits = row.bits});
      family.count();
    }
}

// --- predicates ----------------------------------------------------------------------------------

TEST(Predicate, OfAWholeUnit) {
  Family family("predicates of a unit", Nvcc::Always);
  for (const std::string op : {"copy_async", "copy"})
    for (const std::string fill : {"", ", fill_mode=\"zero\""})
      for (const std::string predicate : {"it == 1", "it > 5", "True", "False"}) {
        CopyCase each = async_copy(shared({2, 32, 32}, {}, "[it, 0:32, 0:32]"),
                                   global({2, 32, 32}, "[it, 0:32, 0:32]"), "float16", 64);
        each.op = op;
        each.around = "for it in range(2):";
        each.settings = fmt::format("predicate={}{}", predicate, fill);
        family.run(each, {.variant = op == "copy" ? "gmem_smem" : "ldgsts"});
        family.count();
      }
}

TEST(Predicate, WithAnEdge) {
  Family family("a predicate and an edge");
  CopyCase each = async_copy(shared({2, 32, 32}, {}, "[it, 0:32, 0:32]"),
                             global({2, 30, 24}, "[it, 0:32, 0:32]"), "float16", 64);
  each.around = "for it in range(2):";
  each.settings = "predicate=it == 1, fill_mode=\"zero\"";
  family.run(each, {.variant = "ldgsts"});
  family.count();
}

// --- pipelines -----------------------------------------------------------------------------------

// Three stages over a K that does not divide; `wait` is the line that waits.
std::string pipeline(const std::string& wait) {
  return fmt::format(
      "from tvm.script import tirx as T\nfrom tvm.script.tirx import tile as Tx\n"
      "from tvm.tirx.layout import S, TileLayout, ComposeLayout, SwizzleLayout\n\n"
      "@T.prim_func\n"
      "def kernel(A: T.Buffer((100, 296), \"float16\"), B: T.Buffer((128, 320), \"float16\")):\n"
      "    T.device_entry()\n    bx = T.cta_id([2])\n    T.thread_id([128])\n"
      "    stages = T.alloc_buffer((3, 64, 64), \"float16\", scope=\"shared\", layout={})\n"
      "    for s in range(2):\n"
      "        Tx.cta.copy_async(stages[s, 0:64, 0:64], "
      "A[bx * 64:bx * 64 + 64, s * 64:s * 64 + 64], fill_mode=\"zero\")\n"
      "        T.ptx.cp_async.commit_group()\n"
      "    for k in range(5):\n"
      "        {}\n"
      "        T.cuda.cta_sync()\n"
      "        if k + 2 < 5:\n"
      "            Tx.cta.copy_async(stages[(k + 2) % 3, 0:64, 0:64], "
      "A[bx * 64:bx * 64 + 64, (k + 2) * 64:(k + 2) * 64 + 64], fill_mode=\"zero\")\n"
      "        T.ptx.cp_async.commit_group()\n"
      "        Tx.cta.copy(B[bx * 64:bx * 64 + 64, k * 64:k * 64 + 64], stages[k % 3, 0:64, "
      "0:64])\n",
      swizzled(3, 3, 3, "S[(3, 64, 64) : (4096, 64, 1)]"), wait);
}

TEST(Pipeline, ThreeStages) {
  Family family("a pipeline of three stages", Nvcc::Always);
  const Checked checked =
      family.run({.source = pipeline("T.ptx.cp_async.wait_group(1)")}, {.variant = "ldgsts"});
  EXPECT_EQ(count_of(checked.ptx, "ld.global.b16"), 0U) << checked.ptx;
  family.count();
}

TEST(Pipeline, AMissingWaitIsFound) {
  const Checked tile = check({.source = pipeline("pass")});
  EXPECT_EQ(tile.stage, Stage::Tile) << tile.explain();
  EXPECT_NE(tile.why.find("while a copy into it is under way"), std::string::npos) << tile.why;
  const Checked device = check({.source = pipeline("T.ptx.cp_async.wait_group(1)"),
                                .edits = {{"cp.async.wait_group\t1;", ""}}});
  EXPECT_EQ(device.stage, Stage::Device) << device.explain();
  EXPECT_NE(device.why.find("async"), std::string::npos) << device.why;
}

// --- declines ------------------------------------------------------------------------------------

TEST(CopyAsync, Declines) {
  struct Row {
    CopyCase copy;
    std::string ldgsts, sync;
  };
  const CopyCase plain = async_copy(shared({32, 32}), global({32, 32}));
  const auto with = [&](const std::string& settings) {
    CopyCase out = plain;
    out.settings = settings;
    return out;
  };
  CopyCase upwards = reversed(plain);
  CopyCase odd = async_copy(shared({32, 32}), global({32, 33}, "[0:32, 1:33]"));
  CopyCase columns = async_copy(shared({32, 32}, tile("S[(32, 32) : (1, 32)]")), global({32, 32}));
  CopyCase two = plain;
  two.scope = "thread";
  two.around = "if tid == 0:";
  two.settings = "direct=True";
  const std::vector<Row> rows = {
      {upwards, "[scope] shared to global, expected global to shared memory",
       "[scope] shared to global, expected global to shared memory"},
      {odd,
       "[alignment] contiguous parts of `src` begin at multiples of 2 bytes, expected 4, 8 or 16",
       "chosen"},
      {columns,
       "[alignment] contiguous parts of `dst` begin at multiples of 2 bytes, expected 4, 8 or 16",
       "chosen"},
      {with("mbar=T.address_of(dst[0, 0])"),
       "[mbarrier] `mbar=` is for a copy that arrives at a barrier",
       "[mbarrier] `mbar=` is for a copy that arrives at a barrier"},
      {with("mbarrier_addr=T.uint32(64)"),
       "[mbarrier] `mbarrier_addr=` is for a copy that arrives at a barrier",
       "[mbarrier] `mbarrier_addr=` is for a copy that arrives at a barrier"},
      {with("cta_mask=1"), "[config] `cta_mask=` is for copies through tensor maps",
       "[config] `cta_mask=` is for copies through tensor maps"},
      {with("direct=True"), "[direct] cta scope, expected thread",
       "[direct] one cp.async is asked for"},
      {two, "[direct] 128 instructions of 16 bytes, expected one",
       "[direct] one cp.async is asked for"},
      {with("cta_group=2"), "[config] `cta_group=` has no effect on this variant",
       "[config] `cta_group=` has no effect on this variant"},
      {with("cta_group=1"), "chosen", "not asked"}};
  for (const Row& row : rows) {
    const Checked checked = compile_only(program_of(row.copy));
    EXPECT_EQ(verdict_on(checked, 0, "ldgsts"), row.ldgsts) << checked.explain();
    EXPECT_EQ(verdict_on(checked, 0, "sync"), row.sync) << checked.explain();
  }
  fmt::print("declines of copy_async: {} cases\n", rows.size());
}

TEST(CopyAsync, SynchronousWayOut) {
  Family family("copy_async by loads and stores", Nvcc::Always);
  CopyCase old = async_copy(shared({64, 64}), global({64, 64}), "float16", 128);
  old.target = "sm_75";
  // cp.async.wait_group is not there either.
  Program program = program_of(old);
  for (const std::string line :
       {"    T.ptx.cp_async.commit_group()\n", "    T.ptx.cp_async.wait_group(0)\n"})
    program.source.erase(program.source.find(line), line.size());
  const Checked without = compile_only(program);
  EXPECT_EQ(verdict_on(without, 0, "ldgsts"),
            "[arch] there is no `cp.async.cg.shared.global` on sm_75");
  EXPECT_EQ(verdict_on(without, 0, "sync"), "chosen");
  CopyCase columns = async_copy(shared({32, 32}, tile("S[(32, 32) : (1, 32)]")), global({32, 32}));
  family.run(columns, {.variant = "sync", .vector_bits = 16});
  CopyCase named = async_copy(shared({64, 64}), global({64, 64}), "float16", 128);
  named.settings = "dispatch=\"sync\"";
  family.run(named, {.variant = "sync", .vector_bits = 128, .rounds = 4});
  family.count(3);
}

// Conditions are not for the variants that have no element to leave out.
TEST(CopyAsync, ConditionsOfOtherVariants) {
  CopyCase rows{.dtype = "float32", .scope = "thread"};
  rows.dst = registers({4}, "S[4 : 1]", 4);
  rows.src = global({4});
  rows.around = "for it in range(2):";
  rows.settings = "predicate=it == 1, dispatch=\"vec_128b\"";
  EXPECT_EQ(verdict_on(compile_only(program_of(rows)), 0, "vec_128b"),
            "[predicate] the copy is made under a condition");
  rows.src = global({3}, "[0:4]");
  rows.settings = "fill_value=0, dispatch=\"vec_128b\"";
  EXPECT_EQ(verdict_on(compile_only(program_of(rows)), 0, "vec_128b"),
            "[edge] the source may leave its buffer in 1 dimension");
  fmt::print("conditions of other variants: 2 cases\n");
}

}  // namespace
}  // namespace ww::test::copy_async_test
