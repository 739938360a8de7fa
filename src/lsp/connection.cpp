// SPDX-License-Identifier: Apache-2.0
#include "lsp/connection.h"

#include <fmt/format.h>

#include <algorithm>

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

// --- client --------------------------------------------------------------------------------------

namespace {

bool has_text(const Json* list, std::string_view wanted) {
  return list != nullptr && list->type() == JsonType::Array &&
         std::ranges::any_of(*list, [&](const Json& each) { return each == wanted; });
}

void add_folder(const Json* uri, std::vector<std::string>& out) {
  if (uri != nullptr && uri->type() == JsonType::String)
    out.push_back(path_of(uri->get<std::string>()));
}

}  // namespace

ClientFeatures ClientFeatures::of(const Json& params) {
  ClientFeatures out;
  if (has_text(find(params, "capabilities.general.positionEncodings"), "utf-8"))
    out.encoding = Encoding::Utf8;
  out.has_markdown =
      has_text(find(params, "capabilities.textDocument.hover.contentFormat"), "markdown");
  // A client that names its Markdown parser renders pictures; one that only shows the text, as
  // editors in a terminal do, names none.
  const Json* const parser = find(params, "capabilities.general.markdown.parser");
  const Json* const wish = find(params, "initializationOptions.pictures");
  out.has_pictures =
      out.has_markdown && (wish != nullptr && wish->type() == JsonType::Boolean
                               ? wish->get<bool>()
                               : parser != nullptr && parser->type() == JsonType::String);
  out.has_related_places =
      is_true_at(params, "capabilities.textDocument.publishDiagnostics.relatedInformation");
  out.shows_documents = is_true_at(params, "capabilities.window.showDocument.support");
  add_folder(find(params, "rootUri"), out.folders);
  if (const Json* const folders = find(params, "workspaceFolders");
      folders != nullptr && folders->type() == JsonType::Array)
    for (const Json& each : *folders) add_folder(find(each, "uri"), out.folders);
  return out;
}

}  // namespace ww::lsp
