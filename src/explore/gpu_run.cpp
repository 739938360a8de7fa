// SPDX-License-Identifier: Apache-2.0
#include "explore/gpu_run.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "base/file_io.h"
#include "base/process.h"

namespace ww::explore {
namespace {

// What it is called in messages; never a place outside of the folder.
std::string file_name(const std::string& given) {
  const std::string name = std::filesystem::path(given).filename().string();
  return name.empty() || name == "." || name == ".." || name.starts_with('-') ? "kernel.py" : name;
}

std::vector<std::string> command_line(const std::string& program, const RunWish& wish,
                                      int launches) {
  std::vector<std::string> words{program, "run", file_name(wish.program.file)};
  const auto add = [&](std::string_view option, const std::string& value) {
    if (!value.empty()) words.push_back(fmt::format("{}={}", option, value));
  };
  add("--device", "cuda");
  add("--kernel", wish.program.kernel);
  add("--target", wish.program.target);
  for (const auto& argument : wish.arguments.args) add("--arg", argument);
  for (const std::string& expectation : wish.arguments.expects) add("--expect", expectation);
  words.emplace_back("--time");
  add("--launches", std::to_string(launches));
  words.emplace_back("--json");
  add("--color", "never");
  return words;
}

Result<Finished> run_in_folder(const std::string& program, const RunWish& wish, int launches) {
  const ScratchFolder folder = WW_TRY(ScratchFolder::make());
  WW_TRY_VOID(
      write_file_atomically(folder.file(file_name(wish.program.file)), wish.program.source));
  return run_program(command_line(program, wish, launches), folder.path());
}

}  // namespace

Json gpu_result(const std::string& program, const RunWish& wish, int launches) {
  Json out = {{"errors", ""}, {"report", nullptr}};
  const auto finished = run_in_folder(program, wish, launches);
  if (!finished) {
    out["errors"] = render(finished.error());
    return out;
  }
  if (finished->signal != 0) {
    out["errors"] = fmt::format("error: the run on the GPU ended with signal {}\n{}",
                                finished->signal, finished->output);
    return out;
  }
  // A report or messages: with messages there is no report.
  Json report = Json::parse(finished->output).value_or(nullptr);
  if (report.type() != JsonType::Object || !report.contains("outcome")) {
    out["errors"] = finished->output;
    return out;
  }
  report["file"] = wish.program.file;
  for (Json& finding : report["findings"].list()) finding["moment"] = nullptr;
  out["report"] = std::move(report);
  return out;
}

}  // namespace ww::explore
