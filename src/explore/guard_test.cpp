// SPDX-License-Identifier: Apache-2.0
#include "explore/guard.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/ascii.h"
#include "explore/token.h"

namespace ww::explore::guard_test {
namespace {

constexpr const char* kToken = "0123456789abcdef0123456789abcdef";

// A request that our own page makes, to be spoiled.
struct Request {
  std::string method = "POST";
  std::string target = std::string("/") + kToken + "/api/check";
  std::vector<std::pair<std::string, std::string>> headers = {
      {"host", "127.0.0.1:8080"},        {"origin", "http://127.0.0.1:8080"},
      {"sec-fetch-site", "same-origin"}, {"content-type", "application/json"},
      {"content-length", "12"},
  };

  void set(const std::string& name, const std::string& value) {
    drop(name);
    headers.emplace_back(name, value);
  }
  void drop(const std::string& name) {
    std::erase_if(headers, [&](const auto& each) { return each.first == name; });
  }
  // 200: it passes.
  [[nodiscard]] int status(std::string* path = nullptr) const {
    const Guard guard{.token = kToken, .port = 8080};
    const Head head{.method = method, .target = target, .header = [this](std::string_view name) {
                      std::string low(name);
                      for (char& c : low) c = to_lower(c);
                      std::vector<std::string> out;
                      for (const auto& [key, value] : headers)
                        if (key == low) out.push_back(value);
                      return out;
                    }};
    std::string below;
    const auto refusal = guard.refuse(head, path == nullptr ? below : *path);
    return refusal ? refusal->status : 200;
  }
};

TEST(Guard, LetsItsOwnPagePass) {
  std::string path;
  EXPECT_EQ(Request{}.status(&path), 200);
  EXPECT_EQ(path, "api/check");
  Request page{.method = "GET", .target = std::string("/") + kToken + "/"};
  page.headers = {{"host", "localhost:8080"}};
  EXPECT_EQ(page.status(&path), 200);
  EXPECT_EQ(path, "");
  page.target += "js/main.js?v=1";
  EXPECT_EQ(page.status(&path), 200);
  EXPECT_EQ(path, "js/main.js");
}

TEST(Guard, ProgramsNeedNoOrigin) {
  Request request;
  request.drop("origin");
  request.drop("sec-fetch-site");
  EXPECT_EQ(request.status(), 200);
}

// Each attack is our own page's request with one thing changed: that thing alone is what refuses it.
struct Attack {
  const char* name;
  void (*spoil)(Request&);
  int status;
};

const Attack kAttacks[] = {
    {"no token", [](Request& r) { r.target = "/api/check"; }, 404},
    {"another token", [](Request& r) { r.target[5] = 'x'; }, 404},
    {"half a token", [](Request& r) { r.target = "/0123456789abcdef/api/check"; }, 404},
    {"a token with more behind it", [](Request& r) { r.target.insert(33, "0"); }, 404},
    {"the token as a query", [](Request& r) { r.target = std::string("/?t=") + kToken; }, 404},
    {"a long path", [](Request& r) { r.target.append(kMaxPath, 'a'); }, 404},
    {"a name that leads here", [](Request& r) { r.set("host", "evil.example:8080"); }, 404},
    {"another port", [](Request& r) { r.set("host", "127.0.0.1:80"); }, 404},
    {"no host", [](Request& r) { r.drop("host"); }, 404},
    {"two hosts", [](Request& r) { r.headers.emplace_back("host", "evil.example"); }, 404},
    {"another origin", [](Request& r) { r.set("origin", "http://evil.example"); }, 403},
    {"no origin in particular", [](Request& r) { r.set("origin", "null"); }, 403},
    {"the origin of another port", [](Request& r) { r.set("origin", "http://127.0.0.1:80"); }, 403},
    {"localhost for 127.0.0.1", [](Request& r) { r.set("origin", "http://localhost:8080"); }, 403},
    {"another site", [](Request& r) { r.set("sec-fetch-site", "cross-site"); }, 403},
    {"a neighbour", [](Request& r) { r.set("sec-fetch-site", "same-site"); }, 403},
    {"two sites", [](Request& r) { r.headers.emplace_back("sec-fetch-site", "same-origin"); }, 403},
    {"a form", [](Request& r) { r.set("content-type", "application/x-www-form-urlencoded"); }, 415},
    {"plain text", [](Request& r) { r.set("content-type", "text/plain"); }, 415},
    {"no type", [](Request& r) { r.drop("content-type"); }, 415},
    {"a body in pieces", [](Request& r) { r.set("transfer-encoding", "chunked"); }, 411},
    {"a packed body", [](Request& r) { r.set("content-encoding", "gzip"); }, 411},
    {"no length", [](Request& r) { r.drop("content-length"); }, 411},
    {"two lengths", [](Request& r) { r.headers.emplace_back("content-length", "9"); }, 411},
    {"a length in words", [](Request& r) { r.set("content-length", "twelve"); }, 400},
    {"a negative length", [](Request& r) { r.set("content-length", "-1"); }, 400},
    {"too much", [](Request& r) { r.set("content-length", "4194305"); }, 413},
    {"far too much", [](Request& r) { r.set("content-length", "99999999999999999999"); }, 413},
    {"another method", [](Request& r) { r.method = "PUT"; }, 405},
    {"the question of a browser", [](Request& r) { r.method = "OPTIONS"; }, 405},
};

TEST(Guard, RefusesWhatDiffersInOneThing) {
  ASSERT_EQ(Request{}.status(), 200);
  for (const Attack& attack : kAttacks) {
    Request request;
    attack.spoil(request);
    EXPECT_EQ(request.status(), attack.status) << attack.name;
  }
}

TEST(Guard, SaysNothingWithoutTheToken) {
  Request request;
  request.target = "/guess/api/check";
  const Guard guard{.token = kToken, .port = 8080};
  std::string path;
  const auto refusal =
      guard.refuse({.method = "POST",
                    .target = request.target,
                    .header = [](auto) { return std::vector<std::string>{"127.0.0.1:8080"}; }},
                   path);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->text, "");
}

TEST(Token, HasThirtyTwoDigitsAndIsAnotherEachTime) {
  const auto first = make_token(), second = make_token();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->size(), 32U);
  EXPECT_EQ(first->find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(*first, *second);
}

TEST(Token, IsComparedWhole) {
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abc", "abd"));
  EXPECT_FALSE(equal_in_constant_time("abc", "ab"));
  EXPECT_TRUE(equal_in_constant_time("", ""));
}

}  // namespace
}  // namespace ww::explore::guard_test
