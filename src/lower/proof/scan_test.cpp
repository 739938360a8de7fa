// SPDX-License-Identifier: Apache-2.0
// The proof of scans: what the variants write holds, and faults are caught: an element twice, one
// missing, a wrong lane, another order, a missing barrier.
#include <gtest/gtest.h>

#include <functional>

#include "ir/print/print.h"
#include "lower/proof/test_reductions.h"

namespace ww::lower::proof_scan_test {
namespace {

using ir::ExprId;
using ir::ExprOp;
using ir::StmtId;
using ir::StmtKind;
using ir::TileOp;
using ir::Unit;
using num::DType;
using test::all_of;

// `accum` is the fourth argument, which scans take for `exclusive`.
using Case = test::ReductionCase;

class Under : public test::CallUnderTest {
 public:
  explicit Under(const Case& c)
      : CallUnderTest(test::function_of(c),
                      test::variant_named(c.op, c.unit == Unit::Warp ? "registers" : "warps"),
                      prove_scan, {.arch = target::Arch::Sm90a, .ptx = 90}) {}
};

// A row of 16 in four lanes.
Case rows(TileOp op = TileOp::Cumsum, DType type = DType::Float32, bool is_exclusive = false) {
  return {.op = op,
          .type = type,
          .d_shape = {8, 16},
          .a_shape = {8, 16},
          .d = "S[(8,4,4):(4@laneid,1@laneid,1)]",
          .accum = is_exclusive};
}

// Rows of two sweeps over eight lanes.
Case twice(bool is_exclusive = false) {
  return {.op = TileOp::Cumsum,
          .d_shape = {4, 16},
          .a_shape = {4, 16},
          .d = "S[(4,2,8):(8@laneid,1,1@laneid)]",
          .a = "S[(4,2,8):(8@laneid,1,1@laneid)]",
          .accum = is_exclusive};
}

Case of_cta(bool is_exclusive = false) {
  return {.op = TileOp::Cumsum,
          .unit = Unit::Cta,
          .d_shape = {256},
          .a_shape = {256},
          .d = "S[(128,2):(1@tx,1)]",
          .a = "S[(128,2):(1@tx,1)]",
          .threads = 128,
          .accum = is_exclusive};
}

Case of_groups() {
  return {.op = TileOp::Cumsum,
          .unit = Unit::Warpgroup,
          .d_shape = {128, 2},
          .a_shape = {128, 2},
          .d = "S[(128,2):(1@tid_in_wg,1)]",
          .a = "S[(128,2):(1@tid_in_wg,1)]",
          .threads = 256,
          .axis = 0};
}

std::vector<Case> cases() {
  std::vector<Case> out = {twice(), twice(true), of_cta(), of_cta(true), of_groups()};
  for (const TileOp op : {TileOp::Cumsum, TileOp::Cumprod, TileOp::Cummax, TileOp::Cummin})
    for (const DType type : {DType::Float32, DType::Float16, DType::Int32, DType::Int8})
      out.push_back(rows(op, type, type == DType::Float16 || type == DType::Int8));
  return out;
}

TEST(ProofScan, HoldsForWhatIsWritten) {
  for (const Case& c : cases()) {
    const Under under(c);
    ASSERT_EQ(under.reason, "") << text(c);
    const Proof proof = under.prove();
    EXPECT_TRUE(proof.holds()) << text(c) << ": " << proof.difference << proof.could_not;
  }
}

// Every number that a store or a condition has: registers, lanes, places in scratch memory.
TEST(ProofScan, ChangedNumbersAreCaught) {
  int planted = 0, alike = 0;
  for (const Case& c :
       {rows(), rows(TileOp::Cummax, DType::Int32, true), twice(true), of_cta(true)}) {
    Under under(c);
    // What registers hold before they are written is never used.
    const auto is_used = [&](StmtId id) {
      const ExprOp op = under.f[under.f[id].expr].op;
      const bool is_constant = op == ExprOp::FloatImm || op == ExprOp::IntImm;
      return !is_constant || under.f[under.f[id].buffer].name == "D";
    };
    for (const auto& place : test::number_places(under, is_used))
      test::for_each_change(under.f, place, [&](ExprId, ExprId after) {
        ++planted;
        if (!under.prove().holds()) return;
        ++alike;
        // Other lanes give the same, or no lane takes it; 31, 63, … have the same numbers by 33; what
        // a thread too many stores is written over.
        const std::string is = ir::print(under.f, after);
        bool is_fine = false;
        for (const char* part : {"shuffle", "// 33", "< 33", "<= 1"})
          is_fine = is_fine || is.find(part) != std::string::npos;
        EXPECT_TRUE(is_fine) << text(c) << ": " << is;
      });
  }
  EXPECT_GT(planted, 60);
  EXPECT_LE(alike * 4, planted);
}

// Leaving out any statement that is not a declaration. What changes nothing may be there already.
TEST(ProofScan, MissingStatementsAreCaught) {
  for (const Case& c : {rows(), twice(), of_cta(true)}) {
    Under under(c);
    const ir::Block whole = under.code;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      const ir::Stmt& s = under.f[whole[i]];
      const bool is_needed = s.kind == StmtKind::If || s.kind == StmtKind::For ||
                             s.kind == StmtKind::Evaluate ||
                             (s.kind == StmtKind::Store && under.f[s.expr].op != ExprOp::FloatImm);
      if (!is_needed) continue;
      under.code = whole;
      under.code.erase(under.code.begin() + static_cast<std::ptrdiff_t>(i));
      EXPECT_FALSE(under.prove().holds()) << text(c) << ": statement " << i;
    }
  }
}

std::string difference(const Under& under) {
  const Proof proof = under.prove();
  return proof.difference + proof.could_not;
}

TEST(ProofScan, MissingBarriers) {
  const auto without = [](std::size_t n) {
    Under under(of_cta());
    return test::without_barrier(under, n);
  };
  EXPECT_EQ(without(0),
            "thread 31 of the unit writes what others may still read: no barrier is between");
  EXPECT_EQ(without(1),
            "thread 32 of the unit reads what thread 31 writes, without a barrier between");
}

// The statements in the code that store into a buffer, loops gone into.
std::vector<StmtId> stores_into(const Under& under, std::string_view name) {
  std::vector<StmtId> out;
  for (const StmtId id : all_of(under, StmtKind::Store))
    if (under.f[under.f[id].buffer].name == name) out.push_back(id);
  return out;
}

TEST(ProofScan, FaultsByName) {
  Under under(rows());
  // An element twice.
  const StmtId first = stores_into(under, "part")[0];
  const ExprId value = under.f[first].expr;
  ir::Expr both{.op = ExprOp::Add, .type = under.f[value].type};
  both.args = {value, value};
  under.f.at(first).expr = under.f.add(std::move(both));
  EXPECT_EQ(difference(under),
            "element 0 of the destination in thread 0 of the unit has 2 elements folded into it, "
            "expected 1");
  under.f.at(first).expr = value;
  EXPECT_EQ(difference(under), "");
  // Without the step over two lanes, the fourth lane misses the first.
  const std::vector<StmtId> sweeps = stores_into(under, "swept");
  ASSERT_EQ(sweeps.size(), 3U);
  const auto holds_store = [&](StmtId id) {
    return under.f[id].kind == StmtKind::If && under.f[id].body[0] == sweeps[2];
  };
  under.code.erase(std::ranges::find_if(under.code, holds_store));
  EXPECT_EQ(difference(under),
            "element 12 of the destination in thread 3 of the unit has 9 elements folded into it, "
            "expected 13");
}

}  // namespace
}  // namespace ww::lower::proof_scan_test
