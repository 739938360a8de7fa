// SPDX-License-Identifier: Apache-2.0
#include "driver/starter.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/ascii.h"
#include "base/check.h"
#include "base/file_io.h"
#include "base/join.h"
#include "base/printable.h"
#include "base/suggest.h"
#include "driver/embedded.h"

namespace ww::driver {
namespace {

namespace fs = std::filesystem;

constexpr StarterKind kStarterKinds[] = {
    {"copy", "global to shared memory to registers and back (default)", "B == A"},
    {"transpose", "a tile transposed by ldmatrix, in swizzled shared memory", "B == A.T"},
    {"gemm", "a matrix product on tensor cores: ldmatrix and mma.sync", "D ~= A @ B"},
    {"tensor", "the tensor memory of Blackwell: tcgen05.st and tcgen05.ld", "B == 2 * A"},
};

constexpr std::string_view kKeywords[] = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};
// Names that the templates themselves use.
constexpr std::string_view kTaken[] = {"A", "B",  "D",     "K",      "M",      "N",  "R",     "S",
                                       "T", "Tx", "build", "kernel", "laneid", "tx", "warpid"};

Result<StarterKind> find_kind(std::string_view name) {
  const auto* const found = std::ranges::find(kStarterKinds, name, &StarterKind::name);
  if (found != std::end(kStarterKinds)) return *found;
  std::vector<std::string_view> names;
  for (const StarterKind& kind : kStarterKinds) names.push_back(kind.name);
  return fail(DiagKind::UnknownName, "`{}` is not one of {}{}", name, join(names, ", "),
              did_you_mean(name, names));
}

std::string_view template_of(std::string_view kind) {
  const std::string path = fmt::format("src/driver/templates/{}.py", kind);
  for (const EmbeddedFile& file : embedded_templates())
    if (file.path == path) return file.text;
  WW_CHECK(false, "no template `{}`", path);
  return {};
}

std::string path_of(const std::string& name) { return name.ends_with(".py") ? name : name + ".py"; }

// The kernel's name: the last part of the path.
Result<std::string> kernel_name(const std::string& given) {
  const std::size_t begin = given.rfind('/') + 1;  // 0 where there is none
  const std::size_t end = given.size() - (given.ends_with(".py") ? 3 : 0);
  const std::string name = given.substr(std::min(begin, end), end - std::min(begin, end));
  const Span span = Span::at(begin, std::max(end, begin));
  if (!is_identifier(name))
    return fail(diag(DiagKind::BadArgument,
                     "`{}` cannot be the name of a kernel: expected a letter or `_`, then letters, "
                     "digits and `_`",
                     name)
                    .with_span(span));
  if (std::ranges::find(kKeywords, name) != std::end(kKeywords))
    return fail(
        diag(DiagKind::BadArgument, "`{}` is a word of Python's and cannot name a kernel", name)
            .with_span(span));
  if (std::ranges::find(kTaken, name) != std::end(kTaken))
    return fail(diag(DiagKind::BadArgument,
                     "`{}` has a meaning in the program and cannot name its kernel", name)
                    .with_span(span));
  return name;
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
}

Result<void> check_place(const fs::path& path, bool overwrites) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return fail(DiagKind::Io, "`{}` is a folder", path.string());
  if (fs::exists(fs::symlink_status(path, ignored)) && !overwrites)
    return fail(diag(DiagKind::Io, "`{}` is there already", path.string())
                    .with_note("`--force` overwrites it"));
  const fs::path folder = path.parent_path();
  if (!folder.empty() && !fs::is_directory(folder, ignored))
    return fail(DiagKind::Io, "there is no folder `{}` for `{}`", folder.string(),
                path.filename().string());
  return {};
}

}  // namespace

std::span<const StarterKind> starter_kinds() { return kStarterKinds; }

std::string shell_word(std::string_view word) {
  constexpr std::string_view kHarmless = "_-./+:=@%,";
  const bool is_plain = !word.empty() && std::ranges::all_of(word, [&](char c) {
    return is_name_char(c) || kHarmless.contains(c);
  });
  if (is_plain) return std::string(word);
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

Result<Starter> make_starter(const StarterRequest& request) {
  const StarterKind kind = WW_TRY(find_kind(request.kind));
  const std::string name = WW_TRY(kernel_name(request.name));
  Starter starter{.path = path_of(request.name), .text = std::string(template_of(kind.name))};
  // A name that begins with a dash would be taken for an option.
  const std::string file = printable_name(
      shell_word(starter.path.starts_with('-') ? "./" + starter.path : starter.path));
  starter.run = fmt::format("warpwright run {} --expect '{}'", file, kind.expect);
  starter.explain = fmt::format("warpwright explain {}", file);
  replace_all(starter.text, "{{name}}", name);
  replace_all(starter.text, "{{run}}", fmt::format("warpwright run {}", file));
  replace_all(starter.text, "{{explain}}", starter.explain);
  return starter;
}

Result<Starter> write_starter(const StarterRequest& request) {
  Starter starter = WW_TRY(make_starter(request));
  WW_TRY_VOID(check_place(starter.path, request.overwrites));
  WW_TRY_VOID(write_file_atomically(starter.path, starter.text));
  return starter;
}

}  // namespace ww::driver
