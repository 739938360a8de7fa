// SPDX-License-Identifier: Apache-2.0
// `warpwright examples`: lists, shows, runs and writes the programs that come with Warpwright.
// Everything is in driver/examples.h.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file_io.h"
#include "base/printable.h"
#include "base/source.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/source_options.h"
#include "driver/build.h"
#include "driver/examples.h"
#include "driver/report_parts.h"

namespace ww::cli::examples_command {
namespace {

void declare_name(OptionSet& set, std::string& name) {
  set.argument("NAME", name, Need::Required, "of an example, as `warpwright examples` lists them");
  std::vector<std::string> names;
  for (const driver::Example& each : driver::examples()) names.push_back(each.name);
  set.offer(std::move(names));
}

// --- list ----------------------------------------------------------------------------------------

Run set_up_list(OptionSet& set) {
  auto json = std::make_shared<bool>(false);
  set.flag("--json", *json, "print JSON (docs/reference/cli.md)");
  return [json] {
    return *json ? Outcome{.out = driver::json_text(driver::examples_json())}
                 : Outcome{.out = driver::examples_text(), .look = Look::Report};
  };
}

// --- show ----------------------------------------------------------------------------------------

Run set_up_show(OptionSet& set) {
  auto name = std::make_shared<std::string>();
  declare_name(set, *name);
  return [name]() -> Outcome {
    const auto example = driver::find_example(*name);
    if (!example) return user_error(example.error());
    return {.out = std::string(example->text)};
  };
}

const Command kShow{.name = "examples show",
                    .summary = "print an example",
                    .description = "Prints the text of an example.",
                    .examples = "# a transpose\nwarpwright examples show transpose",
                    .set_up = set_up_show};

// --- run -----------------------------------------------------------------------------------------

Run set_up_run(OptionSet& set) {
  auto request = std::make_shared<driver::RunRequest>();
  auto text = std::make_shared<std::optional<SourceText>>();
  declare_name(set, request->source.path);
  return declare_run(set, request, [text](driver::RunRequest& wanted) -> Result<void> {
    const driver::Example example = WW_TRY(driver::find_example(wanted.source.path));
    wanted.source.path = example.path;
    text->emplace(example.path, std::string(example.text));
    wanted.source.text = &**text;
    return {};
  });
}

const Command kRun{
    .name = "examples run",
    .summary = "run an example, with the options of `warpwright run`",
    .description = "Runs an example as `warpwright run` runs a file, but needs no file.",
    .examples =
        "# transpose, and check the result\n"
        "warpwright examples run transpose --expect 'B == A.T'\n"
        "# a matrix product of other extents\n"
        "warpwright examples run gemm_mma --kernel 'build(M=200, K=120)' --expect 'D ~= A @ B'",
    .set_up = set_up_run};

// --- write ---------------------------------------------------------------------------------------

struct WriteOptions {
  std::string name;
  std::string path;
  bool overwrites = false;
};

Outcome write(const WriteOptions& options) {
  const auto example = driver::find_example(options.name);
  if (!example) return user_error(example.error());
  namespace fs = std::filesystem;
  std::error_code ignored;
  fs::path path = options.path;
  // In a folder it keeps its name.
  if (path.empty() || fs::is_directory(path, ignored)) path /= fs::path(example->path).filename();
  if (fs::exists(fs::symlink_status(path, ignored)) && !options.overwrites)
    return user_error(diag(DiagKind::Io, "`{}` is there already", path.string())
                          .with_note("`--force` overwrites it"));
  const auto written = write_file_atomically(path, example->text);
  if (!written) return user_error(written.error());
  std::string out = printable_name(path.string()) + " written\n";
  // What it imports goes beside it; files that are there stay.
  const auto imported = driver::imported_files(example->path, example->text);
  if (!imported) return user_error(imported.error());
  for (const driver::ImportedFile& file : *imported) {
    const fs::path beside = path.parent_path() / (file.module + ".py");
    if (fs::exists(fs::symlink_status(beside, ignored))) continue;
    const auto done = write_file_atomically(beside, file.text);
    if (!done) return user_error(done.error());
    out += printable_name(beside.string()) + " written, which it imports\n";
  }
  return {.out = std::move(out), .look = Look::Report};
}

Run set_up_write(OptionSet& set) {
  auto options = std::make_shared<WriteOptions>();
  declare_name(set, options->name);
  set.argument("PATH", options->path, Need::Optional,
               "a file or a folder (default: the current folder, under the example's name)");
  set.flag("--force", options->overwrites, "overwrite an existing file");
  return [options] { return write(*options); };
}

const Command kWrite{.name = "examples write",
                     .summary = "write an example to a file",
                     .description = "Writes an example to a file, so that you can change it.",
                     .examples = "# as mine.py\nwarpwright examples write gemm_mma mine.py",
                     .set_up = set_up_write};

const Command* const kActions[] = {&kShow, &kRun, &kWrite};

}  // namespace

extern const Command command;
const Command command{
    .name = "examples",
    .summary = "list, show, run and write the examples that come with Warpwright",
    .description =
        "Lists the examples by difficulty, a line each. The program contains them:\n"
        "`examples run` and `examples show` need no files.",
    .examples =
        "# list the examples\n"
        "warpwright examples\n"
        "# run one, and check its result\n"
        "warpwright examples run transpose --expect 'B == A.T'\n"
        "# start from one\n"
        "warpwright examples write gemm_mma mine.py",
    .set_up = set_up_list,
    .actions = kActions};

}  // namespace ww::cli::examples_command
