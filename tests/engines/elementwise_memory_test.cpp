// SPDX-License-Identifier: Apache-2.0
// Elementwise primitives on shared and global memory, mixed with registers: every primitive, every
// mix, stretched operands, in place, vectors as wide as all operands allow, and what is declined.
#include <algorithm>

#include "engines/elementwise_programs.h"
#include "engines/family.h"

namespace ww::test::elementwise_memory_test {
namespace {

using Names = std::vector<std::string>;

// --- programs ------------------------------------------------------------------------------------

/// An operand: "global", "shared" or "local", and its layout (of registers in notation).
struct Place {
  std::string name, memory, dtype = "float32";
  Extents shape = {32, 8};
  std::string layout = {};
  std::int64_t registers = 8;
  std::string row = "tid";  // of its input, by thread: what replicas share
};

struct MemoryCase {
  std::int64_t threads = 32;
  std::vector<Place> places = {};  // the destination first
  Names calls = {};                // with scopes: "Tx.warp.add(D, A, B)"
  Inputs inputs = Inputs::Normal;
  double tolerance = 0;
  std::string target = "sm_90a";
  Scalars scalars = {};
};

// The destination has contents before, so that stray writes show.
void declare(KernelText& text, const Place& place, bool is_dst, std::int64_t threads) {
  const std::string& name = place.name;
  if (place.memory == "global") {
    text.param(name, place.shape, place.dtype);
    if (is_dst) text.param(name + "_in", place.shape, place.dtype);
    if (is_dst) text.for_elements(place.shape, name, name + "_in");
    return;
  }
  const bool is_local = place.memory == "local";
  const std::string layout = is_local ? tile(place.layout) : place.layout;
  text.line(fmt::format("{} = T.alloc_buffer({}, \"{}\", scope=\"{}\"{}{})", name,
                        tuple(place.shape), place.dtype, place.memory,
                        layout.empty() ? "" : ", layout=", layout));
  text.param(name + "_in", is_local ? Extents{threads, place.registers} : place.shape, place.dtype);
  if (!is_local) return text.for_elements(place.shape, name, name + "_in");
  text.line(fmt::format("{}_r = {}.local({})", name, name, place.registers));
  text.line(fmt::format("for i in range({}):", place.registers));
  text.line(fmt::format("    {}_r[i] = {}_in[{}, i]", name, name, place.row));
}

void dump(KernelText& text, const Place& place, std::int64_t threads) {
  if (place.memory == "global") return;
  const std::string out = place.name + "_out";
  const bool is_local = place.memory == "local";
  text.param(out, is_local ? Extents{threads, place.registers} : place.shape, place.dtype);
  if (is_local) return text.for_registers(out, place.name + "_r", place.registers, true);
  text.for_elements(place.shape, out, place.name);
}

Program program_of(const MemoryCase& each) {
  KernelText text(each.threads, "float32");
  for (const auto& [name, value] : each.scalars) text.scalar(name);
  for (const Place& place : each.places)
    declare(text, place, &place == each.places.data(), each.threads);
  text.sync();
  for (const std::string& call : each.calls) text.line(call);
  text.sync();
  dump(text, each.places[0], each.threads);
  return {.source = text.text(),
          .target = each.target,
          .scalars = each.scalars,
          .inputs = each.inputs,
          .tolerance = each.tolerance,
          .is_approximate = each.tolerance > 0};
}

/// Rows of 8 elements, a row in each thread where they are in registers.
Place rows(const std::string& name, const std::string& memory, const std::string& dtype,
           const std::string& scope, std::int64_t unit) {
  const std::string axis = scope == "warp" ? "laneid" : scope == "wg" ? "tid_in_wg" : "tx";
  return {name,
          memory,
          dtype,
          {unit, 8},
          memory == "local" ? fmt::format("S[({}, 8) : (1 @ {}, 1)]", unit, axis) : ""};
}

// --- every primitive, every mix ------------------------------------------------------------------

struct Op {
  std::string call;
  std::string to = "float32", from = "float32";
  double tolerance = 0;
};

std::vector<Op> ops() {
  std::vector<Op> out;
  for (const std::string name : {"add", "sub", "mul", "fdiv", "maximum", "minimum"})
    out.push_back({name + "(D, A, B)"});
  for (const std::string name :
       {"sqrt", "reciprocal", "abs", "neg", "relu", "floor", "ceil", "round", "cast"})
    out.push_back({name + "(D, A)"});
  for (const std::string name : {"exp", "exp2", "log2", "silu", "log", "log1p", "expm1", "rsqrt",
                                 "sin", "cos", "tanh", "sigmoid", "erf", "gelu", "gelu_tanh"})
    out.push_back({name + "(D, A)", "float32", "float32", 2e-6});
  out.push_back({"pow(D, A, B)", "float32", "float32", 1e-5});
  for (const std::string name : {"equal", "not_equal", "less", "less_equal", "greater",
                                 "greater_equal", "logical_and", "logical_or", "logical_xor"})
    out.push_back({name + "(D, A, B)", "bool"});
  out.push_back({"logical_not(D, A)", "bool"});
  for (const std::string name :
       {"bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"})
    out.push_back({name + "(D, A, B)", "int32", "int32"});
  out.push_back({"bitwise_not(D, A)", "int32", "int32"});
  for (const std::string call : {"fma(D, A, B, D)", "select(D, A, B, D)", "where(D, D, A, B)",
                                 "clamp(D, D, A, B)", "fma(D, A, 2.5, B)", "exp2(D, A, B, 0.5)"})
    out.push_back({call, "float32", "float32", call.starts_with("exp2") ? 2e-6 : 0});
  return out;
}

TEST(ElementwiseMemory, EveryPrimitive) {
  Family family("elementwise primitives on memory", Nvcc::Always);
  const std::vector<Names> mixes = {{"global", "global", "shared"}, {"shared", "shared", "local"},
                                    {"local", "global", "shared"},  {"shared", "local", "global"},
                                    {"global", "local", "local"},   {"shared", "global", "global"}};
  std::size_t next = 0;
  for (const Op& op : ops()) {
    const Names& mix = mixes[next++ % mixes.size()];
    MemoryCase each{.calls = {"Tx.warp." + op.call}, .tolerance = op.tolerance};
    each.places = {rows("D", mix[0], op.to, "warp", 32), rows("A", mix[1], op.from, "warp", 32),
                   rows("B", mix[2], op.from, "warp", 32)};
    const bool is_whole = op.from == "int32";
    each.inputs = is_whole ? Inputs::Bits : Inputs::Normal;
    family.run(program_of(each), {.variant = "mixed"});
    family.count();
  }
}

TEST(ElementwiseMemory, EveryMixAndScope) {
  Family family("mixes of memories", Nvcc::Always);
  const Names memories = {"global", "shared", "local"};
  for (const UnitOfRows& unit :
       {UnitOfRows{"warp", 32}, UnitOfRows{"wg", 128}, UnitOfRows{"cta", 96}})
    for (const std::string& d : memories)
      for (const std::string& a : memories)
        for (const std::string& b : memories) {
          if (d == "local" && a == "local" && b == "local") continue;
          MemoryCase each{.threads = unit.threads,
                          .calls = {prefix_of(unit.scope) + "sub(D, A, B)"}};
          const std::string b_type = unit.scope == "wg" ? "float16" : "float32";
          each.places = {rows("D", d, "float32", unit.scope, unit.threads),
                         rows("A", a, "float32", unit.scope, unit.threads),
                         rows("B", b, b_type, unit.scope, unit.threads)};
          family.run(program_of(each), {.variant = "mixed"});
          family.count();
        }
}

// Threads by themselves have no barrier.
TEST(ElementwiseMemory, ThreadsByThemselves) {
  Family family("elementwise primitives of single threads");
  MemoryCase each{.calls = {"Tx.mul(D[tid, 0:8], A[tid, 0:8], B[tid, 0:8])"}};
  each.places = {rows("D", "shared", "float32", "warp", 32),
                 rows("A", "global", "float32", "warp", 32),
                 rows("B", "shared", "float32", "warp", 32)};
  const Checked checked =
      family.run(program_of(each), {.variant = "mixed", .vector_bits = 128, .rounds = 2});
  EXPECT_EQ(count_of(checked.ptx, "bar."), 2U) << checked.ptx;  // the program's own
  family.count();
}

// --- vectors -------------------------------------------------------------------------------------

struct Wide {
  MemoryCase each;
  Expected expected;
};

Place whole(const std::string& name, const std::string& memory, Extents shape,
            const std::string& dtype = "float32", const std::string& layout = {}) {
  return {name, memory, dtype, std::move(shape), layout};
}

std::vector<Wide> stretched_cases() {
  const Place x = whole("D", "shared", {64, 64});
  return {
      // A row for all: read once, before the rounds.
      {{128, {x, whole("A", "global", {64})}, {"Tx.cta.add(D, D, A)"}},
       {"mixed", "ld.global.v4.b32", 1, 128, 8}},
      // A number for each row: one load for each vector.
      {{128, {x, whole("A", "shared", {64, 1})}, {"Tx.cta.mul(D, D, A)"}},
       {"mixed", "ld.shared.b32", 8, 128, 8}},
      {{128, {x, whole("A", "global", {1, 64})}, {"Tx.cta.sub(D, A, D)"}},
       {"mixed", "st.shared.v4.b32", 8, 128, 8}},
      // One number for all.
      {{128, {x, whole("A", "global", {1})}, {"Tx.cta.maximum(D, D, A)"}},
       {"mixed", "ld.global.b32", 1, 128, 8}},
      {{128,
        {whole("D", "global", {4, 8, 16}), whole("A", "shared", {8, 1})},
        {"Tx.cta.add(D, D, A)"}},
       {"mixed", "st.global.v4.b32", 1, 128, 1}},
      // A row for all beside registers: pairs, as the fragment has them.
      {{32,
        {{"D", "local", "float32", {16, 8}, "S[(2, 8, 4, 2) : (2, 4 @ laneid, 1 @ laneid, 1)]", 4},
         whole("A", "global", {8})},
        {"Tx.warp.add(D, D, A)"}},
       {"mixed", "ld.global.v2.b32", 1, 64, 2}},
      {{32,
        {whole("D", "shared", {16, 8}),
         {"A",
          "local",
          "float32",
          {16, 1},
          "S[(2, 8, 1) : (1, 4 @ laneid, 2)] + R[4 : 1 @ laneid]",
          2,
          "lane // 4"}},
        {"Tx.warp.mul(D, D, A)"}},
       {"mixed"}}};
}

std::vector<Wide> vector_cases() {
  const Place halves = whole("D", "global", {64, 64}, "float16");
  const Place x = whole("D", "shared", {64, 64});
  return {
      // As many as the widest type has in 16 bytes.
      {{128, {halves, whole("A", "shared", {64, 64})}, {"Tx.cta.cast(D, A)"}},
       {"mixed", "st.global.v2.b32", 8, 128, 8}},
      {{128, {halves, whole("A", "shared", {64, 64}, "float16")}, {"Tx.cta.add(D, D, A)"}},
       {"mixed", "ld.shared.v4.b32", 4, 128, 4}},
      {{128,
        {halves, whole("A", "shared", {64, 64}, "float16", swizzled(3, 3, 3, "S[64, 64]"))},
        {"Tx.cta.add(D, D, A)"}},
       {"mixed", "ld.shared.v4.b32", 4, 128, 4}},
      // Bytes beside words.
      {{128,
        {whole("D", "shared", {64, 64}, "bool"), whole("A", "global", {64, 64})},
        {"Tx.cta.less(D, A, 0)"}},
       {"mixed", "st.shared.b32", 8, 128, 8}},
      // Columns that begin anywhere.
      {{128, {x, whole("A", "global", {64, 65})}, {"Tx.cta.add(D, D, A[0:64, 1:65])"}},
       {"mixed", "ld.global.b32", 32, 32, 32}},
      {{128,
        {x, whole("A", "global", {64, 66})},
        {"Tx.cta.add(D[0:64, 2:34], D[0:64, 2:34], A[0:64, 2:34])"}},
       {"mixed", "ld.global.v2.b32", 8, 64, 8}},
      // Rows turned into columns.
      {{128,
        {x, whole("A", "shared", {64, 64}, "float32", tile("S[(64, 64) : (1, 65)]"))},
        {"Tx.cta.add(D, D, A)"}},
       {"mixed", "ld.shared.b32", 64, 32, 32}},
      // Fewer threads in the last round, and in the only one.
      {{96, {x, whole("A", "global", {64, 64})}, {"Tx.cta.add(D, D, A)"}},
       {"mixed", "ld.global.v4.b32", 11, 128, 11}},
      {{96, {x, whole("A", "global", {64, 64})}, {"Tx.cta.add(D[0:4, :], D[0:4, :], A[8:12, :])"}},
       {"mixed", "ld.global.v4.b32", 1, 128, 1}},
      // More rounds than are unrolled.
      {{32, {whole("D", "global", {64, 64}), whole("A", "shared", {64})}, {"Tx.cta.mul(D, D, A)"}},
       {"mixed", "st.global.v4.b32", 32, 128, 32}}};
}

std::vector<Wide> runtime_cases() {
  const Place x = whole("D", "global", {64, 64});
  const Place ring = whole("D", "shared", {4, 16, 32});
  MemoryCase start{64,
                   {x, whole("A", "global", {64, 64})},
                   {"Tx.cta.add(D[n * 16:n * 16 + 16, 0:64], A[n:n + 16, 0:64], n)"}};
  start.scalars = {{"n", 2}};
  MemoryCase stage{64,
                   {ring, whole("A", "global", {32})},
                   {"Tx.cta.add(D[n, 0:16, 0:32], D[n, 0:16, 0:32], A)"}};
  stage.scalars = {{"n", 3}};
  return {{start, {"mixed", "st.global.v4.b32", 4, 128, 4}},
          {stage, {"mixed", "st.shared.v4.b32", 2, 128, 2}}};
}

TEST(ElementwiseMemory, Vectors) {
  Family family("vectors of elementwise primitives", Nvcc::Always);
  for (const auto& cases : {stretched_cases(), vector_cases(), runtime_cases()})
    for (const Wide& wide : cases) {
      family.run(program_of(wide.each), wide.expected);
      family.count();
    }
}

TEST(ElementwiseMemory, BankConflictsAreCounted) {
  MemoryCase each{128,
                  {whole("D", "shared", {64, 64}),
                   {"A", "local", "float32", {64, 64}, "S[(64, 2, 32) : (2 @ tx, 1 @ tx, 1)]", 32}},
                  {"Tx.cta.mul(D, A, 2.0)"}};
  const Checked checked = check(program_of(each));
  ASSERT_TRUE(checked.right()) << checked.explain();
  const lower::PlanReport& plan = checked.call(0).plan;
  ASSERT_TRUE(plan.wavefronts.has_value());
  EXPECT_EQ(plan.wavefronts->needed, 1024);
  EXPECT_EQ(plan.wavefronts->ideal, 128);
  EXPECT_NE(plan.remedy.find("128-byte swizzle"), std::string::npos) << plan.remedy;
}

TEST(ElementwiseMemory, Targets) {
  Family family("elementwise primitives on memory, by target");
  for (const std::string target : {"sm_75", "sm_80", "sm_89", "sm_100a", "sm_120a"}) {
    MemoryCase each{
        128,
        {whole("D", "shared", {64, 64}, "float16"), whole("A", "global", {64, 64}, "bfloat16")},
        {"Tx.cta.fma(D, A, 0.5, D)", "Tx.cta.relu(D)"}};
    each.target = target;
    family.run(program_of(each), {.variant = "mixed"});
    family.count();
  }
}

// --- declined ------------------------------------------------------------------------------------

struct Declined {
  MemoryCase each;
  std::string verdict;
};

std::vector<Declined> declines() {
  const Place x = whole("D", "shared", {32, 8});
  const Place a = rows("A", "local", "float32", "warp", 32);
  const Place b = {"B", "local", "float32", {32, 8}, "S[(4, 8, 8) : (8, 1, 4 @ laneid)]", 32};
  const auto with = [](std::vector<Place> places, const std::string& call) {
    MemoryCase out{32, std::move(places), {call}};
    out.scalars = {{"n", 1}};
    return out;
  };
  return {
      {with({x}, "Tx.warp.add(D[0:16, 0:8], D[1:17, 0:8], 1)"),
       "[overlap] element 8 of `D` is written where another element of `D` is read"},
      {with({x}, "Tx.warp.add(D[0:16, 0:8], D[n:n + 16, 0:8], 1)"),
       "[overlap] `D` may overlap `D` in `D`: where they are is known at run time"},
      {with({x}, "Tx.warp.add(D, D, D[3, 0:8])"),
       "[overlap] element 24 of `D` is written where another element of `D` is read"},
      {with({x, a, b}, "Tx.warp.add(D, A, B)"),
       "[owner] no thread holds all sources of element (0, 1) of `D` in its registers"},
      {with({a, b, x}, "Tx.warp.fma(A, A, D, B)"),
       "[owner] element (0, 1) of `A` is in register 1 of thread 0, its source of `B` in thread 4"},
      {with({whole("D", "shared", {32, 8}, "float32", tile("S[(32, 8) : (8, 1)] + R[2 : 256]"))},
            "Tx.warp.neg(D)"),
       "[replica] `D` holds each element at 2 places"},
      {with({x, whole("A", "shared", {32, 8}, "int4")}, "Tx.warp.add(D, D, A)"),
       "[sub_byte] `A` has elements of int4, expected whole bytes or float4_e2m1fn"},
      {with({x}, "Tx.cluster.add(D, D, 1)"),
       "[scope] cluster scope, expected thread, warp, warpgroup or cta"},
      {with({a, b}, "Tx.warp.add(A, A, B)"), "[memory] all operands are in registers"},
      {with({whole("D", "shared", {32, 8}, "int32")}, "Tx.warp.fdiv(D, D, D)"),
       "[dtype] fdiv into int32, expected floats"},
      {with({x}, "Tx.warp.add(D, 1, n)"),
       "[operands] add of scalars alone, expected a region among them; `fill` stores one"}};
}

TEST(ElementwiseMemory, DeclineWithReasons) {
  for (const Declined& row : declines()) {
    const Checked checked = check(program_of(row.each));
    EXPECT_EQ(checked.stage, Stage::Lower) << checked.explain();
    EXPECT_EQ(verdict_on(checked, 0, "mixed"), row.verdict) << checked.source;
  }
}

// --- faults --------------------------------------------------------------------------------------

// A row too far, and a barrier left out.
TEST(ElementwiseMemory, FaultsShow) {
  MemoryCase each{128,
                  {whole("D", "shared", {64, 64}), whole("A", "global", {64})},
                  {"Tx.cta.add(D, D, A)", "Tx.cta.mul(D, D, D)"}};
  Program program = program_of(each);
  const Checked right = check(program);
  ASSERT_TRUE(right.right()) << right.explain();
  program.edits = {{"add.rn.f32", "sub.rn.f32"}};
  EXPECT_EQ(check(program).stage, Stage::Device);
  const std::size_t at = right.ptx.find("st.shared.v4.b32");
  const std::string line = right.ptx.substr(at, right.ptx.find('\n', at) - at);
  program.edits = {{line, ""}};
  EXPECT_EQ(check(program).stage, Stage::Device);
}

}  // namespace
}  // namespace ww::test::elementwise_memory_test
