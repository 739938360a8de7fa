// SPDX-License-Identifier: Apache-2.0
// A kernel from its `def`: parameters, body, and the function that they make.
#include "script/interp/evaluator.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/fail_at.h"
#include "base/join.h"
#include "ir/simplify/fold.h"
#include "script/api/builtins.h"

namespace ww::script {
namespace {

using What = AnnotationObject::What;

// The element type that the constants give to a tensor.
Result<Value> given_type(Context& in, std::string_view name, const AnnotationObject& a,
                         const Value* given, Span span) {
  std::vector<std::string> taken;
  for (const ir::Type& each : a.types) taken.push_back(ir::to_text(each));
  const std::string choice =
      taken.empty() ? "" : fmt::format("; it is one of {}", join(taken, ", "));
  if (given == nullptr)
    return fail(
        diag_at(span, DiagKind::BadArgument, "the element type of `{}` is open{}", name, choice)
            .with_note(fmt::format(
                "a call in Python takes it from the array; a kernel expression gives it with "
                "`.specialize({}=\"{}\")`",
                name, taken.empty() ? "float32" : taken.front())));
  const ir::Type type = WW_TRY(as_type(in, {*given, span}, "the element type"));
  if (!taken.empty() && std::ranges::find(a.types, type) == a.types.end())
    return fail_at(span, DiagKind::BadArgument, "`{}` was given elements of {}: expected {}", name,
                   ir::to_text(type), join(taken, ", "));
  return *given;
}

// Binds one parameter: a pointer, a scalar, a buffer, or a constant that is given now.
Result<void> bind_param(Context& in, std::string_view name, Symbol symbol, const Value& annotation,
                        const Value* given, Env& env, Span span) {
  ir::Function& f = in.fn();
  if (annotation.is(Kind::DType)) {
    const ir::Type type = WW_TRY(as_type(in, {annotation, span}, "the type"));
    const ir::VarId var = new_var(in, ir::VarKind::Param, type, span, name);
    f.params.push_back({var, {}});
    env.set(symbol, of_expr(ir::var_ref(f, var, span)));
    return {};
  }
  if (annotation.is(Kind::Opaque)) return fail(needs_opaque(in, {annotation, span}));
  if (!annotation.is(Kind::Annotation))
    return fail_at(span, DiagKind::BadType,
                   "parameter `{}` is annotated with {}, expected `T.handle`, `T.Buffer(…)` or a "
                   "type such as `T.int32`",
                   name, type_name(annotation));
  const auto& a = annotation.as<AnnotationObject>();
  switch (a.what) {
    case What::Constexpr:
      if (given == nullptr)
        return fail(
            diag_at(span, DiagKind::BadArgument, "the constant `{}` has no value", name)
                .with_note(fmt::format("decorate the kernel with `@T.jit` or `@ww.kernel`, and "
                                       "give it in the kernel expression: "
                                       "`.specialize({}=…)`",
                                       name)));
      env.set(symbol, *given);
      return {};
    case What::Optional:
      if (given != nullptr && given->is(Kind::None)) {
        env.set(symbol, none());
        return {};
      }
      return bind_param(in, name, symbol, a.inner, given, env, span);
    case What::Handle:
    case What::TensorMap: {
      const ir::Type type = a.what == What::Handle ? a.type : ir::Type::handle();
      const ir::VarId var = new_var(in, ir::VarKind::Param, type, span, name);
      f.params.push_back({var, {}});
      env.set(symbol, of_expr(ir::var_ref(f, var, span)));
      return {};
    }
    case What::Buffer: {
      const ir::VarId var = new_var(in, ir::VarKind::Param, ir::Type::handle(), span, name);
      AnnotationObject whole = a;
      if (a.is_open) whole.args[Dtype] = WW_TRY(given_type(in, name, a, given, span));
      if (!a.is_open && given != nullptr && (given->is(Kind::Str) || given->is(Kind::DType)))
        return fail_at(span, DiagKind::BadArgument,
                       "the element type of `{}` is not open: nothing can be given for it", name);
      const Value buffer = WW_TRY(buffer_param(in, whole, var, span));
      f.at(buffer.buffer()).name = name;
      f.at(var).type = ir::Type::pointer(f[buffer.buffer()].dtype);
      f.params.push_back({var, buffer.buffer()});
      // Extents named in the annotation are names in the body.
      for (const ir::ExprId extent : std::vector(f[buffer.buffer()].shape))
        if (f[extent].op == ir::ExprOp::Var)
          env.set(in.symbols.intern(f[f[extent].var].name), of_expr(extent));
      env.set(symbol, buffer);
      return {};
    }
    case What::Let:
    case What::Array:
      break;
  }
  return fail_at(span, DiagKind::BadType, "this annotation cannot be used for parameter `{}`",
                 name);
}

// The value of a constant: given by name, or the parameter's default.
const Value* given_constant(const FunctionObject& def, const Param& param, std::size_t index,
                            std::string_view name, const std::vector<CallArgs::Named>& constants) {
  for (auto it = constants.rbegin(); it != constants.rend(); ++it)
    if (it->name == name) return &*it;
  const bool has_default = param.default_value.valid() && index < def.defaults.size();
  return has_default ? &def.defaults[index] : nullptr;
}

Result<void> take_param(Context& in, const FunctionObject& def, std::size_t index,
                        const Param& param, const std::vector<CallArgs::Named>& constants,
                        bool takes_constants, Env& env) {
  const std::string_view name = in.symbols.text(param.name);
  const Span span = in.span(param.place);
  if (!param.annotation.valid())
    return fail_at(span, DiagKind::BadType,
                   "parameter `{}` has no annotation, expected `T.handle`, `T.Buffer(…)` or a type",
                   name);
  // TVM prints a shape's extents by the names that an earlier parameter's shape has given them.
  Result<Value> evaluated = eval(in, param.annotation, *def.env);
  if (!evaluated && evaluated.error().kind == DiagKind::NotBound) {
    if (takes_constants) return {};  // it is bound with the others
    if (auto again = eval(in, param.annotation, env)) evaluated = *std::move(again);
  }
  const Value annotation = WW_TRY(std::move(evaluated));
  const bool is_constant =
      annotation.is(Kind::Annotation) && annotation.as<AnnotationObject>().what == What::Constexpr;
  if (is_constant != takes_constants) return {};
  const Value* given = given_constant(def, param, index, name, constants);
  return bind_param(in, name, param.name, annotation, given, env, span);
}

bool takes_value(const Param& param) {
  return param.kind != Param::Kind::Star && param.kind != Param::Kind::DoubleStar;
}

// Binds the constants among the parameters, or the others; reports those in error.
void take_params(Context& in, const FunctionObject& def, std::span<const Param> params,
                 const std::vector<CallArgs::Named>& constants, bool takes_constants, Env& env) {
  for (std::size_t i = 0; i < params.size(); ++i) {
    const Param& param = params[i];
    const std::string_view name = in.symbols.text(param.name);
    if (const Value* known = env.find_here(param.name); known != nullptr && known->is(Kind::Poison))
      continue;  // reported
    if (takes_value(param)) {
      Result<void> taken = take_param(in, def, i, param, constants, takes_constants, env);
      if (taken) continue;
      report_error(in, std::move(taken).error().with_span(in.span(param.place)));
      env.set(param.name, poison());
    } else if (!name.empty() && !takes_constants) {
      report_error(
          in, diag_at(in.span(param.place), DiagKind::Syntax, "`{}{}` as a parameter of a kernel",
                      param.kind == Param::Kind::Star ? "*" : "**", name));
    }
  }
}

void report_unknown(Context& in, const FunctionObject& def, std::span<const Param> params,
                    const std::vector<CallArgs::Named>& constants) {
  for (const CallArgs::Named& constant : constants)
    if (std::ranges::none_of(params, [&](const Param& p) {
          return takes_value(p) && p.annotation.valid() && in.symbols.text(p.name) == constant.name;
        }))
      report_error(in, diag_at(constant.span, DiagKind::BadArgument, "`{}` has no constant `{}`",
                               def.name, constant.name));
}

}  // namespace

ir::ExprId new_extent(Context& in, ir::Type type, std::string_view name, Span span) {
  return ir::var_ref(in.fn(), new_var(in, ir::VarKind::Extent, type, span, name), span);
}

ir::ExprId host_extent(Context& in, const OpaqueObject& declared, std::string_view name) {
  const auto found = in.kernel->extents.find(&declared);
  if (found != in.kernel->extents.end()) return ir::var_ref(in.fn(), found->second, declared.span);
  const ir::ExprId made = new_extent(in, *declared.extent, name, declared.span);
  in.kernel->extents.emplace(&declared, in.fn()[made].var);
  return made;
}

Result<ir::ExprId> named_extent(Context& in, std::string_view name, Span span) {
  for (std::uint32_t i = 0; i < in.fn().var_count(); ++i) {
    const ir::Var& var = in.fn()[ir::VarId{i}];
    if (var.kind == ir::VarKind::Extent && var.name == name) return ir::var_ref(in.fn(), {i}, span);
  }
  return new_extent(in, ir::Type::of(num::DType::Int32), name, span);
}

Result<ir::ExprId> used_here(Context& in, const Given& value) {
  const ir::ExprId e = WW_TRY(expression(in, value));
  return in.fn()[e].op == ir::ExprOp::Var ? ir::var_ref(in.fn(), in.fn()[e].var, value.span) : e;
}

KernelObject* build_kernel(Context& in, const FunctionObject& def,
                           const std::vector<CallArgs::Named>& constants, Span where) {
  KernelContext kernel;
  kernel.blocks.emplace_back();
  kernel.function.name = def.name;
  kernel.first_serial = in.heap.next_serial();
  const Saved current(in.kernel, &kernel);
  const Saved unit(in.unit, def.unit);
  Env& env = *new_env(in, def.env);
  const Stmt& s = in.ast()[def.def];
  const auto params = in.ast().list(s.params);
  take_params(in, def, params, constants, true, env);
  in.kernel->constants = &env;
  take_params(in, def, params, constants, false, env);
  in.kernel->constants = nullptr;
  report_unknown(in, def, params, constants);
  build_function_body(in, s.body, env);
  if (kernel.errors.empty())
    if (std::optional<Diag> unfinished = unfinished_pool(kernel))
      report_error(in, *std::move(unfinished));
  kernel.function.body = std::move(kernel.blocks[0]);
  auto* made = in.heap.make<KernelObject>();
  made->function = std::move(kernel.function);
  made->errors = std::move(kernel.errors);
  made->span = where;
  in.kernels.push_back(made);
  return made;
}

}  // namespace ww::script
