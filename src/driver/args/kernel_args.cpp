// SPDX-License-Identifier: Apache-2.0
#include "driver/args/kernel_args.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/join.h"
#include "base/source.h"
#include "base/suggest.h"
#include "driver/args/array_spec.h"
#include "driver/args/file_plan.h"
#include "driver/args/npy.h"
#include "driver/args/text.h"
#include "eval/launch/launch.h"
#include "eval/value/arithmetic.h"
#include "ir/param_use.h"

namespace ww::driver {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 33U;
// What an output holds before the run. No finding depends on it; it makes a forgotten element stand
// out in a file.
constexpr std::byte kPattern{0xCB};

bool is_file(const Assignment& given) { return given.value.starts_with('@'); }

std::int64_t most_extent(num::DType type) {
  return static_cast<std::int64_t>(std::min<Wide>(int_range(type).max, kMaxArrayBytes));
}

// `$2`, a parameter's name, or that of its buffer.
std::optional<std::size_t> param_named(const ir::Function& function, std::string_view name) {
  if (!name.starts_with('$')) return ir::find_param(function, name);
  const auto number = parse_wide(name.substr(1));
  if (!number || *number < 0 || *number >= static_cast<Wide>(function.params.size()))
    return std::nullopt;
  return static_cast<std::size_t>(*number);
}

/// One request from its texts to arrays, step by step. A step that fails has said why.
class ArgReader {
 public:
  ArgReader(const ir::Function& function, const ArgRequest& request, std::string& errors)
      : function_(function), request_(request), errors_(errors), values_(function.var_count()) {
    out_.find = [&function](std::string_view name) { return param_named(function, name); };
    for (std::size_t i = 0; i < function.params.size(); ++i)
      out_.all.push_back(
          {.name = ir::name_of_param(function, i), .is_buffer = var_of(i).type.is_pointer()});
  }

  std::optional<LaunchValues> go() {
    if (read_args() && read_outs() && read_expectations() && make_scalars() && read_extents() &&
        read_files() && fits() && make_buffers()) {
      out_.keep_before();
      return std::move(out_);
    }
    return std::nullopt;
  }

 private:
  // Steps
  bool read_args();
  bool read_outs();
  bool read_expectations();
  bool make_scalars();
  bool read_extents();
  bool read_files();
  bool fits();
  bool make_buffers();

  // Parts of them
  bool make_scalar(std::size_t param);
  bool make_buffer(std::size_t param);
  bool read_file(std::size_t param, const Assignment& arg);
  bool check_file(std::size_t param, const Assignment& arg);
  Result<FileSpec> spec_of(std::size_t param, const Assignment& arg) const;
  bool take_words(std::size_t param, std::vector<std::int64_t> shape);
  std::optional<std::vector<std::int64_t>> shape_of(std::size_t param, std::int64_t least);
  void bind_lets();
  [[nodiscard]] ir::VarId missing_in(ir::ExprId expr) const;
  [[nodiscard]] Diag unknown_extent(std::size_t dim, const ir::Buffer& buffer) const;
  [[nodiscard]] std::vector<std::string> known_names() const;
  [[nodiscard]] Diag unknown(std::string_view name, Span span) const;
  [[nodiscard]] const Assignment* given(std::size_t param) const {
    const auto found = args_.find(param);
    return found == args_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] bool is_buffer(std::size_t param) const { return out_.all[param].is_buffer; }
  [[nodiscard]] const std::string& name_of(std::size_t param) const { return out_.all[param].name; }
  [[nodiscard]] const ir::Var& var_of(std::size_t param) const {
    return function_[function_.params[param].var];
  }

  bool refuse(const Diag& problem) {
    errors_ += problem.span.known && request_.show ? request_.show(problem) : render(problem);
    return false;
  }
  bool refuse(const Diag& problem, std::string_view option, std::string_view text) {
    errors_ += render(problem, SourceText(std::string(option), std::string(text)));
    return false;
  }
  bool refuse(Diag problem, const Assignment& arg, Span span) {
    problem.span = span;
    return refuse(problem, "--arg", arg.text);
  }

  const ir::Function& function_;
  const ArgRequest& request_;
  std::string& errors_;
  LaunchValues out_;
  std::map<std::size_t, Assignment> args_;     // by parameter
  std::map<std::string, Assignment> extents_;  // by name
  eval::HostValues values_;                    // scalars, extents, what is bound before the launch
};

// --- names --------------------------------------------------------------------------------------

std::vector<std::string> ArgReader::known_names() const {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < function_.params.size(); ++i) {
    out.push_back(name_of(i));
    if (var_of(i).name != out.back()) out.push_back(var_of(i).name);
  }
  return out;
}

Diag ArgReader::unknown(std::string_view name, Span span) const {
  const std::vector<std::string> names = known_names();
  const std::vector<std::string_view> views(names.begin(), names.end());
  return diag_at(span, DiagKind::UnknownName, "kernel `{}` has no parameter `{}`{}", function_.name,
                 name, did_you_mean(name, views))
      .with_note(fmt::format("its parameters: {}", join(names, ", ")));
}

bool ArgReader::read_args() {
  for (const std::string& text : request_.args) {
    auto arg = cut_assignment(text, "SPEC");
    if (!arg) return refuse(arg.error(), "--arg", text);
    const auto param = out_.find(arg->name);
    if (!param && !ir::find_extent(function_, arg->name).valid())
      return refuse(unknown(arg->name, arg->name_span), "--arg", text);
    if (param ? args_.contains(*param) : extents_.contains(arg->name))
      return refuse(diag(DiagKind::BadArgument, "`{}` is given twice", arg->name), *arg,
                    arg->name_span);
    if (param) {
      args_.emplace(*param, *std::move(arg));
    } else {
      const std::string name = arg->name;
      extents_.emplace(name, *std::move(arg));
    }
  }
  return true;
}

bool ArgReader::read_outs() {
  for (const std::string& text : request_.outs) {
    const auto out = cut_assignment(text, "FILE.npy");
    if (!out) return refuse(out.error(), "--out", text);
    const auto param = out_.find(out->name);
    if (!param) return refuse(unknown(out->name, out->name_span), "--out", text);
    if (!is_buffer(*param))
      return refuse(diag_at(out->name_span, DiagKind::BadArgument,
                            "`{}` is a scalar, expected a buffer", out->name),
                    "--out", text);
    out_.outs.push_back({*param, out->value});
  }
  return true;
}

bool ArgReader::read_expectations() {
  for (const std::string& text : request_.expects) {
    auto expectation = parse_expectation(text);
    if (!expectation) return refuse(expectation.error(), "--expect", text);
    for (const ExprNode& node : expectation->nodes) {
      const auto name = expectation->name_of(node);
      if (name && !out_.find(*name)) return refuse(unknown(*name, node.span), "--expect", text);
    }
    out_.expectations.push_back(*std::move(expectation));
  }
  return true;
}

bool ArgReader::read_extents() {
  for (std::uint32_t i = 0; i < function_.var_count(); ++i) {
    const ir::Var& var = function_[ir::VarId{i}];
    if (var.kind != ir::VarKind::Extent) continue;
    const auto found = extents_.find(var.name);
    if (found == extents_.end()) continue;
    const Assignment& arg = found->second;
    const auto value = parse_wide(arg.value);
    if (!value) return refuse(value.error(), "--arg", arg.text);
    const std::int64_t most = most_extent(var.type.dtype);
    if (*value < 1 || *value > most)
      return refuse(diag(DiagKind::BadExtent, "an extent of {}, expected 1 to {}", arg.value, most),
                    arg, arg.value_span);
    values_[i] = eval::from_int(var.type.dtype, static_cast<std::int64_t>(*value));
  }
  return true;
}

// --- arrays -------------------------------------------------------------------------------------

bool ArgReader::make_scalars() {
  for (std::size_t i = 0; i < function_.params.size(); ++i)
    if (!is_buffer(i) && !make_scalar(i)) return false;
  return true;
}

// All of them before the first shape is wanted: each may tell extents that others need.
bool ArgReader::read_files() {
  for (const auto& [param, arg] : args_)
    if (is_buffer(param) && is_file(arg) && !read_file(param, arg)) return false;
  bind_lets();
  return true;
}

// Before anything is made: a shape is quickly written that no host has memory for.
bool ArgReader::fits() {
  std::int64_t total = 0;
  std::int64_t most = 0;
  Span largest;
  std::string parts;
  for (std::size_t i = 0; i < function_.params.size(); ++i) {
    const ir::BufferId id = ir::buffer_of_param(function_, i);
    if (!is_buffer(i) || !id.valid()) continue;
    const Assignment* const arg = given(i);
    const auto shape = shape_of(i, arg != nullptr && is_file(*arg) ? 0 : 1);
    if (!shape) return false;
    const auto bytes = byte_size(function_[id].dtype, *shape);
    if (!bytes) return refuse(Diag(bytes.error()).with_span(function_[id].span));
    if (*bytes > most) largest = function_[id].span;
    most = std::max(most, *bytes);
    total += *bytes;
    parts += fmt::format("{}`{}` {}", parts.empty() ? "" : ", ", name_of(i), *bytes);
  }
  if (total <= kMaxHostBytes || !request_.most_bytes) return true;
  const ByteLimit limit = request_.most_bytes();
  if (total <= limit.bytes) return true;
  return refuse(diag_at(largest, DiagKind::TooLarge,
                        "the arrays of `{}` take {} bytes; {} has {} at most", function_.name,
                        total, limit.whose, limit.bytes)
                    .with_note(fmt::format("bytes by parameter: {}", parts)));
}

bool ArgReader::make_buffers() {
  const std::vector<ir::ParamUse> uses = ir::param_uses(function_);
  for (std::size_t i = 0; i < function_.params.size(); ++i) {
    out_.all[i].is_output = given(i) == nullptr && uses[i].is_output();
    if (is_buffer(i) && !make_buffer(i)) return false;
  }
  return true;
}

bool ArgReader::make_scalar(std::size_t param) {
  const Assignment* const arg = given(param);
  const ir::Type type = var_of(param).type;
  const std::string name = name_of(param);
  if (arg == nullptr)
    return refuse(diag(DiagKind::BadArgument, "`{}` has no value; it is a scalar of type `{}`",
                       name, ir::to_text(type))
                      .with_note(fmt::format("give it with `--arg {}=VALUE`", name)));
  auto value = parse_scalar(type.dtype, arg->value);
  if (!value) return refuse(std::move(value).error(), *arg, arg->value_span);
  values_[function_.params[param].var.index] = value->bits(0);
  out_.all[param].array = *std::move(value);
  return true;
}

bool ArgReader::make_buffer(std::size_t param) {
  if (!ir::buffer_of_param(function_, param).valid()) {
    // A pointer that nothing is matched to has no contents.
    out_.all[param].array = Array{.dtype = num::DType::Uint8, .shape = {0}, .data = {}};
    return true;
  }
  const Assignment* const arg = given(param);
  if (arg != nullptr && is_file(*arg)) return check_file(param, *arg);
  auto shape = shape_of(param, 1);
  return shape && take_words(param, *std::move(shape));
}

// A type that is given must be the buffer's: nothing is converted.
Result<FileSpec> ArgReader::spec_of(std::size_t param, const Assignment& arg) const {
  const ir::Buffer& buffer = function_[ir::buffer_of_param(function_, param)];
  FileSpec spec = WW_TRY(parse_file_spec(
      {std::string_view(arg.text).substr(arg.value_span.begin + 1), arg.value_span.begin + 1}));
  if (!spec.type || *spec.type == buffer.dtype) return spec;
  return fail(diag_at(spec.type_span, DiagKind::BadArgument,
                      "`{}` is read as `{}`; `{}` holds `{}`", spec.path, num::name_of(*spec.type),
                      name_of(param), num::name_of(buffer.dtype))
                  .with_note(fmt::format("without a type it is read as `{}`, raw items too",
                                         num::name_of(buffer.dtype))));
}

// The file gives the extents that are not given otherwise.
bool ArgReader::read_file(std::size_t param, const Assignment& arg) {
  const ir::BufferId id = ir::buffer_of_param(function_, param);
  if (!id.valid()) return true;
  const ir::Buffer& buffer = function_[id];
  const auto spec = spec_of(param, arg);
  if (!spec) return refuse(spec.error(), "--arg", arg.text);
  auto file = read_npy(spec->path, kMaxFileBytes, buffer.dtype);
  if (!file) return refuse(std::move(file).error().with_span(arg.value_span), "--arg", arg.text);
  for (std::size_t d = 0; d < std::min(buffer.shape.size(), file->shape.size()); ++d) {
    const ir::Expr& extent = function_[buffer.shape[d]];
    if (extent.op != ir::ExprOp::Var || function_[extent.var].kind != ir::VarKind::Extent) continue;
    const std::int64_t most = most_extent(extent.type.dtype);
    if (file->shape[d] > most)
      return refuse(diag(DiagKind::BadExtent, "`{}` has an extent of {}, expected at most {}",
                         spec->path, file->shape[d], most),
                    arg, arg.value_span);
    std::optional<eval::Word>& value = values_[extent.var.index];
    if (!value) value = eval::from_int(extent.type.dtype, file->shape[d]);
  }
  out_.all[param].array = *std::move(file);
  return true;
}

bool ArgReader::check_file(std::size_t param, const Assignment& arg) {
  const Array& file = out_.all[param].array;
  const auto shape = shape_of(param, 0);
  if (!shape) return false;
  if (file.shape == *shape) return true;
  return refuse(
      diag(DiagKind::BadArgument, "`{}` holds {}, expected {}", spec_of(param, arg)->path,
           shaped_type_text(file.dtype, file.shape), shaped_type_text(file.dtype, *shape)),
      arg, arg.value_span);
}

bool ArgReader::take_words(std::size_t param, std::vector<std::int64_t> shape) {
  const num::DType dtype = function_[ir::buffer_of_param(function_, param)].dtype;
  const Assignment* const arg = given(param);
  const bool is_float = num::kind_of(dtype) == num::DTypeKind::Float;
  const std::string spec = arg != nullptr ? arg->value : is_float ? "randn" : "arange";
  auto array = out_.all[param].is_output ? Array::zeros(dtype, std::move(shape))
                                         : make_array(dtype, std::move(shape), spec, param);
  if (!array && arg != nullptr) return refuse(std::move(array).error(), *arg, arg->value_span);
  if (!array) return refuse(array.error());
  if (out_.all[param].is_output) std::ranges::fill(array->data, kPattern);
  out_.all[param].array = *std::move(array);
  return true;
}

// --- shapes -------------------------------------------------------------------------------------

void ArgReader::bind_lets() {
  for (const ir::StmtId id : function_.host)
    if (const ir::Stmt& stmt = function_[id]; stmt.kind == ir::StmtKind::Bind)
      values_[stmt.var.index] = eval::host_value(function_, values_, stmt.expr);
}

// An extent that must be given before the value is known; invalid if there is none.
ir::VarId ArgReader::missing_in(ir::ExprId id) const {
  const ir::Expr& expr = function_[id];
  if (expr.op == ir::ExprOp::Var && !values_[expr.var.index]) {
    if (function_[expr.var].kind == ir::VarKind::Extent) return expr.var;
    for (const ir::StmtId each : function_.host)
      if (const ir::Stmt& stmt = function_[each];
          stmt.kind == ir::StmtKind::Bind && stmt.var == expr.var)
        return missing_in(stmt.expr);
  }
  for (const ir::ExprId arg : expr.args)
    if (const ir::VarId missing = missing_in(arg); missing.valid()) return missing;
  return {};
}

Diag ArgReader::unknown_extent(std::size_t dim, const ir::Buffer& buffer) const {
  const ir::VarId missing = missing_in(buffer.shape[dim]);
  if (!missing.valid())
    return diag(DiagKind::BadArgument, "dimension {} of `{}` is not known before the launch", dim,
                buffer.name)
        .with_note("it must follow from constants, scalars and extents by operators");
  const std::string& name = function_[missing].name;
  const ir::Expr& extent = function_[buffer.shape[dim]];
  const bool is_itself = extent.op == ir::ExprOp::Var && extent.var == missing;
  return diag(DiagKind::BadArgument, "dimension {} of `{}` is {}`{}`, which is not known", dim,
              buffer.name, is_itself ? "" : "computed from ", name)
      .with_note(fmt::format("give it with `--arg {}=NUMBER`", name));
}

std::optional<std::vector<std::int64_t>> ArgReader::shape_of(std::size_t param,
                                                             std::int64_t least) {
  const ir::Buffer& buffer = function_[ir::buffer_of_param(function_, param)];
  std::vector<std::int64_t> shape;
  for (std::size_t d = 0; d < buffer.shape.size(); ++d) {
    const auto value = eval::host_value(function_, values_, buffer.shape[d]);
    if (!value) {
      refuse(unknown_extent(d, buffer));
      return std::nullopt;
    }
    shape.push_back(eval::as_int(function_[buffer.shape[d]].type.dtype, *value));
    if (shape.back() >= least) continue;
    refuse(diag(DiagKind::BadExtent,
                "dimension {} of `{}` is {} with these arguments, expected {} "
                "or more",
                d, buffer.name, shape.back(), least));
    return std::nullopt;
  }
  return shape;
}

}  // namespace

// --- the result ---------------------------------------------------------------------------------

std::optional<LaunchValues> read_kernel_args(const ir::Function& function,
                                             const ArgRequest& request, std::string& errors) {
  return ArgReader(function, request, errors).go();
}

}  // namespace ww::driver
