// SPDX-License-Identifier: Apache-2.0
#include "ptx/check.h"

#include <fmt/format.h>

#include <algorithm>

#include "isa/check.h"
#include "ptx/call_check.h"
#include "ptx/function_check.h"
#include "ptx/resolve.h"
#include "ptx/scope.h"
#include "ptx/variable_check.h"

namespace ww::ptx {
namespace {

using target::Feature;
using target::Target;

constexpr std::uint64_t kMaxConstBytes = 64U * 1024;

// Walks the module and collects findings.
class Walk {
 public:
  Walk(const Module& module, const CheckOptions& options, CheckResult& result)
      : module_(module),
        options_(options),
        result_(result),
        most_(options.max_errors),
        checker_(result.target),
        scope_(module, result.errors),
        resolver_(module, scope_) {}

  void run() {
    if (module_.address_size == 32)
      report(diag(DiagKind::NotOnTarget, "32-bit addresses are not supported"));
    for (std::size_t i = 0; i < module_.items.size(); ++i) {
      if (module_.items[i].kind == ItemKind::Variable) check_global(i);
    }
    for (const Function& function : module_.functions) {
      if (full() && !options_.every_function) return;
      most_ = options_.every_function ? result_.errors.size() + options_.max_errors : most_;
      check_function(function);
    }
  }

 private:
  [[nodiscard]] bool full() const { return result_.errors.size() >= most_; }
  void report(Diag problem) {
    if (!full()) result_.errors.push_back(std::move(problem));
  }

  void check_variable(const Variable& variable) {
    if (auto problem = variable_problem(module_, variable, result_.target))
      report(std::move(*problem));
    if (auto problem = extents_problem(module_, variable)) report(std::move(*problem));
  }

  void check_global(std::size_t item) {
    const Variable& variable = module_.variables[module_.items[item].index];
    check_variable(variable);
    if (auto problem = global_problem(module_, variable)) report(std::move(*problem));
    if (auto problem = initializer_problem(module_, scope_, variable, item))
      report(std::move(*problem));
    if (variable.space != Space::Const) return;
    const std::uint64_t bytes = size_in_bytes(variable);
    const_bytes_ += bytes;
    if (const_bytes_ <= kMaxConstBytes || const_bytes_ - bytes > kMaxConstBytes) return;
    const std::string_view name = module_.text(variable.name);
    report(diag(DiagKind::TooLarge,
                "with `{}` the `.const` variables take {} bytes; at most {} fit", name,
                const_bytes_, kMaxConstBytes)
               .with_span(Span::at(variable.offset, variable.offset + name.size())));
  }

  void check_local(const Variable& variable) {
    check_variable(variable);
    if (auto problem = initializer_problem(module_, scope_, variable)) report(std::move(*problem));
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
        check_local(function.variables[statement.index]);
        return;
      case StatementKind::Instruction:
        check_instruction(function, function.instructions[statement.index], facts);
        return;
      case StatementKind::BranchTargets:
        check_targets(function, statement, Declared::Kind::Label, "label");
        return;
      case StatementKind::CallTargets:
        check_targets(function, statement, Declared::Kind::Function, "function");
        return;
      default:
        return;
    }
  }

  void check_targets(const Function& function, const Statement& statement, Declared::Kind wanted,
                     std::string_view what) {
    const TargetList& list = function.target_lists[statement.index];
    for (const NameId name : list.names) {
      if (scope_.find(name).kind == wanted) continue;
      Diag problem = diag(DiagKind::BadOperand, "`{}` in the list `{}` is not a {} here",
                          module_.text(name), module_.text(list.label), what);
      problem.span = Span::at(statement.offset, statement.offset + module_.text(list.label).size());
      if (auto note = scope_.elsewhere(name)) problem.notes.push_back(std::move(*note));
      report(std::move(problem));
    }
  }

  void check_instruction(const Function& function, const Instruction& instruction,
                         FunctionFacts& facts) {
    ++result_.instructions;
    check_guard(instruction);
    const std::string_view opcode = module_.text(instruction.opcode);
    const std::span<const isa::Operand> operands = resolver_.operands_of(function, instruction);
    const Span span = Span::at(instruction.offset, instruction.offset + opcode.size());
    const auto legal = checker_.check({opcode, operands, span});
    if (!legal) {
      report(explained(legal.error(), operands));
      return;
    }
    if (legal->binding.form().mnemonic == "call") {
      if (auto problem = call_problem(module_, scope_, function, instruction, operands))
        report(explained(std::move(*problem), operands));
    }
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
    if (auto note = scope_.elsewhere(instruction.guard.name))
      problem.notes.push_back(std::move(*note));
    report(std::move(problem));
  }

  // Says where a name is declared that is not seen here.
  [[nodiscard]] Diag explained(Diag problem, std::span<const isa::Operand> operands) const {
    for (const isa::Operand& operand : operands) {
      if (operand.kind == isa::OperandKind::Undeclared && operand.span == problem.span) {
        const auto name = module_.names.find(operand.text);
        auto note = name ? scope_.elsewhere(*name) : std::nullopt;
        if (note) problem.notes.push_back(std::move(*note));
        return problem;
      }
      problem = explained(std::move(problem), operand.parts);
    }
    return problem;
  }

  const Module& module_;
  const CheckOptions& options_;
  CheckResult& result_;
  std::size_t most_;  // errors
  isa::Checker checker_;
  Scope scope_;
  OperandResolver resolver_;
  std::uint64_t const_bytes_ = 0;
};

}  // namespace

CheckResult check(const Module& module, const CheckOptions& options) {
  CheckResult result;
  const Result<Target> target = target_of(module, &result.notes);
  if (!target) {
    result.errors.push_back(target.error());
    return result;
  }
  result.target = *target;
  Walk(module, options, result).run();
  return result;
}

}  // namespace ww::ptx
