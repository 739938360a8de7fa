// SPDX-License-Identifier: Apache-2.0
// What a hostile page, a broken client and an endless kernel can do to the explorer: nothing. Each
// test has a server process of its own, and looks at what is left of it afterwards.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/process.h"
#include "tools/explore_server/requests.h"
#include "tools/explore_server/server.h"

namespace ww::explore_server_test {
namespace {

using nlohmann::json;
using testing::AnyOf;
using testing::Each;
using testing::ElementsAre;
using testing::Eq;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Its loop has no end.
constexpr const char* kEndless = R"(
@T.prim_func
def endless(A: T.Buffer((32,), "int32")):
    T.device_entry()
    T.cta_id([1])
    t = T.thread_id([32])
    x: T.int32 = 1
    while x > 0:
        x = x % 1000 + 1
    A[t] = x
)";

// The lines of a stream, out of the pieces in which it came.
std::vector<json> stream_lines(const std::string& body) {
  std::vector<json> out;
  for (std::size_t at = body.find('{'); at != std::string::npos; at = body.find("\n{", at)) {
    if (body[at] == '\n') ++at;
    out.push_back(json::parse(body.substr(at, body.find('\n', at) - at), nullptr, false));
  }
  return out;
}

// --- what it serves ------------------------------------------------------------------------------

TEST(ExploreServer, ServesPageAndCallsWithStrictHeaders) {
  const Server server;
  const Reply start = server.get("api/start");
  ASSERT_EQ(start.status, 200);
  EXPECT_EQ(json::parse(start.body)["schema"], "warpwright/explore-start/1");
  for (const char* header :
       {"Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'",
        "frame-ancestors 'none'", "X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer",
        "Cache-Control: no-store", "Cross-Origin-Resource-Policy: same-origin"})
    EXPECT_THAT(start.head, HasSubstr(header));
  EXPECT_THAT(start.head, Not(HasSubstr("Access-Control-Allow")));
  EXPECT_EQ(server.get("no/such/file").status, 404);
  EXPECT_EQ(server.get("../../etc/passwd").status, 404);
  EXPECT_EQ(server.get("%2e%2e/etc/passwd").status, 404);
  EXPECT_EQ(server.get("api/check").status, 405);
  EXPECT_EQ(server.post("nothing", "{}").status, 404);
}

TEST(ExploreServer, AnswersAboutAProgram) {
  const Server server;
  const std::string source = example("transpose.py");
  const json check = json::parse(server.post("check", program(source).dump()).body);
  EXPECT_TRUE(check["good"]);
  EXPECT_EQ(check["functions"][0]["params"][2]["default"], "64");
  const json code = json::parse(server.post("code", program(source).dump()).body);
  for (const json& column : code["columns"]) {
    EXPECT_EQ(column["text"].size(), column["source_lines"].size()) << column["form"];
    EXPECT_THAT(column["source_lines"].get<std::vector<int>>(), testing::Contains(33))
        << column["form"];
  }
  const json explain = json::parse(server.post("explain", program(source).dump()).body);
  EXPECT_EQ(explain["explain"]["primitives"].size(), 4U);
  json wrong = program(source);
  wrong["source"] = source.substr(0, source.find("cta_sync")) + "cta_snyc" +
                    source.substr(source.find("cta_sync") + 8);
  const json found = json::parse(server.post("check", wrong.dump()).body)["diagnostics"];
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0]["fix"]["edits"][0]["text"], "cta_sync");
}

// --- who may use it ------------------------------------------------------------------------------

TEST(ExploreServer, OthersGetNothing) {
  const Server server;
  const std::string good = server.head("check", 2) + "{}";
  ASSERT_EQ(server.raw(good).status, 200);
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string out = good;
    out.replace(out.find(from), from.size(), to);
    return server.raw(out);
  };
  const Reply wrong = changed(server.token(), std::string(32, '0'));
  EXPECT_EQ(wrong.status, 404);
  EXPECT_EQ(wrong.body, "");
  EXPECT_EQ(changed("/" + server.token(), "").status, 404);
  EXPECT_EQ(changed("Host: 127.0.0.1", "Host: evil.example").status, 404);
  EXPECT_EQ(changed("Origin: http://127.0.0.1", "Origin: http://evil.example").status, 403);
  EXPECT_EQ(changed("same-origin", "cross-site").status, 403);
  EXPECT_EQ(changed("application/json", "text/plain").status, 415);
  EXPECT_EQ(changed("POST", "OPTIONS").status, 405);
  EXPECT_EQ(changed("POST", "DELETE").status, 405);
  EXPECT_EQ(server.raw(good).status, 200);
}

TEST(ExploreServer, APortIsItsOwn) {
  const Server first;
  const Server second({"--port", "0"});
  EXPECT_NE(first.port(), second.port());
  EXPECT_NE(first.token(), second.token());
  const auto third = run_program({WW_PROGRAM, "explore", "--port", std::to_string(first.port())});
  ASSERT_TRUE(third);
  EXPECT_EQ(third->status, 2);
  EXPECT_THAT(third->output, HasSubstr(fmt::format("cannot listen on port {} of 127.0.0.1: "
                                                   "Address already in use",
                                                   first.port())));
}

TEST(ExploreServer, ServesAllTheSameWhereNoBrowserOpens) {
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", "/nowhere", 1);
  const Server server({"--open"});
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_THAT(server.said(), HasSubstr("`--open`: neither `xdg-open` nor `open` is on the PATH"));
  EXPECT_EQ(server.get("api/start").status, 200);
}

// --- sizes, times, numbers -----------------------------------------------------------------------

TEST(ExploreServer, RefusesWhatIsTooLargeOrNoJson) {
  Server server;
  EXPECT_EQ(server.raw(server.head("check", 5 << 20)).status, 413);
  EXPECT_EQ(server.raw(server.head("check", 5 << 20) + std::string(5 << 20, 'x')).status, 413);
  EXPECT_EQ(server.get(std::string(100'000, 'a')).status == 200, false);
  EXPECT_NE(server.raw("GET / HTTP/1.1\r\nX: " + std::string(1 << 20, 'a') + "\r\n\r\n").status,
            200);
  EXPECT_NE(server.raw("nonsense\r\n\r\n").status, 200);
  EXPECT_NE(server.raw(std::string(1000, '\0') + "\r\n\r\n").status, 200);
  for (const std::string body :
       {"", "{", "[]", "null", "{\"source\": 3}", "{\"source\": \"\xff\xfe\"}",
        "{\"a\":1}{\"b\":2}", "{\"kernel\": \"@/etc/passwd\"}"})
    EXPECT_EQ(server.post("check", body).status, body == "{}" ? 200 : 400) << body;
  EXPECT_EQ(server.post("check", "{\"a\":" + std::string(1 << 20, '[')).status, 400);
  EXPECT_EQ(server.post("run", "{\"source\": \"\", \"args\": {\"A\": \"@/etc/passwd\"}}").status,
            400);
  EXPECT_EQ(server.post("state", "{\"recording\": 12345}").status, 400);
  EXPECT_TRUE(server.is_alive());
  EXPECT_EQ(server.get("api/start").status, 200);
}

TEST(ExploreServer, SlowAndSilentClientsHoldUpNobody) {
  const Server server;
  const std::size_t files = server.usage().files;
  std::vector<Client> slow;
  for (int i = 0; i < 60; ++i) slow.push_back(server.connect());
  std::atomic<bool> over = false;
  // A byte now and then, which would never end.
  std::thread dripping([&] {
    const std::string head = server.head("check", 1000);
    for (std::size_t at = 0; at < head.size() && !over; ++at) {
      for (std::size_t i = 0; i < 20; ++i) (void)slow[i].send(head.substr(at, 1));
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  });
  for (std::size_t i = 20; i < 40; ++i) (void)slow[i].send(server.head("check", 1000) + "{");
  EXPECT_EQ(server.get("api/start").status, 200);
  EXPECT_EQ(server.post("check", program("").dump()).status, 200);
  for (std::size_t i = 40; i < 60; ++i) slow[i].half_close();
  for (const Client& each : slow) (void)each.receive_all();  // until the server gives up
  over = true;
  dripping.join();
  server.settle();
  slow.clear();
  EXPECT_LE(server.usage().files, files);
  EXPECT_EQ(server.get("api/start").status, 200);
}

TEST(ExploreServer, TwoHundredAtOnce) {
  const Server server;
  const std::string body = program(example("transpose.py")).dump();
  std::vector<int> statuses(200);
  std::vector<std::thread> clients;
  for (std::size_t i = 0; i < statuses.size(); ++i)
    clients.emplace_back([&, i] {
      statuses[i] = (i % 4 == 0 ? server.post("check", body) : server.get("api/start")).status;
    });
  for (std::thread& client : clients) client.join();
  EXPECT_THAT(statuses, Each(AnyOf(Eq(200), Eq(503))));
  EXPECT_GE(std::ranges::count(statuses, 200), 60);
  server.settle();
  EXPECT_LT(server.usage().kilobytes, 1U << 20U);
  EXPECT_EQ(server.get("api/start").status, 200);
}

// --- work ----------------------------------------------------------------------------------------

TEST(ExploreServer, RunsAndShowsStates) {
  const Server server;
  json request = program(example("transpose.py"));
  request["expects"] = {"B == A.T"};
  request["schedule"] = "step";
  const auto lines = stream_lines(server.post("run", request.dump()).body);
  ASSERT_GE(lines.size(), 2U);
  EXPECT_TRUE(lines.front().contains("job"));
  const json result = lines.back()["result"];
  ASSERT_EQ(result["errors"], "");
  EXPECT_TRUE(result["report"]["good"]);
  EXPECT_EQ(result["timeline"]["schema"], "warpwright/timeline/1");
  const json recording = result["recording"];
  const int moments = recording["moments"];
  const json steps =
      json::parse(server.post("steps", json{{"recording", recording["id"]}}.dump()).body);
  EXPECT_EQ(steps["line"].size(), static_cast<std::size_t>(moments));
  const auto state = [&](int moment) {
    const json ask = {{"recording", recording["id"]},
                      {"moment", moment},
                      {"warp", 1},
                      {"shared", json::object()}};
    return json::parse(server.post("state", ask.dump()).body);
  };
  const json before = state(0), after = state(moments);
  EXPECT_EQ(before["warps"].size(), 4U);
  EXPECT_EQ(after["warps"][0]["state"], "ended");
  EXPECT_NE(before["shared"]["bytes"], after["shared"]["bytes"]);
  EXPECT_EQ(state(0), before);
  EXPECT_EQ(
      server.post("state", json{{"recording", recording["id"]}, {"moment", moments + 1}}.dump())
          .status,
      400);
}

// Of a long run the whole is there with short spans merged, and any part of it in detail, in the same
// lanes.
TEST(ExploreServer, ATimelineCanBeZoomedInto) {
  const Server server;
  json request = program(example("pipeline.py"));
  request["kernel"] = "build(lines=1200)";
  request["schedule"] = "step";
  const json result = stream_lines(server.post("run", request.dump()).body).back()["result"];
  const json whole = result["timeline"];
  const int steps = result["recording"]["steps"];
  EXPECT_EQ(whole["to"], steps);
  EXPECT_GT(whole["grain"], 0);
  EXPECT_EQ(whole["roles"][0]["name"], "producer");
  const auto part = [&](int from, int to) {
    const json ask = {{"recording", result["recording"]["id"]}, {"from", from}, {"to", to}};
    return server.post("timeline", ask.dump());
  };
  const json detail = json::parse(part(5000, 5400).body)["timeline"];
  EXPECT_EQ(detail["grain"], 0);
  ASSERT_EQ(detail["lanes"].size(), whole["lanes"].size());
  for (std::size_t i = 0; i < detail["lanes"].size(); ++i)
    EXPECT_EQ(detail["lanes"][i]["name"], whole["lanes"][i]["name"]);
  EXPECT_EQ(part(0, steps + 1).status, 400);
  const Reply nothing = part(40, 40);
  EXPECT_EQ(nothing.status, 400);
  EXPECT_THAT(nothing.body, HasSubstr("`from` is 40 and `to` is 40, expected a step between"));
}

TEST(ExploreServer, AnEndlessKernelIsCancelled) {
  const Server server;
  const Client client = server.connect();
  const std::string body = program(kEndless).dump();
  ASSERT_TRUE(client.send(server.head("run", body.size()) + body));
  const std::string begin = client.receive_until("progress");
  ASSERT_THAT(begin, HasSubstr("\"job\":1"));
  EXPECT_EQ(json::parse(server.post("cancel", "{\"job\": 1}").body)["cancelled"], true);
  EXPECT_THAT(client.receive_all(), HasSubstr("stopped"));
  server.settle();
  EXPECT_EQ(json::parse(server.post("cancel", "{\"job\": 1}").body)["cancelled"], false);
}

// An assembler that says who it is and does not end.
class EndlessAssembler {
 public:
  EndlessAssembler() {
    write("nvdisasm", "exit 1");
    write("ptxas", "echo $$ > ${0}.new; mv ${0}.new ${0}.id; exec sleep 1000");
    ::setenv("PTXAS", folder_.file("ptxas").c_str(), 1);
    ::setenv("NVDISASM", folder_.file("nvdisasm").c_str(), 1);
  }
  ~EndlessAssembler() {
    ::unsetenv("PTXAS");
    ::unsetenv("NVDISASM");
  }
  EndlessAssembler(const EndlessAssembler&) = delete;
  EndlessAssembler& operator=(const EndlessAssembler&) = delete;

  /// Waits until it runs: its process id.
  [[nodiscard]] int wait() const {
    const std::string file = folder_.file("ptxas.id");
    while (!std::filesystem::exists(file)) std::this_thread::yield();
    int id = 0;
    std::ifstream(file) >> id;
    std::filesystem::remove(file);
    return id;
  }

 private:
  void write(std::string_view name, std::string_view body) const {
    std::ofstream(folder_.file(name)) << "#!/bin/sh\n" << body << "\n";
    std::filesystem::permissions(folder_.file(name), std::filesystem::perms::owner_all);
  }
  ScratchFolder folder_ = ScratchFolder::make().value();
};

TEST(ExploreServer, AnAssemblerIsKilledWithItsRequest) {
  const EndlessAssembler assembler;
  const Server server({"--seconds", "3"});
  json request = program(example("transpose.py"));
  request["forms"] = {"sass"};
  const std::string body = request.dump();
  {  // The browser goes away.
    const Client client = server.connect();
    ASSERT_TRUE(client.send(server.head("code", body.size()) + body));
    const int child = assembler.wait();
    EXPECT_THAT(server.children(), ElementsAre(child));
  }
  server.outlive_children();
  // Time runs out.
  EXPECT_EQ(server.post("code", body).status, 504);
  server.outlive_children();
  // The folder of what it was to read is gone, and the server goes on.
  EXPECT_EQ(server.post("check", body).status, 200);
}

// Where there is no GPU the reason comes back; either way the process that ran it is gone.
TEST(ExploreServer, AGpuIsAskedInAnotherProcess) {
  const Server server;
  json request = program(example("transpose.py"));
  request["device"] = "cuda";
  const json last = stream_lines(server.post("run", request.dump()).body).back()["result"];
  if (last["report"].is_null()) {
    EXPECT_THAT(last["errors"].get<std::string>(),
                AnyOf(HasSubstr("[NoDriver]"), HasSubstr("[NoDevice]")));
  } else {
    EXPECT_GT(last["report"]["time"]["median_seconds"], 0.0);
  }
  server.outlive_children();
}

TEST(ExploreServer, AnEndlessKernelRunsOutOfTime) {
  const Server server({"--seconds", "1"});
  const std::string body = server.post("run", program(kEndless).dump()).body;
  EXPECT_THAT(body, AnyOf(HasSubstr("budget of time"), HasSubstr("stopped")));
  server.settle();
}

TEST(ExploreServer, ABrowserThatGoesAwayLeavesNoWork) {
  const Server server;
  for (int i = 0; i < 6; ++i) {
    const Client client = server.connect();
    const std::string body = program(kEndless).dump();
    ASSERT_TRUE(client.send(server.head("run", body.size()) + body));
    if (i % 2 == 0) (void)client.receive_until("progress");
  }
  server.settle();
  EXPECT_EQ(server.get("api/start").status, 200);
}

TEST(ExploreServer, TooManyAtWorkAreToldSo) {
  const Server server;
  const std::string body = program(kEndless).dump();
  std::vector<Client> clients;
  for (int i = 0; i < 100; ++i) {
    clients.push_back(server.connect());
    ASSERT_TRUE(clients.back().send(server.head("run", body.size()) + body));
  }
  // Requests at work or waiting show progress; the others are told at once, and closed.
  std::string said;
  int refused = 0;
  for (const Client& client : clients) {
    std::string all;
    while (all.find("progress") == std::string::npos && all.find("error") == std::string::npos)
      all += client.receive();
    if (all.find("error") == std::string::npos) continue;
    ++refused;
    said = all;
  }
  EXPECT_GE(refused, 100 - 3 - 64);
  EXPECT_LE(refused, 100 - 64);
  EXPECT_THAT(said, HasSubstr("3 requests are at work and 64 wait; try again"));
  clients.clear();
  server.settle();
  EXPECT_EQ(server.post("check", program("").dump()).status, 200);
}

// Large answers that nobody reads are kept up to a bound; then requests are told so, and clients that read
// get small answers all the same.
TEST(ExploreServer, ClientsThatDoNotReadAreBounded) {
  const Server server;
  const std::string body = json{{"notation", "row_major(1024,1024)"}}.dump();  // 16 MB
  std::vector<Client> clients;
  std::vector<int> statuses;
  std::string said;
  while (statuses.size() < 6 && (statuses.empty() || statuses.back() == 200)) {
    clients.push_back(server.connect());
    ASSERT_TRUE(clients.back().send(server.head("layout", body.size()) + body));
    said = clients.back().receive();
    statuses.push_back(parse_reply(said).status);
  }
  EXPECT_THAT(statuses, ElementsAre(200, 200, 200, 200, 503));
  EXPECT_THAT(said + clients.back().receive_all(), HasSubstr("read or close them and try again"));
  EXPECT_EQ(server.get("api/start").status, 200);
  clients.clear();
  server.settle();
  EXPECT_EQ(server.post("layout", body).status, 200);
}

// --- the end -------------------------------------------------------------------------------------

TEST(ExploreServer, ExportsAPageThatNeedsNoServer) {
  const std::string folder = testing::TempDir();
  const std::string path = folder + "/explore_export.html";
  const auto written =
      run_program({WW_PROGRAM, "explore", std::string(WW_SOURCE_DIR) + "/examples/transpose.py",
                   "--export", path});
  ASSERT_TRUE(written);
  if (written->output.find("built without the explorer's page") != std::string::npos)
    GTEST_SKIP() << "this build has no page";
  ASSERT_EQ(written->status, 0) << written->output;
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  const std::string page = text.str();
  EXPECT_THAT(page, Not(HasSubstr("src=\"")));
  EXPECT_THAT(page, Not(HasSubstr("\nimport ")));
  const std::string mark = "id=\"answers\">";
  const std::size_t begin = page.find(mark) + mark.size();
  const json answers = json::parse(page.substr(begin, page.find("</script>", begin) - begin));
  EXPECT_TRUE(answers["check"]["good"]);
  EXPECT_EQ(answers["moves"].size(), 4U);
  EXPECT_TRUE(answers["run"]["report"]["good"]);
  EXPECT_EQ(answers["steps"]["warp"].size(), answers["run"]["recording"]["moments"]);
  EXPECT_TRUE(answers["layouts"].contains("row_major(128,128)"));
  const json& states = answers["states"];
  EXPECT_EQ(states["moments"].front(), 0);
  EXPECT_EQ(states["moments"].back(), answers["run"]["recording"]["moments"]);
  EXPECT_EQ(states["moments"].size(), states["telling"]);
  for (const json& region : states["regions"])
    EXPECT_EQ(region["contents"].size(), states["moments"].size());
  EXPECT_TRUE(answers["layouts"].contains("S[(4,2,8,8,4,2):(1@warpid,2,4@laneid,4,1@laneid,1)]"));
  std::remove(path.c_str());
  const auto refused = run_program({WW_PROGRAM, "explore", "--export", path});
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 2);
  EXPECT_THAT(refused->output, HasSubstr("`--export` without a file"));
}

TEST(ExploreServer, EndsOnSignalsInTheMiddleOfWork) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    Server server;
    const Client client = server.connect();
    const std::string body = program(kEndless).dump();
    ASSERT_TRUE(client.send(server.head("run", body.size()) + body));
    ASSERT_THAT(client.receive_until("progress"), Not(IsEmpty()));
    EXPECT_THAT(server.children(), IsEmpty());
    EXPECT_EQ(server.end(signal), 0) << signal;
  }
}

}  // namespace
}  // namespace ww::explore_server_test
