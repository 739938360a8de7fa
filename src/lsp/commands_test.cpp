// SPDX-License-Identifier: Apache-2.0
// Which command a cancellation ends. No command can end while the test holds the connection's lock.
#include "lsp/commands.h"

#include <gtest/gtest.h>

#include <vector>

#include "lsp/test_server.h"

namespace ww::lsp {
namespace {

TEST(Commands, CancellingOneThatWasReplacedLeavesTheNewer) {
  std::vector<Json> sent;
  Connection connection("1.0", [&](const Json& message) { sent.push_back(message); });
  Analyst analyst(connection);
  Commands commands(connection, analyst, {});
  const auto run = [&](int id) {
    commands.execute({.id = Json(id),
                      .params = {{"command", "warpwright.run"},
                                 {"arguments", Json::array({kTestUri, "move"})}}});
  };
  auto lock = connection.lock();
  analyst.open(
      {{"textDocument", {{"uri", kTestUri}, {"version", 1}, {"text", kernel_text(kGoodBody)}}}});
  lock.unlock();
  analyst.wait_until_idle();
  lock.lock();
  run(1);
  run(2);
  commands.cancel(Json(1));
  lock.unlock();
  commands.wait_until_idle();
  std::size_t responses = 0;
  for (const Json& each : sent) {
    if (!each.contains("id")) continue;
    ++responses;
    EXPECT_TRUE(each["id"] == 1 || each.contains("result")) << each.dump();
  }
  EXPECT_EQ(responses, 2U);
}

}  // namespace
}  // namespace ww::lsp
