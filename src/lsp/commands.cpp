// SPDX-License-Identifier: Apache-2.0
// workspace/executeCommand: the commands of the code lenses. Both take their time, so they are jobs
// of a thread of their own; a newer one for the same document takes the place of an older one.
#include <fmt/format.h>

#include <utility>

#include "base/cancel.h"
#include "driver/run/tool.h"
#include "lsp/diagnostics.h"
#include "lsp/features.h"
#include "lsp/server.h"

namespace ww::lsp {
namespace {

// MessageType
constexpr int kFailed = 1;
constexpr int kFound = 2;
constexpr int kGood = 3;

constexpr std::string_view kRunLimits = "seconds=60";

const KernelChoice* find_choice(const Analysis* analysis, std::string_view expression) {
  if (analysis == nullptr) return nullptr;
  for (const KernelAnalysis& each : analysis->kernels)
    if (each.choice.expression == expression) return &each.choice;
  return nullptr;
}

// "gemm: finished on the virtual GPU, nothing found; `D ~= A @ B` holds for 65536 elements".
std::string run_message(const driver::RunReport& report) {
  const std::size_t findings = report.findings.size() + report.findings_left_out;
  std::string out =
      fmt::format("{}: {} on the virtual GPU, {}", report.kernel, report.outcome_text,
                  findings == 0 ? "nothing found" : driver::plural(findings, "finding"));
  for (const driver::ExpectReport& each : report.expectations)
    out += "; " + each.result.text.substr(0, each.result.text.find('\n'));
  return out;
}

driver::RunRequest run_request(const Document& document, const KernelChoice& choice,
                               const SourceText& text, const std::atomic<bool>& stop) {
  driver::RunRequest out;
  out.source = {
      .path = document.path, .kernel = choice.expression, .target = choice.target, .text = &text};
  out.device = driver::DeviceKind::Sim;
  out.arguments.args = choice.args;
  out.arguments.expects = choice.expects;
  out.limits = kRunLimits;
  out.stop = &stop;
  return out;
}

}  // namespace

void Server::execute(const Message& message) {
  const Json& id = *message.id;
  const auto refuse = [&](std::string_view text) {
    send(error_response(id, ErrorCode::InvalidParams, text));
  };
  const auto command = text_at(message.params, "command");
  if (!command) return refuse(command.error().text);
  if (*command != kRunCommand && *command != kExploreCommand)
    return refuse(fmt::format("no command `{}`, expected `{}` or `{}`", *command, kRunCommand,
                              kExploreCommand));
  const Json* const arguments = find(message.params, "arguments");
  const bool is_pair = arguments != nullptr && arguments->type() == JsonType::Array &&
                       arguments->size() == 2 && (*arguments)[0].type() == JsonType::String &&
                       (*arguments)[1].type() == JsonType::String;
  if (!is_pair) return refuse("`arguments` are not the URI of a document and a kernel expression");
  const auto uri = (*arguments)[0].get<std::string>();
  const auto expression = (*arguments)[1].get<std::string>();
  const Document* const document = documents_.find(uri);
  if (document == nullptr) return refuse(fmt::format("`{}` is not open", uri));
  const KernelChoice* const choice = find_choice(open_[uri].analysis.get(), expression);
  if (choice == nullptr)
    return refuse(fmt::format("`{}` is no kernel of `{}` now", expression, uri));
  *command == kRunCommand ? execute_run(id, *document, *choice)
                          : execute_explore(id, *document, *choice);
}

Job Server::command_job(const Json& id, std::string key) {
  Job job{.key = std::move(key)};
  commands_[id.dump()] = job.key;
  job.dropped = [this, id] {
    const std::lock_guard lock(mutex_);
    commands_.erase(id.dump());
    send(error_response(id, ErrorCode::RequestCancelled, "cancelled"));
  };
  job.failed = [this, id](const std::string& what) {
    const std::lock_guard lock(mutex_);
    commands_.erase(id.dump());
    bug(what);
    send(error_response(id, ErrorCode::InternalError, what));
  };
  return job;
}

void Server::execute_run(const Json& id, const Document& document, const KernelChoice& choice) {
  Job job = command_job(id, "run " + document.uri);
  job.run = [this, id, document, choice](const std::atomic<bool>& stop) {
    const SourceText text(document.path, document.text->bytes());
    const driver::RunOutcome outcome = run_kernel(run_request(document, choice, text, stop));
    if (stop.load()) throw Cancelled{};
    if (!outcome.report)
      return finish_run(id, document.uri, document.version, {}, outcome.errors, false, "");
    finish_run(id, document.uri, document.version,
               problems_of_run(*outcome.report, *document.text, choice.at),
               run_message(*outcome.report) + (outcome.errors.empty() ? "" : "; ") + outcome.errors,
               outcome.report->good() && outcome.errors.empty(), run_text(*outcome.report));
  };
  runner_->submit(std::move(job));
}

void Server::finish_run(const Json& id, const std::string& uri, std::int64_t version,
                        std::vector<Problem> problems, std::string_view message, bool good,
                        const std::string& report) {
  const std::lock_guard lock(mutex_);
  commands_.erase(id.dump());
  const auto open = open_.find(uri);
  const bool is_current = open != open_.end() && open->second.analysis != nullptr &&
                          open->second.analysis->version == version;
  if (is_current) {
    open->second.run = std::move(problems);
    publish(uri);
  }
  if (!report.empty()) log(kGood, report);
  say(good ? kGood : report.empty() ? kFailed : kFound, message);
  send(response(id, {{"good", good}, {"message", message}, {"report", report}}));
}

void Server::execute_explore(const Json& id, const Document& document, const KernelChoice& choice) {
  Job job = command_job(id, "explore " + document.uri);
  const auto analysis = open_[document.uri].analysis;
  // The only kernel of a file needs no name.
  const std::string kernel =
      analysis->kernels.size() == 1 && !choice.written.known ? "" : choice.expression;
  job.run = [this, id, path = document.path, kernel](const std::atomic<bool>& stop) {
    const auto address = explorers_.address(path, kernel, stop);
    const std::lock_guard lock(mutex_);
    commands_.erase(id.dump());
    if (!address) {
      say(kFailed, address.error().text);
      return send(error_response(id, ErrorCode::RequestFailed, address.error().text));
    }
    if (client_.shows_documents)
      send(request(fmt::format("warpwright-{}", ++requests_), "window/showDocument",
                   {{"uri", *address}, {"external", true}}));
    else
      say(kGood, fmt::format("the explorer is at {}", *address));
    send(response(id, {{"address", *address}}));
  };
  runner_->submit(std::move(job));
}

}  // namespace ww::lsp
