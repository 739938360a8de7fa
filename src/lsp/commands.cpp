// SPDX-License-Identifier: Apache-2.0
#include "lsp/commands.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <system_error>
#include <utility>

#include "base/cancel.h"
#include "base/printable.h"
#include "base/process.h"
#include "driver/run/tool.h"
#include "lsp/diagnostics.h"
#include "lsp/features.h"

namespace ww::lsp {

// --- explorer ------------------------------------------------------------------------------------

namespace {

constexpr int kPollMilliseconds = 50;
constexpr std::size_t kMaxOutput = std::size_t{64} << 10U;  // before there is an address

// More of what a program says; false at its end.
bool read_more(int descriptor, std::string& out, const std::atomic<bool>& stop) {
  while (true) {
    if (stop.load()) throw Cancelled{};
    pollfd waiting{descriptor, POLLIN, 0};
    if (::poll(&waiting, 1, kPollMilliseconds) <= 0) continue;
    std::array<char, 1024> buffer{};
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count > 0) out.append(buffer.data(), static_cast<std::size_t>(count));
    return count > 0 && out.size() <= kMaxOutput;
  }
}

// A whole line that is an address.
std::optional<std::string> address_in(std::string_view text) {
  while (text.find('\n') != std::string_view::npos) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with("http://") || line.starts_with("https://")) return std::string(line);
    text.remove_prefix(line.size() + 1);
  }
  return std::nullopt;
}

}  // namespace

Explorers::~Explorers() {
  for (auto& [key, running] : running_) end(running);
}

bool Explorers::is_alive(const Running& running) {
  siginfo_t info{};  // asks without reaping
  const int asked =
      ::waitid(P_PID, static_cast<id_t>(running.process), &info, WEXITED | WNOHANG | WNOWAIT);
  return asked == 0 && info.si_pid == 0;
}

int Explorers::end(Running& running) {
  if (is_alive(running)) ::kill(-running.process, SIGTERM);
  ::close(running.output);
  { const Leftover gone = std::move(running.leftover); }
  int status = 0;
  while (::waitpid(running.process, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Result<Explorers::Running> Explorers::start(std::vector<std::string> words) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0)
    return fail(DiagKind::Io, "cannot make a pipe: {}", std::generic_category().message(errno));
  const LeftoverPause pause;
  const auto process =
      start_program(std::move(words), {.out = pipe[1], .err = pipe[1]}, {}, Group::Own);
  ::close(pipe[1]);
  if (process)
    return Running{
        .process = *process, .output = pipe[0], .leftover = Leftover::process_group(*process)};
  ::close(pipe[0]);
  return fail(process.error());
}

Result<std::string> Explorers::address(const std::string& path, const std::string& kernel,
                                       const std::atomic<bool>& stop) {
  const std::string key = path + '\n' + kernel;
  if (const auto found = running_.find(key); found != running_.end()) {
    if (is_alive(found->second)) return found->second.address;
    end(found->second);
    running_.erase(found);
  }
  std::vector<std::string> words = command_;
  words.push_back(path);
  if (!kernel.empty()) words.insert(words.end(), {"--kernel", kernel});
  Running running = WW_TRY(start(std::move(words)));
  std::string said;
  try {
    while (!address_in(said) && read_more(running.output, said, stop)) {
    }
  } catch (const Cancelled&) {
    end(running);
    throw;
  }
  if (const auto found = address_in(said)) {
    running.address = *found;
    running_.emplace(key, std::move(running));
    return *found;
  }
  const int status = end(running);
  while (said.ends_with('\n')) said.pop_back();
  return fail(DiagKind::Io, "`{} explore` gave no address and ended with status {}{}{}",
              command_.empty() ? "" : printable_name(command_.front()), status,
              said.empty() ? "" : ": ", said);
}

namespace {

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

// What the client is told of a run.
struct RunResult {
  bool good = false;
  std::string message;
  std::string report = {};  // empty: it did not begin
  std::vector<Problem> problems = {};
};

RunResult result_of(const driver::RunOutcome& outcome, const Text& text, Span kernel) {
  if (!outcome.report) return {.message = outcome.errors};
  return {.good = outcome.report->good() && outcome.errors.empty(),
          .message =
              run_message(*outcome.report) + (outcome.errors.empty() ? "" : "; ") + outcome.errors,
          .report = run_text(*outcome.report),
          .problems = problems_of_run(*outcome.report, text, kernel)};
}

}  // namespace

void Commands::execute(const Message& request) {
  const Json& id = *request.id;
  const auto refuse = [&](std::string_view text) {
    connection_.refuse(id, ErrorCode::InvalidParams, text);
  };
  const auto command = text_at(request.params, "command");
  if (!command) return refuse(command.error().text);
  if (*command != kRunCommand && *command != kExploreCommand)
    return refuse(fmt::format("no command `{}`, expected `{}` or `{}`", *command, kRunCommand,
                              kExploreCommand));
  const Json* const arguments = find(request.params, "arguments");
  const bool is_pair = arguments != nullptr && arguments->type() == JsonType::Array &&
                       arguments->size() == 2 && (*arguments)[0].type() == JsonType::String &&
                       (*arguments)[1].type() == JsonType::String;
  if (!is_pair) return refuse("`arguments` are not the URI of a document and a kernel expression");
  const auto uri = (*arguments)[0].get<std::string>();
  const auto expression = (*arguments)[1].get<std::string>();
  const Document* const document = analyst_.find(uri);
  if (document == nullptr) return refuse(fmt::format("`{}` is not open", uri));
  const auto analysis = analyst_.analysis(uri);
  const KernelChoice* const choice = find_choice(analysis.get(), expression);
  if (choice == nullptr)
    return refuse(fmt::format("`{}` is no kernel of `{}` now", expression, uri));
  if (*command == kRunCommand) return run(id, *document, *choice);
  // The only kernel of a file needs no name.
  const bool is_alone = analysis->kernels.size() == 1 && !choice->written.known;
  explore(id, *document, is_alone ? "" : expression);
}

void Commands::cancel(const Json& id) {
  if (const auto key = keys_.find(id.dump()); key != keys_.end()) runner_.cancel(key->second);
}

Job Commands::job_of(const Json& id, std::string key) {
  Job job{.key = std::move(key)};
  // A request whose job this one replaces must not cancel it.
  std::erase_if(keys_, [&](const auto& each) { return each.second == job.key; });
  keys_[id.dump()] = job.key;
  job.dropped = [this, id] {
    const auto lock = connection_.lock();
    keys_.erase(id.dump());
    connection_.refuse(id, ErrorCode::RequestCancelled, "cancelled");
  };
  job.failed = [this, id](const std::string& what) {
    const auto lock = connection_.lock();
    keys_.erase(id.dump());
    connection_.say_bug(what);
    connection_.refuse(id, ErrorCode::InternalError, what);
  };
  return job;
}

void Commands::run(const Json& id, const Document& document, const KernelChoice& choice) {
  Job job = job_of(id, "run " + document.uri);
  job.run = [this, id, document, choice](const std::atomic<bool>& stop) {
    const SourceText text(document.path, document.text->bytes());
    const driver::RunOutcome outcome = run_kernel(run_request(document, choice, text, stop));
    if (stop.load()) throw Cancelled{};
    RunResult result = result_of(outcome, *document.text, choice.at);
    const auto lock = connection_.lock();
    keys_.erase(id.dump());
    analyst_.show_run(document.uri, document.version, std::move(result.problems));
    if (!result.report.empty()) connection_.log(MessageType::Info, result.report);
    connection_.say(result.good             ? MessageType::Info
                    : result.report.empty() ? MessageType::Error
                                            : MessageType::Warning,
                    result.message);
    connection_.respond(
        id, {{"good", result.good}, {"message", result.message}, {"report", result.report}});
  };
  runner_.submit(std::move(job));
}

void Commands::explore(const Json& id, const Document& document, const std::string& kernel) {
  Job job = job_of(id, "explore " + document.uri);
  job.run = [this, id, path = document.path, kernel](const std::atomic<bool>& stop) {
    const auto address = explorers_.address(path, kernel, stop);
    const auto lock = connection_.lock();
    keys_.erase(id.dump());
    if (!address) {
      connection_.say(MessageType::Error, address.error().text);
      return connection_.refuse(id, ErrorCode::RequestFailed, address.error().text);
    }
    if (connection_.client().shows_documents)
      connection_.ask("window/showDocument", {{"uri", *address}, {"external", true}});
    else
      connection_.say(MessageType::Info, fmt::format("the explorer is at {}", *address));
    connection_.respond(id, {{"address", *address}});
  };
  runner_.submit(std::move(job));
}

}  // namespace ww::lsp
