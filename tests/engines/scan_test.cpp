// SPDX-License-Identifier: Apache-2.0
// Scans: every op, many element types and scopes; rows in registers, in lanes, in warps and in all of
// them; lanes out of line, rows that a warp goes over several times, replicas, parts of tiles; memory on
// either side; and the calls that are declined. The evaluator adds in the documented order, so that
// results are equal bit for bit.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engines/elementwise_programs.h"
#include "engines/family.h"

namespace ww::test::scan_test {
namespace {

const std::vector<std::string> kOps = {"cumsum", "cumprod", "cummax", "cummin"};

ElementwiseCase case_of(std::int64_t threads, Reg d, Reg a, const std::string& call) {
  ElementwiseCase out{.threads = threads, .regs = {std::move(d), std::move(a)}, .calls = {call}};
  // Which NaN an operation on doubles gives is not specified.
  if (out.regs[0].dtype == "float64") out.inputs = Inputs::Normal;
  return out;
}

// A scan of `A` into a tile of the same kind.
ElementwiseCase alike(std::int64_t threads, const Reg& a, const std::string& call) {
  Reg d = a;
  d.name = "D";
  return case_of(threads, d, a, call);
}

std::string flag(bool is_exclusive) { return is_exclusive ? ", exclusive=True)" : ")"; }

TEST(Scan, OfAllTypes) {
  Family family("scans over lanes", Nvcc::Always);
  for (const std::string& op : kOps)
    for (const std::string dtype : {"float32", "float16", "bfloat16", "float64", "int32", "uint8",
                                    "int8", "int64", "uint64", "float8_e5m2"}) {
      const bool is_exclusive = (op.size() + dtype.size()) % 2 == 0 || dtype == "int8";
      const std::int64_t words = dtype.find("64") == std::string::npos ? 1 : 2;
      family.run(program_of(alike(
                     32, reg("A", dtype, {8, 16}, "S[(8, 4, 4) : (4 @ laneid, 1 @ laneid, 1)]", 4),
                     "Tx.warp." + op + "(D, A" + flag(is_exclusive))),
                 {.variant = "registers", .opcode = "shfl.sync.up.b32", .per_thread = 3 * words});
      family.count();
    }
}

struct Row {
  std::int64_t threads;
  Reg a;
  std::string call;
  std::string variant = "registers";
};

void run_all(Family& family, const std::vector<Row>& rows) {
  for (const Row& row : rows)
    for (const bool is_exclusive : {false, true}) {
      family.run(program_of(alike(row.threads, row.a, "Tx." + row.call + flag(is_exclusive))),
                 {.variant = row.variant});
      family.count();
    }
}

TEST(Scan, InWarps) {
  Family family("layouts of scans", Nvcc::Always);
  const std::string mma = "S[(2, 8, 2, 4, 2) : (4, 4 @ laneid, 2, 1 @ laneid, 1)]";
  run_all(
      family,
      {
          // In one thread, along either axis.
          {32, reg("A", "float32", {4, 8}, "S[4, 8]", 32), "cumsum(D, A"},
          {32, reg("A", "float32", {4, 8}, "S[4, 8]", 32), "cumsum(D, A, axis=0"},
          // All lanes, once and several times.
          {32, reg("A", "float32", {32}, "S[32 : 1 @ laneid]", 1), "warp.cumsum(D, A"},
          {32, reg("A", "float32", {96}, "S[(3, 32) : (1, 1 @ laneid)]", 3), "warp.cumsum(D, A"},
          // The fragments of a matrix instruction, along rows and columns.
          {32, reg("A", "float32", {16, 16}, mma, 8), "warp.cumsum(D, A"},
          {32, reg("A", "float32", {16, 16}, mma, 8), "warp.cumsum(D, A, axis=0"},
          // Lanes of other strides, backwards, and fewer than a power of two.
          {32, reg("A", "float32", {4, 8}, "S[(4, 8) : (1 @ laneid, 4 @ laneid)]", 1),
           "warp.cumsum(D, A"},
          {32, reg("A", "float32", {4, 8}, "S[(4, 8) : (8 @ laneid, -1 @ laneid)] + 7 @ laneid", 1),
           "warp.cumsum(D, A"},
          {32, reg("A", "float32", {11, 3}, "S[(11, 3) : (1 @ laneid, 1)]", 3),
           "warp.cumsum(D, A, axis=0"},
          {32, reg("A", "float32", {5, 6}, "S[(5, 6) : (6 @ laneid, 1 @ laneid)]", 1),
           "warp.cumprod(D, A"},
          // Several lanes hold the same.
          {32,
           reg("A", "float32", {4, 4}, "S[(4, 4) : (8 @ laneid, 1 @ laneid)] + R[2 : 4 @ laneid]",
               1, "tid // 8 * 8 + tid % 4"),
           "warp.cumsum(D, A"},
          {64, reg("A", "float32", {32}, "S[32 : 1 @ laneid]", 1, "tid % 32"), "cta.cumsum(D, A"},
          // Parts of a tile: runs of several lengths, and sweeps that begin in the middle.
          {32, reg("A", "float32", {8, 16}, "S[(8, 4, 4) : (4 @ laneid, 1 @ laneid, 1)]", 4),
           "warp.cumsum(D[:, 3:13], A[:, 3:13]"},
          {32, reg("A", "float32", {4, 32}, "S[(4, 2, 4, 4) : (4 @ laneid, 4, 1 @ laneid, 1)]", 8),
           "warp.cumsum(D[:, 6:26], A[:, 6:26]"},
      });
}

TEST(Scan, OverWarps) {
  Family family("scans over warps", Nvcc::Always);
  run_all(family, {
                      {128, reg("A", "float32", {512}, "S[(128, 4) : (1 @ tx, 1)]", 4),
                       "cta.cumsum(D, A", "warps"},
                      {128, reg("A", "float64", {512}, "S[(128, 4) : (1 @ tx, 1)]", 4),
                       "cta.cumsum(D, A", "warps"},
                      {128, reg("A", "float16", {512}, "S[(4, 128) : (1, 1 @ tx)]", 4),
                       "cta.cumsum(D, A", "warps"},
                      {256, reg("A", "float32", {128, 3}, "S[(128, 3) : (1 @ tid_in_wg, 1)]", 3),
                       "wg.cumsum(D, A, axis=0", "warps"},
                      {96, reg("A", "float32", {4, 24}, "S[(4, 24) : (24 @ tx, 1 @ tx)]", 1),
                       "cta.cumsum(D, A", "warps"},
                      {160, reg("A", "int32", {3, 50}, "S[(3, 50) : (50 @ tx, 1 @ tx)]", 1),
                       "cta.cummax(D, A", "warps"},
                      {128,
                       reg("A", "float32", {2, 64},
                           "S[(2, 2, 32) : (1, 1 @ warpid, 1 @ laneid)] + R[2 : 2 @ warpid]", 2,
                           "tid % 64"),
                       "cta.cumsum(D, A", "warps"},
                      {128,
                       reg("A", "float32", {64, 8},
                           "S[(4, 2, 8, 4, 2) : (1 @ warpid, 2, 4 @ laneid, 1 @ laneid, 1)]", 4),
                       "cta.cumsum(D, A, axis=0", "warps"},
                  });
}

// In place, in loops, one after the other, and into registers of other threads.
TEST(Scan, Results) {
  Family family("results of scans", Nvcc::Always);
  const Reg a = reg("A", "float32", {128, 4}, "S[(128, 4) : (1 @ tx, 1)]", 4);
  const Reg d = reg("D", "float32", {128, 4}, "S[(4, 32, 4) : (1, 4 @ tx, 1 @ tx)]", 4);
  for (const std::vector<std::string>& calls : std::vector<std::vector<std::string>>{
           {"Tx.cta.cumsum(A, A, axis=0)", "Tx.cta.cumsum(A, A, axis=0, exclusive=True)"},
           {"for it in range(4):", "    Tx.cta.cumsum(A[:, it], A[:, it], axis=0)"},
           {"Tx.cta.cumsum(A[:, 1:4], A[:, 0:3])"},
           {"Tx.cta.cumsum(D, A, axis=0)"}}) {
    ElementwiseCase each = case_of(128, d, a, "");
    each.calls = calls;
    family.run(program_of(each));
    family.count();
  }
}

TEST(Scan, OnAllTargets) {
  Family family("scans on all targets");
  for (const std::string target : {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a",
                                   "sm_103a", "sm_110a", "sm_120a", "sm_121a"}) {
    ElementwiseCase each = alike(128, reg("A", "bfloat16", {256}, "S[(128, 2) : (1 @ tx, 1)]", 2),
                                 "Tx.cta.cumsum(D, A, exclusive=True)");
    each.target = target;
    family.run(program_of(each), {.variant = "warps"});
    family.count();
  }
}

// --- memory --------------------------------------------------------------------------------------

struct Memory {
  std::string call;
  Extents shape;
  std::string from = "shared", to = "shared";
  std::int64_t threads = 128;
  std::string dtype = "float32";
};

// What is in shared memory is filled from a parameter, and goes out to one.
Program program_of(const Memory& c) {
  const std::string shape = fmt::format("({},)", fmt::join(c.shape, ", "));
  std::string out =
      "from tvm.script import tirx as T\nfrom tvm.script.tirx import tile as Tx\n\n@T.prim_func\n"
      "def kernel(A_in_ptr: T.handle, D_out_ptr: T.handle):\n";
  for (const char* name : {"A_in", "D_out"})
    out += fmt::format("    {} = T.match_buffer({}_ptr, {}, \"{}\")\n", name, name, shape, c.dtype);
  out += fmt::format("    T.device_entry()\n    T.cta_id([1])\n    tid = T.thread_id([{}])\n",
                     c.threads);
  const auto alloc = [&](const char* name) {
    out += fmt::format("    {} = T.alloc_buffer({}, \"{}\", scope=\"shared\")\n", name, shape,
                       c.dtype);
  };
  std::string names = "    A = A_in\n";
  if (c.from == "shared") {
    alloc("A");
    out += "    Tx.cta.copy(A, A_in)\n    T.cuda.cta_sync()\n";
    names.clear();
  }
  const bool is_apart = c.call.find("(D") != std::string::npos;
  if (c.to == "shared" && is_apart) alloc("D");
  out += names + (c.to == "global" ? "    D = D_out\n" : "");
  out += "    " + c.call + "\n    T.cuda.cta_sync()\n";
  if (c.to == "shared") out += fmt::format("    Tx.cta.copy(D_out, {})\n", is_apart ? "D" : "A");
  return {.source = out, .inputs = c.dtype == "float64" ? Inputs::Normal : Inputs::Bits};
}

TEST(Scan, Memory) {
  Family family("scans of memory", Nvcc::Always);
  for (const Memory& each : std::vector<Memory>{
           {"Tx.cta.cumsum(D, A)", {1024}},
           {"Tx.cta.cumsum(A, A)", {8, 64}},
           {"Tx.cta.cumsum(D, A)", {8, 100}, "global", "global"},
           {"Tx.cta.cumsum(D, A, exclusive=True)", {3, 1000}, "global", "shared", 256},
           {"Tx.cta.cumsum(D, A, axis=0)", {64, 128}, "shared", "global"},
           {"Tx.cta.cumsum(D, A, axis=0)", {300, 4}, "shared", "shared", 128, "float16"},
           {"Tx.cta.cumsum(D, A, axis=1)", {6, 20, 10}, "shared", "shared", 96},
           {"Tx.wg.cumprod(D, A)", {7, 77}},
           {"Tx.warp.cumsum(D, A)", {5, 50}, "shared", "shared", 32},
           {"Tx.warp.cummin(D, A, axis=0)", {50, 5}, "shared", "shared", 32, "int8"},
           {"if tid == 3:\n        Tx.cumsum(D, A)", {4, 9}, "shared", "shared", 32},
           {"Tx.cta.cumsum(D, A)", {40, 8}, "shared", "shared", 40}}) {
    family.run(program_of(each));
    family.count();
  }
}

// --- declines ------------------------------------------------------------------------------------

TEST(Scan, Declines) {
  const auto verdict = [](const ElementwiseCase& each, const std::string& variant) {
    return verdict_on(check(program_of(each)), 0, variant);
  };
  const Reg row = reg("A", "float32", {128}, "S[128 : 1 @ tx]", 1);
  EXPECT_EQ(verdict(alike(128, row, "Tx.cluster.cumsum(D, A)"), "registers"),
            "[scope] cluster scope, expected thread, warp, warpgroup or cta");
  EXPECT_EQ(verdict(alike(128, row, "Tx.cta.cumsum(D, A)"), "registers"),
            "[lanes] row 0 of `A` is in the lanes of warps 0 and 1, expected one");
  EXPECT_EQ(verdict(alike(32, reg("A", "float32", {32}, "S[32 : 1 @ laneid]", 1),
                          "Tx.warp.cumsum(D, A, dispatch=\"warps\")"),
                    "warps"),
            "[scope] warp scope, expected warpgroup or cta");
  EXPECT_EQ(
      verdict(alike(40, reg("A", "float32", {40}, "S[40 : 1 @ tx]", 1), "Tx.cta.cumsum(D, A)"),
              "warps"),
      "[threads] 40 threads are not whole warps");
  ElementwiseCase full = alike(
      128, row, "M = T.alloc_buffer((12286,), \"float32\", scope=\"shared\"); Tx.cta.cumsum(D, A)");
  full.target = "sm_80";
  EXPECT_EQ(
      verdict(full, "warps"),
      "[scratch] 16 bytes of shared memory between the warps, and 49192 of 49152 are taken; a "
      "loop over smaller tiles needs less, and so does static shared memory that is made "
      "dynamic");
  EXPECT_EQ(verdict_on(check(program_of(Memory{"Tx.cta.cumsum(A[:, 1:64], A[:, 0:63])", {8, 64}})),
                       1, "registers"),
            "[overlap] `A` and `A` are in one buffer, and overlap, but are not the same elements");
  EXPECT_EQ(
      verdict_on(check(program_of(Memory{"Tx.warp.cumsum(D, A)", {16384}, "global", "global", 32})),
                 0, "registers"),
      "[size] a thread would hold 512 registers of `A_in`, and has 255; a loop over smaller "
      "tiles, each begun with the end of the one before, takes fewer");
}

}  // namespace
}  // namespace ww::test::scan_test
