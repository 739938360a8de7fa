// SPDX-License-Identifier: Apache-2.0
#include "eval/launch/host_values.h"

#include <utility>

#include "base/join.h"
#include "base/wide.h"

namespace ww::eval {
namespace {

using ir::Expr;
using ir::ExprId;
using ir::ExprOp;
using ir::Function;

constexpr std::size_t kFewArgs = 3;

std::optional<Word> host_operator(const Function& f, const HostValues& values, const Expr& expr) {
  const auto a = host_value(f, values, expr.args[0]);
  const auto b = host_value(f, values, expr.args[1]);
  if (!a || !b) return std::nullopt;
  Word out = 0;
  binary(expr.op, f[expr.args[0]].type.dtype, {&*a, 1}, {&*b, 1}, {&out, 1});
  return out;
}

std::optional<Word> host_choice(const Function& f, const HostValues& values, const Expr& expr) {
  const auto condition = host_value(f, values, expr.args[0]);
  if (!condition) return std::nullopt;
  return host_value(f, values, expr.args[*condition != 0 ? 1 : 2]);
}

bool is_host_operator(ExprOp op) {
  const ir::ExprGroup group = ir::group_of(op);
  return ir::arity_of(op) == 2 &&
         (group == ir::ExprGroup::Infix || group == ir::ExprGroup::Compare ||
          group == ir::ExprGroup::Logic || op == ExprOp::Min || op == ExprOp::Max ||
          op == ExprOp::TruncDiv || op == ExprOp::TruncMod);
}

class ArgumentBinder {
 public:
  ArgumentBinder(const Function& function, std::span<const Argument> arguments)
      : function_(function), arguments_(arguments), values_(function.var_count()) {}

  Result<HostValues> bind() {
    if (arguments_.size() != function_.params.size())
      return fail(DiagKind::BadArgument, "`{}` was given {} arguments: it has {} parameters",
                  function_.name, arguments_.size(), function_.params.size());
    for (std::size_t i = 0; i < arguments_.size(); ++i) WW_TRY_VOID(bind_scalar(i));
    for (std::size_t i = 0; i < arguments_.size(); ++i) WW_TRY_VOID(bind_extents(i));
    for (const ir::StmtId id : function_.host) bind_let(function_[id]);
    for (std::size_t i = 0; i < arguments_.size(); ++i) WW_TRY_VOID(check_array(i));
    return std::move(values_);
  }

 private:
  [[nodiscard]] const std::string& name_of(std::size_t param) const {
    return function_[function_.params[param].var].name;
  }
  [[nodiscard]] bool is_array(std::size_t param) const {
    return function_[function_.params[param].var].type.is_pointer();
  }

  Result<void> bind_scalar(std::size_t param) {
    const auto* scalar = std::get_if<ScalarArg>(&arguments_[param]);
    if ((scalar == nullptr) != is_array(param))
      return fail(DiagKind::BadArgument, "`{}` was given {}: it is {}", name_of(param),
                  scalar != nullptr ? "a scalar" : "an array",
                  is_array(param) ? "a buffer" : "a scalar");
    if (scalar == nullptr) return {};
    const ir::VarId var = function_.params[param].var;
    values_[var.index] = scalar->bits & low_mask(num::bits_of(function_[var].type.dtype));
    return {};
  }

  // Buffers matched to a parameter, all of them.
  template <typename Visit>
  Result<void> each_buffer(std::size_t param, const Visit& visit) const {
    for (std::uint32_t i = 0; i < function_.buffer_count(); ++i) {
      const ir::Buffer& buffer = function_[ir::BufferId{i}];
      const bool is_of_param =
          buffer.origin == ir::BufferOrigin::Param && buffer.param == function_.params[param].var;
      if (is_of_param) WW_TRY_VOID(visit(buffer));
    }
    return {};
  }

  Result<void> bind_extents(std::size_t param) {
    if (!is_array(param)) return {};
    const auto& shape = std::get<BufferArg>(arguments_[param]).shape;
    return each_buffer(param, [&](const ir::Buffer& buffer) -> Result<void> {
      if (shape.size() != buffer.shape.size()) return {};
      for (std::size_t d = 0; d < shape.size(); ++d) {
        const Expr& extent = function_[buffer.shape[d]];
        if (extent.op != ExprOp::Var || function_[extent.var].kind != ir::VarKind::Extent) continue;
        std::optional<Word>& value = values_[extent.var.index];
        const Word given = from_int(extent.type.dtype, shape[d]);
        if (value && *value != given)
          return fail(DiagKind::BadArgument,
                      "`{}` is {} by another array: `{}` has an extent of {} for it",
                      function_[extent.var].name, *value, name_of(param), shape[d]);
        value = given;
      }
      return {};
    });
  }

  void bind_let(const ir::Stmt& stmt) {
    if (stmt.kind != ir::StmtKind::Bind) return;
    values_[stmt.var.index] = host_value(function_, values_, stmt.expr);
  }

  // The first buffer of the parameter says how many elements its array has.
  Result<void> check_array(std::size_t param) const {
    if (!is_array(param)) return {};
    const auto& array = std::get<BufferArg>(arguments_[param]);
    if (array.bytes == nullptr && !array.size)
      return fail(DiagKind::BadArgument, "`{}` was given no memory", name_of(param));
    bool is_first = true;
    return each_buffer(param, [&](const ir::Buffer& buffer) -> Result<void> {
      if (!std::exchange(is_first, false)) return {};
      std::vector<std::int64_t> shape;
      for (const ExprId id : buffer.shape) {
        const auto extent = host_value(function_, values_, id);
        if (!extent)
          return fail(DiagKind::BadArgument,
                      "an extent of `{}` is not known: its array has the shape [{}]", buffer.name,
                      join(array.shape, ", "));
        shape.push_back(as_int(function_[id].type.dtype, *extent));
      }
      return check_size(param, buffer, shape, array);
    });
  }

  Result<void> check_size(std::size_t param, const ir::Buffer& buffer,
                          const std::vector<std::int64_t>& shape, const BufferArg& array) const {
    if (!array.shape.empty() && array.shape != shape)
      return fail(DiagKind::BadArgument, "`{}` was given an array of shape [{}]: expected [{}]",
                  name_of(param), join(array.shape, ", "), join(shape, ", "));
    std::int64_t size = 1;
    for (const std::int64_t extent : shape) {
      const auto next = checked_mul(size, extent);
      if (extent < 0 || !next || *next > layout::kMaxSize)
        return fail(DiagKind::BadArgument, "`{}` has the shape [{}]", name_of(param),
                    join(shape, ", "));
      size = *next;
    }
    const std::int64_t bytes = (size * storage_bits(buffer.dtype) + 7) / 8;
    const std::size_t given = array.size ? *array.size : array.bytes->size();
    if (static_cast<std::int64_t>(given) != bytes)
      return fail(DiagKind::BadArgument, "`{}` was given {} bytes: its {} elements take {}",
                  name_of(param), given, size, bytes);
    return {};
  }

  const Function& function_;
  std::span<const Argument> arguments_;
  HostValues values_;
};

}  // namespace

std::optional<Word> host_value(const Function& f, const HostValues& values, ExprId id) {
  const Expr& expr = f[id];
  if (!expr.type.is_scalar()) return std::nullopt;
  switch (expr.op) {
    case ExprOp::IntImm:
      return from_int(expr.type.dtype, expr.integer);
    case ExprOp::FloatImm:
      return from_real(expr.type.dtype, expr.real);
    case ExprOp::Var:
      return values[expr.var.index];
    case ExprOp::Select:
    case ExprOp::IfThenElse:
      return host_choice(f, values, expr);
    default:
      break;
  }
  if (is_host_operator(expr.op) && expr.args.size() < kFewArgs)
    return host_operator(f, values, expr);
  if (expr.args.size() != 1) return std::nullopt;
  const auto value = host_value(f, values, expr.args[0]);
  if (!value) return std::nullopt;
  if (expr.op == ExprOp::Cast) return convert(f[expr.args[0]].type.dtype, expr.type.dtype, *value);
  if (ir::group_of(expr.op) != ir::ExprGroup::Prefix) return std::nullopt;
  Word out = 0;
  unary(expr.op, expr.type.dtype, {&*value, 1}, {&out, 1});
  return out;
}

Result<HostValues> bind_arguments(const Function& function, std::span<const Argument> arguments) {
  return ArgumentBinder(function, arguments).bind();
}

}  // namespace ww::eval
