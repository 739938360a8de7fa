// SPDX-License-Identifier: Apache-2.0
// Copies from registers to registers of other threads: by shuffles and movmatrix, on all engines.
#include "lower/family.h"

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
from tvm.tirx.layout import S, R, TileLayout, laneid, tx, warpid, wid_in_wg

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

}  // namespace
}  // namespace ww::test::convert_test
