// SPDX-License-Identifier: Apache-2.0
#include "base/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/append.h"

namespace ww {
namespace {

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

std::size_t count_characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

// Long lines are shown as a window around the span, so that a caret never scrolls away.
constexpr std::size_t kWindow = 120;

void append_excerpt(std::string& out, const SourceText& source, Span span) {
  const auto position = source.position(span.begin);
  std::string_view line = source.line(position.line);
  std::size_t begin = std::min(position.column - 1, count_characters(line));
  const std::size_t bytes = std::max<std::size_t>(span.end, span.begin) - span.begin;
  std::size_t width = std::max<std::size_t>(
      1, count_characters(source.text().substr(std::min(span.begin, source.text().size()), bytes)));
  std::string shown(line);
  if (line.size() > kWindow) {
    const std::size_t from = begin > kWindow / 2 ? begin - kWindow / 2 : 0;
    shown = std::string(from == 0 ? "" : "…") +
            std::string(line.substr(std::min(from, line.size()), kWindow)) +
            (from + kWindow < line.size() ? "…" : "");
    begin = begin - from + (from == 0 ? 0 : 1);
  }
  width = std::min(width,
                   std::max<std::size_t>(
                       1, count_characters(shown) > begin ? count_characters(shown) - begin : 1));
  // One column each, so that the caret stands below its character whatever a terminal makes of
  // tabs.
  std::ranges::replace_if(
      shown, [](char c) { return c >= 0 && c < ' '; }, ' ');
  append(out, "    {}\n    {}^{}\n", shown, std::string(begin, ' '), std::string(width - 1, '~'));
}

void append_message(std::string& out, const SourceText* source, Span span, std::string_view level,
                    std::string_view text, std::string_view kind) {
  if (source != nullptr && span.known) {
    const auto position = source->position(span.begin);
    append(out, "{}:{}:{}: ", source->name(), position.line, position.column);
  }
  append(out, "{}: {}", level, text);
  if (!kind.empty()) append(out, " [{}]", kind);
  out += '\n';
  if (source != nullptr && span.known) append_excerpt(out, *source, span);
}

// The texts a diagnostic's places lie in: one, or two laid end to end.
struct Texts {
  const SourceText* first = nullptr;
  const SourceText* second = nullptr;

  void append(std::string& out, Span span, std::string_view level, std::string_view text,
              std::string_view kind) const {
    const std::size_t base = first == nullptr ? 0 : first->text().size() + 1;
    const bool in_second = second != nullptr && span.known && span.begin >= base;
    if (in_second) span = Span::at(span.begin - base, span.end - base);
    append_message(out, in_second ? second : first, span, level, text, kind);
  }
};

std::string render_with(const Diag& diag, const Texts& texts) {
  std::string out;
  texts.append(out, diag.span, "error", diag.text, name_of(diag.kind));
  for (const Note& note : diag.notes)
    texts.append(out, note.span, note.span.known ? "note" : "  note", note.text, "");
  return out;
}

}  // namespace

SourceText::SourceText(std::string name, std::string text)
    : name_(std::move(name)), text_(std::move(text)), line_starts_{0} {
  for (std::size_t i = 0; i < text_.size(); ++i)
    if (text_[i] == '\n') line_starts_.push_back(i + 1);
}

std::size_t SourceText::line_number(std::size_t offset) const {
  const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  return static_cast<std::size_t>(after - line_starts_.begin());
}

SourceText::Position SourceText::position(std::size_t offset) const {
  offset = std::min(offset, text_.size());
  const std::size_t line = line_number(offset);
  const std::size_t start = line_starts_[line - 1];
  return {line, count_characters(std::string_view(text_).substr(start, offset - start)) + 1};
}

std::string_view SourceText::line(std::size_t number) const {
  if (number == 0 || number > line_starts_.size()) return {};
  const std::size_t start = line_starts_[number - 1];
  const std::size_t end = number < line_starts_.size() ? line_starts_[number] - 1 : text_.size();
  return std::string_view(text_).substr(start, end - start);
}

std::string render(const Diag& diag, const SourceText& source) {
  return render_with(diag, {&source});
}
std::string render(const Diag& diag) { return render_with(diag, {}); }
std::string render(const Diag& diag, const SourceText& source, const SourceText& continued) {
  return render_with(diag, {&source, &continued});
}

}  // namespace ww
