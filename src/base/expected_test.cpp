// SPDX-License-Identifier: Apache-2.0
#include "base/expected.h"

#include <gtest/gtest.h>

#include <any>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace ww::expected_test {
namespace {

using Text = Expected<std::string, std::string>;
using Done = Expected<void, std::string>;

// Counts its living copies: none is lost, none destroyed twice.
struct Counted {
  static inline int living = 0;
  Counted() { ++living; }
  Counted(const Counted&) { ++living; }
  Counted(Counted&&) noexcept { ++living; }
  Counted& operator=(const Counted&) = default;
  Counted& operator=(Counted&&) = default;
  ~Counted() { --living; }
};

TEST(Expected, HasAValueOrAReason) {
  const Text good = "yes";
  const Text bad = Unexpected<std::string>("no");
  EXPECT_TRUE(good.has_value());
  EXPECT_EQ(*good, "yes");
  EXPECT_EQ(good->size(), 3U);
  EXPECT_FALSE(bad);
  EXPECT_EQ(bad.error(), "no");
  EXPECT_TRUE(Done());
  EXPECT_EQ(Done(Unexpected<std::string>("no")).error(), "no");
}

TEST(Expected, IsCopiedMovedAndAssignedWithEitherSide) {
  Text good = std::string("yes");
  Text bad = Unexpected<std::string>("no");
  const Text copy = bad;
  EXPECT_EQ(copy.error(), "no");
  EXPECT_EQ(bad.error(), "no") << "a copy leaves the original alone";
  good = bad;
  EXPECT_EQ(good.error(), "no");
  bad = Text("again");
  EXPECT_EQ(*bad, "again");
  good = std::move(bad);
  EXPECT_EQ(*good, "again");
  Done done;
  done = Unexpected<std::string>("no");
  EXPECT_EQ(Done(done).error(), "no");
}

TEST(Expected, HandsOnTheReasonToAnotherType) {
  Text bad = Unexpected<std::string>("no");
  const Expected<int, std::string> other = std::move(bad).failure();
  EXPECT_EQ(other.error(), "no");
  EXPECT_FALSE(bad.has_value()) << "it is still no value, if without a reason";
  const Expected<int, std::string> copied = other.failure();
  EXPECT_EQ(copied.error(), other.error());
}

TEST(Expected, ConvertsAsItsValueDoes) {
  const Expected<std::any, std::string> any = std::any(3);
  EXPECT_EQ(std::any_cast<int>(*any), 3);
  const Expected<std::string, std::string> wider = Expected<const char*, std::string>("yes");
  EXPECT_EQ(*wider, "yes");
  const Expected<std::string, std::string> still =
      Expected<const char*, std::string>(Unexpected<std::string>("no"));
  EXPECT_EQ(still.error(), "no");
  static_assert(!std::is_convertible_v<int, Expected<std::vector<int>, std::string>>);
  static_assert(std::is_constructible_v<Expected<std::vector<int>, std::string>, int>);
}

TEST(Expected, TakesWhatCannotBeCopied) {
  Expected<std::unique_ptr<int>, std::string> only = std::make_unique<int>(7);
  const Expected<std::unique_ptr<int>, std::string> moved = std::move(only);
  EXPECT_EQ(**moved, 7);
  static_assert(!std::is_copy_constructible_v<Expected<std::unique_ptr<int>, std::string>>);
}

TEST(Expected, FallsBackOnAnotherValue) {
  EXPECT_EQ(Text("yes").value_or("else"), "yes");
  EXPECT_EQ(Text(Unexpected<std::string>("no")).value_or("else"), "else");
}

TEST(Expected, AValueThatIsNotThereIsABug) {
  EXPECT_EQ(Text("yes").value(), "yes");
  EXPECT_THROW((void)Text(Unexpected<std::string>("no")).value(), BugError);
  EXPECT_THROW(Done(Unexpected<std::string>("no")).value(), BugError);
}

TEST(Expected, EndsTheLifeOfEveryObjectOnce) {
  Counted::living = 0;
  {
    Expected<Counted, Counted> good = Counted();
    Expected<Counted, Counted> bad = Unexpected<Counted>(Counted());
    Expected<Counted, Counted> other = bad;
    other = good;
    good = std::move(bad);
    other = std::move(good).failure();
    std::vector<Expected<Counted, Counted>> many(3, other);
    many.push_back(std::move(other));
    EXPECT_GT(Counted::living, 0);
  }
  EXPECT_EQ(Counted::living, 0);
}

Result<int> half(int number) {
  if (number % 2 != 0) return fail(DiagKind::BadArgument, "{} is odd", number);
  return number / 2;
}
Result<std::string> quarter(int number) {
  const int quarter = WW_TRY(half(WW_TRY(half(number))));
  WW_TRY_VOID(half(quarter * 2));
  return std::to_string(quarter);
}

TEST(Expected, TryReturnsTheFirstReason) {
  EXPECT_EQ(quarter(12).value(), "3");
  EXPECT_EQ(quarter(7).error().text, "7 is odd");
  EXPECT_EQ(quarter(6).error().text, "3 is odd");
}

}  // namespace
}  // namespace ww::expected_test
