// SPDX-License-Identifier: Apache-2.0
// Calls of the functions of intrinsics.def: how many arguments, of which types, and what comes out.
#include <fmt/format.h>

#include <optional>

#include "ir/build.h"

namespace ww::ir {
namespace {

using num::DType;

bool is_math(Intrinsic callee) { return callee <= Intrinsic::Isfinite; }
bool is_integer_function(Intrinsic callee) {
  return callee == Intrinsic::Popcount || callee == Intrinsic::Clz;
}

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

bool takes_pointer_first(const IntrinsicFacts& facts) {
  return facts.effect == Effect::Writes
             ? facts.id != Intrinsic::Printf && facts.id != Intrinsic::FuncCall
             : facts.effect == Effect::Reads;
}

Result<void> check_first(const Function& f, const IntrinsicFacts& facts,
                         std::span<const ExprId> args) {
  if (args.empty()) return {};
  const bool is_pointer_function =
      facts.id == Intrinsic::PointerOffset || facts.id == Intrinsic::ByteOffset ||
      facts.id == Intrinsic::CvtaToShared || facts.id == Intrinsic::MbarrierWait;
  if ((takes_pointer_first(facts) || is_pointer_function) && !f[args[0]].type.is_pointer())
    return fail(bad_argument_type(f, facts, args[0], "a pointer"));
  if (is_integer_function(facts.id) && !f[args[0]].type.is_int())
    return fail(bad_argument_type(f, facts, args[0], "an integer"));
  if (facts.id == Intrinsic::Abs && !f[args[0]].type.is_int() && !f[args[0]].type.is_float())
    return fail(bad_argument_type(f, facts, args[0], "a number"));
  return {};
}

// copy_bytes(to, from, bytes): what one instruction moves.
Result<void> check_copy_bytes(const Function& f, const IntrinsicFacts& facts,
                              std::span<const ExprId> args) {
  if (!f[args[1]].type.is_pointer()) return fail(bad_argument_type(f, facts, args[1], "a pointer"));
  const std::optional<std::int64_t> bytes = const_int(f, args[2]);
  const bool is_width = bytes && *bytes >= 1 && *bytes <= 32 && (*bytes & (*bytes - 1)) == 0;
  if (is_width) return {};
  return fail(diag(DiagKind::BadArgument, "`T.{}` of {}, expected 1, 2, 4, 8, 16 or 32", facts.name,
                   bytes ? fmt::format("{} bytes", *bytes) : "bytes counted at run time")
                  .with_span(f[args[2]].span));
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
                    .with_span(span));
  Expr e;
  e.op = ExprOp::Call;
  e.span = span;
  e.callee = callee;
  if (is_math(callee)) {
    e.args = WW_TRY(math_args(f, facts, args));
  } else {
    WW_TRY_VOID(check_first(f, facts, args));
    if (callee == Intrinsic::CopyBytes) WW_TRY_VOID(check_copy_bytes(f, facts, args));
    e.args.append(args);
  }
  e.type = WW_TRY(result_type(f, facts, e.args, declared));
  return f.add(std::move(e));
}

}  // namespace ww::ir
