// SPDX-License-Identifier: Apache-2.0
#include "ptx/function_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "isa/check.h"

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

std::uint64_t align_of(const Variable& variable) {
  const std::uint64_t natural =
      static_cast<std::uint64_t>(isa::info(variable.type).bits) / 8 * variable.vector;
  return std::max<std::uint64_t>({variable.align, natural, 1});
}

// Parameters are laid out in order, each at its alignment.
std::optional<std::uint64_t> parameter_bytes(const Function& function) {
  std::uint64_t bytes = 0;
  for (const Variable& param : function.params) {
    const auto size = size_in_bytes(param);
    if (!size) return std::nullopt;
    const std::uint64_t align = align_of(param);
    bytes = (bytes + align - 1) / align * align + *size;
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
    if (operand.kind == isa::OperandKind::Register)
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
        facts.shared_bytes += size_in_bytes(*variable).value_or(0);
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

std::optional<std::uint64_t> size_in_bytes(const Variable& variable) {
  if (variable.opaque != Opaque::None) return 8;
  std::uint64_t size =
      static_cast<std::uint64_t>(isa::info(variable.type).bits) / 8 * variable.vector;
  for (const std::uint64_t extent : variable.dims) {
    if (extent == kUnsized) return std::nullopt;
    if (extent != 0 && size > (std::uint64_t{1} << 48U) / extent) return std::nullopt;
    size *= extent;
  }
  return size;
}

std::optional<Diag> variable_problem(const Module& module, const Variable& variable,
                                     Target target) {
  const std::string_view name = module.text(variable.name);
  if (variable.opaque != Opaque::None) return std::nullopt;
  if (variable.type == isa::Type::Pred && variable.space != Space::Reg) {
    return at(diag(DiagKind::BadOperand, "the predicate `{}` is not in a register", name),
              variable.offset, name.size());
  }
  if (!isa::info(variable.type).declarable) {
    return at(diag(DiagKind::BadOperand, "`.{}` is the type of an instruction, not of a variable",
                   isa::info(variable.type).name),
              variable.offset, name.size());
  }
  if (variable.has_init() && variable.space != Space::Global && variable.space != Space::Const) {
    return at(diag(DiagKind::BadOperand,
                   "`{}` cannot have an initial value; only `.global` and "
                   "`.const` variables can",
                   name),
              variable.offset, name.size());
  }
  if (variable.type == isa::Type::B128) {
    if (auto problem = isa::lacking("`.b128`", Feature::Sm75, 83, target)) {
      return at(std::move(*problem), variable.offset, name.size());
    }
  }
  return std::nullopt;
}

std::optional<Diag> register_problem(const Function& function, const RegisterDecl& decl,
                                     Target target) {
  const std::uint32_t offset =
      function.names_of(decl).empty() ? 0 : function.names_of(decl)[0].offset;
  const std::string_view type = isa::info(decl.type).name;
  if (!isa::info(decl.type).declarable) {
    return at(
        diag(DiagKind::BadOperand, "`.{}` is the type of an instruction, not of a register", type),
        offset);
  }
  if (decl.vector > 4) {
    return at(diag(DiagKind::BadOperand, "registers are `.v2` or `.v4`, not `.v{}`", decl.vector),
              offset);
  }
  if (decl.type == isa::Type::B128) {
    if (auto problem = isa::lacking("`.b128`", Feature::Sm75, 83, target))
      return at(std::move(*problem), offset);
  }
  return std::nullopt;
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
  for (const Variable& param : function.params) {
    if (auto problem = variable_problem(module, param, target)) out.push_back(std::move(*problem));
  }
  if (function.kind != FunctionKind::Entry) return out;
  const std::uint64_t limit = target.ptx >= 81 ? 32764 : 4352;
  const auto bytes = parameter_bytes(function);
  if (bytes && *bytes > limit) {
    out.push_back(
        at(diag(DiagKind::TooLarge,
                "the parameters of `{}` take {} bytes; at most {} are "
                "allowed for PTX {}",
                module.text(function.name), *bytes, limit, target::ptx_version_text(target.ptx)),
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
