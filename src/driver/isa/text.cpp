// SPDX-License-Identifier: Apache-2.0
#include "driver/isa/text.h"

#include <fmt/format.h>

namespace ww::driver {

using isa::OperandSpec;

std::string needs_text(isa::Feature feature, int ptx) {
  return fmt::format("{}, PTX {}", to_text(archs_with(feature)), target::ptx_version_text(ptx));
}

std::vector<std::string> gate_lines(const isa::Form& form) {
  std::vector<std::string> lines;
  for (const isa::GateInfo& gate : form.gates) {
    std::string needs = needs_text(gate.needs, gate.ptx);
    if (gate.early.ptx != 0)
      needs += fmt::format("; from PTX {} on {}", target::ptx_version_text(gate.early.ptx),
                           to_text(archs_with(gate.early.on)));
    if (gate.until != 0)
      needs += fmt::format(" to {}; any PTX before sm_70", target::ptx_version_text(gate.until));
    if (gate.when.empty())
      lines.insert(lines.begin(), needs);
    else
      lines.push_back(fmt::format("with {}: {}", to_text(gate.when, form), needs));
  }
  if (lines.empty() || lines[0].starts_with("with")) {
    lines.insert(lines.begin(), needs_text(isa::Feature::Sm75, 63));
  }
  return lines;
}

std::vector<std::string> rule_lines(const isa::Form& form) {
  std::vector<std::string> lines;
  for (const isa::RuleInfo& rule : form.rules) {
    const std::string when = to_text(rule.when, form);
    lines.push_back(rule.then ? fmt::format("{} needs {}", when, to_text(*rule.then, form))
                              : fmt::format("never {}", when));
  }
  return lines;
}

std::string_view role_text(isa::Role role) {
  switch (role) {
    case isa::Role::Write:
      return "written";
    case isa::Role::Read:
      return "read";
    case isa::Role::Immediate:
      return "immediate";
    case isa::Role::Address:
      return "address";
    case isa::Role::Label:
      return "label";
    case isa::Role::Targets:
      return "list of labels";
    case isa::Role::Rest:
      return "any";
  }
  return "";
}

namespace {

std::string type_text(const OperandSpec& spec, const isa::Form& form) {
  if (spec.type) return fmt::format(".{}", isa::info(*spec.type).name);
  if (!spec.type_slot) return "";
  const std::string type = fmt::format(".{}", form.slots[*spec.type_slot].name);
  return spec.widen == 1 ? type : fmt::format("{} × {}", type, spec.widen);
}

std::string count_text(const OperandSpec& spec, const isa::Form& form) {
  switch (spec.count) {
    case OperandSpec::Count::Scalar:
      return "";
    case OperandSpec::Count::Fixed:
      return fmt::format("{} of ", spec.fixed_count);
    case OperandSpec::Count::BySlot:
      return fmt::format(".{} of ", form.slots[spec.count_slot].name);
    case OperandSpec::Count::ByFunction:
      return "several of ";
  }
  return "";
}

}  // namespace

std::string operand_text(const OperandSpec& spec, const isa::Form& form) {
  std::string text(role_text(spec.role));
  if (spec.role == isa::Role::Address) {
    const std::string space = spec.space_slot
                                  ? fmt::format(".{}", form.slots[*spec.space_slot].name)
                                  : std::string(isa::name_of(spec.space));
    text += fmt::format(" in {}", space);
    if (spec.count != OperandSpec::Count::Scalar)
      text += fmt::format(", {}coordinates", count_text(spec, form));
  } else if (spec.role == isa::Role::Write || spec.role == isa::Role::Read) {
    text += fmt::format(", {}{}", count_text(spec, form), type_text(spec, form));
    if (spec.wider) text += " or wider";
    if (spec.role == isa::Role::Read && spec.register_only) text += ", a register";
  }
  if (const std::string values = spec.values_text(); !values.empty())
    text += fmt::format(", {}", values);
  if (spec.sink) text += ", or `_`";
  if (spec.optional) text += ", optional";
  if (spec.present) text += fmt::format(", with {}", to_text(*spec.present, form));
  return text;
}

std::vector<std::string> arch_names(target::ArchSet archs) {
  std::vector<std::string> names;
  for (const target::ArchInfo& arch : target::kArchs) {
    if (archs.contains(arch.arch)) names.emplace_back(arch.name);
  }
  return names;
}

}  // namespace ww::driver
