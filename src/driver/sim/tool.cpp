// SPDX-License-Identifier: Apache-2.0
#include "driver/sim/tool.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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
#include "base/suggest.h"
#include "driver/args/file_plan.h"
#include "driver/args/npy.h"
#include "driver/sim/args.h"
#include "driver/sim/memory.h"
#include "driver/sim/options.h"
#include "ptx/parser.h"

namespace ww::driver {
namespace {

constexpr std::size_t kMaxPtxBytes = std::size_t{1} << 30U;

/// Lines of a trace, up to a number of bytes.
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
  std::string take(std::uint64_t& left_out) {
    left_out = left_out_;
    return std::move(text_);
  }

 private:
  std::string text_;
  std::uint64_t most_ = kMaxShownBytes;
  std::uint64_t left_out_ = 0;
};

/// One request from its texts to its report, step by step. A step that fails has said why.
class Simulation {
 public:
  explicit Simulation(const SimRequest& request) : request_(request) {}

  SimOutcome go() {
    if (read_options() && load_program() && read_arguments() && read_watches() && fill_memory())
      run();
    return std::move(outcome_);
  }

 private:
  // Steps.
  bool read_options();
  bool load_program();
  bool read_arguments();
  bool read_watches();
  bool fill_memory();
  void run();

  // Parts of them.
  bool choose_kernel(const std::string& text);
  bool read_args();
  bool read_outs();
  bool read_expectations();
  bool check_names(const Expectation& expectation);
  bool check_variables(MemoryBudget& budget);
  bool put_argument(std::size_t param, MemoryBudget& budget);
  void finish(sim::RunReport&& report);
  [[nodiscard]] BufferReport report_buffer(const SimBuffer& buffer) const;
  bool keep_before();
  void check_expectations(SimReport& report);
  void write_files(SimReport& report);
  [[nodiscard]] const SimArg& arg_of(std::size_t param) const { return args_[by_param_[param]]; }
  [[nodiscard]] const SimBuffer* buffer_of(std::size_t param) const;
  [[nodiscard]] std::optional<std::size_t> param_named(std::string_view name) const;

  // Says why, and returns false.
  bool refuse(const Diag& problem) {
    outcome_.errors += render(problem);
    return false;
  }
  bool refuse(const Diag& problem, std::string_view name, std::string_view text) {
    outcome_.errors += render(problem, SourceText(std::string(name), std::string(text)));
    return false;
  }
  // Keeps the value of something that was read from an option.
  template <typename T, typename To>
  bool keep(Result<T> result, To& to, std::string_view option, std::string_view text) {
    if (!result) return refuse(result.error(), option, text);
    to = std::move(*result);
    return true;
  }
  bool read_limits() {
    LimitChanges changes;
    if (!keep(parse_limits(request_.limits), changes, "--limit", request_.limits)) return false;
    options_.limits = changes.on(options_.limits);
    return true;
  }
  bool read_dims(std::string_view option, const std::string& text, sim::Dim3& to) {
    if (text.empty()) return refuse(diag(DiagKind::BadArgument, "`{}` is missing", option));
    return keep(parse_dims(text), to, option, text);
  }

  const SimRequest& request_;
  SimOutcome outcome_;
  sim::Launch launch_;
  sim::RunOptions options_;
  std::string kernel_name_;
  std::shared_ptr<const sim::Program> program_;
  std::vector<std::string> notes_;
  const sim::Code* kernel_ = nullptr;
  std::vector<SimArg> args_;
  std::vector<std::size_t> by_param_;
  std::vector<std::pair<std::size_t, SimOut>> outs_;  // with the parameter
  std::vector<Expectation> expectations_;
  std::map<std::size_t, Array> before_;  // by parameter, where an expectation asks
  std::unique_ptr<sim::Device> device_;
  std::vector<SimBuffer> buffers_;
  ShownLines shown_;
};

// --- options and the program --------------------------------------------------------------------

bool Simulation::read_options() {
  if (!read_dims("--grid", request_.grid, launch_.grid)) return false;
  if (!read_dims("--block", request_.block, launch_.block)) return false;
  if (!request_.cluster.empty() &&
      !keep(parse_dims(request_.cluster), launch_.cluster, "--cluster", request_.cluster))
    return false;
  launch_.dynamic_shared = request_.shared_bytes;
  options_.threads = request_.threads;
  options_.count = request_.count;
  options_.exact_matrix = request_.exact;
  options_.progress = request_.progress;
  return keep(sim::parse_checks(request_.checks), options_.checks, "--check", request_.checks) &&
         keep(parse_schedule(request_.schedule), options_.schedule, "--schedule",
              request_.schedule) &&
         read_limits();
}

// The names of the kernels that a module has code for.
std::vector<std::string_view> kernel_names(const ptx::Module& module) {
  std::vector<std::string_view> names;
  for (const ptx::Function& function : module.functions) {
    if (function.kind == ptx::FunctionKind::Entry && function.has_body)
      names.push_back(module.text(function.name));
  }
  return names;
}

bool Simulation::choose_kernel(const std::string& text) {
  const ptx::ParseResult parsed = ptx::parse(text);
  for (const Diag& problem : parsed.errors) refuse(problem, request_.path, text);
  if (!parsed.ok()) return false;
  const auto names = kernel_names(parsed.module);
  if (names.empty())
    return refuse(diag(DiagKind::BadArgument, "`{}` has no kernel", request_.path));
  if (!request_.kernel.empty() && std::ranges::find(names, request_.kernel) == names.end())
    return refuse(diag(DiagKind::UnknownName, "`{}` has no kernel `{}`{}", request_.path,
                       request_.kernel, did_you_mean(request_.kernel, names))
                      .with_note(fmt::format("kernels: {}", fmt::join(names, ", "))));
  if (request_.kernel.empty() && names.size() > 1)
    return refuse(diag(DiagKind::BadArgument, "`{}` has {} kernels, and `--kernel` names none",
                       request_.path, names.size())
                      .with_note(fmt::format("kernels: {}", fmt::join(names, ", "))));
  kernel_name_ = request_.kernel.empty() ? names.front() : request_.kernel;
  return true;
}

bool Simulation::load_program() {
  const auto text = read_file(request_.path, kMaxPtxBytes);
  if (!text) return refuse(text.error());
  if (!choose_kernel(*text)) return false;
  sim::LoadResult loaded = sim::load(*text, request_.path, {.kernel = kernel_name_});
  for (const Diag& problem : loaded.errors) refuse(problem, request_.path, *text);
  if (loaded.program == nullptr) return false;
  program_ = std::move(loaded.program);
  for (Note& note : loaded.notes) notes_.push_back(std::move(note.text));
  kernel_ = program_->find_kernel(kernel_name_);
  launch_.kernel = kernel_;
  return true;
}

// --- arguments ----------------------------------------------------------------------------------

bool Simulation::read_arguments() { return read_args() && read_outs() && read_expectations(); }

bool Simulation::read_args() {
  for (const std::string& text : request_.args) {
    if (!keep(parse_sim_arg(text), args_.emplace_back(), "--arg", text)) return false;
  }
  MatchedArgs matched = match_args(*kernel_, args_);
  if (matched.problem) {
    const auto& [problem, which] = *matched.problem;
    return which < args_.size() ? refuse(problem, "--arg", args_[which].text) : refuse(problem);
  }
  by_param_ = std::move(matched.by_param);
  return true;
}

bool Simulation::read_outs() {
  FilePlan files;
  files.reads(request_.path, "the program");
  for (const SimArg& arg : args_)
    if (arg.kind == ArgKind::File)
      files.reads(arg.path, fmt::format("the argument `{}`", arg.part(arg.key)));
  for (const std::string& text : request_.outs) {
    auto out = parse_sim_out(text);
    if (!out) return refuse(out.error(), "--out", text);
    const auto param = find_param(*kernel_, text, out->key);
    if (!param) return refuse(with_params(param.error(), *kernel_), "--out", text);
    if (!arg_of(*param).is_memory())
      return refuse(diag(DiagKind::BadArgument, "{} is not a buffer: its argument is `{}`",
                         param_title(*kernel_, *param), arg_of(*param).text)
                        .with_span(out->key),
                    "--out", text);
    auto good = files.writes(out->path, param_title(*kernel_, *param));
    if (!good) return refuse(std::move(good).error().with_span(out->value), "--out", text);
    outs_.emplace_back(*param, std::move(*out));
  }
  return true;
}

// `$2` or a parameter's name.
std::optional<std::size_t> Simulation::param_named(std::string_view name) const {
  const std::size_t skip = name.starts_with('$') ? 1 : 0;
  const auto param = find_param(*kernel_, name, Span::at(skip, name.size()));
  return param ? std::optional(*param) : std::nullopt;
}

// All that an expectation speaks of must be there before anything runs.
bool Simulation::check_names(const Expectation& expectation) {
  for (const ExprNode& node : expectation.nodes) {
    const auto named = expectation.name_of(node);
    if (!named) continue;
    const std::string_view name = *named;
    const auto param = param_named(name);
    if (!param)
      return refuse(with_params(diag(DiagKind::UnknownName, "kernel `{}` has no parameter `{}`",
                                     kernel_->name, name)
                                    .with_span(node.span),
                                *kernel_),
                    "--expect", expectation.text);
    const SimArg& arg = arg_of(*param);
    if (!arg.is_memory() && arg.kind != ArgKind::Scalar)
      return refuse(
          diag(DiagKind::BadArgument, "`{}` is not an array: its argument is `{}`", name, arg.text)
              .with_span(node.span),
          "--expect", expectation.text);
  }
  return true;
}

bool Simulation::read_expectations() {
  for (const std::string& text : request_.expects) {
    if (!keep(parse_expectation(text), expectations_.emplace_back(), "--expect", text))
      return false;
    if (!check_names(expectations_.back())) return false;
  }
  return true;
}

bool Simulation::read_watches() {
  shown_.bound(options_.limits.memory);
  if (!request_.trace.empty()) {
    if (!keep(parse_trace(request_.trace, launch_.grid, launch_.block), options_.trace, "--trace",
              request_.trace))
      return false;
    options_.trace->write = shown_.writer();
  }
  if (request_.stop_at.empty()) return true;
  if (!keep(parse_break(request_.stop_at), options_.stop_at, "--break", request_.stop_at))
    return false;
  options_.stop_at->write = shown_.writer();
  const auto there = check_break(*program_, options_.stop_at->line);
  return there ? true : refuse(there.error());
}

// --- memory -------------------------------------------------------------------------------------

bool Simulation::check_variables(MemoryBudget& budget) {
  for (const sim::GlobalVariable& variable : program_->variables) {
    auto taken = budget.take(variable.size);
    if (!taken)
      return refuse(std::move(taken).error().with_note(
          fmt::format("for the variable `{}` of the module", variable.name)));
  }
  return true;
}

bool Simulation::put_argument(std::size_t param, MemoryBudget& budget) {
  const SimArg& arg = arg_of(param);
  std::uint64_t address = 0;
  if (arg.is_memory()) {
    auto buffer = place_buffer(*device_, *kernel_, param, arg, budget);
    if (!buffer) return refuse(buffer.error(), "--arg", arg.text);
    address = buffer->region->base;
    buffers_.push_back(std::move(*buffer));
  }
  const std::vector<std::byte> bytes = param_value(arg, address);
  const std::size_t at = kernel_->params[param].offset;
  std::ranges::copy(bytes, launch_.params.begin() + static_cast<std::ptrdiff_t>(at));
  return true;
}

bool Simulation::fill_memory() {
  MemoryBudget budget(options_.limits.memory);
  if (!check_variables(budget)) return false;
  device_ = std::make_unique<sim::Device>(program_);
  launch_.params.resize(kernel_->param_bytes);
  for (std::size_t i = 0; i < kernel_->params.size(); ++i) {
    if (!put_argument(i, budget)) return false;
  }
  return true;
}

// --- the run and what it leaves -----------------------------------------------------------------

// What expectations ask of the arrays before the run; those without contents have nothing.
bool Simulation::keep_before() {
  for (const Expectation& expectation : expectations_)
    for (const std::string& name : expectation.names_before()) {
      const std::size_t param = *param_named(name);
      const SimBuffer* buffer = buffer_of(param);
      if (buffer != nullptr && buffer->is_output) continue;
      auto array = buffer != nullptr ? read_buffer(*buffer) : arg_of(param).scalar;
      if (!array) return refuse(array.error());
      before_.emplace(param, std::move(*array));
    }
  return true;
}

void Simulation::run() {
  if (!keep_before()) return;
  auto report = device_->run(launch_, options_);
  if (report) {
    finish(std::move(*report));
  } else {
    refuse(report.error());
  }
}

void Simulation::finish(sim::RunReport&& run) {
  SimReport& report = outcome_.report.emplace();
  report.program = program_;
  report.kernel = kernel_;
  report.launch = std::move(launch_);
  report.checks = options_.checks;
  report.schedule = options_.schedule;
  report.notes = notes_;
  report.counted = options_.count;
  report.run = std::move(run);
  report.shown = shown_.take(report.shown_left_out);
  for (const SimBuffer& buffer : buffers_) report.buffers.push_back(report_buffer(buffer));
  check_expectations(report);
  write_files(report);
}

BufferReport Simulation::report_buffer(const SimBuffer& buffer) const {
  const UndefinedElements undefined = undefined_elements(buffer);
  BufferReport out{.param = buffer.param,
                   .name = kernel_->params[buffer.param].name,
                   .dtype = buffer.dtype,
                   .shape = buffer.shape,
                   .is_output = buffer.is_output,
                   .undefined = undefined.count};
  if (undefined.count > 0) out.first_undefined = index_of(buffer.shape, undefined.first);
  out.first = first_elements(buffer, kShownElements);
  return out;
}

const SimBuffer* Simulation::buffer_of(std::size_t param) const {
  const auto found = std::ranges::find(buffers_, param, &SimBuffer::param);
  return found == buffers_.end() ? nullptr : &*found;
}

void Simulation::check_expectations(SimReport& report) {
  for (const Expectation& expectation : expectations_) {
    std::vector<std::pair<std::string, Array>> arrays;
    std::map<std::string, std::vector<bool>, std::less<>> defined;
    for (const std::string& name : expectation.names()) {
      const std::size_t param = *param_named(name);
      const SimBuffer* buffer = buffer_of(param);
      auto array = buffer != nullptr ? read_buffer(*buffer) : arg_of(param).scalar;
      if (!array) return void(refuse(array.error()));
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
      const auto found = before_.find(*param_named(name));
      return found == before_.end() ? nullptr : &found->second;
    };
    auto result = check_expectation(expectation, find, {}, find_defined, before);
    if (result) {
      report.expectations.push_back({expectation.text, std::move(*result)});
    } else {
      refuse(result.error(), "--expect", expectation.text);
    }
  }
}

void Simulation::write_files(SimReport& report) {
  for (const auto& [param, out] : outs_) {
    const auto array = read_buffer(*buffer_of(param));
    const auto written =
        array ? write_file_atomically(out.path, to_npy(*array)) : Result<void>(fail(array.error()));
    if (!written) {
      refuse(written.error());
      continue;
    }
    std::ranges::find(report.buffers, param, &BufferReport::param)->file = out.path;
  }
}

SimOutcome sim_without_memory() {
  return {.errors = render(diag(DiagKind::TooLarge, "the host has no memory for this run")
                               .with_note("`--limit memory=BYTES` bounds what is simulated"))};
}

}  // namespace

bool SimReport::good() const {
  return run.ok() && std::ranges::all_of(
                         expectations, [](const ExpectReport& each) { return each.result.holds; });
}

SimOutcome run_sim(const SimRequest& request) {
  try {
    return Simulation(request).go();
  } catch (const std::bad_alloc&) {
    return sim_without_memory();
  } catch (const std::length_error&) {  // what a vector says to a size beyond all memory
    return sim_without_memory();
  }
}

}  // namespace ww::driver
