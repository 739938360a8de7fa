// SPDX-License-Identifier: Apache-2.0
#include "lsp/analyst.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/file_io.h"
#include "base/printable.h"
#include "lsp/diagnostics.h"
#include "lsp/features.h"
#include "script/syntax/parser.h"

namespace ww::lsp {

// --- answers -------------------------------------------------------------------------------------

namespace {

Result<Json> answer_definition(const Asked& asked) {
  const ReadText read = [&](const std::string& path) -> std::shared_ptr<const Text> {
    if (const Document* const open = asked.documents.find_path(path)) return open->text;
    auto bytes = read_file(path, script::kMaxSourceBytes);
    return bytes ? std::make_shared<const Text>(*std::move(bytes)) : nullptr;
  };
  return definition(asked.about, WW_TRY(asked.offset()), read);
}

}  // namespace

Result<std::size_t> Asked::offset() const {
  return document.text->offset(WW_TRY(read_position(params, "position")), about.client.encoding);
}

Result<Span> Asked::range() const {
  const Encoding encoding = about.client.encoding;
  const Text& text = *document.text;
  const std::size_t begin = text.offset(WW_TRY(read_position(params, "range.start")), encoding);
  const std::size_t end = text.offset(WW_TRY(read_position(params, "range.end")), encoding);
  return Span::at(begin, std::max(begin, end));
}

const RequestMethod* find_request_method(std::string_view name) {
  using enum RequestMethod::Wants;
  using Answer = Result<Json>;
  static constexpr RequestMethod kMethods[] = {
      {"textDocument/hover", Analysis,
       [](const Asked& q) -> Answer { return hover(q.about, WW_TRY(q.offset())); }},
      {"textDocument/inlayHint", Analysis,
       [](const Asked& q) -> Answer { return inlay_hints(q.about, WW_TRY(q.range())); }},
      {"textDocument/codeLens", Analysis,
       [](const Asked& q) -> Answer { return code_lenses(q.about); }},
      {"textDocument/documentSymbol", Analysis,
       [](const Asked& q) -> Answer { return document_symbols(q.about); }},
      {"textDocument/codeAction", Analysis,
       [](const Asked& q) -> Answer { return code_actions(q.about, WW_TRY(q.range())); }},
      {"textDocument/definition", Analysis, answer_definition},
      {"textDocument/completion", Anything,
       [](const Asked& q) -> Answer {
         return completion(q.about, *q.document.text, WW_TRY(q.offset()));
       }},
      {"textDocument/signatureHelp", Anything,
       [](const Asked& q) -> Answer {
         return signature_help(q.about, *q.document.text, WW_TRY(q.offset()));
       }},
  };
  const auto* const found = std::ranges::find(kMethods, name, &RequestMethod::name);
  return found == std::end(kMethods) ? nullptr : found;
}

namespace {

// What is known before the first analysis.
const Analysis& nothing_known() {
  static const Analysis nothing = [] {
    Analysis out;
    out.text = std::make_shared<const Text>("");
    return out;
  }();
  return nothing;
}

}  // namespace

Analyst::~Analyst() {
  const auto lock = connection_.lock();
  for (auto& [uri, known] : known_) give_up(known, ErrorCode::RequestCancelled, "cancelled");
}

void Analyst::wait_until_idle() {
  worker_.wait_until_idle();
  emitter_.wait_until_idle();
}

// --- documents -----------------------------------------------------------------------------------

void Analyst::open(const Json& params) { text_changed(documents_.open(params)); }

void Analyst::change(const Json& params) {
  text_changed(documents_.change(params, connection_.client().encoding));
}

void Analyst::text_changed(const Result<std::string>& uri) {
  if (!uri) return connection_.log(MessageType::Error, uri.error().text);
  Known& known = known_[*uri];
  known.run.clear();
  give_up(known, ErrorCode::ContentModified, "the document has changed");
  start(*documents_.find(*uri));
}

void Analyst::close(const Json& params) {
  const Result<std::string> uri = documents_.close(params);
  if (!uri) return connection_.log(MessageType::Error, uri.error().text);
  give_up(known_[*uri], ErrorCode::ContentModified, "the document was closed");
  known_.erase(*uri);
  worker_.cancel(*uri);
  emitter_.cancel(*uri);
  connection_.notify("textDocument/publishDiagnostics",
                     {{"uri", *uri}, {"diagnostics", Json::array()}});
}

void Analyst::start(const Document& document) {
  Job job{.key = document.uri};
  job.run = [this, document, last = analysis(document.uri)](const auto&) {
    const auto analysis = std::make_shared<const Analysis>(analyse(document, last.get()));
    analysed(document.uri, analysis);
    // On a thread of its own: the next change does not wait for it.
    Job emission{.key = document.uri};
    emission.run = [this, uri = document.uri, analysis](const auto&) {
      emitted(uri, analysis, emission_problems(*analysis));
    };
    emission.failed = [this](const std::string& what) {
      const auto lock = connection_.lock();
      connection_.say_bug(what);
    };
    emitter_.submit(std::move(emission));
  };
  job.failed = [this, uri = document.uri](const std::string& what) {
    const auto lock = connection_.lock();
    connection_.say_bug(what);
    if (const auto known = known_.find(uri); known != known_.end())
      give_up(known->second, ErrorCode::InternalError, what);
  };
  worker_.submit(std::move(job));
}

void Analyst::analysed(const std::string& uri, const std::shared_ptr<const Analysis>& analysis) {
  const auto lock = connection_.lock();
  const Document* const document = documents_.find(uri);
  // One that was closed and opened again may have the same version, but not the same text.
  if (document == nullptr || document->version != analysis->version ||
      document->text != analysis->text)
    return;
  Known& known = known_[uri];
  known.analysis = analysis;
  known.emission.clear();
  publish(uri, known);
  // Each waits until it is answered: after an exception, the rest are refused.
  while (!known.waiting.empty()) {
    answer_now(*document, known, known.waiting.front());
    known.waiting.erase(known.waiting.begin());
  }
}

void Analyst::emitted(const std::string& uri, const std::shared_ptr<const Analysis>& analysis,
                      std::vector<Problem> problems) {
  const auto lock = connection_.lock();
  const auto known = known_.find(uri);
  if (known == known_.end() || known->second.analysis != analysis || problems.empty()) return;
  known->second.emission = std::move(problems);
  publish(uri, known->second);
}

void Analyst::show_run(std::string_view uri, std::int64_t version, std::vector<Problem> problems) {
  const Document* const document = documents_.find(uri);
  const auto known = known_.find(uri);
  if (document == nullptr || document->version != version || known->second.analysis == nullptr ||
      known->second.analysis->version != version)
    return;
  known->second.run = std::move(problems);
  publish(known->first, known->second);
}

void Analyst::publish(const std::string& uri, const Known& known) {
  std::vector<Problem> more = known.emission;
  more.insert(more.end(), known.run.begin(), known.run.end());
  connection_.notify("textDocument/publishDiagnostics",
                     diagnostics_json({uri, *known.analysis, connection_.client()}, more));
}

std::shared_ptr<const Analysis> Analyst::analysis(std::string_view uri) const {
  const auto known = known_.find(uri);
  return known == known_.end() ? nullptr : known->second.analysis;
}

// --- requests ------------------------------------------------------------------------------------

void Analyst::answer(const RequestMethod& method, const Message& request) {
  const auto refuse = [&](std::string_view text) {
    connection_.refuse(*request.id, ErrorCode::InvalidParams, text);
  };
  const auto uri = text_at(request.params, "textDocument.uri");
  if (!uri) return refuse(uri.error().text);
  const Document* const document = documents_.find(*uri);
  if (document == nullptr) return refuse(fmt::format("`{}` is not open", printable_name(*uri)));
  Known& known = known_[*uri];
  Waiting waiting{&method, *request.id, request.params};
  const bool is_known = known.analysis != nullptr && known.analysis->version == document->version;
  if (method.wants == RequestMethod::Wants::Analysis && !is_known)
    return known.waiting.push_back(std::move(waiting));
  answer_now(*document, known, waiting);
}

void Analyst::answer_now(const Document& document, const Known& known, const Waiting& waiting) {
  const Question about{document.uri, known.analysis != nullptr ? *known.analysis : nothing_known(),
                       connection_.client()};
  Result<Json> result = waiting.method->answer({about, document, documents_, waiting.params});
  result ? connection_.respond(waiting.id, *std::move(result))
         : connection_.refuse(waiting.id, ErrorCode::InvalidParams, result.error().text);
}

bool Analyst::cancel(const Json& id) {
  for (auto& [uri, known] : known_) {
    const auto at = std::ranges::find(known.waiting, id, &Waiting::id);
    if (at == known.waiting.end()) continue;
    known.waiting.erase(at);
    connection_.refuse(id, ErrorCode::RequestCancelled, "cancelled");
    return true;
  }
  return false;
}

void Analyst::give_up(Known& known, ErrorCode code, std::string_view text) {
  for (const Waiting& each : std::exchange(known.waiting, {}))
    connection_.refuse(each.id, code, text);
}

}  // namespace ww::lsp
