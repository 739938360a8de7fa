// SPDX-License-Identifier: Apache-2.0
#include "driver/args/file_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "base/file_io.h"

namespace ww::driver {

// --- file spec -----------------------------------------------------------------------------------

Result<FileSpec> parse_file_spec(Piece value) {
  FileSpec out;
  Piece path = value;
  const std::size_t colon = value.text.rfind(':');
  if (colon != std::string_view::npos && is_identifier(value.text.substr(colon + 1))) {
    const Piece type{value.text.substr(colon + 1), value.offset + colon + 1};
    out.type = WW_TRY(located(num::parse_dtype(type.text), type));
    out.type_span = type.span();
    path.text = value.text.substr(0, colon);
  }
  out.path = path.text;
  if (!path.empty()) return out;
  return fail_at(path.span(), DiagKind::Syntax, "expected the name of a file behind `@`");
}

// --- assignment ----------------------------------------------------------------------------------

Result<Assignment> cut_assignment(const std::string& text, std::string_view what) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size())
    return fail_at(Span::at(0, text.size()), DiagKind::Syntax, "found `{}`, expected `NAME={}`",
                   text, what);
  return Assignment{text, text.substr(0, at), text.substr(at + 1), Span::at(0, at),
                    Span::at(at + 1, text.size())};
}

void FilePlan::reads(std::string path, std::string what) {
  inputs_.push_back({std::move(path), std::move(what)});
}

void FilePlan::reads(const SourceRequest& source) {
  reads(source.path, "the source");
  if (source.kernel.starts_with('@')) reads(source.kernel.substr(1), "the file of `--kernel`");
}

void FilePlan::reads_args(std::span<const std::string> args) {
  for (const std::string& text : args) {
    const auto arg = cut_assignment(text, "");
    if (!arg || !arg->value.starts_with('@')) continue;
    const auto file = parse_file_spec({std::string_view(arg->value).substr(1), 0});
    if (file) reads(file->path, fmt::format("the argument `{}`", arg->name));
  }
}

Result<void> FilePlan::writes(const std::string& path, std::string_view what) {
  const auto is_it = [&](const File& file) { return is_same_file(file.path, path); };
  if (const auto input = std::ranges::find_if(inputs_, is_it); input != inputs_.end())
    return fail(diag(DiagKind::BadArgument, "`{}` is {}, and the output would overwrite it", path,
                     input->what)
                    .with_note("name another file"));
  if (const auto other = std::ranges::find_if(outputs_, is_it); other != outputs_.end())
    return fail(diag(DiagKind::BadArgument, "`{}` is written twice: for {} and for {}", path,
                     other->what, what)
                    .with_note("name another file for one of them"));
  WW_TRY_VOID(check_writable(path));
  outputs_.push_back({path, std::string(what)});
  return {};
}

}  // namespace ww::driver
