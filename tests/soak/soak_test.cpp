// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <sstream>

#include "foreign/toolchain.h"
#include "soak/summary.h"
#include "soak/workers.h"

namespace ww::test::soak_test {
namespace {

SoakPlan small_plan(const std::filesystem::path& folder) {
  SoakPlan plan;
  plan.seed = 20260101;
  plan.programs = 120;
  plan.jobs = 2;
  plan.only = ProgramKind::Tile;
  plan.finds = folder;
  plan.shows_progress = false;
  return plan;
}

TEST(Soak, ProgramsAgreeOnAllEngines) {
  const corpus::TestFolder folder;
  const SoakResult result = soak(small_plan(folder.path()));
  fmt::print("{}", summary_of(result.tally));
  EXPECT_EQ(result.finds, 0U);
  EXPECT_EQ(result.tally.at("programs"), 120U);
  // The generator should not lose sight of what it is for.
  for (const char* name :
       {"calls/agreed: copy reg", "calls/agreed: copy gmem_smem",
        "calls/agreed: copy_async tcgen05_ldst", "calls/agreed: copy_async tcgen05_cp",
        "calls/agreed: copy_async ldgsts", "calls/agreed: gemm mma",
        "calls/agreed: copy ldstmatrix", "calls/agreed: add reg"})
    EXPECT_TRUE(result.tally.contains(name)) << name;
  EXPECT_GT(result.tally.at("engine: virtual GPU, PTX") * 10, 120U * 7);
}

TEST(Soak, OtherKindsAgreeOnAllEngines) {
  const corpus::TestFolder folder;
  // What is refused, or found in the tile program already, is not compared.
  const auto expect_agreement = [&](ProgramKind kind, std::uint64_t programs,
                                    std::uint64_t compared) {
    SoakPlan plan = small_plan(folder.path());
    plan.only = kind;
    plan.programs = programs;
    plan.cuda_share = 0;
    const SoakResult result = soak(plan);
    EXPECT_EQ(result.finds, 0U) << name_of(kind);
    EXPECT_EQ(result.tally.at(fmt::format("kind: {}", name_of(kind))), programs);
    EXPECT_GT(result.tally.at("engine: virtual GPU, PTX"), compared) << name_of(kind);
  };
  expect_agreement(ProgramKind::Scalar, 200, 180);
  expect_agreement(ProgramKind::Scope, 400, 40);
  expect_agreement(ProgramKind::Fold, 200, 180);
  expect_agreement(ProgramKind::Cast, 150, 60);
}

// A cast that all engines agree about is a find where the formats say something else, and where
// it is declined though it asks for nothing.
TEST(Soak, NoticesWrongAndDeclinedCasts) {
  const auto made_of = [](std::string_view from) {
    WholeProgram out;
    out.kind = ProgramKind::Cast;
    out.program = {.source = fmt::format(R"(from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(A: T.Buffer((64,), "{}"), D: T.Buffer((64,), "int8")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([32])
    Tx.cta.cast(D, A)
)",
                                         from)};
    return out;
  };
  WholeProgram made = made_of("float16");
  made.cast = {num::DType::Float16, num::DType::Int8};
  EXPECT_FALSE(examine(made).is_find) << examine(made).explanation;
  made.cast->round = "rp";
  EXPECT_EQ(examine(made).kind, "not what the formats say");
  made = made_of("int4");
  made.cast = {num::DType::Int4, num::DType::Int8};
  EXPECT_EQ(examine(made).kind, "a cast is declined");
}

TEST(Soak, InferredLayoutsLeaveTheSameAsWrittenOnes) {
  const corpus::TestFolder folder;
  SoakPlan plan = small_plan(folder.path());
  plan.only = ProgramKind::Auto;
  plan.programs = 24;
  plan.cuda_share = 0;
  const SoakResult result = soak(plan);
  EXPECT_EQ(result.finds, 0U);
  EXPECT_EQ(result.tally.at("kind: autos"), 24U);
  EXPECT_GT(result.tally.at("engine: virtual GPU, PTX"), 12U);
  EXPECT_GT(result.tally.at("autos: compared with written layouts"), 6U);
}

// A program that leaves something else than the one with written layouts is a find.
TEST(Soak, NoticesOtherResultsThanWithWrittenLayouts) {
  const std::string source = R"(from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(a_ptr: T.handle, o_ptr: T.handle):
    a = T.match_buffer(a_ptr, (64,), "int32")
    o = T.match_buffer(o_ptr, (64,), "int32")
    T.device_entry()
    tid = T.thread_id([64])
    x = T.alloc_buffer((64,), "int32", scope="local", layout="auto")
    Tx.cta.copy(x, a)
    Tx.cta.add(x, x, 1)
    Tx.cta.copy(o, x)
)";
  WholeProgram made;
  made.kind = ProgramKind::Auto;
  made.program = {.source = source, .target = "sm_80", .inputs = Inputs::Whole};
  made.written = source;
  EXPECT_FALSE(examine(made).is_find);
  made.written.replace(made.written.find("x, 1)"), 5, "x, 2)");
  EXPECT_EQ(examine(made).kind, "other results than with written layouts");
}

// Each kind is met often where none is asked for.
TEST(Soak, MixesAllKinds) {
  std::map<ProgramKind, int> counts;
  for (std::uint64_t number = 0; number < 300; ++number)
    ++counts[whole_program(whole_choices(1, number)).kind];
  EXPECT_GT(counts[ProgramKind::Tile], 120);
  EXPECT_GT(counts[ProgramKind::Scalar], 30);
  EXPECT_GT(counts[ProgramKind::Scope], 30);
  EXPECT_GT(counts[ProgramKind::Fold], 30);
  EXPECT_GT(counts[ProgramKind::Cast], 15);
}

// A wrong instruction in the PTX is a find.
TEST(Soak, NoticesWrongCode) {
  std::size_t finds = 0;
  for (std::uint64_t number = 0; number < 40 && finds == 0; ++number) {
    WholeProgram made = whole_program(whole_choices(7, number, ProgramKind::Tile));
    const Examined right = examine(made);
    if (!right.checked.right() || made.left_out) continue;
    const std::string& ptx = right.checked.ptx;
    const std::size_t at = ptx.find("ld.global");
    if (at == std::string::npos) continue;
    const std::string text = ptx.substr(at, ptx.find(']', at) - at);
    made.program.edits = {{text + "]", text + "+4]"}};
    finds += examine(made).is_find ? 1U : 0U;
  }
  EXPECT_EQ(finds, 1U);
}

// Where a barrier was left out, a race is expected between what it stood between, and nowhere else.
TEST(Soak, NoticesARaceSomewhereElse) {
  std::size_t broken = 0;
  for (std::uint64_t number = 0; number < 400 && broken < 3; ++number) {
    WholeProgram made = whole_program(whole_choices(7, number, ProgramKind::Tile));
    if (!made.left_out) continue;
    const Examined expected = examine(made);
    EXPECT_FALSE(expected.is_find) << expected.explanation;
    if (expected.checked.stage != Stage::Tile || !expected.checked.why.starts_with("race: "))
      continue;
    made.left_out->between.clear();
    EXPECT_EQ(examine(made).kind, "a finding that is not about what is missing");
    ++broken;
  }
  EXPECT_EQ(broken, 3U);
}

// So is a process that does not come back.
TEST(Soak, EndsWhatTakesTooLong) {
  const corpus::TestFolder folder;
  SoakPlan plan = small_plan(folder.path());
  plan.programs = 2;
  plan.patience = 0;
  const SoakResult result = soak(plan);
  EXPECT_GE(result.finds, 1U);
  EXPECT_TRUE(result.tally.contains("find: no answer for 0 s"));
}

// Two warps that pass bytes through shared memory, without what it takes.
WholeProgram lacking(const LeftOut& what, const std::string& body) {
  const std::string head = R"(from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(a_ptr: T.handle, o_ptr: T.handle):
    a = T.match_buffer(a_ptr, (64,), "uint8")
    o = T.match_buffer(o_ptr, (64,), "uint8")
    T.device_entry()
    tid = T.thread_id([64])
    pool = T.SMEMPool()
    s0 = pool.alloc((64,), "uint8")
    pool.commit()
)";
  WholeProgram out;
  out.program = {.source = head + body, .target = "sm_80", .inputs = Inputs::Whole};
  out.left_out = what;
  return out;
}

TEST(Soak, AllEnginesNoticeWhatIsMissing) {
  const auto expect_noticed = [](const LeftOut& what, const std::string& body) {
    const Examined each = examine(lacking(what, body));
    EXPECT_FALSE(each.is_find) << each.explanation;
    EXPECT_TRUE(each.tally.contains(fmt::format("broken, a {}: found by all", what.what))) << body;
  };
  expect_noticed({"barrier", {"s0"}}, R"(    s0[tid] = a[tid]
    o[tid] = s0[63 - tid]
)");
  expect_noticed({"wait", {"s0"}}, R"(    Tx.cta.copy_async(s0[0:64], a[0:64])
    T.ptx.cp_async.commit_group()
    o[tid] = a[tid]
)");
  // The copy may land before the barrier, where the other warp still reads.
  expect_noticed({"barrier", {"s0"}}, R"(    s0[tid] = T.uint8(0)
    T.cuda.cta_sync()
    o[tid] = s0[63 - tid]
    Tx.cta.copy_async(s0[0:64], a[0:64])
    T.ptx.cp_async.commit_group()
    T.cuda.cta_sync()
    T.ptx.cp_async.wait_group(0)
)");
}

// The numbers behind a row's name, with one blank before each.
std::string row_of(const std::string& text, const std::string& name) {
  const std::size_t begin = text.find("\n" + name + " ");
  if (begin == std::string::npos) return "no row";
  const std::size_t end = text.find('\n', begin + 1);
  std::istringstream numbers(text.substr(begin + name.size() + 1, end - begin - name.size() - 1));
  std::string out;
  for (std::string each; numbers >> each;) out += " " + each;
  return out;
}

TEST(Soak, SummaryShowsWhatNeverHappened) {
  const std::string text =
      summary_of({{"calls/asked: copy reg", 12}, {"calls/agreed: copy reg", 7}});
  EXPECT_EQ(row_of(text, "copy reg"), " 12 7 0 0 0") << text;
  EXPECT_EQ(row_of(text, "copy_async tcgen05_cp"), " 0 0 0 0 0") << text;
  EXPECT_EQ(row_of(text, "tensor memory: from shared"), " 0 0") << text;
}

TEST(Soak, WritesWhatItFound) {
  const Choices choices = whole_choices(7, 3);
  const std::string text = file_of(choices, examine(choices), "soak --seed 7 --number 3");
  EXPECT_EQ(text.find("# soak --seed 7 --number 3\n# target sm_"), 0U) << text;
  EXPECT_NE(text.find("@T.prim_func"), std::string::npos);
}

// Finds are repeated by number on other machines. Whoever changes what is written puts the new hash
// here, which must be the same for all compilers: draw one thing after the other, not as arguments
// of one call.
TEST(Soak, SeedAndNumberDecide) {
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325U;  // FNV-1a
  for (std::uint64_t number = 0; number < 300; ++number)
    for (const char c : whole_program(whole_choices(1, number)).program.source)
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100'0000'01B3U;
  EXPECT_EQ(hash, 14109953708409539311U);
}

TEST(Soak, ProgramsAreTheSameEveryTime) {
  for (std::uint64_t number = 0; number < 20; ++number)
    EXPECT_EQ(whole_program(whole_choices(5, number)).program.source,
              whole_program(whole_choices(5, number)).program.source);
}

}  // namespace
}  // namespace ww::test::soak_test
