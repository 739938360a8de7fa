// SPDX-License-Identifier: Apache-2.0
#include "lsp/connection.h"

#include <fmt/format.h>

namespace ww::lsp {

void Connection::respond(const Json& id, Json result) { send_(response(id, std::move(result))); }

void Connection::refuse(const Json& id, ErrorCode code, std::string_view text) {
  send_(error_response(id, code, text));
}

void Connection::notify(std::string_view method, Json params) {
  send_(notification(method, std::move(params)));
}

void Connection::ask(std::string_view method, Json params) {
  send_(request(fmt::format("warpwright-{}", ++requests_), method, std::move(params)));
}

void Connection::say(MessageType type, std::string_view text) {
  notify("window/showMessage", {{"type", std::to_underlying(type)}, {"message", text}});
}

void Connection::log(MessageType type, std::string_view text) {
  notify("window/logMessage", {{"type", std::to_underlying(type)}, {"message", text}});
}

void Connection::say_bug(std::string_view what) {
  say(MessageType::Error,
      fmt::format("internal error: {}; this is a bug in Warpwright {}, not in your file; please "
                  "report it with the file",
                  what, version_));
}

}  // namespace ww::lsp
