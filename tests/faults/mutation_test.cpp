// SPDX-License-Identifier: Apache-2.0
// Faults planted in real programs, and which check catches them. One that changes what the program
// does must be caught; the proof alone catches all inside a primitive. uncaught.txt lists the rest,
// which change nothing, with reasons. docs/evidence/trust.md has the counts; BLESS=1 writes them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "base/file_io.h"
#include "faults/subject.h"

namespace ww::test::mutation_test {
namespace {

namespace fs = std::filesystem;

// Faults of one kind in one primitive: enough to meet every form of code that variants write.
constexpr std::size_t kLimit = 6;

std::string text_of_file(const fs::path& path) {
  return read_file(fs::path(WW_SOURCE_DIR) / path, std::size_t{1} << 20U).value();
}

SubjectText example(const std::string& name, std::string kernel = {},
                    std::string target = "sm_90a") {
  return {.name = name,
          .source = text_of_file("examples/" + name + ".py"),
          .kernel = std::move(kernel),
          .target = std::move(target)};
}

// Rounds that not all threads take part in.
constexpr std::string_view kTail = R"(
@T.prim_func
def tail(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (33, 24), "float16")
    B = T.match_buffer(B_ptr, (33, 24), "float16")
    T.device_entry()
    T.cta_id([1])
    T.thread_id([64])
    M = T.alloc_buffer((33, 24), "float16", scope="shared")
    Tx.cta.copy(M[:, :], A[:, :])
    T.cuda.cta_sync()
    Tx.cta.copy(B[:, :], M[:, :])
)";

// Reductions over lanes and over warps, whose scratch memory is used again.
constexpr std::string_view kReductions = R"(
from tvm.tirx.layout import R, S, TileLayout, laneid, tx
@T.prim_func
def reductions(A_ptr: T.handle, B_ptr: T.handle, C_ptr: T.handle, D_ptr: T.handle):
    A = T.match_buffer(A_ptr, (64, 16), "int32")
    B = T.match_buffer(B_ptr, (64,), "int32")
    C = T.match_buffer(C_ptr, (16,), "int32")
    D = T.match_buffer(D_ptr, (8,), "int32")
    T.device_entry()
    T.cta_id([1])
    T.thread_id([256])
    a = T.alloc_buffer((64, 16), "int32", scope="local", layout=TileLayout(S[(64, 4, 4) : (4 @ tx, 1 @ tx, 1)]))
    b = T.alloc_buffer((64,), "int32", scope="local", layout=TileLayout(S[64 : 4 @ tx] + R[4 : 1 @ tx]))
    c = T.alloc_buffer((16,), "int32", scope="local", layout=TileLayout(S[16 : 1 @ tx]))
    d = T.alloc_buffer((8,), "int32", scope="local", layout=TileLayout(S[8] + R[256 : 1 @ tx]))
    Tx.cta.copy(a, A)
    Tx.cta.sum(b, a)
    Tx.cta.copy(B, b)
    Tx.cta.sum(c, a, axes=0)
    Tx.cta.copy(C, c)
    Tx.cta.argmax(d, a[:, 0:8], axes=0)
    Tx.cta.copy(D, d)
)";

// Of the CTAs of a cluster: alone in a loop, and one after the other, with results for one of them.
constexpr std::string_view kClusterReductions = R"(
from tvm.tirx.layout import S, TileLayout, cbx, tx
@T.prim_func
def cluster_reductions(A_ptr: T.handle, B_ptr: T.handle, C_ptr: T.handle):
    A = T.match_buffer(A_ptr, (2, 256), "float32")
    B = T.match_buffer(B_ptr, (2, 128), "float32")
    C = T.match_buffer(C_ptr, (2, 128), "float32")
    T.device_entry()
    rank = T.cta_id_in_cluster([2])
    tid = T.thread_id([64])
    a = T.alloc_buffer((64, 2), "float32", scope="local", layout=TileLayout(S[(64, 2) : (1 @ tx, 1)]))
    row = a.view(256, layout=TileLayout(S[(2, 64, 2) : (1 @ cbx, 1 @ tx, 1)]))
    pairs = a.view(128, 2, layout=TileLayout(S[(2, 64, 2) : (1 @ cbx, 1 @ tx, 1)]))
    b = T.alloc_buffer((1,), "float32", scope="local")
    c = T.alloc_buffer((2,), "float32", scope="local", layout=TileLayout(S[2 : 1 @ cbx]))
    c_r = c.local(1)
    for i in range(2):
        for k in range(2):
            Tx.cta.copy(a[:, k], A[i, rank * 128 + k * 64 : rank * 128 + k * 64 + 64])
        Tx.cluster.sum(b, row)
        B[i, rank * 64 + tid] = b[0]
    Tx.cluster.min(c, pairs, axes=0)
    C[0, rank * 64 + tid] = c_r[0]
    Tx.cluster.max(c, pairs, axes=0)
    C[1, rank * 64 + tid] = c_r[0]
)";

// Registers of other lanes and of other warps, by each way.
constexpr std::string_view kConversions = R"(
from tvm.tirx.layout import R, S, TileLayout, laneid, tx
@T.prim_func
def conversions(A_ptr: T.handle, B_ptr: T.handle, C_ptr: T.handle, D_ptr: T.handle):
    A = T.match_buffer(A_ptr, (32, 4), "float32")
    B = T.match_buffer(B_ptr, (32, 4), "float32")
    C = T.match_buffer(C_ptr, (8, 8), "float16")
    D = T.match_buffer(D_ptr, (8, 8), "float16")
    T.device_entry()
    T.cta_id([1])
    T.thread_id([32])
    a = T.alloc_buffer((32, 4), "float32", scope="local", layout=TileLayout(S[(32, 4) : (1 @ laneid, 1)]))
    b = T.alloc_buffer((32, 4), "float32", scope="local", layout=TileLayout(S[(16, 2, 2, 2) : (2 @ laneid, 1, 1 @ laneid, 2)]))
    c = T.alloc_buffer((8, 8), "float16", scope="local", layout=TileLayout(S[(8, 4, 2) : (4 @ laneid, 1 @ laneid, 1)]))
    d = T.alloc_buffer((8, 8), "float16", scope="local", layout=TileLayout(S[(4, 2, 8) : (1 @ laneid, 1, 4 @ laneid)]))
    Tx.warp.copy(a, A)
    Tx.warp.copy(b, a)
    Tx.warp.copy(B, b)
    Tx.warp.copy(c, C)
    Tx.warp.copy(d, c)
    Tx.warp.copy(D, d)
)";

constexpr std::string_view kBetweenWarps = R"(
from tvm.tirx.layout import R, S, TileLayout, laneid, tx
@T.prim_func
def between_warps(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (64, 8), "float32")
    B = T.match_buffer(B_ptr, (64, 8), "float32")
    T.device_entry()
    T.cta_id([1])
    T.thread_id([64])
    a = T.alloc_buffer((64, 8), "float32", scope="local", layout=TileLayout(S[(64, 8) : (1 @ tx, 1)]))
    b = T.alloc_buffer((64, 8), "float32", scope="local", layout=TileLayout(S[(8, 8, 8) : (1, 8 @ tx, 1 @ tx)]))
    Tx.cta.copy(a, A)
    Tx.cta.copy(b, a)
    Tx.cta.copy(a, b)
    Tx.cta.copy(B, a)
)";

// Regions that leave their arrays, and operands in memory.
constexpr std::string_view kEdges = R"(
@T.prim_func
def edges(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (27, 24), "float16")
    B = T.match_buffer(B_ptr, (27, 24), "float16")
    T.device_entry()
    bx = T.cta_id([1])
    T.thread_id([64])
    M = T.alloc_buffer((32, 32), "float16", scope="shared")
    Tx.cta.copy(M, A[bx - 3 : bx + 29, 0:32], fill_value=1.5)
    T.cuda.cta_sync()
    Tx.cta.add(M, M, M)
    T.cuda.cta_sync()
    Tx.cta.copy(B[bx - 3 : bx + 29, 0:32], M, clip=True)
)";

std::vector<SubjectText> subjects() {
  const std::string small = "BM=64, BN=64, WM=32, WN=32, stages=2";
  return {
      example("basics/reg"),
      example("basics/ldstmatrix"),
      example("basics/gemm"),
      example("basics/tcgen05_ldst", "", "sm_100a"),
      {.name = "tail", .source = std::string(kTail)},
      {.name = "edges", .source = std::string(kEdges)},
      {.name = "reductions", .source = std::string(kReductions)},
      {.name = "cluster_reductions", .source = std::string(kClusterReductions)},
      {.name = "conversions", .source = std::string(kConversions)},
      {.name = "between_warps", .source = std::string(kBetweenWarps)},
      example("copy_through", "build(n=4096)"),
      example("transpose", "build(m=64, n=128)"),
      example("gemm_mma", "build(M=56, N=64, K=184, " + small + ")"),
      example("gemm_bias_relu", "build(M=64, N=64, K=192, " + small + ")"),
      example("tcgen05_epilogue", "build(M=128, N=128)", "sm_100a"),
      example("tcgen05_stages", "build(tiles=3, N=8)", "sm_100a"),
      example("tcgen05_cp", "", "sm_100a"),
      example("tma_copy"),
      example("dsmem_reduce", "build(m=8, n=128, cluster=2, threads=32)"),
  };
}

const std::vector<Sentence>& sentences() {
  static const std::vector<Sentence> all = [] {
    std::vector<Sentence> out;
    for (const SubjectText& text : subjects()) {
      const std::vector<Sentence> more = Subject(text).try_all(kLimit);
      out.insert(out.end(), more.begin(), more.end());
    }
    return out;
  }();
  return all;
}

bool is_blessing() { return std::getenv("BLESS") != nullptr; }

// --- uncaught.txt --------------------------------------------------------------------------------

struct Uncaught {
  std::multiset<std::string> same;    // the program does the same with them
  std::multiset<std::string> missed;  // it does not
};

const Uncaught& uncaught() {
  static const Uncaught read = [] {
    std::ifstream in(fs::path(WW_SOURCE_DIR) / "tests/faults/uncaught.txt");
    Uncaught out;
    std::multiset<std::string>* faults = nullptr;
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with("= same: ")) faults = &out.same;
      if (line.starts_with("= missed: ")) faults = &out.missed;
      if (line.empty() || line[0] == '#' || line[0] == '=' || faults == nullptr) continue;
      faults->insert(line);
    }
    return out;
  }();
  return read;
}

void expect_that_someone_objects() {
  std::multiset<std::string> seen;
  for (const Sentence& each : sentences())
    if (!each.is_caught()) seen.insert(each.text());
  const Uncaught& known = uncaught();
  std::multiset<std::string> listed = known.same;
  listed.insert(known.missed.begin(), known.missed.end());
  for (const std::string& each : seen)
    EXPECT_EQ(listed.count(each), seen.count(each)) << "nobody caught: " << each;
  for (const std::string& each : listed)
    EXPECT_TRUE(seen.contains(each)) << "no such fault, or caught: " << each;
  EXPECT_GT(sentences().size(), 500U);
}

// With the proof passed over others find many of them, but none that the proof lets through.
void expect_that_the_proof_objects() {
  for (const Sentence& each : sentences()) {
    if (is_around(each.kind) || !each.proof.empty()) continue;
    EXPECT_EQ(each.checks + each.comparison, "") << "the proof holds for " << each.text();
  }
}

// The proof says nothing of the program around a primitive; the virtual GPU's checks do.
void expect_that_checks_object() {
  for (const Sentence& each : sentences()) {
    if (!is_around(each.kind) || !each.is_caught()) continue;
    EXPECT_NE(each.checks, "") << each.text() << ": only " << each.build << each.comparison;
  }
}

// --- docs/evidence/trust.md ----------------------------------------------------------------------

struct Counts {
  std::size_t planted = 0, proof = 0, build = 0, checks = 0, comparison = 0, same = 0, missed = 0;
  void add(const Sentence& each) {
    ++planted;
    proof += each.proof.empty() ? 0U : 1U;
    build += each.build.empty() ? 0U : 1U;
    checks += each.checks.empty() ? 0U : 1U;
    comparison += each.comparison.empty() ? 0U : 1U;
    if (each.is_caught()) return;
    ++(uncaught().missed.contains(each.text()) ? missed : same);
  }
  [[nodiscard]] std::string row(std::string_view name, bool is_proven = true) const {
    return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", name, planted,
                       is_proven ? fmt::to_string(proof) : "–", build, checks, comparison, same,
                       missed);
  }
};

std::string table() {
  std::map<FaultKind, Counts> kinds;
  Counts all;
  for (const Sentence& each : sentences()) {
    kinds[each.kind].add(each);
    all.add(each);
  }
  std::string out =
      "| fault | planted | refused by the proof | no program | found by checks | other results | "
      "no difference | missed |\n|---|--:|--:|--:|--:|--:|--:|--:|\n";
  for (const auto& [kind, counts] : kinds) out += counts.row(name_of(kind), !is_around(kind));
  return out + all.row("all");
}

constexpr std::string_view kBegin = "<!-- faults: begin -->\n", kEnd = "<!-- faults: end -->";

void compare_with_documents() {
  const fs::path path = fs::path(WW_SOURCE_DIR) / "docs/evidence/trust.md";
  std::string text = text_of_file("docs/evidence/trust.md");
  const std::size_t begin = text.find(kBegin), end = text.find(kEnd);
  ASSERT_TRUE(begin != std::string::npos && end != std::string::npos) << path;
  const std::string seen = text.substr(begin + kBegin.size(), end - begin - kBegin.size());
  if (seen == table()) return;
  if (!is_blessing()) {
    ADD_FAILURE() << "docs/evidence/trust.md has\n"
                  << seen << "and it is\n"
                  << table() << "BLESS=1 writes it";
    return;
  }
  text.replace(begin + kBegin.size(), seen.size(), table());
  std::ofstream(path) << text;
}

// For people: WW_FAULTS=FILE gets every fault with what was said of it.
void list_faults() {
  const char* path = std::getenv("WW_FAULTS");
  if (path == nullptr) return;
  std::ofstream out(path);
  for (const Sentence& each : sentences())
    out << each.text() << "\n    proof: " << each.proof << "\n    build: " << each.build
        << "\n    checks: " << each.checks << "\n    comparison: " << each.comparison << "\n";
}

// One case: all look at the same faults, and trying them is nearly all the work.
TEST(Mutation, FaultsInRealPrograms) {
  list_faults();
  expect_that_someone_objects();
  expect_that_the_proof_objects();
  expect_that_checks_object();
  compare_with_documents();
}

}  // namespace
}  // namespace ww::test::mutation_test
