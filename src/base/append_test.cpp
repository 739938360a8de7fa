// SPDX-License-Identifier: Apache-2.0
#include "base/append.h"

#include <gtest/gtest.h>

namespace ww::append_test {
namespace {

TEST(Append, AddsToWhatIsThere) {
  std::string out = "> ";
  append(out, "{} of {:>{}}", 1, "two", 5);
  append(out, "{}", std::string("."));
  EXPECT_EQ(out, "> 1 of   two.");
}

}  // namespace
}  // namespace ww::append_test
