// SPDX-License-Identifier: Apache-2.0
// Who waits for an analysis, and what ends the wait. No analysis can be known while the test holds
// the connection's lock.
#include "lsp/analyst.h"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace ww::lsp {
namespace {

struct Desk {
  std::vector<Json> sent = {};
  Connection connection{"1.0", [this](const Json& message) { sent.push_back(message); }};
  Analyst analyst{connection};

  // With the lock held:
  void open() {
    analyst.open({{"textDocument", {{"uri", "file:///a.py"}, {"version", 1}, {"text", "x = 1"}}}});
  }
  void change() {
    analyst.change({{"textDocument", {{"uri", "file:///a.py"}, {"version", 2}}},
                    {"contentChanges", Json::array({{{"text", "x = 2"}}})}});
  }
  void ask(int id, std::string_view method) { ask(id, *find_request_method(method)); }
  void ask(int id, const RequestMethod& method) {
    analyst.answer(method, {.id = Json(id),
                            .params = {{"textDocument", {{"uri", "file:///a.py"}}},
                                       {"position", {{"line", 0}, {"character", 0}}}}});
  }
};

TEST(Analyst, AnswersWhenTheNewestTextIsKnown) {
  Desk desk;
  {
    const auto lock = desk.connection.lock();
    desk.open();
    desk.ask(7, "textDocument/documentSymbol");
    EXPECT_TRUE(desk.sent.empty());
    desk.ask(8, "textDocument/completion");
    ASSERT_EQ(desk.sent.size(), 1U) << "needs no analysis";
    EXPECT_EQ(desk.sent[0]["id"], 8);
  }
  desk.analyst.wait_until_idle();
  ASSERT_EQ(desk.sent.size(), 3U);
  EXPECT_EQ(desk.sent[1]["params"]["version"], 1);
  EXPECT_EQ(desk.sent[2]["id"], 7);
  EXPECT_TRUE(desk.sent[2].contains("result"));
}

TEST(Analyst, AChangeRefusesWhatWaits) {
  Desk desk;
  {
    const auto lock = desk.connection.lock();
    desk.open();
    desk.ask(7, "textDocument/hover");
    desk.change();
    ASSERT_EQ(desk.sent.size(), 1U);
    EXPECT_EQ(desk.sent[0]["id"], 7);
    EXPECT_EQ(desk.sent[0]["error"]["code"], -32801);
  }
  desk.analyst.wait_until_idle();
  ASSERT_EQ(desk.sent.size(), 2U) << "the older text gets no diagnostics";
  EXPECT_EQ(desk.sent[1]["params"]["version"], 2);
}

TEST(Analyst, WhatWaitsCanBeCancelled) {
  Desk desk;
  const auto lock = desk.connection.lock();
  desk.open();
  desk.ask(7, "textDocument/hover");
  EXPECT_FALSE(desk.analyst.cancel(8));
  EXPECT_TRUE(desk.analyst.cancel(7));
  EXPECT_FALSE(desk.analyst.cancel(7));
  ASSERT_EQ(desk.sent.size(), 1U);
  EXPECT_EQ(desk.sent[0]["error"]["code"], -32800);
}

TEST(Analyst, ABugLeavesNothingWaiting) {
  const RequestMethod broken{
      .name = "broken",
      .wants = RequestMethod::Wants::Analysis,
      .answer = [](const Asked&) -> Result<Json> { throw std::runtime_error("broken"); }};
  Desk desk;
  {
    const auto lock = desk.connection.lock();
    desk.open();
    desk.ask(7, "textDocument/documentSymbol");
    desk.ask(8, broken);
    desk.ask(9, "textDocument/documentSymbol");
  }
  desk.analyst.wait_until_idle();
  std::vector<std::string> responses;
  for (const Json& each : desk.sent)
    if (each.contains("id"))
      responses.push_back(each["id"].dump() + (each.contains("result") ? " answered" : " refused"));
  EXPECT_EQ(responses, (std::vector<std::string>{"7 answered", "8 refused", "9 refused"}));
}

TEST(Analyst, ItsEndRefusesWhatWaits) {
  std::vector<Json> sent;
  Connection connection("1.0", [&](const Json& message) { sent.push_back(message); });
  std::optional<Analyst> analyst(std::in_place, connection);
  auto lock = connection.lock();
  analyst->open({{"textDocument", {{"uri", "file:///a.py"}, {"version", 1}, {"text", "x = 1"}}}});
  analyst->answer(*find_request_method("textDocument/codeLens"),
                  {.id = Json(7), .params = {{"textDocument", {{"uri", "file:///a.py"}}}}});
  lock.unlock();
  analyst.reset();
  std::size_t responses = 0;  // the analysis may have ended before
  for (const Json& each : sent) responses += each.contains("id") ? 1U : 0U;
  EXPECT_EQ(responses, 1U);
}

TEST(Analyst, AChangeForgetsARunThatEndsLater) {
  Desk desk;
  {
    const auto lock = desk.connection.lock();
    desk.open();
  }
  desk.analyst.wait_until_idle();
  {
    const auto lock = desk.connection.lock();
    const std::vector<Problem> found = {
        {.code = "race", .text = "found", .span = Span::at(0, 1), .notes = {}}};
    desk.analyst.show_run("file:///a.py", 1, found);
    EXPECT_EQ(desk.sent.back()["params"]["diagnostics"].size(), 1U);
    desk.change();
    desk.analyst.show_run("file:///a.py", 1, found);  // the analysis is still of that version
  }
  desk.analyst.wait_until_idle();
  EXPECT_EQ(desk.sent.back()["params"]["version"], 2);
  EXPECT_EQ(desk.sent.back()["params"]["diagnostics"].size(), 0U);
}

}  // namespace
}  // namespace ww::lsp
