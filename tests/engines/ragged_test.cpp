// SPDX-License-Identifier: Apache-2.0
// Copies whose regions stick out of their buffers: the value that arrives for what the source lacks
// (`fill_value=`), and the destinations that get less (`clip=True`); which vectors they move, and
// what is left for single elements.
#include <map>
#include <random>

#include "engines/family.h"

namespace ww::test::ragged_test {
namespace {

CopyCase ragged(Operand dst, Operand src, const std::string& settings,
                const std::string& dtype = "float16", std::int64_t threads = 64) {
  CopyCase out{.dtype = dtype, .threads = threads, .scope = "cta"};
  out.dst = std::move(dst);
  out.src = std::move(src);
  out.settings = settings;
  return out;
}

Operand strided(const std::string& notation, std::int64_t span, Extents shape,
                std::string region = {}) {
  return {.memory = "global",
          .shape = std::move(shape),
          .layout = tile(notation),
          .region = std::move(region),
          .registers = span};
}

/// The code of the first copy by that variant: up to the next line of the source.
std::string code_of(const Checked& checked, std::string_view variant) {
  const std::size_t begin = checked.ptx.find(fmt::format(" by {}\n", variant));
  if (begin == std::string::npos) return "no copy by " + std::string(variant);
  return checked.ptx.substr(begin, checked.ptx.find("\t.loc", begin) - begin);
}

// Values of all kinds, as constants and in the types of the elements.
TEST(FillValue, Values) {
  Family family("fill values", Nvcc::Always);
  const std::vector<std::pair<std::string, std::string>> values = {{"float16", "-1.5"},
                                                                   {"float16", "float(\"-inf\")"},
                                                                   {"float32", "float(\"nan\")"},
                                                                   {"float32", "T.float32(0.1)"},
                                                                   {"bfloat16", "3"},
                                                                   {"float64", "-0.0"},
                                                                   {"int8", "-7"},
                                                                   {"uint16", "65535"},
                                                                   {"int32", "T.int32(5)"},
                                                                   {"int64", "1 << 40"},
                                                                   {"float8_e4m3fn", "2.0"},
                                                                   {"bool", "True"}};
  for (const auto& [dtype, value] : values)
    for (const std::string op : {"copy", "copy_async"}) {
      CopyCase each =
          ragged(shared({16, 32}), global({10, 16}, "[0:16, 0:32]"), "fill_value=" + value, dtype);
      each.op = op;
      Program program = program_of(each);
      program.has_any_nan = value.find("nan") != std::string::npos;
      family.run(program);
      family.count();
    }
}

// Ends before, at and behind the ends of vectors, of the tile and of the threads' rounds. An end
// that cuts a vector has a tail of seven elements.
TEST(FillValue, EndsInOneDimension) {
  Family family("ends of a row");
  for (const std::int64_t n : {1, 7, 8, 9, 63, 64, 65, 127, 128, 129, 255})
    for (const std::string variant : {"gmem_smem", "ldgsts"}) {
      CopyCase each =
          ragged(shared({256}), global({n}, "[0:256]"), "fill_value=2.5", "float16", 32);
      if (variant == "ldgsts") each.op = "copy_async";
      const std::string code =
          code_of(family.run(each, {.variant = variant, .vector_bits = 128, .rounds = 1}), variant);
      family.count();
      if (n < 8) continue;  // no vector is known to be whole
      EXPECT_EQ(count_of(code, "ld.global.b16"), n % 8 == 0 ? 0U : 7U) << code;
      EXPECT_EQ(count_of(code, variant == "ldgsts" ? "cp.async.cg" : "ld.global.v4.b32"), 1U);
      EXPECT_EQ(count_of(code, "st.shared.v4.b32"), 1U) << code;
    }
  for (const std::int64_t n : {8, 9, 255}) {
    const Checked stored =
        family.run(ragged(global({n}, "[0:256]"), shared({256}), "clip=True", "float16", 32),
                   {.variant = "gmem_smem", .vector_bits = 128, .rounds = 1});
    const std::string code = code_of(stored, "gmem_smem");
    EXPECT_EQ(count_of(code, "st.global.b16"), n % 8 == 0 ? 0U : 7U) << code;
    EXPECT_EQ(count_of(code, "st.global.v4.b32"), 1U) << code;
    family.count();
  }
}

// Before the first row and column, behind the last, and all four at once; by whole vectors where
// the starts are multiples of them.
TEST(FillValue, AllSides) {
  Family family("all four sides");
  struct Row {
    std::string y, x;
    int bits;
  };
  const std::vector<Row> rows = {{"it * 8 - 8", "it * 16 - 16", 128},
                                 {"it * 7 - 9", "it * 24 - 24", 128},
                                 {"it * 8 - 3", "it * 4 - 4", 64},
                                 {"it * 8 - 3", "it * 9 - 5", 16}};
  for (const Row& row : rows)
    for (const std::string op : {"copy", "copy_async"}) {
      const std::string part = fmt::format("[{0}:{0} + 16, {1}:{1} + 32]", row.y, row.x);
      CopyCase each = ragged(shared({3, 16, 32}, {}, "[it, 0:16, 0:32]"), global({10, 24}, part),
                             "fill_value=-1");
      each.op = op;
      each.around = "for it in range(3):";
      family.run(each, {.vector_bits = row.bits});
      family.count();
      for (int k = 0; k < 3 && op == "copy"; ++k) {
        CopyCase store = ragged(global({10, 24}, part), shared({16, 32}), "clip=True");
        store.around = fmt::format("for it in range({}, {}):", k, k + 1);
        family.run(store, {.variant = "gmem_smem"});
        family.count();
      }
    }
}

// Rows longer than what is in them: the pitch decides the vectors, the extent their tails.
TEST(FillValue, Pitches) {
  Family family("pitches");
  for (const auto& [columns, pitch, bits] :
       {std::tuple<std::int64_t, std::int64_t, int>{60, 64, 128}, {56, 64, 128}, {60, 68, 64}}) {
    const Operand padded = strided(fmt::format("S[(20, {}) : ({}, 1)]", columns, pitch), 20 * pitch,
                                   {20, columns}, "[0:32, 0:64]");
    for (const std::string op : {"copy", "copy_async"}) {
      CopyCase each = ragged(shared({32, 64}), padded, "fill_value=1", "float16", 128);
      each.op = op;
      family.run(each, {.vector_bits = bits});
      family.count();
    }
    family.run(ragged(padded, shared({32, 64}), "clip=True", "float16", 128),
               {.variant = "gmem_smem", .vector_bits = bits});
    family.count();
  }
}

// Each thread its own registers: as many vectors as without the edge.
TEST(FillValue, Registers) {
  Family family("registers", Nvcc::Always);
  for (const std::int64_t columns : {16, 24, 32, 29})
    for (const bool is_load : {true, false}) {
      CopyCase each = ragged(registers({64, 32}, "S[(64, 32) : (1 @ tx, 1)]", 32),
                             global({50, columns}, "[0:64, 0:32]"), "fill_value=0.5");
      if (!is_load) {
        each = reversed(each);
        each.settings = "clip=True";
      }
      const int bits = columns % 8 == 0 ? 128 : 16;
      const std::string code =
          code_of(family.run(each, {.variant = "reg", .vector_bits = bits}), "reg");
      const std::string memory = is_load ? "ld.global" : "st.global";
      const auto inside = static_cast<std::size_t>(columns);  // the rest is known to be outside
      EXPECT_EQ(count_of(code, memory + ".v4.b32"), bits == 128 ? inside / 8 : 0U) << code;
      EXPECT_EQ(count_of(code, memory), bits == 128 ? inside / 8 : inside) << code;
      family.count();
    }
}

// --- extents known at launch ---------------------------------------------------------------------

// All ways into and out of a row of n elements, with a value from memory.
std::string rows_kernel() {
  return "from tvm.script import tirx as T\nfrom tvm.script.tirx import tile as Tx\n"
         "from tvm.tirx.layout import S, TileLayout, tx\n\n"
         "@T.prim_func\n"
         "def kernel(A_ptr: T.handle, V_ptr: T.handle, B_ptr: T.handle, C_ptr: T.handle, "
         "D_ptr: T.handle, E_ptr: T.handle):\n"
         "    n = T.int32()\n"
         "    A = T.match_buffer(A_ptr, (n,), \"float16\")\n"
         "    V = T.match_buffer(V_ptr, (1,), \"float16\")\n"
         "    B = T.match_buffer(B_ptr, (256,), \"float16\")\n"
         "    C = T.match_buffer(C_ptr, (n,), \"float16\")\n"
         "    D = T.match_buffer(D_ptr, (256,), \"float16\")\n"
         "    E = T.match_buffer(E_ptr, (n,), \"float16\")\n"
         "    T.device_entry()\n    bx = T.cta_id([2])\n    T.thread_id([32])\n"
         "    s = T.alloc_shared((128,), \"float16\")\n"
         "    u = T.alloc_shared((128,), \"float16\")\n"
         "    r = T.alloc_buffer((128,), \"float16\", scope=\"local\", "
         "layout=TileLayout(S[(16, 8) : (1 @ tx, 1)]))\n"
         "    x: T.let = bx * 64\n"
         "    Tx.cta.copy(s, A[x:x + 128], fill_value=V[0])\n"
         "    Tx.cta.copy_async(u, A[x:x + 128], fill_value=V[0])\n"
         "    T.ptx.cp_async.commit_group()\n    T.ptx.cp_async.wait_group(0)\n"
         "    T.cuda.cta_sync()\n"
         "    Tx.cta.copy(B[bx * 128:bx * 128 + 128], s)\n"
         "    Tx.cta.copy(D[bx * 128:bx * 128 + 128], u)\n"
         "    if bx == 0:\n"
         "        Tx.cta.copy(r, A[0:128], fill_value=V[0])\n"
         "        Tx.cta.copy(C[0:128], r, clip=True)\n"
         "        Tx.cta.copy(E[0:128], s, clip=True)\n";
}

TEST(FillValue, RuntimeRows) {
  Family family("rows known at launch", Nvcc::Always);
  for (const std::int64_t n : {0, 1, 7, 8, 9, 63, 64, 65, 119, 120, 127, 128}) {
    const Checked checked = family.run({.source = rows_kernel(), .scalars = {{"n", n}}},
                                       {.variant = "gmem_smem", .vector_bits = 128});
    // The loads of `copy` and into registers; the tails of the three.
    EXPECT_EQ(count_of(checked.ptx, "ld.global.v4.b32"), 2U) << checked.ptx;
    EXPECT_EQ(count_of(checked.ptx, "cp.async.cg"), 1U) << checked.ptx;
    EXPECT_EQ(count_of(checked.ptx, "st.global.v4.b32"), 4U) << checked.ptx;
    family.count();
  }
}

// Rows of a multiple of 8 need no tail; an odd K moves element by element.
TEST(FillValue, RuntimeMatrices) {
  Family family("matrices known at launch");
  for (const auto& [columns, k, bits] :
       {std::tuple<std::string, std::int64_t, int>{"K * 8", 5, 128},
        {"K * 8", 9, 128},
        {"K", 35, 16}}) {
    const std::string source = fmt::format(
        "from tvm.script import tirx as T\nfrom tvm.script.tirx import tile as Tx\n\n"
        "@T.prim_func\n"
        "def kernel(A_ptr: T.handle, B_ptr: T.handle, C_ptr: T.handle, K: T.int32):\n"
        "    M = T.int32()\n"
        "    A = T.match_buffer(A_ptr, (M, {0}), \"float16\")\n"
        "    B = T.match_buffer(B_ptr, (64, 64), \"float16\")\n"
        "    C = T.match_buffer(C_ptr, (M, {0}), \"float16\")\n"
        "    T.device_entry()\n    bx = T.cta_id([2])\n    T.thread_id([64])\n"
        "    s = T.alloc_shared((32, 64), \"float16\")\n"
        "    y: T.let = bx * 32\n"
        "    Tx.cta.copy(s, A[y:y + 32, 0:64], fill_value=-2)\n"
        "    T.cuda.cta_sync()\n"
        "    Tx.cta.copy(B[y:y + 32, 0:64], s)\n"
        "    Tx.cta.copy(C[y:y + 32, 0:64], s, clip=True)\n",
        columns);
    for (const std::int64_t m : {1, 32, 50}) {
      // Columns from 64 on are not written.
      if (k * 8 > 64 && columns != "K") continue;
      const Checked checked =
          family.run({.source = source, .scalars = {{"K", k}, {"M", m}}}, {.vector_bits = bits});
      if (bits == 128) {
        EXPECT_EQ(count_of(checked.ptx, "global.b16"), 0U) << checked.ptx;
      }
      family.count();
    }
  }
}

// --- with conditions -----------------------------------------------------------------------------

TEST(FillValue, UnderPredicates) {
  Family family("fill values under predicates", Nvcc::Always);
  for (const std::string op : {"copy", "copy_async"})
    for (const std::string settings : {"fill_value=4", "clip=True", "fill_value=4, clip=True"}) {
      const bool fills = settings.find("fill") != std::string::npos;
      CopyCase each = ragged(shared({2, 16, 32}, {}, "[it, 0:16, 0:32]"),
                             global({2, fills ? 10 : 16, 32}, "[it, 0:16, 0:32]"),
                             "predicate=it == 1, " + settings);
      each.op = op;
      each.around = "for it in range(2):";
      family.run(each, {.vector_bits = 128});
      family.count();
    }
  CopyCase rows = ragged(registers({32, 8}, "S[(32, 8) : (1 @ laneid, 1)]", 8), global({32, 8}),
                         "predicate=it == 1", "float32", 32);
  rows.scope = "warp";
  rows.around = "for it in range(2):";
  family.run(rows, {.variant = "reg", .vector_bits = 128});
  rows.settings = "predicate=it == 0, fill_value=9";
  family.run(rows, {.variant = "reg", .vector_bits = 128});
  family.count(2);
}

// Tiles, extents, starts, units and types by chance, the same every time.
TEST(FillValue, ByChance) {
  Family family("fill and clip, by chance");
  std::mt19937 random(11);
  const auto below = [&](int n) {
    return static_cast<std::int64_t>(random() % static_cast<unsigned>(n));
  };
  const std::vector<std::string> types = {"float16", "float32", "int8", "float64"};
  const std::vector<std::pair<std::string, std::int64_t>> units = {
      {"cta", 96}, {"cta", 128}, {"warp", 32}, {"wg", 128}};
  std::map<std::string, int> chosen;
  for (int i = 0; i < 80; ++i) {
    const std::string& dtype = types[static_cast<std::size_t>(below(4))];
    const auto& [scope, threads] = units[static_cast<std::size_t>(below(4))];
    const std::int64_t rows = 1 + below(24), columns = 8 << below(4), unit = 1 << below(5);
    const Extents whole = {1 + below(40), unit * (1 + below(static_cast<int>(80 / unit)))};
    const std::string part = fmt::format(
        "[{0}:{0} + {1}, {2}:{2} + {3}]", fmt::format("it * {} - {}", below(20), below(20)), rows,
        fmt::format("it * {} - {}", unit * below(3), unit * below(3)), columns);
    const std::int64_t pitch = whole[1] + 16 * below(3);
    Operand outer = global(whole, part);
    if (pitch != whole[1])
      outer = strided(fmt::format("S[({}, {}) : ({}, 1)]", whole[0], whole[1], pitch),
                      whole[0] * pitch, whole, part);
    CopyCase each = ragged(shared({rows, columns}), outer, "fill_value=3", dtype, threads);
    each.scope = scope;
    const bool is_store = below(3) == 0;
    each.around = is_store ? "for it in range(1, 2):" : "for it in range(2):";
    each.dst.shape.insert(each.dst.shape.begin(), 2);
    each.dst.region = fmt::format("[it, 0:{}, 0:{}]", rows, columns);
    if (is_store) {
      each = reversed(each);
      each.settings = "clip=True";
    } else if (below(2) == 0) {
      each.op = "copy_async";
    }
    const Checked checked = family.run(each);
    if (checked.right()) ++chosen[checked.call(0).chosen];
    family.count();
  }
  EXPECT_GT(chosen["ldgsts"], 5);
  EXPECT_GT(chosen["sync"], 0);
  EXPECT_GT(chosen["gmem_smem"], 20);
}

// Regions at constants, which may lie inside, across an end or wholly behind it, with extents of 1: to
// and from registers, shared and global memory.
TEST(FillValue, ConstantPlacesByChance) {
  Family family("constant places, by chance");
  std::mt19937 random(12);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  std::map<std::string, int> chosen;
  for (int i = 0; i < 100; ++i) {
    const bool has_threads = below(2) == 0;  // rows are theirs, or a thread has all
    const std::int64_t rows = has_threads ? 32 : 1 + below(3), columns = 1 + below(9);
    const Extents whole = {1 + below(has_threads ? 40 : 4), 1 + below(12)};
    const std::int64_t y = below(whole[0] + 4), x = below(whole[1] + 4);
    const Operand outer = global(whole, box({y, x}, {rows, columns}));
    const Operand tile =
        below(4) == 0 ? shared({rows, columns})
        : has_threads
            ? registers({rows, columns}, fmt::format("S[(32, {}) : (1 @ tx, 1)]", columns), columns)
            : registers({rows, columns},
                        fmt::format("S[({}, {}) : ({}, 1)]", rows, columns, columns),
                        rows * columns);
    CopyCase each = ragged(tile, outer, "fill_value=3", below(2) == 0 ? "float32" : "float16", 32);
    each.scope = has_threads || tile.memory == "shared" ? "cta" : "thread";
    if (below(2) == 0) {
      each = reversed(each);
      each.settings = "clip=True";
      if (each.scope == "thread") each.around = "if tid == 0:";
    }
    const Checked checked = family.run(each);
    if (checked.right()) ++chosen[checked.call(0).chosen];
    family.count();
  }
  EXPECT_GT(chosen["reg"], 20);
}

// --- every combination ---------------------------------------------------------------------------

// A matrix of global memory, of constant extents or of extents known at launch, whose region begins
// below 0, ends behind the end, or both; out of it with a value, into it with `clip`; and shared
// memory that is left in the same ways.
struct Corner {
  bool is_constant = true;
  int begin = 0;  // of both dimensions
  std::string op = "copy", settings = {};
  bool is_source = true;  // the side that is left
  bool is_shared = false;
};

std::string corner_kernel(const Corner& c) {
  const std::string extents = c.is_constant || c.is_shared ? "12, 24" : "m, n";
  const std::string outer =
      c.is_shared ? "    X = T.alloc_shared((12, 24), \"TYPE\")\n"
                    "    for f in range(9):\n        q: T.let = f * 32 + tx\n"
                    "        X[q // 24, q % 24] = I[q]\n    T.cuda.cta_sync()\n"
                  : fmt::format("    X = T.match_buffer(X_ptr, ({}), \"TYPE\")\n", extents);
  const std::string part = "y:y + 16, y:y + 32";
  const bool is_stored = !c.is_source;
  // The tile on the other side is in the other memory.
  const std::string tile = c.is_shared ? "G[0:16, 0:32]" : "s[0:16, 0:32]";
  const std::string region = fmt::format("X[{}]", part);
  std::string out = "from tvm.script import tirx as T\nfrom tvm.script.tirx import tile as Tx\n\n";
  out += fmt::format(
      "@T.prim_func\ndef kernel(I_ptr: T.handle, {}G_ptr: T.handle, D_ptr: T.handle, b: "
      "T.int32):\n",
      c.is_shared ? "" : "X_ptr: T.handle, ");
  if (extents == "m, n") out += "    m = T.int32()\n    n = T.int32()\n";
  out +=
      "    I = T.match_buffer(I_ptr, (512,), \"TYPE\")\n"
      "    G = T.match_buffer(G_ptr, (16, 32), \"TYPE\")\n"
      "    D = T.match_buffer(D_ptr, (512,), \"TYPE\")\n";
  if (!c.is_shared) out += outer;
  out += "    T.device_entry()\n    T.cta_id([1])\n    tx = T.thread_id([32])\n    y: T.let = b\n";
  if (c.is_shared) out += outer;
  out +=
      "    s = T.alloc_shared((16, 32), \"TYPE\")\n"
      "    for f in range(16):\n        s[f, tx] = I[f * 32 + tx]\n    T.cuda.cta_sync()\n";
  out += fmt::format("    Tx.cta.{}({}, {}, {})\n", c.op, is_stored ? region : tile,
                     is_stored ? tile : region, c.settings);
  out +=
      "    T.ptx.cp_async.commit_group()\n    T.ptx.cp_async.wait_group(0)\n"
      "    T.cuda.cta_sync()\n"
      "    for f in range(16):\n        D[f * 32 + tx] = s[f, tx]\n";
  if (c.is_shared)
    out +=
        "    for f in range(9):\n        z: T.let = f * 32 + tx\n"
        "        D[z] = X[z // 24, z % 24]\n";
  // Elements of 4 bytes are for cp.async wherever the region begins.
  const std::string type = c.begin == -3 ? "float32" : "float16";
  for (std::size_t at = out.find("TYPE"); at != std::string::npos; at = out.find("TYPE"))
    out.replace(at, 4, type);
  return out;
}

std::vector<Corner> all_corners() {
  std::vector<Corner> out;
  for (const bool is_constant : {true, false})
    for (const int begin : {-3, 5, -2})
      for (const std::string op : {"copy", "copy_async"})
        for (const std::string settings : {"fill_value=0", "fill_value=2.5", "clip=True",
                                           "fill_value=2.5, clip=True", "fill_mode=\"zero\""})
          for (const bool is_source : {true, false})
            for (const bool is_shared : {false, true}) {
              const bool fills = settings.find("fill") != std::string::npos;
              const bool clips = settings.find("clip") != std::string::npos ||
                                 settings.find("mode") != std::string::npos;
              if ((is_source ? fills : clips) && (is_constant || !is_shared))
                out.push_back({is_constant, begin, op, settings, is_source, is_shared});
            }
  return out;
}

// Code that is right, or a reason in words.
TEST(FillValue, EveryCombination) {
  Family family("every combination of edges");
  std::map<std::string, int> chosen;
  for (const Corner& c : all_corners()) {
    Program program{.source = corner_kernel(c), .target = "sm_90a"};
    // The end is behind the region for the last, so that it leaves at its start alone.
    program.scalars = {{"b", c.begin}};
    if (!c.is_constant) {
      program.scalars["m"] = c.begin == -2 ? 40 : 12;
      program.scalars["n"] = c.begin == -2 ? 40 : 24;
    }
    const Checked compiled = compile_only(program);
    if (compiled.stage == Stage::Lower) {
      EXPECT_NE(compiled.why.find("[declined: "), std::string::npos) << compiled.explain();
      ++chosen["declined"];
      continue;
    }
    const Checked checked = family.run(program);
    if (checked.right()) ++chosen[checked.call(0).chosen];
    family.count();
  }
  EXPECT_GT(chosen["gmem_smem"], 0);
  EXPECT_GT(chosen["sync"], 0);
  EXPECT_GT(chosen["ldgsts"], 0);
  std::string text;
  for (const auto& [variant, count] : chosen) text += fmt::format(" {} {}", variant, count);
  fmt::print("by{}\n", text);
}

// --- faults --------------------------------------------------------------------------------------

// What was emitted with a fault in it is found by the virtual GPU.
TEST(FillValue, FaultsAreFound) {
  Program program{.source = rows_kernel(), .scalars = {{"n", 65}}};
  const Checked right = check(program);
  ASSERT_TRUE(right.right()) << right.explain();
  const auto found = [&](const std::string& what, const std::string& with) {
    Program faulty = program;
    faulty.edits = {{what, with}};
    const Checked checked = check(faulty);
    EXPECT_EQ(checked.stage, Stage::Device) << what << checked.explain();
  };
  // One element more is taken for whole; a vector less is loaded.
  found(", 8;\n", ", 7;\n");
  found("ld.global.v4.b32", "// ld.global.v4.b32");
}

}  // namespace
}  // namespace ww::test::ragged_test
