// SPDX-License-Identifier: Apache-2.0
#include "driver/run_tool.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <new>
#include <stdexcept>

#include "base/file_io.h"
#include "base/source.h"
#include "base/suggest.h"
#include "driver/array_spec.h"
#include "driver/npy.h"
#include "driver/sim_options.h"
#include "driver/typed_text.h"
#include "eval/eval.h"
#include "ir/launch.h"
#include "ir/param_use.h"

namespace ww::driver {
namespace {

constexpr std::size_t kMostFileBytes = std::size_t{1} << 33U;
// What an output holds before the run. No finding depends on it; it makes a forgotten element stand
// out in a file.
constexpr std::byte kPattern{0xCB};

/// `NAME=SPEC` or `NAME=FILE`, cut at the first `=`.
struct Assignment {
  std::string text;
  std::string name;
  std::string value;
  Span name_span, value_span;
};

Result<Assignment> cut_assignment(const std::string& text, std::string_view what) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size())
    return fail(diag(DiagKind::Syntax, "found `{}`, expected `NAME={}`", text, what)
                    .with_span(Span::at(0, text.size())));
  return Assignment{text, text.substr(0, at), text.substr(at + 1), Span::at(0, at),
                    Span::at(at + 1, text.size())};
}

/// One request from its texts to its report, step by step. A step that fails has said why.
class KernelRun {
 public:
  explicit KernelRun(const RunRequest& request) : request_(request) {}

  RunOutcome go() {
    if (load() && read_names() && read_extents() && make_arguments()) run();
    return std::move(outcome_);
  }

 private:
  // Steps
  bool load();
  bool read_names();
  bool read_extents();
  bool make_arguments();
  void run();

  // Parts of them
  bool read_expectations();
  bool make_scalar(std::size_t param);
  bool make_buffer(std::size_t param);
  std::optional<std::vector<std::int64_t>> shape_of(std::size_t param, const Array* file);
  std::optional<Array> read_array(const Assignment& arg, num::DType dtype);
  void finish(eval::Report&& report);
  void add_launch(RunReport& report) const;
  void add_findings(RunReport& report, const eval::Report& run) const;
  [[nodiscard]] BufferReport report_buffer(std::size_t param,
                                           const std::vector<bool>& written) const;
  void check_expectations(RunReport& report);
  void write_files(RunReport& report);

  [[nodiscard]] const ir::Function& fn() const { return *kernel_.compiled->function; }
  [[nodiscard]] const ir::Var& var_of(std::size_t param) const {
    return fn()[fn().params[param].var];
  }
  [[nodiscard]] std::string name_of(std::size_t param) const {
    const ir::BufferId buffer = ir::buffer_of_param(fn(), param);
    return buffer.valid() && !fn()[buffer].name.empty() ? fn()[buffer].name : var_of(param).name;
  }
  [[nodiscard]] bool is_buffer(std::size_t param) const { return var_of(param).type.is_pointer(); }
  // `$2`, a parameter's name, or that of its buffer.
  [[nodiscard]] std::optional<std::size_t> param_named(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> known_names() const;
  Diag unknown(std::string_view name, Span span) const;

  bool refuse(const Diag& problem) {
    outcome_.errors += render(problem);
    return false;
  }
  bool refuse(const Diag& problem, std::string_view option, std::string_view text) {
    outcome_.errors += render(problem, SourceText(std::string(option), std::string(text)));
    return false;
  }

  const RunRequest& request_;
  RunOutcome outcome_;
  LoadedKernel kernel_;
  std::map<std::size_t, Assignment> args_;     // by parameter
  std::map<std::string, Assignment> extents_;  // by name
  std::map<std::uint32_t, std::int64_t> extent_values_;
  std::vector<std::pair<std::size_t, Assignment>> outs_;
  std::vector<Expectation> expectations_;
  std::uint64_t seed_ = 0;
  std::vector<Array> arrays_;  // by parameter; scalars have no dimensions
  std::vector<bool> is_output_;
};

// --- the program and the names ------------------------------------------------------------------

bool KernelRun::load() {
  kernel_ = load_kernel(request_.source);
  outcome_.errors += kernel_.errors;
  if (!kernel_.compiled) return false;
  const auto schedule = parse_schedule(request_.schedule);
  if (!schedule) return refuse(schedule.error(), "--schedule", request_.schedule);
  if (schedule->is_random) seed_ = schedule->seed + 1;  // 0 means the usual order
  return true;
}

std::optional<std::size_t> KernelRun::param_named(std::string_view name) const {
  if (!name.starts_with('$')) return ir::find_param(fn(), name);
  const auto number = parse_wide(name.substr(1));
  if (!number || *number < 0 || *number >= static_cast<Wide>(fn().params.size()))
    return std::nullopt;
  return static_cast<std::size_t>(*number);
}

std::vector<std::string> KernelRun::known_names() const {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < fn().params.size(); ++i) {
    out.push_back(name_of(i));
    if (var_of(i).name != out.back()) out.push_back(var_of(i).name);
  }
  return out;
}

Diag KernelRun::unknown(std::string_view name, Span span) const {
  const std::vector<std::string> names = known_names();
  const std::vector<std::string_view> views(names.begin(), names.end());
  return diag(DiagKind::UnknownName, "kernel `{}` has no parameter `{}`{}", fn().name, name,
              did_you_mean(name, views))
      .with_note(fmt::format("its parameters: {}", fmt::join(names, ", ")))
      .with_span(span);
}

bool KernelRun::read_names() {
  for (const std::string& text : request_.args) {
    auto arg = cut_assignment(text, "SPEC");
    if (!arg) return refuse(arg.error(), "--arg", text);
    const auto param = param_named(arg->name);
    if (!param) {
      bool is_extent = false;
      for (std::uint32_t i = 0; i < fn().var_count(); ++i) {
        const ir::Var& var = fn()[ir::VarId{i}];
        is_extent = is_extent || (var.kind == ir::VarKind::Extent && var.name == arg->name);
      }
      if (!is_extent) return refuse(unknown(arg->name, arg->name_span), "--arg", text);
      extents_.insert_or_assign(arg->name, *arg);
      continue;
    }
    if (args_.contains(*param))
      return refuse(
          diag(DiagKind::BadArgument, "`{}` is given twice", arg->name).with_span(arg->name_span),
          "--arg", text);
    args_.emplace(*param, *std::move(arg));
  }
  for (const std::string& text : request_.outs) {
    auto out = cut_assignment(text, "FILE.npy");
    if (!out) return refuse(out.error(), "--out", text);
    const auto param = param_named(out->name);
    if (!param) return refuse(unknown(out->name, out->name_span), "--out", text);
    if (!is_buffer(*param))
      return refuse(diag(DiagKind::BadArgument, "`{}` is a scalar, expected a buffer", out->name)
                        .with_span(out->name_span),
                    "--out", text);
    outs_.emplace_back(*param, *std::move(out));
  }
  return read_expectations();
}

bool KernelRun::read_expectations() {
  for (const std::string& text : request_.expects) {
    auto expectation = parse_expectation(text);
    if (!expectation) return refuse(expectation.error(), "--expect", text);
    for (const ExprNode& node : expectation->nodes)
      if (node.op == ExprOp::Name && !param_named(expectation->text_of(node)))
        return refuse(unknown(expectation->text_of(node), node.span), "--expect", text);
    expectations_.push_back(*std::move(expectation));
  }
  return true;
}

bool KernelRun::read_extents() {
  for (std::uint32_t i = 0; i < fn().var_count(); ++i) {
    const ir::Var& var = fn()[ir::VarId{i}];
    if (var.kind != ir::VarKind::Extent) continue;
    const auto given = extents_.find(var.name);
    if (given == extents_.end()) continue;
    const auto value = parse_wide(given->second.value);
    if (!value) return refuse(value.error(), "--arg", given->second.text);
    if (*value < 1 || *value > kMaxArrayBytes)
      return refuse(
          diag(DiagKind::BadExtent, "an extent of {}, expected 1 or more", given->second.value)
              .with_span(given->second.value_span),
          "--arg", given->second.text);
    extent_values_[i] = static_cast<std::int64_t>(*value);
  }
  return true;
}

// --- arguments ----------------------------------------------------------------------------------

bool KernelRun::make_arguments() {
  const std::vector<ir::ParamUse> uses = ir::param_uses(fn());
  arrays_.resize(fn().params.size());
  is_output_.resize(fn().params.size());
  // Files first: their shapes tell extents that others need.
  for (const bool files : {true, false})
    for (std::size_t i = 0; i < fn().params.size(); ++i) {
      const auto arg = args_.find(i);
      const bool is_file = arg != args_.end() && arg->second.value.starts_with('@');
      if (is_file != files) continue;
      is_output_[i] = arg == args_.end() && uses[i].is_output();
      if (!(is_buffer(i) ? make_buffer(i) : make_scalar(i))) return false;
    }
  return true;
}

bool KernelRun::make_scalar(std::size_t param) {
  const auto arg = args_.find(param);
  const ir::Type type = var_of(param).type;
  if (arg == args_.end())
    return refuse(diag(DiagKind::BadArgument, "`{}` has no value; it is a scalar of type `{}`",
                       name_of(param), ir::to_text(type))
                      .with_note(fmt::format("give it with `--arg {}=VALUE`", name_of(param))));
  auto value = parse_scalar(type.dtype, arg->second.value);
  if (!value) {
    Diag problem = std::move(value).error();
    problem.span = arg->second.value_span;
    return refuse(problem, "--arg", arg->second.text);
  }
  arrays_[param] = *std::move(value);
  return true;
}

std::optional<Array> KernelRun::read_array(const Assignment& arg, num::DType dtype) {
  auto array = read_npy(arg.value.substr(1), kMostFileBytes, dtype);
  if (array) return *std::move(array);
  refuse(std::move(array).error().with_span(arg.value_span), "--arg", arg.text);
  return std::nullopt;
}

// The extents of a buffer: constants, those given, or those of a file.
std::optional<std::vector<std::int64_t>> KernelRun::shape_of(std::size_t param, const Array* file) {
  const ir::Buffer& buffer = fn()[ir::buffer_of_param(fn(), param)];
  std::vector<std::int64_t> shape;
  for (std::size_t d = 0; d < buffer.shape.size(); ++d) {
    const ir::Expr& extent = fn()[buffer.shape[d]];
    if (extent.op == ir::ExprOp::IntImm) {
      shape.push_back(extent.integer);
      continue;
    }
    const bool is_var = extent.op == ir::ExprOp::Var;
    const auto known = is_var ? extent_values_.find(extent.var.index) : extent_values_.end();
    if (known != extent_values_.end()) {
      shape.push_back(known->second);
    } else if (is_var && file != nullptr && d < file->shape.size()) {
      shape.push_back(file->shape[d]);
      extent_values_[extent.var.index] = file->shape[d];
    } else {
      const std::string name = is_var ? fn()[extent.var].name : "";
      refuse(diag(DiagKind::BadArgument, "dimension {} of `{}` is {}, which is not known", d,
                  buffer.name, is_var ? fmt::format("`{}`", name) : "computed at launch")
                 .with_note(is_var ? fmt::format("give it with `--arg {}=NUMBER`", name)
                                   : "give the array as a file"));
      return std::nullopt;
    }
  }
  return shape;
}

bool KernelRun::make_buffer(std::size_t param) {
  const ir::BufferId id = ir::buffer_of_param(fn(), param);
  if (!id.valid()) {
    arrays_[param] = Array{.dtype = num::DType::Uint8, .shape = {0}, .data = {}};
    return true;  // a pointer that nothing is matched to has no contents
  }
  const num::DType dtype = fn()[id].dtype;
  const auto arg = args_.find(param);
  const bool is_file = arg != args_.end() && arg->second.value.starts_with('@');
  std::optional<Array> file;
  if (is_file) {
    file = read_array(arg->second, dtype);
    if (!file) return false;
  }
  const auto shape = shape_of(param, file ? &*file : nullptr);
  if (!shape) return false;
  if (file) {
    if (file->shape != *shape)
      return refuse(
          diag(DiagKind::BadArgument, "`{}` holds {}, expected {}", arg->second.value.substr(1),
               shaped_type_text(file->dtype, file->shape), shaped_type_text(dtype, *shape))
              .with_span(arg->second.value_span),
          "--arg", arg->second.text);
    arrays_[param] = *std::move(file);
    return true;
  }
  if (is_output_[param]) {
    auto array = Array::zeros(dtype, *shape);
    if (!array) return refuse(array.error());
    std::fill(array->data.begin(), array->data.end(), kPattern);
    arrays_[param] = *std::move(array);
    return true;
  }
  const bool is_float = num::kind_of(dtype) == num::DTypeKind::Float;
  const std::string spec = arg != args_.end() ? arg->second.value : is_float ? "randn" : "arange";
  auto array = make_array(dtype, *shape, spec, param);
  if (!array) {
    Diag problem = std::move(array).error();
    if (arg == args_.end()) return refuse(problem);
    problem.span = arg->second.value_span;
    return refuse(problem, "--arg", arg->second.text);
  }
  arrays_[param] = *std::move(array);
  return true;
}

// --- the run and what it leaves -----------------------------------------------------------------

void KernelRun::run() {
  std::vector<eval::Argument> arguments;
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    if (is_buffer(i))
      arguments.emplace_back(eval::BufferArg{&arrays_[i].data, arrays_[i].shape, !is_output_[i]});
    else
      arguments.emplace_back(eval::ScalarArg{arrays_[i].bits(0)});
  }
  auto report =
      eval::run(fn(), std::move(arguments), {.seed = seed_, .keep_going = request_.keep_going});
  if (!report) {
    outcome_.errors += kernel_.compiled->render(report.error());
    return;
  }
  finish(*std::move(report));
}

void KernelRun::finish(eval::Report&& run) {
  RunReport& report = outcome_.report.emplace();
  report.path = request_.source.path;
  report.kernel = fn().name;
  report.device = request_.device;
  report.steps = run.steps;
  report.printed = std::move(run.printed);
  add_launch(report);
  report.grid = run.grid;
  add_findings(report, run);
  for (std::size_t i = 0; i < arrays_.size(); ++i)
    if (is_buffer(i) && ir::buffer_of_param(fn(), i).valid())
      report.buffers.push_back(report_buffer(i, run.written[i]));
  check_expectations(report);
  write_files(report);
}

void KernelRun::add_launch(RunReport& report) const {
  const auto shape = ir::launch_shape(fn());
  if (!shape) return;
  report.block = shape->block;
  report.cluster = shape->cluster;
}

void KernelRun::add_findings(RunReport& report, const eval::Report& run) const {
  const SourceText& source = kernel_.compiled->source;
  report.findings_left_out = run.dropped;
  for (const eval::Finding& finding : run.findings) {
    RunFinding out{.check = std::string(eval::name_of(finding.check)),
                   .text = finding.text,
                   .count = finding.times,
                   .note = finding.note};
    if (finding.span.known) {
      const auto at = source.position(finding.span.begin);
      out.line = at.line;
      out.column = at.column;
      out.source = source.line(at.line);
    }
    if (finding.note_span.known) {
      const auto at = source.position(finding.note_span.begin);
      out.note_line = at.line;
      out.note_column = at.column;
      out.note_source = source.line(at.line);
    }
    report.findings.push_back(std::move(out));
  }
}

BufferReport KernelRun::report_buffer(std::size_t param, const std::vector<bool>& written) const {
  const Array& array = arrays_[param];
  BufferReport out{.param = param,
                   .name = name_of(param),
                   .dtype = array.dtype,
                   .shape = array.shape,
                   .is_output = is_output_[param]};
  const std::int64_t size = array.size();
  const auto is_defined = [&](std::int64_t i) {
    return !out.is_output || written[static_cast<std::size_t>(i)];
  };
  for (std::int64_t i = 0; i < size; ++i)
    if (!is_defined(i) && out.undefined++ == 0) out.first_undefined = index_of(array.shape, i);
  for (std::int64_t i = 0; i < std::min<std::int64_t>(size, kShownElements); ++i)
    out.first.push_back(is_defined(i) ? array.text(i) : "?");
  return out;
}

void KernelRun::check_expectations(RunReport& report) {
  for (const Expectation& expectation : expectations_) {
    const FindArray find = [&](std::string_view name) -> const Array* {
      return &arrays_[*param_named(name)];
    };
    auto result = check_expectation(expectation, find);
    if (result)
      report.expectations.push_back({expectation.text, *std::move(result)});
    else
      refuse(result.error(), "--expect", expectation.text);
  }
}

void KernelRun::write_files(RunReport& report) {
  for (const auto& [param, out] : outs_) {
    const auto written = write_file_atomically(out.value, to_npy(arrays_[param]));
    if (!written) {
      refuse(written.error());
      continue;
    }
    for (BufferReport& buffer : report.buffers)
      if (buffer.param == param) buffer.file = out.value;
  }
}

RunOutcome no_memory() {
  return {.errors = render(diag(DiagKind::TooLarge, "the host has no memory for this run"))};
}

}  // namespace

bool RunReport::good() const {
  return findings.empty() &&
         std::all_of(expectations.begin(), expectations.end(),
                     [](const ExpectReport& each) { return each.result.holds; });
}

RunOutcome run_kernel(const RunRequest& request) {
  try {
    return KernelRun(request).go();
  } catch (const std::bad_alloc&) {
    return no_memory();
  } catch (const std::length_error&) {  // what a vector says to a size beyond all memory
    return no_memory();
  }
}

}  // namespace ww::driver
