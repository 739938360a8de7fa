// SPDX-License-Identifier: Apache-2.0
#include "page.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/append.h"

namespace ww::bench {
namespace {

constexpr std::string_view kBegin = "<!-- measured: ";
constexpr std::string_view kEnd = "<!-- end of ";
constexpr std::string_view kClose = " -->";

// The name in a line `<!-- ... NAME -->`.
std::optional<std::string> name_in(std::string_view line, std::string_view opening) {
  while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
  if (!line.starts_with(opening) || !line.ends_with(kClose)) return std::nullopt;
  if (line.size() <= opening.size() + kClose.size()) return std::nullopt;
  return std::string(line.substr(opening.size(), line.size() - opening.size() - kClose.size()));
}

template <typename... Args>
Diag at_line(std::size_t begin, std::string_view line, fmt::format_string<Args...> format,
             Args&&... args) {
  return diag(DiagKind::BadArgument, format, std::forward<Args>(args)...)
      .with_span(Span::at(begin, begin + std::min(line.find('\n'), line.size())));
}

}  // namespace

Result<Page> Page::read(std::string_view text) {
  Page out;
  std::string open;  // the part that we are in
  Diag no_end;       // what to say when it never ends
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    const std::string_view line = text.substr(begin, end - begin);
    if (const auto name = name_in(line, kBegin)) {
      if (!open.empty())
        return fail(at_line(begin, line, "part `{}` begins inside part `{}`", *name, open));
      if (std::ranges::find(out.parts_, *name, &Part::name) != out.parts_.end())
        return fail(at_line(begin, line, "part `{}` is there twice", *name));
      out.parts_.push_back({*name, ""});
      no_end = at_line(begin, line, "part `{}` has no line `{}{}{}`", *name, kEnd, *name, kClose);
      open = *name;
    } else if (const auto ended = name_in(line, kEnd)) {
      if (*ended != open)
        return fail(at_line(begin, line, "part `{}` ends and did not begin", *ended));
      open.clear();
    } else {
      if (open.empty() && (out.parts_.empty() || !out.parts_.back().name.empty()))
        out.parts_.push_back({"", ""});
      out.parts_.back().text += line;
    }
    begin = end;
  }
  if (!open.empty()) return fail(std::move(no_end));
  return out;
}

void Page::put(std::string_view name, std::string text) {
  const auto found = std::ranges::find(parts_, name, &Part::name);
  if (found != parts_.end()) {
    found->text = std::move(text);
    return;
  }
  if (!parts_.empty()) parts_.push_back({"", "\n"});
  parts_.push_back({std::string(name), std::move(text)});
}

std::vector<std::string> Page::names() const {
  std::vector<std::string> out;
  for (const Part& part : parts_)
    if (!part.name.empty()) out.push_back(part.name);
  return out;
}

std::string Page::text() const {
  std::string out;
  for (const Part& part : parts_) {
    if (part.name.empty()) {
      out += part.text;
      continue;
    }
    append(out, "{}{}{}\n{}", kBegin, part.name, kClose, part.text);
    append(out, "{}{}{}\n", kEnd, part.name, kClose);
  }
  return out;
}

}  // namespace ww::bench
