// SPDX-License-Identifier: Apache-2.0
#include "base/small_vec.h"

#include <gtest/gtest.h>

#include <numeric>
#include <utility>
#include <vector>

namespace ww::small_vec_test {
namespace {

using Small = SmallVec<int, 3>;

std::vector<int> contents(const Small& v) { return {v.begin(), v.end()}; }

Small counting(int n) {
  Small out;
  for (int i = 0; i < n; ++i) out.push_back(i);
  return out;
}

TEST(SmallVec, KeepsValuesInOrderInsideAndOnTheHeap) {
  for (const int n : {0, 1, 3, 4, 7, 100}) {
    std::vector<int> expected(static_cast<std::size_t>(n));
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(contents(counting(n)), expected) << n;
  }
}

TEST(SmallVec, CopiesAreIndependent) {
  for (const int n : {2, 5}) {
    Small a = counting(n);
    Small b = a;
    b[0] = 42;
    EXPECT_EQ(a[0], 0);
    a = b;
    EXPECT_EQ(a[0], 42);
    EXPECT_EQ(a, b);
  }
}

TEST(SmallVec, MovesLeaveAnEmptyButUsableVector) {
  for (const int n : {2, 5}) {
    Small a = counting(n);
    Small b = std::move(a);
    EXPECT_EQ(contents(b), contents(counting(n)));
    EXPECT_TRUE(a.empty());  // NOLINT(bugprone-use-after-move): that is the claim
    a.push_back(7);
    EXPECT_EQ(contents(a), std::vector<int>{7});
    Small c = counting(9);
    c = std::move(b);
    EXPECT_EQ(contents(c), contents(counting(n)));
  }
}

TEST(SmallVec, InsertEraseAppendPop) {
  Small v{1, 3};
  v.insert(1, 2);
  v.insert(0, 0);
  v.append(Small{4, 5});
  EXPECT_EQ(contents(v), (std::vector<int>{0, 1, 2, 3, 4, 5}));
  v.erase(2);
  v.pop_back();
  EXPECT_EQ(contents(v), (std::vector<int>{0, 1, 3, 4}));
}

}  // namespace
}  // namespace ww::small_vec_test
