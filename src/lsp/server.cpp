// SPDX-License-Identifier: Apache-2.0
#include "lsp/server.h"

#include <fmt/format.h>

#include <utility>

#include "base/printable.h"
#include "lsp/features.h"

namespace ww::lsp {
namespace {

Json capabilities_json(Encoding encoding) {
  return {
      {"positionEncoding", name_of(encoding)},
      {"textDocumentSync", {{"openClose", true}, {"change", 2}}},
      {"hoverProvider", true},
      {"inlayHintProvider", true},
      {"codeLensProvider", Json::object()},
      {"documentSymbolProvider", true},
      {"definitionProvider", true},
      {"codeActionProvider", {{"codeActionKinds", Json::array({"quickfix", "refactor.rewrite"})}}},
      {"completionProvider", {{"triggerCharacters", Json::array({".", "\"", "'", "("})}}},
      {"signatureHelpProvider", {{"triggerCharacters", Json::array({"(", ","})}}},
      {"executeCommandProvider", {{"commands", Json::array({kRunCommand, kExploreCommand})}}}};
}

}  // namespace

Server::Server(ServerOptions options, Connection::Send send)
    : version_(std::move(options.version)),
      connection_(version_, std::move(send)),
      analyst_(connection_),
      commands_(connection_, analyst_, std::move(options.explore)) {}

void Server::wait_until_idle() {
  analyst_.wait_until_idle();
  commands_.wait_until_idle();
}

void Server::receive(std::string_view contents) {
  const auto message = parse_message(contents);
  const auto lock = connection_.lock();
  if (!message)
    return connection_.refuse(message.error().id, message.error().code, message.error().text);
  if (message->is_response()) return;  // to window/showDocument, which needs no more
  message->is_request() ? handle_request(*message) : handle_notification(*message);
}

void Server::refuse(ErrorCode code, std::string_view text) {
  const auto lock = connection_.lock();
  connection_.refuse(nullptr, code, text);
}

void Server::handle_request(const Message& message) {
  const auto refuse = [&](ErrorCode code, std::string_view text) {
    connection_.refuse(*message.id, code, text);
  };
  if (message.method == "initialize") return initialize(message);
  if (!is_initialized_)
    return refuse(ErrorCode::ServerNotInitialized,
                  fmt::format("`{}` before `initialize`", message.method));
  if (is_shut_down_)
    return refuse(ErrorCode::InvalidRequest, fmt::format("`{}` after `shutdown`", message.method));
  if (message.method == "shutdown") {
    is_shut_down_ = true;
    return connection_.respond(*message.id, nullptr);
  }
  if (message.method == "workspace/executeCommand") return commands_.execute(message);
  const RequestMethod* const method = find_request_method(message.method);
  if (method == nullptr)
    return refuse(ErrorCode::MethodNotFound,
                  fmt::format("no method `{}`", printable_name(message.method)));
  analyst_.answer(*method, message);
}

void Server::initialize(const Message& message) {
  const Json& id = *message.id;
  if (is_initialized_)
    return connection_.refuse(id, ErrorCode::InvalidRequest, "`initialize` for the second time");
  if (message.params.type() != JsonType::Object)
    return connection_.refuse(id, ErrorCode::InvalidParams, "`params` is no object");
  connection_.set_client(ClientFeatures::of(message.params));
  is_initialized_ = true;
  connection_.respond(id, {{"capabilities", capabilities_json(connection_.client().encoding)},
                           {"serverInfo", {{"name", "warpwright"}, {"version", version_}}}});
}

void Server::handle_notification(const Message& message) {
  if (message.method == "exit") {
    is_done_ = true;
  } else if (!is_initialized_ || is_shut_down_) {
    return;  // the protocol drops them
  } else if (message.method == "textDocument/didOpen") {
    analyst_.open(message.params);
  } else if (message.method == "textDocument/didChange") {
    analyst_.change(message.params);
  } else if (message.method == "textDocument/didClose") {
    analyst_.close(message.params);
  } else if (message.method == "$/cancelRequest") {
    const Json* const id = find(message.params, "id");
    if (id != nullptr && !analyst_.cancel(*id)) commands_.cancel(*id);
  }
}

}  // namespace ww::lsp
