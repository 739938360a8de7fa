// SPDX-License-Identifier: Apache-2.0
// Elementwise primitives that are declined or refused, each with its reason.
#include "engines/elementwise_programs.h"
#include "engines/family.h"

namespace ww::test::elementwise_declines_test {
namespace {

struct Declined {
  ElementwiseCase each;
  std::string verdict;
};

std::vector<Declined> declines() {
  const Reg d = reg("D", "float32", {32, 8}, "S[(32, 8) : (1 @ laneid, 1)]", 8);
  const Reg turned = reg("A", "float32", {32, 8}, "S[(4, 8, 8) : (8, 1, 4 @ laneid)]", 32);
  const Reg moved = reg("A", "float32", {32, 8}, "S[(32, 8) : (1 @ laneid, 1)]", 8);
  const Reg whole = reg("A", "int32", {32, 8}, "S[(32, 8) : (1 @ laneid, 1)]", 8);
  const Reg flag = reg("A", "bool", {32, 8}, "S[(32, 8) : (1 @ laneid, 1)]", 8);
  const Reg row = reg("D", "float32", {8}, "S[8]", 8);
  Reg folded = reg("V", "float32", {32, 4}, "S[(32, 4) : (1 @ laneid, 1)] + R[2 : 2]", 8);
  folded.offset = 0;
  // A carry in each dimension: all 16 lanes have their element in another register.
  const Reg carried = reg("A", "float32", {4, 4, 4, 4},
                          "S[(2, 2, 2, 2, 2, 2, 2, 2) : (1, 1 @ laneid, 2, 2 @ laneid, 4, 4 @ "
                          "laneid, 8, 8 @ laneid)]",
                          16);
  const Reg bits = reg("D", "float32", {2, 2, 2, 2},
                       "S[(2, 2, 2, 2) : (-1 @ laneid, -2 @ laneid, -4 @ laneid, -8 @ laneid)] + "
                       "15 @ laneid",
                       1);
  const auto with = [](std::vector<Reg> regs, const std::string& call) {
    return ElementwiseCase{.regs = std::move(regs), .calls = {call}, .scalars = {{"n", 1}}};
  };
  return {
      {with({d, turned}, "Tx.warp.add(D, A, 1)"),
       "[owner] element (1, 0) of `D` is in register 0 of thread 1, its source (1, 0) of `A` in "
       "thread 0"},
      {with({d, moved}, "Tx.warp.cast(D[0:16, 0:8], A[8:24, 0:8])"),
       "[owner] element (0, 0) of `D` is in register 0 of thread 0, its source (0, 0) of `A` in "
       "thread 8"},
      {with({d, moved}, "Tx.warp.sub(D, D, A[3, 0:8])"),
       "[owner] element (0, 0) of `D` is in register 0 of thread 0, its source (0, 0) of `A` in "
       "thread 3"},
      {with({d}, "Tx.cluster.fill(D, 1)"),
       "[scope] cluster scope, expected thread, warp, warpgroup or cta"},
      {with({d, folded}, "Tx.warp.fill(V, 1)"),
       "[collision] elements (0, 0) and (0, 2) of `V` are both in register 2 of thread 0"},
      {with({bits, carried}, "Tx.warp.sqrt(D, A[1:3, 1:3, 1:3, 1:3])"),
       "[irregular] register 0 of `D` comes from different registers in 9 sets of threads, of 8 "
       "that are told apart"},
      {with({reg("D", "int4", {32, 8}, "S[(32, 8) : (1 @ laneid, 1)]", 8)}, "Tx.warp.fill(D, 1)"),
       "[sub_byte] `D` has elements of int4, expected whole bytes or float4_e2m1fn"},
      {with({whole, d}, "Tx.warp.fdiv(A, A, A)"), "[dtype] fdiv into int32, expected floats"},
      {with({flag, d}, "Tx.warp.add(A, A, A)"), "[dtype] add into bool"},
      {with({flag, d}, "Tx.warp.neg(A)"), "[dtype] neg into bool"},
      {with({flag, d}, "Tx.warp.less(A, n, 3)"),
       "[operands] less of scalars alone, expected a region among them; `fill` stores one"},
      {with({d}, "Tx.warp.add(D, 1, n)"),
       "[operands] add of scalars alone, expected a region among them; `fill` stores one"},
      {with({row}, "Tx.add(D[0:4], D[1:5], D[0:4])"), ""},
      {with({row}, "Tx.add(D[1:7], D[0:6], D[2:8])"),
       "[overlap] register 1 of `D` is written before register 2 is computed, which reads it"},
      {with({row}, "Tx.cast(D[0:4], D[n:n + 4])"),
       "[overlap] `D` may overlap `D` in the registers of `D`: their offsets are known at run time "
       "only"}};
}

TEST(Elementwise, DeclineWithReasons) {
  std::size_t count = 0;
  for (const Declined& row : declines()) {
    const Checked checked = check(program_of(row.each));
    ++count;
    if (row.verdict.empty()) {  // what is near enough is taken
      EXPECT_TRUE(checked.right()) << checked.explain();
      continue;
    }
    EXPECT_EQ(checked.stage, Stage::Lower) << checked.explain();
    EXPECT_EQ(verdict_on(checked, 0, "reg"), row.verdict) << checked.source;
    EXPECT_NE(checked.why.find("accepts this call for `sm_90a` [NoVariant]"), std::string::npos)
        << checked.why;
  }
  fmt::print("declines: {} cases\n", count);
}

TEST(Elementwise, UnknownVariant) {
  const UnitOfRows warp{"warp", 32};
  const Checked checked =
      check(program_of(on_rows(warp, {"float32", "float32"}, "add(D, A, 1, dispatch=\"regs\")")));
  EXPECT_EQ(checked.stage, Stage::Lower);
  EXPECT_NE(checked.why.find("`add` has no variant `regs`; did you mean `reg`?"), std::string::npos)
      << checked.why;
}

// What the verifier refuses.
TEST(Elementwise, BadCalls) {
  const UnitOfRows warp{"warp", 64};
  const std::vector<std::pair<ElementwiseCase, std::string>> rows = {
      {on_rows(warp, {"float32", "float32"}, "add(D, A[0:32, 0:4], 1)"),
       "`add` of (32, 4) of `A` into (32, 8) of `D`, to which it does not stretch"},
      {on_rows(warp, {"int32", "float32"}, "exp(D, A)"),
       "`exp` computes in `float32`, and `D` holds `int32`"},
      {on_rows(warp, {"float32"}, "cast(D, 1.0)"), "`src` is"},
      {on_rows(warp, {"float32", "float32"}, "sqrt(D[0:33, 0:8], A)"), "33"},
      {on_rows(warp, {"float32"}, "add(D, D)"), "`b`"},
      {on_rows(warp, {"int32", "int32"}, "less(D, A, 1)"),
       "`less` into `D`, which holds `int32`, expected `bool`"},
      {on_rows(warp, {"float32", "bool"}, "logical_not(D, A)"),
       "`logical_not` into `D`, which holds `float32`, expected `bool`"},
      {on_rows(warp, {"bool", "uint64", "int32"}, "less(D, A, B)"),
       "`less` of `uint64` and integers of another type, expected one type"},
      {on_rows(warp, {"bool", "uint64"}, "less(D, A, -1)"),
       "`less` of `uint64` and integers of another type, expected one type"},
      {on_rows(warp, {"int32", "float32"}, "bitwise_and(D, A, 1)"),
       "`bitwise_and` of `float32`, expected integers"},
      {on_rows(warp, {"bool", "bool"}, "bitwise_not(D, A)"),
       "`bitwise_not` of `bool`, expected integers"},
      {on_rows(warp, {"int32", "int32"}, "left_shift(D, A, 1.5)"), "expected integers"},
      {on_rows(warp, {"int32", "int32"}, "tanh(D, A)"),
       "`tanh` computes in `float32`, and `D` holds `int32`"},
      {on_rows(warp, {"int32", "int32"}, "pow(D, A, 2)"),
       "`pow` computes in `float32`, and `D` holds `int32`"},
      {on_rows(warp, {"int32", "float32"}, "floor(D, A)"),
       "`floor` computes in `float32`, and `D` holds `int32`"},
      {on_rows(warp, {"int32", "int32"}, "clamp(D, A, 0, 0.5)"),
       "`clamp` computes in `float32`, and `D` holds `int32`"}};
  for (const auto& [each, text] : rows) {
    const Checked checked = check(program_of(each));
    EXPECT_EQ(checked.stage, Stage::Script) << checked.explain();
    EXPECT_NE(checked.why.find(text), std::string::npos) << checked.why;
  }
  ElementwiseCase parted = on_rows(warp, {"float32"}, "fill(D, 1)");
  parted.calls = {"if lane < 8:", "    Tx.warp.fill(D, 1)"};
  const Checked checked = check(program_of(parted));
  EXPECT_FALSE(checked.right());
  EXPECT_NE(checked.why.find("test.py"), std::string::npos) << checked.why;
}

// float64 has no exp among its instructions.
TEST(Elementwise, FunctionsOfDoublesAreNotEmitted) {
  const Checked checked =
      check(program_of(on_rows({"warp", 32}, {"float64", "float64"}, "exp(D, A)")));
  EXPECT_EQ(checked.stage, Stage::Emit) << checked.explain();
  EXPECT_NE(checked.why.find("`T.exp` of `float64` has no PTX instruction"), std::string::npos)
      << checked.why;
}

}  // namespace
}  // namespace ww::test::elementwise_declines_test
