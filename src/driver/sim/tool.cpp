// SPDX-License-Identifier: Apache-2.0
#include "driver/sim/tool.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "base/file_io.h"
#include "base/join.h"
#include "base/suggest.h"
#include "driver/args/file_plan.h"
#include "driver/args/text.h"
#include "driver/launch/launch.h"
#include "driver/sim/args.h"
#include "driver/sim/memory.h"
#include "driver/sim/options.h"
#include "driver/sim/report.h"
#include "driver/timeline/names.h"
#include "ptx/parser.h"
#include "sim/checks/grid_history.h"

namespace ww::driver {
namespace {

constexpr std::size_t kMaxPtxBytes = std::size_t{1} << 30U;

/// Lines of `--trace` and `--break`, up to a number of bytes; further ones are counted.
class ShownLines {
 public:
  void bound(std::uint64_t bytes) { most_ = std::min<std::uint64_t>(most_, bytes); }
  [[nodiscard]] std::function<void(std::string_view)> writer() {
    return [this](std::string_view line) {
      if (text_.size() + line.size() > most_) {
        left_out_ += static_cast<std::uint64_t>(std::ranges::count(line, '\n'));
      } else {
        text_ += line;
      }
    };
  }
  void take(SimResults& to) {
    to.shown = std::move(text_);
    to.shown_left_out = left_out_;
  }

 private:
  std::string text_;
  std::uint64_t most_ = kMaxShownBytes;
  std::uint64_t left_out_ = 0;
};

/// One launch: the only one, which options describe, or that of a `--launch`.
struct Step {
  LaunchText text{};  // of the only one: the name of the kernel that is asked for
  sim::Launch launch{};
  std::vector<sim::Param> params{};  // as its arguments have them
  std::vector<SimArg> args{};        // by parameter
  /// By parameter: the number of the value that it gets, or nothing for a value of its own.
  std::vector<std::optional<std::size_t>> values{};
};

/// One request on the way from its texts to its report. The steps below fill it in; one that fails
/// has said why. The only launch has a value for each parameter, in their order; several launches of
/// one module, in order and over the same memory as in a stream, have those that `--arg` names.
struct Simulation {
  const SimRequest& request;
  Refusals refusals{};
  sim::RunOptions options{};
  std::vector<Step> steps{};
  std::string text{};  // of the file
  std::shared_ptr<const sim::Program> program{};
  std::vector<std::string> notes{};
  LaunchValues values{};
  std::vector<SimArg> args{};         // by number of value
  std::vector<std::string> titles{};  // the same: "parameter 0 `a`"
  std::unique_ptr<sim::Device> device{};
  std::vector<SimMap> maps{};
  std::vector<SimTexture> textures{};
  ShownLines shown{};
  std::optional<TimelinePlan> timeline{};

  [[nodiscard]] bool is_sequence() const { return !request.launches.empty(); }
  // What is wrong with a launch, at that place of its text; all three return false.
  bool refuse(const Step& step, Diag problem, Span at) {
    if (!is_sequence()) return refusals.add(problem);
    problem.span = at;  // whatever text it was about
    return refusals.add(problem, "--launch", step.text.text);
  }
  bool refuse(const Step& step, std::size_t param, Diag problem) {
    if (is_sequence()) return refuse(step, std::move(problem), step.text.args[param]);
    return refuse_arg(step.args[param], problem);
  }
  bool refuse_arg(const SimArg& arg, const Diag& problem) {
    return refusals.add(problem, "--arg", arg.text);
  }
};

// --- options --------------------------------------------------------------------------------------

// Options that do not depend on what is launched.
bool read_run_options(Simulation& s) {
  const SimRequest& request = s.request;
  sim::RunOptions& options = s.options;
  options.threads = request.threads;
  options.count = request.count;
  options.exact_matrix = request.exact;
  options.in_step = request.in_step;
  options.late_tensor_loads = request.late_tensor_loads;
  options.progress = request.progress;
  LimitChanges limits;
  const bool is_good =
      s.refusals.keep(sim::parse_checks(request.checks), options.checks, "--check",
                      request.checks) &&
      s.refusals.keep(parse_schedule(request.schedule_name()), options.schedule, "--schedule",
                      request.schedule) &&
      s.refusals.keep(parse_limits(request.limits), limits, "--limit", request.limits);
  options.limits = limits.on(options.limits);
  options.schedules = request.schedules;
  options.allows_rewrites = !options.checks.has(sim::Check::Rewrite);
  return is_good;
}

bool read_launch(Simulation& s) {
  const SimRequest& request = s.request;
  Step& step = s.steps.emplace_back();
  step.text = {.text = request.kernel, .kernel = Span::at(0, request.kernel.size())};
  sim::Launch& launch = step.launch;
  if (request.grid.empty())
    return s.refusals.add(diag(DiagKind::BadArgument, "`--grid` is missing"));
  if (!s.refusals.keep(parse_dims(request.grid), launch.grid, "--grid", request.grid)) return false;
  if (!request.block.empty() &&
      !s.refusals.keep(parse_dims(request.block), launch.block, "--block", request.block))
    return false;
  if (!request.cluster.empty() &&
      !s.refusals.keep(parse_dims(request.cluster), launch.cluster, "--cluster", request.cluster))
    return false;
  launch.dynamic_shared = request.shared_bytes;
  if (!read_run_options(s)) return false;
  if (!request.watches() || request.device != WhichGpu::Gpu) return true;
  return s.refusals.add(
      diag(DiagKind::BadArgument,
           "`--trace`, `--break`, `--counters` and `--timeline` are for the virtual GPU")
          .with_note("`--device both` runs it beside the real one"));
}

// Options that belong to a single launch, or need one.
bool check_sequence(Simulation& s) {
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

bool overlaps(const Simulation& s) {
  return std::ranges::any_of(s.steps, [](const Step& step) { return step.text.is_programmatic; });
}

bool read_launches(Simulation& s) {
  if (!check_sequence(s) || !read_run_options(s)) return false;
  for (const std::string& text : s.request.launches) {
    Step& step = s.steps.emplace_back();
    if (!s.refusals.keep(parse_launch(text), step.text, "--launch", text)) return false;
    step.launch.grid = step.text.grid;
    step.launch.block = step.text.block;
    step.launch.cluster = step.text.cluster;
    step.launch.dynamic_shared = step.text.shared_bytes;
  }
  if (s.request.schedules.is_asked_for() && overlaps(s))
    return s.refusals.add(diag(DiagKind::BadArgument,
                               "`--schedules` beside a launch that is `programmatic`: overlapping "
                               "launches run in one schedule"));
  return true;
}

// --- the program ----------------------------------------------------------------------------------

bool load_kernels(Simulation& s) {
  auto text = read_file(s.request.path, kMaxPtxBytes);
  if (!text) return s.refusals.add(text.error());
  s.text = *std::move(text);
  const ptx::ParseResult parsed = ptx::parse(s.text);
  for (const Diag& problem : parsed.errors) s.refusals.add(problem, s.request.path, s.text);
  if (!parsed.ok()) return false;
  std::vector<std::string> names;
  for (const Step& step : s.steps) {
    auto name = choose_kernel(
        parsed.module, std::string(step.text.part(step.text.kernel)),
        {.where = fmt::format("`{}`", s.request.path), .unnamed = "`--kernel` names none"});
    if (!name) return s.refuse(step, name.error(), step.text.kernel);
    names.push_back(*std::move(name));
  }
  sim::LoadResult loaded = sim::load(s.text, s.request.path, {.kernels = names});
  for (const Diag& problem : loaded.errors) s.refusals.add(problem, s.request.path, s.text);
  if (loaded.program == nullptr) return false;
  s.program = std::move(loaded.program);
  for (Note& note : loaded.notes) s.notes.push_back(std::move(note.text));
  for (std::size_t i = 0; i < names.size(); ++i)
    s.steps[i].launch.kernel = s.program->find_kernel(names[i]);
  return true;
}

// Where no option says it, the kernel may.
bool choose_block(Simulation& s) {
  sim::Launch& launch = s.steps[0].launch;
  if (s.is_sequence() || !s.request.block.empty()) return true;
  if (!launch.kernel->required_block)
    return s.refusals.add(
        diag(DiagKind::BadArgument, "`--block` is missing, and the kernel has no `.reqntid`"));
  launch.block = *launch.kernel->required_block;
  return true;
}

// --- values ---------------------------------------------------------------------------------------

Diag unknown_value(const Simulation& s, std::string_view name) {
  if (!s.is_sequence()) {
    const Params params = s.steps[0].params;
    return with_params(diag(DiagKind::UnknownName, "the kernel has no parameter `{}`", name),
                       params);
  }
  std::vector<std::string_view> names;
  for (const LaunchValue& value : s.values.all) names.emplace_back(value.name);
  return diag(DiagKind::UnknownName, "no `--arg` is named `{}`{}", name, did_you_mean(name, names));
}

std::optional<std::size_t> value_named(const Simulation& s, std::string_view name) {
  const auto found = std::ranges::find(s.values.all, name, &LaunchValue::name);
  if (found == s.values.all.end()) return std::nullopt;
  return static_cast<std::size_t>(found - s.values.all.begin());
}

// The value that a key of a text means, by its name or number.
Result<std::size_t> find_value(const Simulation& s, std::string_view text, Span key) {
  if (!s.is_sequence()) {
    const Params params = s.steps[0].params;
    auto param = find_param(params, text, key);
    if (!param) return fail(with_params(std::move(param).error(), params));
    return param;
  }
  const std::string_view name = text.substr(key.begin, key.end - key.begin);
  if (const auto number = value_named(s, name)) return *number;
  for (std::size_t i = 0; i < s.values.all.size(); ++i)
    if (name == std::to_string(i)) return i;
  return fail(unknown_value(s, name).with_span(key));
}

void add_value(Simulation& s, SimArg arg, std::string name, std::string title) {
  s.values.all.push_back(
      {.name = std::move(name), .array = arg.scalar, .is_buffer = arg.is_memory()});
  s.titles.push_back(std::move(title));
  s.args.push_back(std::move(arg));
}

bool read_params(Simulation& s) {
  std::vector<SimArg> args;
  for (const std::string& text : s.request.args)
    if (!s.refusals.keep(parse_sim_arg(text), args.emplace_back(), "--arg", text)) return false;
  Step& step = s.steps[0];
  MatchedArgs matched = match_args(step.launch.kernel->params, args);
  if (matched.problem) {
    const auto& [problem, which] = *matched.problem;
    return which < args.size() ? s.refuse_arg(args[which], problem) : s.refusals.add(problem);
  }
  step.params = std::move(matched.params);
  for (std::size_t i = 0; i < step.params.size(); ++i) {
    step.args.push_back(args[matched.by_param[i]]);
    step.values.emplace_back(i);
    add_value(s, step.args.back(), step.params[i].name, param_title(step.params, i));
  }
  return true;
}

// `--arg` gives a value its name here.
bool read_named_values(Simulation& s) {
  for (const std::string& text : s.request.args) {
    SimArg arg;
    if (!s.refusals.keep(parse_sim_arg(text), arg, "--arg", text)) return false;
    const std::string name(arg.part(arg.key));
    if (value_named(s, name))
      return s.refuse_arg(arg,
                          diag_at(arg.key, DiagKind::BadArgument, "`{}` is given twice", name));
    add_value(s, std::move(arg), name, fmt::format("`{}`", name));
  }
  return true;
}

// The value of a parameter as `--arg` would have it for one launch.
bool read_argument(Simulation& s, Step& step, std::size_t param) {
  const Span span = step.text.args[param];
  const std::string_view word = step.text.part(span);
  const std::optional<std::size_t> named = value_named(s, word);
  step.values.push_back(named);
  auto arg = parse_sim_arg(
      fmt::format("{}={}", param, named ? s.args[*named].part(s.args[*named].value) : word));
  if (!arg) {
    const bool is_name = std::ranges::all_of(word, [](char c) { return is_name_char(c); });
    return s.refuse(step, is_name ? unknown_value(s, word) : Diag(arg.error()), span);
  }
  if (!named && arg->is_memory())
    return s.refuse(step,
                    diag(DiagKind::BadArgument, "`{}` in a launch: an array needs a name", word)
                        .with_note(fmt::format("`--arg NAME={}` gives it one", word)),
                    span);
  step.args.push_back(*std::move(arg));
  return true;
}

bool read_arguments(Simulation& s, Step& step) {
  step.params = step.launch.kernel->params;
  const std::size_t given = step.text.args.size(), wanted = step.params.size();
  if (given != wanted)
    return s.refuse(step,
                    with_params(diag(DiagKind::BadArgument, "{} for a kernel with {}",
                                     plural(given, "argument"), plural(wanted, "parameter")),
                                step.params),
                    step.text.kernel);
  for (std::size_t i = 0; i < wanted; ++i)
    if (!read_argument(s, step, i)) return false;
  const MatchedArgs matched = match_args(step.params, step.args);
  if (!matched.problem) return true;
  return s.refuse(step, matched.problem->arg, matched.problem->diag);
}

bool check_used(Simulation& s, std::size_t number) {
  const SimArg& arg = s.args[number];
  const bool is_used = std::ranges::any_of(s.steps, [&](const Step& step) {
    return std::ranges::find(step.values, std::optional(number)) != step.values.end();
  });
  if (is_used || (arg.is_memory() && !arg.map)) return true;  // it may be there for a map of it
  return s.refuse_arg(arg, diag_at(arg.key, DiagKind::BadArgument,
                                   "no launch has the argument `{}`", s.values.all[number].name));
}

bool read_values(Simulation& s) {
  s.values.find = [&s](std::string_view name) {
    const auto number = find_value(s, name, Span::at(name.starts_with('$') ? 1 : 0, name.size()));
    return number ? std::optional(*number) : std::nullopt;
  };
  if (!s.is_sequence()) return read_params(s);
  if (!read_named_values(s)) return false;
  for (Step& step : s.steps)
    if (!read_arguments(s, step)) return false;
  for (std::size_t i = 0; i < s.args.size(); ++i)
    if (!check_used(s, i)) return false;
  return true;
}

// --- what is asked of them ------------------------------------------------------------------------

// "parameter 2 `n` is not a buffer: its argument is `n=i32:7`", at that place.
Diag not_a_buffer(const Simulation& s, std::size_t number, Span at) {
  return diag_at(at, DiagKind::BadArgument, "{} is not a buffer: its argument is `{}`",
                 s.titles[number], s.args[number].text);
}

bool read_out(Simulation& s, const std::string& text, FilePlan& files) {
  const auto refuse = [&](const Diag& problem) { return s.refusals.add(problem, "--out", text); };
  auto out = parse_sim_out(text);
  if (!out) return refuse(out.error());
  const auto number = find_value(s, text, out->key);
  if (!number) return refuse(number.error());
  if (!s.args[*number].is_memory()) return refuse(not_a_buffer(s, *number, out->key));
  auto good = files.writes(out->path, s.titles[*number]);
  if (!good) return refuse(std::move(good).error().with_span(out->value));
  s.values.outs.push_back({*number, std::move(out->path)});
  return true;
}

bool read_files(Simulation& s) {
  FilePlan files;
  files.reads(s.request.path, "the program");
  for (const SimArg& arg : s.args)
    if (arg.kind == ArgKind::File)
      files.reads(arg.path, fmt::format("the argument `{}`", arg.part(arg.key)));
  for (const std::string& text : s.request.outs)
    if (!read_out(s, text, files)) return false;
  if (!s.request.timeline.is_wanted()) return true;
  s.timeline = plan_timeline(s.request.timeline, s.steps[0].launch.grid, files, s.refusals);
  if (s.timeline) s.options.record = sim::RecordRequest{s.timeline->block};
  return s.timeline.has_value();
}

// All that an expectation speaks of must be there before anything runs.
bool check_names(Simulation& s, const Expectation& expectation) {
  for (const ExprNode& node : expectation.nodes) {
    const auto name = expectation.name_of(node);
    if (!name) continue;
    const auto number = s.values.find(*name);
    if (!number)
      return s.refusals.add(unknown_value(s, *name).with_span(node.span), "--expect",
                            expectation.text);
    const SimArg& arg = s.args[*number];
    if (!arg.is_memory() && arg.kind != ArgKind::Scalar)
      return s.refusals.add(diag_at(node.span, DiagKind::BadArgument,
                                    "`{}` is not an array: its argument is `{}`", *name, arg.text),
                            "--expect", expectation.text);
  }
  return true;
}

bool read_expectations(Simulation& s) {
  for (const std::string& text : s.request.expects) {
    Expectation& expectation = s.values.expectations.emplace_back();
    if (!s.refusals.keep(parse_expectation(text), expectation, "--expect", text) ||
        !check_names(s, expectation))
      return false;
  }
  return true;
}

bool read_watches(Simulation& s) {
  const SimRequest& request = s.request;
  const sim::Launch& launch = s.steps[0].launch;
  s.shown.bound(s.options.limits.memory);
  if (!request.trace.empty()) {
    if (!s.refusals.keep(parse_trace(request.trace, launch.grid, launch.block), s.options.trace,
                         "--trace", request.trace))
      return false;
    s.options.trace->write = s.shown.writer();
  }
  if (request.stop_at.empty()) return true;
  if (!s.refusals.keep(parse_break(request.stop_at), s.options.stop_at, "--break", request.stop_at))
    return false;
  s.options.stop_at->write = s.shown.writer();
  const auto there = check_break(*s.program, s.options.stop_at->line);
  return there ? true : s.refusals.add(there.error());
}

// --- memory ---------------------------------------------------------------------------------------

// What all parameters that get the value require.
std::uint64_t align_of(const Simulation& s, std::size_t value) {
  std::uint64_t align = 1;
  for (const Step& step : s.steps)
    for (std::size_t p = 0; p < step.values.size(); ++p)
      if (step.values[p] == value)
        align = std::max<std::uint64_t>(align, step.params[p].pointee_align);
  return align;
}

// If launches overlap, the history of some bytes takes as much as they do.
Result<void> take_history(const Simulation& s, MemoryBudget& budget, std::uint64_t bytes) {
  return overlaps(s) ? budget.take(bytes) : Result<void>{};
}

bool put_values(Simulation& s) {
  MemoryBudget budget(s.options.limits.memory);
  for (const sim::GlobalVariable& variable : s.program->variables) {
    auto taken = budget.take(variable.size);
    if (taken) taken = take_history(s, budget, variable.size);
    if (!taken)
      return s.refusals.add(std::move(taken).error().with_note(
          fmt::format("for the variable `{}` of the module", variable.name)));
  }
  s.device = std::make_unique<sim::Device>(s.program);
  for (std::size_t i = 0; i < s.args.size(); ++i) {
    const SimArg& arg = s.args[i];
    if (!arg.is_memory()) continue;
    LaunchValue& value = s.values.all[i];
    const auto placed = place_value(*s.device, value, i, arg, s.titles[i], align_of(s, i), budget);
    if (!placed) return s.refuse_arg(arg, placed.error());
    auto taken = take_history(s, budget, value.region->size);
    if (!taken) return s.refuse_arg(arg, std::move(taken).error().with_span(arg.value));
  }
  return true;
}

bool put_argument(Simulation& s, Step& step, std::size_t param) {
  const SimArg& arg = step.args[param];
  std::optional<std::size_t> number = step.values[param];
  if (arg.kind == ArgKind::MapOfOther) {
    const auto other = find_value(s, arg.text, arg.other);
    if (!other) return s.refuse(step, param, other.error());
    number = *other;
    if (s.values.all[*other].region == nullptr) {
      const Diag problem = not_a_buffer(s, *other, arg.other);
      return s.refuse(step, param, s.is_sequence() ? problem : with_params(problem, step.params));
    }
  }
  const bool has_memory = number && s.values.all[*number].region != nullptr;
  const LaunchValue* const value = has_memory ? &s.values.all[*number] : nullptr;
  const auto bytes = param_value(*s.device, arg, value);
  if (!bytes) return s.refuse(step, param, bytes.error());
  if (arg.map) s.maps.push_back({param, *number, *argument_map(arg, *value)});
  if (arg.texture) s.textures.push_back({*number, *argument_texture(arg, *value)});
  const std::size_t at = step.params[param].offset;
  std::ranges::copy(*bytes, step.launch.params.begin() + static_cast<std::ptrdiff_t>(at));
  return true;
}

bool put_arguments(Simulation& s) {
  for (Step& step : s.steps) {
    step.launch.params.resize(step.launch.kernel->param_bytes);
    for (std::size_t p = 0; p < step.params.size(); ++p)
      if (!put_argument(s, step, p)) return false;
  }
  return true;
}

// The arrays that an earlier grid still writes when the kernel starts.
bool read_awaits(Simulation& s) {
  const std::string& text = s.request.awaits;
  for (const Piece& piece : split_top({text, 0}, ',')) {
    const Span name = trimmed(piece).span();
    const auto number = find_value(s, text, name);
    if (!number) return s.refusals.add(number.error(), "--awaits", text);
    const LaunchValue& value = s.values.all[*number];
    if (value.region == nullptr)
      return s.refusals.add(not_a_buffer(s, *number, name), "--awaits", text);
    s.steps[0].launch.awaits.push_back(value.region->base);
  }
  return true;
}

// --- what a run leaves ----------------------------------------------------------------------------

SimReport report_of(const Simulation& s, const Step& step, sim::LaunchReport&& run) {
  SimReport report;
  report.program = s.program;
  report.kernel = step.launch.kernel;
  report.launch = step.launch;
  report.checks = s.options.checks;
  report.schedule = run.schedules.problem.empty() ? s.options.schedule : run.schedules.run.back();
  report.in_step = s.options.in_step.value_or(s.program->target.in_step);
  report.late_tensor_loads = s.options.late_tensor_loads;
  report.counted = s.options.count;
  report.is_programmatic = step.text.is_programmatic;
  report.run = std::move(run);
  return report;
}

void add_results(Simulation& s, SimResults& report) {
  report.notes = s.notes;
  s.shown.take(report);
  for (std::size_t i = 0; i < s.values.all.size(); ++i) {
    LaunchValue& value = s.values.all[i];
    if (value.region == nullptr) continue;
    read_back(value);
    report.buffers.push_back(report_buffer(value, i, value.is_output));
  }
  report.expectations = check_expectations(s.values, s.refusals);
  write_files(s.values, s.refusals, report.buffers);
}

void write_timeline_of(Simulation& s, SimReport& report) {
  if (!s.timeline) return;
  const auto written = draw_timeline(s.request.timeline, *s.timeline, report.run.recording,
                                     {.program = s.program.get(),
                                      .kernel = report.kernel,
                                      .grid = report.launch.grid,
                                      .file = s.request.path,
                                      .outcome = outcome_text(report.run)});
  if (!written) return void(s.refusals.add(written.error()));
  report.timeline = s.request.timeline.path;
}

SimReport finish(Simulation& s, sim::LaunchReport&& run) {
  SimReport report = report_of(s, s.steps[0], std::move(run));
  add_results(s, report);
  for (LaunchValue& value : s.values.all)
    if (value.region != nullptr) report.results.push_back(std::move(value.array));
  write_timeline_of(s, report);
  return report;
}

// --- running --------------------------------------------------------------------------------------

// What a GPU alone leaves has no findings and no counts.
std::optional<SimReport> run_gpu(Simulation& s, const GpuLaunch& gpu) {
  std::vector<MemoryCopy> memory = copy_memory(s.values.all);
  auto name = run_on_gpu(gpu, s.values.all, memory);
  if (!name) {
    s.refusals.add(name.error());
    return std::nullopt;
  }
  for (std::size_t i = 0; i < memory.size(); ++i) {
    if (memory[i].bytes.empty()) continue;
    std::ranges::copy(memory[i].bytes, s.values.all[i].region->data);
    std::ranges::copy(memory[i].undefined, s.values.all[i].region->undefined);
  }
  const sim::Launch& launch = s.steps[0].launch;
  sim::LaunchReport run;
  run.blocks = launch.grid.count();
  run.warps_per_block =
      static_cast<std::uint32_t>((launch.block.count() + sim::kLanes - 1) / sim::kLanes);
  SimReport report = finish(s, std::move(run));
  report.simulated = false;
  report.gpu = *std::move(name);
  return report;
}

std::optional<sim::LaunchReport> run_step(Simulation& s, const Step& step) {
  auto ran = s.device->run(step.launch, s.options);
  if (ran) return *std::move(ran);
  s.refuse(step, ran.error(), step.text.kernel);
  return std::nullopt;
}

std::optional<SimReport> run_both(Simulation& s, const GpuLaunch& gpu) {
  std::vector<MemoryCopy> theirs = copy_memory(s.values.all);
  auto ran = run_step(s, s.steps[0]);
  if (!ran) return std::nullopt;
  auto name = run_on_gpu(gpu, s.values.all, theirs);
  std::string differs = name ? first_difference(s.values.all, theirs) : "";
  SimReport report = finish(s, *std::move(ran));
  if (!name) {
    s.refusals.add(name.error());
    return report;
  }
  report.gpu = *std::move(name);
  report.gpu_differs = std::move(differs);
  return report;
}

std::optional<SimReport> run_only(Simulation& s) {
  const Step& step = s.steps[0];
  const GpuLaunch gpu{s.request.driver, s.text, *s.program, step.launch,
                      step.params,      s.maps, s.textures};
  if (s.request.device == WhichGpu::Both) return run_both(s, gpu);
  if (s.request.device == WhichGpu::Gpu) return run_gpu(s, gpu);
  auto ran = run_step(s, step);
  if (!ran) return std::nullopt;
  return finish(s, *std::move(ran));
}

// Until one does not finish.
std::optional<SequenceReport> run_sequence(Simulation& s) {
  std::optional<sim::GridHistory> history;
  if (overlaps(s)) history.emplace(s.device->memory());
  SequenceReport report;
  for (Step& step : s.steps) {
    if (history) {
      history->begin(step.launch.kernel->name, step.text.is_programmatic);
      step.launch.history = &*history;
    }
    auto ran = run_step(s, step);
    step.launch.history = nullptr;
    if (!ran) return std::nullopt;
    SimReport& each = report.launches.emplace_back(report_of(s, step, *std::move(ran)));
    each.number = report.launches.size();
    each.count = s.steps.size();
    if (each.run.outcome != sim::Outcome::Finished) break;
  }
  add_results(s, report);
  return report;
}

SimOutcome simulate(const SimRequest& request) {
  Simulation s{request};
  SimOutcome outcome;
  const bool is_read = s.is_sequence() ? read_launches(s) : read_launch(s);
  if (is_read && load_kernels(s) && choose_block(s) && read_values(s) && read_files(s) &&
      read_expectations(s) && read_watches(s) && put_values(s) && put_arguments(s) &&
      read_awaits(s)) {
    s.values.keep_before();
    if (s.is_sequence())
      outcome.sequence = run_sequence(s);
    else
      outcome.report = run_only(s);
  }
  outcome.errors = std::move(s.refusals.text);
  return outcome;
}

// --- schedules ------------------------------------------------------------------------------------

// What `--schedules` does not go with.
std::string schedules_problem(const SimRequest& request) {
  if (!request.schedules.is_asked_for()) return "";
  if (request.device != WhichGpu::Virtual)
    return render(diag(DiagKind::BadArgument, "`--schedules` is for the virtual GPU alone"));
  const std::string schedules = fmt::format("`--schedules {}`", request.schedules.most);
  if (request.timeline.is_wanted())
    return render(
        diag(DiagKind::BadArgument, "`--timeline` beside {}: expected one of them", schedules));
  if (!request.schedule.empty() && request.schedule != "rr")
    return render(diag(DiagKind::BadArgument, "`--schedule {}` beside {}: expected one of them",
                       request.schedule, schedules));
  return "";
}

}  // namespace

SimOutcome run_sim(const SimRequest& request) {
  if (std::string problem = schedules_problem(request); !problem.empty())
    return {.errors = std::move(problem)};
  SimOutcome out = within_memory(
      [&] { return simulate(request); },
      SimOutcome{.errors =
                     render(diag(DiagKind::TooLarge, "the host has no memory for this run")
                                .with_note("`--limit memory=BYTES` bounds what is simulated"))});
  if (!out.report || !request.sass) return out;
  const sim::Program& program = *out.report->program;
  out.report->sass = sass_advice(*request.sass, program.source.text(), program.target.arch,
                                 std::string(out.report->kernel->name));
  return out;
}

}  // namespace ww::driver
