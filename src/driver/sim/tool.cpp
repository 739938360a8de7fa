// SPDX-License-Identifier: Apache-2.0
#include "driver/sim/tool.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <new>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/file_io.h"
#include "base/source.h"
#include "driver/args/file_plan.h"
#include "driver/args/npy.h"
#include "driver/args/text.h"
#include "driver/sim/args.h"
#include "driver/sim/gpu_run.h"
#include "driver/sim/kernel_choice.h"
#include "driver/sim/memory.h"
#include "driver/sim/options.h"
#include "driver/sim/refusals.h"
#include "driver/sim/shown_lines.h"
#include "ptx/parser.h"

namespace ww::driver {
namespace {

constexpr std::size_t kMaxPtxBytes = std::size_t{1} << 30U;

/// The kernel's arguments, and what is asked of them after the run.
struct SimArguments {
  std::vector<SimArg> args;
  std::vector<std::size_t> by_param;                 // which of them each parameter has
  std::vector<std::pair<std::size_t, SimOut>> outs;  // with the parameter
  std::vector<Expectation> expectations;

  [[nodiscard]] const SimArg& of(std::size_t param) const { return args[by_param[param]]; }
};

/// One request on the way from its texts to its report. The steps below fill it in; one that fails
/// has said why.
struct Simulation {
  const SimRequest& request;
  Refusals refusals{};
  sim::Launch launch{};
  sim::RunOptions options{};
  std::shared_ptr<const sim::Program> program{};
  std::vector<std::string> notes{};
  const sim::Code* kernel = nullptr;
  std::string text{};  // of the file
  SimArguments arguments{};
  std::map<std::size_t, Array> before{};  // by parameter, where an expectation asks
  std::unique_ptr<sim::Device> device{};
  std::vector<SimBuffer> buffers{};
  std::vector<SimMap> maps{};
  ShownLines shown{};

  /// nullptr: the parameter points to none.
  [[nodiscard]] const SimBuffer* buffer_of(std::size_t param) const {
    const auto found = std::ranges::find(buffers, param, &SimBuffer::param);
    return found == buffers.end() ? nullptr : &*found;
  }
};

// --- options and the program --------------------------------------------------------------------

bool read_dims(Refusals& refusals, std::string_view option, const std::string& text,
               sim::Dim3& to) {
  if (text.empty()) return refusals.add(diag(DiagKind::BadArgument, "`{}` is missing", option));
  return refusals.keep(parse_dims(text), to, option, text);
}

bool read_options(Simulation& s) {
  if (!read_dims(s.refusals, "--grid", s.request.grid, s.launch.grid)) return false;
  if (!read_dims(s.refusals, "--block", s.request.block, s.launch.block)) return false;
  if (!s.request.cluster.empty() &&
      !s.refusals.keep(parse_dims(s.request.cluster), s.launch.cluster, "--cluster",
                       s.request.cluster))
    return false;
  s.launch.dynamic_shared = s.request.shared_bytes;
  s.options.threads = s.request.threads;
  s.options.count = s.request.count;
  s.options.exact_matrix = s.request.exact;
  s.options.in_step = s.request.in_step;
  s.options.progress = s.request.progress;
  LimitChanges limits;
  const bool is_good =
      s.refusals.keep(sim::parse_checks(s.request.checks), s.options.checks, "--check",
                      s.request.checks) &&
      s.refusals.keep(parse_schedule(s.request.schedule), s.options.schedule, "--schedule",
                      s.request.schedule) &&
      s.refusals.keep(parse_limits(s.request.limits), limits, "--limit", s.request.limits);
  s.options.limits = limits.on(s.options.limits);
  s.options.allows_rewrites = !s.options.checks.has(sim::Check::Rewrite);
  const bool watches = !s.request.trace.empty() || !s.request.stop_at.empty() || s.request.count;
  if (is_good && watches && s.request.device == SimDevice::Gpu)
    return s.refusals.add(
        diag(DiagKind::BadArgument, "`--trace`, `--break` and `--counters` are for the virtual GPU")
            .with_note("`--device both` runs it beside the real one"));
  return is_good;
}

// The name of the kernel that is asked for, or nothing.
std::optional<std::string> kernel_name(Simulation& s, const std::string& text) {
  const ptx::ParseResult parsed = ptx::parse(text);
  for (const Diag& problem : parsed.errors) s.refusals.add(problem, s.request.path, text);
  if (!parsed.ok()) return std::nullopt;
  Result<std::string> name = choose_kernel(
      parsed.module, s.request.kernel,
      {.where = fmt::format("`{}`", s.request.path), .unnamed = "`--kernel` names none"});
  if (name) return *std::move(name);
  s.refusals.add(name.error());
  return std::nullopt;
}

bool load_program(Simulation& s) {
  auto text = read_file(s.request.path, kMaxPtxBytes);
  if (!text) return s.refusals.add(text.error());
  s.text = *std::move(text);
  const auto name = kernel_name(s, s.text);
  if (!name) return false;
  sim::LoadResult loaded = sim::load(s.text, s.request.path, {.kernel = *name});
  for (const Diag& problem : loaded.errors) s.refusals.add(problem, s.request.path, s.text);
  if (loaded.program == nullptr) return false;
  s.program = std::move(loaded.program);
  for (Note& note : loaded.notes) s.notes.push_back(std::move(note.text));
  s.kernel = s.program->find_kernel(*name);
  s.launch.kernel = s.kernel;
  return true;
}

// --- arguments ----------------------------------------------------------------------------------

bool read_args(Simulation& s) {
  for (const std::string& text : s.request.args) {
    if (!s.refusals.keep(parse_sim_arg(text), s.arguments.args.emplace_back(), "--arg", text))
      return false;
  }
  MatchedArgs matched = match_args(*s.kernel, s.arguments.args);
  if (matched.problem) {
    const auto& [problem, which] = *matched.problem;
    return which < s.arguments.args.size()
               ? s.refusals.add(problem, "--arg", s.arguments.args[which].text)
               : s.refusals.add(problem);
  }
  s.arguments.by_param = std::move(matched.by_param);
  const auto texture = std::ranges::find_if(
      s.arguments.args, [](const SimArg& each) { return each.texture.has_value(); });
  if (s.request.device != SimDevice::Virtual && texture != s.arguments.args.end())
    return s.refusals.add(
        diag(DiagKind::BadArgument, "textures and surfaces are for the virtual GPU")
            .with_span(texture->value),
        "--arg", texture->text);
  return true;
}

Diag not_a_buffer(const Simulation& s, std::size_t param, Span at) {
  return diag(DiagKind::BadArgument, "{} is not a buffer: its argument is `{}`",
              param_title(*s.kernel, param), s.arguments.of(param).text)
      .with_span(at);
}

bool read_outs(Simulation& s) {
  FilePlan files;
  files.reads(s.request.path, "the program");
  for (const SimArg& arg : s.arguments.args)
    if (arg.kind == ArgKind::File)
      files.reads(arg.path, fmt::format("the argument `{}`", arg.part(arg.key)));
  for (const std::string& text : s.request.outs) {
    auto out = parse_sim_out(text);
    if (!out) return s.refusals.add(out.error(), "--out", text);
    const auto param = find_param(*s.kernel, text, out->key);
    if (!param) return s.refusals.add(with_params(param.error(), *s.kernel), "--out", text);
    if (!s.arguments.of(*param).is_memory())
      return s.refusals.add(not_a_buffer(s, *param, out->key), "--out", text);
    auto good = files.writes(out->path, param_title(*s.kernel, *param));
    if (!good) return s.refusals.add(std::move(good).error().with_span(out->value), "--out", text);
    s.arguments.outs.emplace_back(*param, std::move(*out));
  }
  return true;
}

// `$2` or a parameter's name.
std::optional<std::size_t> param_named(const Simulation& s, std::string_view name) {
  const std::size_t skip = name.starts_with('$') ? 1 : 0;
  const auto param = find_param(*s.kernel, name, Span::at(skip, name.size()));
  return param ? std::optional(*param) : std::nullopt;
}

// All that an expectation speaks of must be there before anything runs.
bool check_names(Simulation& s, const Expectation& expectation) {
  for (const ExprNode& node : expectation.nodes) {
    const auto named = expectation.name_of(node);
    if (!named) continue;
    const std::string_view name = *named;
    const auto param = param_named(s, name);
    if (!param)
      return s.refusals.add(
          with_params(
              diag(DiagKind::UnknownName, "kernel `{}` has no parameter `{}`", s.kernel->name, name)
                  .with_span(node.span),
              *s.kernel),
          "--expect", expectation.text);
    const SimArg& arg = s.arguments.of(*param);
    if (!arg.is_memory() && arg.kind != ArgKind::Scalar)
      return s.refusals.add(
          diag(DiagKind::BadArgument, "`{}` is not an array: its argument is `{}`", name, arg.text)
              .with_span(node.span),
          "--expect", expectation.text);
  }
  return true;
}

bool read_expectations(Simulation& s) {
  for (const std::string& text : s.request.expects) {
    if (!s.refusals.keep(parse_expectation(text), s.arguments.expectations.emplace_back(),
                         "--expect", text))
      return false;
    if (!check_names(s, s.arguments.expectations.back())) return false;
  }
  return true;
}

bool read_watches(Simulation& s) {
  s.shown.bound(s.options.limits.memory);
  if (!s.request.trace.empty()) {
    if (!s.refusals.keep(parse_trace(s.request.trace, s.launch.grid, s.launch.block),
                         s.options.trace, "--trace", s.request.trace))
      return false;
    s.options.trace->write = s.shown.writer();
  }
  if (s.request.stop_at.empty()) return true;
  if (!s.refusals.keep(parse_break(s.request.stop_at), s.options.stop_at, "--break",
                       s.request.stop_at))
    return false;
  s.options.stop_at->write = s.shown.writer();
  const auto there = check_break(*s.program, s.options.stop_at->line);
  return there ? true : s.refusals.add(there.error());
}

// --- memory -------------------------------------------------------------------------------------

bool check_variables(Simulation& s, MemoryBudget& budget) {
  for (const sim::GlobalVariable& variable : s.program->variables) {
    auto taken = budget.take(variable.size);
    if (!taken)
      return s.refusals.add(std::move(taken).error().with_note(
          fmt::format("for the variable `{}` of the module", variable.name)));
  }
  return true;
}

bool put_memory(Simulation& s, std::size_t param, MemoryBudget& budget) {
  const SimArg& arg = s.arguments.of(param);
  if (!arg.is_memory()) return true;
  auto buffer = place_buffer(*s.device, *s.kernel, param, arg, budget);
  if (!buffer) return s.refusals.add(buffer.error(), "--arg", arg.text);
  s.buffers.push_back(std::move(*buffer));
  return true;
}

// The buffer of an argument, which may be that of another parameter.
Result<const SimBuffer*> argument_buffer(const Simulation& s, std::size_t param) {
  const SimArg& arg = s.arguments.of(param);
  const bool is_other = arg.kind == ArgKind::MapOfOther;
  if (is_other) param = WW_TRY(find_param(*s.kernel, arg.text, arg.other));
  const SimBuffer* const buffer = s.buffer_of(param);
  if (buffer != nullptr || !is_other) return buffer;
  return fail(not_a_buffer(s, param, arg.other));
}

bool put_argument(Simulation& s, std::size_t param) {
  const SimArg& arg = s.arguments.of(param);
  const auto buffer = argument_buffer(s, param);
  if (!buffer) return s.refusals.add(with_params(buffer.error(), *s.kernel), "--arg", arg.text);
  const auto bytes = param_value(*s.device, arg, *buffer);
  if (!bytes) return s.refusals.add(bytes.error(), "--arg", arg.text);
  if (arg.map)
    s.maps.push_back({param, static_cast<std::size_t>(*buffer - s.buffers.data()),
                      *argument_map(arg, **buffer)});
  const std::size_t at = s.kernel->params[param].offset;
  std::ranges::copy(*bytes, s.launch.params.begin() + static_cast<std::ptrdiff_t>(at));
  return true;
}

bool fill_memory(Simulation& s) {
  MemoryBudget budget(s.options.limits.memory);
  if (!check_variables(s, budget)) return false;
  s.device = std::make_unique<sim::Device>(s.program);
  s.launch.params.resize(s.kernel->param_bytes);
  const std::size_t count = s.kernel->params.size();
  for (std::size_t i = 0; i < count; ++i)
    if (!put_memory(s, i, budget)) return false;
  for (std::size_t i = 0; i < count; ++i)
    if (!put_argument(s, i)) return false;
  return true;
}

// The arrays that an earlier grid still writes when the kernel starts.
bool read_awaits(Simulation& s) {
  if (s.request.awaits.empty()) return true;
  for (const Piece& piece : split_top({s.request.awaits, 0}, ',')) {
    const Piece name = trimmed(piece);
    const auto param = find_param(*s.kernel, s.request.awaits, name.span());
    if (!param)
      return s.refusals.add(with_params(param.error(), *s.kernel), "--awaits", s.request.awaits);
    const SimBuffer* const buffer = s.buffer_of(*param);
    if (buffer == nullptr)
      return s.refusals.add(not_a_buffer(s, *param, name.span()), "--awaits", s.request.awaits);
    s.launch.awaits.push_back(buffer->region->base);
  }
  return true;
}

// --- the run and what it leaves -----------------------------------------------------------------

// What expectations ask of the arrays before the run; those without contents have nothing.
bool keep_before(Simulation& s) {
  for (const Expectation& expectation : s.arguments.expectations)
    for (const std::string& name : expectation.names_before()) {
      const std::size_t param = *param_named(s, name);
      const SimBuffer* buffer = s.buffer_of(param);
      if (buffer != nullptr && buffer->is_output) continue;
      auto array = buffer != nullptr ? read_buffer(*buffer) : s.arguments.of(param).scalar;
      if (!array) return s.refusals.add(array.error());
      s.before.emplace(param, std::move(*array));
    }
  return true;
}

BufferReport report_buffer(const Simulation& s, const SimBuffer& buffer) {
  const UndefinedElements undefined = undefined_elements(buffer);
  BufferReport out{.param = buffer.param,
                   .name = s.kernel->params[buffer.param].name,
                   .dtype = buffer.dtype,
                   .shape = buffer.shape,
                   .is_output = buffer.is_output,
                   .undefined = undefined.count};
  if (undefined.count > 0) out.first_undefined = index_of(buffer.shape, undefined.first);
  out.first = first_elements(buffer, kShownElements);
  return out;
}

void check_expectations(Simulation& s, SimReport& report) {
  for (const Expectation& expectation : s.arguments.expectations) {
    std::vector<std::pair<std::string, Array>> arrays;
    std::map<std::string, std::vector<bool>, std::less<>> defined;
    for (const std::string& name : expectation.names()) {
      const std::size_t param = *param_named(s, name);
      const SimBuffer* buffer = s.buffer_of(param);
      auto array = buffer != nullptr ? read_buffer(*buffer) : s.arguments.of(param).scalar;
      if (!array) return void(s.refusals.add(array.error()));
      arrays.emplace_back(name, std::move(*array));
      if (buffer != nullptr) defined.emplace(name, defined_elements(*buffer));
    }
    const FindArray find = [&](std::string_view name) -> const Array* {
      const auto found = std::ranges::find(arrays, name, &std::pair<std::string, Array>::first);
      return found == arrays.end() ? nullptr : &found->second;
    };
    const FindWritten find_defined = [&](std::string_view name) {
      const auto found = defined.find(name);
      return found == defined.end() ? nullptr : &found->second;
    };
    const FindArray before = [&](std::string_view name) -> const Array* {
      const auto found = s.before.find(*param_named(s, name));
      return found == s.before.end() ? nullptr : &found->second;
    };
    auto result = check_expectation(expectation, find, {}, find_defined, before);
    if (result) {
      report.expectations.push_back({expectation.text, std::move(*result)});
    } else {
      s.refusals.add(result.error(), "--expect", expectation.text);
    }
  }
}

void write_files(Simulation& s, SimReport& report) {
  for (const auto& [param, out] : s.arguments.outs) {
    const auto array = read_buffer(*s.buffer_of(param));
    const auto written =
        array ? write_file_atomically(out.path, to_npy(*array)) : Result<void>(fail(array.error()));
    if (!written) {
      s.refusals.add(written.error());
      continue;
    }
    std::ranges::find(report.buffers, param, &BufferReport::param)->file = out.path;
  }
}

SimReport finish(Simulation& s, sim::RunReport&& run) {
  SimReport report;
  report.program = s.program;
  report.kernel = s.kernel;
  report.launch = std::move(s.launch);
  report.checks = s.options.checks;
  report.schedule = s.options.schedule;
  report.notes = s.notes;
  report.in_step = s.options.in_step.value_or(s.program->target.in_step);
  report.counted = s.options.count;
  report.run = std::move(run);
  report.shown = s.shown.take(report.shown_left_out);
  for (const SimBuffer& buffer : s.buffers) report.buffers.push_back(report_buffer(s, buffer));
  if (s.request.keep_results)
    for (const SimBuffer& buffer : s.buffers)
      if (auto array = read_buffer(buffer)) report.results.push_back(*std::move(array));
  check_expectations(s, report);
  write_files(s, report);
  return report;
}

// What a GPU alone leaves has no findings and no counts.
SimReport finish_gpu(Simulation& s, std::string name) {
  sim::RunReport run;
  run.blocks = s.launch.grid.count();
  run.warps_per_block =
      static_cast<std::uint32_t>((s.launch.block.count() + sim::kLanes - 1) / sim::kLanes);
  SimReport report = finish(s, std::move(run));
  report.simulated = false;
  report.gpu = std::move(name);
  return report;
}

std::optional<SimReport> run_both(Simulation& s, const GpuLaunch& gpu) {
  const MemoryState before = MemoryState::of(s.buffers);
  auto ran = s.device->run(s.launch, s.options);
  if (!ran) {
    s.refusals.add(ran.error());
    return std::nullopt;
  }
  const MemoryState ours = MemoryState::of(s.buffers);
  before.put_back(s.buffers);
  auto name = run_on_gpu(gpu, s.buffers);
  const MemoryState theirs = MemoryState::of(s.buffers);
  ours.put_back(s.buffers);
  SimReport report = finish(s, *std::move(ran));
  if (!name) {
    s.refusals.add(name.error());
    return report;
  }
  report.gpu = *std::move(name);
  report.gpu_differs = first_difference(s.buffers, *s.kernel, ours, theirs);
  return report;
}

std::optional<SimReport> run_prepared(Simulation& s) {
  const GpuLaunch gpu{s.request.driver, s.text, *s.program, s.launch, s.maps};
  if (s.request.device == SimDevice::Both) return run_both(s, gpu);
  if (s.request.device == SimDevice::Gpu) {
    auto name = run_on_gpu(gpu, s.buffers);
    if (name) return finish_gpu(s, *std::move(name));
    s.refusals.add(name.error());
    return std::nullopt;
  }
  auto ran = s.device->run(s.launch, s.options);
  if (ran) return finish(s, *std::move(ran));
  s.refusals.add(ran.error());
  return std::nullopt;
}

SimOutcome simulate(const SimRequest& request) {
  Simulation s{request};
  SimOutcome outcome;
  if (read_options(s) && load_program(s) && read_args(s) && read_outs(s) && read_expectations(s) &&
      read_watches(s) && fill_memory(s) && read_awaits(s) && keep_before(s))
    outcome.report = run_prepared(s);
  outcome.errors = std::move(s.refusals.text);
  return outcome;
}

SimOutcome sim_without_memory() {
  return {.errors = render(diag(DiagKind::TooLarge, "the host has no memory for this run")
                               .with_note("`--limit memory=BYTES` bounds what is simulated"))};
}

}  // namespace

bool SimReport::good() const {
  const bool agrees = gpu_differs.empty() && (!schedules || schedules->differs.empty());
  return run.ok() && agrees && std::ranges::all_of(expectations, [](const ExpectReport& each) {
           return each.result.holds;
         });
}

SimOutcome run_sim(const SimRequest& request) {
  try {
    if (request.schedules > 1) return run_schedules(request, simulate);
    return simulate(request);
  } catch (const std::bad_alloc&) {
    return sim_without_memory();
  } catch (const std::length_error&) {  // what a vector says to a size beyond all memory
    return sim_without_memory();
  }
}

}  // namespace ww::driver
