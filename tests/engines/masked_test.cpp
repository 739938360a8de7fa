// SPDX-License-Identifier: Apache-2.0
// Copies with a tile of bools as their predicate: which elements arrive, what arrives for the
// others, which accesses one bool decides, and who declines.
#include "engines/family.h"

namespace ww::test::masked_test {
namespace {

CopyCase masked(Operand dst, Operand src, Operand mask, const std::string& dtype = "float16",
                const std::string& settings = {}, std::int64_t threads = 64) {
  CopyCase out{.dtype = dtype, .threads = threads, .scope = "cta"};
  out.dst = std::move(dst);
  out.src = std::move(src);
  out.mask = std::move(mask);
  out.settings = settings;
  return out;
}

const std::vector<std::string>& fillings() {
  static const std::vector<std::string> kAll = {"", "fill_value=0", "fill_value=3"};
  return kAll;
}

// A bool for each element, each row, each column, the whole; in both memories; both ways. What one
// bool decides is one access.
TEST(Masked, BetweenMemories) {
  Family family("masks between memories", Nvcc::Always);
  struct Row {
    Operand mask;
    std::string dtype;
    int bits, async_bits;
    std::string async = "ldgsts";
  };
  const std::vector<Row> rows = {
      {global({16, 32}), "float16", 16, 16, "sync"},
      {shared({16, 32}), "float32", 32, 32},
      {global({16, 1}), "float16", 128, 128},
      {shared({16, 8}, {}, "[0:16, 3:4]"), "int8", 128, 128},
      {shared({32}), "float64", 64, 64},
      {shared({32}), "bfloat16", 16, 16, "sync"},
      {global({1}), "float32", 128, 128},
      {shared({1, 16, 1, 32}, tile("S[(1, 16, 1, 32) : (1, 1, 1, 16)]")), "float32", 32, 32}};
  for (const Row& row : rows)
    for (const std::string& settings : fillings()) {
      CopyCase each = masked(shared({16, 32}), global({16, 32}), row.mask, row.dtype, settings);
      family.run(each, {.variant = "gmem_smem", .vector_bits = row.bits});
      each.op = "copy_async";
      family.run(each, {.variant = row.async, .vector_bits = row.async_bits});
      each = reversed(each);
      each.op = "copy";
      family.run(each, {.variant = "gmem_smem", .vector_bits = row.bits});
      family.count(3);
    }
}

// The thread that has an element in a register reads its bool in memory, or in a register of its
// own.
TEST(Masked, Registers) {
  Family family("masks of registers", Nvcc::Always);
  const std::string layout = "S[(64, 8) : (1 @ tx, 1)]";
  const std::vector<std::pair<Operand, int>> masks = {
      {global({64, 8}), 16},
      {shared({64, 1}), 128},
      {shared({8}), 16},
      {registers({64, 8}, layout, 8), 16},
      {registers({64, 1}, "S[(64, 1) : (1 @ tx, 1)]", 1), 128},
      {registers({64, 8}, "S[(64, 8) : (1 @ tx, 2)]", 15), 16}};
  for (const auto& [mask, bits] : masks)
    for (const std::string& settings : fillings()) {
      CopyCase each =
          masked(registers({64, 8}, layout, 8), global({64, 8}), mask, "float16", settings);
      family.run(each, {.variant = "reg", .vector_bits = bits});
      family.run(reversed(each), {.variant = "reg", .vector_bits = bits});
      family.count(2);
    }
  // Two warps, each its own tile; and registers to registers.
  CopyCase warp = masked(registers({32, 4}, "S[(32, 4) : (1 @ laneid, 1)]", 4),
                         global({2, 32, 4}, "[warp, 0:32, 0:4]"),
                         global({2, 32, 4}, "[warp, 0:32, 0:4]"), "float32");
  warp.scope = "warp";
  family.run(warp, {.variant = "reg", .vector_bits = 32});
  warp.src = registers({32, 4}, "S[(32, 4) : (1 @ laneid, 1)]", 4);
  family.run(warp, {.variant = "reg", .vector_bits = 32});
  family.count(2);
}

// Between memories, bools in registers: their threads move what they decide.
TEST(Masked, HoldersMove) {
  Family family("masks in registers between memories", Nvcc::Always);
  const std::vector<std::tuple<Operand, std::string, int>> masks = {
      {registers({64, 1}, "S[(64, 1) : (1 @ tx, 1)]", 1), "float16", 128},
      {registers({64, 32}, "S[(64, 32) : (1 @ tx, 1)]", 32), "float32", 32}};
  for (const auto& [mask, dtype, bits] : masks)
    for (const std::string& settings : fillings()) {
      CopyCase each = masked(shared({64, 32}), global({64, 32}), mask, dtype, settings);
      family.run(each, {.variant = "gmem_smem", .vector_bits = bits});
      each.op = "copy_async";
      family.run(each, {.variant = "ldgsts", .vector_bits = bits});
      family.count(2);
    }
}

// One thread, its own array of bools.
TEST(Masked, OneThread) {
  Family family("masks of one thread");
  const Operand own = registers({8}, "S[(8) : (1)]", 8);
  for (const std::string& settings : fillings()) {
    CopyCase each = masked(shared({64, 8}, {}, "[tid, 0:8]"), global({64, 8}, "[tid, 0:8]"), own,
                           "float32", settings);
    each.scope = "thread";
    family.run(each, {.variant = "gmem_smem", .vector_bits = 32});
    each.dst = own;
    family.run(each, {.variant = "reg", .vector_bits = 32});
    each.mask = global({64, 1}, "[tid, 0:1]");
    family.run(each, {.variant = "reg", .vector_bits = 128});
    family.count(3);
  }
}

// With regions that leave their buffers, at both ends; the mask stays inside.
TEST(Masked, Ragged) {
  Family family("masks and edges", Nvcc::Always);
  for (const Operand& mask : {global({16, 32}), shared({16, 1})})
    for (const std::string op : {"copy", "copy_async"})
      for (const std::string part : {"[0:16, 0:32]", "[it - 3:it + 13, it + 2:it + 34]"}) {
        CopyCase each =
            masked(shared({16, 32}), global({13, 27}, part), mask, "float32", "fill_value=2.5");
        each.op = op;
        each.around = "for it in range(1):";
        family.run(each);
        family.count();
        if (op == "copy_async") continue;
        each = reversed(each);
        each.settings = "clip=True";
        family.run(each, {.variant = "gmem_smem"});
        each.settings = "clip=True, fill_value=7";
        family.run(each, {.variant = "gmem_smem"});
        family.count(2);
      }
  // The end of a row cuts vectors that a bool of the row decides.
  for (const std::string settings : {"clip=True", "clip=True, fill_value=7"})
    family.run(masked(global({16, 30}, "[0:16, 0:32]"), shared({16, 32}), global({16, 1}),
                      "float16", settings));
  family.count(2);
}

// Element by element: layouts without a formula, and registers of part of a layout.
TEST(Masked, ElementByElement) {
  Family family("masks element by element");
  for (const std::string& settings : fillings()) {
    CopyCase odd =
        masked(shared({5, 7}, tile("S[(5, 7) : (7, 1)]")),
               shared({5, 7}, tile("S[(5, 7) : (1, 5)]")), global({5, 1}), "float32", settings, 32);
    odd.settings += fmt::format("{}dispatch=\"fallback\"", settings.empty() ? "" : ", ");
    family.run(odd, {.variant = "fallback"});
    odd.mask = global({7});
    family.run(odd, {.variant = "fallback"});
    odd.mask = shared({5, 1, 7});
    family.run(odd, {.variant = "fallback"});
    odd.dst = registers({32, 7}, "S[(32, 7) : (1 @ laneid, 1)]", 7, "[0:5, 0:7]");
    family.run(odd, {.variant = "fallback"});
    family.count(4);
  }
}

std::string rows_kernel(const std::string& mask, const std::string& settings) {
  return fmt::format(
      "from tvm.script import tirx as T\nfrom tvm.script.tirx import tile as Tx\n\n"
      "@T.prim_func\n"
      "def kernel(A_ptr: T.handle, M_ptr: T.handle, B_ptr: T.handle):\n"
      "    n = T.int32()\n"
      "    A = T.match_buffer(A_ptr, (n, 8), \"float32\")\n"
      "    M = T.match_buffer(M_ptr, (n, 8), \"bool\")\n"
      "    B = T.match_buffer(B_ptr, (n, 8), \"float32\")\n"
      "    T.device_entry()\n    T.cta_id([1])\n    T.thread_id([32])\n"
      "    Tx.cta.copy(B[0:n, 0:8], A[0:n, 0:8], predicate=M[{}]{})\n",
      mask, settings);
}

TEST(Masked, RuntimeExtents) {
  Family family("masks of extents known at launch");
  for (const std::string mask : {"0:n, 0:8", "0:n, 3:4", "0:1, 0:8"})
    for (const std::string settings : {"", ", fill_value=1"}) {
      family.run({.source = rows_kernel(mask, settings), .scalars = {{"n", 9}}},
                 {.variant = "fallback"});
      family.count();
    }
}

// --- who declines --------------------------------------------------------------------------------

std::string verdict(const CopyCase& each, std::string_view variant) {
  return verdict_on(compile_only(program_of(each)), 0, variant);
}

TEST(Masked, Declines) {
  CopyCase each = masked(shared({16, 32}), global({16, 32}), global({16, 32}));
  each.op = "copy_async";
  EXPECT_EQ(verdict(each, "ldgsts"),
            "[predicate] cp.async moves at least 4 bytes under one condition, and `mask` does not "
            "have one for each 2 elements");
  // The bools of what a thread has in registers are with another thread.
  each = masked(registers({32, 2}, "S[(32, 2) : (1 @ tx, 1)]", 2), global({32, 2}),
                registers({32, 2}, "S[(2, 16, 2) : (1, 1 @ tx, 16 @ tx)]", 2), "float32", "", 32);
  EXPECT_EQ(verdict(each, "reg"),
            "[owner] thread 16 moves element 32, and thread 0 has its predicate in a register");
  EXPECT_EQ(
      verdict(each, "fallback"),
      "[owner] the predicate `mask` is in registers of certain threads, and others would need "
      "it");
  // Matrix instructions have no predicate for an element.
  each = masked(registers({8, 8}, "S[(8, 4, 2) : (4 @ laneid, 1 @ laneid, 1)]", 2), shared({8, 8}),
                shared({8, 8}), "float16", "", 32);
  each.scope = "warp";
  EXPECT_EQ(verdict(each, "ldstmatrix"), "[predicate] each element is copied under a condition");
}

// A bool that the copy itself may write.
TEST(Masked, InTheDestination) {
  const std::string source =
      "from tvm.script import tirx as T\nfrom tvm.script.tirx import tile as Tx\n\n"
      "@T.prim_func\ndef kernel(A_ptr: T.handle, B_ptr: T.handle):\n"
      "    A = T.match_buffer(A_ptr, (64,), \"bool\")\n"
      "    B = T.match_buffer(B_ptr, (64,), \"bool\")\n"
      "    T.device_entry()\n    T.cta_id([1])\n    T.thread_id([32])\n"
      "    Tx.cta.copy(B[0:32], A[0:32], predicate=B[1:33])\n";
  const Checked checked = compile_only({.source = source});
  EXPECT_EQ(verdict_on(checked, 0, "fallback"),
            "[overlap] predicate and destination in `B` may overlap");
}

// --- faults --------------------------------------------------------------------------------------

// A bool of a neighbour instead of its own is found by the virtual GPU.
TEST(Masked, FaultsAreFound) {
  Program program =
      program_of(masked(shared({64}), global({64}), global({64}), "float32", "fill_value=1", 64));
  const Checked right = check(program);
  ASSERT_TRUE(right.right()) << right.explain();
  const std::size_t load = right.ptx.find("ld.global.u8");
  ASSERT_NE(load, std::string::npos) << right.ptx;
  const std::string line = right.ptx.substr(load, right.ptx.find('\n', load) - load);
  std::string beside = line;
  const std::size_t end = beside.find(']');
  const std::size_t plus = beside.find('+');
  if (plus < end)
    beside.replace(plus, end - plus, "+1");
  else
    beside.insert(end, "+1");
  program.edits = {{line, beside}};
  const Checked checked = check(program);
  EXPECT_EQ(checked.stage, Stage::Device) << checked.explain();
}

}  // namespace
}  // namespace ww::test::masked_test
