// SPDX-License-Identifier: Apache-2.0
#include "driver/sim/launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/ascii.h"
#include "base/file_io.h"
#include "base/suggest.h"
#include "driver/sim/kernel_choice.h"
#include "driver/sim/launch_text.h"
#include "driver/sim/options.h"
#include "driver/sim/run_options.h"
#include "driver/sim/shown_lines.h"
#include "driver/sim/values.h"
#include "ptx/parser.h"
#include "sim/checks/grid_history.h"

namespace ww::driver {
namespace {

/// One launch: its text, then the kernel, then an argument for each parameter.
struct Step {
  LaunchText text;
  const sim::Code* kernel = nullptr;
  std::vector<SimArg> args{};  // by parameter
  /// By parameter: the number of the value that it names, or nothing for a value of its own.
  std::vector<std::optional<std::size_t>> values{};
  sim::Launch launch{};
};

/// A request on the way to its report; the steps below fill it in, as those of tool.cpp do.
struct Sequence {
  const SimRequest& request;
  Refusals refusals{};
  sim::RunOptions options{};
  std::vector<Step> steps{};
  std::shared_ptr<const sim::Program> program{};
  std::vector<std::string> notes{};
  SimValues values{};
  std::unique_ptr<sim::Device> device{};
  ShownLines shown{};

  bool refuse(const Step& step, Diag problem, Span at) {
    problem.span = at;  // whatever text it was about
    return refusals.add(problem, "--launch", step.text.text);
  }
};

// --- reading --------------------------------------------------------------------------------------

// Options that belong to a single launch, or need one.
bool check_request(Sequence& s) {
  const SimRequest& request = s.request;
  const std::pair<std::string_view, bool> kOthers[] = {
      {"--kernel", !request.kernel.empty()},   {"--grid", !request.grid.empty()},
      {"--block", !request.block.empty()},     {"--cluster", !request.cluster.empty()},
      {"--shared", request.shared_bytes != 0}, {"--awaits", !request.awaits.empty()}};
  for (const auto& [option, is_given] : kOthers) {
    if (is_given)
      return s.refusals.add(
          diag(DiagKind::BadArgument, "`{}` beside `--launch`, which says it of each launch",
               option)
              .with_note(
                  "KERNEL<<<GRID, BLOCK, SHARED, cluster=(X,Y,Z), programmatic>>>(ARG, ...)"));
  }
  const std::pair<std::string_view, bool> kAlone[] = {
      {"--trace", !request.trace.empty()},
      {"--sass", request.sass.has_value()},
      {"--timeline", request.timeline.is_wanted()},
      {"--schedules", request.schedules > 1},
      {"--device", request.device != WhichGpu::Virtual}};
  for (const auto& [option, is_given] : kAlone) {
    if (is_given)
      return s.refusals.add(diag(DiagKind::BadArgument,
                                 "`{}` is for a run of one launch, without `--launch`", option));
  }
  if (request.launches.size() > sim::GridHistory::kMaxLaunches)
    return s.refusals.add(diag(DiagKind::TooLarge, "{} launches, expected {} at most",
                               request.launches.size(), sim::GridHistory::kMaxLaunches));
  return true;
}

bool read_steps(Sequence& s) {
  for (const std::string& text : s.request.launches) {
    Step step;
    if (!s.refusals.keep(parse_launch(text), step.text, "--launch", text)) return false;
    step.launch.grid = step.text.grid;
    step.launch.block = step.text.block;
    step.launch.cluster = step.text.cluster;
    step.launch.dynamic_shared = step.text.shared_bytes;
    s.steps.push_back(std::move(step));
  }
  return true;
}

bool load_kernels(Sequence& s) {
  const auto text = read_file(s.request.path, kMaxPtxBytes);
  if (!text) return s.refusals.add(text.error());
  const ptx::ParseResult parsed = ptx::parse(*text);
  for (const Diag& problem : parsed.errors) s.refusals.add(problem, s.request.path, *text);
  if (!parsed.ok()) return false;
  std::vector<std::string> names;
  for (const Step& step : s.steps) {
    auto name = choose_kernel(parsed.module, std::string(step.text.part(step.text.kernel)),
                              {.where = fmt::format("`{}`", s.request.path), .unnamed = ""});
    if (!name) return s.refuse(step, name.error(), step.text.kernel);
    names.push_back(*std::move(name));
  }
  sim::LoadResult loaded = sim::load(*text, s.request.path, {.kernels = names});
  for (const Diag& problem : loaded.errors) s.refusals.add(problem, s.request.path, *text);
  if (loaded.program == nullptr) return false;
  s.program = std::move(loaded.program);
  for (Note& note : loaded.notes) s.notes.push_back(std::move(note.text));
  for (std::size_t i = 0; i < names.size(); ++i) {
    s.steps[i].kernel = s.program->find_kernel(names[i]);
    s.steps[i].launch.kernel = s.steps[i].kernel;
  }
  return true;
}

Result<std::size_t> find_value(const SimValues& values, std::string_view text, Span key) {
  const std::string_view name = text.substr(key.begin, key.end - key.begin);
  const auto found = std::ranges::find(values.names, name);
  if (found != values.names.end()) return static_cast<std::size_t>(found - values.names.begin());
  for (std::size_t i = 0; i < values.names.size(); ++i)
    if (name == std::to_string(i)) return i;
  return fail(values.unknown(name).with_span(key));
}

// `--arg` gives a value its name here.
bool read_values(Sequence& s) {
  SimValues& values = s.values;
  values.find = [&values](std::string_view text, Span key) {
    return find_value(values, text, key);
  };
  values.unknown = [&values](std::string_view name) {
    const std::vector<std::string_view> names(values.names.begin(), values.names.end());
    return diag(DiagKind::UnknownName, "no `--arg` is named `{}`{}", name,
                did_you_mean(name, names));
  };
  for (const std::string& text : s.request.args) {
    SimArg arg;
    if (!s.refusals.keep(parse_sim_arg(text), arg, "--arg", text)) return false;
    const std::string name(arg.part(arg.key));
    if (std::ranges::find(values.names, name) != values.names.end())
      return s.refusals.add(
          diag(DiagKind::BadArgument, "`{}` is given twice", name).with_span(arg.key), "--arg",
          text);
    values.names.push_back(name);
    values.titles.push_back(fmt::format("`{}`", name));
    values.args.push_back(std::move(arg));
  }
  return true;
}

// --- arguments of launches -------------------------------------------------------------------------

// The value of a parameter as `--arg` would have it for one launch.
bool read_argument(Sequence& s, Step& step, std::size_t param) {
  const Span span = step.text.args[param];
  const std::string_view word = step.text.part(span);
  const auto named = std::ranges::find(s.values.names, word);
  std::string_view value = word;
  step.values.emplace_back();
  if (named != s.values.names.end()) {
    step.values.back() = static_cast<std::size_t>(named - s.values.names.begin());
    const SimArg& arg = s.values.args[*step.values.back()];
    value = arg.part(arg.value);
  }
  auto arg = parse_sim_arg(fmt::format("{}={}", param, value));
  if (!arg) {
    const bool is_name = std::ranges::all_of(word, [](char c) { return is_name_char(c); });
    return s.refuse(step, is_name ? s.values.unknown(word) : Diag(arg.error()), span);
  }
  if (!step.values.back() && arg->is_memory())
    return s.refuse(step,
                    diag(DiagKind::BadArgument, "`{}` in a launch: an array needs a name", word)
                        .with_note(fmt::format("`--arg NAME={}` gives it one", word)),
                    span);
  step.args.push_back(*std::move(arg));
  return true;
}

bool read_arguments(Sequence& s) {
  for (Step& step : s.steps) {
    const std::size_t given = step.text.args.size(), wanted = step.kernel->params.size();
    if (given != wanted)
      return s.refuse(step,
                      with_params(diag(DiagKind::BadArgument, "{} for a kernel with {}",
                                       plural(given, "argument"), plural(wanted, "parameter")),
                                  step.kernel->params),
                      step.text.kernel);
    for (std::size_t i = 0; i < wanted; ++i)
      if (!read_argument(s, step, i)) return false;
    const MatchedArgs matched = match_args(step.kernel->params, step.args);
    if (matched.problem)
      return s.refuse(step, matched.problem->diag, step.text.args[matched.problem->arg]);
  }
  for (std::size_t i = 0; i < s.values.args.size(); ++i) {
    const bool is_used = std::ranges::any_of(s.steps, [&](const Step& step) {
      return std::ranges::find(step.values, std::optional(i)) != step.values.end();
    });
    const bool is_memory = s.values.args[i].is_memory() && !s.values.args[i].map;
    if (!is_used && !is_memory)  // an array may be there for a map of it
      return s.refusals.add(
          diag(DiagKind::BadArgument, "no launch has the argument `{}`", s.values.names[i])
              .with_span(s.values.args[i].key),
          "--arg", s.values.args[i].text);
  }
  return true;
}

// --- memory ---------------------------------------------------------------------------------------

// What all parameters that get the value require.
std::uint64_t align_of(const Sequence& s, std::size_t value) {
  std::uint64_t align = 1;
  for (const Step& step : s.steps)
    for (std::size_t p = 0; p < step.values.size(); ++p)
      if (step.values[p] == value)
        align = std::max<std::uint64_t>(align, step.kernel->params[p].pointee_align);
  return align;
}

bool overlaps(const Sequence& s) {
  return std::ranges::any_of(s.steps, [](const Step& step) { return step.text.is_programmatic; });
}

// If launches overlap, the history of some bytes takes as much as they do.
Result<void> take_history(const Sequence& s, MemoryBudget& budget, std::uint64_t bytes) {
  return overlaps(s) ? budget.take(bytes) : Result<void>{};
}

bool put_values(Sequence& s) {
  MemoryBudget budget(s.options.limits.memory);
  for (const sim::GlobalVariable& variable : s.program->variables) {
    auto taken = budget.take(variable.size);
    if (taken) taken = take_history(s, budget, variable.size);
    if (!taken)
      return s.refusals.add(std::move(taken).error().with_note(
          fmt::format("for the variable `{}` of the module", variable.name)));
  }
  s.device = std::make_unique<sim::Device>(s.program);
  for (std::size_t i = 0; i < s.values.args.size(); ++i) {
    const SimArg& arg = s.values.args[i];
    if (!arg.is_memory()) continue;
    auto buffer = place_buffer(*s.device, {i, s.values.titles[i], align_of(s, i)}, arg, budget);
    if (!buffer) return s.refusals.add(buffer.error(), "--arg", arg.text);
    auto taken = take_history(s, budget, buffer->region->size);
    if (!taken)
      return s.refusals.add(std::move(taken).error().with_span(arg.value), "--arg", arg.text);
    s.values.buffers.push_back(std::move(*buffer));
  }
  return true;
}

bool put_argument(Sequence& s, Step& step, std::size_t param) {
  const SimArg& arg = step.args[param];
  const Span at = step.text.args[param];
  std::optional<std::size_t> value = step.values[param];
  if (arg.kind == ArgKind::MapOfOther) {
    const auto other = s.values.find(arg.text, arg.other);
    if (!other) return s.refuse(step, other.error(), at);
    value = *other;
    if (s.values.buffer_of(*value) == nullptr)
      return s.refuse(step, not_a_buffer(s.values, *value, at), at);
  }
  const SimBuffer* const buffer = value ? s.values.buffer_of(*value) : nullptr;
  const auto bytes = param_value(*s.device, arg, buffer);
  if (!bytes) return s.refuse(step, bytes.error(), at);
  const auto to =
      step.launch.params.begin() + static_cast<std::ptrdiff_t>(step.kernel->params[param].offset);
  std::ranges::copy(*bytes, to);
  return true;
}

bool put_arguments(Sequence& s) {
  for (Step& step : s.steps) {
    step.launch.params.resize(step.kernel->param_bytes);
    for (std::size_t p = 0; p < step.kernel->params.size(); ++p)
      if (!put_argument(s, step, p)) return false;
  }
  return true;
}

// --- running --------------------------------------------------------------------------------------

bool read_break(Sequence& s) {
  s.shown.bound(s.options.limits.memory);
  return read_break_option(s.request, *s.program, s.refusals, s.options, s.shown);
}

SimReport step_report(const Sequence& s, const Step& step, sim::LaunchReport&& run) {
  SimReport report;
  report.program = s.program;
  report.kernel = step.kernel;
  report.launch = step.launch;
  report.checks = s.options.checks;
  report.schedule = s.options.schedule;
  report.in_step = s.options.in_step.value_or(s.program->target.in_step);
  report.late_tensor_loads = s.options.late_tensor_loads;
  report.counted = s.options.count;
  report.count = s.steps.size();
  report.is_programmatic = step.text.is_programmatic;
  report.run = std::move(run);
  return report;
}

std::optional<SequenceReport> run_steps(Sequence& s) {
  std::optional<sim::GridHistory> history;
  if (overlaps(s)) history.emplace(s.device->memory());
  SequenceReport report{.notes = s.notes};
  for (Step& step : s.steps) {
    if (history) {
      history->begin(step.kernel->name, step.text.is_programmatic);
      step.launch.history = &*history;
    }
    auto ran = s.device->run(step.launch, s.options);
    step.launch.history = nullptr;
    if (!ran) {
      s.refuse(step, ran.error(), step.text.kernel);
      return std::nullopt;
    }
    report.launches.push_back(step_report(s, step, *std::move(ran)));
    report.launches.back().number = report.launches.size();
    if (report.launches.back().run.outcome != sim::Outcome::Finished) break;
  }
  report.shown = s.shown.take(report.shown_left_out);
  report.buffers = report_buffers(s.values);
  report.expectations = check_expectations(s.values, s.refusals);
  write_files(s.values, s.refusals, report.buffers);
  return report;
}

}  // namespace

SimOutcome run_launches(const SimRequest& request) {
  Sequence s{request};
  SimOutcome outcome;
  FilePlan files;
  if (check_request(s) && read_run_options(request, s.refusals, s.options) && read_steps(s) &&
      load_kernels(s) && read_values(s) && read_arguments(s) &&
      read_outs(s.values, request, s.refusals, files) &&
      read_expectations(s.values, request, s.refusals) && read_break(s) && put_values(s) &&
      put_arguments(s) && keep_before(s.values, s.refusals))
    outcome.sequence = run_steps(s);
  outcome.errors = std::move(s.refusals.text);
  return outcome;
}

}  // namespace ww::driver
