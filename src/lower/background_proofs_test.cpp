// SPDX-License-Identifier: Apache-2.0
// Proofs in the background find what proofs on the spot find, for calls of few elements, which get no
// thread, and of many, which do.
#include "lower/background_proofs.h"

#include <gtest/gtest.h>

#include <atomic>

#include "base/cancel.h"
#include "lower/proof/test_copies.h"

namespace ww::lower::background_proofs_test {
namespace {

using test::CopyCase;
using test::WrittenCopy;

// From shared memory to registers, so many elements for each thread.
CopyCase copy_of(std::int64_t each) {
  return {.variant = "reg",
          .unit = ir::Unit::Warp,
          .dtype = num::DType::Float32,
          .shape = {32, each},
          .dst_scope = ir::Scope::Local,
          .dst = fmt::format("S[(32,{}):(1@laneid,1)]", each),
          .src_scope = ir::Scope::Shared,
          .src = fmt::format("S[(32,{0}):({0},1)]", each)};
}
constexpr std::int64_t kFew = 4, kMany = 64;  // elements of a thread
constexpr int kCalls = 12;  // of 2 x 32 x 64 elements: more than one copy of the function

class Proofs : public testing::TestWithParam<std::int64_t> {
 protected:
  // The same call a number of times, one of them with another code.
  void add_all(const ir::Block& code, int place, const ir::Block& other) {
    for (int i = 0; i < kCalls; ++i)
      proofs_.add(copy_.call().context,
                  written_code(test::variant_of(case_), copy_.call(), fmt::format("call {}", i),
                               i == place ? other : code));
  }
  void close() { proofs_.close(copy_.call().context); }
  // A statement that no proof understands.
  ir::Block with_return() {
    ir::Block out = copy_.code;
    out.push_back(copy_.f.add(ir::Stmt{.kind = ir::StmtKind::Return}));
    return out;
  }

  CopyCase case_ = copy_of(GetParam());
  WrittenCopy copy_{case_};
  BackgroundProofs proofs_;
};

TEST_P(Proofs, HoldForWhatVariantsWrite) {
  ASSERT_EQ(copy_.reason, "");
  add_all(copy_.code, -1, {});
  close();
  EXPECT_TRUE(proofs_.settle().empty());
  EXPECT_TRUE(proofs_.settle().empty());  // and once more
}

TEST_P(Proofs, CatchCodeThatMovesNothing) {
  add_all(copy_.code, 7, {});
  close();
  try {
    (void)proofs_.settle();
    ADD_FAILURE() << "accepted";
  } catch (const BugError& bug) {
    EXPECT_NE(std::string(bug.what()).find("`reg` of `call 7` is wrong"), std::string::npos)
        << bug.what();
  }
}

TEST_P(Proofs, TellOfAllThatCouldNotBeProven) {
  const ir::Block code = with_return();
  add_all(code, 3, copy_.code);
  close();
  const std::vector<Diag> errors = proofs_.settle();
  ASSERT_EQ(errors.size(), kCalls - 1);
  EXPECT_EQ(errors.front().text, "`copy` could not be proven: a statement `Return`");
  EXPECT_EQ(errors.front().kind, DiagKind::NotLowered);
}

TEST_P(Proofs, WorkOnTheFunctionAsItWas) {
  add_all(copy_.code, -1, {});
  close();
  for (const ir::StmtId id : copy_.code) copy_.f.at(id) = {.kind = ir::StmtKind::Return};
  EXPECT_TRUE(proofs_.settle().empty());
}

TEST_P(Proofs, CheckTheLoweredProgramToo) {
  ir::Function broken;
  broken.level = ir::Level::Lowered;
  broken.body.push_back(broken.add(ir::Stmt{.kind = ir::StmtKind::Break}));
  add_all(copy_.code, -1, {});
  close();
  try {
    proofs_.check(broken, {});
    (void)proofs_.settle();
    ADD_FAILURE() << "accepted";
  } catch (const BugError& bug) {
    EXPECT_NE(std::string(bug.what()).find("lowering wrote a broken program: "), std::string::npos)
        << bug.what();
  }
}

TEST_P(Proofs, MayBeForgotten) {
  add_all(copy_.code, 0, {});  // and nothing is thrown
  close();
}

TEST_P(Proofs, EndWhenTheWorkIsCancelled) {
  const std::atomic<bool> stop = true;
  const CancelScope scope(stop);
  add_all(copy_.code, -1, {});
  close();
  EXPECT_THROW((void)proofs_.settle(), Cancelled);
}

INSTANTIATE_TEST_SUITE_P(Elements, Proofs, testing::Values(kFew, kMany),
                         testing::PrintToStringParamName());

TEST(ProofsOfNothing, HaveNoErrors) {
  BackgroundProofs proofs;
  EXPECT_TRUE(proofs.settle().empty());
}

}  // namespace
}  // namespace ww::lower::background_proofs_test
