// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <iterator>
#include <set>
#include <utility>

#include "harness/edges.h"
#include "soak/examine.h"
#include "soak/scalars/draft.h"

namespace ww::test::scalars_test {
namespace {

using num::DType;

WholeProgram scalars_of(std::uint64_t seed, std::uint64_t number) {
  return whole_program(whole_choices(seed, number, ProgramKind::Scalar));
}

// --- negative controls ---------------------------------------------------------------------------

// Faults that are planted in the PTX: one instruction for another.
constexpr std::pair<const char*, const char*> kFaults[] = {
    {"add.s32\t", "sub.s32\t"},     {"sub.s32\t", "add.s32\t"},
    {"mul.lo.s32", "mul.hi.s32"},   {"setp.lt.s32", "setp.le.s32"},
    {"setp.gt.s32", "setp.gt.u32"}, {"shr.s32", "shr.u32"},
    {"shl.b32", "shr.u32"},         {"min.s32", "min.u32"},
    {"div.s32", "div.u32"},         {"xor.b32", "or.b32"},
    {"popc.b32", "clz.b32"},        {"add.rn.f32", "add.rz.f32"},
    {"mul.rn.f64", "mul.rz.f64"},   {"max.f32", "min.f32"},
    {"and.pred", "or.pred"},        {"@!%p", "@%p"}};

TEST(ScalarSoak, NoticesWrongCode) {
  constexpr std::uint64_t kMaxPrograms = 1000;
  std::set<std::pair<std::string, std::string>> unnoticed(std::begin(kFaults), std::end(kFaults));
  for (std::uint64_t number = 0; number < kMaxPrograms && !unnoticed.empty(); ++number) {
    const WholeProgram made = scalars_of(7, number);
    // A loop that counts wrongly need not end before the virtual GPU ends it, which takes long.
    if (made.steps.contains("scalars: for") || made.steps.contains("scalars: while") ||
        made.steps.contains("scalars: registers"))
      continue;
    const Examined right = examine(made);
    if (!right.checked.right() || right.is_find) continue;
    std::erase_if(unnoticed, [&](const auto& fault) {
      if (!right.checked.ptx.contains(fault.first)) return false;
      WholeProgram broken = made;
      broken.program.edits = {fault};
      return examine(broken).is_find;
    });
  }
  for (const auto& [from, to] : unnoticed) ADD_FAILURE() << from << " as " << to;
}

// Outputs that should be alike, and are not.
TEST(ScalarSoak, NoticesOutputsThatDiffer) {
  WholeProgram made;
  made.kind = ProgramKind::Scalar;
  made.program = {.source = R"(from tvm.script import tirx as T

@T.prim_func
def kernel(o0: T.Buffer((32,), "int32"), o1: T.Buffer((32,), "int32")):
    T.device_entry()
    tid = T.thread_id([32])
    o0[tid] = T.Select(tid < 7, 1, 0)
    if tid <= 7:
        o1[tid] = 1
    else:
        o1[tid] = 0
)",
                  .inputs = Inputs::Edges};
  EXPECT_FALSE(examine(made).is_find);
  made.alike = {{"o0", "o1"}};
  const Examined found = examine(made);
  EXPECT_EQ(found.kind, "outputs that should be alike");
  EXPECT_TRUE(found.explanation.contains("`o0` and `o1` should be alike: `o0[7]`"))
      << found.explanation;
}

// An index that overflows is found in the tile program, where a program may do so, and is a find
// elsewhere.
TEST(ScalarSoak, OverflowsAreExpectedWhereTheyMayBe) {
  WholeProgram made;
  made.kind = ProgramKind::Scalar;
  made.program = {.source = R"(from tvm.script import tirx as T

@T.prim_func
def kernel(a: T.Buffer((32,), "int32"), o0: T.Buffer((32,), "int32")):
    T.device_entry()
    tid = T.thread_id([32])
    o0[tid] = a[tid * 1103515245 - tid * 1103515244]
)",
                  .inputs = Inputs::Edges};
  const Examined found = examine(made);
  EXPECT_TRUE(found.is_find);
  EXPECT_TRUE(found.explanation.contains("overflow: ")) << found.explanation;
  made.may_overflow = true;
  const Examined expected = examine(made);
  EXPECT_FALSE(expected.is_find) << expected.explanation;
  EXPECT_TRUE(expected.tally.contains("overflow: found in the tile program"));
}

// --- what programs are made from -----------------------------------------------------------------

TEST(ScalarSoak, LiteralsHaveTheBits) {
  EXPECT_EQ(literal_of(DType::Int8, 0x80), "T.int8(-128)");
  EXPECT_EQ(literal_of(DType::Uint64, ~std::uint64_t{0}), "T.uint64(18446744073709551615)");
  EXPECT_EQ(literal_of(DType::Int64, std::uint64_t{1} << 63U), "T.int64(-9223372036854775808)");
  EXPECT_EQ(literal_of(DType::Bool, 1), "T.bool(True)");
  EXPECT_EQ(literal_of(DType::Float32, 0x8000'0000), "T.float32(-0.0)");
  EXPECT_EQ(literal_of(DType::Float16, 0x7C00), "T.infinity(\"float16\")");
  EXPECT_EQ(literal_of(DType::Float16, 0x0001), "T.float16(5.960464477539063e-08)");
  EXPECT_EQ(literal_of(DType::Bfloat16, 0x7FC0), "T.bfloat16(math.nan)");
}

// Every edge of every type arrives in a kernel as the bits it stands for, as a literal and as a
// parameter.
TEST(ScalarSoak, EdgesArrive) {
  for (const DType type : {DType::Int8, DType::Uint8, DType::Int16, DType::Uint16, DType::Int32,
                           DType::Uint32, DType::Int64, DType::Uint64, DType::Bool, DType::Float16,
                           DType::Bfloat16, DType::Float32, DType::Float64}) {
    const std::vector<std::uint64_t>& edges = edges_of(type);
    WholeProgram made;
    made.kind = ProgramKind::Scalar;
    std::string body, params;
    for (std::size_t i = 0; i < edges.size(); ++i) {
      body += fmt::format("    o0[{0}] = {1}\n    o1[{0}] = k{0}\n", i, literal_of(type, edges[i]));
      params += fmt::format(", k{}: T.{}", i, num::name_of(type));
      made.program.scalars[fmt::format("k{}", i)] = static_cast<std::int64_t>(edges[i]);
    }
    made.program.source = fmt::format(
        "import math\nfrom tvm.script import tirx as T\n\n@T.prim_func\n"
        "def kernel(o0: T.Buffer(({0},), \"{1}\"), o1: T.Buffer(({0},), \"{1}\"){2}):\n"
        "    T.device_entry()\n    tid = T.thread_id([1])\n{3}",
        edges.size(), num::name_of(type), params, body);
    made.program.inputs = Inputs::Edges;
    made.alike = {{"o0", "o1"}};
    const Examined examined = examine(made);
    EXPECT_FALSE(examined.is_find) << examined.explanation;
    EXPECT_TRUE(examined.checked.right()) << examined.checked.explain();
  }
}

TEST(ScalarSoak, SeedAndNumberDecide) {
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325U;  // FNV-1a
  for (std::uint64_t number = 0; number < 300; ++number)
    for (const char c : scalars_of(1, number).program.source)
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100'0000'01B3U;
  EXPECT_EQ(hash, 9998531641004617964U);
}

}  // namespace
}  // namespace ww::test::scalars_test
