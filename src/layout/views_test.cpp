// SPDX-License-Identifier: Apache-2.0
#include "layout/views.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "layout/text.h"

namespace ww::layout::views_test {
namespace {

// Every list of up to four numbers from -1 to 3: a permutation of three iters or not.
TEST(Permuted, OnlyByPermutations) {
  const Layout layout = parse_layout("S[(2,3,5):(1,2,6)]").value();
  const std::vector<std::int64_t> shape = {2, 3, 5}, sorted = {0, 1, 2};
  constexpr std::int64_t kNumbers = 5;
  int good = 0;
  for (std::int64_t length = 0, lists = 1; length <= 4; ++length, lists *= kNumbers)
    for (std::int64_t code = 0; code < lists; ++code) {
      std::vector<std::int64_t> list;
      for (std::int64_t rest = code, i = 0; i < length; ++i, rest /= kNumbers)
        list.push_back(rest % kNumbers - 1);
      const bool is_one = std::ranges::is_permutation(list, sorted);
      const auto iters = permute_iters(layout, list);
      const auto dims = permute_dims(layout, shape, list);
      EXPECT_EQ(iters.has_value(), is_one);
      EXPECT_EQ(dims.has_value(), is_one);
      if (!is_one || !iters || !dims) continue;
      ++good;
      EXPECT_EQ(*iters, *dims);
    }
  EXPECT_EQ(good, 6);
  EXPECT_EQ(to_text(*permute_iters(layout, std::vector<std::int64_t>{2, 0, 1})),
            "S[(5,2,3):(6,1,2)]");
  EXPECT_EQ(permute_iters(layout, std::vector<std::int64_t>{0, 1, 3}).error().text,
            "(0,1,3) is not a permutation of the 3 iters");
}

}  // namespace
}  // namespace ww::layout::views_test
