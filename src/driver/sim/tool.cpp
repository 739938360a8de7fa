// SPDX-License-Identifier: Apache-2.0
#include "driver/sim/tool.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/file_io.h"
#include "base/source.h"
#include "driver/args/text.h"
#include "driver/sim/advice.h"
#include "driver/sim/args.h"
#include "driver/sim/gpu_run.h"
#include "driver/sim/kernel_choice.h"
#include "driver/sim/launches.h"
#include "driver/sim/memory.h"
#include "driver/sim/options.h"
#include "driver/sim/refusals.h"
#include "driver/sim/report.h"
#include "driver/sim/run_options.h"
#include "driver/sim/shown_lines.h"
#include "driver/sim/values.h"
#include "driver/timeline/names.h"
#include "ptx/parser.h"

namespace ww::driver {
namespace {

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
  std::vector<sim::Param> params{};  // as its arguments have them
  std::string text{};                // of the file
  SimValues values{};                // by parameter
  std::unique_ptr<sim::Device> device{};
  std::vector<SimMap> maps{};
  std::vector<SimTexture> textures{};
  ShownLines shown{};
  std::optional<TimelinePlan> timeline{};
};

// --- options and the program --------------------------------------------------------------------

bool read_options(Simulation& s) {
  if (s.request.grid.empty())
    return s.refusals.add(diag(DiagKind::BadArgument, "`--grid` is missing"));
  if (!s.refusals.keep(parse_dims(s.request.grid), s.launch.grid, "--grid", s.request.grid))
    return false;
  if (!s.request.block.empty() &&
      !s.refusals.keep(parse_dims(s.request.block), s.launch.block, "--block", s.request.block))
    return false;
  if (!s.request.cluster.empty() &&
      !s.refusals.keep(parse_dims(s.request.cluster), s.launch.cluster, "--cluster",
                       s.request.cluster))
    return false;
  s.launch.dynamic_shared = s.request.shared_bytes;
  if (!read_run_options(s.request, s.refusals, s.options)) return false;
  if (s.request.watches() && s.request.device == WhichGpu::Gpu)
    return s.refusals.add(
        diag(DiagKind::BadArgument,
             "`--trace`, `--break`, `--counters` and `--timeline` are for the virtual GPU")
            .with_note("`--device both` runs it beside the real one"));
  return true;
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
  sim::LoadResult loaded = sim::load(s.text, s.request.path, {.kernels = {*name}});
  for (const Diag& problem : loaded.errors) s.refusals.add(problem, s.request.path, s.text);
  if (loaded.program == nullptr) return false;
  s.program = std::move(loaded.program);
  for (Note& note : loaded.notes) s.notes.push_back(std::move(note.text));
  s.kernel = s.program->find_kernel(*name);
  s.launch.kernel = s.kernel;
  return true;
}

// Where no option says it, the kernel may.
bool choose_block(Simulation& s) {
  if (!s.request.block.empty()) return true;
  if (!s.kernel->required_block)
    return s.refusals.add(
        diag(DiagKind::BadArgument, "`--block` is missing, and the kernel has no `.reqntid`"));
  s.launch.block = *s.kernel->required_block;
  return true;
}

// --- arguments ----------------------------------------------------------------------------------

// The values of the run are those of the parameters.
void name_values(Simulation& s, std::vector<SimArg>&& args,
                 const std::vector<std::size_t>& by_param) {
  for (std::size_t i = 0; i < by_param.size(); ++i) {
    s.values.args.push_back(std::move(args[by_param[i]]));
    s.values.names.push_back(s.params[i].name);
    s.values.titles.push_back(param_title(s.params, i));
  }
  s.values.find = [params = Params(s.params)](std::string_view text,
                                              Span key) -> Result<std::size_t> {
    auto param = find_param(params, text, key);
    if (param) return *param;
    return fail(with_params(std::move(param).error(), params));
  };
  s.values.unknown = [params = Params(s.params)](std::string_view name) {
    return with_params(diag(DiagKind::UnknownName, "the kernel has no parameter `{}`", name),
                       params);
  };
}

bool read_args(Simulation& s) {
  std::vector<SimArg> args;
  for (const std::string& text : s.request.args) {
    if (!s.refusals.keep(parse_sim_arg(text), args.emplace_back(), "--arg", text)) return false;
  }
  MatchedArgs matched = match_args(s.kernel->params, args);
  if (matched.problem) {
    const auto& [problem, which] = *matched.problem;
    return which < args.size() ? s.refusals.add(problem, "--arg", args[which].text)
                               : s.refusals.add(problem);
  }
  s.params = std::move(matched.params);
  name_values(s, std::move(args), matched.by_param);
  return true;
}

bool read_files(Simulation& s) {
  FilePlan files;
  if (!read_outs(s.values, s.request, s.refusals, files)) return false;
  if (!s.request.timeline.is_wanted()) return true;
  s.timeline = plan_timeline(s.request.timeline, s.launch.grid, files, s.refusals);
  if (s.timeline) s.options.record = sim::RecordRequest{s.timeline->block};
  return s.timeline.has_value();
}

bool read_watches(Simulation& s) {
  s.shown.bound(s.options.limits.memory);
  if (!s.request.trace.empty()) {
    if (!s.refusals.keep(parse_trace(s.request.trace, s.launch.grid, s.launch.block),
                         s.options.trace, "--trace", s.request.trace))
      return false;
    s.options.trace->write = s.shown.writer();
  }
  return read_break_option(s.request, *s.program, s.refusals, s.options, s.shown);
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
  const SimArg& arg = s.values.args[param];
  if (!arg.is_memory()) return true;
  auto buffer = place_buffer(
      *s.device, {param, s.values.titles[param], s.params[param].pointee_align}, arg, budget);
  if (!buffer) return s.refusals.add(buffer.error(), "--arg", arg.text);
  s.values.buffers.push_back(std::move(*buffer));
  return true;
}

// The buffer of an argument, which may be that of another parameter.
Result<const SimBuffer*> argument_buffer(const Simulation& s, std::size_t param) {
  const SimArg& arg = s.values.args[param];
  const bool is_other = arg.kind == ArgKind::MapOfOther;
  if (is_other) param = WW_TRY(find_param(s.params, arg.text, arg.other));
  const SimBuffer* const buffer = s.values.buffer_of(param);
  if (buffer != nullptr || !is_other) return buffer;
  return fail(not_a_buffer(s.values, param, arg.other));
}

bool put_argument(Simulation& s, std::size_t param) {
  const SimArg& arg = s.values.args[param];
  const auto buffer = argument_buffer(s, param);
  if (!buffer) return s.refusals.add(with_params(buffer.error(), s.params), "--arg", arg.text);
  const auto bytes = param_value(*s.device, arg, *buffer);
  if (!bytes) return s.refusals.add(bytes.error(), "--arg", arg.text);
  const auto which = [&] { return static_cast<std::size_t>(*buffer - s.values.buffers.data()); };
  if (arg.map) s.maps.push_back({param, which(), *argument_map(arg, **buffer)});
  if (arg.texture) s.textures.push_back({which(), *argument_texture(arg, **buffer)});
  const std::size_t at = s.params[param].offset;
  std::ranges::copy(*bytes, s.launch.params.begin() + static_cast<std::ptrdiff_t>(at));
  return true;
}

bool fill_memory(Simulation& s) {
  MemoryBudget budget(s.options.limits.memory);
  if (!check_variables(s, budget)) return false;
  s.device = std::make_unique<sim::Device>(s.program);
  s.launch.params.resize(s.kernel->param_bytes);
  const std::size_t count = s.params.size();
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
    const auto param = find_param(s.params, s.request.awaits, name.span());
    if (!param)
      return s.refusals.add(with_params(param.error(), s.params), "--awaits", s.request.awaits);
    const SimBuffer* const buffer = s.values.buffer_of(*param);
    if (buffer == nullptr)
      return s.refusals.add(not_a_buffer(s.values, *param, name.span()), "--awaits",
                            s.request.awaits);
    s.launch.awaits.push_back(buffer->region->base);
  }
  return true;
}

// --- the run and what it leaves -----------------------------------------------------------------

void write_timeline_of(Simulation& s, SimReport& report) {
  if (!s.timeline) return;
  const auto written = draw_timeline(s.request.timeline, *s.timeline, report.run.recording,
                                     {.program = s.program.get(),
                                      .kernel = s.kernel,
                                      .grid = report.launch.grid,
                                      .file = s.request.path,
                                      .outcome = outcome_text(report.run)});
  if (!written) return void(s.refusals.add(written.error()));
  report.timeline = s.request.timeline.path;
}

SimReport finish(Simulation& s, sim::LaunchReport&& run) {
  SimReport report;
  report.program = s.program;
  report.kernel = s.kernel;
  report.launch = std::move(s.launch);
  report.checks = s.options.checks;
  report.schedule = s.options.schedule;
  report.notes = s.notes;
  report.in_step = s.options.in_step.value_or(s.program->target.in_step);
  report.late_tensor_loads = s.options.late_tensor_loads;
  report.counted = s.options.count;
  report.run = std::move(run);
  report.shown = s.shown.take(report.shown_left_out);
  report.buffers = report_buffers(s.values);
  if (s.request.keep_results)
    for (const SimBuffer& buffer : s.values.buffers)
      if (auto array = read_buffer(buffer)) report.results.push_back(*std::move(array));
  report.expectations = check_expectations(s.values, s.refusals);
  write_files(s.values, s.refusals, report.buffers);
  write_timeline_of(s, report);
  return report;
}

// What a GPU alone leaves has no findings and no counts.
SimReport finish_gpu(Simulation& s, std::string name) {
  sim::LaunchReport run;
  run.blocks = s.launch.grid.count();
  run.warps_per_block =
      static_cast<std::uint32_t>((s.launch.block.count() + sim::kLanes - 1) / sim::kLanes);
  SimReport report = finish(s, std::move(run));
  report.simulated = false;
  report.gpu = std::move(name);
  return report;
}

std::optional<SimReport> run_both(Simulation& s, const GpuLaunch& gpu) {
  const MemoryState before = MemoryState::of(s.values.buffers);
  auto ran = s.device->run(s.launch, s.options);
  if (!ran) {
    s.refusals.add(ran.error());
    return std::nullopt;
  }
  const MemoryState ours = MemoryState::of(s.values.buffers);
  before.put_back(s.values.buffers);
  auto name = run_on_gpu(gpu, s.values.buffers);
  const MemoryState theirs = MemoryState::of(s.values.buffers);
  ours.put_back(s.values.buffers);
  SimReport report = finish(s, *std::move(ran));
  if (!name) {
    s.refusals.add(name.error());
    return report;
  }
  report.gpu = *std::move(name);
  report.gpu_differs = first_difference(s.values.buffers, s.params, ours, theirs);
  return report;
}

std::optional<SimReport> run_prepared(Simulation& s) {
  const GpuLaunch gpu{s.request.driver, s.text, *s.program, s.launch, s.params, s.maps, s.textures};
  if (s.request.device == WhichGpu::Both) return run_both(s, gpu);
  if (s.request.device == WhichGpu::Gpu) {
    auto name = run_on_gpu(gpu, s.values.buffers);
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
  if (read_options(s) && load_program(s) && choose_block(s) && read_args(s) && read_files(s) &&
      read_expectations(s.values, request, s.refusals) && read_watches(s) && fill_memory(s) &&
      read_awaits(s) && keep_before(s.values, s.refusals))
    outcome.report = run_prepared(s);
  outcome.errors = std::move(s.refusals.text);
  return outcome;
}

SimOutcome sim_without_memory() {
  return {.errors = render(diag(DiagKind::TooLarge, "the host has no memory for this run")
                               .with_note("`--limit memory=BYTES` bounds what is simulated"))};
}

}  // namespace

bool SequenceReport::good() const {
  return std::ranges::all_of(launches, [](const SimReport& each) { return each.run.ok(); }) &&
         std::ranges::all_of(expectations,
                             [](const ExpectReport& each) { return each.result.holds; });
}

SimOutcome run_sim(const SimRequest& request) {
  try {
    if (!request.launches.empty()) return run_launches(request);
    SimOutcome out = request.schedules > 1 ? run_schedules(request, simulate) : simulate(request);
    if (out.report) add_sass(request, *out.report);
    return out;
  } catch (const std::bad_alloc&) {
    return sim_without_memory();
  } catch (const std::length_error&) {  // what a vector says to a size beyond all memory
    return sim_without_memory();
  }
}

}  // namespace ww::driver
