// SPDX-License-Identifier: Apache-2.0
#include "soak/order.h"

#include <gtest/gtest.h>

#include "soak/draft.h"

namespace ww::test::order_test {
namespace {

// What is written before an access, of a program of warps.
std::string before(Draft& draft, bool is_write, bool is_far) {
  const std::size_t size = draft.text.kernel().size();
  order_access(draft, {}, draft.shared[0], is_write, is_far);
  return draft.text.kernel().substr(size);
}

TEST(Order, TheWeakestBarrierIsWritten) {
  const Choices choices;
  Tape tape(choices);
  Draft draft(tape);
  draft.shared = {{.name = "s0", .dtype = "float32", .shape = {8, 8}}};
  EXPECT_EQ(before(draft, true, false), "");
  EXPECT_EQ(before(draft, false, false), "    T.cuda.warp_sync()\n");
  EXPECT_EQ(before(draft, false, false), "");
  EXPECT_EQ(before(draft, false, true), "    T.cuda.cta_sync()\n");
  EXPECT_EQ(before(draft, false, false), "");
  EXPECT_EQ(before(draft, true, false), "    T.cuda.cta_sync()\n");
  draft.shared[0].is_arriving = true;
  EXPECT_EQ(before(draft, false, false),
            "    T.ptx.cp_async.wait_group(0)\n    T.cuda.warp_sync()\n");
}

// The choices say: something is left out, two of its kind come before it, it is a wait.
TEST(Order, OneOfItsKindIsLeftOut) {
  using Kind = Omission::Kind;
  const Choices choices = {7, 2, 3};
  Tape tape(choices);
  Omission omission(tape);
  EXPECT_FALSE(omission.takes(Kind::Wait, {"s0"}));
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(omission.takes(Kind::Barrier, {"s0"}));
  EXPECT_FALSE(omission.takes(Kind::Wait, {"s0"}));
  EXPECT_FALSE(omission.left_out());
  EXPECT_TRUE(omission.takes(Kind::Wait, {"s1"}));
  EXPECT_FALSE(omission.takes(Kind::Wait, {"s0"}));
  ASSERT_TRUE(omission.left_out());
  EXPECT_EQ(omission.left_out()->what, "wait");
  EXPECT_EQ(omission.left_out()->between, std::set<std::string>{"s1"});
}

}  // namespace
}  // namespace ww::test::order_test
