// SPDX-License-Identifier: Apache-2.0
#include "isa/check.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/join.h"
#include "isa/match_operands.h"
#include "isa/special_registers.h"

namespace ww::isa {
namespace {

using target::Target;

// The place of the n-th word of an opcode that starts at `opcode_span`.
Span word_span(const Instruction& instruction, int word) {
  if (!instruction.span.known || word < 0) return instruction.span;
  std::size_t begin = instruction.span.begin;
  const auto words = opcode_words(instruction.opcode);
  for (int i = 0; i < word; ++i) begin += words[static_cast<std::size_t>(i)].size() + 1;
  return Span::at(begin, begin + words[static_cast<std::size_t>(word)].size());
}

DiagKind kind_of(Stage stage) {
  switch (stage) {
    case Stage::Words:
    case Stage::Missing:
    case Stage::Rules:
      return DiagKind::IllegalForm;
    case Stage::OperandShape:
    case Stage::OperandTypes:
      return DiagKind::BadOperand;
    case Stage::Gates:
    case Stage::Passed:
      break;
  }
  return DiagKind::NotOnTarget;
}

bool is_open(const SpecialRegister& special, Target target) {
  return target.has(special.needs) && target.ptx >= special.ptx;
}

// PTX has dropped it by the target's version.
bool is_dropped(const GateInfo& gate, Target target) {
  return gate.until != 0 && target.ptx > gate.until && !target.in_step;
}

bool is_open(const GateInfo& gate, Target target) {
  return target.has(gate.needs) && target.ptx >= gate.ptx_on(target) && !is_dropped(gate, target);
}

std::optional<Diag> missing_special(const Operand& operand, Target target) {
  if (operand.kind != OperandKind::Special) return std::nullopt;
  const SpecialRegister* special =
      operand.lanes > 1 ? find_special_vector(operand.text) : find_special(operand.text);
  if (special == nullptr || is_open(*special, target)) return std::nullopt;
  std::optional<Diag> problem =
      lacking(fmt::format("`{}`", operand.text), special->needs, special->ptx, target);
  problem->span = operand.span;
  return problem;
}

// The first gate that keeps the bound form from the target; nullptr: none does.
const GateInfo* closed_gate(const Binding& binding, Target target) {
  for (const GateInfo& gate : binding.form().gates) {
    if (!is_open(gate, target) && binding.holds(gate.when)) return &gate;
  }
  return nullptr;
}

// The words of the binding that a condition is about: "`.L2::cache_hint`".
std::string given_text(const Condition& condition, const Binding& binding) {
  std::vector<std::string> words;
  for (const Condition::Term& term : condition.terms) {
    words.push_back(binding.has(term.slot) ? fmt::format("`.{}`", binding.word(term.slot))
                                           : to_text(Condition{{term}}, binding.form()));
  }
  return join(words, " and ");
}

// What a gate is closed for: the mnemonic, with the words that matter; the whole opcode where the
// target has another form of the mnemonic, which would need none of it.
std::string subject(const Binding& binding, const GateInfo& gate, Target target) {
  const Mnemonic mnemonic = binding.form().mnemonic;
  if (!gate.when.empty()) {
    return fmt::format("`{}` with {}", mnemonic, given_text(gate.when, binding));
  }
  for (const Form* form : forms_of(mnemonic.text())) {
    const bool has = std::ranges::all_of(form->gates, [&](const GateInfo& other) {
      return !other.when.empty() || is_open(other, target);
    });
    if (has && form->mnemonic == mnemonic) return fmt::format("`{}`", binding.opcode());
  }
  return fmt::format("`{}`", mnemonic);
}

struct Attempt {
  Stage stage = Stage::Passed;
  std::optional<Diag> problem;
  std::vector<int> operand_of;
};

Attempt attempt(const Binding& binding, const Instruction& instruction, Target target) {
  OperandMatch match = match_operands(binding, instruction.operands);
  if (match.problem) {
    Diag problem = diag(DiagKind::BadOperand, "{}", match.problem->text);
    problem.span = match.problem->span.known ? match.problem->span : instruction.span;
    return {match.problem->stage, std::move(problem), {}};
  }
  if (const auto verify = binding.form().row->verify) {
    if (std::string reason = verify(binding, instruction.operands); !reason.empty()) {
      Diag problem = diag(DiagKind::IllegalForm, "{}", reason);
      problem.span = instruction.span;
      return {Stage::OperandTypes, std::move(problem), {}};
    }
  }
  for (const Operand& operand : instruction.operands) {
    if (auto missing = missing_special(operand, target))
      return {Stage::Gates, std::move(missing), {}};
  }
  if (auto missing = missing_on(binding, target)) {
    missing->span = instruction.span;
    return {Stage::Gates, std::move(missing), {}};
  }
  return {Stage::Passed, std::nullopt, std::move(match.operand_of)};
}

}  // namespace

Diag to_diag(const Misfit& misfit) {
  Diag result = diag(misfit.form == nullptr ? DiagKind::UnknownName : kind_of(misfit.stage), "{}",
                     misfit.text);
  if (misfit.form != nullptr) {
    result.notes.push_back(
        {fmt::format("the nearest form is `{}`", syntax_line(*misfit.form)), {}});
  }
  return result;
}

std::optional<Diag> lacking(std::string_view what, Feature needs, int ptx, Target target) {
  if (!target.has(needs)) {
    return diag(DiagKind::NotOnTarget, "{} needs {}; the target is {}", what,
                to_text(archs_with(needs)), info(target.arch).name);
  }
  if (target.ptx < ptx) {
    return diag(DiagKind::NotOnTarget, "{} needs PTX {}; the module says {}", what,
                target::ptx_version_text(ptx), target::ptx_version_text(target.ptx));
  }
  return std::nullopt;
}

std::optional<Diag> missing_on(const Binding& binding, Target target) {
  const GateInfo* gate = closed_gate(binding, target);
  if (gate == nullptr) return std::nullopt;
  if (is_dropped(*gate, target)) {
    return diag(DiagKind::NotOnTarget,
                "`{}` is for architectures before sm_70, or PTX {} and older; the module says {} "
                "and "
                "PTX {}",
                binding.opcode(), target::ptx_version_text(gate->until), info(target.arch).name,
                target::ptx_version_text(target.ptx))
        .with_note(fmt::format("`{}.sync` takes its place", binding.form().mnemonic));
  }
  return lacking(subject(binding, *gate, target), gate->needs, gate->ptx_on(target), target);
}

std::optional<int> lowest_ptx(const Binding& binding, target::Arch arch) {
  for (const int ptx : target::ptx_versions()) {
    if (ptx >= info(arch).min_ptx && !closed_gate(binding, {arch, ptx})) return ptx;
  }
  return std::nullopt;
}

target::ArchSet archs_of(const Binding& binding) {
  target::ArchSet archs;
  const int newest = target::ptx_versions().back();
  for (const target::ArchInfo& arch : target::kArchs) {
    if (!closed_gate(binding, {arch.arch, newest})) archs.add(arch.arch);
  }
  return archs;
}

const Bindings& Checker::bindings_of(std::string_view opcode) {
  const auto found = known_.find(opcode);
  if (found != known_.end()) return found->second;
  return known_.emplace(std::string(opcode), bind_opcode(opcode)).first->second;
}

Result<Legal> check_forms(std::span<const Binding> forms, const Instruction& instruction,
                          Target target) {
  Attempt best;
  for (const Binding& binding : forms) {
    Attempt now = attempt(binding, instruction, target);
    if (!now.problem) return Legal{binding, std::move(now.operand_of)};
    if (!best.problem || now.stage > best.stage) best = std::move(now);
  }
  return fail(std::move(*best.problem));
}

Result<Legal> Checker::check(const Instruction& instruction) {
  const Bindings& bindings = bindings_of(instruction.opcode);
  if (!bindings.fits.empty()) return check_forms(bindings.fits, instruction, target_);
  return fail(to_diag(bindings.misfit).with_span(word_span(instruction, bindings.misfit.word)));
}

}  // namespace ww::isa
