// SPDX-License-Identifier: Apache-2.0
// The proof must hold for what variants write, and must not hold for anything near it: every number
// in the written code is changed in turn, statements are dropped, doubled or guarded. Faults in
// instructions are in copy_faults_test.cpp.
#include "lower/proof/proof.h"

#include <gtest/gtest.h>

#include "ir/build.h"
#include "ir/print/print.h"
#include "lower/proof/test_copies.h"

namespace ww::lower::proof_copy_test {
namespace {

using ir::ExprId;
using ir::ExprOp;
using ir::StmtId;
using ir::StmtKind;
using num::DType;
using test::copy_cases;
using test::CopyCase;
using test::sticking_out;
using test::WrittenCopy;

TEST(Proof, HoldsForWhatVariantsWrite) {
  for (const CopyCase& c : copy_cases()) {
    const WrittenCopy w(c);
    ASSERT_EQ(w.reason, "") << name_of(c);
    const Proof proof = w.prove();
    EXPECT_TRUE(proof.holds()) << name_of(c) << ": " << proof.difference << proof.could_not;
  }
}

// --- planted faults ---

/// Every place in the code where an expression stands.
void for_each_place(ir::Function& f, const ir::Block& block,
                    const std::function<void(StmtId, std::size_t)>& visit) {
  for (const StmtId id : block) {
    const ir::Stmt s = f[id];
    if (s.expr.valid()) visit(id, 0);
    if (s.ptx.valid())
      for (std::size_t i = 0; i < f[s.ptx].operands.size(); ++i) visit(id, i + 1);
    if (s.kind == StmtKind::For) visit(id, 100);
    for_each_place(f, s.body, visit);
  }
}

ExprId& place(ir::Function& f, StmtId id, std::size_t which) {
  ir::Stmt& s = f.at(id);
  if (which == 0) return s.expr;
  if (which == 100) return s.args[1];
  return f.ptx_calls[s.ptx.index].operands[which - 1].expr;
}

TEST(Proof, EveryChangedNumberIsCaught) {
  int planted = 0, caught = 0;
  for (const CopyCase& c : copy_cases()) {
    WrittenCopy w(c);
    std::vector<std::pair<StmtId, std::size_t>> places;
    for_each_place(w.f, w.code, [&](StmtId id, std::size_t i) { places.emplace_back(id, i); });
    for (const auto& at : places)
      test::for_each_change(
          w.f, [&]() -> ExprId& { return place(w.f, at.first, at.second); },
          [&](ExprId, ExprId after) {
            ++planted;
            const Proof proof = w.prove();
            caught += proof.holds() ? 0 : 1;
            // `x % 33` for x below 32, for instance, is no fault: the changed code is right, too.
            if (proof.holds()) std::printf("  not a fault: %s\n", ir::print(w.f, after).c_str());
          });
  }
  std::printf("  %d of %d changed numbers are caught\n", caught, planted);
  EXPECT_GT(planted, 60);
  EXPECT_GT(caught * 10, planted * 8);
}

TEST(Proof, DroppedDoubledAndGuardedStatements) {
  for (const CopyCase& c : copy_cases()) {
    WrittenCopy w(c);
    const ir::Block whole = w.code;
    // Dropped: the last statement is what moves something, or the loop around it.
    w.code.pop_back();
    EXPECT_FALSE(w.prove().holds()) << name_of(c);
    // Guarded: half of the threads do nothing.
    w.code = whole;
    const ExprId half = ir::binary(w.f, ExprOp::Lt, {.expr = ir::int_imm(w.f, DType::Int32, 1)},
                                   {.expr = ir::int_imm(w.f, DType::Int32, 0)})
                            .value();
    ir::Stmt guard{.kind = StmtKind::If, .expr = half};
    guard.body = {w.code.back()};
    w.code.back() = w.f.add(std::move(guard));
    EXPECT_FALSE(w.prove().holds()) << name_of(c);
  }
}

/// Every statement that does something under a condition.
void for_each_guard(ir::Function& f, const ir::Block& block,
                    const std::function<void(StmtId)>& visit) {
  for (const StmtId id : block) {
    const ir::Stmt s = f[id];
    const bool is_guarded = s.kind == StmtKind::If ||
                            (s.kind == StmtKind::Store && f[s.expr].op == ExprOp::IfThenElse) ||
                            (s.kind == StmtKind::Ptx && f[s.ptx].predicate.valid());
    if (is_guarded) visit(id);
    for_each_guard(f, s.body, visit);
  }
}

// What is before the start or behind the end of a buffer is neither read nor written.
TEST(Proof, RegionsThatStickOutNeedTheirGuards) {
  int guards = 0;
  for (const CopyCase& c :
       {sticking_out("ldgsts", DType::Float32, true), sticking_out("sync", DType::Float32, true),
        sticking_out("gmem_smem", DType::Float16, true),
        sticking_out("gmem_smem", DType::Float32, false)}) {
    WrittenCopy w(c);
    ASSERT_EQ(w.reason, "") << c.variant;
    ASSERT_TRUE(w.prove().holds()) << c.variant << w.prove().difference << w.prove().could_not;
    std::vector<StmtId> all;
    for_each_guard(w.f, w.code, [&](StmtId id) { all.push_back(id); });
    for (const StmtId id : all) {
      const ir::Stmt before = w.f[id];
      if (before.kind == StmtKind::If) w.f.at(id).expr = ir::bool_imm(w.f, true);
      if (before.kind == StmtKind::Store) w.f.at(id).expr = w.f[before.expr].args[1];
      if (before.kind == StmtKind::Ptx) w.f.ptx_calls[before.ptx.index].predicate = {};
      EXPECT_FALSE(w.prove().holds()) << c.variant;
      w.f.at(id) = before;
      ++guards;
    }
  }
  EXPECT_GE(guards, 3);
}

// To whoever simplifies, the index into a single element is 0.
TEST(Proof, ViewsOfASingleElement) {
  int caught = 0;
  for (const CopyCase& c : copy_cases()) {
    WrittenCopy w(c);
    for (std::uint32_t i = 0; i < w.f.buffer_count(); ++i)
      if (w.f.at(ir::BufferId{i}).origin == ir::BufferOrigin::View)
        w.f.at(ir::BufferId{i}).shape = {ir::int_imm(w.f, DType::Int32, 1)};
    // Those that only point into the view and go on from there do not notice.
    caught += w.prove().difference.find("into the single element of") != std::string::npos ? 1 : 0;
  }
  EXPECT_GT(caught, 5);
}

TEST(Proof, CodeThatIsNotUnderstoodIsNoProof) {
  WrittenCopy w(copy_cases()[4]);
  ir::Stmt stop{.kind = StmtKind::Return};
  w.code.push_back(w.f.add(std::move(stop)));
  const Proof proof = w.prove();
  EXPECT_FALSE(proof.holds());
  EXPECT_EQ(proof.could_not, "a statement `Return`");
}

}  // namespace
}  // namespace ww::lower::proof_copy_test
