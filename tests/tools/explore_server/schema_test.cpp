// SPDX-License-Identifier: Apache-2.0
// Every answer of the explorer against its schema in docs/reference/schema, and every schema against
// some answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tools/cli/schema.h"
#include "tools/explore_server/server.h"

namespace ww::explore_server_test::schema_test {
namespace {

namespace fs = std::filesystem;
using cli_test::Json;
using testing::IsEmpty;

std::string file_text(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

fs::path schema_folder() { return fs::path(WW_SOURCE_DIR) / "docs" / "reference" / "schema"; }

Json schema_of(const std::string& name) {
  return Json::parse(file_text(schema_folder() / (name + ".json")), nullptr, false);
}

Json program(const std::string& example) {
  const fs::path path = fs::path(WW_SOURCE_DIR) / "examples" / example;
  return {{"file", example}, {"source", file_text(path)}, {"kernel", ""}, {"target", "auto"}};
}

// The line of a program (1-based) that has a text first.
std::size_t line_of(const Json& program, const std::string& text) {
  const std::string source = program["source"];
  return static_cast<std::size_t>(
             std::count(source.begin(),
                        source.begin() + static_cast<std::ptrdiff_t>(source.find(text)), '\n')) +
         1;
}

// A name that is nearly right.
const char* const kWrong = R"(
@T.prim_func
def wrong(A: T.Buffer((32,), "int32")):
    T.device_entry()
    T.cuda.cta_snyc()
)";

/// Answers by the name of their call.
class Answers {
 public:
  Answers()
      : server_({"--kernel", "build(64, 64)",
                 (fs::path(WW_SOURCE_DIR) / "examples" / "transpose.py").string()}) {}

  void ask_all() {
    keep("start", Json::parse(server_.get("api/start").body));
    keep("start", Json::parse(Server().get("api/start").body));
    ask("example", {{"name", "transpose"}});
    ask("reference", Json::object());
    for (const char* example :
         {"transpose.py", "tcgen05_stages.py", "findings/race.py", "pipeline.py"}) {
      const Json source = program(example);
      ask("check", source);
      ask("explain", source);
      ask("code", source);
      run(source);
    }
    Json all = program("transpose.py");
    all["forms"] = {"sass"};
    ask("code", all);
    for (const char* call : {"check", "code", "explain"}) {
      ask(call, {{"source", kWrong}});
      ask(call, {{"source", "x ="}});
      ask(call, program("refused/overlap.py"));
    }
    ask("layout", {{"notation", "S[(8,8):(8,1)]"}, {"ops", {"inverse"}}});
    ask("layout", {{"notation", "S[("}});
    ask("diff", {{"left", {"a", "b"}}, {"right", {"b", "c"}}});
    ask("cancel", {{"job", 999}});
    Json moves = program("transpose.py");
    moves["line"] = 33;
    ask("moves", moves);
    Json box = program("tma_copy.py");
    box["line"] = line_of(box, "mbar=");
    ask("moves", box);
    Json product = program("gemm_hopper.py");
    product["line"] = line_of(product, "gemm_async(");
    ask("moves", product);
  }

  [[nodiscard]] const std::vector<std::pair<std::string, Json>>& list() const { return list_; }

 private:
  void keep(const std::string& call, Json answer) {
    list_.emplace_back("explore-" + call, std::move(answer));
  }
  void ask(const std::string& call, const Json& request) {
    const Reply reply = server_.post(call, request.dump());
    EXPECT_EQ(reply.status, 200) << call << reply.body;
    keep(call, Json::parse(reply.body, nullptr, false));
  }
  void run(Json request) {
    request["schedule"] = "step";
    const std::string body = server_.post("run", request.dump()).body;
    const std::size_t at = body.find("{\"result\":");
    ASSERT_NE(at, std::string::npos) << body;
    const Json result = Json::parse(body.substr(at, body.find('\n', at) - at))["result"];
    keep("run", result);
    const Json& recording = result["recording"];
    ASSERT_TRUE(recording.is_object());
    ask("steps", {{"recording", recording["id"]}});
    ask("timeline", {{"recording", recording["id"]}, {"from", 2}, {"to", 12}});
    const int moments = recording["moments"];
    for (const int moment : {0, moments / 2, moments})
      ask("state", {{"recording", recording["id"]},
                    {"moment", moment},
                    {"shared", Json::object()},
                    {"tensor", Json::object()}});
  }

  Server server_;
  std::vector<std::pair<std::string, Json>> list_;
};

TEST(ExploreSchemas, DescribeTheAnswersAndNothingElse) {
  Answers answers;
  answers.ask_all();
  std::set<std::string> seen, described, asked, files;
  for (const auto& [name, answer] : answers.list()) {
    ASSERT_TRUE(answer.is_object()) << name;
    EXPECT_EQ(answer.begin().key(), "schema") << name;
    EXPECT_THAT(cli_test::violations(answer, schema_of(name)), IsEmpty()) << name;
    cli_test::collect_seen(answer, name, seen);
    cli_test::collect_described(schema_of(name), name, described);
    asked.insert(name);
  }
  // Machines without nvdisasm have no lines of PTX beside the machine code.
  described.erase("explore-code.columns[].ptx_lines");
  for (const std::string& key : described)
    EXPECT_TRUE(seen.contains(key)) << key << " is in no answer";
  for (const auto& entry : fs::directory_iterator(schema_folder()))
    if (entry.path().stem().string().starts_with("explore-"))
      files.insert(entry.path().stem().string());
  EXPECT_EQ(asked, files);
}

}  // namespace
}  // namespace ww::explore_server_test::schema_test
