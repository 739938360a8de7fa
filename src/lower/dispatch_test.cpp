// SPDX-License-Identifier: Apache-2.0
// Who stands between a variant and the proof of its code, and what the proof is asked for.
#include "lower/dispatch.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/check.h"
#include "lower/code_observer.h"
#include "lower/gemm/test_calls.h"

namespace ww::lower::dispatch_test {
namespace {

/// Takes the code of one call away; passes on what the proof says, or lets it pass.
class Remover final : public CodeObserver {
 public:
  explicit Remover(std::size_t which, bool lets_pass = false)
      : which_(which), lets_pass_(lets_pass) {}
  Proof observe(ir::Function&, ir::Block& code, const std::function<Proof()>& prove) override {
    if (calls++ != which_) return prove();
    code.clear();
    seen = prove();
    return lets_pass_ ? Proof{} : seen;
  }
  std::size_t calls = 0;
  Proof seen;

 private:
  std::size_t which_;
  bool lets_pass_;
};

/// Two copies into fragments and their product.
ir::Function three_calls() {
  test::GemmCase c = test::GemmCase::natural(1, 2, 2, 2);
  c.a_scope = c.b_scope = ir::Scope::Shared;
  c.a = c.b = "";
  c.config = {{"stage", ir::Setting(true)}};
  return test::function_of(c);
}

TEST(Dispatch, ObserversSeeEveryCall) {
  Remover observer(3);
  const Lowered lowered = lower(three_calls(), {.observer = &observer});
  EXPECT_TRUE(lowered.function);
  EXPECT_EQ(observer.calls, lowered.report.calls.size());
}

TEST(Dispatch, WrongCodeIsABug) {
  for (const std::size_t which : {0U, 1U, 2U}) {
    Remover observer(which);
    EXPECT_THROW(lower(three_calls(), {.observer = &observer}), BugError) << which;
    EXPECT_NE(observer.seen.difference, "") << which;
  }
}

/// Makes the first call of a block twice; false when there is none.
bool double_first_call(ir::Function& f, ir::Block& block) {
  for (std::size_t i = 0; i < block.size(); ++i) {
    const ir::StmtId id = block[i];
    if (f[id].kind == ir::StmtKind::Tile) {
      const ir::StmtId again = f.add(ir::Stmt(f[id]));
      block.insert(block.begin() + static_cast<std::ptrdiff_t>(i) + 1, again);
      return true;
    }
    if (double_first_call(f, f.at(id).body)) return true;
  }
  return false;
}

// What proofs keep from one call to the next must not hide a fault in the next.
TEST(Dispatch, WrongCodeInTheSecondOfTwoLikeCallsIsABug) {
  ir::Function twice = three_calls();
  ASSERT_TRUE(double_first_call(twice, twice.body));
  Remover none(6);
  const Lowered lowered = lower(twice, {.observer = &none});
  ASSERT_EQ(lowered.report.calls.size(), 6U);
  for (const std::size_t which : {3U, 4U, 5U}) {
    EXPECT_EQ(lowered.report.calls[which].chosen, lowered.report.calls[which - 3].chosen);
    Remover observer(which);
    EXPECT_THROW(lower(twice, {.observer = &observer}), BugError) << which;
    EXPECT_NE(observer.seen.difference, "") << which;
  }
}

TEST(Dispatch, ObserversMayLetItPass) {
  Remover observer(1, true);
  EXPECT_TRUE(lower(three_calls(), {.observer = &observer}).function);
  EXPECT_FALSE(observer.seen.holds());
}

}  // namespace
}  // namespace ww::lower::dispatch_test
