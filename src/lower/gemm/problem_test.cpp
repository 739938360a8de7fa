// SPDX-License-Identifier: Apache-2.0
// C, alpha and beta of gemm calls, and operands that share registers: what becomes of them, and the
// words in which others are declined.
#include <gtest/gtest.h>

#include <cmath>

#include "lower/gemm/test_calls.h"

namespace ww::lower::gemm_problem_test {
namespace {

using ir::Region;
using ir::Setting;
using ir::StmtKind;
using num::DType;
using test::Builder;
using test::expect_declined;
using test::expect_tiling;
using test::GemmCase;
using test::GemmUnderTest;
using test::slice;
using test::TileArg;

// --- C, alpha, beta ------------------------------------------------------------------------------

TEST(GemmMma, CInOtherRegisters) {
  GemmCase c = GemmCase::natural(2, 1, 2);
  c.beta = Setting(1.0);
  c.c = "S[(2,2,8,4,2):(1,2,4@laneid,1@laneid,4)]";
  expect_tiling(c, "2 x 1 x 1 tiles of m16n8k16");
  c.c = "S[(2,2,8,2,4):(4,2,4@laneid,1,1@laneid)]";
  expect_declined(c, "fragment",
                  "lane 1 of warp 0 has (0, 2) of D in register 0, and the same element of C "
                  "belongs to another thread");
}

TEST(GemmMma, Overlaps) {
  GemmCase c = GemmCase::natural(2, 1, 2);
  c.edit = [](Builder& b, std::vector<TileArg>& args) {
    args[3] = slice(b, args[0], 0, 16, 0, 8);
    args[0] = slice(b, args[0], 16, 16, 0, 8);
    args[1] = slice(b, args[1], 0, 16, 0, 16);
  };
  c.beta = Setting(1.0);
  expect_tiling(c, "1 x 1 x 1 tiles of m16n8k16");  // other registers of the same buffer
  GemmCase same = GemmCase::natural(1, 1, 1);
  same.in = same.out = DType::Float16;
  same.edit = [](Builder&, std::vector<TileArg>& args) { args[1] = args[0]; };
  same.b_shape = {8, 8};
  same.a_shape = {16, 8};
  expect_declined(same, "overlap", "A overlaps D in the registers of `D`");
}

TEST(GemmMma, Factors) {
  for (const auto& [alpha, beta] :
       std::vector<std::pair<double, double>>{{1, 2.5}, {0.5, 0}, {0.5, 1}, {-1, 3}, {0, 0}}) {
    for (const bool is_apart : {false, true}) {
      GemmCase c = GemmCase::natural(2, 2, 4);
      c.alpha = Setting(alpha);
      c.beta = Setting(beta);
      if (is_apart) c.c = c.d;
      expect_tiling(c, "2 x 2 x 2 tiles of m16n8k16");
    }
  }
  GemmCase halves;
  halves.out = DType::Float16;
  halves.alpha = Setting(0.1);
  halves.beta = Setting(0.3);
  expect_tiling(halves, "1 x 1 x 1 tiles of m16n8k16");
}

TEST(GemmMma, FactorsKnownAtRunTime) {
  GemmCase c;
  c.edit = [](Builder& b, std::vector<TileArg>& args) {
    const auto x = b.var(b.param("x", ir::Type::of(DType::Float32)));
    args[6] = TileArg(x);
    args[7] = TileArg(x);
  };
  expect_tiling(c, "1 x 1 x 1 tiles of m16n8k16");
}

TEST(GemmMma, FactorsOfIntegers) {
  GemmCase c = GemmCase::natural(1, 1, 2, 4);
  c.in = DType::Int8;
  c.out = DType::Int32;
  c.alpha = Setting(-3.0);
  c.beta = Setting(2.0);
  expect_tiling(c, "1 x 1 x 1 tiles of m16n8k32");
  const std::vector<std::pair<double, std::string>> rows{
      {0.5, "0.5"}, {1e12, "1000000000000"}, {INFINITY, "inf"}, {NAN, "nan"}};
  for (const auto& [beta, text] : rows) {
    c.beta = Setting(beta);
    expect_declined(
        c, "factor",
        fmt::format("beta is {}, and D is of int32, expected a whole number of int32", text));
  }
  c.edit = [](Builder& b, std::vector<TileArg>& args) {
    args[7] = TileArg(b.var(b.param("x", ir::Type::of(DType::Float32))));
  };
  expect_declined(c, "factor", "beta is `x`, and D is of int32, expected a whole number of int32");
}

TEST(GemmMma, FactorsThatAreNoNumbers) {
  GemmCase c;
  c.alpha = Setting(-INFINITY);
  expect_declined(c, "factor", "alpha is -inf, and D is of float32, expected a finite float32");
}

// They are read before anything is written.
TEST(GemmMma, FactorsInRegistersOfD) {
  for (const std::size_t argument : {6U, 7U}) {
    GemmCase c = GemmCase::natural(1, 2, 2);
    c.edit = [&](Builder& b, std::vector<TileArg>& args) {
      const ir::BufferId local = b.view("r", std::get<Region>(args[0]).buffer, {8}, "S[8:1]");
      args[argument] = TileArg(b.at(local, {b.n(0)}));
    };
    expect_tiling(c, "1 x 2 x 1 tiles of m16n8k16");
    const GemmUnderTest gemm(c);
    int read = 0;
    ir::for_each_stmt(gemm.f, gemm.code, [&](ir::StmtId id) {
      const ir::Stmt& s = gemm.f[id];
      read += s.kind == StmtKind::Bind && gemm.f[s.expr].op == ir::ExprOp::Load ? 1 : 0;
    });
    EXPECT_EQ(read, 1);
  }
}

// --- operands in the same registers --------------------------------------------------------------

TEST(GemmMma, ProductWithItsOwnTranspose) {
  GemmCase c = GemmCase::natural(1, 2, 2);
  c.turns_b = true;
  c.edit = [](Builder&, std::vector<TileArg>& args) { args[2] = args[1]; };
  expect_tiling(c, "1 x 2 x 1 tiles of m16n8k16");
  // Of its upper half only.
  c = {};
  c.turns_b = true;
  c.edit = [](Builder& b, std::vector<TileArg>& args) { args[2] = slice(b, args[1], 0, 8, 0, 16); };
  expect_tiling(c, "1 x 1 x 1 tiles of m16n8k16");
}

TEST(GemmMma, AddendIsPartOfA) {
  GemmCase c;
  c.out = DType::Float16;
  c.beta = Setting(1.0);
  c.edit = [](Builder& b, std::vector<TileArg>& args) { args[3] = slice(b, args[1], 0, 16, 0, 8); };
  expect_tiling(c, "1 x 1 x 1 tiles of m16n8k16");
}

}  // namespace
}  // namespace ww::lower::gemm_problem_test
