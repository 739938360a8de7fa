// SPDX-License-Identifier: Apache-2.0
// A server's life: what it says to messages in the wrong order, of the wrong form, or too late.
#include "lsp/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <thread>

#include "lsp/test_server.h"

namespace ww::lsp {
namespace {

using testing::HasSubstr;

Json error_of(const Json& response) { return response.value("error", Json()); }

struct Plain {
  std::vector<Json> sent;
  Server server{{}, [this](const Json& message) { sent.push_back(message); }};
};

TEST(Server, WantsInitializeFirst) {
  Plain plain;
  plain.server.receive(R"({"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":{}})");
  plain.server.receive(R"({"jsonrpc":"2.0","method":"textDocument/didOpen","params":{}})");
  ASSERT_EQ(plain.sent.size(), 1U);
  EXPECT_EQ(plain.sent[0]["error"]["code"], -32002);
  EXPECT_EQ(plain.sent[0]["error"]["message"], "`textDocument/hover` before `initialize`");
}

TEST(Server, AnswersWhatIsNoMessage) {
  Plain plain;
  plain.server.receive("{");
  plain.server.receive("[]");
  ASSERT_EQ(plain.sent.size(), 2U);
  EXPECT_EQ(plain.sent[0]["error"]["code"], -32700);
  EXPECT_TRUE(plain.sent[0]["id"].is_null());
  EXPECT_EQ(plain.sent[1]["error"]["code"], -32600);
}

TEST(Server, ExitsAsTheProtocolSays) {
  Plain plain;
  EXPECT_EQ(plain.server.status(), 1);
  plain.server.receive(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{}})");
  plain.server.receive(R"({"jsonrpc":"2.0","id":2,"method":"shutdown"})");
  EXPECT_FALSE(plain.server.is_done());
  plain.server.receive(R"({"jsonrpc":"2.0","id":3,"method":"textDocument/hover","params":{}})");
  EXPECT_EQ(plain.sent.back()["error"]["message"], "`textDocument/hover` after `shutdown`");
  plain.server.receive(R"({"jsonrpc":"2.0","method":"exit"})");
  EXPECT_TRUE(plain.server.is_done());
  EXPECT_EQ(plain.server.status(), 0);
}

TEST(Server, SaysWhatIsWrongWithARequest) {
  TestServer client;
  EXPECT_EQ(error_of(client.request("initialize", Json::object()))["message"],
            "`initialize` for the second time");
  EXPECT_EQ(error_of(client.request("textDocument/rename", Json::object()))["code"], -32601);
  EXPECT_EQ(error_of(client.request("textDocument/hover", 7))["message"],
            "`textDocument.uri` is missing, expected a text");
  const Json unknown = {{"textDocument", {{"uri", "file:///x"}}}};
  EXPECT_EQ(error_of(client.request("textDocument/hover", unknown))["message"],
            "`file:///x` is not open");
  client.show(kernel_text(kGoodBody));
  const Json bare = {{"textDocument", {{"uri", kTestUri}}}};
  EXPECT_EQ(error_of(client.request("textDocument/hover", bare))["message"],
            "`position.line` is missing, expected a whole number");
  client.notify("textDocument/didChange", Json::object());
  EXPECT_EQ(client.last("window/logMessage")["message"],
            "`textDocument.uri` is missing, expected a text");
}

TEST(Server, ChoosesTheEncoding) {
  const auto chosen = [](const Json& capabilities) {
    Plain plain;
    plain.server.receive(Json{{"jsonrpc", "2.0"},
                              {"id", 1},
                              {"method", "initialize"},
                              {"params", {{"capabilities", capabilities}}}}
                             .dump());
    return plain.sent[0]["result"]["capabilities"]["positionEncoding"];
  };
  EXPECT_EQ(chosen(Json::object()), "utf-16");
  EXPECT_EQ(chosen({{"general", {{"positionEncodings", Json::array({"utf-32", "utf-8"})}}}}),
            "utf-8");
}

TEST(Server, AChangeEndsWhatWaits) {
  TestServer client;
  const Json document = {{"uri", kTestUri}, {"version", 1}, {"text", kernel_text(kGoodBody)}};
  // All of this arrives before the first analysis can have ended, or the answer is there: both are
  // right, and nothing is left without one.
  client.notify("textDocument/didOpen", {{"textDocument", document}});
  const int id = client.ask("textDocument/codeLens", {{"textDocument", {{"uri", kTestUri}}}});
  client.notify("$/cancelRequest", {{"id", id}});
  const Json lens =
      client.request("textDocument/codeLens", {{"textDocument", {{"uri", kTestUri}}}});
  EXPECT_EQ(lens["result"].size(), 2U);
  client.notify("textDocument/didClose", {{"textDocument", {{"uri", kTestUri}}}});
  EXPECT_EQ(client.last("textDocument/publishDiagnostics")["diagnostics"].size(), 0U);
}

TEST(Server, ManyChangesLeaveTheLast) {
  TestServer client;
  client.show(kernel_text(kGoodBody));
  for (int version = 2; version <= 30; ++version) {
    const std::string text = kernel_text(version == 30 ? "    nothing()\n" : kGoodBody);
    client.notify("textDocument/didChange",
                  {{"textDocument", {{"uri", kTestUri}, {"version", version}}},
                   {"contentChanges", Json::array({{{"text", text}}})}});
  }
  client.server().wait_until_idle();
  const Json last = client.last("textDocument/publishDiagnostics");
  EXPECT_EQ(last["version"], 30);
  EXPECT_THAT(last["diagnostics"][0]["message"].get<std::string>(), HasSubstr("nothing"));
}

// A law about any bytes: the server is there afterwards.
TEST(Server, SurvivesMutatedMessages) {
  const std::string messages[] = {
      Json{{"jsonrpc", "2.0"},
           {"method", "textDocument/didOpen"},
           {"params",
            {{"textDocument",
              {{"uri", kTestUri}, {"version", 1}, {"text", kernel_text(kGoodBody)}}}}}}
          .dump(),
      R"({"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":)"
      R"("file:///tmp/kernel.py","version":2},"contentChanges":[{"range":{"start":{"line":5,)"
      R"("character":3},"end":{"line":6,"character":0}},"text":"x = 1\n"}]}})",
      R"({"jsonrpc":"2.0","id":7,"method":"textDocument/hover","params":{"textDocument":{"uri":)"
      R"("file:///tmp/kernel.py"},"position":{"line":11,"character":18}}})",
      R"({"jsonrpc":"2.0","id":7,"method":"textDocument/completion","params":{"textDocument":)"
      R"({"uri":"file:///tmp/kernel.py"},"position":{"line":9,"character":9}}})",
      R"({"jsonrpc":"2.0","id":7,"method":"workspace/executeCommand","params":{"command":)"
      R"("warpwright.explore","arguments":["file:///tmp/kernel.py","move"]}})"};
  std::mt19937 random(1);  // NOLINT: the same each time
  TestServer client(Json::object(), {.explore = {"/bin/false"}});
  client.show(kernel_text(kGoodBody));
  for (int i = 0; i < 1500; ++i) {
    std::string text = messages[random() % std::size(messages)];
    for (std::uint32_t edits = random() % 4; edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      if (random() % 2 == 0)
        text[at] = static_cast<char>(random());
      else
        text.erase(at, random() % 20);
    }
    if (text.find("\"exit\"") == std::string::npos) client.server().receive(text);
  }
  client.server().wait_until_idle();
  EXPECT_TRUE(client.request("shutdown", nullptr)["result"].is_null());
}

// --- commands ------------------------------------------------------------------------------------

Json command(const std::string& name, const std::string& expression) {
  return {{"command", name}, {"arguments", Json::array({kTestUri, expression})}};
}

TEST(Commands, RunOnTheVirtualGpu) {
  TestServer client;
  client.show("#  warpwright run kernel.py --expect 'B == A'\n" + kernel_text(kGoodBody));
  const Json result =
      client.request("workspace/executeCommand", command("warpwright.run", "move"))["result"];
  EXPECT_EQ(result["good"], true);
  EXPECT_EQ(client.last("window/showMessage")["message"],
            "move: finished on the virtual GPU, nothing found; `B == A` holds for 2048 elements");
  EXPECT_THAT(result["report"].get<std::string>(), HasSubstr("launch      grid 1, block 128"));
  EXPECT_TRUE(client.diagnostics().empty());
}

TEST(Commands, ShowFindingsAtTheirLines) {
  TestServer client;
  const std::string text = "# warpwright: move --expect 'B == 0'\n" +
                           kernel_text(
                               "    staged[tid % 64, 0] = A[0, 0]\n"
                               "    B[0, tid % 32] = staged[63 - tid % 64, 0]\n");
  client.show(text);
  const Json result =
      client.request("workspace/executeCommand", command("warpwright.run", "move"))["result"];
  EXPECT_EQ(result["good"], false);
  EXPECT_EQ(client.last("window/showMessage")["type"], 2);
  const auto found = client.diagnostics();
  EXPECT_THAT(found, testing::Contains(testing::AllOf(testing::StartsWith("13:5 2 race"),
                                                      HasSubstr("on the virtual GPU: "))));
  EXPECT_THAT(found, testing::Contains(testing::StartsWith("6:5 2 expect")));
  client.show(text + "\n");
  EXPECT_TRUE(client.diagnostics().empty()) << "a change forgets the run";
}

TEST(Commands, RunsCanBeCancelled) {
  TestServer client;
  client.show(
      kernel_text("    flag = T.alloc_local((1,), \"int32\")\n"
                  "    flag[0] = 0\n"
                  "    while flag[0] == 0:\n"
                  "        flag[0] = A[0, 0] < A[0, 0]\n"));
  ASSERT_THAT(client.diagnostics(), testing::IsEmpty());
  for (const int milliseconds : {0, 50}) {  // before it begins, perhaps, and on the virtual GPU
    const int id = client.ask("workspace/executeCommand", command("warpwright.run", "move"));
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    client.notify("$/cancelRequest", {{"id", id}});
    EXPECT_EQ(error_of(client.response(id))["code"], -32800);
  }
}

TEST(Commands, ReportWhatCannotRun) {
  TestServer client;
  client.show("# warpwright: move --arg Q=zeros\n" + kernel_text(kGoodBody));
  const Json result =
      client.request("workspace/executeCommand", command("warpwright.run", "move"))["result"];
  EXPECT_EQ(result["good"], false);
  EXPECT_EQ(client.last("window/showMessage")["type"], 1);
  EXPECT_THAT(result["message"].get<std::string>(), HasSubstr("`Q`"));
}

TEST(Commands, AreChecked) {
  TestServer client;
  client.show(kernel_text(kGoodBody));
  const auto reason = [&](const Json& params) {
    return error_of(client.request("workspace/executeCommand", params))["message"];
  };
  EXPECT_EQ(reason(Json::object()), "`command` is missing, expected a text");
  EXPECT_EQ(reason({{"command", "rm"}}),
            "no command `rm`, expected `warpwright.run` or `warpwright.explore`");
  EXPECT_EQ(reason({{"command", "warpwright.run"}}),
            "`arguments` are not the URI of a document and a kernel expression");
  EXPECT_EQ(reason(command("warpwright.run", "gone")),
            "`gone` is no kernel of `file:///tmp/kernel.py` now");
}

TEST(Commands, OpenTheExplorer) {
  // Stands for `warpwright explore FILE`: the first line is the address.
  const std::vector<std::string> explore = {"/bin/sh", "-c",
                                            "echo http://127.0.0.1:8000$1; exec sleep 600", "sh"};
  const Json shows = {{"window", {{"showDocument", {{"support", true}}}}}};
  TestServer client(shows, {.explore = explore});
  client.show(kernel_text(kGoodBody));
  const Json wanted = {{"address", "http://127.0.0.1:8000/tmp/kernel.py"}};
  for (int i = 0; i < 2; ++i)  // the second time it is there
    EXPECT_EQ(
        client.request("workspace/executeCommand", command("warpwright.explore", "move"))["result"],
        wanted);
  EXPECT_EQ(client.last("window/showDocument")["uri"], "http://127.0.0.1:8000/tmp/kernel.py");
  EXPECT_EQ(client.last("window/showDocument")["external"], true);
}

TEST(Commands, SayWhyThereIsNoExplorer) {
  const auto reason = [](const std::vector<std::string>& explore) {
    TestServer client(Json::object(), {.explore = explore});
    client.show(kernel_text(kGoodBody));
    return error_of(client.request("workspace/executeCommand",
                                   command("warpwright.explore", "move")))["message"]
        .get<std::string>();
  };
  EXPECT_EQ(reason({"/bin/sh", "-c", "echo no port >&2; exit 3"}),
            "`/bin/sh explore` gave no address and ended with status 3: no port");
  EXPECT_THAT(reason({"/no/such/program"}), HasSubstr("/no/such/program"));
}

}  // namespace
}  // namespace ww::lsp
