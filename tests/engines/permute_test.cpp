// SPDX-License-Identifier: Apache-2.0
// permute_layout on all engines: between layouts of shared memory, in place and not, without bank
// conflicts where there is such an order; and what is declined.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engines/family.h"

namespace ww::test::permute_test {
namespace {

struct Case {
  Extents shape = {32, 32};
  std::string from = "TileLayout(S[(32, 32) : (32, 1)])", to = "TileLayout(S[(32, 32) : (1, 32)])";
  std::string dtype = "float32";
  bool is_in_place = false;
  std::string scope = "warp";
  std::int64_t threads = 32;
  std::string target = "sm_90a";
  std::string memory = "shared";
};

// From a parameter through both layouts to another.
Program program_of(const Case& c) {
  const std::string shape = fmt::format("({},)", fmt::join(c.shape, ", "));
  const std::string made =
      c.is_in_place
          ? fmt::format("T.decl_buffer({}, \"{}\", data=rows.data, scope=\"{}\", layout={})", shape,
                        c.dtype, c.memory, c.to)
          : fmt::format("T.alloc_buffer({}, \"{}\", scope=\"{}\", layout={})", shape, c.dtype,
                        c.memory, c.to);
  return {
      .source = fmt::format(
          "from tvm.script import tirx as T\nfrom tvm.script.tirx import tile as Tx\n"
          "from tvm.tirx.layout import S, R, TileLayout, SwizzleLayout, ComposeLayout, laneid\n\n"
          "@T.prim_func\ndef kernel(A_ptr: T.handle, B_ptr: T.handle):\n"
          "    A = T.match_buffer(A_ptr, {0}, \"{1}\")\n"
          "    B = T.match_buffer(B_ptr, {0}, \"{1}\")\n"
          "    T.device_entry()\n    T.cta_id([1])\n    T.thread_id([{2}])\n"
          "    rows = T.alloc_buffer({0}, \"{1}\", scope=\"{3}\", layout={4})\n"
          "    turned = {5}\n"
          "    Tx.cta.copy(rows, A)\n    T.cuda.cta_sync()\n"
          "    Tx.{6}.permute_layout(turned, rows)\n    T.cuda.cta_sync()\n"
          "    Tx.cta.copy(B, turned)\n",
          shape, c.dtype, c.threads, c.memory, c.from, made, c.scope),
      .target = c.target};
}

// Reads and writes take no more turns than they must.
void expect_no_conflicts(const Checked& checked) {
  ASSERT_TRUE(checked.right());
  const auto& turns = checked.call(1).plan.wavefronts;
  ASSERT_TRUE(turns.has_value());
  EXPECT_EQ(turns->conflicts(), 0) << checked.explain();
}

TEST(PermuteLayout, Transposes) {
  Family family("permute_layout: transposes", Nvcc::Always);
  for (const std::string dtype : {"float32", "int32", "uint32"})
    for (const std::int64_t rows : {8, 16, 32})
      for (const bool is_in_place : {false, true}) {
        const Checked checked = family.run(
            program_of({.shape = {rows, 32},
                        .from = fmt::format("TileLayout(S[({}, 32) : (32, 1)])", rows),
                        .to = fmt::format("TileLayout(S[({}, 32) : (1, {})])", rows, rows),
                        .dtype = dtype,
                        .is_in_place = is_in_place}),
            {.variant = "swizzled", .opcode = "ld.shared.b32", .per_thread = rows}, 1);
        expect_no_conflicts(checked);
        EXPECT_EQ(checked.ptx.find("bar.warp.sync") != std::string::npos, true);
        family.count();
      }
}

TEST(PermuteLayout, Widths) {
  Family family("permute_layout: widths", Nvcc::Always);
  const auto run = [&](const Case& c, const std::string& opcode, std::int64_t times) {
    const Checked checked = family.run(
        program_of(c), {.variant = "swizzled", .opcode = opcode, .per_thread = times}, 1);
    family.count();
    return checked;
  };
  // Rows in another order: 16 bytes at a time.
  const std::string other = "TileLayout(S[(4, 8, 32) : (32, 128, 1)])";
  expect_no_conflicts(run({.to = other, .is_in_place = true}, "st.shared.v4.b32", 8));
  expect_no_conflicts(run({.to = other, .dtype = "float16"}, "st.shared.v4.b32", 4));
  // Scale factors: bytes and words of 128 rows, from rows to chunks of 32.
  expect_no_conflicts(run({.shape = {128},
                           .from = "TileLayout(S[128 : 1])",
                           .to = "TileLayout(S[(4, 32) : (1, 4)])",
                           .dtype = "uint32",
                           .is_in_place = true},
                          "st.shared.b32", 4));
  run({.dtype = "float64"}, "ld.shared.v2.b32", 32);
  run({.dtype = "float16", .is_in_place = true}, "st.shared.b16", 32);
  run({.dtype = "uint8"}, "st.shared.b8", 32);
  // Into a swizzled tile, and out of it.
  const std::string swizzled =
      "ComposeLayout(SwizzleLayout(2, 3, 3), TileLayout(S[(32, 32) : (32, 1)]))";
  expect_no_conflicts(run({.to = swizzled, .is_in_place = true}, "st.shared.v4.b32", 8));
  run({.from = swizzled, .is_in_place = true}, "ld.shared.b32", 32);
}

TEST(PermuteLayout, Scopes) {
  Family family("permute_layout: scopes", Nvcc::Always);
  for (const std::string scope : {"wg", "cta"})
    for (const bool is_in_place : {false, true}) {
      expect_no_conflicts(
          family.run(program_of({.is_in_place = is_in_place, .scope = scope, .threads = 128}),
                     {.variant = "swizzled", .opcode = "st.shared.b32", .per_thread = 8}, 1));
      family.count();
    }
  for (const std::string target : {"sm_75", "sm_100a", "sm_121a"}) {
    family.run(program_of({.is_in_place = true, .target = target}));
    family.count();
  }
}

// A copy, in place through other registers.
TEST(PermuteLayout, Registers) {
  Family family("permute_layout: registers", Nvcc::Always);
  for (const bool is_in_place : {false, true})
    for (const std::string dtype : {"float32", "float16"}) {
      family.run(program_of({.from = "TileLayout(S[(32, 32) : (1 @ laneid, 1)])",
                             .to = "TileLayout(S[(32, 32) : (1, 1 @ laneid)])",
                             .dtype = dtype,
                             .is_in_place = is_in_place,
                             .memory = "local"}));
      family.count();
    }
}

TEST(PermuteLayout, Declines) {
  const auto reason = [](const Case& c) { return verdict_on(check(program_of(c)), 1, "swizzled"); };
  EXPECT_EQ(reason({.shape = {3, 7},
                    .from = "TileLayout(S[(3, 7) : (7, 1)])",
                    .to = "TileLayout(S[(3, 7) : (1, 3)])"}),
            "[size] 21 elements cannot be shared out among 32 threads");
  EXPECT_EQ(
      reason({.shape = {128, 128},
              .from = "TileLayout(S[(128, 128) : (128, 1)])",
              .to = "TileLayout(S[(128, 128) : (1, 128)])",
              .dtype = "float16"}),
      "[size] a thread would hold 256 registers, of 128; a loop over smaller tiles takes fewer");
}

}  // namespace
}  // namespace ww::test::permute_test
