// SPDX-License-Identifier: Apache-2.0
#include "lsp/connection.h"

#include <gtest/gtest.h>

#include <vector>

namespace ww::lsp {
namespace {

TEST(Connection, NumbersItsRequests) {
  std::vector<Json> sent;
  Connection connection("1.0", [&](const Json& message) { sent.push_back(message); });
  connection.ask("window/showDocument", Json::object());
  connection.notify("window/logMessage", Json::object());
  connection.ask("window/showDocument", Json::object());
  ASSERT_EQ(sent.size(), 3U);
  EXPECT_EQ(sent[0]["id"], "warpwright-1");
  EXPECT_FALSE(sent[1].contains("id"));
  EXPECT_EQ(sent[2]["id"], "warpwright-2");
}

TEST(Connection, SaysWhoseFaultABugIs) {
  Json sent;
  Connection connection("1.0", [&](const Json& message) { sent = message; });
  connection.say_bug("broken");
  EXPECT_EQ(sent["method"], "window/showMessage");
  EXPECT_EQ(sent["params"]["type"], 1);
  EXPECT_EQ(sent["params"]["message"],
            "internal error: broken; this is a bug in Warpwright 1.0, not in your file; please "
            "report it with the file");
}

}  // namespace
}  // namespace ww::lsp
