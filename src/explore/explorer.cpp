// SPDX-License-Identifier: Apache-2.0
#include "explore/explorer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "explore/calls.h"
#include "explore/page_files.h"
#include "explore/run_call.h"
#include "explore/token.h"

namespace ww::explore {
namespace {

constexpr std::string_view kCallFolder = "api/";

Answer error_answer(int status, const std::string& text) {
  return {.status = status, .body = Json{{"error", text}}.dump() + "\n"};
}

Answer refused(const Diag& problem) { return error_answer(400, problem.text); }

// Names in a kernel may have bytes that are no text.
Answer made_answer(const Result<Json>& made) {
  if (!made) return refused(made.error());
  return {.body = made->dump() + "\n"};
}

int status_of(WorkEnd end) {
  switch (end) {
    case WorkEnd::Done:
      return 200;
    case WorkEnd::Busy:
      return 503;
    case WorkEnd::OutOfTime:
      return 504;
    case WorkEnd::Cancelled:
      return 409;
    case WorkEnd::Failed:
      return 500;
  }
  return 500;
}

// The answer, counted among those that nobody has read yet, unless it is; or why there is no place.
Answer kept(Session& session, Answer answer) {
  if (answer.hold == nullptr) answer.hold = session.unread.take(answer.body.size());
  return answer.hold != nullptr ? std::move(answer)
                                : error_answer(503, unread_text(session.unread));
}

Answer run_call(Session& session, Call call, const std::string& body, const Peer& peer) {
  const auto request = parse_request(body);
  if (!request) return refused(request.error());
  // What ends work cannot wait for it.
  if (call == call_cancel) return made_answer(call(session, *request));
  // Its text is part of the work: no more values are in memory than there is work at once.
  Answer out;
  const WorkResult result = session.shop.run(peer, [&](const std::atomic<bool>&) {
    out = kept(session, made_answer(call(session, *request)));
  });
  if (result.end != WorkEnd::Done)
    return error_answer(status_of(result.end), end_text(result, session.options.limits));
  return out;
}

Answer run_kernel(Session& session, const std::string& body, const Peer& peer) {
  const auto request = parse_request(body);
  if (!request) return refused(request.error());
  const auto wish = run_wish(*request);
  return wish ? run_answer(session, *wish, peer) : refused(wish.error());
}

Answer serve_file(std::string_view path) {
  const EmbeddedFile* const file = find_page_file(path);
  if (file == nullptr) return {.status = 404, .body = ""};
  return {.type = std::string(content_type(file->path)), .body = std::string(file->text)};
}

Answer make_answer(Session& session, const std::string& method, const std::string& path,
                   const std::string& body, const Peer& peer) {
  if (!path.starts_with(kCallFolder))
    return method == "GET" ? serve_file(path.empty() ? "index.html" : path)
                           : error_answer(405, "expected GET");
  const std::string_view name = std::string_view(path).substr(kCallFolder.size());
  if (name == "run" && method == "POST") return run_kernel(session, body, peer);
  const Call call = find_call(name);
  if (call == nullptr) return error_answer(404, fmt::format("no call `{}`", name));
  const bool is_read = name == "start";
  if (is_read != (method == "GET"))
    return error_answer(405, fmt::format("expected {}", is_read ? "GET" : "POST"));
  return run_call(session, call, is_read ? "{}" : body, peer);
}

}  // namespace

Answer answer_request(Session& session, const std::string& method, const std::string& path,
                      const std::string& body, const Peer& peer) {
  return kept(session, make_answer(session, method, path, body, peer));
}

Result<std::unique_ptr<Explorer>> Explorer::start(SessionOptions options, int port) {
  std::unique_ptr<Explorer> out(new Explorer(std::move(options)));
  out->server_ = WW_TRY(
      make_server(out->session_.options.version, port, WW_TRY(make_token()),
                  [session = &out->session_](const std::string& method, const std::string& path,
                                             const std::string& body, const Peer& peer) {
                    return answer_request(*session, method, path, body, peer);
                  }));
  return out;
}

}  // namespace ww::explore
