// SPDX-License-Identifier: Apache-2.0
// Loops over `T.vectorized`: which accesses become vectors, in both emitters; the same results as
// round by round; and who goes round by round, with the reason.
#include "emit/cuda/emit.h"
#include "engines/family.h"

namespace ww::test::vectorized_test {
namespace {

// Buffers A, B and C of a kernel of 64 threads in two CTAs, and the loop.
std::string kernel(const std::string& dtype, const std::string& shape, const std::string& body,
                   const std::string& before = {}) {
  return fmt::format(
      "from tvm.script import tirx as T\nfrom tvm.script.tirx import tile as Tx\n\n"
      "@T.prim_func\n"
      "def kernel(A: T.Buffer(({1}), \"{0}\"), C: T.Buffer((64,), \"{0}\"), "
      "B: T.Buffer(({1}), \"{0}\")):\n"
      "    T.device_entry()\n    bx = T.cta_id([2])\n    tx = T.thread_id([64])\n"
      "    i: T.let = bx * 64 + tx\n{2}{3}",
      dtype, shape, before, body);
}

// One line for each access, or the reason.
std::string loops_of(const Checked& checked) {
  std::string out;
  for (const lower::VectorLoop& loop : checked.report.vectorized) {
    if (!loop.reason.empty()) out += loop.reason + "\n";
    for (const lower::VectorAccess& each : loop.accesses)
      out += fmt::format("{} {} {}{}\n", each.is_store ? "st" : "ld", each.buffer, each.bits,
                         each.reason.empty() ? "" : ": " + each.reason);
  }
  return out;
}

struct Case {
  std::string dtype, shape, body;
  std::string loops;                  // what became of the accesses
  std::string load = {}, store = {};  // instructions
  std::size_t loads = 1, stores = 1;  // how many
};

void expect_counts(const Checked& checked, const Case& c) {
  EXPECT_EQ(loops_of(checked), c.loops) << checked.source;
  if (!c.load.empty()) {
    EXPECT_EQ(count_of(checked.ptx, c.load), c.loads) << c.load << checked.ptx;
    EXPECT_EQ(count_of(checked.ptx, "ld.global"), c.loads) << checked.ptx;
  }
  if (!c.store.empty()) {
    EXPECT_EQ(count_of(checked.ptx, c.store), c.stores) << c.store << checked.ptx;
    EXPECT_EQ(count_of(checked.ptx, "st.global"), c.stores) << checked.ptx;
  }
}

TEST(Vectorized, Copies) {
  Family family("vectorized copies", Nvcc::Always);
  const std::string row =
      "    for v in T.vectorized({0}):\n        B[i * {0} + v] = A[i * {0} + v]\n";
  const auto body = [&](int n) { return fmt::format(fmt::runtime(row), n); };
  const std::vector<Case> cases = {
      {"float32", "512,", body(4), "ld A 128\nst B 128\n", "ld.global.v4", "st.global.v4"},
      {"float32", "256,", body(2), "ld A 64\nst B 64\n", "ld.global.b64", "st.global.b64"},
      {"float32", "1024,", body(8), "ld A 128\nst B 128\n", "ld.global.v4", "st.global.v4", 2, 2},
      {"float32", "768,", body(6), "ld A 64\nst B 64\n", "ld.global.b64", "st.global.b64", 3, 3},
      {"float16", "1024,", body(8), "ld A 128\nst B 128\n", "ld.global.v4.b32", "st.global.v4.b32"},
      {"int8", "2048,", body(16), "ld A 128\nst B 128\n", "ld.global.v4.b32", "st.global.v4.b32"},
      {"uint16", "256,", body(2), "ld A 32\nst B 32\n", "ld.global.b32", "st.global.b32"},
      {"float64", "256,", body(2), "ld A 128\nst B 128\n", "ld.global.v", "st.global.v"},
      {"float32", "128, 4", "    for v in T.vectorized(4):\n        B[i, v] = A[127 - i, v]\n",
       "ld A 128\nst B 128\n", "ld.global.v4", "st.global.v4"}};
  for (const Case& c : cases) {
    expect_counts(family.run({.source = kernel(c.dtype, c.shape, c.body)}), c);
    family.count();
  }
}

// Values are computed by lanes; a part of the accesses may stay with single elements.
TEST(Vectorized, Bodies) {
  Family family("vectorized bodies", Nvcc::Always);
  const std::vector<Case> cases = {
      {"float32", "512,",
       "    for v in T.vectorized(4):\n        x: T.let = A[i * 4 + v]\n"
       "        B[i * 4 + v] = x * x + C[v]\n",
       "ld A 128\nld C 128\nst B 128\n", "ld.global.v4", "st.global.v4", 2},
      {"float16", "512,",
       "    for v in T.vectorized(4):\n        k: T.let = i * 4 + v\n"
       "        B[k] = T.Select(A[k] > C[0], A[k], C[v])\n",
       "ld A 64\nld C 16: it is the same element in all rounds\nld C 64\nst B 64\n"},
      {"float32", "512,",
       "    for v in T.vectorized(4):\n        B[i * 4 + v] = A[i * 4 + 3 - v]\n",
       "ld A 32: its elements do not follow each other\nst B 128\n", "ld.global.b32",
       "st.global.v4", 4, 1},
      {"float32", "512,",
       "    for v in T.vectorized(4):\n"
       "        B[i * 4 + v] = T.if_then_else(i * 4 + v > 0, A[i * 4 + v - 1], T.float32(0))\n",
       "ld A 32: not every round makes it\nst B 128\n", "", "st.global.v4"},
      // In place, each round its own element; and two stores.
      {"int32", "512,",
       "    for v in T.vectorized(4):\n        B[i * 4 + v] = A[i * 4 + v]\n"
       "        B[i * 4 + v] = B[i * 4 + v] + v\n",
       "ld A 128\nst B 128\nld B 128\nst B 128\n"}};
  for (const Case& c : cases) {
    expect_counts(family.run({.source = kernel(c.dtype, c.shape, c.body)}), c);
    family.count();
  }
}

TEST(Vectorized, SharedMemoryAndRegisters) {
  Family family("vectorized, in shared memory and registers", Nvcc::Always);
  const Checked checked = family.run(
      {.source = kernel("float32", "128, 8",
                        "    s = T.alloc_shared((64, 8), \"float32\")\n    r = T.alloc_local((8,), "
                        "\"float32\")\n"
                        "    for v in T.vectorized(8):\n        s[tx, v] = A[i, v]\n"
                        "    T.cuda.cta_sync()\n"
                        "    for v in T.vectorized(8):\n        r[v] = s[63 - tx, v] * 2.0\n"
                        "    for v in T.vectorized(8):\n        B[i, v] = r[7 - v]\n")});
  EXPECT_EQ(loops_of(checked), "ld A 128\nst s 128\nld s 128\nst B 128\n");
  EXPECT_EQ(count_of(checked.ptx, "st.shared.v4"), 2U) << checked.ptx;
  EXPECT_EQ(count_of(checked.ptx, "ld.shared.v4"), 2U) << checked.ptx;
  family.count();
}

// CUDA C++ moves the same bytes at a time.
TEST(Vectorized, InCuda) {
  const Checked checked = check({.source = kernel("float32", "512,",
                                                  "    for v in T.vectorized(4):\n"
                                                  "        B[i * 4 + v] = A[i * 4 + v] * 2.0\n")});
  ASSERT_TRUE(checked.right()) << checked.explain();
  const auto cuda = emit::cuda_source(checked.ran->lowered,
                                      {.target = {.arch = target::parse_arch("sm_90a").value()}});
  ASSERT_TRUE(cuda.has_value());
  const std::string body = cuda->substr(cuda->find("__global__"));
  EXPECT_EQ(count_of(body, "copy_128b("), 2U) << body;
}

// What stays round by round, or with single elements.
TEST(Vectorized, Reasons) {
  Family family("vectorized loops that are not");
  const std::vector<Case> cases = {
      {"float32", "512,",
       "    for v in T.vectorized(4):\n        B[i * 4 + v] = T.float32(1)\n"
       "        if v > 1:\n            B[i * 4 + v] = A[i * 4 + v]\n",
       "the body has a statement `If`, expected stores and names\n"},
      {"float32", "1024,",
       "    B[i * 8] = A[i]\n    for v in T.vectorized(4):\n"
       "        B[i * 8 + v + 1] = B[i * 8 + v] + 1.0\n",
       "a round may read what another one writes, in `B`\n"},
      {"float32", "512,", "    for v in T.vectorized(4):\n        B[i] = A[i * 4 + v]\n",
       "a round may overwrite what another one writes, in `B`\n"},
      {"float32", "512,", "    for v in T.vectorized(3):\n        B[i * 4 + v] = A[i * 4 + v]\n",
       "ld A 32: 3 rounds do not pair up\nst B 32: 3 rounds do not pair up\n"},
      {"float32", "513,",
       "    for v in T.vectorized(4):\n        B[i * 4 + v + 1] = A[i * 4 + v]\n",
       "ld A 128\nst B 32: its address is known to be a multiple of 4 bytes only, expected 16\n"},
      {"float32", "513,",
       "    for v in T.vectorized(1, 8, step=2):\n        B[i * 4 + v // 2] = A[i * 4 + v // 2]\n",
       "the variable does not count one by one\n"}};
  for (const Case& c : cases) {
    expect_counts(family.run({.source = kernel(c.dtype, c.shape, c.body)}), c);
    family.count();
  }
}

// The first line of the PTX with that opcode.
std::string line_with(const Checked& checked, const std::string& opcode) {
  const std::size_t at = checked.ptx.find(opcode);
  return at == std::string::npos ? "" : checked.ptx.substr(at, checked.ptx.find('\n', at) - at);
}

// The registers in braces, each in the place before its own.
std::string turned(const std::string& line) {
  const std::size_t open = line.find('{') + 1, comma = line.find(',', open), end = line.find('}');
  return line.substr(0, open) + line.substr(comma + 2, end - comma - 2) + ", " +
         line.substr(open, comma - open) + line.substr(end);
}

// An access moves what the loop says: lanes in other places, a vector beside the right one and one
// that is left out are found by the virtual GPU, against the evaluator.
TEST(Vectorized, FaultsAreFound) {
  const std::vector<std::string> bodies = {
      "    for v in T.vectorized(4):\n        B[i * 4 + v] = A[i * 4 + v]\n",
      "    for v in T.vectorized(4):\n        S_[tx * 4 + v] = A[i * 4 + v]\n"
      "    for v in T.vectorized(4):\n        B[i * 4 + v] = S_[tx * 4 + v] + S_[tx * 4]\n"};
  const std::string memory = "    S_ = T.alloc_buffer((256,), \"float32\", scope=\"shared\")\n";
  int planted = 0;
  for (const std::string& body : bodies) {
    Program program{.source = kernel("float32", "512,", body, memory)};
    const Checked right = check(program);
    ASSERT_TRUE(right.right()) << right.explain();
    for (const std::string opcode :
         {"ld.global.v4", "st.global.v4", "ld.shared.v4", "st.shared.v4"}) {
      const std::string line = line_with(right, opcode);
      if (line.empty()) continue;
      std::string beside = line;
      beside.insert(beside.find(']'), opcode.starts_with("ld") ? "+4" : "+16");
      for (const std::string& other : {turned(line), beside, std::string()}) {
        program.edits = {{line, other}};
        EXPECT_EQ(check(program).stage, Stage::Device) << line << " as " << other;
        ++planted;
      }
    }
  }
  EXPECT_EQ(planted, 3 * (2 + 4));
}

}  // namespace
}  // namespace ww::test::vectorized_test
