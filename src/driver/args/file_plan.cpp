// SPDX-License-Identifier: Apache-2.0
#include "driver/args/file_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/file_io.h"
#include "driver/args/assignment.h"
#include "driver/args/file_spec.h"

namespace ww::driver {

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
