// SPDX-License-Identifier: Apache-2.0
#include "explore/run_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "base/file_io.h"
#include "base/process.h"
#include "driver/sim/report.h"
#include "driver/timeline/timeline.h"
#include "driver/tune/estimate.h"
#include "explore/calls.h"
#include "explore/recordings.h"

namespace ww::explore {

// --- gpu run -------------------------------------------------------------------------------------

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

namespace {

constexpr int kTimedLaunches = 20;
constexpr double kProgressEvery = 0.2;  // seconds

std::string line_text(const Json& value) { return value.dump() + "\n"; }

// The counters of sim.json, each line with its line of the source, and the estimate.
Json counters_json(const driver::RunCapture& capture) {
  std::map<std::uint32_t, std::uint32_t> sources;  // by line of PTX
  for (std::uint32_t op = 0; op < capture.program->infos.size(); ++op)
    if (const auto at = driver::source_of(*capture.program, op))
      sources.emplace(capture.program->infos[op].line, at->line);
  Json lines = Json::array();
  for (const auto& [line, count] : driver::counts_by_line(*capture.program, capture.run.counters)) {
    const auto source = sources.find(line);
    Json row = {{"line", line},
                {"source_line", source == sources.end() ? 0 : source->second},
                {"instruction", capture.program->line(line)}};
    row.update(driver::count_json(count));
    lines.push_back(std::move(row));
  }
  const driver::SimWork work = driver::work_of(*capture.program, capture.run);
  const driver::Estimate estimate = driver::estimate(work, capture.program->target.arch);
  return {{"families", driver::families_json(*capture.program, capture.run.counters)},
          {"lines", std::move(lines)},
          {"estimate", {{"cycles", estimate.cycles}, {"bound", estimate.bound}}}};
}

// run.json, each finding with its moment.
Json report_json(const driver::RunReport& report) {
  Json out = driver::run_json(report);
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    const auto& moment = report.findings[i].moment;
    out["findings"][i]["moment"] = moment ? Json(*moment) : Json(nullptr);
  }
  return out;
}

Json recording_json(Session& session, driver::RunCapture capture) {
  const bool has_states = capture.run.recording && capture.run.recording->history != nullptr;
  if (!has_states) return nullptr;
  auto run = std::make_shared<StoredRun>(std::move(capture));
  const sim::Recording& recording = run->recording();
  Json out = {{"moments", run->history().moments.size()},
              {"steps", recording.steps},
              {"warps_per_block", recording.warps_per_cta},
              {"blocks", recording.ctas},
              {"is_cut", run->history().is_cut || recording.is_cut}};
  out["id"] = session.recordings.add(std::move(run));
  return out;
}

driver::RunRequest base_request(const RunWish& wish, const SourceText& text) {
  return {.source = {.path = wish.program.file,
                     .kernel = wish.program.kernel,
                     .target = wish.program.target,
                     .text = &text},
          .device = driver::DeviceKind::Sim,
          .arguments = wish.arguments,
          .checks = wish.checks,
          .schedule = wish.schedule};
}

}  // namespace

Result<RunWish> run_wish(const Json& request) {
  RunWish out{.program = WW_TRY(program_field(request)),
              .arguments = {.args = WW_TRY(args_field(request)),
                            .expects = WW_TRY(texts_field(request, "expects"))},
              .schedule = WW_TRY(text_field(request, "schedule")),
              .checks = WW_TRY(text_field(request, "checks")),
              .records = WW_TRY(flag_field(request, "record", true))};
  const std::int64_t block = WW_TRY(number_field(request, "block", 0));
  if (block < 0) return fail(DiagKind::BadArgument, "`block` is {}, expected 0 or more", block);
  out.block = static_cast<std::uint64_t>(block);
  const std::string device = WW_TRY(text_field(request, "device", "sim"));
  if (device != "sim" && device != "cuda")
    return fail(DiagKind::BadArgument, "`device` is `{}`, expected `sim` or `cuda`", device);
  out.on_gpu = device == "cuda";
  return out;
}

CapturedRun run_captured(const RunWish& wish, double seconds, const std::atomic<bool>& stop,
                         RunProgress& progress) {
  CapturedRun out;
  out.capture.block = wish.block;
  out.capture.keeps_states = wish.records;
  const SourceText text(wish.program.file, wish.program.source);
  driver::RunRequest request = base_request(wish, text);
  request.limits =
      fmt::format("instructions={},seconds={},memory={}", kMaxInstructions, seconds, kMaxMemory);
  request.stop = &stop;
  request.capture = &out.capture;
  request.progress = [&](std::uint64_t blocks, std::uint64_t of) {
    progress.blocks = blocks;
    progress.of = of;
    return !stop && !(wish.ends_early && blocks > 0);
  };
  out.outcome = driver::run_kernel(request);
  return out;
}

Json run_result(Session& session, const RunWish& wish, const std::atomic<bool>& stop,
                RunProgress& progress) {
  Json out = driver::with_schema("explore-run");
  out["counters"] = out["timeline"] = out["recording"] = nullptr;
  if (wish.on_gpu) {
    out.update(gpu_result(session.options.program, wish, kTimedLaunches));
    return out;
  }
  CapturedRun run = run_captured(wish, session.options.limits.seconds, stop, progress);
  out["errors"] = run.outcome.errors;
  out["report"] = run.outcome.report ? report_json(*run.outcome.report) : Json(nullptr);
  if (run.capture.program == nullptr) return out;
  out["counters"] = counters_json(run.capture);
  if (run.capture.run.recording)
    out["timeline"] = timeline_json(*run.capture.run.recording, run.capture.source, {});
  out["recording"] = recording_json(session, std::move(run.capture));
  return out;
}

Answer run_answer(Session& session, const RunWish& wish, const Peer& peer) {
  const auto stream = [&session, &peer, wish](const Write& write) {
    const std::uint64_t number = session.shop.new_number();
    if (!write(line_text({{"job", number}}))) return;
    RunProgress progress;
    std::string last;
    std::shared_ptr<void> hold;
    double shown = 0;
    const auto tick = [&](double seconds) {
      if (seconds - shown < kProgressEvery) return true;
      shown = seconds;
      return write(line_text({{"progress",
                               {{"seconds", seconds},
                                {"blocks", progress.blocks.load()},
                                {"of", progress.of.load()}}}}));
    };
    const WorkResult end = session.shop.run(
        peer,
        [&](const std::atomic<bool>& stop) {
          last = line_text({{"result", run_result(session, wish, stop, progress)}});
          hold = session.unread.take(last.size());
          if (hold == nullptr) last = line_text({{"error", unread_text(session.unread)}});
        },
        number, tick);
    if (end.end != WorkEnd::Done)
      last = line_text({{"error", end_text(end, session.options.limits)}});
    (void)write(last);
  };
  return {.type = "application/x-ndjson", .stream = stream};
}

}  // namespace ww::explore
