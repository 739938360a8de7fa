// SPDX-License-Identifier: Apache-2.0
#include "lsp/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/file_io.h"
#include "base/printable.h"
#include "lsp/diagnostics.h"
#include "lsp/features.h"
#include "script/syntax/parser.h"

namespace ww::lsp {
namespace {

// MessageType
constexpr int kErrorMessage = 1;

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

// A question that comes before anything of the document is known.
const std::shared_ptr<const Analysis>& nothing_known() {
  static const auto nothing = [] {
    auto out = std::make_shared<Analysis>();
    out->text = std::make_shared<const Text>("");
    return std::shared_ptr<const Analysis>(std::move(out));
  }();
  return nothing;
}

}  // namespace

Server::Server(ServerOptions options, Send send)
    : options_(std::move(options)),
      send_(std::move(send)),
      explorers_(options_.explore),
      emitter_(std::make_unique<Worker>()),
      analyst_(std::make_unique<Worker>()),
      runner_(std::make_unique<Worker>()) {}

Server::~Server() {
  // Jobs use all of this object; what they drop is still answered.
  runner_.reset();
  analyst_.reset();
  emitter_.reset();
}

void Server::wait_until_idle() {
  analyst_->wait_until_idle();
  emitter_->wait_until_idle();
  runner_->wait_until_idle();
}

// --- messages ------------------------------------------------------------------------------------

void Server::receive(std::string_view contents) {
  const auto message = parse_message(contents);
  const std::lock_guard lock(mutex_);
  if (!message)
    return send(error_response(message.error().id, message.error().code, message.error().text));
  handle(*message);
}

void Server::refuse(ErrorCode code, std::string_view text) {
  const std::lock_guard lock(mutex_);
  send(error_response(nullptr, code, text));
}

void Server::handle(const Message& message) {
  if (message.is_response()) return;  // to window/showDocument, which needs no more
  message.is_request() ? handle_request(message) : handle_notification(message);
}

std::span<const Server::Method> Server::methods() {
  static constexpr Method kMethods[] = {
      {"textDocument/hover", Wants::Analysis, &Server::answer_hover},
      {"textDocument/inlayHint", Wants::Analysis, &Server::answer_inlay},
      {"textDocument/codeLens", Wants::Analysis, &Server::answer_lens},
      {"textDocument/documentSymbol", Wants::Analysis, &Server::answer_symbols},
      {"textDocument/codeAction", Wants::Analysis, &Server::answer_actions},
      {"textDocument/definition", Wants::Analysis, &Server::answer_definition},
      {"textDocument/completion", Wants::Anything, &Server::answer_completion},
      {"textDocument/signatureHelp", Wants::Anything, &Server::answer_signature},
  };
  return kMethods;
}

void Server::handle_request(const Message& message) {
  const Json& id = *message.id;
  if (message.method == "initialize") return initialize(message);
  if (!is_initialized_)
    return send(error_response(id, ErrorCode::ServerNotInitialized,
                               fmt::format("`{}` before `initialize`", message.method)));
  if (is_shut_down_)
    return send(error_response(id, ErrorCode::InvalidRequest,
                               fmt::format("`{}` after `shutdown`", message.method)));
  if (message.method == "shutdown") {
    is_shut_down_ = true;
    return send(response(id, nullptr));
  }
  if (message.method == "workspace/executeCommand") return execute(message);
  const auto method = std::ranges::find(methods(), message.method, &Method::name);
  if (method == methods().end())
    return send(error_response(id, ErrorCode::MethodNotFound,
                               fmt::format("no method `{}`", printable_name(message.method))));
  const auto uri = text_at(message.params, "textDocument.uri");
  if (!uri) return send(error_response(id, ErrorCode::InvalidParams, uri.error().text));
  const Document* const document = documents_.find(*uri);
  if (document == nullptr)
    return send(error_response(id, ErrorCode::InvalidParams,
                               fmt::format("`{}` is not open", printable_name(*uri))));
  Waiting waiting{id, message.method, message.params};
  Open& open = open_[*uri];
  const bool is_known = open.analysis != nullptr && open.analysis->version == document->version;
  if (method->wants == Wants::Analysis && !is_known)
    return open.waiting.push_back(std::move(waiting));
  answer_now(*method, *document, waiting);
}

void Server::answer_now(const Method& method, const Document& document, const Waiting& waiting) {
  const auto analysis = open_[document.uri].analysis;
  const Question about{document.uri, analysis != nullptr ? *analysis : *nothing_known(), client_};
  const Result<Json> result = (this->*method.answer)(document, about, waiting.params);
  send(result ? response(waiting.id, *result)
              : error_response(waiting.id, ErrorCode::InvalidParams, result.error().text));
}

void Server::initialize(const Message& message) {
  if (is_initialized_)
    return send(
        error_response(*message.id, ErrorCode::InvalidRequest, "`initialize` for the second time"));
  if (message.params.type() != JsonType::Object)
    return send(error_response(*message.id, ErrorCode::InvalidParams, "`params` is no object"));
  client_ = ClientFeatures::of(message.params);
  is_initialized_ = true;
  send(response(*message.id,
                {{"capabilities", capabilities_json(client_.encoding)},
                 {"serverInfo", {{"name", "warpwright"}, {"version", options_.version}}}}));
}

void Server::handle_notification(const Message& message) {
  if (message.method == "exit") {
    is_done_ = true;
  } else if (!is_initialized_ || is_shut_down_) {
    return;  // the protocol drops them
  } else if (message.method == "textDocument/didOpen") {
    document_changed(documents_.open(message.params));
  } else if (message.method == "textDocument/didChange") {
    document_changed(documents_.change(message.params, client_.encoding));
  } else if (message.method == "textDocument/didClose") {
    document_closed(documents_.close(message.params));
  } else if (message.method == "$/cancelRequest") {
    cancel_request(message.params);
  }
}

void Server::cancel_request(const Json& params) {
  const Json* const id = find(params, "id");
  if (id == nullptr) return;
  for (auto& [uri, open] : open_) {
    const auto at = std::ranges::find(open.waiting, *id, &Waiting::id);
    if (at == open.waiting.end()) continue;
    open.waiting.erase(at);
    return send(error_response(*id, ErrorCode::RequestCancelled, "cancelled"));
  }
  if (const auto command = commands_.find(id->dump()); command != commands_.end())
    runner_->cancel(command->second);
}

// --- documents -----------------------------------------------------------------------------------

void Server::document_changed(const Result<std::string>& uri) {
  if (!uri) return log(kErrorMessage, uri.error().text);
  Open& open = open_[*uri];
  open.run.clear();
  give_up(open, ErrorCode::ContentModified, "the document has changed");
  start_analysis(*documents_.find(*uri));
}

void Server::document_closed(const Result<std::string>& uri) {
  if (!uri) return log(kErrorMessage, uri.error().text);
  give_up(open_[*uri], ErrorCode::ContentModified, "the document was closed");
  open_.erase(*uri);
  analyst_->cancel(*uri);
  emitter_->cancel(*uri);
  send(notification("textDocument/publishDiagnostics",
                    {{"uri", *uri}, {"diagnostics", Json::array()}}));
}

void Server::give_up(Open& open, ErrorCode code, std::string_view text) {
  for (const Waiting& each : std::exchange(open.waiting, {}))
    send(error_response(each.id, code, text));
}

void Server::start_analysis(const Document& document) {
  Job job{.key = document.uri};
  job.run = [this, document, last = open_[document.uri].analysis](const auto&) {
    const auto analysis = std::make_shared<const Analysis>(analyse(document, last.get()));
    analysed(document.uri, analysis);
    // On a thread of its own: the next change does not wait for it.
    Job emission{.key = document.uri};
    emission.run = [this, uri = document.uri, analysis](const auto&) {
      emitted(uri, analysis, emission_problems(*analysis));
    };
    emission.failed = [this](const std::string& what) {
      const std::lock_guard lock(mutex_);
      bug(what);
    };
    emitter_->submit(std::move(emission));
  };
  job.failed = [this, uri = document.uri](const std::string& what) {
    const std::lock_guard lock(mutex_);
    bug(what);
    give_up(open_[uri], ErrorCode::InternalError, what);
  };
  analyst_->submit(std::move(job));
}

void Server::analysed(const std::string& uri, const std::shared_ptr<const Analysis>& analysis) {
  const std::lock_guard lock(mutex_);
  const Document* const document = documents_.find(uri);
  if (document == nullptr || document->version != analysis->version) return;
  Open& open = open_[uri];
  open.analysis = analysis;
  open.emission.clear();
  publish(uri);
  for (const Waiting& each : std::exchange(open.waiting, {}))
    answer_now(*std::ranges::find(methods(), each.method, &Method::name), *document, each);
}

void Server::emitted(const std::string& uri, const std::shared_ptr<const Analysis>& analysis,
                     std::vector<Problem> problems) {
  const std::lock_guard lock(mutex_);
  const auto open = open_.find(uri);
  if (open == open_.end() || open->second.analysis != analysis || problems.empty()) return;
  open->second.emission = std::move(problems);
  publish(uri);
}

void Server::publish(const std::string& uri) {
  const Open& open = open_[uri];
  std::vector<Problem> more = open.emission;
  more.insert(more.end(), open.run.begin(), open.run.end());
  send(notification("textDocument/publishDiagnostics",
                    diagnostics_json({uri, *open.analysis, client_}, more)));
}

// --- answers -------------------------------------------------------------------------------------

namespace {

Result<std::size_t> offset_in(const Text& text, const Json& params, Encoding encoding) {
  return text.offset(WW_TRY(read_position(params, "position")), encoding);
}

Result<Span> span_in(const Text& text, const Json& params, Encoding encoding) {
  const std::size_t begin = text.offset(WW_TRY(read_position(params, "range.start")), encoding);
  const std::size_t end = text.offset(WW_TRY(read_position(params, "range.end")), encoding);
  return Span::at(begin, std::max(begin, end));
}

}  // namespace

Result<Json> Server::answer_hover(const Document& document, const Question& about,
                                  const Json& params) {
  return hover(about, WW_TRY(offset_in(*document.text, params, client_.encoding)));
}

Result<Json> Server::answer_inlay(const Document& document, const Question& about,
                                  const Json& params) {
  return inlay_hints(about, WW_TRY(span_in(*document.text, params, client_.encoding)));
}

Result<Json> Server::answer_lens(const Document&, const Question& about, const Json&) {
  return code_lenses(about);
}

Result<Json> Server::answer_symbols(const Document&, const Question& about, const Json&) {
  return document_symbols(about);
}

Result<Json> Server::answer_actions(const Document& document, const Question& about,
                                    const Json& params) {
  return code_actions(about, WW_TRY(span_in(*document.text, params, client_.encoding)));
}

Result<Json> Server::answer_completion(const Document& document, const Question& about,
                                       const Json& params) {
  return completion(about, *document.text,
                    WW_TRY(offset_in(*document.text, params, client_.encoding)));
}

Result<Json> Server::answer_signature(const Document& document, const Question& about,
                                      const Json& params) {
  return signature_help(about, *document.text,
                        WW_TRY(offset_in(*document.text, params, client_.encoding)));
}

Result<Json> Server::answer_definition(const Document& document, const Question& about,
                                       const Json& params) {
  const ReadText read = [this](const std::string& path) -> std::shared_ptr<const Text> {
    if (const Document* const open = documents_.find_path(path)) return open->text;
    auto bytes = read_file(path, script::kMaxSourceBytes);
    return bytes ? std::make_shared<const Text>(*std::move(bytes)) : nullptr;
  };
  return definition(about, WW_TRY(offset_in(*document.text, params, client_.encoding)), read);
}

// --- messages out --------------------------------------------------------------------------------

void Server::send(const Json& message) { send_(message); }

void Server::say(int type, std::string_view text) {
  send(notification("window/showMessage", {{"type", type}, {"message", text}}));
}

void Server::log(int type, std::string_view text) {
  send(notification("window/logMessage", {{"type", type}, {"message", text}}));
}

void Server::bug(const std::string& what) {
  say(kErrorMessage, fmt::format("internal error: {}; this is a bug in Warpwright {}, not in your "
                                 "file; please report it with the file",
                                 what, options_.version));
}

}  // namespace ww::lsp
