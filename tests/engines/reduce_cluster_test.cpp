// SPDX-License-Identifier: Apache-2.0
// Reductions of tiles that the CTAs of a cluster hold together: every op, many element types, clusters
// of up to 16 CTAs in one or more dimensions; who gets the result, replicas; reductions one after the
// other, in loops, with a workspace; of memory and into it; and what is declined.
#include "engines/elementwise_programs.h"
#include "engines/family.h"

namespace ww::test::reduce_cluster_test {
namespace {

struct ClusterCase {
  std::int64_t threads = 64;
  Extents cluster = {2};
  std::vector<Reg> regs = {};  // rows of inputs by `at`, the number of the thread in the cluster
  std::vector<std::string> calls = {};
  std::string target = "sm_90a";
};

std::int64_t ctas_of(const ClusterCase& each) { return product(each.cluster); }

// Two clusters, which have the same inputs and write each its outputs.
std::string source_of(const ClusterCase& each) {
  std::string matches, body;
  const std::int64_t all = each.threads * ctas_of(each);
  std::string params;
  const auto param = [&](const std::string& name, const Extents& shape, const std::string& dtype) {
    params += fmt::format("{}{}_ptr: T.handle", params.empty() ? "" : ", ", name);
    matches += fmt::format("    {} = T.match_buffer({}_ptr, {}, \"{}\")\n", name, name,
                           tuple(shape), dtype);
  };
  const auto line = [&](const std::string& text) { body += "    " + text + "\n"; };
  line("T.device_entry()");
  line("number = T.cluster_id([2])");
  std::string cluster;
  for (const std::int64_t extent : each.cluster) cluster += fmt::format("{}, ", extent);
  line(fmt::format("ranks = T.cta_id_in_cluster([{}])", cluster));
  std::string rank = each.cluster.size() == 1 ? "ranks" : "ranks[0]";
  for (std::size_t d = 1, below = 1; d < each.cluster.size(); ++d) {
    below *= static_cast<std::size_t>(each.cluster[d - 1]);
    rank += fmt::format(" + ranks[{}] * {}", d, below);
  }
  line(fmt::format("tid = T.thread_id([{}])", each.threads));
  line(fmt::format("rank: T.let = {}", rank));
  line(fmt::format("at: T.let = rank * {} + tid", each.threads));
  for (const Reg& reg : each.regs) {
    line(fmt::format("{} = T.alloc_buffer({}, \"{}\", scope=\"local\", layout={})", reg.name,
                     tuple(reg.shape), reg.dtype, tile(reg.layout)));
    param(reg.name + "_in", {all, reg.slots}, reg.dtype);
    line(fmt::format("{}_r = {}.local({})", reg.name, reg.name, reg.slots));
    line(fmt::format("for i in range({}):", reg.slots));
    line(fmt::format("    {}_r[i] = {}_in[{}, i]", reg.name, reg.name, reg.row));
  }
  for (const std::string& call : each.calls) line(call);
  for (const Reg& reg : each.regs) {
    param(reg.name + "_out", {2, all, reg.slots}, reg.dtype);
    line(fmt::format("for i in range({}):", reg.slots));
    line(fmt::format("    {}_out[number, at, i] = {}_r[i]", reg.name, reg.name));
  }
  return "from tvm.script import tirx as T\nfrom tvm.script.tirx import tile as Tx\n"
         "from tvm.tirx.layout import R, S, TileLayout, cbx, cby, cbz, tx\n\n@T.prim_func\ndef "
         "kernel(" +
         params + "):\n" + matches + body;
}

Program program_of(const ClusterCase& each) {
  const bool has_doubles =
      std::ranges::any_of(each.regs, [](const Reg& reg) { return reg.dtype == "float64"; });
  return {.source = source_of(each),
          .target = each.target,
          // Which NaN an operation on doubles gives is not specified.
          .inputs = has_doubles ? Inputs::Normal : Inputs::Bits};
}

// Three elements of each thread of two CTAs; the result in all of them.
ClusterCase row_of(const std::string& op, const std::string& dtype, const std::string& more = "") {
  const bool is_index = op.starts_with("arg");
  return {.regs = {reg("D", is_index ? "int32" : dtype, {1}, "S[1]", 1, "0"),
                   reg("A", dtype, {384}, "S[(2, 64, 3) : (1 @ cbx, 1 @ tx, 1)]", 3, "at")},
          .calls = {"Tx.cluster." + op + "(D, A" + more + ")"}};
}

TEST(ReduceCluster, OfAllTypes) {
  Family family("reductions of a cluster", Nvcc::Always);
  for (const std::string op : {"sum", "prod", "max", "min"})
    for (const std::string dtype :
         {"float32", "float16", "float64", "int32", "uint8", "int64", "uint64"}) {
      const bool has_accum = dtype.find("int") == std::string::npos;
      family.run(program_of(row_of(op, dtype, has_accum ? ", accum=True" : "")),
                 {.variant = "cluster"});
      family.count();
      if (op != "sum") continue;
      ClusterCase again = row_of(op, dtype);  // in turns
      again.calls = {"for it in range(5):", "    " + again.calls[0]};
      family.run(program_of(again), {.variant = "cluster"});
      family.count();
    }
  for (const std::string op : {"any", "all"}) {
    family.run(program_of(row_of(op, "bool")), {.variant = "cluster"});
    family.count();
  }
  for (const std::string op : {"argmax", "argmin"})
    for (const std::string dtype : {"float32", "int16", "uint32"}) {
      family.run(program_of(row_of(op, dtype)), {.variant = "cluster"});
      family.count();
    }
}

TEST(ReduceCluster, Layouts) {
  Family family("layouts of reductions of a cluster", Nvcc::Always);
  const std::vector<ClusterCase> cases = {
      // Each thread of 16 CTAs an element; a cluster in two and three dimensions.
      {.threads = 32,
       .cluster = {16},
       .regs = {reg("D", "float32", {1}, "S[1]", 1, "0"),
                reg("A", "float32", {512}, "S[(16, 32) : (1 @ cbx, 1 @ tx)]", 1, "at")},
       .calls = {"Tx.cluster.sum(D, A)"}},
      {.threads = 32,
       .cluster = {2, 3},
       .regs = {reg("D", "float32", {2}, "S[2 : 1 @ cbx]", 1, "rank % 2"),
                reg("A", "float32", {3, 2, 32}, "S[(3, 2, 32) : (1 @ cby, 1 @ cbx, 1 @ tx)]", 1,
                    "at")},
       .calls = {"Tx.cluster.sum(D, A, axes=(0, 2))"}},
      {.threads = 64,
       .cluster = {2, 2, 2},
       .regs = {reg("D", "float32", {1}, "S[1 : 1 @ tx] + 40 @ tx + 1 @ cbz", 1, "at"),
                reg("A", "float32", {512}, "S[(2, 2, 2, 64) : (1 @ cbx, 1 @ cbz, 1 @ cby, 1 @ tx)]",
                    1, "at")},
       .calls = {"Tx.cluster.sum(D, A)"}},
      // Columns of a tile whose rows the threads hold, results in several threads and CTAs.
      {.threads = 64,
       .cluster = {4},
       .regs = {reg("D", "float32", {4}, "S[4 : 1 @ cbx]", 1, "rank"),
                reg("A", "float32", {256, 4}, "S[(4, 64, 4) : (1 @ cbx, 1 @ tx, 1)]", 4, "at")},
       .calls = {"Tx.cluster.sum(D, A, axes=0)"}},
      {.threads = 64,
       .cluster = {4},
       .regs = {reg("D", "float32", {80}, "S[(16, 5) : (1 @ tx, 1)]", 5, "tid"),
                reg("A", "float32", {4, 80}, "S[(4, 80) : (1 @ cbx, 1)]", 80, "rank")},
       .calls = {"Tx.cluster.sum(D, A, axes=0)"}},
      // Rows of CTAs side by side, of two CTAs each: the elements that others hold, too, count once.
      {.threads = 32,
       .cluster = {4},
       .regs = {reg("D", "float32", {2}, "S[2 : 2 @ cbx] + R[2 : 1 @ cbx]", 1, "rank // 2"),
                reg("A", "float32", {2, 64}, "S[(2, 2, 32) : (2 @ cbx, 1 @ cbx, 1 @ tx)]", 1,
                    "at")},
       .calls = {"Tx.cluster.sum(D, A)"}},
      {.threads = 64,
       .cluster = {4},
       .regs = {reg("D", "float32", {1}, "S[1]", 1, "0"),
                reg("A", "float32", {128}, "S[(2, 64) : (1 @ cbx, 1 @ tx)] + R[2 : 2 @ cbx]", 1,
                    "rank % 2 * 64 + tid")},
       .calls = {"Tx.cluster.sum(D, A)"}},
      // One CTA has it all, another wants it.
      {.threads = 64,
       .cluster = {2},
       .regs = {reg("D", "float32", {1}, "S[1 : 1 @ cbx] + 1 @ cbx", 1, "at // 64"),
                reg("A", "float32", {64}, "S[64 : 1 @ tx] + 0 @ cbx", 1, "tid")},
       .calls = {"Tx.cluster.max(D, A)"}},
      // A cluster of one CTA.
      {.threads = 64,
       .cluster = {1},
       .regs = {reg("D", "float32", {1}, "S[1]", 1, "0"),
                reg("A", "float32", {64}, "S[64 : 1 @ tx]", 1, "tid")},
       .calls = {"Tx.cluster.sum(D, A)"}},
  };
  for (const ClusterCase& each : cases) {
    family.run(program_of(each), {.variant = "cluster"});
    family.count();
  }
}

// Scratch memory is used again: by the next call, by the next round, with other barriers between.
TEST(ReduceCluster, OneAfterTheOther) {
  Family family("reductions of a cluster one after the other");
  struct Row {
    std::vector<std::string> calls;
    std::size_t barriers;  // of the cluster, in PTX
  };
  const std::string sum = "Tx.cluster.sum(D, A, accum=True)";
  const std::string max = "Tx.cluster.max(D, A, accum=True)";
  const std::vector<Row> rows = {
      {{sum}, 1},
      {{sum, max}, 1},
      {{sum, "T.cuda.cluster_sync()", max}, 2},
      {{"if number == 1:", "    " + sum, max}, 1},
      {{sum, "for it in range(3):", "    " + sum, "    " + max, max}, 1},
      {{"for it in range(6):", "    " + sum}, 1},
      {{"for it in T.unroll(3):", "    " + sum}, 1},
      {{"for it in range(4):", "    " + sum, "    " + max}, 1},
      {{"for it in range(3):", "    for jt in range(it + 1):", "        " + sum}, 1},
      {{"for it in range(4):", "    " + sum, "    T.cuda.cluster_sync()"}, 2},
      {{"for it in range(4):", "    if number + it > 1:", "        " + sum, "    " + max}, 1},
      {{"for it in range(4):", "    " + sum, "    if number + it > 1:", "        break",
        "    " + max},
       1},
      // CTA 0 sends to CTA 1 and gets nothing from it.
      {{"for it in range(4):", "    Tx.cluster.sum(E, A, accum=True)"}, 3},
      {{"for it in range(4):", "    Tx.cluster.sum(E, A, accum=True)", "    " + sum}, 3},
      {{"for it in range(4):", "    Tx.cluster.sum(E, A, accum=True)", "    T.cuda.cluster_sync()"},
       3},
      {{"W = T.alloc_buffer((16,), \"float32\", scope=\"shared\")",
        "Tx.cluster.sum(D, A, workspace={\"scratch\": W})",
        "Tx.cluster.max(D, A, accum=True, workspace={\"scratch\": W})"},
       5},
  };
  for (const Row& row : rows) {
    ClusterCase each = row_of("sum", "float32");
    each.regs.push_back(reg("E", "float32", {1}, "S[1] + 1 @ cbx", 1, "0"));
    each.calls = row.calls;
    const Checked checked = family.run(program_of(each), {.variant = "cluster"});
    EXPECT_EQ(count_of(checked.ptx, "barrier.cluster.wait"), row.barriers) << checked.source;
    family.count();
  }
}

/// A source of 4 x `columns` elements and its fold along the columns, in these memories.
struct MemoryCase {
  std::string from, to;
  std::string op = "sum", dtype = "float32", more = {};
  std::int64_t columns = 96;
  std::string cluster = "2", threads = "64";
  std::vector<std::string> calls = {};  // CALL stands for the reduction; empty: only that

  [[nodiscard]] std::string result() const { return op.starts_with("arg") ? "int32" : dtype; }
};

// Each of two clusters writes its results, and each CTA, if they are in its shared memory or registers.
Program program_of(const MemoryCase& each) {
  std::string body;
  const auto line = [&](const std::string& text) { body += "    " + text + "\n"; };
  const auto source =
      each.from == "global" ? "A[0:4, 0:" + std::to_string(each.columns) + "]" : "s";
  const auto result = each.to == "global" ? "O[number, 0, 0:4]" : "d";
  std::string call =
      fmt::format("Tx.cluster.{}({}, {}, axes=1{})", each.op, result, source, each.more);
  if (each.from != "global") {
    line(fmt::format(
        "s = T.alloc_buffer((4, {}), \"{}\", scope=\"{}\"{})", each.columns, each.dtype, each.from,
        each.from == "local" ? ", layout=TileLayout(S[(4, 2, 16, 3) : (3, 1 @ cbx, 1 @ tx, 1)])"
                             : ""));
  }
  if (each.from == "shared") line("Tx.cta.copy(s, A)");
  if (each.from == "local") {
    line("r = s.local(12)");
    line("for i in range(12):");
    line("    r[i] = A[i // 3, rank * 48 + tid % 16 * 3 + i % 3]");
  }
  if (each.to != "global") {
    line(fmt::format("d = T.alloc_buffer((4,), \"{}\", scope=\"{}\")", each.result(), each.to));
    line("Tx.cta.fill(d, 3)");
  }
  line("T.cuda.cta_sync()");
  for (std::string text : each.calls.empty() ? std::vector<std::string>{"CALL"} : each.calls) {
    if (const std::size_t at = text.find("CALL"); at != std::string::npos)
      text.replace(at, 4, call);
    line(text);
  }
  line("T.cuda.cta_sync()");
  if (each.to != "global") line("Tx.cta.copy(O[number, rank, 0:4], d)");
  return {.source = fmt::format(R"(from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, cbx, tx

@T.prim_func
def kernel(A: T.Buffer((4, {0}), "{1}"), O: T.Buffer((2, 4, 4), "{2}")):
    T.device_entry()
    number = T.cluster_id([2])
    ranks = T.cta_id_in_cluster([{3}])
    tid = T.thread_id([{4}])
    rank: T.let = {5}
)",
                                each.columns, each.dtype, each.result(), each.cluster, each.threads,
                                each.cluster == "2, 2" ? "ranks[0] + ranks[1] * 2" : "ranks") +
                    body};
}

// Operands in shared and global memory: the CTAs share the source, and each has all of the result.
TEST(ReduceCluster, OfMemory) {
  Family family("reductions of memory by a cluster", Nvcc::Always);
  std::vector<MemoryCase> cases;
  for (const std::string from : {"global", "shared", "local"})
    for (const std::string to : {"global", "shared", "local"})
      if (from != "local" || to != "local") cases.push_back({from, to});
  cases.push_back({"global", "local", "max", "float16"});
  cases.push_back({"shared", "global", "argmax", "int16"});
  cases.push_back({"global", "shared", "sum", "bfloat16", ", accum=True", 500, "2, 2", "96"});
  cases.push_back({"shared", "shared", "sum", "int32", ", accum=True", 33, "4", "64"});
  cases.push_back({"global",
                   "local",
                   "sum",
                   "float32",
                   ", accum=True",
                   128,
                   "2",
                   "64",
                   {"for it in range(5):", "    CALL"}});
  cases.push_back({"shared",
                   "shared",
                   "sum",
                   "float32",
                   ", accum=True",
                   128,
                   "4",
                   "32",
                   {"for it in range(3):", "    CALL", "    T.cuda.cta_sync()"}});
  cases.push_back({"global",
                   "global",
                   "sum",
                   "float32",
                   ", accum=True",
                   64,
                   "2",
                   "64",
                   {"Tx.cluster.sum(O[number, 0, 0:4], A, axes=1)", "T.cuda.cta_sync()",
                    "for it in range(3):", "    CALL", "    T.cuda.cta_sync()"}});
  for (const MemoryCase& each : cases) {
    const Checked checked = family.run(program_of(each));
    EXPECT_EQ(count_of(checked.ptx, "barrier.cluster.wait"), 1U) << checked.source;
    family.count();
  }
}

// What cannot be shared, or held.
TEST(ReduceCluster, DeclinesOfMemory) {
  const auto why = [](const MemoryCase& each, std::size_t call = 1) {
    return verdict_on(check(program_of(each)), call, "cluster");
  };
  EXPECT_EQ(why({"global", "local", "sum", "float32", "", 7, "3"}),
            "[axes] no extent of `A` is a multiple of the 3 CTAs of the cluster");
  EXPECT_EQ(
      why({"global", "local", "argmax", "int64"}, 2),  // behind the copy
      "[dtype] `A_parts` has elements of type int64, expected at most 32 bits beside an index");
  EXPECT_EQ(why({"global", "local", "sum", "float32", "", 65536}),
            "[size] a thread would hold 2048 registers of `A`, and has 255; a loop over smaller "
            "tiles, with accum=True, takes fewer");
}

// The line of a text that has all of these.
std::string line_with(const std::string& text, const std::vector<std::string>& parts) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    const auto has = [&](const std::string& part) { return line.find(part) != std::string::npos; };
    if (std::ranges::all_of(parts, has)) return line;
    at = end + 1;
  }
  return {};
}

// What the virtual GPU says to turns that are wrong: the count, the half, no bytes expected.
TEST(ReduceCluster, FaultsOfTurnsShow) {
  ClusterCase each = row_of("sum", "float32");
  each.calls = {"for it in range(6):", "    Tx.cluster.sum(D, A, accum=True)"};
  const Program right = program_of(each);
  const Checked checked = check(right);
  ASSERT_TRUE(checked.right()) << checked.explain();
  const auto with = [&](const std::vector<std::string>& line, const std::string& from,
                        const std::string& to) {
    Program program = right;
    const std::string before = line_with(checked.ptx, line);
    std::string after = before;
    const std::size_t at = after.find(from);
    EXPECT_NE(at, std::string::npos) << checked.ptx;
    if (at != std::string::npos) after.replace(at, from.size(), to);
    program.edits = {{before, after}};
    return check(program).stage;
  };
  EXPECT_EQ(with({"and.b32", ", 3;"}, ", 3;", ", 1;"), Stage::Device);
  EXPECT_EQ(with({"and.b32", ", 3;"}, ", 3;", ", 2;"), Stage::Device);
  EXPECT_EQ(with({"mbarrier.arrive.expect_tx"}, ", 8;", ", 4;"), Stage::Device);
}

TEST(ReduceCluster, OnAllTargets) {
  Family family("reductions of a cluster on all targets");
  for (const std::string target :
       {"sm_90", "sm_90a", "sm_100a", "sm_103a", "sm_110a", "sm_120a", "sm_121a"}) {
    ClusterCase each = row_of("sum", "bfloat16");
    each.target = target;
    family.run(program_of(each), {.variant = "cluster"});
    family.count();
  }
}

TEST(ReduceCluster, Declines) {
  const auto verdict = [](const ClusterCase& each, const std::string& variant = "cluster") {
    return verdict_on(check(program_of(each)), 0, variant);
  };
  ClusterCase old = row_of("sum", "float32");
  old.target = "sm_89";
  EXPECT_TRUE(verdict(old).starts_with("[arch] shared memory of other CTAs needs "))
      << verdict(old);
  ClusterCase narrow = row_of("sum", "float32");
  narrow.threads = 40;
  narrow.regs[1] = reg("A", "float32", {80}, "S[(2, 40) : (1 @ cbx, 1 @ tx)]", 1, "at");
  EXPECT_EQ(verdict(narrow), "[threads] 40 threads are not whole warps");
  EXPECT_EQ(verdict(row_of("sum", "float32"), "warps"),
            "[scope] cluster scope, expected warpgroup or cta");
  ClusterCase small = row_of("sum", "float32", ", workspace={\"scratch\": W}");
  small.calls.insert(small.calls.begin(),
                     "W = T.alloc_buffer((3,), \"float32\", scope=\"shared\")");
  EXPECT_EQ(verdict(small), "[scratch] workspace `W` has 12 bytes, expected 16");
  ClusterCase of_cta = row_of("sum", "float32");
  of_cta.calls = {"Tx.cta.sum(D, A)"};
  EXPECT_EQ(verdict(of_cta), "[scope] cta scope, expected cluster");
  EXPECT_EQ(verdict(of_cta, "warps"), "[axes] `A` is spread over `cbx`, beyond the CTA");
  // Without a cluster in the launch.
  const Program alone{.source = R"(from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import R, S, TileLayout, cbx, cby, cbz, tx

@T.prim_func
def kernel(O_ptr: T.handle):
    O = T.match_buffer(O_ptr, (32,), "float32")
    T.device_entry()
    T.cta_id([1])
    tid = T.thread_id([32])
    A = T.alloc_buffer((32,), "float32", scope="local", layout=TileLayout(S[32 : 1 @ tx]))
    D = T.alloc_buffer((1,), "float32", scope="local")
    A_r = A.local(1)
    A_r[0] = 1.0
    Tx.cluster.sum(D, A)
    O[tid] = D[0]
)"};
  EXPECT_EQ(verdict_on(check(alone), 0, "cluster"),
            "[scope] the launch has no clusters, expected `T.cta_id_in_cluster([n])`");
}

}  // namespace
}  // namespace ww::test::reduce_cluster_test
