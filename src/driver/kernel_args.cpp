// SPDX-License-Identifier: Apache-2.0
#include "driver/kernel_args.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/source.h"
#include "base/suggest.h"
#include "driver/array_spec.h"
#include "driver/assignment.h"
#include "driver/npy.h"
#include "driver/typed_text.h"
#include "ir/param_use.h"

namespace ww::driver {
namespace {

constexpr std::size_t kMostFileBytes = std::size_t{1} << 33U;
// What an output holds before the run. No finding depends on it; it makes a forgotten element stand
// out in a file.
constexpr std::byte kPattern{0xCB};

bool is_file(const Assignment& given) { return given.value.starts_with('@'); }

}  // namespace

/// One request from its texts to arrays, step by step. A step that fails has said why.
class ArgReader {
 public:
  ArgReader(const ir::Function& function, const ArgRequest& request, std::string& errors)
      : function_(function), request_(request), errors_(errors), out_(function) {}

  std::optional<KernelArgs> go() {
    if (read_args() && read_outs() && read_expectations() && read_extents() && make_arrays())
      return std::move(out_);
    return std::nullopt;
  }

 private:
  // Steps
  bool read_args();
  bool read_outs();
  bool read_expectations();
  bool read_extents();
  bool make_arrays();

  // Parts of them
  bool make_scalar(std::size_t param);
  bool make_buffer(std::size_t param);
  bool take_file(std::size_t param, const Assignment& arg);
  bool take_words(std::size_t param, std::vector<std::int64_t> shape);
  std::optional<std::vector<std::int64_t>> shape_of(std::size_t param, const Array* file);
  std::optional<std::int64_t> extent_of(const ir::Expr& extent, const Array* file, std::size_t dim);
  [[nodiscard]] bool is_extent(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> known_names() const;
  [[nodiscard]] Diag unknown(std::string_view name, Span span) const;
  [[nodiscard]] const Assignment* given(std::size_t param) const {
    const auto found = args_.find(param);
    return found == args_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] const ir::Var& var_of(std::size_t param) const {
    return function_[function_.params[param].var];
  }

  bool refuse(const Diag& problem) {
    errors_ += render(problem);
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
  KernelArgs out_;
  std::map<std::size_t, Assignment> args_;               // by parameter
  std::map<std::string, Assignment> extents_;            // by name
  std::map<std::uint32_t, std::int64_t> extent_values_;  // by variable
};

// --- names --------------------------------------------------------------------------------------

std::vector<std::string> ArgReader::known_names() const {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < function_.params.size(); ++i) {
    out.push_back(out_.name_of(i));
    if (var_of(i).name != out.back()) out.push_back(var_of(i).name);
  }
  return out;
}

Diag ArgReader::unknown(std::string_view name, Span span) const {
  const std::vector<std::string> names = known_names();
  const std::vector<std::string_view> views(names.begin(), names.end());
  return diag(DiagKind::UnknownName, "kernel `{}` has no parameter `{}`{}", function_.name, name,
              did_you_mean(name, views))
      .with_note(fmt::format("its parameters: {}", fmt::join(names, ", ")))
      .with_span(span);
}

bool ArgReader::is_extent(std::string_view name) const {
  for (std::uint32_t i = 0; i < function_.var_count(); ++i) {
    const ir::Var& var = function_[ir::VarId{i}];
    if (var.kind == ir::VarKind::Extent && var.name == name) return true;
  }
  return false;
}

bool ArgReader::read_args() {
  for (const std::string& text : request_.args) {
    auto arg = cut_assignment(text, "SPEC");
    if (!arg) return refuse(arg.error(), "--arg", text);
    const auto param = out_.find(arg->name);
    if (!param && !is_extent(arg->name))
      return refuse(unknown(arg->name, arg->name_span), "--arg", text);
    if (param ? args_.contains(*param) : extents_.contains(arg->name))
      return refuse(diag(DiagKind::BadArgument, "`{}` is given twice", arg->name), *arg,
                    arg->name_span);
    if (param) {
      args_.emplace(*param, *std::move(arg));
    } else {
      extents_.emplace(arg->name, *std::move(arg));
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
    if (!out_.is_buffer(*param))
      return refuse(diag(DiagKind::BadArgument, "`{}` is a scalar, expected a buffer", out->name)
                        .with_span(out->name_span),
                    "--out", text);
    out_.outs_.push_back({*param, out->value});
  }
  return true;
}

bool ArgReader::read_expectations() {
  for (const std::string& text : request_.expects) {
    auto expectation = parse_expectation(text);
    if (!expectation) return refuse(expectation.error(), "--expect", text);
    for (const ExprNode& node : expectation->nodes)
      if (node.op == ExprOp::Name && !out_.find(expectation->text_of(node)))
        return refuse(unknown(expectation->text_of(node), node.span), "--expect", text);
    out_.expectations_.push_back(*std::move(expectation));
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
    if (*value < 1 || *value > kMaxArrayBytes)
      return refuse(diag(DiagKind::BadExtent, "an extent of {}, expected 1 or more", arg.value),
                    arg, arg.value_span);
    extent_values_[i] = static_cast<std::int64_t>(*value);
  }
  return true;
}

// --- arrays -------------------------------------------------------------------------------------

bool ArgReader::make_arrays() {
  const std::vector<ir::ParamUse> uses = ir::param_uses(function_);
  out_.arrays_.resize(function_.params.size());
  out_.is_output_.resize(function_.params.size());
  // Files first: their shapes tell extents that others need.
  for (const bool files : {true, false})
    for (std::size_t i = 0; i < function_.params.size(); ++i) {
      const Assignment* const arg = given(i);
      if ((arg != nullptr && is_file(*arg)) != files) continue;
      out_.is_output_[i] = arg == nullptr && uses[i].is_output();
      if (!(out_.is_buffer(i) ? make_buffer(i) : make_scalar(i))) return false;
    }
  return true;
}

bool ArgReader::make_scalar(std::size_t param) {
  const Assignment* const arg = given(param);
  const ir::Type type = var_of(param).type;
  const std::string name = out_.name_of(param);
  if (arg == nullptr)
    return refuse(diag(DiagKind::BadArgument, "`{}` has no value; it is a scalar of type `{}`",
                       name, ir::to_text(type))
                      .with_note(fmt::format("give it with `--arg {}=VALUE`", name)));
  auto value = parse_scalar(type.dtype, arg->value);
  if (!value) return refuse(std::move(value).error(), *arg, arg->value_span);
  out_.arrays_[param] = *std::move(value);
  return true;
}

bool ArgReader::make_buffer(std::size_t param) {
  if (!ir::buffer_of_param(function_, param).valid()) {
    // A pointer that nothing is matched to has no contents.
    out_.arrays_[param] = Array{.dtype = num::DType::Uint8, .shape = {0}, .data = {}};
    return true;
  }
  const Assignment* const arg = given(param);
  if (arg != nullptr && is_file(*arg)) return take_file(param, *arg);
  auto shape = shape_of(param, nullptr);
  return shape && take_words(param, *std::move(shape));
}

bool ArgReader::take_file(std::size_t param, const Assignment& arg) {
  const num::DType dtype = function_[ir::buffer_of_param(function_, param)].dtype;
  auto file = read_npy(arg.value.substr(1), kMostFileBytes, dtype);
  if (!file) return refuse(std::move(file).error().with_span(arg.value_span), "--arg", arg.text);
  const auto shape = shape_of(param, &*file);
  if (!shape) return false;
  if (file->shape != *shape)
    return refuse(diag(DiagKind::BadArgument, "`{}` holds {}, expected {}", arg.value.substr(1),
                       shaped_type_text(file->dtype, file->shape), shaped_type_text(dtype, *shape)),
                  arg, arg.value_span);
  out_.arrays_[param] = *std::move(file);
  return true;
}

bool ArgReader::take_words(std::size_t param, std::vector<std::int64_t> shape) {
  const num::DType dtype = function_[ir::buffer_of_param(function_, param)].dtype;
  const Assignment* const arg = given(param);
  const bool is_float = num::kind_of(dtype) == num::DTypeKind::Float;
  const std::string spec = arg != nullptr ? arg->value : is_float ? "randn" : "arange";
  auto array = out_.is_output_[param] ? Array::zeros(dtype, std::move(shape))
                                      : make_array(dtype, std::move(shape), spec, param);
  if (!array && arg != nullptr) return refuse(std::move(array).error(), *arg, arg->value_span);
  if (!array) return refuse(array.error());
  if (out_.is_output_[param]) std::fill(array->data.begin(), array->data.end(), kPattern);
  out_.arrays_[param] = *std::move(array);
  return true;
}

// A constant, an extent that is given, or that of a file.
std::optional<std::int64_t> ArgReader::extent_of(const ir::Expr& extent, const Array* file,
                                                 std::size_t dim) {
  if (extent.op == ir::ExprOp::IntImm) return extent.integer;
  if (extent.op != ir::ExprOp::Var) return std::nullopt;
  if (const auto known = extent_values_.find(extent.var.index); known != extent_values_.end())
    return known->second;
  if (file == nullptr || dim >= file->shape.size()) return std::nullopt;
  return extent_values_[extent.var.index] = file->shape[dim];
}

std::optional<std::vector<std::int64_t>> ArgReader::shape_of(std::size_t param, const Array* file) {
  const ir::Buffer& buffer = function_[ir::buffer_of_param(function_, param)];
  std::vector<std::int64_t> shape;
  for (std::size_t d = 0; d < buffer.shape.size(); ++d) {
    const ir::Expr& extent = function_[buffer.shape[d]];
    if (const auto value = extent_of(extent, file, d)) {
      shape.push_back(*value);
      continue;
    }
    const bool is_var = extent.op == ir::ExprOp::Var;
    const std::string name = is_var ? function_[extent.var].name : "";
    refuse(diag(DiagKind::BadArgument, "dimension {} of `{}` is {}, which is not known", d,
                buffer.name, is_var ? fmt::format("`{}`", name) : "computed at launch")
               .with_note(is_var ? fmt::format("give it with `--arg {}=NUMBER`", name)
                                 : "give the array as a file"));
    return std::nullopt;
  }
  return shape;
}

// --- the result ---------------------------------------------------------------------------------

std::optional<KernelArgs> KernelArgs::read(const ir::Function& function, const ArgRequest& request,
                                           std::string& errors) {
  return ArgReader(function, request, errors).go();
}

bool KernelArgs::is_buffer(std::size_t param) const {
  return (*function_)[function_->params[param].var].type.is_pointer();
}

std::string KernelArgs::name_of(std::size_t param) const {
  const ir::BufferId buffer = ir::buffer_of_param(*function_, param);
  const bool is_named = buffer.valid() && !(*function_)[buffer].name.empty();
  return is_named ? (*function_)[buffer].name : (*function_)[function_->params[param].var].name;
}

std::optional<std::size_t> KernelArgs::find(std::string_view name) const {
  if (!name.starts_with('$')) return ir::find_param(*function_, name);
  const auto number = parse_wide(name.substr(1));
  if (!number || *number < 0 || *number >= static_cast<Wide>(function_->params.size()))
    return std::nullopt;
  return static_cast<std::size_t>(*number);
}

}  // namespace ww::driver
