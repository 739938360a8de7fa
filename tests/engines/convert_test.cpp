// SPDX-License-Identifier: Apache-2.0
// Copies from registers to registers of other threads, on all engines: by shuffles, movmatrix and
// shared memory.
#include "engines/family.h"

namespace ww::test::convert_test {
namespace {

constexpr std::string_view kTranspose = "movmatrix.sync.aligned.m8n8.trans.b16";

CopyCase conversion(Extents shape, const std::string& dst, std::int64_t dst_count,
                    const std::string& src, std::int64_t src_count, std::string dtype) {
  CopyCase out{.dtype = std::move(dtype)};
  out.dst = registers(shape, dst, dst_count);
  out.src = registers(std::move(shape), src, src_count);
  return out;
}

// A row in a lane, or pairs of rows in pairs of lanes.
CopyCase pairs(const std::string& dtype) {
  return conversion({32, 4}, "S[(16, 2, 2, 2) : (2 @ laneid, 1, 1 @ laneid, 2)]", 4,
                    "S[(32, 4) : (1 @ laneid, 1)]", 4, dtype);
}
CopyCase matrix(const std::string& dtype) {
  return conversion({8, 8}, "S[(4, 2, 8) : (1 @ laneid, 1, 4 @ laneid)]", 2,
                    "S[(8, 4, 2) : (4 @ laneid, 1 @ laneid, 1)]", 2, dtype);
}

TEST(Convert, WithinAWarp) {
  Family family("registers of other lanes", Nvcc::Always);
  struct Row {
    std::string dtype;
    std::int64_t shuffles;
  };
  // Half of the words stay where they are; four bytes are one word.
  for (const Row& row : {Row{"float32", 2}, Row{"float16", 1}, Row{"int8", 1}, Row{"float64", 2}})
    for (const CopyCase& each : {pairs(row.dtype), reversed(pairs(row.dtype))}) {
      family.run(each,
                 {.variant = "shfl", .opcode = "shfl.sync.bfly.b32", .per_thread = row.shuffles});
      family.count();
    }
  for (const CopyCase& each : {matrix("float16"), reversed(matrix("bfloat16"))}) {
    family.run(each, {.variant = "movmatrix", .opcode = std::string(kTranspose), .per_thread = 1});
    family.count();
  }
  for (const std::string dtype : {"float32", "uint8"}) {
    family.run(matrix(dtype), {.variant = "shfl"});
    family.count();
  }
}

// From global memory and back, so that replicas of the source hold the same.
Program through_memory(const CopyCase& each) {
  std::string text = R"(from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, laneid, tid_in_wg, tx, warpid, wid_in_wg

@T.prim_func
def kernel(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, SHAPE, "DTYPE")
    B = T.match_buffer(B_ptr, SHAPE, "DTYPE")
    T.device_entry()
    T.thread_id([THREADS])
    src = T.alloc_buffer(SHAPE, "DTYPE", scope="local", layout=SRC)
    dst = T.alloc_buffer(SHAPE, "DTYPE", scope="local", layout=DST)
    Tx.SCOPE.copy(src, A)
    Tx.SCOPE.copy(dst, src)
    Tx.SCOPE.copy(B, dst)
)";
  const auto put = [&](std::string_view name, const std::string& value) {
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at))
      text.replace(at, name.size(), value);
  };
  put("SHAPE", tuple(each.src.shape));
  put("DTYPE", each.dtype);
  put("THREADS", std::to_string(each.threads));
  put("SCOPE", each.scope);
  put("SRC", each.src.layout);
  put("DST", each.dst.layout);
  return {.source = text, .target = each.target};
}

TEST(Convert, ReplicasAndParts) {
  Family family("replicas and parts of registers", Nvcc::Always);
  const std::string rows = "S[(32, 2) : (1 @ laneid, 1)]";
  std::vector<CopyCase> cases = {
      // Eight lanes hold all, or four lanes the same.
      conversion({8, 8}, "S[(8, 8) : (1, 4 @ laneid)] + R[4 : 1 @ laneid]", 8,
                 "S[(8, 8) : (1 @ laneid, 1)]", 8, "float32"),
      conversion({8, 8}, "S[(8, 8) : (1, 1 @ laneid)]", 8,
                 "S[(8, 8) : (4 @ laneid, 1)] + R[4 : 1 @ laneid]", 8, "float16"),
      // Three registers, each by itself; a single float16.
      conversion({32, 3}, "S[(2, 16, 3) : (1 @ laneid, 2 @ laneid, 1)]", 3,
                 "S[(32, 3) : (1 @ laneid, 1)]", 3, "float16"),
      conversion({32}, "S[(2, 16) : (1 @ laneid, 2 @ laneid)]", 1, "S[32 : 1 @ laneid]", 1,
                 "float16")};
  // Half of the lanes, to the other half.
  CopyCase half = conversion({32, 2}, rows, 2, rows, 2, "float32");
  half.dst.region = "[16:32, 0:2]";
  half.src.region = "[0:16, 0:2]";
  cases.push_back(half);
  for (const CopyCase& each : cases) {
    if (!each.dst.region.empty()) {
      family.run(each, {.variant = "shfl"});
    } else {
      family.run(through_memory(each), {.variant = "shfl"}, 1);
      family.run(through_memory(reversed(each)), {.variant = "shfl"}, 1);
    }
    family.count();
  }
}

TEST(Convert, InEveryWarp) {
  Family family("registers of other lanes in several warps", Nvcc::Always);
  CopyCase each{.dtype = "float16", .threads = 128, .scope = "wg"};
  each.dst = registers(
      {64, 16}, "S[(4, 2, 8, 2, 4, 2) : (1 @ wid_in_wg, 4, 4 @ laneid, 1, 1 @ laneid, 2)]", 8);
  each.src = registers(
      {64, 16}, "S[(4, 2, 8, 2, 4, 2) : (1 @ wid_in_wg, 2, 4 @ laneid, 4, 1 @ laneid, 1)]", 8);
  family.run(each);
  each.dst.layout = tile("S[(4, 16, 2, 8) : (1 @ wid_in_wg, 2 @ laneid, 1 @ laneid, 1)]");
  family.run(each, {.variant = "shfl"});
  family.run(reversed(each), {.variant = "shfl"});
  family.count(3);
}

// --- through shared memory -----------------------------------------------------------------------

CopyCase across(std::int64_t threads, const std::string& scope, Extents shape,
                const std::string& dst, const std::string& src, const std::string& dtype) {
  CopyCase out{.dtype = dtype, .threads = threads, .scope = scope};
  out.dst.shape = out.src.shape = std::move(shape);
  out.dst.layout = tile(dst);
  out.src.layout = tile(src);
  return out;
}

TEST(Convert, AcrossWarps) {
  Family family("registers of other warps", Nvcc::Always);
  const std::string rows = "S[(128, 8) : (1 @ tx, 1)]";
  const std::vector<CopyCase> cases = {
      across(128, "cta", {128, 8}, "S[(8, 16, 8) : (1, 8 @ tx, 1 @ tx)]", rows, "float32"),
      across(128, "cta", {128, 8}, "S[(8, 16, 8) : (1, 8 @ tx, 1 @ tx)]", rows, "float16"),
      across(64, "cta", {64, 4}, "S[(4, 16, 4) : (1, 4 @ tx, 1 @ tx)]", "S[(64, 4) : (1 @ tx, 1)]",
             "uint8"),
      across(64, "cta", {64, 2}, "S[(2, 32, 2) : (1 @ warpid, 1 @ laneid, 1)] + R[1 : 1]",
             "S[(32, 2, 2) : (1 @ laneid, 1 @ warpid, 1)]", "float64"),
      // All threads get all.
      across(64, "cta", {64}, "S[64 : 1] + R[64 : 1 @ tx]", "S[64 : 1 @ tx]", "float32")};
  for (const CopyCase& each : cases) {
    family.run(through_memory(each), {.variant = "smem"}, 1);
    family.count();
  }
}

// 24 rows in the lanes of two warps, and two warpgroups: each has a piece of its own.
TEST(Convert, UnitsApart) {
  Family family("registers of other threads in several units");
  CopyCase warps = conversion({24, 4}, "S[(4, 6, 4) : (1, 4 @ laneid, 1 @ laneid)]", 4,
                              "S[(24, 4) : (1 @ laneid, 1)]", 4, "float32");
  warps.threads = 64;
  CopyCase groups = conversion({128, 4}, "S[(4, 32, 4) : (1, 4 @ tid_in_wg, 1 @ tid_in_wg)]", 4,
                               "S[(128, 4) : (1 @ tid_in_wg, 1)]", 4, "float16");
  groups.threads = 256;
  groups.scope = "wg";
  for (const CopyCase& each : {warps, groups}) {
    family.run(each, {.variant = "smem"});
    family.count();
  }
}

// Twice in a loop, and after another one: nothing is overwritten that is still to be read.
TEST(Convert, ScratchMemoryIsUsedAgain) {
  Family family("scratch memory used again");
  CopyCase each = across(128, "cta", {128, 8}, "S[(8, 16, 8) : (1, 8 @ tx, 1 @ tx)]",
                         "S[(128, 8) : (1 @ tx, 1)]", "float32");
  Program program = through_memory(each);
  const std::string copy = "    Tx.cta.copy(dst, src)\n";
  program.source.replace(program.source.find(copy), copy.size(),
                         "    for i in range(3):\n        Tx.cta.copy(dst, src)\n"
                         "        Tx.cta.copy(src, dst)\n    Tx.cta.copy(dst, src)\n");
  family.run(program, {.variant = "smem"}, 2);
  family.count();
}

// The order and the swizzle of the scratch memory leave no bank conflicts.
TEST(Convert, NoBankConflicts) {
  for (const std::string dtype : {"float32", "float16"}) {
    const Checked checked =
        check(through_memory(across(128, "cta", {128, 32}, "S[(32, 4, 32) : (1, 32 @ tx, 1 @ tx)]",
                                    "S[(128, 32) : (1 @ tx, 1)]", dtype)));
    ASSERT_TRUE(checked.right()) << checked.explain();
    ASSERT_EQ(checked.call(1).chosen, "smem") << checked.explain();
    const auto& turns = checked.call(1).plan.wavefronts;
    ASSERT_TRUE(turns.has_value());
    EXPECT_EQ(turns->conflicts(), 0) << dtype << ": " << turns->needed;
  }
}

TEST(Convert, Declines) {
  struct Row {
    CopyCase copy;
    std::string variant, verdict;
  };
  CopyCase crossing =
      across(64, "cta", {64}, "S[(32, 2) : (1 @ laneid, 1 @ warpid)]", "S[64 : 1 @ tx]", "float32");
  CopyCase odd = across(32, "warp", {24, 4}, "S[(4, 6, 4) : (1, 4 @ laneid, 1 @ laneid)]",
                        "S[(24, 4) : (1 @ laneid, 1)]", "float32");
  CopyCase large = across(256, "cta", {256, 64}, "S[(64, 256) : (1, 1 @ tx)]",
                          "S[(256, 64) : (1 @ tx, 1)]", "float32");
  large.target = "sm_80";
  const std::vector<Row> rows = {
      {crossing, "shfl", "[owner] an element goes to warp 0 of the unit from another one"},
      {odd, "shfl",
       "[irregular] the lanes and registers of source and destination are no linear function of "
       "each other's bits"},
      {odd, "movmatrix", "[registers] what moves as one has 32 bits, expected pairs of 16"},
      {large, "smem",
       "[scratch] 65536 bytes of shared memory between the warps, and 0 of 49152 are taken; a loop "
       "over smaller tiles needs less, and so does static shared memory that is made dynamic"}};
  for (const Row& row : rows) {
    Program program = through_memory(row.copy);
    EXPECT_EQ(verdict_on(check(program), 1, row.variant), row.verdict);
  }
}

}  // namespace
}  // namespace ww::test::convert_test
