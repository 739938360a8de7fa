// SPDX-License-Identifier: Apache-2.0
// Calls of the functions of intrinsics.def: how many arguments, of which types, and what comes out.
#include <fmt/format.h>

#include <optional>

#include "ir/build.h"
#include "ir/signatures.h"

namespace ww::ir {
namespace {

using num::DType;

bool is_math(Intrinsic callee) { return callee <= Intrinsic::Isfinite; }
Diag bad_argument_type(const Function& f, const IntrinsicFacts& facts, ExprId arg,
                       std::string_view wanted) {
  return diag(DiagKind::BadType, "`T.{}` of `{}`, expected {}", facts.name, to_text(f[arg].type),
              wanted)
      .with_span(f[arg].span);
}

// Operands of mathematics are floats of one type; integers given to them become float32.
Result<SmallVec<ExprId, 3>> math_args(Function& f, const IntrinsicFacts& facts,
                                      std::span<const ExprId> args) {
  SmallVec<ExprId, 3> out;
  for (const ExprId arg : args) {
    ExprId value = arg;
    if (f[arg].op == ExprOp::IntImm && f[arg].type.is_int())
      value = WW_TRY(
          cast(f, arg, Type::of(out.empty() ? DType::Float32 : f[out[0]].type.dtype), f[arg].span));
    if (!f[value].type.is_float()) return fail(bad_argument_type(f, facts, arg, "a float"));
    if (!out.empty() && f[value].type != f[out[0]].type)
      value = WW_TRY(meet(f, {out[0], false}, {value, f[value].op == ExprOp::FloatImm}, facts.name,
                          f[arg].span))
                  .second;
    out.push_back(value);
  }
  return out;
}

Result<Type> result_type(const Function& f, const IntrinsicFacts& facts,
                         std::span<const ExprId> args, Type declared) {
  switch (facts.result) {
    case ResultRule::Same:
      return f[args[0]].type;
    case ResultRule::Value:
      return f[args[1]].type;
    case ResultRule::Bool:
      return Type::of(DType::Bool,
                      facts.effect == Effect::Pure ? f[args[0]].type.lanes : std::uint16_t{1});
    case ResultRule::Int32:
      return Type::of(DType::Int32);
    case ResultRule::Uint32:
      return Type::of(DType::Uint32);
    case ResultRule::Void:
      return Type::none();
    case ResultRule::Pointer:
      return declared.is_pointer() ? declared : f[args[0]].type;
    case ResultRule::Pointee:
      return Type::of(f[args[0]].type.dtype);
    case ResultRule::Declared:
      return declared;
  }
  return declared;
}

}  // namespace

Result<ExprId> call(Function& f, Intrinsic callee, std::span<const ExprId> args, Span span,
                    Type declared) {
  const IntrinsicFacts& facts = facts_of(callee);
  const auto count = static_cast<int>(args.size());
  if (count < facts.min_args || (facts.max_args >= 0 && count > facts.max_args))
    return fail(diag(DiagKind::BadArgument, "`T.{}` with {} argument{}, expected {}", facts.name,
                     count, count == 1 ? "" : "s",
                     facts.min_args == facts.max_args ? std::to_string(facts.min_args)
                                                      : fmt::format("{} or more", facts.min_args))
                    .with_note(fmt::format("it takes `{}`", signature_text(callee)))
                    .with_span(span));
  Expr e;
  e.op = ExprOp::Call;
  e.span = span;
  e.callee = callee;
  if (is_math(callee))
    e.args = WW_TRY(math_args(f, facts, args));
  else
    e.args.append(args);
  if (std::optional<Diag> fault = fault_of_call(f, e)) return fail(std::move(*fault));
  e.type = WW_TRY(result_type(f, facts, e.args, declared));
  return f.add(std::move(e));
}

}  // namespace ww::ir
