// SPDX-License-Identifier: Apache-2.0
#include "ptx/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "base/diag.h"
#include "isa/check.h"
#include "isa/form.h"
#include "ptx/call_check.h"
#include "ptx/module.h"
#include "ptx/resolve.h"
#include "ptx/scope.h"
#include "ptx/variable_check.h"
#include "target/target.h"

namespace ww::ptx {

// --- function check ------------------------------------------------------------------------------
//
// What is checked about functions beside their instructions: directives that exclude each other,
// sizes of parameters and shared memory, and rules about a kernel as a whole.

namespace {

/// What the instructions of a function show together.
struct FunctionFacts {
  std::unordered_set<const Variable*> shared;  // `.shared` variables it names
  std::uint64_t shared_bytes = 0;              // and their size together
  Span first_group[2];                         // the first cta_group::1 and ::2 instruction
  int most_registers = 0;                      // the most 32-bit registers in one instruction
  Span most_registers_at;

  void note(const Module& module, const Scope& scope, const isa::Binding& binding,
            std::span<const isa::Operand> operands, Span span);
};

std::vector<Diag> directive_problems(const Function& function, target::Target target);
std::vector<Diag> parameter_problems(const Module& module, const Function& function,
                                     target::Target target);
std::vector<Diag> whole_problems(const Module& module, const Function& function,
                                 const FunctionFacts& facts, target::Target target);

using target::Feature;
using target::Target;

Diag at(Diag problem, std::uint32_t offset, std::size_t length = 1) {
  problem.span = Span::at(offset, offset + length);
  return problem;
}

const Directive* find(const Function& function, DirectiveKind kind) {
  const auto found = std::ranges::find(function.directives, kind, &Directive::kind);
  return found == function.directives.end() ? nullptr : &*found;
}

void exclude(const Function& function, DirectiveKind a, DirectiveKind b, std::vector<Diag>& out) {
  const Directive* second = find(function, b);
  if (find(function, a) == nullptr || second == nullptr) return;
  out.push_back(at(
      diag(DiagKind::IllegalForm, "`.{}` and `.{}` exclude each other", info(a).text, info(b).text),
      second->offset, info(b).text.size() + 1));
}

bool is_cluster_directive(DirectiveKind kind) {
  return kind == DirectiveKind::ReqNCtaPerCluster || kind == DirectiveKind::ExplicitCluster ||
         kind == DirectiveKind::MaxClusterRank || kind == DirectiveKind::BlocksAreClusters;
}

// Parameters are laid out in order, each at its alignment.
std::uint64_t parameter_bytes(const Function& function) {
  std::uint64_t bytes = 0;
  for (const Variable& param : function.params) {
    const std::uint64_t align = align_in_bytes(param);
    bytes = (bytes + align - 1) / align * align + size_in_bytes(param);
    bytes = std::min(bytes, kMaxVariableBytes);
  }
  return bytes;
}

std::uint64_t threads_of(const Function& function) {
  for (const DirectiveKind kind : {DirectiveKind::ReqNTid, DirectiveKind::MaxNTid}) {
    const Directive* directive = find(function, kind);
    if (directive == nullptr) continue;
    std::uint64_t threads = 1;
    for (const std::uint32_t n : directive->values) threads *= n;
    return threads;
  }
  return 0;
}

// How many registers a thread of the kernel can have: 255, less with `.maxnreg`, and less where a
// block of that many threads must fit into the 65536 of a multiprocessor.
int register_budget(const Function& function) {
  std::uint64_t budget = 255;
  if (const Directive* limit = find(function, DirectiveKind::MaxNReg)) {
    budget = std::min<std::uint64_t>(budget, limit->values[0]);
  }
  if (const std::uint64_t threads = threads_of(function); threads > 0) {
    budget = std::min<std::uint64_t>(budget, 65536 / threads / 8 * 8);
  }
  return static_cast<int>(budget);
}

int words_in(std::span<const isa::Operand> operands) {
  int words = 0;
  for (const isa::Operand& operand : operands) {
    if (operand.kind == isa::OperandKind::Register || operand.kind == isa::OperandKind::Part)
      words += (isa::info(operand.type).bits + 31) / 32;
    words += words_in(operand.parts);
  }
  return words;
}

void note_shared(const Module& module, const Scope& scope, std::span<const isa::Operand> operands,
                 FunctionFacts& facts) {
  for (const isa::Operand& operand : operands) {
    if (operand.kind == isa::OperandKind::Symbol && operand.space == isa::Space::Shared) {
      const Variable* variable = scope.find(*module.names.find(operand.text)).variable;
      if (facts.shared.insert(variable).second) {
        facts.shared_bytes =
            std::min(facts.shared_bytes + size_in_bytes(*variable), kMaxVariableBytes);
      }
    }
    note_shared(module, scope, operand.parts, facts);
  }
}

void FunctionFacts::note(const Module& module, const Scope& scope, const isa::Binding& binding,
                         std::span<const isa::Operand> operands, Span span) {
  note_shared(module, scope, operands, *this);
  if (binding.form().mnemonic.text().starts_with("tcgen05") && binding.has("group")) {
    Span& first = first_group[binding.word("group") == "cta_group::2" ? 1 : 0];
    if (!first.known) first = span;
  }
  const int words = words_in(operands);
  if (words > most_registers) {
    most_registers = words;
    most_registers_at = span;
  }
}

std::vector<Diag> directive_problems(const Function& function, Target target) {
  std::vector<Diag> out;
  exclude(function, DirectiveKind::MaxNTid, DirectiveKind::ReqNTid, out);
  exclude(function, DirectiveKind::ReqNCtaPerCluster, DirectiveKind::MaxClusterRank, out);
  for (const Directive& directive : function.directives) {
    if (directive.kind == DirectiveKind::Pragma) continue;
    const std::string name = fmt::format("`.{}`", info(directive.kind).text);
    const std::size_t length = name.size() - 2;
    if (directive.kind == DirectiveKind::NoReturn && function.kind == FunctionKind::Entry) {
      out.push_back(at(diag(DiagKind::IllegalForm, "{} is for `.func`, not for kernels", name),
                       directive.offset, length));
    }
    if (!is_cluster_directive(directive.kind)) continue;
    const int ptx = directive.kind == DirectiveKind::BlocksAreClusters ? 90 : 78;
    if (auto problem = isa::lacking(name, Feature::Sm90, ptx, target)) {
      out.push_back(at(std::move(*problem), directive.offset, length));
    }
  }
  const Directive* blocks = find(function, DirectiveKind::BlocksAreClusters);
  const bool complete = find(function, DirectiveKind::ReqNTid) != nullptr &&
                        find(function, DirectiveKind::ReqNCtaPerCluster) != nullptr;
  if (blocks != nullptr && !complete) {
    out.push_back(at(diag(DiagKind::IllegalForm,
                          "`.blocksareclusters` needs `.reqntid` and `.reqnctapercluster`"),
                     blocks->offset, 18));
  }
  return out;
}

std::vector<Diag> parameter_problems(const Module& module, const Function& function,
                                     Target target) {
  std::vector<Diag> out;
  for (const std::vector<Variable>* const list : {&function.results, &function.params}) {
    for (const Variable& param : *list) {
      if (auto problem = variable_problem(module, param, target))
        out.push_back(std::move(*problem));
      if (auto problem = parameter_problem(module, param, function.kind))
        out.push_back(std::move(*problem));
    }
  }
  if (function.kind != FunctionKind::Entry) return out;
  const std::uint64_t limit = target.ptx >= 81 ? 32764 : 4352;
  const std::uint64_t bytes = parameter_bytes(function);
  if (bytes > limit) {
    out.push_back(
        at(diag(DiagKind::TooLarge,
                "the parameters of `{}` take {} bytes; at most {} are "
                "allowed for PTX {}",
                module.text(function.name), bytes, limit, target::ptx_version_text(target.ptx)),
           function.offset));
  }
  return out;
}

std::vector<Diag> whole_problems(const Module& module, const Function& function,
                                 const FunctionFacts& facts, Target target) {
  std::vector<Diag> out;
  const auto& [one, two] = facts.first_group;
  if (one.known && two.known) {
    Diag problem =
        diag(DiagKind::IllegalForm, "a kernel uses `cta_group::1` or `cta_group::2`, not both");
    problem.span = std::max(one.begin, two.begin) == one.begin ? one : two;
    out.push_back(std::move(problem));
  }
  if (function.kind != FunctionKind::Entry) return out;
  // What the kernel reaches through calls is not counted.
  const auto limit = static_cast<std::uint64_t>(info(target.arch).static_shared_bytes);
  if (facts.shared_bytes > limit) {
    out.push_back(
        at(diag(DiagKind::TooLarge,
                "`{}` uses {} bytes of static shared memory; {} allows "
                "{}",
                module.text(function.name), facts.shared_bytes, info(target.arch).name, limit),
           function.offset));
  }
  const int budget = register_budget(function);
  if (facts.most_registers > 32 && facts.most_registers >= budget) {
    Diag problem = diag(DiagKind::TooLarge,
                        "the instruction names {} registers at once; a thread of "
                        "this kernel has {}",
                        facts.most_registers, budget);
    problem.span = facts.most_registers_at;
    out.push_back(std::move(problem));
  }
  return out;
}

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
