// SPDX-License-Identifier: Apache-2.0
#include "lsp/answers.h"

#include <algorithm>
#include <iterator>

#include "base/file_io.h"
#include "lsp/diagnostics.h"
#include "lsp/features.h"
#include "script/syntax/parser.h"

namespace ww::lsp {
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

}  // namespace ww::lsp
