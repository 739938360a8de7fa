// SPDX-License-Identifier: Apache-2.0
// A server in the same process, and texts with a mark where a question is asked.
#pragma once

#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <vector>

#include "lsp/server.h"

namespace ww::lsp {

inline constexpr const char* kTestUri = "file:///tmp/kernel.py";

/// A copy through shared memory; `body` stands behind its declarations.
inline std::string kernel_text(const std::string& body) {
  return "from tvm.script import tirx as T\n"
         "from tvm.script.tirx import tile as Tx\n"
         "\n"
         "@T.prim_func\n"
         "def move(A_ptr: T.handle, B_ptr: T.handle):\n"
         "    A = T.match_buffer(A_ptr, (64, 32), \"float32\")\n"
         "    B = T.match_buffer(B_ptr, (64, 32), \"float32\")\n"
         "    T.device_entry()\n"
         "    T.cta_id([1])\n"
         "    tid = T.thread_id([128])\n"
         "    staged = T.alloc_buffer((64, 32), \"float32\", scope=\"shared\")\n" +
         body;
}

inline const std::string kGoodBody =
    "    Tx.cta.copy(staged[:, :], A[:, :])\n"
    "    T.cuda.cta_sync()\n"
    "    Tx.cta.copy(B[:, :], staged[:, :])\n";

class TestServer {
 public:
  explicit TestServer(const Json& capabilities = Json::object(), ServerOptions options = {})
      : server_(std::move(options), [this](const Json& message) { take(message); }) {
    request("initialize", {{"capabilities", capabilities}});
  }

  /// The response to a request, whole.
  Json request(const std::string& method, Json params) {
    return response(ask(method, std::move(params)));
  }
  Json response(int id) {
    server_.wait_until_idle();
    const std::lock_guard lock(mutex_);
    for (const Json& each : sent_)
      if (each.contains("id") && each["id"] == id && !each.contains("method")) return each;
    return "no response";
  }
  int ask(const std::string& method, Json params) {
    server_.receive(Json{
        {"jsonrpc", "2.0"}, {"id", ++last_id_}, {"method", method}, {"params", std::move(params)}}
                        .dump());
    return last_id_;
  }
  void notify(const std::string& method, Json params) {
    server_.receive(
        Json{{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}}.dump());
  }

  /// Opens the text, or makes it the text of the open document.
  void show(const std::string& text) {
    ++version_;
    Json document = {{"uri", kTestUri}, {"version", version_}, {"languageId", "python"}};
    if (version_ == 1) {
      document["text"] = text;
      notify("textDocument/didOpen", {{"textDocument", document}});
    } else {
      notify("textDocument/didChange",
             {{"textDocument", document}, {"contentChanges", Json::array({{{"text", text}}})}});
    }
    text_ = text;
    server_.wait_until_idle();
  }

  /// About the place where `|` stands in a part of the text, `nth` of those from 0.
  Json at(const std::string& method, std::string part) {
    const std::size_t mark = part.find('|');
    part.erase(mark, 1);
    const std::size_t found = text_.find(part);
    EXPECT_NE(found, std::string::npos) << part;
    const Position place = Text(text_).position(found + mark, Encoding::Utf16);
    return request("textDocument/" + method, {{"textDocument", {{"uri", kTestUri}}},
                                              {"position", position_json(place)}})["result"];
  }
  /// About the whole document.
  Json all(const std::string& method) {
    const Text text(text_);
    return request(
        "textDocument/" + method,
        {{"textDocument", {{"uri", kTestUri}}},
         {"range", range_json(text, Span::at(0, text_.size()), Encoding::Utf16)}})["result"];
  }

  /// The last message of the server with that method.
  Json last(const std::string& method) {
    const std::lock_guard lock(mutex_);
    for (auto each = sent_.rbegin(); each != sent_.rend(); ++each)
      if (each->contains("method") && (*each)["method"] == method) return (*each)["params"];
    return nullptr;
  }
  /// "line:column severity code message" of each diagnostic.
  std::vector<std::string> diagnostics() {
    std::vector<std::string> out;
    const Json params = last("textDocument/publishDiagnostics");
    for (const Json& each : params["diagnostics"]) {
      const Json& start = each["range"]["start"];
      out.push_back(fmt::format("{}:{} {} {} {}", start["line"].get<int>() + 1,
                                start["character"].get<int>() + 1, each["severity"].get<int>(),
                                each["code"].get<std::string>(),
                                each["message"].get<std::string>()));
    }
    return out;
  }
  Server& server() { return server_; }

 private:
  void take(const Json& message) {
    const std::lock_guard lock(mutex_);
    sent_.push_back(message);
  }

  std::mutex mutex_;
  std::vector<Json> sent_;
  int last_id_ = 0;
  int version_ = 0;
  std::string text_;
  Server server_;  // the last: its threads send until it is gone
};

}  // namespace ww::lsp
