// SPDX-License-Identifier: Apache-2.0
#include "ptx/check.h"

#include <fmt/format.h>

#include <algorithm>

#include "isa/check.h"
#include "ptx/function_check.h"
#include "ptx/resolve.h"

namespace ww::ptx {
namespace {

using target::Feature;
using target::Target;

// Walks the module and collects findings.
class Walk {
 public:
  Walk(const Module& module, const CheckOptions& options, CheckResult& result)
      : module_(module),
        options_(options),
        result_(result),
        checker_(result.target),
        scope_(module) {}

  void run() {
    if (module_.address_size == 32)
      report(diag(DiagKind::NotOnTarget, "32-bit addresses are not supported"));
    for (const Variable& variable : module_.variables) check_variable(variable);
    for (const Function& function : module_.functions) {
      if (full()) return;
      check_function(function);
    }
  }

 private:
  [[nodiscard]] bool full() const { return result_.errors.size() >= options_.max_errors; }
  void report(Diag problem) {
    if (!full()) result_.errors.push_back(std::move(problem));
  }

  void check_variable(const Variable& variable) {
    if (auto problem = variable_problem(module_, variable, result_.target))
      report(std::move(*problem));
  }

  void check_function(const Function& function) {
    for (Diag& problem : directive_problems(function, result_.target)) report(std::move(problem));
    for (Diag& problem : parameter_problems(module_, function, result_.target))
      report(std::move(problem));
    FunctionFacts facts;
    scope_.begin(function, result_.errors);
    for (const Statement& statement : function.statements) {
      scope_.enter(statement, result_.errors);
      check_statement(function, statement, facts);
      if (full()) break;
    }
    scope_.end();
    for (Diag& problem : whole_problems(module_, function, facts, result_.target))
      report(std::move(problem));
  }

  void check_statement(const Function& function, const Statement& statement, FunctionFacts& facts) {
    switch (statement.kind) {
      case StatementKind::Registers: {
        const RegisterDecl& decl = function.registers[statement.index];
        if (auto problem = register_problem(function, decl, result_.target))
          report(std::move(*problem));
        return;
      }
      case StatementKind::Variable:
        check_variable(function.variables[statement.index]);
        return;
      case StatementKind::Instruction:
        check_instruction(function.instructions[statement.index], facts);
        return;
      default:
        return;
    }
  }

  void check_instruction(const Instruction& instruction, FunctionFacts& facts) {
    ++result_.instructions;
    check_guard(instruction);
    const std::string_view opcode = module_.text(instruction.opcode);
    const std::span<const isa::Operand> operands = scope_.operands_of(instruction);
    const Span span = Span::at(instruction.offset, instruction.offset + opcode.size());
    const auto legal = checker_.check({opcode, operands, span});
    if (!legal) {
      report(legal.error());
      return;
    }
    if (legal->binding.form().mnemonic == "call") check_call(operands);
    facts.note(module_, scope_, legal->binding, operands, span);
  }

  void check_guard(const Instruction& instruction) {
    if (!instruction.guard.present()) return;
    const Declared what = scope_.find(instruction.guard.name);
    const bool predicate = what.kind == Declared::Kind::Register && what.type == isa::Type::Pred;
    if (predicate) return;
    Diag problem =
        diag(DiagKind::BadOperand, "the guard `{}` is {}", module_.text(instruction.guard.name),
             what.kind == Declared::Kind::Nothing ? "not declared" : "no predicate");
    problem.span =
        Span::at(instruction.offset, instruction.offset + module_.text(instruction.opcode).size());
    report(std::move(problem));
  }

  // A call's shape is the callee's business; that its names exist is checked here.
  void check_call(std::span<const isa::Operand> operands) {
    for (const isa::Operand& operand : operands) {
      if (operand.kind == isa::OperandKind::Undeclared) {
        Diag problem = diag(DiagKind::BadOperand, "`{}` is not declared", operand.text);
        problem.span = operand.span;
        report(std::move(problem));
      }
      check_call(operand.parts);
    }
  }

  const Module& module_;
  const CheckOptions& options_;
  CheckResult& result_;
  isa::Checker checker_;
  Scope scope_;
};

}  // namespace

Result<Target> target_of(const Module& module) {
  const std::string version = fmt::format("{}.{}", module.version.major, module.version.minor);
  const Span version_at = Span::at(module.version_offset, module.version_offset + version.size());
  auto ptx = target::parse_ptx_version(version);
  if (!ptx) return fail(std::move(ptx).error().with_span(version_at));
  const auto is_arch = [&](NameId name) { return module.text(name).starts_with("sm_"); };
  const auto found = std::ranges::find_if(module.targets, is_arch);
  const std::string_view name = found == module.targets.end() ? "" : module.text(*found);
  const Span target_at =
      Span::at(module.target_offset, module.target_offset + std::max<std::size_t>(1, name.size()));
  if (name.empty()) {
    return fail(
        diag(DiagKind::UnknownName, "`.target` names no architecture").with_span(target_at));
  }
  auto arch = target::parse_arch(name);
  if (!arch) return fail(std::move(arch).error().with_span(target_at));
  const target::ArchInfo& info = target::info(*arch);
  if (*ptx < info.min_ptx) {
    return fail(diag(DiagKind::NotOnTarget, "`{}` needs PTX {}; the module says {}", info.name,
                     target::ptx_version_text(info.min_ptx), version)
                    .with_span(target_at));
  }
  return Target{*arch, *ptx};
}

CheckResult check(const Module& module, const CheckOptions& options) {
  CheckResult result;
  const Result<Target> target = target_of(module);
  if (!target) {
    result.errors.push_back(target.error());
    return result;
  }
  result.target = *target;
  Walk(module, options, result).run();
  return result;
}

}  // namespace ww::ptx
