// SPDX-License-Identifier: Apache-2.0
// Reductions of shared and global memory, and into them: every op, many element types, all scopes;
// rows, columns, several axes; extents of all kinds; accumulation; registers on one side; and what is
// declined. The evaluator adds in the documented order, so that results are equal bit for bit.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engines/family.h"

namespace ww::test::reduce_memory_test {
namespace {

struct Case {
  std::string call;  // "Tx.cta.sum(D, A)"
  Extents a = {8, 32}, d = {8};
  std::string a_memory = "shared", d_memory = "shared";
  std::string dtype = "float32";
  std::string d_dtype = {};  // empty: the same
  std::int64_t threads = 128;
  std::string d_layout = {};  // in registers
  std::string a_layout = {};
  std::string target = "sm_90a";
};

std::string buffer_of(const std::string& name, const Extents& shape, const std::string& dtype,
                      const std::string& memory, const std::string& layout) {
  const std::string text = layout.empty() ? "" : fmt::format(", layout=TileLayout({})", layout);
  return fmt::format("    {} = T.alloc_buffer(({},), \"{}\", scope=\"{}\"{})\n", name,
                     fmt::join(shape, ", "), dtype, memory, text);
}

// What is in global memory is a parameter; everything else is filled from one.
Program program_of(const Case& c) {
  const std::string d_dtype = c.d_dtype.empty() ? c.dtype : c.d_dtype;
  const auto param = [&](const std::string& name, const Extents& shape, const std::string& dtype) {
    return fmt::format("    {} = T.match_buffer({}_ptr, ({},), \"{}\")\n", name, name,
                       fmt::join(shape, ", "), dtype);
  };
  const bool is_a_global = c.a_memory == "global", is_d_global = c.d_memory == "global";
  std::string out =
      "from tvm.script import tirx as T\nfrom tvm.script.tirx import tile as Tx\n"
      "from tvm.tirx.layout import S, R, TileLayout, SwizzleLayout, ComposeLayout, laneid, warpid, "
      "tid_in_wg, tx\n\n@T.prim_func\ndef kernel(A_in_ptr: T.handle, D_in_ptr: T.handle, "
      "D_out_ptr: "
      "T.handle):\n";
  out += param("A_in", c.a, c.dtype) + param("D_in", c.d, d_dtype) + param("D_out", c.d, d_dtype);
  out += fmt::format("    T.device_entry()\n    T.cta_id([1])\n    tid = T.thread_id([{}])\n",
                     c.threads);
  if (!is_a_global) {
    out += buffer_of("A", c.a, c.dtype, c.a_memory, c.a_layout);
    out += "    Tx.cta.copy(A, A_in)\n";
  }
  if (!is_d_global) out += buffer_of("D", c.d, d_dtype, c.d_memory, c.d_layout);
  out += fmt::format("    Tx.cta.copy({}, D_in)\n    T.cuda.cta_sync()\n",
                     is_d_global ? "D_out" : "D");
  std::string call = c.call;
  const auto put = [&](const std::string& name, const std::string& as) {
    for (std::size_t at = call.find(name); at != std::string::npos; at = call.find(name, at + 1))
      call.replace(at, 1, as);
  };
  if (is_a_global) put("A", "A_in");
  if (is_d_global) put("D", "D_out");
  out += "    " + call + "\n    T.cuda.cta_sync()\n";
  if (!is_d_global) out += "    Tx.cta.copy(D_out, D)\n";
  // Which NaN an operation on doubles gives is not specified.
  return {.source = out,
          .target = c.target,
          .inputs = c.dtype == "float64" && d_dtype == c.dtype ? Inputs::Normal : Inputs::Bits};
}

TEST(ReduceMemory, OfAllTypes) {
  Family family("reductions of memory", Nvcc::Always);
  for (const std::string op : {"sum", "prod", "max", "min"})
    for (const std::string dtype :
         {"float32", "float16", "bfloat16", "float64", "int32", "uint8", "int64"})
      for (const std::string rest : {"(D, A)", "(D, A, accum=True)"}) {
        if (dtype[0] == 'i' && rest == "(D, A)") continue;
        family.run(program_of({.call = "Tx.cta." + op + rest, .dtype = dtype}));
        family.count();
      }
}

TEST(ReduceMemory, Conditions) {
  Family family("any and all", Nvcc::Always);
  for (const std::string op : {"any", "all"})
    for (const std::string memory : {"shared", "global"}) {
      family.run(program_of({.call = "Tx.cta." + op + "(D, A)",
                             .a_memory = memory,
                             .d_memory = memory,
                             .dtype = "bool"}));
      family.run(program_of({.call = "Tx.cta." + op + "(D, A, axes=0, accum=True)",
                             .a = {256, 4},
                             .d = {4},
                             .a_memory = memory,
                             .dtype = "bool"}));
      family.count(2);
    }
}

// The least index of the greatest or least element: bits of all kinds, NaN among them, and numbers
// that are often equal.
TEST(ReduceMemory, Indices) {
  Family family("argmax and argmin", Nvcc::Always);
  for (const std::string op : {"argmax", "argmin"})
    for (const std::string dtype : {"float32", "float16", "bfloat16", "int32", "uint32", "int8",
                                    "float8_e5m2", "float64", "int64", "uint64"}) {
      family.run(
          program_of({.call = "Tx.cta." + op + "(D, A)", .dtype = dtype, .d_dtype = "int32"}));
      family.run(program_of({.call = "Tx.cta." + op + "(D, A, axes=0)",
                             .a = {300, 4},
                             .d = {4},
                             .d_memory = "local",
                             .dtype = dtype,
                             .d_dtype = "int64",
                             .d_layout = "S[4] + R[128 : 1 @ tx]"}));
      family.run(program_of({.call = "Tx.warp." + op + "(D, A, axes=(0, 2))",
                             .a = {3, 5, 7},
                             .d = {5},
                             .dtype = dtype,
                             .d_dtype = "int32",
                             .threads = 32}));
      family.count(3);
    }
}

// Rows and columns, of extents that are no powers of two as well, in every scope.
TEST(ReduceMemory, Shapes) {
  Family family("shapes of reductions of memory", Nvcc::Always);
  const std::vector<Case> cases = {
      {.call = "Tx.cta.sum(D, A)", .a = {4096}, .d = {1}},
      {.call = "Tx.cta.sum(D, A)", .a = {3, 1000}, .d = {3}, .threads = 256},
      {.call = "Tx.cta.sum(D, A)", .a = {128, 64}, .d = {128}},
      {.call = "Tx.cta.sum(D, A, axes=0)", .a = {64, 128}, .d = {128}},
      {.call = "Tx.cta.sum(D, A, axes=0)", .a = {100, 24}, .d = {24}, .threads = 256},
      {.call = "Tx.cta.sum(D, A, axes=0)", .a = {16, 512}, .d = {512}},
      {.call = "Tx.cta.sum(D, A, axes=1)", .a = {6, 20, 10}, .d = {6, 10}, .threads = 96},
      {.call = "Tx.cta.sum(D, A, axes=(0, 2))", .a = {8, 6, 16}, .d = {6}},
      {.call = "Tx.cta.max(D, A, axes=(0, 1))", .a = {8, 6, 16}, .d = {16}},
      {.call = "Tx.cta.sum(D, A, axes=(0, 1, 2))", .a = {8, 6, 16}, .d = {1}},
      {.call = "Tx.wg.sum(D, A)", .a = {7, 77}, .d = {7}},
      {.call = "Tx.warp.sum(D, A)", .a = {5, 50}, .d = {5}, .threads = 32},
      {.call = "Tx.warp.sum(D, A, axes=0)", .a = {50, 5}, .d = {5}, .threads = 32},
      {.call = "if tid == 3:\n        Tx.sum(D, A)", .a = {4, 9}, .d = {4}, .threads = 32},
      {.call = "Tx.cta.sum(D, A[2:6, 8:24])", .a = {8, 32}, .d = {4}},
      {.call = "Tx.cta.sum(D[2:6], A[2:6, 8:24], accum=True)", .a = {8, 32}, .d = {8}},
      {.call = "Tx.cta.sum(D, A)", .a = {40, 8}, .d = {40}, .threads = 40},
  };
  for (const Case& c : cases) {
    family.run(program_of(c));
    Case global = c;
    global.a_memory = global.d_memory = "global";
    family.run(program_of(global));
    family.count(2);
  }
}

// One side in registers, the other in memory.
TEST(ReduceMemory, Registers) {
  Family family("reductions between memory and registers", Nvcc::Always);
  const std::vector<Case> cases = {
      {.call = "Tx.cta.sum(D, A)", .d_memory = "local", .d_layout = "S[8] + R[128 : 1 @ tx]"},
      {.call = "Tx.cta.sum(D, A, axes=0, accum=True)",
       .a = {64, 128},
       .d = {128},
       .a_memory = "global",
       .d_memory = "local",
       .d_layout = "S[128 : 1 @ tx]"},
      {.call = "Tx.cta.sum(D, A, accum=True)",
       .a = {32, 16},
       .d = {32},
       .a_memory = "local",
       .a_layout = "S[(32, 4, 4) : (4 @ tx, 1 @ tx, 1)]"},
      {.call = "Tx.cta.max(D, A, axes=0)",
       .a = {128, 4},
       .d = {4},
       .a_memory = "local",
       .d_memory = "global",
       .a_layout = "S[(128, 4) : (1 @ tx, 1)]"},
  };
  for (const Case& c : cases) {
    family.run(program_of(c));
    family.count();
  }
}

TEST(ReduceMemory, OnAllTargets) {
  Family family("reductions of memory on all targets");
  for (const std::string target : {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a",
                                   "sm_103a", "sm_110a", "sm_120a", "sm_121a"}) {
    family.run(program_of({.call = "Tx.cta.prod(D, A)", .a = {1024}, .d = {1}, .target = target}));
    family.count();
  }
}

TEST(ReduceMemory, Declines) {
  const auto reason = [](const Case& c) {
    return verdict_on(check(program_of(c)), 2, "registers");  // two copies are before it
  };
  EXPECT_EQ(reason({.call = "Tx.cta.sum(A[0, 0:8], A)"}),
            "[overlap] `A` and `A` are in one buffer, and overlap");
  EXPECT_EQ(reason({.call = "Tx.warp.sum(D, A)", .a = {64, 256}, .d = {64}, .threads = 32}),
            "[size] a thread would hold 512 registers of `A`, and has 255; a loop over smaller "
            "tiles, with accum=True, takes fewer");
}

}  // namespace
}  // namespace ww::test::reduce_memory_test
