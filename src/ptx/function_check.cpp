// SPDX-License-Identifier: Apache-2.0
#include "ptx/function_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "isa/check.h"
#include "ptx/variable_check.h"

namespace ww::ptx {
namespace {

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

}  // namespace

void FunctionFacts::note(const Module& module, const Scope& scope, const isa::Binding& binding,
                         std::span<const isa::Operand> operands, Span span) {
  note_shared(module, scope, operands, *this);
  if (binding.form().mnemonic.starts_with("tcgen05") && binding.has("group")) {
    Span& first = first_group[binding.word("group").ends_with('2') ? 1 : 0];
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

}  // namespace ww::ptx
