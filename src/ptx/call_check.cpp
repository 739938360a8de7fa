// SPDX-License-Identifier: Apache-2.0
#include "ptx/call_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "isa/type.h"
#include "ptx/variable_check.h"

namespace ww::ptx {
namespace {

Span span_of(const Operand& operand) {
  return Span::at(operand.offset, std::size_t{operand.offset} + std::max(1U, operand.length));
}

Diag at(Diag problem, const Operand& operand) {
  return std::move(problem).with_span(span_of(operand));
}

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::span<const std::uint64_t> extents(const Variable& variable) {
  return {variable.dims.data(), variable.dims.size()};
}

const isa::Operand* find_undeclared(std::span<const isa::Operand> operands) {
  for (const isa::Operand& operand : operands) {
    const bool is_part = operand.kind == isa::OperandKind::Part;
    if (is_part || operand.kind == isa::OperandKind::Undeclared) return &operand;
    if (const isa::Operand* const inside = find_undeclared(operand.parts)) return inside;
  }
  return nullptr;
}

std::string type_text(isa::Type type, unsigned lanes, std::span<const std::uint64_t> dims) {
  std::string text = lanes > 1 ? fmt::format(".v{} ", lanes) : "";
  text += fmt::format(".{}", isa::info(type).name);
  for (const std::uint64_t extent : dims)
    text += extent == kUnsized ? "[]" : fmt::format("[{}]", extent);
  return text;
}

class CallChecker {
 public:
  CallChecker(const Module& module, const Scope& scope) : module_(module), scope_(scope) {}

  [[nodiscard]] std::optional<Diag> check_list(std::span<const Operand> actual,
                                               const std::vector<Variable>& formal,
                                               const Operand& target, bool is_result) const {
    const std::string_view what = is_result ? "result" : "argument";
    if (actual.size() != formal.size()) {
      return at(diag(DiagKind::BadOperand, "the call has {}, `{}` has {}",
                     counted(actual.size(), what), module_.text(target.name), formal.size()),
                target);
    }
    for (std::size_t i = 0; i < actual.size(); ++i) {
      if (auto problem =
              check_value(actual[i], formal[i], fmt::format("{} {}", what, i + 1), is_result))
        return problem;
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] std::optional<Diag> check_value(const Operand& actual, const Variable& formal,
                                                std::string_view what, bool is_result) const {
    const std::string wanted = type_text(formal.type, formal.vector, extents(formal));
    switch (actual.kind) {
      case OperandKind::Name:
        if (module_.text(actual.name) == "WARP_SZ") break;
        return check_name(actual, formal, what);
      case OperandKind::Sink:
        if (is_result) return std::nullopt;
        return at(diag(DiagKind::BadOperand, "{} is `_`, expected a `{}`", what, wanted), actual);
      default:
        break;
    }
    const bool is_number = actual.kind == OperandKind::Int || actual.kind == OperandKind::Name;
    const isa::TypeClass cls = isa::info(formal.type).cls;
    const bool takes_float = cls == isa::TypeClass::Float || cls == isa::TypeClass::Bits;
    const bool takes_int = cls != isa::TypeClass::Float && cls != isa::TypeClass::Pred;
    const bool fits = (is_number ? takes_int : takes_float) && formal.vector == 1 &&
                      formal.dims.empty() && !is_result;
    if (fits) return std::nullopt;
    return at(diag(DiagKind::BadOperand, "{} is a number, expected a `{}`", what, wanted), actual);
  }

  [[nodiscard]] std::optional<Diag> check_name(const Operand& actual, const Variable& formal,
                                               std::string_view what) const {
    const Declared is = scope_.find(actual.name);
    const bool is_param = is.kind == Declared::Kind::Variable && is.space == Space::Param;
    if (is.kind != Declared::Kind::Register && !is_param) {
      return at(diag(DiagKind::BadOperand,
                     "{}, `{}`, is neither a register nor a `.param` variable of the function",
                     what, module_.text(actual.name)),
                actual);
    }
    const std::span<const std::uint64_t> dims =
        is_param ? extents(*is.variable) : std::span<const std::uint64_t>{};
    const bool same_dims = std::ranges::equal(dims, extents(formal)) ||
                           (formal.dims.size() == 1 && formal.dims[0] == kUnsized);
    const bool same_align =
        !is_param || dims.empty() || align_in_bytes(*is.variable) == align_in_bytes(formal);
    if (is.lanes == formal.vector && same_dims && same_align && isa::accepts(formal.type, is.type))
      return std::nullopt;
    std::string seen = type_text(is.type, is.lanes, dims);
    std::string wanted = type_text(formal.type, formal.vector, extents(formal));
    if (!same_align) {
      seen = fmt::format(".align {} {}", align_in_bytes(*is.variable), seen);
      wanted = fmt::format(".align {} {}", align_in_bytes(formal), wanted);
    }
    return at(diag(DiagKind::BadOperand, "{}, `{}`, is a `{}`, expected a `{}`", what,
                   module_.text(actual.name), seen, wanted),
              actual);
  }

  const Module& module_;
  const Scope& scope_;
};

}  // namespace

CallParts call_parts(const Function& function, const Instruction& instruction) {
  std::span<const Operand> operands = function.operands_of(instruction);
  CallParts parts;
  const auto take_list = [&](std::span<const Operand>& to) {
    if (operands.empty() || operands[0].kind != OperandKind::List) return;
    to = function.operands.children(operands[0]);
    operands = operands.subspan(1);
  };
  take_list(parts.results);
  if (operands.empty() || operands[0].kind != OperandKind::Name) return parts;
  parts.target = operands.data();
  operands = operands.subspan(1);
  take_list(parts.arguments);
  if (operands.size() == 1 && operands[0].kind == OperandKind::Name)
    parts.callees = operands.data();
  if (!operands.empty() && parts.callees == nullptr) parts.target = nullptr;
  return parts;
}

std::optional<Signature> signature_of(const Scope& scope, const Function& function,
                                      const CallParts& parts) {
  const Operand* const named = parts.callees != nullptr ? parts.callees : parts.target;
  Declared what = scope.find(named->name);
  if (what.kind == Declared::Kind::Prototype) {
    const Prototype& proto = function.prototypes[function.statements[what.statement].index];
    return Signature{&proto.results, &proto.params};
  }
  if (what.kind == Declared::Kind::CallTargets) {
    const TargetList& list = function.target_lists[function.statements[what.statement].index];
    what = list.names.empty() ? Declared{} : scope.find(list.names[0]);
  }
  if (what.kind != Declared::Kind::Function) return std::nullopt;
  return Signature{&what.function->results, &what.function->params};
}

std::optional<Diag> call_problem(const Module& module, const Scope& scope, const Function& function,
                                 const Instruction& instruction,
                                 std::span<const isa::Operand> operands) {
  if (const isa::Operand* const unknown = find_undeclared(operands)) {
    return diag(DiagKind::BadOperand, "`{}` is not declared", unknown->text)
        .with_span(unknown->span);
  }
  const CallParts parts = call_parts(function, instruction);
  if (parts.target == nullptr) {
    const std::size_t length = module.text(instruction.opcode).size();
    return diag(DiagKind::BadOperand,
                "expected `call (results), function, (arguments)`, or for a call by address "
                "`call (results), register, (arguments), prototype`")
        .with_span(Span::at(instruction.offset, instruction.offset + length));
  }
  const std::string_view name = module.text(parts.target->name);
  const Declared what = scope.find(parts.target->name);
  if (what.kind == Declared::Kind::Function && what.function->kind == FunctionKind::Entry)
    return at(diag(DiagKind::BadOperand, "`{}` is a kernel; only functions can be called", name),
              *parts.target);
  const bool is_address = what.kind == Declared::Kind::Register && isa::is_whole(what.type) &&
                          isa::info(what.type).bits == 64;
  if (what.kind != Declared::Kind::Function && !is_address) {
    return at(diag(DiagKind::BadOperand, "`{}` is neither a function nor a 64-bit register", name),
              *parts.target);
  }
  if (is_address != (parts.callees != nullptr)) {
    return at(is_address ? diag(DiagKind::BadOperand,
                                "a call by the address in `{}` needs a `.callprototype` or "
                                "`.calltargets` as its last operand",
                                name)
                         : diag(DiagKind::BadOperand,
                                "the call of `{}` has a `{}` behind its arguments, which is for "
                                "calls by address",
                                name, module.text(parts.callees->name)),
              *parts.target);
  }
  const auto signature = signature_of(scope, function, parts);
  if (!signature) {
    return at(diag(DiagKind::BadOperand, "`{}` is neither a prototype nor a list of functions",
                   module.text(parts.callees->name)),
              *parts.callees);
  }
  const CallChecker checker(module, scope);
  if (auto problem = checker.check_list(parts.results, *signature->results, *parts.target, true))
    return problem;
  return checker.check_list(parts.arguments, *signature->params, *parts.target, false);
}

}  // namespace ww::ptx
