// SPDX-License-Identifier: Apache-2.0
// A kernel from its `def`: parameters, body, and the function that they make.
#include <fmt/format.h>

#include <algorithm>

#include "ir/simplify/fold.h"
#include "script/api/params.h"
#include "script/api/pools.h"
#include "script/interp/kernel_body.h"

namespace ww::script {

ir::StmtId Interp::emit(ir::Stmt stmt) {
  const ir::StmtId id = fn().add(std::move(stmt));
  kernel_->blocks.back().push_back(id);
  return id;
}

ir::ExprId new_extent(Interp& in, ir::Type type, std::string_view name, Span span) {
  ir::Var var;
  var.name = name;
  var.type = type;
  var.kind = ir::VarKind::Extent;
  var.span = span;
  const ir::VarId id = in.fn().add(std::move(var));
  return ir::var_ref(in.fn(), id, span);
}

ir::ExprId host_extent(Interp& in, const OpaqueObject& declared, std::string_view name) {
  const auto found = in.kernel().extents.find(&declared);
  if (found != in.kernel().extents.end()) return ir::var_ref(in.fn(), found->second, declared.span);
  const ir::ExprId made = new_extent(in, *declared.extent, name, declared.span);
  in.kernel().extents.emplace(&declared, in.fn()[made].var);
  return made;
}

Result<ir::ExprId> named_extent(Interp& in, std::string_view name, Span span) {
  for (std::uint32_t i = 0; i < in.fn().var_count(); ++i) {
    const ir::Var& var = in.fn()[ir::VarId{i}];
    if (var.kind == ir::VarKind::Extent && var.name == name) return ir::var_ref(in.fn(), {i}, span);
  }
  return new_extent(in, ir::Type::of(num::DType::Int32), name, span);
}

Result<ir::ExprId> used_here(Interp& in, const Value& value, Span span) {
  const ir::ExprId e = WW_TRY(in.expression(value, span));
  return in.fn()[e].op == ir::ExprOp::Var ? ir::var_ref(in.fn(), in.fn()[e].var, span) : e;
}

namespace {

using What = AnnotationObject::What;

ir::VarId add_param(ir::Function& f, std::string_view name, ir::Type type, Span span) {
  ir::Var var;
  var.name = name;
  var.type = type;
  var.kind = ir::VarKind::Param;
  var.span = span;
  return f.add(std::move(var));
}

// Binds one parameter: a pointer, a scalar, a buffer, or a constant that is given now.
Result<void> bind_param(Interp& in, std::string_view name, Symbol symbol, const Value& annotation,
                        const Value* given, Env& env, Span span) {
  ir::Function& f = in.fn();
  if (annotation.is(Kind::DType)) {
    const ir::Type type = WW_TRY(in.value_type(annotation, "the type", span));
    const ir::VarId var = add_param(f, name, type, span);
    f.params.push_back({var, {}});
    env.set(symbol, of_expr(ir::var_ref(f, var, span)));
    return {};
  }
  if (!annotation.is(Kind::Annotation))
    return fail(diag(DiagKind::BadType,
                     "parameter `{}` is annotated with {}, expected `T.handle`, `T.Buffer(…)` or a "
                     "type such as `T.int32`",
                     name, type_name(annotation))
                    .with_span(span));
  const auto& a = annotation.as<AnnotationObject>();
  switch (a.what) {
    case What::Constexpr:
      if (given == nullptr)
        return fail(diag(DiagKind::BadArgument, "the constant `{}` has no value", name)
                        .with_note("give it with `.specialize(…)` in the kernel expression")
                        .with_span(span));
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
      const ir::VarId var = add_param(f, name, type, span);
      f.params.push_back({var, {}});
      env.set(symbol, of_expr(ir::var_ref(f, var, span)));
      return {};
    }
    case What::Buffer: {
      const ir::VarId var = add_param(f, name, ir::Type::handle(), span);
      const Value buffer = WW_TRY(buffer_param(in, a, var, span));
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
  return fail(diag(DiagKind::BadType, "this annotation cannot stand behind parameter `{}`", name)
                  .with_span(span));
}

}  // namespace

KernelObject* Interp::build_kernel(const FunctionObject& def,
                                   const std::vector<CallArgs::Named>& constants, Span where) {
  KernelContext context;
  context.blocks.emplace_back();
  context.function.name = def.name;
  KernelContext* const outer_kernel = kernel_;
  const Unit* const outer_unit = unit_;
  kernel_ = &context;
  unit_ = def.unit;
  ast_ = &def.unit->ast;
  Env& env = *new_env(def.env);
  const Stmt& s = (*ast_)[def.def];
  KernelBody body(*this);

  std::vector<bool> used(constants.size(), false);
  std::size_t index = 0;
  for (const Param& param : ast_->list(s.params)) {
    const std::string_view name = symbols.text(param.name);
    const std::size_t i = index++;
    if (param.kind == Param::Kind::Star || param.kind == Param::Kind::DoubleStar) {
      const std::string_view stars = param.kind == Param::Kind::Star ? "*" : "**";
      if (!name.empty())
        body.report(diag(DiagKind::Syntax, "`{}{}` as a parameter of a kernel", stars, name)
                        .with_span(span(param.place)));
      continue;
    }
    if (!param.annotation.valid()) {
      body.report(
          diag(DiagKind::BadType,
               "parameter `{}` has no annotation, expected `T.handle`, `T.Buffer(…)` or a type",
               name)
              .with_span(span(param.place)));
      env.set(param.name, poison());
      continue;
    }
    const Value* given = nullptr;
    for (std::size_t c = 0; c < constants.size(); ++c)
      if (constants[c].name == name) {
        given = &constants[c].value;
        used[c] = true;
      }
    if (given == nullptr && param.default_value.valid() && i < def.defaults.size())
      given = &def.defaults[i];
    Result<Value> annotation = eval(param.annotation, *def.env);
    Result<void> bound =
        annotation ? bind_param(*this, name, param.name, *annotation, given, env, span(param.place))
                   : Result<void>(fail(std::move(annotation).error()));
    if (!bound) {
      body.report(std::move(bound).error().with_span(span(param.place)));
      env.set(param.name, poison());
    }
  }
  for (std::size_t c = 0; c < constants.size(); ++c)
    if (!used[c])
      body.report(
          diag(DiagKind::BadArgument, "`{}` has no constant `{}`", def.name, constants[c].name)
              .with_span(constants[c].span));

  body.function_body(s.body, env);
  if (context.errors.empty())
    if (std::optional<Diag> unfinished = unfinished_pool(context))
      body.report(*std::move(unfinished));
  context.function.body = std::move(context.blocks[0]);

  KernelObject kernel;
  kernel.function = std::move(context.function);
  kernel.errors = std::move(context.errors);
  kernel.span = where;
  kernel_ = outer_kernel;
  unit_ = outer_unit;
  ast_ = outer_unit != nullptr ? &outer_unit->ast : nullptr;
  auto* made = heap.make<KernelObject>(std::move(kernel));
  kernels_.push_back(made);
  return made;
}

}  // namespace ww::script
