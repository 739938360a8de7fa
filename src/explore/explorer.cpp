// SPDX-License-Identifier: Apache-2.0
#include "explore/explorer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "explore/calls.h"
#include "explore/page_files.h"

namespace ww::explore {
namespace {

constexpr std::string_view kCallFolder = "api/";

Answer error_answer(int status, const std::string& text) {
  return {.status = status, .body = Json{{"error", text}}.dump() + "\n"};
}

Answer refused(const Diag& problem) { return error_answer(400, problem.text); }

Answer unfinished(const WorkResult& result, const WorkLimits& limits) {
  switch (result.end) {
    case WorkEnd::Busy:
      return error_answer(503, fmt::format("{} requests are at work and {} wait; try again",
                                           limits.at_once, limits.waiting));
    case WorkEnd::OutOfTime:
      return error_answer(504,
                          fmt::format("stopped after {} seconds, the most that a request may take",
                                      limits.seconds));
    case WorkEnd::Cancelled:
      return error_answer(409, "cancelled");
    default:
      return error_answer(500, fmt::format("a bug in Warpwright: {}", result.what));
  }
}

Answer run_call(Session& session, Call call, const std::string& body, const Peer& peer) {
  const auto request = parse_request(body);
  if (!request) return refused(request.error());
  Result<Json> made = Json();
  const WorkResult result =
      session.shop.run(peer, [&](const std::atomic<bool>&) { made = call(session, *request); });
  if (result.end != WorkEnd::Done) return unfinished(result, session.options.limits);
  if (!made) return refused(made.error());
  // Names in a kernel may have bytes that are no text.
  return {.body = made->dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"};
}

Answer serve_file(std::string_view path) {
  const PageFile* const file = find_page_file(path);
  if (file == nullptr) return {.status = 404, .body = ""};
  return {.type = std::string(content_type(file->path)), .body = std::string(file->text)};
}

}  // namespace

Answer answer_request(Session& session, const std::string& method, const std::string& path,
                      const std::string& body, const Peer& peer) {
  if (!path.starts_with(kCallFolder))
    return method == "GET" ? serve_file(path.empty() ? "index.html" : path)
                           : error_answer(405, "expected GET");
  const std::string_view name = std::string_view(path).substr(kCallFolder.size());
  const Call call = find_call(name);
  if (call == nullptr) return error_answer(404, fmt::format("no call `{}`", name));
  const bool is_read = name == "start";
  if (is_read != (method == "GET"))
    return error_answer(405, fmt::format("expected {}", is_read ? "GET" : "POST"));
  return run_call(session, call, is_read ? "{}" : body, peer);
}

Result<std::unique_ptr<Explorer>> Explorer::start(SessionOptions options, int port) {
  std::unique_ptr<Explorer> out(new Explorer(std::move(options)));
  out->server_ = WW_TRY(
      make_server(port, WW_TRY(make_token()),
                  [session = &out->session_](const std::string& method, const std::string& path,
                                             const std::string& body, const Peer& peer) {
                    return answer_request(*session, method, path, body, peer);
                  }));
  return out;
}

}  // namespace ww::explore
