// SPDX-License-Identifier: Apache-2.0
#include "base/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/append.h"
#include "base/printable.h"

namespace ww {
namespace {

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

std::size_t count_characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

// `count` characters from the one at `from`.
std::string_view characters(std::string_view text, std::size_t from, std::size_t count) {
  const auto offset_of = [&](std::size_t character) {
    std::size_t at = 0;
    while (at < text.size() && character > 0)
      if (++at == text.size() || starts_character(text[at])) --character;
    return at;
  };
  const std::size_t begin = offset_of(from);
  text.remove_prefix(begin);
  return text.substr(0, offset_of(count));
}

// Long lines are shown as a window around the span, so that a caret never scrolls away.
constexpr std::size_t kWindow = 120;

void append_excerpt(std::string& out, const SourceText& source, Span span) {
  const std::string_view text = source.text();
  const std::size_t at = std::min(span.begin, text.size());
  const std::string_view line = source.line(source.line_number(at));
  const auto offset =
      std::min(static_cast<std::size_t>(text.data() + at - line.data()), line.size());
  const std::size_t bytes = std::max(span.end, span.begin) - span.begin;
  // One column each, so that the caret stands below its character.
  std::string shown = printable_columns(line.substr(0, offset));
  std::size_t begin = count_characters(shown);
  const std::string marked = printable_columns(line.substr(offset, bytes));
  const std::size_t width = std::max<std::size_t>(1, count_characters(marked));
  shown += marked;
  if (bytes < line.size() - offset) shown += printable_columns(line.substr(offset + bytes));
  std::size_t most = width;
  if (const std::size_t all = count_characters(shown); all > kWindow) {
    const std::size_t from = begin > kWindow / 2 ? begin - kWindow / 2 : 0;
    shown = fmt::format("{}{}{}", from == 0 ? "" : "…", characters(shown, from, kWindow),
                        from + kWindow < all ? "…" : "");
    begin = begin - from + (from == 0 ? 0 : 1);
    most = std::max<std::size_t>(1, count_characters(shown) - begin);
  }
  append(out, "    {}\n    {}^{}\n", shown, std::string(begin, ' '),
         std::string(std::min(width, most) - 1, '~'));
}

// Quoted code can be of any length.
constexpr std::size_t kLongestCode = 400;  // bytes, give or take the rest of a character

std::string shortened(std::string_view text) {
  std::string out;
  bool is_code = false;
  for (;;) {
    const std::string_view part = text.substr(0, text.find('`'));
    std::size_t kept = is_code ? std::min(part.size(), kLongestCode) : part.size();
    while (kept < part.size() && !starts_character(part[kept])) ++kept;
    out += part.substr(0, kept);
    if (kept < part.size()) out += "…";
    if (part.size() == text.size()) return out;
    out += '`';
    text.remove_prefix(part.size() + 1);
    is_code = !is_code;
  }
}

void append_message(std::string& out, const SourceText* source, Span span, std::string_view level,
                    std::string_view text, std::string_view kind) {
  if (source != nullptr && span.known) {
    const auto position = source->position(span.begin);
    append(out, "{}:{}:{}: ", printable_name(source->file_name(position.file)), position.line,
           position.column);
  }
  append(out, "{}: {}", level, printable(shortened(text), Breaks::Spell));
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
    : files_{{.name = std::move(name)}}, text_(std::move(text)), line_starts_{0} {
  for (std::size_t i = 0; i < text_.size(); ++i)
    if (text_[i] == '\n') line_starts_.push_back(i + 1);
}

void SourceText::add_file(std::string name, const std::string& text) {
  text_ += '\n';
  line_starts_.push_back(text_.size());
  files_.push_back(
      {.name = std::move(name), .begin = text_.size(), .first_line = line_starts_.size()});
  text_ += text;
  for (std::size_t i = files_.back().begin; i < text_.size(); ++i)
    if (text_[i] == '\n') line_starts_.push_back(i + 1);
}

std::string_view SourceText::file_text(std::size_t file) const {
  const std::size_t begin = files_[file].begin;
  const std::size_t end = file + 1 < files_.size() ? files_[file + 1].begin - 1 : text_.size();
  return std::string_view(text_).substr(begin, end - begin);
}

std::size_t SourceText::line_number(std::size_t offset) const {
  const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  return static_cast<std::size_t>(after - line_starts_.begin());
}

SourceText::Position SourceText::position(std::size_t offset) const {
  offset = std::min(offset, text_.size());
  const std::size_t line = line_number(offset);
  const std::size_t start = line_starts_[line - 1];
  std::size_t file = files_.size() - 1;
  while (files_[file].begin > offset) --file;
  return {.line = line - files_[file].first_line + 1,
          .column = count_characters(std::string_view(text_).substr(start, offset - start)) + 1,
          .file = file};
}

std::string_view SourceText::line(std::size_t number) const {
  if (number == 0 || number > line_starts_.size()) return {};
  const std::size_t start = line_starts_[number - 1];
  const std::size_t end = number < line_starts_.size() ? line_starts_[number] - 1 : text_.size();
  return std::string_view(text_).substr(start, end - start);
}

std::string_view SourceText::line_of_file(std::size_t file, std::size_t number) const {
  const std::size_t end =
      file + 1 < files_.size() ? files_[file + 1].first_line : line_starts_.size() + 1;
  const std::size_t at = files_[file].first_line + number - 1;
  return number == 0 || at >= end ? std::string_view() : line(at);
}

std::string render(const Diag& diag, const SourceText& source) {
  return render_with(diag, {&source});
}
std::string render(const Diag& diag) { return render_with(diag, {}); }
std::string render(const Diag& diag, const SourceText& source, const SourceText& continued) {
  return render_with(diag, {&source, &continued});
}

}  // namespace ww
