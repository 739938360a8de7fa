// SPDX-License-Identifier: Apache-2.0
#include "base/base64.h"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

namespace ww::base64_test {
namespace {

// The test vectors of RFC 4648, and bytes of the upper half.
TEST(Base64, PadsToFourCharacters) {
  const std::pair<std::string_view, std::string_view> rows[] = {{"", ""},
                                                                {"f", "Zg=="},
                                                                {"fo", "Zm8="},
                                                                {"foo", "Zm9v"},
                                                                {"foob", "Zm9vYg=="},
                                                                {"fooba", "Zm9vYmE="},
                                                                {"foobar", "Zm9vYmFy"},
                                                                {"\xFB\xFF", "+/8="}};
  for (const auto& [bytes, text] : rows) EXPECT_EQ(base64(std::as_bytes(std::span(bytes))), text);
}

}  // namespace
}  // namespace ww::base64_test
